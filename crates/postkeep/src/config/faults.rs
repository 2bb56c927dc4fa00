//! The section `faults` as the mailroom takes it, and what in it does not go together.

use mailroom::faults::Settings;

use super::ready::{Clash, Values};

pub(super) fn settings(values: Values<'_>) -> Settings {
    Settings {
        domain: values.text("faults.domain").to_owned(),
        delay_max: values.time("faults.delay_max"),
        return_max: values.count("faults.return_max"),
        plans_max: values.count("faults.plans_max"),
        pairs_max: values.size("faults.pairs_max"),
        ttl_default: values.time("faults.ttl_default"),
        ttl_max: values.time("faults.ttl_max"),
    }
}

pub(super) fn clashes(values: Values<'_>) -> Option<Clash> {
    let is_longer = values.time("faults.ttl_default") > values.time("faults.ttl_max");
    is_longer.then(|| Clash {
        keys: ["faults.ttl_default", "faults.ttl_max"],
        text: "faults.ttl_default is longer than faults.ttl_max; raise the second or lower the first".to_owned(),
    })
}
