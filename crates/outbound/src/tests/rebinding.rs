//! T070: a name whose addresses change between two looks.

use crate::Error;
use crate::tests::kit::{Names, Server, answer, client, get};

const ALLOWED: &str = "127.0.0.2";

#[tokio::test]
async fn t070_a_name_is_resolved_once_and_what_was_judged_is_dialled() {
    let canary = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let port = canary.address.port();
    let good = answer("200 OK", "", "outside");
    let public = Server::start(ALLOWED, port, move |_| vec![(Default::default(), good.clone().into())]).await;
    let names = Names::default().with("turning.example", &[&[ALLOWED], &["127.0.0.1"]]);
    let (client, names) = client(&[ALLOWED], names);
    let url = format!("http://turning.example:{port}/");
    for turn in 0..20 {
        let answer = client.send(get(&url)).await;
        if turn % 2 == 0 {
            assert_eq!(answer.unwrap().body, "outside");
        } else {
            let ip = "127.0.0.1".parse().unwrap();
            assert_eq!(answer.unwrap_err(), Error::Address { host: "turning.example".into(), ip });
        }
        assert_eq!(names.asked(), turn + 1, "one request, one question");
    }
    assert_eq!((canary.connections(), public.connections()), (0, 10));
}

#[tokio::test]
async fn t070_a_name_with_one_address_inside_is_refused_whole() {
    let canary = Server::saying("127.0.0.1", &answer("200 OK", "", "inside")).await;
    let port = canary.address.port();
    for addresses in [&[ALLOWED, "127.0.0.1"], &["127.0.0.1", ALLOWED], &[ALLOWED, "::1"], &["8.8.8.8", "10.0.0.1"]] {
        let (client, _) = client(&[ALLOWED], Names::default().with("half.example", &[addresses]));
        let answer = client.send(get(format!("http://half.example:{port}/"))).await;
        assert!(matches!(answer, Err(Error::Address { .. })), "{addresses:?}: {answer:?}");
    }
    assert_eq!(canary.connections(), 0);
}

#[tokio::test]
async fn t070_a_name_without_addresses_is_told_so() {
    let (client, _) = client(&[], Names::default().with("empty.example", &[&[]]));
    for host in ["empty.example", "unheard.example"] {
        let answer = client.send(get(format!("http://{host}/"))).await;
        assert!(matches!(answer, Err(Error::Unknown { .. })), "{answer:?}");
    }
}
