//! The grammar by example, and that it is total.

use proptest::prelude::*;

use super::*;

const MINUTE: Duration = Duration::from_secs(60);

fn recipient(local: &str) -> Result<Asked, BadFault> {
    read(local, Side::Recipient, MINUTE)
}

fn reply(local: &str, side: Side, stage: Stage) -> (u16, (u8, u16, u16)) {
    let asked = read(local, side, MINUTE).unwrap();
    let reply = asked.at(stage).reply.as_ref().unwrap();
    (reply.code, reply.enhanced)
}

#[test]
fn a_code_is_answered_at_its_stage() {
    assert_eq!(reply("451-4.3.0.rcpt", Side::Recipient, Stage::Rcpt), (451, (4, 3, 0)));
    assert_eq!(reply("550", Side::Recipient, Stage::Rcpt), (550, (5, 1, 1)));
    assert_eq!(reply("550", Side::Sender, Stage::Mail), (550, (5, 1, 1)));
    assert_eq!(reply("452.data", Side::Recipient, Stage::Data), (452, (4, 3, 1)));
    assert_eq!(reply("599-5.999.999.DATA+run7", Side::Recipient, Stage::Data), (599, (5, 999, 999)));
    assert_eq!(reply("451.mail", Side::Sender, Stage::Mail), (451, (4, 3, 0)));
    assert_eq!(recipient("451").unwrap().rcpt.reply.unwrap().text, "As asked by the address: 451 4.3.0 at RCPT");
}

#[test]
fn what_is_no_refusal_is_no_code() {
    for local in ["250", "399", "600", "45", "4510", "4x1", "399-4.0.0", "0451"] {
        assert!(matches!(recipient(local), Err(BadFault::Code(_))), "{local}");
    }
    for local in ["451-5.1.1", "550-4.2.0", "451-4.3", "451-4.3.0.0", "451-4.03.0", "451-4.3.1000", "451-", "451-2.0.0"]
    {
        assert!(matches!(recipient(local), Err(BadFault::Enhanced(_))), "{local}");
    }
}

#[test]
fn terms_are_joined_and_each_is_said_once() {
    let asked = recipient("delay-1500ms.data_421.data_slow-2k_bounce-5.2.2_vacation+run_7_451").unwrap();
    assert_eq!(asked.data.delay, Some(Duration::from_millis(1500)));
    assert_eq!(asked.data.reply.as_ref().unwrap().code, 421);
    assert_eq!(asked.rcpt, Act { slow: Some(2048), ..Act::default() });
    assert_eq!(asked.back, [Back::Bounce((5, 2, 2)), Back::Vacation]);
    for local in
        ["451_450", "drop_drop.rcpt", "delay-1s_delay-2s", "slow-1_slow-2", "bounce_bounce-5.2.2", "vacation_vacation"]
    {
        assert!(matches!(recipient(local), Err(BadFault::Twice(_))), "{local}");
    }
    assert!(recipient("451.rcpt_450.data").is_ok(), "two stages are two things");
}

#[test]
fn times_and_speeds_have_their_bounds() {
    assert_eq!(recipient("delay-1m").unwrap().rcpt.delay, Some(MINUTE));
    for local in [
        "delay-61s",
        "delay-0s",
        "delay-",
        "delay-3",
        "delay-3h",
        "delay--3s",
        "delay-+3s",
        "delay-99999999999999999999s",
    ] {
        assert!(matches!(recipient(local), Err(BadFault::Time(_) | BadFault::Unknown(_))), "{local}");
    }
    assert!(matches!(recipient("delay"), Err(BadFault::Unknown(_))));
    assert_eq!(recipient("slow-1m").unwrap().rcpt.slow, Some(1 << 20));
    for local in ["slow-0", "slow-k", "slow-1g", "slow-", "slow-18446744073709551615m"] {
        assert!(matches!(recipient(local), Err(BadFault::Octets(_))), "{local}");
    }
}

#[test]
fn a_stage_stands_only_where_there_is_one() {
    for local in ["slow-1k.data", "bounce-5.1.1.data", "vacation.rcpt", "ok.rcpt", "complaint.data"] {
        assert!(matches!(recipient(local), Err(BadFault::Stageless(_))), "{local}");
    }
    assert!(matches!(recipient("451.mail"), Err(BadFault::TooEarly(_))));
    assert!(matches!(recipient("451.mial"), Err(BadFault::Code(_))));
}

#[test]
fn what_is_for_recipients_does_nothing_at_mail() {
    for local in ["451.rcpt", "drop.data", "slow-1k", "bounce", "vacation", "ok"] {
        assert!(read(local, Side::Sender, MINUTE).unwrap().mail.is_nothing(), "{local}");
    }
}

#[test]
fn every_mistake_says_what_would_be_right() {
    for local in ["", "bob", "postmaster", "ok-1", "_", "451_", "vacation-1", "drop-1", "öl"] {
        let bad = recipient(local).unwrap_err().to_string();
        assert!(bad.contains(':') && bad.len() < 200, "{bad}");
    }
    assert!(recipient("ok").unwrap().rcpt.is_nothing());
    assert_eq!(recipient("complaint-not-spam").unwrap().back, [Back::Complaint("not-spam")]);
}

proptest! {
    /// Total: whatever it is, it is a fault or a mistake; and a reply is one that may be given.
    #[test]
    fn anything_is_a_fault_or_a_mistake(local in "([a-z0-9._+-]{0,20}|(4|5)[0-9]{2}(-[45]\\.[0-9]\\.[0-9])?(\\.(mail|rcpt|data))?|.{0,30})(_[a-z0-9.-]{0,12})?") {
        for side in [Side::Sender, Side::Recipient] {
            if let Ok(asked) = read(&local, side, MINUTE) {
                for reply in [&asked.mail, &asked.rcpt, &asked.data].into_iter().filter_map(|act| act.reply.as_ref()) {
                    prop_assert!((400..600).contains(&reply.code));
                    prop_assert_eq!(reply.code / 100, u16::from(reply.enhanced.0));
                    prop_assert!(reply.text.bytes().all(|byte| (b' '..=b'~').contains(&byte)));
                }
                prop_assert!(side == Side::Sender || asked.mail.is_nothing());
            }
        }
    }
}
