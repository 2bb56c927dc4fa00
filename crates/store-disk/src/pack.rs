//! Bodies as they lie on the disk: raw, or packed with zstd where that pays. What comes back is held against the hash of
//! the raw bytes, which are the truth.

use bytes::Bytes;

use crate::row::Spoilt;

/// The bytes themselves.
pub(crate) const RAW: i64 = 0;
/// Packed with zstd.
pub(crate) const ZSTD: i64 = 1;

/// Smaller bodies are kept as they are: there is no page to be saved.
const BYTES_MIN: usize = 4 << 10;
/// The quickest level that still packs text well.
const LEVEL: i32 = 1;
/// So much of the beginning is tried first...
const SAMPLE: usize = 4 << 10;
/// ...and the rest only when that shrinks below this share: mail is text, which does, or base64, which hardly does.
const PAYS: f64 = 0.6;

/// How a body is kept, and as what.
pub(crate) fn pack(raw: &Bytes) -> (i64, Bytes) {
    if raw.len() < BYTES_MIN || !pays(raw) {
        return (RAW, raw.clone());
    }
    match zstd::bulk::compress(raw, LEVEL) {
        Ok(packed) if packed.len() < raw.len() => (ZSTD, packed.into()),
        _ => (RAW, raw.clone()),
    }
}

fn pays(raw: &[u8]) -> bool {
    // The header of a message is text whatever its body is: the sample is taken from the middle.
    let middle = (raw.len() - SAMPLE) / 2;
    let sample = &raw[middle..middle + SAMPLE];
    zstd::bulk::compress(sample, LEVEL).is_ok_and(|packed| (packed.len() as f64) < SAMPLE as f64 * PAYS)
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
