//! The section `wait`.

use mailroom::wait::Limits;

use super::ready::{Clash, Values};
use super::values::Time;

/// The limits of waiting.
pub(super) fn limits(values: Values<'_>) -> Limits {
    Limits {
        timeout_default: values.time("wait.timeout_default"),
        timeout_max: values.time("wait.timeout_max"),
        count_max: values.count("wait.count_max"),
        exclude_max: values.count("wait.exclude_max"),
        regex_max: values.count("wait.regex_max"),
        near_misses_max: values.count("wait.near_misses_max"),
        answer_max: values.count("wait.answer_max"),
        waiters_max: values.count("wait.waiters_max"),
        per_mailbox_max: values.count("wait.per_mailbox_max"),
        per_ip_max: Some(values.count("wait.per_ip_max")).filter(|most| *most > 0),
    }
}

/// Who says nothing must not be told that this was too long.
pub(super) fn clashes(values: Values<'_>) -> Option<Clash> {
    let (usual, longest) = (values.time("wait.timeout_default"), values.time("wait.timeout_max"));
    let text = format!(
        "wait.timeout_default is {} and wait.timeout_max {}, so a wait that names no time would be refused; lower the \
         first or raise the second",
        Time(usual),
        Time(longest)
    );
    (usual > longest).then_some(Clash { keys: ["wait.timeout_default", "wait.timeout_max"], text })
}
