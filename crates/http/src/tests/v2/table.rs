//! Every route of v2, asked once well and once badly: each answer is of a form that the description tells.

use mailroom::access::{Keys, Mode, Rules};

use super::schema;
use super::{House, letter};
use crate::Settings;
use crate::router::{Operation, ROUTES};

struct Ask {
    operation: Operation,
    path: &'static str,
    body: Option<(&'static str, &'static str)>,
    status: u16,
}

const fn ask(operation: Operation, path: &'static str, status: u16) -> Ask {
    Ask { operation, path, body: None, status }
}

const fn send(operation: Operation, path: &'static str, kind: &'static str, body: &'static str, status: u16) -> Ask {
    Ask { operation, path, body: Some((kind, body)), status }
}

const JSON: &str = "application/json";
const MAIL: &str = "message/rfc822";

const TABLE: &[Ask] = {
    use Operation::*;
    &[
        ask(ReadServer, "/api/v2", 200),
        ask(ReadServer, "/api/v2?x=y", 400),
        ask(ReadOpenapi, "/api/v2/openapi.json", 200),
        send(Import, "/api/v2/import?mailbox=box", MAIL, "Subject: i\r\n\r\n", 201),
        send(Import, "/api/v2/import", MAIL, "", 400),
        send(DeliverMessage, "/api/v2/messages?rcptTo=box@x.test", MAIL, "Subject: d\r\n\r\n", 201),
        send(DeliverMessage, "/api/v2/messages", JSON, "{\"to\":\"box@x.test\"}", 201),
        send(DeliverMessage, "/api/v2/messages", JSON, "{\"too\":\"box@x.test\"}", 400),
        send(DeliverMessage, "/api/v2/messages", "text/plain", "x", 415),
        ask(ListRecent, "/api/v2/messages", 200),
        ask(ListRecent, "/api/v2/messages?ids=box/x", 200),
        ask(ListRecent, "/api/v2/messages?ids=x", 400),
        ask(ListRecent, "/api/v2/messages?q=subjct:x", 400),
        ask(ListMailboxes, "/api/v2/mailboxes", 200),
        ask(ListMailboxes, "/api/v2/mailboxes?limit=0", 400),
        ask(ReadMailbox, "/api/v2/mailboxes/box", 200),
        ask(ReadMailbox, "/api/v2/mailboxes/%20", 400),
        ask(ExportMailbox, "/api/v2/mailboxes/box/export", 200),
        ask(ExportMailbox, "/api/v2/mailboxes/box/export?format=x", 400),
        ask(ListMessages, "/api/v2/mailboxes/box/messages", 200),
        ask(ListMessages, "/api/v2/mailboxes/box/messages?fields=*", 200),
        ask(ListMessages, "/api/v2/mailboxes/box/messages?fields=preview&ids=x", 200),
        ask(ListMessages, "/api/v2/mailboxes/box/messages?ids=x&q=x", 400),
        ask(ListMessages, "/api/v2/mailboxes/box/messages?since=x", 400),
        ask(ReadMessage, "/api/v2/mailboxes/box/messages/latest", 200),
        ask(ReadMessage, "/api/v2/mailboxes/box/messages/x", 404),
        ask(ReadSource, "/api/v2/mailboxes/box/messages/latest/source", 200),
        ask(ReadSource, "/api/v2/mailboxes/box/messages/x/source", 404),
        ask(ReadHtml, "/api/v2/mailboxes/box/messages/latest/html", 404),
        ask(ReadHtml, "/api/v2/mailboxes/page/messages/latest/html", 200),
        ask(ReadHtml, "/api/v2/mailboxes/page/messages/latest/html?remote=true", 200),
        ask(ReadHtml, "/api/v2/mailboxes/page/messages/latest/html?remote=x", 400),
        ask(ReadPart, "/api/v2/mailboxes/box/messages/latest/parts/1", 200),
        ask(ReadPart, "/api/v2/mailboxes/box/messages/latest/parts/9", 404),
        ask(Wait, "/api/v2/mailboxes/box/wait?subject=x&timeout=0s", 200),
        ask(Wait, "/api/v2/mailboxes/box/wait?subject=zzz&timeout=0s", 409),
        ask(Wait, "/api/v2/mailboxes/box/wait?subjct=x", 400),
        send(
            WaitMatching,
            "/api/v2/mailboxes/box/wait",
            JSON,
            "{\"match\":{\"subject\":\"x\"},\"timeout\":\"0s\"}",
            200,
        ),
        send(WaitMatching, "/api/v2/mailboxes/box/wait", JSON, "{\"math\":{}}", 400),
        ask(WaitAnywhere, "/api/v2/messages/wait?subject=x&timeout=0s", 200),
        send(DeleteMessages, "/api/v2/mailboxes/box/messages/delete", JSON, "{\"ids\":[\"x\"]}", 200),
        send(DeleteMessages, "/api/v2/mailboxes/box/messages/delete", JSON, "{}", 400),
        ask(DeleteMessage, "/api/v2/mailboxes/box/messages/latest", 204),
        ask(DeleteMessage, "/api/v2/mailboxes/box/messages/x", 404),
        ask(PurgeMailbox, "/api/v2/mailboxes/box/messages", 204),
        ask(PurgeMailbox, "/api/v2/mailboxes/box/messages?until=x", 400),
        ask(PurgeMailbox, "/api/v2/mailboxes/%ff/messages", 400),
        send(OpenInbox, "/api/v2/inboxes", JSON, "{\"label\":\"x\"}", 201),
        send(OpenInbox, "/api/v2/inboxes", JSON, "{\"lable\":\"x\"}", 400),
        ask(ReadInbox, "/api/v2/inboxes/box", 404),
        ask(CloseInbox, "/api/v2/inboxes/box", 404),
        ask(ListTokens, "/api/v2/tokens", 200),
        send(IssueToken, "/api/v2/tokens", JSON, "{\"name\":\"x\",\"scopes\":[\"ro:*\"]}", 403),
        ask(RevokeToken, "/api/v2/tokens/01234567", 403),
        send(ReleaseMessage, "/api/v2/mailboxes/box/messages/latest/release", JSON, "{\"to\":[\"a@x.test\"]}", 409),
        send(ReleaseMessage, "/api/v2/mailboxes/box/messages/latest/release", JSON, "{\"to\":[\"a\"]}", 400),
        ask(ListReleases, "/api/v2/releases?mailbox=box&limit=2", 200),
        ask(ListReleases, "/api/v2/releases?limit=0", 400),
        ask(ReadRelease, "/api/v2/releases/01234567", 404),
        ask(ListDeadWebhooks, "/api/v2/webhooks/dead", 200),
        ask(ReplayWebhook, "/api/v2/webhooks/dead/42/replay", 404),
        ask(ReplayWebhook, "/api/v2/webhooks/dead/x/replay", 404),
        ask(ListFaults, "/api/v2/faults", 200),
        send(
            PlanFault,
            "/api/v2/faults",
            JSON,
            "{\"mailbox\":\"other\",\"reply\":{\"code\":451},\"first\":2,\"delay\":\"2s\",\"slow\":\"1KiB\"}",
            201,
        ),
        send(PlanFault, "/api/v2/faults", JSON, "{}", 400),
        ask(ListFaults, "/api/v2/faults", 200),
        ask(RemoveFault, "/api/v2/faults/01234567", 404),
        send(Login, "/api/v2/login", JSON, "{\"token\":\"x\"}", 401),
        ask(Logout, "/api/v2/login", 204),
        ask(PurgeAll, "/api/v2/messages?all=true", 204),
        ask(PurgeAll, "/api/v2/messages", 400),
    ]
};

