//! Signatures, waits, rests and answers, each for itself; and the whole of it on a mailroom in memory, with a receiver that
//! misbehaves.

mod parts;
mod receiver;
mod whole;
