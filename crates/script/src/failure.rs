//! How a script can fail, in words for whoever wrote it.

use std::time::Duration;

use mlua::Error;

/// A text of a script in a log is cut behind this many bytes.
const TEXT_MAX: usize = 500;

/// Why there is no answer of a script.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// It went wrong: where, and what.
    #[error("{0}")]
    Error(String),
    /// It took too long.
    #[error("{file}: it took longer than {deadline:?} and was stopped; do less in it, or raise {key}")]
    Late { file: String, deadline: Duration, key: &'static str },
    /// It needs too much.
    #[error("{0}: it needs more memory than it has; keep less at once, or raise script.memory_max")]
    Memory(String),
    /// Nobody came to it in time.
    #[error("no worker was free within {0:?}; make the scripts faster, or raise script.workers")]
    NoWorker(Duration),
    /// Too many wait already.
    #[error("too many events wait for the scripts; make the scripts faster, or raise script.queue_max")]
    Full,
    /// A fault of ours.
    #[error("the worker broke down while it ran the scripts")]
    Broken,
}

impl Failure {
    /// What the VM says, without its list of calls. It begins with the file and the line, where it knows them.
    pub(crate) fn of(file: &str, error: &Error) -> Self {
        if is_memory(error) {
            return Self::Memory(file.to_owned());
        }
        let text = told(error);
        if text.starts_with(file) { Self::Error(text) } else { Self::Error(format!("{file}: {text}")) }
    }
}

impl Failure {
    /// Whether the VM is as good as before: a script that raised an error did no harm to it.
    pub(crate) fn is_harmless(&self) -> bool {
        matches!(self, Self::Error(_) | Self::NoWorker(_))
    }
}

fn is_memory(error: &Error) -> bool {
    match error {
        Error::MemoryError(_) => true,
        Error::CallbackError { cause, .. } => is_memory(cause),
        _ => false,
    }
}

/// The words of an error of the VM, on one line.
pub(crate) fn told(error: &Error) -> String {
    let text = match error {
        Error::RuntimeError(text) => text.clone(),
        Error::SyntaxError { message, .. } => message.clone(),
        Error::MemoryError(_) => "it needs more memory than script.memory_max".to_owned(),
        // An error of ours, on its way through the script.
        Error::CallbackError { traceback, cause } => match line_of(traceback) {
            Some(place) => format!("{place}: {}", told(cause)),
            None => told(cause),
        },
        Error::BadArgument { to, pos, name, cause } => {
            let to = to.as_deref().unwrap_or("this function");
            let name = name.as_deref().map(|name| format!(" ({name})")).unwrap_or_default();
            format!("argument {pos}{name} of {to}: {}", told(cause))
        }
        other => other.to_string(),
    };
    let text = text.split("\nstack traceback:").next().unwrap_or_default().trim();
    let text = text.replace(char::is_control, " ");
    if text.len() > TEXT_MAX { format!("{}…", &text[..text.floor_char_boundary(TEXT_MAX)]) } else { text }
}

/// The innermost `file:line` of a list of calls that is a script's.
fn line_of(traceback: &str) -> Option<&str> {
    let place = |line: &str| -> Option<usize> {
        let colon = line.find(':')?;
        let digits = line[colon + 1..].bytes().take_while(u8::is_ascii_digit).count();
        (digits > 0).then_some(colon + 1 + digits)
    };
    let is_ours = |line: &&str| line.starts_with("__mlua") || line.starts_with("prelude:");
    traceback.lines().map(str::trim).filter(|line| !is_ours(line)).find_map(|line| place(line).map(|end| &line[..end]))
}
