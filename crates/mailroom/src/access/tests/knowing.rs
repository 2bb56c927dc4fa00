//! Who somebody is: tokens, logins, and those who guess.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use mail::Naming;
use store::{Clock, ManualClock, Memory, Store};

use crate::access::rules::Configured;
use crate::access::{Digest, Grant, Keys, Mode, Rules, Scopes, Target, Token, Verb};
use crate::stub::{ANYBODY, mailbox};
use crate::{
    Caller, Credential, Desk, Error, Mailroom, NewInbox, NewToken, Quota, Revoked, Senders, Settings, SignInError,
};

fn scopes(text: &str) -> Scopes {
    Scopes::parse([text], Naming::Local).unwrap()
}

struct Houses {
    clock: Arc<ManualClock>,
    store: Arc<Memory>,
}

impl Houses {
    fn new() -> Self {
        let clock = Arc::new(ManualClock::at("2026-11-15T10:20:30Z".parse().unwrap()));
        let store = Arc::new(Memory::new(store::memory::Settings::default(), Arc::clone(&clock) as Arc<dyn Clock>));
        Self { clock, store }
    }

    /// One more node over the same store.
    async fn node(&self, rules: Rules) -> Arc<Mailroom> {
        self.with(Settings { access: rules, ..Settings::default() }).await
    }

    async fn with(&self, settings: Settings) -> Arc<Mailroom> {
        let store = Arc::clone(&self.store) as Arc<dyn Store>;
        let room = Mailroom::with_clock(store, settings, Arc::clone(&self.clock) as Arc<dyn Clock>);
        tokio::spawn(room.recall().await.unwrap());
        room
    }
}

async fn issue(room: &Mailroom, text: &str) -> (String, String) {
    let new = NewToken { name: "ci".into(), scopes: scopes(text), expires: None };
    let issued = room.issue_token(&Caller::Program, new).await.unwrap();
    (issued.grant.id.clone(), issued.token.text().to_owned())
}

async fn known(room: &Mailroom, secret: &str) -> Result<Caller, SignInError> {
    room.identify(Credential::Secret(secret), None).await
}

/// Wait until something is so, at most a second: that is what is promised.
async fn within_a_second(mut is_so: impl AsyncFnMut() -> bool) {
    let wait = async {
        while !is_so().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(1), wait).await.expect("it is so within a second");
}

