//! A client of server-sent events: one request, then events for as long as the connection holds. It reads the chunks of
//! HTTP/1.1 itself, and knows no event by name.

use anyhow::{Context, Result, ensure};

use crate::door::Door;
use crate::wire::Wire;

/// One event. A comment is none.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Event {
    /// What stands behind `event:`.
    pub name: String,
    /// What stands behind `id:`.
    pub id: Option<String>,
    /// The lines behind `data:`, joined by LF.
    pub data: String,
}

/// A stream that was answered with 200.
#[derive(Debug)]
pub struct Stream {
    /// The connection.
    pub wire: Wire,
    lines: Lines,
}

impl Stream {
    /// Ask for a path, going on behind this id if one is named.
    pub async fn open(door: &Door, mut wire: Wire, path: &str, behind: Option<&str>) -> Result<Self> {
        let behind = behind.map(|id| format!("Last-Event-ID: {id}\r\n")).unwrap_or_default();
        let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\n{behind}\r\n", door.to);
        wire.send(request.as_bytes()).await?;
        let (status, fields) = crate::rest::head(&mut wire).await?;
        ensure!(status == 200, "GET {path}: {status}");
        let has = |name: &str, value: &str| fields.iter().any(|field| field.starts_with(name) && field.contains(value));
        ensure!(has("content-type:", "text/event-stream"), "GET {path} answered no events");
        ensure!(has("transfer-encoding:", "chunked"), "GET {path} answered without chunks");
        Ok(Self { wire, lines: Lines::default() })
    }

    /// The next event; an error when the stream ends.
    pub async fn next(&mut self) -> Result<Event> {
        loop {
            if let Some(event) = self.lines.event() {
                return Ok(event);
            }
            let size = self.wire.line().await?;
            let size = usize::from_str_radix(size.split(';').next().unwrap_or_default(), 16);
            let size = size.context("a chunk without a size")?;
            ensure!(size > 0, "the stream ended");
            self.lines.bytes.extend_from_slice(self.wire.exactly(size).await?);
            ensure!(self.wire.line().await?.is_empty(), "a chunk without an end");
        }
    }
}

/// Bytes on their way to events.
#[derive(Debug, Default)]
struct Lines {
    bytes: Vec<u8>,
    open: Event,
}

impl Lines {
    /// The next event that is whole.
    fn event(&mut self) -> Option<Event> {
        loop {
            let end = self.bytes.iter().position(|byte| *byte == b'\n')?;
            let line: Vec<u8> = self.bytes.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line[..end]).trim_end_matches('\r').to_owned();
            if !line.is_empty() {
                self.field(&line);
            } else if self.open != Event::default() {
                return Some(std::mem::take(&mut self.open));
            }
        }
    }

    fn field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => self.open.name = value.to_owned(),
            "id" => self.open.id = Some(value.to_owned()),
            "data" if self.open.data.is_empty() => self.open.data = value.to_owned(),
            "data" => self.open.data += &format!("\n{value}"),
            // A comment, or `retry`.
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_out_whole_however_they_were_cut() {
        let text = b": hi\n\nevent: deliver\nid: A1\ndata: {\"a\":1}\n\n: beat\n\nevent:purge\r\ndata: x\ndata: y\n\n";
        let wanted = [
            Event { name: "deliver".into(), id: Some("A1".into()), data: "{\"a\":1}".into() },
            Event { name: "purge".into(), id: None, data: "x\ny".into() },
        ];
        for cut in 0..text.len() {
            let mut lines = Lines::default();
            let mut seen = Vec::new();
            for piece in [&text[..cut], &text[cut..]] {
                lines.bytes.extend_from_slice(piece);
                seen.extend(std::iter::from_fn(|| lines.event()));
            }
            assert_eq!(seen, wanted, "cut at {cut}");
        }
    }
}
