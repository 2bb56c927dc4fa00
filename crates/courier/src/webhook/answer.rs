//! What an answer means: taken, not taken for now, or never again.

use std::time::Duration;

use outbound::header::RETRY_AFTER;
use outbound::{Error, Response, StatusCode};

/// So much of an answer stands in the reason.
const SAID_MAX: usize = 200;

/// What came of a request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The target has it.
    Taken,
    /// The target wants no such event any more (410).
    Gone,
    /// Not now.
    Failed {
        /// In words.
        reason: String,
        /// Whether it is the target that is out of order, and not this event that it does not like.
        sick: bool,
        /// How long it asks to be left alone.
        wait: Option<Duration>,
    },
}

/// Judge what came.
pub fn judge(came: Result<&Response, &Error>) -> Answer {
    let response = match came {
        Ok(response) => response,
        Err(error) => return Answer::Failed { reason: error.to_string(), sick: true, wait: None },
    };
    let status = response.status;
    if status.is_success() {
        return Answer::Taken;
    }
    if status == StatusCode::GONE {
        return Answer::Gone;
    }
    let wait = response.headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
    let sick = status.is_server_error()
        || matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_EARLY);
    Answer::Failed { reason: reason(response), sick, wait: wait.map(Duration::from_secs) }
}

fn reason(response: &Response) -> String {
    let status = response.status.as_u16();
    if response.status.is_redirection() {
        return format!("it answered {status}: webhooks are not sent on elsewhere; write the new address into its url");
    }
    let said = String::from_utf8_lossy(&response.body);
    let plain = |char: char| if char.is_control() { ' ' } else { char };
    let said: String = said.trim().chars().take(SAID_MAX).map(plain).collect();
    if said.is_empty() { format!("it answered {status}") } else { format!("it answered {status}: {said}") }
}
