//! Dialogues as text files, and how one is replayed. Which words a script may use besides, its caller knows.

#[cfg(test)]
mod tests;

use std::path::Path;

use crate::Client;

/// How the client's bytes are cut.
#[derive(Clone, Copy, Debug)]
pub enum Pace {
    /// Each line of the script at once.
    Lines,
    /// Each byte on its own.
    Bytes,
}

/// One dialogue.
#[derive(Debug)]
pub struct Script {
    name: String,
    text: String,
}

impl Script {
    /// Every dialogue of a folder, by name.
    pub fn all(folder: &Path) -> Vec<Self> {
        let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        let mut scripts: Vec<_> = entries.map(|entry| Self::read(&entry.expect("a file has a name").path())).collect();
        scripts.sort_by(|one, other| one.name.cmp(&other.name));
        scripts
    }

    fn read(file: &Path) -> Self {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(file).unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { name, text }
    }

    /// The lines as they are.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// What is set, as key and value.
    pub fn settings(&self) -> impl Iterator<Item = (&str, &str)> {
        let set = self.lines().filter_map(|line| line.strip_prefix("set "));
        set.map(|rest| rest.split_once(' ').unwrap_or_else(|| panic!("{}: {rest:?} has no value", self.name)))
    }

    /// Hold the dialogue from its first line to its last. A line that is none of those that every script knows goes to
    /// `obey`, as its place and its words.
    pub async fn replay(&self, mut client: Client, pace: Pace, obey: impl AsyncFn(&str, &[&str])) {
        for (number, line) in self.lines().enumerate() {
            let place = format!("{}:{}", self.name, number + 1);
            let (kind, text) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "C:" => send(&mut client, format!("{text}\r\n").as_bytes(), pace).await,
                "c:" => send(&mut client, &unescaped(text), pace).await,
                "S:" => expect(&mut client, text, &place).await,
                "closed" => assert_eq!(client.line().await, None, "{place}: the connection ends"),
                "handshake" => client = client.secure().await.unwrap_or_else(|error| panic!("{place}: {error}")),
                "set" | "#" | "" => {}
                _ => obey(&place, &line.split(' ').collect::<Vec<_>>()).await,
            }
        }
    }
}

async fn send(client: &mut Client, bytes: &[u8], pace: Pace) {
    // Whether the server is gone is told by what is expected next.
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

async fn expect(client: &mut Client, pattern: &str, place: &str) {
    let got = client.line().await.unwrap_or_else(|| panic!("{place}: closed instead of {pattern:?}"));
    assert!(matches(pattern, &got), "{place}: expected {pattern:?}, got {got:?}");
}

fn matches(pattern: &str, line: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(front) => line.starts_with(front),
        None => line == pattern,
    }
}

/// Bytes as a script writes them: `\r`, `\n` and `\0` are what they usually are, and one `{text*n}` is n times the text.
pub fn unescaped(text: &str) -> Vec<u8> {
    let text = text.replace("\\r", "\r").replace("\\n", "\n").replace("\\0", "\0");
    match (text.find('{'), text.find('}')) {
        (Some(open), Some(close)) => {
            let (unit, count) = text[open + 1..close].rsplit_once('*').expect("braces hold text*n");
            let count = count.parse().expect("how often is a number");
            [&text[..open], &unit.repeat(count), &text[close + 1..]].concat().into_bytes()
        }
        _ => text.into_bytes(),
    }
}
