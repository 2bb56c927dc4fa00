//! What happens to mail, told while it happens: `events` as server-sent events, `monitor` as Inbucket's WebSocket.
//!
//! A stream is polled by the task of its own connection and has no task of its own. It asks the mailroom and nobody else
//! what happens, and whether it may still be told. A reader that is slow loses what is too much for its queue, is told so,
//! and holds up nobody (T062).

mod events;
pub(crate) mod monitor;
mod places;
mod settings;
mod sse;
mod story;
mod stream;
mod wire;

use std::sync::Arc;
use std::time::Duration;

use net::{Gate, Slot};

use crate::asked::Asked;
use crate::problem::Problem;
use crate::shared::Shared;

pub(crate) use events::{WATCH, watch_events};
pub use settings::{Events, Monitor};
pub use wire::Kept;
pub(crate) use wire::duration;

/// So often a stream asks whether its caller may still watch, beside each time it has something to tell.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// An answer that goes on while things happen: the client has so long to take a piece of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Live {
    pub(crate) write_max: Duration,
}

/// A place among all streams, held until the stream ends. A page of another site gets none (T053).
fn seat(shared: &Shared, asked: &Asked) -> Result<Slot, Problem> {
    shared.guard.admit_own(asked.head(), asked.peer())?;
    let full = |_| Problem::too_many_streams();
    shared.streams.admit(asked.client).map_err(full)
}

/// Room for this many streams.
pub(crate) fn gate(events: &Events) -> Arc<Gate> {
    Gate::new(events.streams_max, events.per_ip_max)
}
