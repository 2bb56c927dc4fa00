//! What the header of a part says of its content (RFC 2045, RFC 2183).

use mail_parser::Encoding;

use super::params::Params;
use crate::header::{self, Field};

/// Octets of a media type; a longer one says nothing to anyone.
const TYPE_MAX: usize = 127;
/// Octets of a boundary: more than the 70 of RFC 2046 §5.1.1.
const BOUNDARY_MAX: usize = 256;

/// A part by its header.
pub(super) struct Entity {
    pub(super) kind: Kind,
    /// Type and subtype in lower case.
    pub(super) content_type: String,
    pub(super) charset: Option<Vec<u8>>,
    /// Empty when there is no usable one.
    pub(super) boundary: Vec<u8>,
    pub(super) encoding: Encoding,
    disposition: Disposition,
    /// The file name as given, decoded.
    pub(super) name: Option<String>,
    /// Where its body begins, counted from its first byte.
    pub(super) body: usize,
}

/// How a part is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Plain,
    Html,
    Alternative,
    Digest,
    Multipart,
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Disposition {
    Absent,
    Inline,
    Attachment,
}

impl Kind {
    pub(super) fn is_multipart(self) -> bool {
        matches!(self, Self::Alternative | Self::Digest | Self::Multipart)
    }

    fn of(content_type: &str) -> Self {
        match content_type {
            "text/plain" => Self::Plain,
            "text/html" => Self::Html,
            "multipart/alternative" => Self::Alternative,
            "multipart/digest" => Self::Digest,
            _ if content_type.starts_with("multipart/") => Self::Multipart,
            _ => Self::Other,
        }
    }
}

impl Entity {
    /// Read the header that `raw` begins with. Of a field that stands twice the first counts.
    pub(super) fn read(raw: &[u8], in_digest: bool) -> Self {
        let (mut kind, mut disposition, mut encoding) = (None, None, None);
        let mut fields = header::fields(raw);
        for field in fields.by_ref() {
            let place = match field.name.len() {
                12 if field.is("Content-Type") => &mut kind,
                19 if field.is("Content-Disposition") => &mut disposition,
                25 if field.is("Content-Transfer-Encoding") => &mut encoding,
                _ => continue,
            };
            place.get_or_insert(field);
        }
        let mut entity = Self::typed(kind, in_digest);
        entity.encoding = encoding.map_or(Encoding::None, transfer_encoding);
        if let Some(field) = disposition {
            entity.dispose(field);
        }
        entity.body = fields.body();
        entity
    }

    /// Without a type it is text (RFC 2045 §5.2), in a digest a message (RFC 2046 §5.1.5).
    fn typed(field: Option<Field<'_>>, in_digest: bool) -> Self {
        let mut entity = Self {
            kind: if in_digest { Kind::Other } else { Kind::Plain },
            content_type: if in_digest { "message/rfc822" } else { "text/plain" }.to_owned(),
            charset: None,
            boundary: Vec::new(),
            encoding: Encoding::None,
            disposition: Disposition::Absent,
            name: None,
            body: 0,
        };
        let Some(field) = field else { return entity };
        let params = Params::read(field.value);
        if let Some(content_type) = media_type(&params.head) {
            entity.kind = Kind::of(&content_type);
            entity.content_type = content_type;
        }
        entity.charset = params.value("charset");
        entity.name = params.text("name");
        if entity.kind.is_multipart() {
            entity.boundary = params.value("boundary").filter(|found| found.len() <= BOUNDARY_MAX).unwrap_or_default();
            entity.boundary.truncate(entity.boundary.trim_ascii_end().len());
        }
        entity
    }

    /// RFC 2183 §2.8: a disposition nobody knows is an attachment.
    fn dispose(&mut self, field: Field<'_>) {
        let params = Params::read(field.value);
        self.disposition = match &*params.head {
            b"" => Disposition::Absent,
            head if head.eq_ignore_ascii_case(b"inline") => Disposition::Inline,
            _ => Disposition::Attachment,
        };
        self.name = params.text("filename").or(self.name.take());
    }

    /// Whether it is listed as an attachment. The whole of a message is so only when it says that itself: some name
    /// their text.
    pub(super) fn is_attachment(&self, is_root: bool) -> bool {
        let is_body = matches!(self.kind, Kind::Plain | Kind::Html);
        match self.disposition {
            _ if !is_body => true,
            Disposition::Attachment => true,
            Disposition::Absent if is_root => false,
            Disposition::Absent | Disposition::Inline => self.name.is_some(),
        }
    }
}

/// `type/subtype` of two tokens, in lower case.
fn media_type(head: &[u8]) -> Option<String> {
    let slash = memchr::memchr(b'/', head)?;
    let is_token = |part: &[u8]| !part.is_empty() && part.iter().all(|byte| is_token(*byte));
    if head.len() > TYPE_MAX || !is_token(&head[..slash]) || !is_token(&head[slash + 1..]) {
        return None;
    }
    Some(std::str::from_utf8(head).ok()?.to_ascii_lowercase())
}

/// RFC 2045 §5.1
fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte)
}

/// An unknown encoding leaves the content as it is.
fn transfer_encoding(field: Field<'_>) -> Encoding {
    let word = Params::read(field.value).head;
    match &*word {
        word if word.eq_ignore_ascii_case(b"base64") => Encoding::Base64,
        word if word.eq_ignore_ascii_case(b"quoted-printable") => Encoding::QuotedPrintable,
        _ => Encoding::None,
    }
}
