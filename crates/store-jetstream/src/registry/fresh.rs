//! Reading much that is up to date. Any replica may send the bulk, and the leader has the last word on whether that was
//! all: what was acknowledged before the reading began is in it.

use crate::wire::{Failure, Link, Pick, Raw};

/// The messages of a subject (wildcards allowed) at or behind a sequence, in order: all that the leader has, or, when
/// that is more, the first `enough` and perhaps some behind them.
///
/// One that was replaced meanwhile may come as well, and what took its place behind it: the last of a subject counts.
pub(crate) async fn fresh(
    link: &Link,
    stream: &str,
    subject: &str,
    mut from: u64,
    enough: usize,
) -> Result<Vec<Raw>, Failure> {
    let mut told = Vec::new();
    while told.len() < enough {
        let Some(next) = link.leader_has(stream, Pick::Next(subject, from.max(1))).await? else { break };
        from = next.seq + 1;
        told.push(next);
        // A replica that lags sends less, or nothing; then the leader is asked for the next one.
        link.replica_tells_some(stream, subject, from, &mut told).await?;
        from = told.last().map_or(from, |last| last.seq + 1);
    }
    Ok(told)
}