fn id(caller: &Caller) -> &str {
    match caller {
        Caller::Token { grant } => &grant.id,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_token_is_good_on_every_node_at_once_and_revoked_within_a_second() {
    let houses = Houses::new();
    let (one, other) = (houses.node(Mode::Token.into()).await, houses.node(Mode::Token.into()).await);
    let (id_, token) = issue(&one, "ro:a").await;
    let carried = known(&other, &token).await.unwrap();
    assert_eq!(id(&carried), id_);
    within_a_second(async || other.list_tokens(&Caller::Program).unwrap().len() == 1).await;
    let carried = known(&other, &token).await.unwrap();
    assert!(other.may(&carried, Verb::List, &mailbox("a")));
    assert_eq!(one.revoke_token(&Caller::Program, &id_).await.unwrap(), Revoked::Done);
    assert_eq!(known(&one, &token).await, Err(SignInError::Wrong), "at once where it was revoked");
    within_a_second(async || known(&other, &token).await == Err(SignInError::Wrong)).await;
    assert!(!other.may(&carried, Verb::List, &mailbox("a")), "whoever was let in before is out as well");
    assert_eq!(one.revoke_token(&Caller::Program, &id_).await.unwrap(), Revoked::Unknown);
}

#[tokio::test]
async fn tokens_outlive_a_restart_as_far_as_the_store_does() {
    let houses = Houses::new();
    let (_, token) = issue(&*houses.node(Mode::Token.into()).await, "rw:\"john doe\"").await;
    let later = houses.node(Mode::Token.into()).await;
    let Caller::Token { grant } = known(&later, &token).await.unwrap() else { panic!("it is known") };
    assert_eq!((grant.name.as_str(), grant.scopes.spelled(Naming::Local)), ("ci", vec!["rw:\"john doe\"".to_owned()]));
    assert_eq!(grant.created, Some("2026-11-15T10:20:30Z".parse().unwrap()));
}

#[tokio::test]
async fn a_token_of_the_file_goes_by_its_name_and_stays_until_it_is_taken_out() {
    let token = Token::make().unwrap();
    let expires = Some("2026-11-15T10:30:00Z".parse().unwrap());
    let of_file = Configured { name: "ops".into(), digest: token.digest(), scopes: scopes("admin:*"), expires };
    let houses = Houses::new();
    let room = houses.node(Rules { tokens: vec![of_file], ..Mode::Token.into() }).await;
    let caller = known(&room, token.text()).await.unwrap();
    assert_eq!(id(&caller), "ops");
    assert_eq!(room.revoke_token(&caller, "ops").await.unwrap(), Revoked::InFile);
    let listed = room.list_tokens(&caller).unwrap();
    assert_eq!(listed.len(), 1);
    houses.clock.advance(SignedDuration::from_mins(10));
    assert_eq!(known(&room, token.text()).await, Err(SignInError::Wrong), "it has expired");
}

#[tokio::test]
async fn who_issues_is_an_admin_of_all_and_there_are_bounds() {
    let houses = Houses::new();
    let room = houses.node(Rules { tokens_max: 3, ..Mode::Token.into() }).await;
    let new = |name: &str| NewToken { name: name.to_owned(), scopes: scopes("ro:a"), expires: None };
    for text in ["rw:*", "admin:ci-*"] {
        let (_, token) = issue(&room, text).await;
        let refused = room.issue_token(&known(&room, &token).await.unwrap(), new("")).await;
        assert!(matches!(refused, Err(Error::Denied(_))), "{text} issues");
    }
    assert!(matches!(room.issue_token(&Caller::Program, new("a\nb")).await, Err(Error::BadToken(_))));
    assert!(matches!(room.issue_token(&Caller::Program, new(&"a".repeat(101))).await, Err(Error::BadToken(_))));
    let over = NewToken { expires: Some(room.now()), ..new("") };
    assert!(matches!(room.issue_token(&Caller::Program, over).await, Err(Error::BadToken(_))));
    issue(&room, "ro:a").await;
    assert!(matches!(room.issue_token(&Caller::Program, new("")).await, Err(Error::TooMany { .. })));
}

#[tokio::test]
async fn t101_a_login_is_new_each_time_and_over_after_logout_on_every_node() {
    let houses = Houses::new();
    let (one, other) = (houses.node(Mode::Token.into()).await, houses.node(Mode::Token.into()).await);
    let (id_, token) = issue(&one, "ro:a").await;
    within_a_second(async || other.list_tokens(&Caller::Program).unwrap().len() == 1).await;
    let shown = async |room: &Mailroom, cookie: &str| room.identify(Credential::Cookie(cookie), None).await.unwrap();
    let (_, first) = one.login(&token, None, None).await.unwrap();
    assert_eq!(id(&shown(&other, &first.cookie).await), id_, "good on every node at once");
    let (_, second) = one.login(&token, Some(&first.cookie), None).await.unwrap();
    assert_ne!(first.cookie, second.cookie);
    assert_eq!(shown(&one, &first.cookie).await, ANYBODY, "rotated");
    within_a_second(async || shown(&other, &first.cookie).await == ANYBODY).await;
    one.logout(&second.cookie).await.unwrap();
    assert_eq!(shown(&one, &second.cookie).await, ANYBODY);
    within_a_second(async || shown(&other, &second.cookie).await == ANYBODY).await;
    assert_eq!(shown(&one, "pks_00000000000000000000000000000000").await, ANYBODY);
    assert_eq!(
        one.login("pkt_00000000_00000000000000000000000000000000", None, None).await.err().map(|e| e.to_string()),
        Some(SignInError::Wrong.to_string())
    );
}

#[tokio::test]
async fn t101_a_login_is_good_for_no_longer_than_its_time_and_its_token() {
    let houses = Houses::new();
    let room = houses.node(Rules { logins_max: 2, ..Mode::Token.into() }).await;
    let shown = async |cookie: &str| room.identify(Credential::Cookie(cookie), None).await.unwrap();
    let (id_, token) = issue(&room, "ro:a").await;
    let (_, login) = room.login(&token, None, None).await.unwrap();
    room.revoke_token(&Caller::Program, &id_).await.unwrap();
    assert_eq!(shown(&login.cookie).await, ANYBODY, "its token was revoked");
    let (_, token) = issue(&room, "ro:a").await;
    let (_, login) = room.login(&token, None, None).await.unwrap();
    assert!(matches!(room.login(&token, None, None).await, Err(Error::TooMany { .. })), "logins_max");
    houses.clock.advance(SignedDuration::from_hours(12));
    assert_eq!(shown(&login.cookie).await, ANYBODY, "login_ttl");
    room.forget_idle();
    assert!(room.login(&token, None, None).await.is_ok());
}

#[tokio::test]
async fn an_inbox_can_be_logged_into() {
    let houses = Houses::new();
    let room = houses.node(Rules { keys: Keys::make().ok(), ..Mode::Token.into() }).await;
    let opened = room.open_inbox(&Caller::Program, &NewInbox::default(), None).unwrap();
    let (_, login) = room.login(&opened.secret, None, None).await.unwrap();
    let caller = room.identify(Credential::Cookie(&login.cookie), None).await.unwrap();
    assert_eq!(caller, Caller::Inbox { mailbox: opened.inbox.mailbox });
}

#[tokio::test]
async fn t102_whoever_guesses_is_slowed_down_and_what_is_right_never_is() {
    let houses = Houses::new();
    let quota = Quota { count: 3, per: Duration::from_secs(3600) };
    let room = houses.node(Rules { failures_per_ip: Some(quota), ..Mode::Token.into() }).await;
    let (_, token) = issue(&room, "ro:a").await;
    let peer: Option<IpAddr> = Some("192.0.2.1".parse().unwrap());
    let guess = format!("{}{}", &token[..token.len() - 3], "zzz");
    let unknown = "pkt_00000000_00000000000000000000000000000000";
    for wrong in [guess.as_str(), unknown, "nothing"] {
        assert_eq!(room.identify(Credential::Secret(wrong), peer).await, Err(SignInError::Wrong));
    }
    for wrong in [guess.as_str(), unknown, "nothing"] {
        assert_eq!(room.identify(Credential::Secret(wrong), peer).await, Err(SignInError::TooMany));
    }
    assert!(room.identify(Credential::Secret(&token), peer).await.is_ok());
    assert!(room.identify(Credential::Secret(&token), Some("192.0.2.2".parse().unwrap())).await.is_ok());
}

#[tokio::test]
async fn in_open_mode_a_credential_makes_no_difference() {
    let houses = Houses::new();
    let room = houses.node(Rules::default()).await;
    assert_eq!(known(&room, "pkt_stale").await, Ok(ANYBODY));
    let public = houses.node(Mode::Public.into()).await;
    assert_eq!(known(&public, "pkt_stale").await, Err(SignInError::Wrong));
}

#[tokio::test]
async fn a_user_of_a_trusted_proxy_may_what_the_configuration_says() {
    let houses = Houses::new();
    let room = houses.node(Mode::Token.into()).await;
    let caller = room.identify(Credential::User("ann"), None).await.unwrap();
    assert_eq!(id(&caller), "ann");
    assert!(room.may(&caller, Verb::Delete, &mailbox("a")) && !room.may(&caller, Verb::Admin, &mailbox("a")));
    let nothing = houses.node(Rules { user_scopes: Scopes::default(), ..Mode::Token.into() }).await;
    let caller = nothing.identify(Credential::User("ann"), None).await.unwrap();
    assert!(!nothing.may(&caller, Verb::List, &mailbox("a")));
}

#[tokio::test]
async fn at_pop3_a_password_is_a_token_or_a_secret_where_not_everybody_reads() {
    let houses = Houses::new();
    let signed = async |room: &Mailroom, secret: &str| room.sign_in(Desk::Pop3, None, "a", secret).await;
    let anybody = Ok(Caller::User { name: "a".into(), peer: None });
    let rules = |mode: Mode| Rules { keys: Keys::make().ok(), ..mode.into() };
    let room = houses.node(rules(Mode::Token)).await;
    let (id_, token) = issue(&room, "ro:a").await;
    let inbox = room.open_inbox(&Caller::Program, &NewInbox::default(), None).unwrap();
    assert_eq!(id(&signed(&room, &token).await.unwrap()), id_);
    assert_eq!(signed(&room, &inbox.secret).await, Ok(Caller::Inbox { mailbox: inbox.inbox.mailbox }));
    assert_eq!(signed(&room, "anything").await, Err(SignInError::Wrong));
    for mode in [Mode::Open, Mode::Public] {
        let room = houses.node(rules(mode)).await;
        assert_eq!(signed(&room, "anything").await, anybody, "{mode:?}");
        assert_eq!(id(&signed(&room, &token).await.unwrap()), id_, "{mode:?}");
    }
    assert_eq!(signed(&*houses.node(rules(Mode::Public)).await, "pkt_wrong").await, Err(SignInError::Wrong));
}

#[tokio::test]
async fn at_smtp_a_token_is_good_for_the_mailboxes_it_delivers_to() {
    let houses = Houses::new();
    let settings = Settings { access: Mode::Token.into(), senders: Senders::Tokens, ..Settings::default() };
    let room = houses.with(settings).await;
    let (id_, token) = issue(&room, "deliver:ci-*").await;
    let signed = async |secret: &str| room.sign_in(Desk::Smtp, None, "app", secret).await;
    let caller = signed(&token).await.unwrap();
    assert_eq!(id(&caller), id_);
    assert!(room.may(&caller, Verb::Deliver, &mailbox("ci-1")) && !room.may(&caller, Verb::Deliver, &mailbox("x")));
    assert_eq!(signed("anything").await, Err(SignInError::Wrong));
    let (_, reads) = issue(&room, "ro:*").await;
    let reader = signed(&reads).await.unwrap();
    assert!(
        room.judge_sender(&crate::Visit::of(&reader, &mail::ReversePath(None))).await.is_refusal(),
        "it is good for no delivery at all"
    );
}

/// The same work for an id that is there and for one that is not, as far as calls to the store tell; a digest is made and
/// looked for in any case.
#[test]
fn t102_what_is_kept_is_a_hash_and_found_by_it() {
    let token = Token::make().unwrap();
    let grant = Grant::new(token.id().into(), "n".into(), scopes("ro:a"), crate::access::Origin::Issued);
    let record = grant.write(&Digest::of(token.text()), Naming::Local);
    assert!(!record.contains(&token.text()[13..]), "{record}");
    assert!(grant.grants(Verb::List, Target::Mailbox(&mailbox("a"))));
}
