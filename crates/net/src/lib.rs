//! Sockets and their limits: listeners, TLS, the PROXY protocol, how many connections may be open and how often they may
//! come, a connection's buffered reading and writing, the one line reader, the budget for bytes in flight, and the graceful
//! stop.
//!
//! It knows no mail and no protocol of mail. A connection goes [`listener`] → [`hall`] → [`wire`].

mod ahead;
pub mod budget;
mod counters;
pub mod dns;
pub mod gate;
pub mod hall;
pub mod lanes;
pub mod line;
pub mod linger;
pub mod listener;
pub mod network;
pub mod place;
pub mod proxy;
pub mod rate;
pub mod stop;
pub mod stream;
pub mod tls;
#[cfg(unix)]
mod unix;
pub mod wire;

pub use budget::{Budget, Reservation};
pub use dns::Dns;
pub use gate::{Gate, Slot};
pub use hall::{Accepted, Hall, serve};
pub use lanes::Lanes;
pub use linger::linger;
pub use listener::{Listener, Unbound};
pub use network::{Network, Plaintext, is_private};
pub use place::Place;
pub use rate::{Quota, Rates};
pub use stop::{Phase, Stop, Stopper};
pub use stream::Stream;
pub use tls::{BadCertificate, Certificate, Secured, Tls};
pub use wire::{Filled, Wire};
