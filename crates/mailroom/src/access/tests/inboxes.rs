//! Inboxes: their names, their secrets, their end.

use std::sync::Arc;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use mail::{Naming, ReversePath};
use store::list::{MailboxOrder, MailboxPage, Order, Page, RecentPage};
use store::{Clock, ManualClock, Memory, Scope, Store};

use crate::access::{Denial, Grant, InboxSecret, Keys, Mode, Origin, Rules, Scopes, Shape};
use crate::stub::{ANYBODY, address, mailbox, parcel};
use crate::verdict::{Decision, Verdict};
use crate::{Caller, Credential, Error, Event, Mailroom, NewInbox, NewToken, OpenedInbox, Parcel, Settings, Which};

struct House {
    clock: Arc<ManualClock>,
    room: Arc<Mailroom>,
    store: Arc<Memory>,
}

fn keys() -> Keys {
    Keys::parse(&"5a".repeat(32)).unwrap()
}

fn house(rules: impl Into<Rules>, naming: Naming) -> House {
    let clock = Arc::new(ManualClock::at("2026-11-15T10:20:30Z".parse().unwrap()));
    let store = Arc::new(Memory::new(store::memory::Settings::default(), Arc::clone(&clock) as Arc<dyn Clock>));
    let mut access: Rules = rules.into();
    access.keys.get_or_insert_with(keys);
    let settings = Settings { access, naming, ..Settings::default() };
    let room =
        Mailroom::with_clock(Arc::clone(&store) as Arc<dyn Store>, settings, Arc::clone(&clock) as Arc<dyn Clock>);
    House { clock, room, store }
}

impl House {
    fn open(&self, label: &str) -> OpenedInbox {
        let new = NewInbox { label: Some(label.into()), ..NewInbox::default() };
        self.room.open_inbox(&Caller::Program, &new, None).unwrap()
    }

    async fn admin(&self) -> Caller {
        let scopes = Scopes::parse(["admin:*"], Naming::Local).unwrap();
        let new = NewToken { name: "ops".into(), scopes, expires: None };
        let issued = self.room.issue_token(&Caller::Program, new).await.unwrap();
        Caller::Token { grant: issued.grant }
    }

    async fn list(&self, caller: &Caller, inbox: &OpenedInbox) -> Result<usize, Denial> {
        let page = Page { after: None, limit: 10, order: Order::Oldest };
        match self.room.list(caller, &inbox.inbox.mailbox, page).await {
            Ok(listing) => Ok(listing.items.len()),
            Err(Error::Denied(denial)) => Err(denial),
            Err(other) => panic!("{other}"),
        }
    }

    async fn bearer(&self, secret: &str) -> Caller {
        self.room.identify(Credential::Secret(secret), None).await.unwrap()
    }

    fn mail(&self, to: &str) -> Parcel {
        Parcel { received_at: self.room.now(), ..parcel(&self.room, &[to]) }
    }

    async fn told(&self, recipient: &str) -> Verdict {
        let sender = Caller::Sender { user: None, peer: None };
        self.room.judge_recipient(&crate::Visit::of(&sender, &ReversePath(None)), &address(recipient)).await.0
    }
}

fn enhanced(verdict: Verdict) -> Option<(u16, (u8, u16, u16))> {
    match verdict.decision {
        Decision::Refuse(status) => Some((status.code, status.enhanced)),
        _ => None,
    }
}

#[tokio::test]
async fn the_name_is_the_record() {
    for naming in [Naming::Local, Naming::Full] {
        let house = house(Mode::Token, naming);
        let opened = house.open("signup");
        let inbox = &opened.inbox;
        let expected = if naming == Naming::Full { inbox.address.to_string() } else { inbox.address.local().into() };
        assert_eq!(inbox.mailbox.as_str(), expected);
        assert!(inbox.address.local().starts_with("signup-"));
        assert_eq!(inbox.address.local().len(), "signup-".len() + 25);
        assert_eq!(inbox.address.domain(), "inbox.example.com");
        assert_eq!(inbox.expires, "2026-11-15T11:21:00Z".parse::<Timestamp>().unwrap(), "an hour, and to the minute");
        assert_eq!(house.room.shape(&inbox.mailbox), Shape::Inbox(inbox.expires));
        let caller = house.bearer(&opened.secret).await;
        assert_eq!(caller, Caller::Inbox { mailbox: inbox.mailbox.clone() });
        assert_eq!(house.room.read_inbox(&caller, &inbox.mailbox).unwrap().as_ref(), Some(inbox));
        let elsewhere = self::house(Mode::Token, naming);
        assert_eq!(elsewhere.bearer(&opened.secret).await, caller, "any node with the key knows it");
    }
}

