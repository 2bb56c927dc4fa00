//! JetStream as this engine needs it, over plain requests: publish one, publish several as one, read, delete, and what
//! every answer means. It knows no mail.

mod answer;
mod inbox;
mod link;
mod patience;
mod publish;
mod read;

pub(crate) use answer::{Ack, Failure};
pub(crate) use link::Link;
pub(crate) use patience::{Failed, Patience};
pub(crate) use publish::Outgoing;
pub(crate) use read::{Pick, Raw};
