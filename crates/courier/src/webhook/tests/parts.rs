//! The parts that need neither a mailroom nor a receiver.

use std::time::Duration;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};
use outbound::{Error, HeaderMap, Response, StatusCode};

use crate::webhook::answer::{Answer, judge};
use crate::webhook::backoff::Pace;
use crate::webhook::breaker::{Breaker, Rest, Turn};
use crate::webhook::secret::Secret;

/// The example of the specification's own tests.
#[test]
fn t078_signatures_are_those_of_standard_webhooks() {
    let secret: Secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".parse().unwrap();
    let signed = secret.sign("msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b"{\"test\": 2432232314}");
    assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    assert_eq!(format!("{secret:?}"), "Secret");
}

#[test]
fn secrets_have_their_form() {
    for bad in ["", "whsec_", "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "whsec_MfKQ9r8GKYqrTwjU", "whsec_???", "whsec_a"] {
        assert!(bad.parse::<Secret>().is_err(), "{bad}");
    }
    let long = |octets: usize| {
        use base64::Engine;
        format!("whsec_{}", base64::engine::general_purpose::STANDARD.encode(vec![7; octets]))
    };
    for (octets, good) in [(23, false), (24, true), (64, true), (65, false)] {
        assert_eq!(long(octets).parse::<Secret>().is_ok(), good, "{octets}");
    }
}

#[test]
fn waits_double_up_to_a_bound_and_have_an_end() {
    let pace = Pace { attempts_max: 12, give_up_after: Duration::from_secs(3600), retry_max: Duration::from_secs(60) };
    let now = Timestamp::UNIX_EPOCH + SignedDuration::from_hours(10);
    let wait = |attempts, chance| {
        let next = pace.next(attempts, now, now, None, chance);
        next.map(|next| next.duration_since(now).as_millis())
    };
    assert_eq!(
        [1, 2, 3, 7, 11, 12].map(|attempts| wait(attempts, 255)),
        [1000, 2000, 4000, 60_000, 60_000].map(Some).into_iter().chain([None]).collect::<Vec<_>>()[..]
    );
    assert_eq!([1, 2, 7].map(|attempts| wait(attempts, 0)), [Some(500), Some(1000), Some(30_000)]);

    let after = |ago: i64| pace.next(1, now - SignedDuration::from_secs(ago), now, None, 255);
    assert!(after(3590).is_some());
    assert!(after(3600).is_none());
}

#[test]
fn what_a_target_asks_for_is_given_within_bounds() {
    let pace = Pace { give_up_after: Duration::from_secs(86_400), ..Pace::default() };
    let now = Timestamp::UNIX_EPOCH;
    let wait = |asked| {
        let next = pace.next(3, now, now, Some(Duration::from_secs(asked)), 255).unwrap();
        next.duration_since(now).as_secs()
    };
    assert_eq!((wait(0), wait(1), wait(120), wait(86_400)), (4, 4, 120, 3600));
}

#[tokio::test(start_paused = true)]
async fn t078_a_target_that_fails_is_left_alone_and_asked_once_then() {
    let breaker = Breaker::new(Rest { failures_max: 3, time: Duration::from_secs(30) });
    assert_eq!((breaker.failed(), breaker.failed(), breaker.hands(8)), (Turn::None, Turn::None, 8));
    // One that is taken in between begins the count anew.
    assert_eq!((breaker.succeeded(), breaker.failed(), breaker.failed()), (Turn::None, Turn::None, Turn::None));
    assert_eq!((breaker.failed(), breaker.hands(8)), (Turn::Opened, 0));
    tokio::time::advance(Duration::from_secs(29)).await;
    assert_eq!(breaker.hands(8), 0);
    tokio::time::advance(Duration::from_secs(1)).await;
    assert_eq!(breaker.hands(8), 1);
    assert_eq!((breaker.failed(), breaker.hands(8)), (Turn::None, 0));
    tokio::time::advance(Duration::from_secs(30)).await;
    assert_eq!((breaker.hands(8), breaker.succeeded(), breaker.hands(8)), (1, Turn::Closed, 8));
}

#[test]
fn answers_by_example() {
    let answer = |status: u16, field: &str, body: &str| {
        let mut headers = HeaderMap::new();
        if !field.is_empty() {
            headers.insert("retry-after", field.parse().unwrap());
        }
        let (status, body) = (StatusCode::from_u16(status).unwrap(), Bytes::copy_from_slice(body.as_bytes()));
        judge(Ok(&Response { status, headers, body, url: String::new() }))
    };
    for good in [200, 201, 202, 204, 299] {
        assert_eq!(answer(good, "", ""), Answer::Taken);
    }
    assert_eq!(answer(410, "", ""), Answer::Gone);
    let failed = |reason: &str, sick, wait: Option<u64>| Answer::Failed {
        reason: reason.to_owned(),
        sick,
        wait: wait.map(Duration::from_secs),
    };
    assert_eq!(answer(500, "", ""), failed("it answered 500", true, None));
    assert_eq!(answer(503, "7", "busy\r\n\u{1b}[31m"), failed("it answered 503: busy   [31m", true, Some(7)));
    assert_eq!(answer(429, "soon", ""), failed("it answered 429", true, None));
    assert_eq!(answer(400, "", "what?"), failed("it answered 400: what?", false, None));
    assert!(matches!(answer(302, "", ""), Answer::Failed { reason, sick: false, .. } if reason.contains("url")));
    let error = Error::Timeout { within: Duration::from_secs(1) };
    assert!(matches!(judge(Err(&error)), Answer::Failed { sick: true, .. }));
}
