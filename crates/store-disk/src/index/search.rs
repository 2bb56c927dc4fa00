//! A search by the index: what is newer than it and what is older is looked at one by one, as without it; in between only
//! what the index names. Each batch says how far the index went at that moment, so that it may move meanwhile.

use store::list::Order;
use store::search::{Scan, Span, Way};
use store::{Position, Result};

use crate::engine::Disk;
use crate::row::position;

use super::book::{Asked, Batch};
use super::{Answer, Index};

/// Go through a span with the help of the index.
pub(crate) async fn search(disk: &Disk, index: &Index, scan: &mut Scan<'_, Disk>, span: &Span) -> Result<()> {
    let Some(asked) = Asked::of(&scan.needles(), span) else { return scan.walk(span).await };
    let mut span = span.clone();
    while !span.is_empty() && !scan.is_over() {
        let batch = match index.ask(asked.within(&span), scan.time_left()).await {
            Answer::Batch(batch) => batch,
            Answer::None => return scan.walk(&span).await,
            Answer::Late => {
                scan.out_of_time();
                return Ok(());
            }
        };
        scan.found.way = Way::Index;
        span = step(disk, scan, &span, batch).await?;
    }
    Ok(())
}

/// Look at what lies before the index, then at what it names; what is left.
async fn step(disk: &Disk, scan: &mut Scan<'_, Disk>, span: &Span, batch: Batch) -> Result<Span> {
    let (floor, head) = (position(batch.range.floor), position(batch.range.head));
    let newer = span.within(head, Position::END);
    let older = span.within(Position::START, Position(floor.0 + 1));
    let (first, last) = match span.order {
        Order::Newest => (newer, older),
        Order::Oldest => (older, newer),
    };
    scan.walk(&first).await?;
    let end = batch.ids.last().copied();
    for item in disk.items(batch.ids, &span.scope).await? {
        if scan.is_over() {
            return Ok(last);
        }
        scan.look(item).await?;
    }
    match end {
        Some(end) if batch.more => Ok(span.behind(position(end))),
        _ if scan.is_over() => Ok(last),
        _ => {
            scan.walk(&last).await?;
            Ok(last.within(Position::END, Position::START))
        }
    }
}
