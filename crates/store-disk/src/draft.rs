//! A delivery with everything done that needs neither the disk nor the writer: texts made, body hashed and packed, seals
//! ready but for the ids. It is made by the caller's own thread, so that the one writer has little left to do.

use bytes::Bytes;
use mail::{Mailbox, Summary};
use store::{Delivery, NewJob, Sorted};

use crate::pack::Press;
use crate::row::{Cover, Texts, seal_message};
use crate::seal::Molten;

/// A message ready to be written.
pub(crate) struct Draft {
    pub(crate) cover: Cover,
    pub(crate) cover_seal: Molten,
    pub(crate) data: Bytes,
    pub(crate) copies: Vec<DraftCopy>,
    pub(crate) jobs: Vec<NewJob>,
}

/// One of its copies.
pub(crate) struct DraftCopy {
    pub(crate) mailbox: Mailbox,
    /// Without its id.
    pub(crate) summary: Summary,
    pub(crate) texts: Texts,
    pub(crate) seal: Molten,
}

/// What a copy takes beside its texts: its row and its entries in the indexes.
const COPY_BYTES: u64 = 256;

impl Draft {
    pub(crate) fn of(delivery: Delivery, press: &Press) -> Self {
        let Sorted { raw, envelope, copies, jobs } = delivery.sort();
        let hash = *blake3::hash(&raw).as_bytes();
        let (packing, data) = press.press(&raw);
        let cover = Cover::of(&envelope, raw.len(), packing, hash);
        let cover_seal = cover.seal();
        let copy = |(mailbox, summary): (Mailbox, Summary)| {
            let texts = Texts::of(&summary);
            let seal = seal_message(mailbox.as_str(), &summary, &texts);
            DraftCopy { mailbox, summary, texts, seal }
        };
        Self { cover, cover_seal, data, copies: copies.into_iter().map(copy).collect(), jobs }
    }

    /// About how many bytes it will take.
    pub(crate) fn weight(&self) -> u64 {
        let copies = self.copies.iter().map(|copy| COPY_BYTES + copy.summary.subject.len() as u64).sum::<u64>();
        self.data.len() as u64 + self.cover.recipients.len() as u64 + copies
    }
}