#[tokio::test]
async fn t103_an_inbox_opens_to_its_secret_and_to_an_admin_and_to_nobody_else() {
    let house = house(Mode::Token, Naming::Local);
    let (one, other) = (house.open("a"), house.open("a"));
    assert_ne!(one.inbox.mailbox, other.inbox.mailbox);
    let admin = house.admin().await;
    let scopes = Scopes::parse(["rw,deliver:*"], Naming::Local).unwrap();
    let issued = house.room.issue_token(&admin, NewToken { name: String::new(), scopes, expires: None }).await.unwrap();
    let token = house.bearer(issued.token.text()).await;
    assert_eq!(house.list(&house.bearer(&one.secret).await, &one).await, Ok(0));
    assert_eq!(house.list(&admin, &one).await, Ok(0));
    assert_eq!(house.list(&token, &one).await, Err(Denial::SecretRequired));
    assert_eq!(house.list(&house.bearer(&other.secret).await, &one).await, Err(Denial::SecretRequired));
    assert!(matches!(house.list(&ANYBODY, &one).await, Err(Denial::Unauthorized(_))));
    assert!(house.room.open_inbox(&token, &NewInbox::default(), None).is_ok(), "any token opens");
    assert!(house.room.open_inbox(&house.bearer(&one.secret).await, &NewInbox::default(), None).is_err());
}

#[tokio::test]
async fn in_open_mode_an_inbox_is_everybodys_unless_it_is_said_otherwise() {
    let open = house(Mode::Open, Naming::Local);
    let inbox = open.open("a");
    assert_eq!(open.list(&ANYBODY, &inbox).await, Ok(0));
    let strict = house(Rules { inbox_secret: InboxSecret::Always, ..Rules::default() }, Naming::Local);
    let inbox = strict.open("a");
    assert_eq!(strict.list(&ANYBODY, &inbox).await, Err(Denial::SecretRequired));
    assert_eq!(strict.list(&strict.bearer(&inbox.secret).await, &inbox).await, Ok(0));
}

#[tokio::test]
async fn t103_what_is_guessed_or_mistyped_hears_the_same_as_what_is_there() {
    let house = house(Mode::Public, Naming::Local);
    let there = house.open("signup");
    let mut name = there.inbox.mailbox.as_str().to_owned();
    let last = name.pop().unwrap();
    name.push(if last == '0' { '1' } else { '0' });
    let mut mistyped = there.clone();
    mistyped.inbox.mailbox = mailbox(&name);
    assert_eq!(house.room.shape(&mistyped.inbox.mailbox), Shape::Mistyped);
    for caller in [ANYBODY, house.bearer(&there.secret).await] {
        assert_eq!(house.list(&caller, &mistyped).await, Err(Denial::SecretRequired));
    }
    assert_eq!(house.list(&ANYBODY, &there).await, Err(Denial::SecretRequired));
    assert_eq!(house.list(&house.admin().await, &mistyped).await, Ok(0));
    let wrong = |secret: String| async move { house.room.identify(Credential::Secret(&secret), None).await.is_err() };
    let secret = there.secret.clone();
    assert!(wrong(format!("{}0", &secret[..secret.len() - 1])).await || secret.ends_with('0'));
}

#[tokio::test]
async fn a_mistyped_inbox_gets_no_mail_but_in_open_mode() {
    let name = "signup-0000000000000000000000000@x.test";
    assert_eq!(enhanced(house(Mode::Token, Naming::Local).told(name).await), Some((550, (5, 1, 1))));
    assert_eq!(enhanced(house(Mode::Public, Naming::Local).told(name).await), Some((550, (5, 1, 1))));
    let open = house(Mode::Open, Naming::Local);
    assert_eq!(enhanced(open.told(name).await), None, "an ordinary mailbox");
    assert!(open.room.read(&ANYBODY, &mailbox(&name[..32]), Which::Latest).await.unwrap().is_none());
    for ordinary in ["signup-000000000000000000000000", "0000000000000000000000000", "si_gn-0000000000000000000000000"]
    {
        assert_eq!(house(Mode::Token, Naming::Local).room.shape(&mailbox(ordinary)), Shape::Ordinary, "{ordinary}");
    }
}

