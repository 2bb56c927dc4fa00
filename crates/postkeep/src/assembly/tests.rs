//! What a start says about where mail is kept.

use super::kept;
use crate::config::{Checked, Sources};

/// What is told for these settings, up to the bounds.
fn place(set: &[&str]) -> String {
    let set = set.iter().map(ToString::to_string).collect();
    let checked = Checked::of(&Sources { set, ..Sources::default() }).unwrap();
    let kept = kept(&checked.config().store);
    kept.split_once("; at most").map_or(kept.as_str(), |(place, _)| place).to_owned()
}

#[test]
fn every_engine_says_what_mail_outlives() {
    assert_eq!(place(&[]), "in memory, until this program ends");
    assert_eq!(place(&["store.engine=disk"]), "in postkeep-data, through a power cut");
    let three = "store.jetstream.urls=nats://me:s3cret@a:4222,nats://b";
    for (replicas, waived, promise) in [
        (1, false, "through a power cut"),
        (1, true, "as long as it has power"),
        (3, false, "through the loss of any one machine"),
        (3, true, "through the loss of any one machine, but not of power to all"),
        (5, false, "through the loss of any two machines"),
        (5, true, "through the loss of any two machines, but not of power to all"),
    ] {
        let replicas = format!("store.jetstream.replicas={replicas}");
        let waived = format!("store.jetstream.sync_waived={waived}");
        let told = place(&["store.engine=jetstream", three, &replicas, &waived]);
        assert_eq!(told, format!("on the brokers at a:4222, b, {promise}"));
    }
    let one = ["store.engine=jetstream", "store.jetstream.urls=tls://a"];
    assert_eq!(place(&one), "on the broker at a, through the loss of any one machine");
}
