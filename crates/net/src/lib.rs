//! Sockets and their limits: listeners, how many connections may be open, a connection's buffered reading and writing,
//! the one line reader, the budget for bytes in flight, and the graceful stop.
//!
//! It knows no mail and no protocol. TLS and the PROXY protocol get their place here, between [`listener`] and [`wire`].

pub mod budget;
pub mod gate;
pub mod lanes;
pub mod line;
pub mod linger;
pub mod listener;
pub mod stop;
pub mod wire;

pub use budget::{Budget, Reservation};
pub use gate::{Gate, Slot};
pub use lanes::Lanes;
pub use linger::linger;
pub use listener::{Accepted, Listener, Unbound, serve};
pub use stop::{Phase, Stop, Stopper};
pub use wire::{Filled, Wire};
