//! Letters whose body is what matters: charsets, lengths of lines, parts, an attachment.

use super::{Draft, Recipe};

pub(super) const RECIPES: &[Recipe] = &[
    ("utf8-body", false, |draft| draft.text("utf-8", "Grüße an alle: 日本語, \u{1F4EE}\r\nเขียนถึง\r\n".as_bytes())),
    ("latin1-body", false, |draft| draft.text("iso-8859-1", b"Gr\xfc\xdfe an alle, \xa9 1988\r\n")),
    ("high-octets", false, high_octets),
    ("line-998", false, |draft| lines(draft, 998)),
    ("line-2000", false, |draft| lines(draft, 2000)),
    ("line-100000", false, |draft| lines(draft, 100_000)),
    ("quoted-printable", false, quoted_printable),
    ("alternative", false, alternative),
    ("nested-multipart", false, nested),
    ("message-rfc822", false, forwarded),
    ("attachment-20-mib", false, attachment),
    ("control-octets", false, control_octets),
    ("nul-octets", false, |draft| draft.text("us-ascii", b"before\0after\r\n\0\r\n\0\0 at the begin\r\n")),
    ("tabs-and-blanks", false, |draft| {
        draft.ascii("\tindented\r\ntrailing blanks   \r\ntrailing tab\t\r\n \r\n\t\r\n")
    }),
    ("from-lines", false, |draft| {
        draft.ascii("From here on\r\n>From there\r\nFrom sender@x.test Mon Nov  2 2026\r\n\r\nFrom \r\n")
    }),
    ("smtp-words", false, smtp_words),
];

/// Every octet above 127, in no charset's order.
fn high_octets(draft: &Draft<'_>) -> Vec<u8> {
    let rows = (0x80..=0xffu8).collect::<Vec<_>>();
    let body: Vec<u8> = rows.chunks(16).flat_map(|row| [row, b"\r\n"].concat()).collect();
    draft.text("iso-8859-1", &body)
}

/// Two lines of this many octets with a short one between them.
fn lines(draft: &Draft<'_>, octets: usize) -> Vec<u8> {
    let long: String = ('a'..='z').cycle().take(octets).collect();
    draft.ascii(&format!("{long}\r\nshort\r\n{long}\r\n"))
}

fn typed(draft: &Draft<'_>, fields: &str, body: &str) -> Vec<u8> {
    format!("{}{fields}\r\n{body}", draft.head()).into_bytes()
}

fn quoted_printable(draft: &Draft<'_>) -> Vec<u8> {
    typed(
        draft,
        "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n",
        "Gr=C3=BC=C3=9Fe, with a soft =\r\nline break and a blank at the end=20\r\n=2E\r\n=46rom the begin\r\n",
    )
}

fn alternative(draft: &Draft<'_>) -> Vec<u8> {
    typed(
        draft,
        "Content-Type: multipart/alternative; boundary=\"=_alt\"\r\n",
        "A preamble.\r\n--=_alt\r\nContent-Type: text/plain\r\n\r\nText.\r\n--=_alt\r\nContent-Type: text/html\r\n\r\n\
         <p>Text.</p>\r\n--=_alt--\r\nAn epilogue.\r\n",
    )
}

fn nested(draft: &Draft<'_>) -> Vec<u8> {
    let (mut inner, mut kind) = ("The innermost.\r\n".to_owned(), "text/plain".to_owned());
    for level in 0..8 {
        let bound = format!("level-{level}");
        inner = format!("--{bound}\r\nContent-Type: {kind}\r\n\r\n{inner}\r\n--{bound}--\r\n");
        kind = format!("multipart/mixed;\r\n boundary=\"{bound}\"");
    }
    typed(draft, &format!("Content-Type: {kind}\r\n"), &inner)
}

fn forwarded(draft: &Draft<'_>) -> Vec<u8> {
    let inner = "From: someone@example.test\r\nSubject: inner\r\n\r\n.\r\nThe forwarded text.\r\n";
    typed(draft, "Content-Type: message/rfc822\r\n", inner)
}

/// Twenty mebibytes in base64. Their octets are made by a fixed rule and look like chance.
fn attachment(draft: &Draft<'_>) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const CHARACTERS: usize = (20 * 1024 * 1024_usize).div_ceil(57) * 76;
    let fields = "Content-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=large.bin\r\n\
                  Content-Transfer-Encoding: base64\r\n";
    let mut raw = typed(draft, fields, "");
    raw.reserve(CHARACTERS / 76 * 78);
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    for at in 1..=CHARACTERS {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        raw.push(DIGITS[(state >> 58) as usize]);
        if at % 76 == 0 {
            raw.extend(b"\r\n");
        }
    }
    raw
}

/// Every control octet but NUL, CR and LF.
fn control_octets(draft: &Draft<'_>) -> Vec<u8> {
    let octets = (1..0x20u8).chain([0x7f]).filter(|octet| !b"\r\n".contains(octet));
    let body: Vec<u8> = octets.flat_map(|octet| [b'<', octet, b'>', b'\r', b'\n']).collect();
    draft.text("us-ascii", &body)
}

fn smtp_words(draft: &Draft<'_>) -> Vec<u8> {
    draft.ascii("QUIT\r\nRSET\r\nMAIL FROM:<x@x.test>\r\nDATA\r\n250 OK\r\nBDAT 5 LAST\r\n+OK 1 message\r\n-ERR no\r\nSTARTTLS\r\n")
}