#[tokio::test]
async fn an_inbox_ends_and_its_mail_with_it() {
    for mode in [Mode::Open, Mode::Token, Mode::Public] {
        let house = house(mode, Naming::Local);
        let inbox = house.open("signup");
        let caller = house.bearer(&inbox.secret).await;
        let to = inbox.inbox.address.to_string();
        let sender = Caller::Sender { user: None, peer: None };
        let late = house.mail(&to);
        house.room.deliver(&sender, late.clone()).await.unwrap();
        assert_eq!(house.list(&caller, &inbox).await, Ok(1));
        let kept = house.room.read(&caller, &inbox.inbox.mailbox, Which::Latest).await.unwrap().unwrap();
        assert_eq!(kept.summary.expires, Some(inbox.inbox.expires));
        house.clock.advance(SignedDuration::from_secs(3630));
        let expired = Denial::InboxExpired { at: inbox.inbox.expires };
        assert_eq!(house.list(&caller, &inbox).await, Err(expired.clone()), "{mode:?}");
        assert_eq!(enhanced(house.told(&to).await), Some((550, (5, 1, 1))), "{mode:?}");
        let refused = house.room.deliver(&sender, late).await;
        assert!(matches!(&refused, Err(Error::Denied(denial)) if *denial == expired), "{refused:?}");
        house.store.sweep(10);
        assert!(house.room.read(&Caller::Program, &inbox.inbox.mailbox, Which::Latest).await.unwrap().is_none());
    }
}

#[tokio::test]
async fn closing_an_inbox_empties_it_and_it_lives_on() {
    let house = house(Mode::Token, Naming::Local);
    let inbox = house.open("a");
    let (caller, sender) = (house.bearer(&inbox.secret).await, Caller::Sender { user: None, peer: None });
    let mail = house.mail(&inbox.inbox.address.to_string());
    house.room.deliver(&sender, mail.clone()).await.unwrap();
    assert!(house.room.close_inbox(&ANYBODY, &inbox.inbox.mailbox).await.is_err());
    assert_eq!(house.room.close_inbox(&caller, &inbox.inbox.mailbox).await.unwrap(), Some(1));
    house.room.deliver(&sender, mail).await.unwrap();
    assert_eq!(house.list(&caller, &inbox).await, Ok(1));
    let admin = house.admin().await;
    assert_eq!(house.room.close_inbox(&admin, &mailbox("alice")).await.unwrap(), None);
    assert_eq!(house.room.read_inbox(&admin, &mailbox("alice")).unwrap(), None);
}

#[test]
fn what_cannot_be_opened_is_said_with_the_reason() {
    let house = house(Mode::Open, Naming::Local);
    let check = |new: NewInbox, word: &str| {
        let error = house.room.open_inbox(&ANYBODY, &new, None).unwrap_err();
        assert!(matches!(error, Error::BadInbox(_)) && error.to_string().contains(word), "{error}");
    };
    for label in ["", "Sign", "a_b", &"a".repeat(21)] {
        check(NewInbox { label: Some(label.to_owned()), ..NewInbox::default() }, "label");
    }
    check(NewInbox { ttl: Some(Duration::from_secs(86_401)), ..NewInbox::default() }, "inbox.ttl_max");
    check(NewInbox { ttl: Some(Duration::ZERO), ..NewInbox::default() }, "inbox.ttl_max");
    check(NewInbox { domain: Some("no domain".to_owned()), ..NewInbox::default() }, "domain");
    let domain = self::house(Mode::Open, Naming::Domain).room.open_inbox(&ANYBODY, &NewInbox::default(), None);
    assert!(matches!(domain, Err(Error::Store(store::Error::Unsupported { .. }))), "{domain:?}");
}

#[test]
fn an_address_that_policy_refuses_is_not_handed_out() {
    let policy = crate::Policy { accept: vec!["team.test".parse().unwrap()], ..crate::Policy::default() };
    let access = Rules { keys: Some(keys()), ..Rules::default() };
    let (_stub, room) = crate::stub::open(Settings { access, policy, ..Settings::default() });
    assert!(matches!(room.open_inbox(&ANYBODY, &NewInbox::default(), None), Err(Error::BadInbox(_))));
    let new = NewInbox { domain: Some("team.test".to_owned()), ..NewInbox::default() };
    assert_eq!(room.open_inbox(&ANYBODY, &new, None).unwrap().inbox.address.domain(), "team.test");
}

#[test]
fn how_often_one_address_opens_inboxes_is_bounded() {
    let mut rules = Rules { keys: Some(keys()), ..Rules::default() };
    rules.inbox.rate_per_ip = Some(crate::Quota { count: 2, per: Duration::from_secs(3600) });
    let (_stub, room) = crate::stub::open(Settings { access: rules, ..Settings::default() });
    let open = |peer: &str| room.open_inbox(&ANYBODY, &NewInbox::default(), Some(peer.parse().unwrap()));
    assert!(open("192.0.2.1").is_ok() && open("192.0.2.1").is_ok());
    assert!(matches!(open("192.0.2.1"), Err(Error::TooOften { .. })));
    assert!(open("192.0.2.2").is_ok());
}

