//! The log: on stderr, one event a line, whatever clients put into it (T104).
//!
//! What a client sent may stand in an event, so every control character is written as an escape: a line break cannot
//! begin an event of its own, and an escape sequence cannot reach a terminal.

use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;

use tracing_subscriber::field::MakeExt;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::debug_fn;
use tracing_subscriber::layer::SubscriberExt;

/// How much is told.
pub(crate) type Level = tracing::Level;

/// For whom the log is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Format {
    /// For people.
    Text,
    /// For machines: one object a line.
    Json,
}

/// From now on everything is logged on stderr, panics included.
pub(crate) fn start(level: Level, format: Format) {
    let colours = io::stderr().is_terminal();
    // The first logger of the process stays; there is no second, except in tests.
    let _ = tracing::subscriber::set_global_default(logger(level, format, colours, io::stderr));
    std::panic::set_hook(Box::new(panicked));
}

/// A logger that writes to `out`.
fn logger<W>(level: Level, format: Format, colours: bool, out: W) -> Box<dyn tracing::Subscriber + Send + Sync>
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    // Left alone, it complains on stderr when stderr is gone, and panics at that.
    let builder = tracing_subscriber::fmt().with_max_level(level).log_internal_errors(false);
    match format {
        Format::Text => {
            let fields = debug_fn(|out, field, value| match field.name() {
                "message" => write!(Escaping(out), "{value:?}"),
                name => write!(Escaping(out), "{name}={value:?}"),
            });
            let subscriber = builder.with_ansi(colours).fmt_fields(fields.delimited(" ")).with_writer(out).finish();
            Box::new(subscriber.with(ours(level)))
        }
        Format::Json => {
            let builder = builder.json().flatten_event(true).with_current_span(false);
            Box::new(builder.with_writer(AsciiControl(out)).finish().with(ours(level)))
        }
    }
}

/// What libraries tell of their own well-being is for those who look closely.
fn ours(level: Level) -> Targets {
    let theirs = if level > Level::INFO { level } else { level.min(Level::WARN) };
    Targets::new().with_default(level).with_target("async_nats", theirs).with_target("hickory", theirs)
}

/// A panic is a fault of this program: it ends one task, and is told as an event like any other.
fn panicked(info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    let message = info.payload_as_str().unwrap_or("no message");
    tracing::error!(%place, "a fault in Postkeep, please report it: {message}");
}

/// A text in which nothing is left that could harm a terminal.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    // Writing to a string does not fail.
    let _ = Escaping(&mut out).write_str(text);
    out
}

/// Writes control characters, and those that turn the direction of a line, as escapes.
struct Escaping<W>(W);

impl<W: fmt::Write> fmt::Write for Escaping<W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let mut rest = text;
        while let Some(at) = rest.find(is_harmful) {
            let (clean, behind) = rest.split_at(at);
            self.0.write_str(clean)?;
            let mut chars = behind.chars();
            chars.by_ref().take(1).try_for_each(|harmful| write!(self.0, "{}", harmful.escape_default()))?;
            rest = chars.as_str();
        }
        self.0.write_str(rest)
    }
}

fn is_harmful(c: char) -> bool {
    c.is_control() || matches!(c, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// JSON leaves DEL and the C1 controls as they are; here they become escapes too. Outside its strings JSON has none.
struct AsciiControl<M>(M);

impl<'a, M: MakeWriter<'a>> MakeWriter<'a> for AsciiControl<M> {
    type Writer = AsciiControlWriter<M::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        AsciiControlWriter(self.0.make_writer())
    }
}

struct AsciiControlWriter<W>(W);

impl<W: Write> Write for AsciiControlWriter<W> {
    /// Gets an event whole.
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        let mut out = String::with_capacity(event.len());
        for c in String::from_utf8_lossy(event).chars() {
            match c {
                '\n' => out.push(c),
                c if is_harmful(c) => drop(write!(out, "\\u{:04x}", c as u32)),
                c => out.push(c),
            }
        }
        self.0.write_all(out.as_bytes())?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Everything that ends lines, rings, moves cursors or turns text round.
    const CANARY: &str = "a\r\nINFO forged\t\0\x07\x08\x1b[31mred\x7f\u{9b}31m\u{85}\u{2028}\u{202e}z ü";

    #[derive(Clone, Default)]
    struct Paper(Arc<Mutex<Vec<u8>>>);

    impl Write for Paper {
        fn write(&mut self, text: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(text)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(format: Format, log: impl FnOnce()) -> String {
        let paper = Paper::default();
        let out = paper.clone();
        tracing::subscriber::with_default(logger(Level::INFO, format, false, move || out.clone()), log);
        let text = paper.0.lock().unwrap().clone();
        String::from_utf8(text).unwrap()
    }

    fn canaries() {
        let _span = tracing::info_span!("session", helo = CANARY, peer = %CANARY).entered();
        tracing::info!(shown = %CANARY, told = ?CANARY, plain = CANARY, "{CANARY}");
    }

    #[test]
    fn t104_one_event_is_one_clean_line() {
        for format in [Format::Text, Format::Json] {
            let text = logged(format, canaries);
            let line = text.strip_suffix('\n').unwrap();
            assert!(!line.contains(char::is_control) && !line.contains(['\u{2028}', '\u{202e}']), "{line:?}");
            assert_eq!(line.matches("forged").count(), 6, "every canary is there: {line}");
            assert!(line.contains('ü'), "other letters stay: {line}");
        }
    }

    #[test]
    fn json_says_what_was_given() {
        let text = logged(Format::Json, || tracing::info!(shown = %CANARY, "said"));
        let event: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&event["message"], &event["shown"]), (&"said".into(), &CANARY.into()));
    }

    #[test]
    fn f26_a_panic_is_an_event_like_any_other() {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(panicked));
        let text = logged(Format::Text, || drop(std::panic::catch_unwind(|| panic!("{CANARY}"))));
        std::panic::set_hook(usual);
        assert!(
            text.contains("ERROR") && text.contains("a fault in Postkeep, please report it: a\\r\\nINFO forged"),
            "{text}"
        );
        assert!(text.contains("place=") && text.contains("log.rs:") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn the_level_is_kept() {
        assert_eq!(logged(Format::Text, || tracing::debug!("too much")), "");
    }

    #[test]
    fn libraries_tell_what_is_wrong_and_no_more() {
        assert_eq!(logged(Format::Text, || tracing::info!(target: "async_nats::connector", "connected")), "");
        let told = logged(Format::Json, || tracing::warn!(target: "async_nats::connector", "lost"));
        assert!(told.contains("lost"), "{told}");
    }
}
