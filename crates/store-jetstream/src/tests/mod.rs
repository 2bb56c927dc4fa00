//! The engine on real brokers: the suite of all engines, and what only this one does.

mod all;
mod bounds;
mod conformance;
mod deeds;
mod faults;
mod nodes;
mod opening;
mod rig;
