//! Who is let in, and how often somebody may be wrong.

use std::sync::Arc;
use std::time::Duration;

use rate::Quota;

use super::*;

fn listed(text: &str) -> Senders {
    Senders::List(Roll::new(Users::parse(text).unwrap()))
}

fn desk(senders: Senders, failures: u32) -> SignIn {
    let quota = Quota { count: failures, per: Duration::from_secs(3600) };
    SignIn::new(senders, Pace::new(Some(quota), 100))
}

async fn shown(desk: &SignIn, peer: &str, user: &str, secret: &str) -> Result<Caller, SignInError> {
    desk.check(Some(peer.parse().unwrap()), user, secret).await
}

#[tokio::test]
async fn whoever_shows_whatever_is_known_by_the_name_shown() {
    let desk = desk(Senders::Any, 1);
    let caller = shown(&desk, "192.0.2.1", "app", "anything").await.unwrap();
    assert_eq!(caller, Caller::Sender { user: Some("app".into()), peer: Some("192.0.2.1".parse().unwrap()) });
}

#[tokio::test]
async fn a_list_lets_in_those_on_it_and_can_be_replaced() {
    let roll = Roll::new(Users::parse("app:right\n").unwrap());
    let desk = desk(Senders::List(Arc::clone(&roll)), 100);
    let tried = async |user: &str, secret: &str| shown(&desk, "192.0.2.1", user, secret).await;
    assert!(tried("app", "right").await.is_ok());
    assert_eq!(tried("app", "wrong").await, Err(SignInError::Wrong));
    assert_eq!(tried("nobody", "right").await, Err(SignInError::Wrong));
    roll.replace(Users::parse("app:other\n").unwrap());
    assert_eq!(tried("app", "right").await, Err(SignInError::Wrong));
    assert!(tried("app", "other").await.is_ok());
}

#[tokio::test]
async fn t102_whoever_guesses_is_stopped_and_nobody_else() {
    let desk = desk(listed("app:right\n"), 3);
    let tried = async |peer: &str, secret: &str| shown(&desk, peer, "app", secret).await;
    for _ in 0..3 {
        assert_eq!(tried("192.0.2.1", "guess").await, Err(SignInError::Wrong));
    }
    assert_eq!(tried("192.0.2.1", "guess").await, Err(SignInError::TooMany));
    assert_eq!(tried("192.0.2.1", "right").await, Err(SignInError::TooMany), "not even the right one is told");
    assert!(tried("192.0.2.2", "right").await.is_ok());
}

#[tokio::test]
async fn t102_many_guesses_at_once_are_no_way_round() {
    let hash = crate::users::hash("right").unwrap();
    let desk = desk(listed(&format!("app:{hash}\n")), 3);
    let guesses = (0..100).map(|_| shown(&desk, "192.0.2.1", "app", "guess"));
    let told = futures_util::future::join_all(guesses).await;
    let checked = told.iter().filter(|told| **told == Err(SignInError::Wrong)).count();
    let cores = thread::available_parallelism().map_or(1, usize::from);
    assert!((3..=3 + cores).contains(&checked), "{checked} passwords were looked at");
}

#[tokio::test]
async fn what_is_right_is_never_too_often() {
    let desk = desk(listed("app:right\n"), 1);
    for _ in 0..50 {
        assert!(shown(&desk, "192.0.2.1", "app", "right").await.is_ok());
    }
}

#[tokio::test]
async fn nobody_signs_in_where_it_is_off() {
    assert_eq!(shown(&desk(Senders::Off, 1), "::1", "a", "b").await, Err(SignInError::Off));
}

#[test]
fn t005_a_secret_is_shown_nowhere() {
    let secret = Secret::from(b"hunter2".to_vec());
    assert_eq!(format!("{secret:?}"), "Secret(***)");
}