#[tokio::test]
async fn every_answer_is_as_described() {
    let rules = Rules { keys: Keys::make().ok(), ..Mode::Open.into() };
    let house = House::ruled(rules, Settings::default()).await;
    house.deliver("box", letter("x")).await;
    house.deliver("page", "Content-Type: text/html\r\n\r\n<p>x").await;
    for ask in TABLE {
        let route = ROUTES.iter().find(|route| route.operations.contains(&ask.operation)).unwrap();
        let method = ask.operation.method();
        let answer = match ask.body {
            Some((kind, body)) => house.send(method.as_str(), ask.path, kind, body.as_bytes()).await,
            None => house.ask(method.as_str(), ask.path, "").await,
        };
        assert_eq!(answer.status, ask.status, "{method} {}: {}", ask.path, String::from_utf8_lossy(&answer.body));
        let kind = answer.field("content-type").unwrap_or_default();
        if kind.contains("json") && ask.operation != Operation::ReadOpenapi {
            let answer = answer.value();
            schema::fits(&answer, route.path, &method.as_str().to_ascii_lowercase(), ask.status);
        }
    }
}

/// Whoever adds an operation adds it to the table.
#[test]
fn every_operation_is_in_the_table() {
    // A stream has no end; its own tests read it.
    let others = [Operation::WatchEvents];
    for operation in ROUTES.iter().flat_map(|route| route.operations).filter(|done| done.about().is_some()) {
        let is_asked = TABLE.iter().any(|ask| ask.operation == *operation);
        assert!(is_asked || others.contains(operation), "{operation:?} is in no table");
    }
}
