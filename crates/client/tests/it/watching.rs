//! Watching: events, and streams that break.

use postkeep_client::{Client, Event};
use serde_json::json;

use crate::stub::{Reply, Stub};

fn stream(events: &str) -> Reply {
    Reply::Raw(format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n{events}"))
}

fn deliver(cursor: &str, id: &str) -> String {
    let message =
        json!({"id": id, "mailbox": "alice", "receivedAt": "2026-11-14T09:30:00Z", "size": 1, "subject": "Hi"});
    let data = json!({"mailbox": "alice", "id": id, "message": message});
    format!("event: deliver\nid: {cursor}\ndata: {data}\n\n")
}

const HELLO: &str = "event: hello\ndata: {\"cursor\":\"AQ0\",\"retention\":\"7d\"}\n\n: still here\n\n";

#[tokio::test]
async fn a_stream_that_breaks_goes_on_where_it_was() {
    let stub = Stub::start(|number, _| match number {
        0 => stream(HELLO),
        1 => Reply::HangUp,
        2 => stream(&format!("{HELLO}{}event: deliver\nid: AQ2\nda", deliver("AQ1", "1"))),
        3 => Reply::Json(503, json!({"title": "busy"})),
        _ => stream(&format!(
            "{}event: unheard\ndata: 1\n\nevent: purge\nid: AQ3\ndata: {{\"mailbox\":\"alice\"}}\n\n",
            deliver("AQ2", "2")
        )),
    });
    let mut watch = Client::new(&stub.url()).unwrap().watch(&["alice", "b/c"]).await.unwrap();
    assert_eq!(watch.cursor(), Some("AQ0"));
    for expected in ["1", "2"] {
        let event = watch.next().await.unwrap();
        assert!(matches!(&event, Event::Deliver(summary) if summary.id == expected), "{event:?}");
    }
    assert!(matches!(watch.next().await.unwrap(), Event::Purge { mailbox } if mailbox == "alice"));
    assert_eq!((watch.cursor(), &watch.json()["event"]), (Some("AQ3"), &json!("purge")));
    let asked = stub.rest();
    assert!(asked.iter().all(|asked| asked.line == "GET /api/v2/events?mailbox=alice&mailbox=b%2Fc"));
    let ids: Vec<_> = asked.iter().map(|asked| asked.field("last-event-id")).collect();
    assert_eq!(ids, [None, Some("AQ0"), Some("AQ0"), Some("AQ1"), Some("AQ1")], "{asked:?}");
}

#[tokio::test]
async fn a_refusal_ends_the_watch() {
    let stub = Stub::start(|_, _| Reply::Json(403, json!({"title": "Forbidden", "detail": "Name a mailbox."})));
    let error = Client::new(&stub.url()).unwrap().watch::<&str>(&[]).await.unwrap_err();
    assert_eq!(error.to_string(), "the server says 403: Name a mailbox.");
    assert_eq!(stub.rest().len(), 1);
}
