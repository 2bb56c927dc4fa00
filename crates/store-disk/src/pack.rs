//! Bodies as they lie on the disk: raw, or packed with zstd where that pays. What comes back is held against the hash of
//! the raw bytes, which are the truth.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use zstd::bulk::Compressor;

use crate::row::Spoilt;

/// The bytes themselves.
pub(crate) const RAW: i64 = 0;
/// Packed with zstd.
pub(crate) const ZSTD: i64 = 1;

/// Smaller bodies are kept as they are: there is no page to be saved.
const BYTES_MIN: usize = 4 << 10;
/// The quickest level that still packs text well.
const LEVEL: i32 = 1;
/// So much of the middle is tried first...
const SAMPLE: usize = 4 << 10;
/// ...and the rest only when that shrinks below this share: mail is text, which does, or base64, which hardly does.
const PAYS: f64 = 0.6;
/// Transactions of no more than so many steps: nobody is in a hurry.
const QUIET: usize = 2;
/// Packers kept for the next message.
const PACKERS_MAX: usize = 16;

/// Packs bodies while there is time for it.
///
/// Packing a text costs about twice the CPU that writing the saved bytes would (see `docs/performance.md`), and saves
/// three quarters of its room. So it is done when the writer has little to do, which is nearly always, and left out under
/// load, when the CPU is what everybody waits for.
#[derive(Default)]
pub(crate) struct Press {
    /// Steps in a transaction, lately.
    load: AtomicUsize,
    /// To make one costs more than to pack a small body.
    packers: Mutex<Vec<Compressor<'static>>>,
}

impl Press {
    /// The writer has so many steps to do at once. A crowd is remembered for some transactions: between two large ones
    /// there are small ones.
    pub(crate) fn note_load(&self, steps: usize) {
        let before = self.load.load(Ordering::Relaxed);
        self.load.store(steps.max(before * 7 / 8), Ordering::Relaxed);
    }

    /// How a body is kept now, and as what.
    pub(crate) fn press(&self, raw: &Bytes) -> (i64, Bytes) {
        if raw.len() < BYTES_MIN || self.load.load(Ordering::Relaxed) > QUIET {
            return (RAW, raw.clone());
        }
        let kept = self.hold().pop();
        let Some(mut packer) = kept.or_else(|| Compressor::new(LEVEL).ok()) else { return (RAW, raw.clone()) };
        let packed = pack(&mut packer, raw);
        let mut packers = self.hold();
        if packers.len() < PACKERS_MAX {
            packers.push(packer);
        }
        packed.map_or_else(|| (RAW, raw.clone()), |packed| (ZSTD, packed.into()))
    }

    fn hold(&self) -> MutexGuard<'_, Vec<Compressor<'static>>> {
        self.packers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The packed bytes, where that pays.
fn pack(packer: &mut Compressor<'_>, raw: &[u8]) -> Option<Vec<u8>> {
    // The header of a message is text whatever its body is: the sample is taken from the middle.
    let middle = (raw.len() - SAMPLE) / 2;
    let sample = packer.compress(&raw[middle..middle + SAMPLE]).ok()?;
    if sample.len() as f64 >= SAMPLE as f64 * PAYS {
        return None;
    }
    packer.compress(raw).ok().filter(|packed| packed.len() < raw.len())
}

/// The raw bytes, if they are the ones that were put in.
pub(crate) fn unpack(packing: i64, data: &[u8], size: i64, hash: &[u8; 32]) -> Result<Bytes, Spoilt> {
    let size = usize::try_from(size).map_err(|_| Spoilt)?;
    let raw: Bytes = match packing {
        RAW => Bytes::copy_from_slice(data),
        // The size is under the seal, so that no damaged one makes us reserve memory without bound.
        ZSTD => zstd::bulk::decompress(data, size).map_err(|_| Spoilt)?.into(),
        _ => return Err(Spoilt),
    };
    let is_whole = raw.len() == size && blake3::hash(&raw).as_bytes() == hash;
    if is_whole { Ok(raw) } else { Err(Spoilt) }
}
