//! What stands in jobs and records, and how far a release came.

use mail::address::Charset;
use store::{Filed, JobId, Lease};

use super::*;

fn address(text: &str) -> Address {
    Address::parse(text, Charset::Utf8).unwrap()
}

fn errand(message: Option<u64>) -> Errand {
    Errand {
        id: "1".to_owned(),
        mailbox: Mailbox::from_canonical("alice"),
        message: message.map(MessageId::new),
        subject: "Hello \"you\"\n".to_owned(),
        sender: None,
        to: vec![address("\"b c\"@x.test"), address("bü@x.test")],
        created_at: Timestamp::UNIX_EPOCH,
        by: None,
        rule: Some("all".to_owned()),
    }
}

fn job(payload: Bytes, messages: Vec<Filed>) -> Job {
    let lease = Lease { job: JobId(1), taking: 1 };
    Job { lease, kind: KIND.to_owned(), lane: None, payload, messages, attempts: 0 }
}

#[test]
fn an_errand_names_its_message_or_the_one_that_came_with_it() {
    let filed = |name: &str, id| Filed { mailbox: Mailbox::from_canonical(name), id: MessageId::new(id) };
    let carried = job(errand(None).write(), vec![filed("bob", 6), filed("alice", 7)]);
    let release = Errand::of(&carried).unwrap();
    assert_eq!((release.message.number(), release.recipients.len()), (7, 2));
    assert_eq!(Errand::of(&job(errand(Some(9)).write(), Vec::new())).unwrap().message.number(), 9);
    assert_eq!(Errand::of(&job(errand(None).write(), vec![filed("bob", 6)])), None);
    assert_eq!(Errand::of(&job(Bytes::from_static(b"{}"), Vec::new())), None);
}

#[test]
fn a_record_is_read_as_it_was_written() {
    let mut release = errand(None).begin(MessageId::new(3));
    release.recipients[0].reply = Some("250 ok".to_owned());
    release.recipients[0].next_at = Some(Timestamp::UNIX_EPOCH);
    release.sender = Some(address("a@x.test"));
    assert_eq!(Release::read(&release.write()), Some(release));
    assert_eq!(Release::read(b"something else"), None);
}

#[test]
fn how_far_all_of_it_came() {
    let overall = |states: &[(State, u32)]| {
        let mut release = errand(None).begin(MessageId::new(3));
        let sending = release.recipients[0].clone();
        release.recipients = states
            .iter()
            .map(|(state, attempts)| Sending { state: *state, attempts: *attempts, ..sending.clone() })
            .collect();
        release.overall()
    };
    assert_eq!(overall(&[(State::Queued, 0), (State::Queued, 0)]), Overall::Queued);
    assert_eq!(overall(&[(State::Queued, 1), (State::Queued, 1)]), Overall::Sending);
    assert_eq!(overall(&[(State::Queued, 1), (State::Sent, 1)]), Overall::Sending);
    assert_eq!(overall(&[(State::Sent, 1), (State::Sent, 2)]), Overall::Done);
    assert_eq!(overall(&[(State::Failed, 1), (State::Failed, 2)]), Overall::Failed);
    assert_eq!(overall(&[(State::Failed, 1), (State::Sent, 2)]), Overall::Partial);
}

#[test]
fn who_has_it_has_it() {
    let (mut one, mut other) = (errand(None).begin(MessageId::new(3)), errand(None).begin(MessageId::new(3)));
    one.recipients[0].state = State::Sent;
    other.recipients[1].state = State::Sent;
    one.merge(&other);
    assert_eq!(one.overall(), Overall::Done);
}
