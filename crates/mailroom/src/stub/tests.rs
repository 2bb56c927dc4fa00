//! Where the stub keeps records: a real engine does that for it.

use std::sync::Arc;

use store::{Memory, Store, SystemClock};

/// An engine of which only the records are used.
pub(super) fn records() -> Box<dyn Store> {
    Box::new(Memory::new(store::memory::Settings::default(), Arc::new(SystemClock)))
}