#[test]
fn an_older_key_knows_its_inboxes_and_makes_no_more() {
    let (old, new) = ("01".repeat(32), "02".repeat(32));
    let with =
        |text: String| house(Rules { keys: Some(Keys::parse(&text).unwrap()), ..Mode::Token.into() }, Naming::Local);
    let (before, both, after) = (with(old.clone()), with(format!("{new}\n{old}\n")), with(new));
    let (of_old, of_both) = (before.open("a"), both.open("a"));
    assert_eq!(both.room.shape(&of_old.inbox.mailbox), Shape::Inbox(of_old.inbox.expires));
    assert_eq!(after.room.shape(&of_both.inbox.mailbox), Shape::Inbox(of_both.inbox.expires));
    assert_eq!(before.room.shape(&of_both.inbox.mailbox), Shape::Mistyped);
}

/// Whoever sees all mailboxes sees those that are theirs to see, in lists and as it happens.
#[tokio::test]
async fn t103_what_is_shown_of_all_mailboxes_is_what_one_may_list() {
    let house = house(Mode::Token, Naming::Local);
    let inbox = house.open("a").inbox;
    let token = async |text: &str| {
        let scopes = Scopes::parse([text], Naming::Local).unwrap();
        let new = NewToken { name: String::new(), scopes, expires: None };
        let issued = house.room.issue_token(&Caller::Program, new).await.unwrap();
        (issued.grant.id.clone(), Caller::Token { grant: issued.grant })
    };
    let [(ci_id, ci), (_, all), (_, admin)] = [token("ro:ci-*").await, token("ro:*").await, token("admin:*").await];
    let scope = || Scope::All;
    let mut watches = Vec::new();
    for caller in [&ci, &all, &admin] {
        watches.push(house.room.watch(caller, scope()).await.unwrap());
    }
    let one = Scope::Mailbox(mailbox("ci-1"));
    let mut narrow = house.room.watch(&ci, one).await.unwrap();
    let (address, name) = (inbox.address.to_string(), inbox.mailbox.as_str());
    for to in ["ci-1@x.test", "other@x.test", address.as_str(), "ci-2@x.test"] {
        house.room.deliver(&Caller::Program, house.mail(to)).await.unwrap();
    }
    let seen = [&["ci-1", "ci-2"][..], &["ci-1", "other", "ci-2"], &["ci-1", "other", name, "ci-2"]];
    for ((caller, watch), expected) in [&ci, &all, &admin].into_iter().zip(&mut watches).zip(seen) {
        for mailbox in expected {
            let event = crate::stub::next(watch).await;
            assert!(
                matches!(&event, Some(Event::Change(change, _)) if change.mailbox().as_str() == *mailbox),
                "{event:?}"
            );
        }
        let page = RecentPage { before: None, limit: 10 };
        let listed = house.room.recent(caller, page).await.unwrap().items;
        let mut listed: Vec<&str> = listed.iter().map(|item| item.mailbox.as_str()).collect();
        listed.reverse();
        assert_eq!(listed, expected);
        let page = MailboxPage { prefix: "", order: MailboxOrder::default(), limit: 10 };
        assert_eq!(house.room.mailboxes(caller, page).await.unwrap().len(), expected.len());
    }
    assert!(crate::stub::next(&mut narrow).await.is_some());
    house.room.revoke_token(&Caller::Program, &ci_id).await.unwrap();
    house.room.deliver(&Caller::Program, house.mail("ci-1@x.test")).await.unwrap();
    assert!(crate::stub::next(&mut narrow).await.is_none(), "whose token was revoked hears no more");
}

#[test]
fn how_much_of_an_envelope_is_seen() {
    let check = |mode: Mode, caller: &Caller, rcpt_to: &[&str], others: Option<usize>| {
        let house = house(mode, Naming::Local);
        let envelope = parcel(&house.room, &["a+1@x.test", "b@x.test", "c@x.test"]).envelope;
        let seen = house.room.seen(caller, &mailbox("a"), &envelope);
        let shown: Vec<String> = seen.rcpt_to.iter().map(ToString::to_string).collect();
        assert_eq!(
            (shown.as_slice(), seen.others),
            (rcpt_to.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), others),
            "{mode:?} {caller:?}"
        );
        assert_eq!(seen.transport, others.is_some());
    };
    let token = |text: &str| {
        let scopes = Scopes::parse([text], Naming::Local).unwrap();
        Caller::Token { grant: Arc::new(Grant::new("t".into(), String::new(), scopes, Origin::File)) }
    };
    check(Mode::Open, &ANYBODY, &["a+1@x.test", "b@x.test", "c@x.test"], Some(0));
    check(Mode::Token, &token("ro:*"), &["a+1@x.test", "b@x.test", "c@x.test"], Some(0));
    check(Mode::Token, &token("ro:a"), &["a+1@x.test"], Some(2));
    check(Mode::Public, &ANYBODY, &["a+1@x.test"], None);
    check(Mode::Public, &token("ro:a"), &["a+1@x.test"], Some(2));
}
