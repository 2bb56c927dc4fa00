//! The one kind of lock the memory engine takes. A file of its own, so that a test can compile the engine with a lock
//! whose order of holders it chooses.

pub(crate) use std::sync::{Mutex, MutexGuard};
