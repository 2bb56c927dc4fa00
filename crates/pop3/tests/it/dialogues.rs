//! Dialogues as text files: replayed over a pipe, over TCP and under TLS, line by line and byte by byte.
//!
//! `C:` sends a line; `c:` sends bytes with escapes, `{text*n}` repeated; `S:` expects a line, `*` matches the rest;
//! `closed` expects the end; `kept MAILBOX n` counts; `set KEY VALUE` comes first, and so does `mail MAILBOX bytes`,
//! which puts a message there. `handshake` goes on under TLS; a dialogue with it is not replayed under TLS from the first
//! byte on.

use std::path::{Path, PathBuf};

use net::Plaintext;
use pop3::{Settings, TlsUse};

use crate::rig::{Client, Rig, dial, dial_secured, settings};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/dialogues");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 10, "the dialogues are found");
    files
}

#[derive(Clone, Copy)]
enum Pace {
    Lines,
    Bytes,
}

async fn rig_for(script: &str) -> Rig {
    let rig = Rig::new(script.lines().fold(settings(), set));
    for line in script.lines() {
        if let Some((mailbox, text)) = line.strip_prefix("mail ").and_then(|rest| rest.split_once(' ')) {
            rig.put(mailbox, unescaped(text)).await;
        }
    }
    rig
}

fn set(settings: Settings, line: &str) -> Settings {
    match line.split(' ').collect::<Vec<_>>()[..] {
        ["set", "tls", "offer"] => Settings { tls: TlsUse::Offer, ..settings },
        ["set", "tls", "require"] => Settings { tls: TlsUse::Require, ..settings },
        ["set", "auth_plaintext", "never"] => Settings { auth_plaintext: Plaintext::Never, ..settings },
        ["set", "errors_max", count] => Settings { errors_max: count.parse().unwrap(), ..settings },
        ["set", "messages_max", count] => Settings { messages_max: count.parse().unwrap(), ..settings },
        ["set", key, _] => panic!("unknown setting {key}"),
        _ => settings,
    }
}

async fn replay(name: &str, script: &str, rig: &Rig, mut client: Client, pace: Pace) {
    for (number, line) in script.lines().enumerate() {
        let place = format!("{name}:{}", number + 1);
        let (kind, text) = line.split_at_checked(2).unwrap_or((line, ""));
        let text = text.strip_prefix(' ').unwrap_or(text);
        match kind {
            "C:" => send(&mut client, format!("{text}\r\n").as_bytes(), pace).await,
            "c:" => send(&mut client, &unescaped(text), pace).await,
            "S:" => {
                let got = client.line().await.unwrap_or_else(|| panic!("{place}: closed instead of {text:?}"));
                assert!(matches(text, &got), "{place}: expected {text:?}, got {got:?}");
            }
            "cl" => assert_eq!(client.line().await, None, "{place}: the connection ends"),
            "ke" => {
                let [_, mailbox, count] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{place}") };
                assert_eq!(rig.kept(mailbox).await, count.parse::<usize>().unwrap(), "{place}: kept in {mailbox}");
            }
            "ha" => client = client.secure().await.unwrap_or_else(|error| panic!("{place}: {error}")),
            "se" | "ma" | "# " | "" => {}
            other => panic!("{place}: what is {other:?}?"),
        }
    }
}

fn matches(pattern: &str, line: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => line.starts_with(front),
        None => line == pattern,
    }
}

async fn send(client: &mut Client, bytes: &[u8], pace: Pace) {
    match pace {
        Pace::Lines => drop(client.send(bytes).await),
        Pace::Bytes => {
            for byte in bytes {
                client.send(&[*byte]).await;
                tokio::task::yield_now().await;
            }
        }
    }
}

fn unescaped(text: &str) -> Vec<u8> {
    let text = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0");
    match (text.find('{'), text.find('}')) {
        (Some(open), Some(close)) => {
            let (unit, count) = text[open + 1..close].rsplit_once('*').unwrap();
            [&text[..open], &unit.repeat(count.parse().unwrap()), &text[close + 1..]].concat().into_bytes()
        }
        _ => text.into_bytes(),
    }
}

#[tokio::test]
async fn over_a_pipe_over_tcp_and_under_tls() {
    for file in files() {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let script = std::fs::read_to_string(&file).unwrap();
        let upgrades = script.lines().any(|line| line.starts_with("set tls "));
        for pace in [Pace::Lines, Pace::Bytes] {
            let rig = rig_for(&script).await;
            replay(&name, &script, &rig, rig.pipe(), pace).await;
            let rig = rig_for(&script).await;
            replay(&name, &script, &rig, dial(rig.listen()).await, pace).await;
            if !upgrades {
                let rig = rig_for(&script).await;
                replay(&name, &script, &rig, dial_secured(rig.listen_secured()).await, pace).await;
            }
        }
    }
}
