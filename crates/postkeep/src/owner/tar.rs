//! `.eml` files in a tar, one for each message: `mailbox/id.eml`, its receipt as the file's time. Receipts are exact to
//! the microsecond and envelopes whole, by the extended headers of POSIX (pax); the envelope stands there as extended
//! attributes, which every tar knows and passes over unless it is asked to keep them.
//!
//! Written and read by hand: what is needed of the format is small, the reader must hold on to any bytes, and a name in
//! an archive here never becomes a path of this machine. It reads and writes streams and opens no file.

mod header;
mod read;
#[cfg(test)]
mod tests;
mod write;

pub(super) use read::Reader;
pub(super) use write::Writer;

/// Everything in a tar comes in blocks.
const BLOCK: usize = 512;
/// Bytes of an extended header: a thousand recipients fit three times.
const EXTENDED_MAX: u64 = 1 << 20;
/// MAIL FROM, in angle brackets.
const MAIL_FROM: &str = "SCHILY.xattr.user.postkeep.mail_from";
/// RCPT TO, one address a line.
const RCPT_TO: &str = "SCHILY.xattr.user.postkeep.rcpt_to";
