//! File names of attachments, made safe: readers put them into links, header fields and save dialogues.

/// Octets of a file name, as most file systems have it.
const NAME_MAX: usize = 255;
/// Octets of an ending that is kept when a long name is cut.
const ENDING_MAX: usize = 16;

/// The name without folders, control and direction characters; one made up from the type when nothing is left.
pub(crate) fn safe(name: &str, content_type: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let clean: String = base.chars().filter(|letter| !is_deceptive(*letter)).collect();
    let clean = clean.trim();
    if clean.chars().all(|letter| letter == '.') {
        return format!("attachment.{}", ending(content_type));
    }
    shorten(clean)
}

/// Characters that are not seen, or turn what is seen around: `gpj.exe` must not look like `exe.jpg`.
fn is_deceptive(letter: char) -> bool {
    let turns = matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    letter.is_control() || turns || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Cut a long name before its ending.
fn shorten(name: &str) -> String {
    if name.len() <= NAME_MAX {
        return name.to_owned();
    }
    let dot = name.rfind('.').filter(|dot| name.len() - dot <= ENDING_MAX).unwrap_or(name.len());
    let ending = &name[dot..];
    format!("{}{ending}", &name[..name.floor_char_boundary(NAME_MAX - ending.len())])
}

/// The usual ending of a media type.
fn ending(content_type: &str) -> &'static str {
    match content_type {
        "text/plain" => "txt",
        "text/html" => "html",
        "text/calendar" => "ics",
        "text/csv" => "csv",
        "text/vcard" | "text/x-vcard" => "vcf",
        "text/xml" | "application/xml" => "xml",
        "message/rfc822" | "message/global" => "eml",
        "application/pdf" => "pdf",
        "application/json" => "json",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/pgp-signature" => "asc",
        "application/pkcs7-signature" | "application/x-pkcs7-signature" => "p7s",
        "application/msword" => "doc",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document" => "docx",
        "application/vnd.ms-excel" => "xls",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet" => "xlsx",
        "image/png" => "png",
        "image/jpeg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/avif" => "avif",
        "image/svg+xml" => "svg",
        "image/tiff" => "tiff",
        "image/bmp" => "bmp",
        "audio/mpeg" => "mp3",
        "audio/ogg" => "ogg",
        "audio/wav" | "audio/x-wav" => "wav",
        "audio/mp4" => "m4a",
        "video/mp4" => "mp4",
        "video/webm" => "webm",
        _ => "bin",
    }
}
