//! The table of scenarios.

use anyhow::Result;

use super::table::Row;
use super::{Stage, disks, kills, net, partitions, replies, rolling, streams};
use crate::crash::no_image;

/// Something that can happen, and how it is tried.
pub(super) struct Scenario {
    pub(super) name: &'static str,
    /// In the table.
    pub(super) what: &'static str,
    /// Why it cannot be tried here, if it cannot.
    pub(super) missing: fn() -> Option<String>,
    pub(super) play: fn(&Stage) -> Result<Row>,
}

const fn scenario(
    name: &'static str,
    what: &'static str,
    missing: fn() -> Option<String>,
    play: fn(&Stage) -> Result<Row>,
) -> Scenario {
    Scenario { name, what, missing, play }
}

fn nothing() -> Option<String> {
    None
}

/// In the order in which they are played.
pub(super) const SCENARIOS: &[Scenario] = &[
    scenario("broker-kill", "a broker is killed, each in turn", nothing, |stage| {
        stage.play(kills::Brokers::each(stage.seed), 1)
    }),
    scenario("leader-kill", "the leader of a busy shard is killed", nothing, |stage| {
        stage.play(kills::Brokers::leader(stage.seed), 1)
    }),
    scenario("majority-kill", "two brokers, or all three, are killed", nothing, |stage| {
        stage.play(kills::Brokers::majority(stage.seed), 1)
    }),
    scenario("node-kill", "a node is killed amid its transactions", nothing, |stage| {
        stage.play(kills::Nodes::new(stage.seed), 1)
    }),
    scenario("pause", "a broker, or a leader, stands still for 5–20 s", nothing, |stage| {
        stage.play(kills::Pause::new(stage.seed), 1)
    }),
    scenario("app-partition", "a node is cut off from all brokers, or from its own", net::missing, |stage| {
        stage.play(partitions::App::new(stage.seed, &stage.layout())?, 1)
    }),
    scenario(
        "broker-partition-minority",
        "one broker, alone or with a node, is cut off from the others",
        net::missing,
        |stage| stage.play(partitions::Brokers::minority(stage.seed, &stage.layout())?, 1),
    ),
    scenario("broker-partition-majority", "no broker reaches another", net::missing, |stage| {
        stage.play(partitions::Brokers::majority(stage.seed, &stage.layout())?, 1)
    }),
    scenario(
        "broker-partition-asymmetric",
        "one broker hears the others and is not heard, or is heard and does not hear",
        net::missing,
        |stage| stage.play(partitions::Brokers::asymmetric(stage.seed, &stage.layout())?, 1),
    ),
    scenario("ack-lost", "what brokers answer is lost, then the connection", nothing, |stage| {
        stage.play(replies::Lost::new(stage.seed), 1)
    }),
    scenario("stream-deleted", "a stream of summaries is deleted", nothing, |stage| {
        stage.play(streams::Deleted::new(stage.seed), 2)
    }),
    scenario("disk-full", "one broker, or all, have no room on their disk", disks::no_small_disks, |stage| {
        stage.play(disks::Full::new(stage.seed), 1)
    }),
    scenario("power", "all brokers lose power at once, one of them at times after a pause", no_image, |stage| {
        stage.play(disks::Power::new(brokers::Sync::Always), 1)
    }),
    scenario("rolling-brokers", "every broker is restarted, one after the other", nothing, |stage| {
        stage.play(rolling::Rolling::brokers(), 1)
    }),
    scenario("rolling-nodes", "every node is restarted, one after the other", nothing, |stage| {
        stage.play(rolling::Rolling::nodes(), 1)
    }),
];
