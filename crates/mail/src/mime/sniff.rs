//! What some bytes are, by how they begin: whatever their sender calls them.
//!
//! It knows what people send each other and what is dangerous to open; all else is unknown, and plain text with it.

/// The octets that are looked at.
const LOOKED_AT: usize = 512;

/// The media type of a content; none when it is unknown.
pub fn sniff(content: &[u8]) -> Option<&'static str> {
    let start = &content[..content.len().min(LOOKED_AT)];
    magic(start).or_else(|| boxed(start)).or_else(|| markup(start))
}

fn magic(start: &[u8]) -> Option<&'static str> {
    const KNOWN: [(&[u8], &str); 24] = [
        (b"\x89PNG\r\n\x1a\n", "image/png"),
        (b"\xff\xd8\xff", "image/jpeg"),
        (b"GIF87a", "image/gif"),
        (b"GIF89a", "image/gif"),
        (b"BM", "image/bmp"),
        (b"II*\0", "image/tiff"),
        (b"MM\0*", "image/tiff"),
        (b"\0\0\x01\0", "image/x-icon"),
        (b"%PDF-", "application/pdf"),
        (b"PK\x03\x04", "application/zip"),
        (b"PK\x05\x06", "application/zip"),
        (b"\x1f\x8b\x08", "application/gzip"),
        (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
        (b"Rar!\x1a\x07", "application/vnd.rar"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "application/x-ole-storage"),
        (b"{\\rtf", "application/rtf"),
        (b"\x7fELF", "application/x-executable"),
        (b"MZ", "application/vnd.microsoft.portable-executable"),
        (b"#!", "text/x-shellscript"),
        (b"OggS\0", "audio/ogg"),
        (b"ID3", "audio/mpeg"),
        (b"fLaC", "audio/flac"),
        (b"\x1a\x45\xdf\xa3", "video/webm"),
        (b"BEGIN:VCALENDAR", "text/calendar"),
    ];
    // Two letters may begin a text as well: what is no text has others than letters behind them.
    let is_text = !start.iter().take(64).any(|byte| *byte < b' ' && !matches!(byte, b'\t' | b'\n' | b'\r'));
    let found = KNOWN.iter().find(|(magic, _)| start.starts_with(magic))?;
    (!(is_text && matches!(found.0, b"BM" | b"MZ" | b"ID3"))).then_some(found.1)
}

/// Formats whose name stands behind a length.
fn boxed(start: &[u8]) -> Option<&'static str> {
    match (start.get(..4)?, start.get(4..8)?, start.get(8..12)?) {
        (b"RIFF", _, b"WEBP") => Some("image/webp"),
        (b"RIFF", _, b"WAVE") => Some("audio/wav"),
        (b"RIFF", _, b"AVI ") => Some("video/x-msvideo"),
        (_, b"ftyp", b"avif" | b"avis") => Some("image/avif"),
        (_, b"ftyp", b"heic" | b"heix" | b"mif1") => Some("image/heic"),
        (_, b"ftyp", b"M4A ") => Some("audio/mp4"),
        (_, b"ftyp", b"qt  ") => Some("video/quicktime"),
        (_, b"ftyp", _) => Some("video/mp4"),
        _ => None,
    }
}

/// Pages, which a browser would run.
fn markup(start: &[u8]) -> Option<&'static str> {
    let text = start.strip_prefix(b"\xef\xbb\xbf").unwrap_or(start).trim_ascii_start();
    let begins = |word: &str| text.get(..word.len()).is_some_and(|front| front.eq_ignore_ascii_case(word.as_bytes()));
    let holds = |word: &[u8]| memchr::memmem::find(&text.to_ascii_lowercase(), word).is_some();
    if begins("<svg") || begins("<?xml") && holds(b"<svg") || begins("<!doctype svg") {
        return Some("image/svg+xml");
    }
    let pages = ["<!doctype html", "<html", "<head", "<body", "<script", "<iframe"];
    if pages.into_iter().any(begins) || begins("<?xml") && holds(b"<html") {
        return Some("text/html");
    }
    begins("<?xml").then_some("text/xml")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_by_example() {
        let rows: [(&[u8], Option<&str>); 20] = [
            (b"\x89PNG\r\n\x1a\n\0\0", Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x10\0\0\0WEBPVP8 ", Some("image/webp")),
            (b"\0\0\0\x20ftypavif", Some("image/avif")),
            (b"\0\0\0\x20ftypisom", Some("video/mp4")),
            (b"%PDF-1.7", Some("application/pdf")),
            (b"PK\x03\x04\x14\0", Some("application/zip")),
            (b"MZ\x90\0\x03\0", Some("application/vnd.microsoft.portable-executable")),
            (b"MZ is a company\n", None),
            (b"BMW sent a letter", None),
            (b" \r\n<!DOCTYPE HTML>", Some("text/html")),
            (b"\xef\xbb\xbf<SCRIPT>alert(1)", Some("text/html")),
            (b"<svg onload=alert(1)>", Some("image/svg+xml")),
            (b"<?xml version='1.0'?><svg", Some("image/svg+xml")),
            (b"<?xml version='1.0'?><a/>", Some("text/xml")),
            (b"hello <html>", None),
            (b"#!/bin/sh\n", Some("text/x-shellscript")),
            (b"", None),
            (b"RIFF", None),
        ];
        for (content, kind) in rows {
            assert_eq!(sniff(content), kind, "{:?}", String::from_utf8_lossy(content));
        }
    }
}
