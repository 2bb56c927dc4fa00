//! What the header of a part says of its content (RFC 2045, RFC 2183).

use mail_parser::Encoding;

use super::params::Params;
use crate::header::{self, Field};

/// Octets of a media type; a longer one says nothing to anyone.
const TYPE_MAX: usize = 127;
/// Octets of a charset or a transfer encoding that is told.
const LABEL_MAX: usize = 64;
/// Octets of a boundary: more than the 70 of RFC 2046 §5.1.1.
const BOUNDARY_MAX: usize = 256;
/// Letters of a Content-ID.
const CID_MAX: usize = 256;

/// A part by its header.
pub(crate) struct Entity {
    pub(crate) kind: Kind,
    /// Type and subtype in lower case.
    pub(crate) content_type: String,
    pub(crate) charset: Option<Vec<u8>>,
    /// Empty when there is no usable one.
    pub(crate) boundary: Vec<u8>,
    pub(crate) encoding: Encoding,
    disposition: Disposition,
    /// The file name as given, decoded.
    pub(crate) name: Option<String>,
    /// Content-ID without its brackets, as `cid:` links name the part.
    pub(crate) cid: Option<String>,
    /// The name of a transfer encoding that nobody knows: its content is left as it is.
    pub(crate) odd_encoding: Option<String>,
    /// Where its body begins, counted from its first byte.
    pub(crate) body: usize,
}

/// How a part is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
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
    pub(crate) fn is_multipart(self) -> bool {
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
    pub(crate) fn read(raw: &[u8], in_digest: bool) -> Self {
        let (mut kind, mut disposition, mut encoding, mut cid) = (None, None, None, None);
        let mut fields = header::fields(raw);
        for field in fields.by_ref() {
            let place = match field.name.len() {
                12 if field.is("Content-Type") => &mut kind,
                19 if field.is("Content-Disposition") => &mut disposition,
                25 if field.is("Content-Transfer-Encoding") => &mut encoding,
                10 if field.is("Content-ID") => &mut cid,
                _ => continue,
            };
            place.get_or_insert(field);
        }
        let mut entity = Self::typed(kind, in_digest);
        if let Some(field) = encoding {
            entity.encode(field);
        }
        if let Some(field) = disposition {
            entity.dispose(field);
        }
        entity.cid = cid.and_then(content_id);
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
            cid: None,
            odd_encoding: None,
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

    /// An unknown encoding leaves the content as it is.
    fn encode(&mut self, field: Field<'_>) {
        let word = Params::read(field.value).head.to_ascii_lowercase();
        match &*word {
            b"base64" => self.encoding = Encoding::Base64,
            b"quoted-printable" => self.encoding = Encoding::QuotedPrintable,
            b"" | b"7bit" | b"8bit" | b"binary" => {}
            other => self.odd_encoding = Some(String::from_utf8_lossy(other).into_owned()),
        }
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

    /// The charset that it names, if it is one that can be named in a header field.
    pub(crate) fn charset_label(&self) -> Option<String> {
        let label = std::str::from_utf8(self.charset.as_deref()?).ok()?;
        is_label(label).then(|| label.to_owned())
    }

    /// Its transfer encoding; none where there is nothing to undo.
    pub(crate) fn encoding_label(&self) -> Option<String> {
        let label = match self.encoding {
            Encoding::Base64 => "base64",
            Encoding::QuotedPrintable => "quoted-printable",
            Encoding::None => self.odd_encoding.as_deref()?,
        };
        is_label(label).then(|| label.to_owned())
    }

    /// Whether it is listed as an attachment. The whole of a message is so only when it says that itself: some name
    /// their text.
    pub(crate) fn is_attachment(&self, is_root: bool) -> bool {
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

/// A word that stands for itself everywhere.
fn is_label(label: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=LABEL_MAX).contains(&label.len()) && label.bytes().all(is_plain)
}

/// RFC 2045 §5.1
fn is_token(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"()<>@,;:\\\"/[]?=".contains(&byte)
}

/// `<id>`, or what stands there without brackets.
fn content_id(field: Field<'_>) -> Option<String> {
    let text = field.text();
    let text = text.strip_prefix('<').unwrap_or(&text);
    let id: String = text.split('>').next()?.chars().filter(|letter| !letter.is_control()).take(CID_MAX).collect();
    let id = id.trim();
    (!id.is_empty()).then(|| id.to_owned())
}
