//! What clients hear of each error, and what they do not.

use super::*;

#[test]
fn each_error_of_the_mailroom_has_its_honest_answer() {
    use Doing::{Adding, Changing, Reading};
    let check = |error: StoreError, doing, status: u16, slug: &str| {
        let problem = Problem::of(&error.into(), doing);
        assert_eq!((problem.status.as_u16(), problem.slug), (status, slug));
        assert_eq!(problem.retry_after.is_some(), status == 503, "{slug}");
    };
    let unknown = || StoreError::UnknownOutcome { why: "secret".into() };
    check(StoreError::try_later("secret"), Changing, 503, "store-unavailable");
    check(StoreError::Full { what: "secret".into() }, Changing, 507, "store-full");
    check(unknown(), Reading, 503, "store-unavailable");
    check(unknown(), Changing, 500, "outcome-unknown");
    check(unknown(), Adding, 500, "outcome-unknown");
    check(StoreError::Unsupported { what: "fly", instead: "walk" }, Reading, 501, "engine-limit");
    let (mailbox, id) = (mail::Mailbox::from_canonical("secret"), mail::MessageId::new(1));
    check(StoreError::Damaged { mailbox, id }, Reading, 500, "message-damaged");
    assert_eq!(Problem::of(&Denial::SecretRequired.into(), Reading).slug, "inbox-secret-required");
    assert_eq!(Problem::of(&SignInError::Wrong.into(), Reading).status, 401);
    assert_eq!(Problem::of(&mailroom::Error::TooMany { what: "x" }, Reading).slug, "overloaded");
}

#[test]
fn the_chain_goes_to_the_log_and_not_to_the_client() {
    let source = Some("disk /var/lib/secret".into());
    let error = StoreError::TryLater { why: "secret".into(), after: Some(Duration::from_secs(7)), source };
    let error = mailroom::Error::from(error);
    assert!(chain(&error).contains("/var/lib/secret"));
    let problem = Problem::of(&error, Doing::Reading);
    assert_eq!(problem.retry_after, Some(Duration::from_secs(7)));
    let body = String::from_utf8(problem.json(&[])).unwrap();
    assert!(!body.contains("secret"), "{body}");
    let value: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(value["type"], "urn:postkeep:problem:store-unavailable");
    assert_eq!(value["status"], 503);
}
