//! Dialogues as text files: replayed over a pipe, over TCP and under TLS, line by line and byte by byte.
//!
//! Besides what every script knows there is `kept MAILBOX n`, which counts.

use std::path::Path;

use dialogues::{Pace, Script};
use smtp::{BareNewlines, Dialect};

use crate::rig::{Client, Rig, dial, dial_secured, settings};

fn scripts() -> Vec<Script> {
    let scripts = Script::all(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/dialogues"));
    assert!(scripts.len() >= 10, "the dialogues are found");
    scripts
}

fn rig_for(script: &Script) -> Rig {
    let (mut settings, mut dialect) = (settings(), Dialect::Smtp);
    for setting in script.settings() {
        match setting {
            ("bare_newlines", "normalize") => settings.bare_newlines = BareNewlines::Normalize,
            ("auth", "off") => settings.auth = false,
            ("auth_required", "true") => settings.auth_required = true,
            ("dialect", "lmtp") => dialect = Dialect::Lmtp,
            (key, value) => panic!("unknown setting {key} {value}"),
        }
    }
    Rig { dialect, ..Rig::new(settings) }
}

async fn replay(script: &Script, rig: &Rig, client: Client, pace: Pace) {
    let obey = async |place: &str, words: &[&str]| {
        let ["kept", mailbox, count] = words else { panic!("{place}: what is {words:?}?") };
        assert_eq!(rig.kept(mailbox).await, count.parse::<usize>().unwrap(), "{place}: kept in {mailbox}");
    };
    script.replay(client, pace, obey).await;
}

#[tokio::test]
async fn over_a_pipe_over_tcp_and_under_tls() {
    for script in scripts() {
        for pace in [Pace::Lines, Pace::Bytes] {
            let rig = rig_for(&script);
            replay(&script, &rig, rig.pipe(), pace).await;
            let rig = rig_for(&script);
            replay(&script, &rig, dial(rig.listen()).await, pace).await;
            let rig = rig_for(&script);
            replay(&script, &rig, dial_secured(rig.listen_secured()).await, pace).await;
        }
    }
}
