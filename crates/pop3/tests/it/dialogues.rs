//! Dialogues as text files: replayed over a pipe, over TCP and under TLS, line by line and byte by byte.
//!
//! Besides what every script knows there is `kept MAILBOX n`, which counts, and `mail MAILBOX bytes`, which puts a message
//! there before the dialogue begins. A dialogue that sets how TLS is used is not replayed under TLS from the first byte on.

use std::path::Path;

use dialogues::{Pace, Script, unescaped};
use net::Plaintext;
use pop3::{Settings, TlsUse};

use crate::rig::{Client, Rig, dial, dial_secured, settings};

fn scripts() -> Vec<Script> {
    let scripts = Script::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/dialogues"));
    assert!(scripts.len() >= 10, "the dialogues are found");
    scripts
}

async fn rig_for(script: &Script) -> Rig {
    let rig = Rig::new(script.settings().fold(settings(), set));
    for line in script.lines() {
        if let Some((mailbox, text)) = line.strip_prefix("mail ").and_then(|rest| rest.split_once(' ')) {
            rig.put(mailbox, unescaped(text)).await;
        }
    }
    rig
}

fn set(settings: Settings, setting: (&str, &str)) -> Settings {
    match setting {
        ("tls", "offer") => Settings { tls: TlsUse::Offer, ..settings },
        ("tls", "require") => Settings { tls: TlsUse::Require, ..settings },
        ("auth_plaintext", "never") => Settings { auth_plaintext: Plaintext::Never, ..settings },
        ("errors_max", count) => Settings { errors_max: count.parse().unwrap(), ..settings },
        ("messages_max", count) => Settings { messages_max: count.parse().unwrap(), ..settings },
        (key, value) => panic!("unknown setting {key} {value}"),
    }
}

async fn replay(script: &Script, rig: &Rig, client: Client, pace: Pace) {
    let obey = async |place: &str, words: &[&str]| match words {
        ["kept", mailbox, count] => {
            assert_eq!(rig.kept(mailbox).await, count.parse::<usize>().unwrap(), "{place}: kept in {mailbox}");
        }
        ["mail", _, _, ..] => {}
        _ => panic!("{place}: what is {words:?}?"),
    };
    script.replay(client, pace, obey).await;
}

#[tokio::test]
async fn over_a_pipe_over_tcp_and_under_tls() {
    for script in scripts() {
        let upgrades = script.settings().any(|(key, _)| key == "tls");
        for pace in [Pace::Lines, Pace::Bytes] {
            let rig = rig_for(&script).await;
            replay(&script, &rig, rig.pipe_from(Some("127.0.0.1".parse().unwrap()), 64 * 1024), pace).await;
            let rig = rig_for(&script).await;
            replay(&script, &rig, dial(rig.listen()).await, pace).await;
            if !upgrades {
                let rig = rig_for(&script).await;
                replay(&script, &rig, dial_secured(rig.listen_secured()).await, pace).await;
            }
        }
    }
}
