//! Bodies: packed, cut into messages a broker takes, and put together again, with a hash that tells whether what comes
//! back is what was put in.

use std::sync::Arc;

use bytes::Bytes;
use futures_util::{StreamExt, TryStreamExt, stream};
use mail::{Envelope, Summary};

use crate::names::Deed;
use crate::office::Office;
use crate::record::{self, Body, BodyRef, Spoilt};
use crate::wire::{Ack, Failed, Failure, Outgoing, Patience, Pick};

/// A message on the brokers has at most so many bytes of a body: half of what they take by default.
const CHUNK: usize = 512 << 10;
/// Smaller ones gain nothing by being packed.
const PACK_MIN: usize = 512;
/// Larger ones are packed where they keep nobody else waiting.
const PACK_HERE_MAX: usize = 256 << 10;
const PACK_LEVEL: i32 = 1;
/// So many chunks are fetched at once.
const FETCH_AT_ONCE: usize = 4;

/// A body ready to be written.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    record: Bytes,
    hash: [u8; 32],
}

impl Packed {
    /// Pack a message with what SMTP said of it.
    pub(crate) async fn new(raw: Bytes, envelope: Arc<Envelope>) -> Self {
        if raw.len() <= PACK_HERE_MAX {
            return pack(&raw, &envelope);
        }
        let (there, said) = (raw.clone(), Arc::clone(&envelope));
        let packed = tokio::task::spawn_blocking(move || pack(&there, &said)).await;
        packed.unwrap_or_else(|_| plain(&raw, &envelope))
    }

    /// The messages it makes in this shard.
    pub(crate) fn messages(&self, subject: &str) -> Vec<Outgoing> {
        let chunks = (0..self.record.len()).step_by(CHUNK);
        let chunk = |from| self.record.slice(from..self.record.len().min(from + CHUNK));
        chunks.map(|from| Outgoing::new(subject.to_owned(), chunk(from))).collect()
    }

    /// How to find it, once it is known where it begins.
    pub(crate) fn at(&self, shard: usize, seq: u64) -> BodyRef {
        let chunks = self.record.len().div_ceil(CHUNK) as u32;
        BodyRef { shard: shard as u32, seq, chunks, hash: self.hash }
    }
}

fn pack(raw: &[u8], envelope: &Envelope) -> Packed {
    let packed = (raw.len() >= PACK_MIN).then(|| zstd::bulk::compress(raw, PACK_LEVEL).ok()).flatten();
    match packed.filter(|packed| packed.len() < raw.len() / 10 * 9) {
        Some(packed) => seal(&Body::new(envelope, raw.len(), true, &packed)),
        None => plain(raw, envelope),
    }
}

fn plain(raw: &[u8], envelope: &Envelope) -> Packed {
    seal(&Body::new(envelope, raw.len(), false, raw))
}

fn seal(body: &Body<'_>) -> Packed {
    let record = record::write(body);
    let hash = *blake3::hash(&record).as_bytes();
    Packed { record, hash }
}

/// A record of a body that is what it should be, taken apart.
pub(crate) fn open(record: &Bytes, summary: &Summary) -> Result<(Bytes, Envelope), Spoilt> {
    let body = record::read_body(record)?;
    let size = usize::try_from(body.size).map_err(|_| Spoilt)?;
    let raw: Bytes = match body.packed {
        true => zstd::bulk::decompress(body.bytes, size).map_err(|_| Spoilt)?.into(),
        false => record.slice_ref(body.bytes),
    };
    if raw.len() != size {
        return Err(Spoilt);
    }
    Ok((raw, body.envelope(summary)?))
}

/// What lies where a body should.
pub(crate) enum Fetched {
    /// It, whole.
    Whole(Bytes),
    /// Something else.
    Damaged,
    /// Nothing: it went with the oldest mail.
    Gone,
}

impl Office {
    /// Write a body, in another shard when one does not take it. A body nobody points to harms nobody.
    pub(crate) async fn put_body(&self, packed: &Packed, deed: Deed, patience: Patience) -> Result<BodyRef, Failed> {
        let mut shards = self.body_shards(deed);
        let put = || {
            let shard = shards.next().unwrap_or_default();
            let messages = packed.messages(&self.names.body(shard));
            async move {
                let chunks = messages.len() as u64;
                let Ack { seq, .. } = self.publish_some(messages).await?;
                Ok(packed.at(shard, seq + 1 - chunks))
            }
        };
        patience.of(put).await
    }

    /// The shards to try one after the other, for ever.
    pub(crate) fn body_shards(&self, deed: Deed) -> impl Iterator<Item = usize> + use<> {
        let shards = self.settings.body_shards.max(1);
        let first = (deed.0 % shards as u128) as usize;
        (0..).map(move |turn| (first + turn) % shards)
    }

    /// Store one or several messages of a stream.
    pub(crate) async fn publish_some(&self, mut messages: Vec<Outgoing>) -> Result<Ack, Failure> {
        match messages.len() {
            1 => self.link.publish(messages.remove(0)).await,
            _ => self.link.publish_all(messages).await,
        }
    }

    /// Fetch a body: from any replica, and from the leader when that one lacks something or has something else.
    pub(crate) async fn fetch_body(&self, at: BodyRef, patience: Patience) -> Result<Fetched, Failed> {
        let near = patience.of(|| self.chunks(at, From::Replica)).await?;
        if let Some(record) = near.filter(|record| is_whole(record, at)) {
            return Ok(Fetched::Whole(record));
        }
        Ok(match patience.of(|| self.chunks(at, From::Leader)).await? {
            Some(record) if is_whole(&record, at) => Fetched::Whole(record),
            Some(_) => Fetched::Damaged,
            None => Fetched::Gone,
        })
    }

    /// All chunks put together; none when one is missing.
    async fn chunks(&self, at: BodyRef, from: From) -> Result<Option<Bytes>, Failure> {
        let stream = self.names.bodies(at.shard as usize);
        let fetch = |seq| {
            let stream = &stream;
            async move {
                match from {
                    From::Replica => self.link.replica_has(stream, seq).await,
                    From::Leader => self.link.leader_has(stream, Pick::At(seq)).await,
                }
            }
        };
        let seqs = at.seq..at.seq.saturating_add(u64::from(at.chunks));
        let mut chunks: Vec<_> = stream::iter(seqs).map(fetch).buffered(FETCH_AT_ONCE).try_collect().await?;
        if chunks.len() == 1 {
            return Ok(chunks.remove(0).map(|raw| raw.data));
        }
        let Some(chunks) = chunks.into_iter().collect::<Option<Vec<_>>>() else { return Ok(None) };
        let mut record = Vec::with_capacity(chunks.iter().map(|raw| raw.data.len()).sum());
        chunks.iter().for_each(|raw| record.extend_from_slice(&raw.data));
        Ok(Some(record.into()))
    }
}

/// Whom to ask.
#[derive(Clone, Copy)]
enum From {
    Replica,
    Leader,
}

fn is_whole(record: &Bytes, at: BodyRef) -> bool {
    *blake3::hash(record).as_bytes() == at.hash
}
