//! What the HTML of a mail would load from other hosts, told before it is loaded.

use std::collections::{BTreeSet, HashSet};
use std::net::Ipv6Addr;

use crate::html::{Tag, Token, Tokens};

/// Hosts that are named.
pub const HOSTS_MAX: usize = 20;
/// A picture of up to so many pixels either way is there to be counted, not to be seen.
const PIXEL_MAX: f64 = 2.0;

/// What would be loaded.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Remote {
    /// Pictures, each address once.
    pub images: usize,
    /// Pictures that nobody sees, which are not among the others.
    pub pixels: usize,
    /// From where pictures, styles and fonts would come: in ASCII, sorted, at most [`HOSTS_MAX`].
    pub hosts: Vec<String>,
}

impl Remote {
    /// Read a page.
    pub(super) fn of(html: &str) -> Self {
        let mut seen = Seen::default();
        let mut is_sheet = false;
        for token in Tokens::of(html) {
            match token {
                Token::Open(tag) => {
                    is_sheet = tag.name == "style";
                    seen.tag(&tag);
                }
                Token::Unshown(sheet) if is_sheet => seen.hosts_of(sheet),
                _ => {}
            }
        }
        let hosts = seen.hosts.into_iter().take(HOSTS_MAX).collect();
        Self { images: seen.images, pixels: seen.pixels, hosts }
    }

    /// About how many octets of memory it takes.
    pub(super) fn bytes(&self) -> usize {
        self.hosts.iter().map(|host| size_of::<String>() + host.len()).sum()
    }
}

#[derive(Default)]
struct Seen {
    addresses: HashSet<String>,
    images: usize,
    pixels: usize,
    hosts: BTreeSet<String>,
}

/// What a tag says of its picture.
#[derive(Default)]
struct Picture {
    address: Option<String>,
    sides: [Option<f64>; 2],
}

impl Seen {
    fn tag(&mut self, tag: &Tag<'_>) {
        let mut picture = Picture::default();
        for (name, value) in tag.attributes() {
            match (&*tag.name, &*name) {
                ("img", "src") => _ = picture.address.get_or_insert_with(|| value.into_owned()),
                ("img", "width") => picture.sides[0] = number(&value).or(picture.sides[0]),
                ("img", "height") => picture.sides[1] = number(&value).or(picture.sides[1]),
                ("img" | "source", "srcset") => self.hosts_of(&value),
                ("link", "href") => self.hosts.extend(host(&value)),
                (_, "background") => self.picture(&value, false),
                (_, "style") => self.style(&value, &mut picture),
                _ => {}
            }
        }
        if let Some(address) = &picture.address {
            let is_pixel = picture.sides.iter().all(|side| side.is_some_and(|side| side <= PIXEL_MAX));
            self.picture(address, is_pixel);
        }
    }

    fn style(&mut self, style: &str, picture: &mut Picture) {
        for (property, value) in style.split(';').filter_map(|one| one.split_once(':')) {
            match property.trim().to_ascii_lowercase().as_str() {
                "width" => picture.sides[0] = pixels(value).or(picture.sides[0]),
                "height" => picture.sides[1] = pixels(value).or(picture.sides[1]),
                _ => {}
            }
        }
        for address in addresses(style) {
            self.picture(address, false);
        }
    }

    fn picture(&mut self, address: &str, is_pixel: bool) {
        let Some(host) = host(address) else { return };
        self.hosts.insert(host);
        if self.addresses.insert(address.trim().to_owned()) {
            *(if is_pixel { &mut self.pixels } else { &mut self.images }) += 1;
        }
    }

    fn hosts_of(&mut self, text: &str) {
        self.hosts.extend(addresses(text).filter_map(host));
    }
}

/// The addresses of the web in a text.
fn addresses(text: &str) -> impl Iterator<Item = &str> {
    let starts = memchr::memmem::find_iter(text.as_bytes(), b"//").map(|at| {
        let scheme = ["https:", "http:"].into_iter().find(|scheme| {
            text.get(at.saturating_sub(scheme.len())..at).is_some_and(|front| front.eq_ignore_ascii_case(scheme))
        });
        (at, scheme.map_or(0, str::len))
    });
    starts.filter_map(move |(at, scheme)| {
        // Without a scheme it is one where a style sheet or a list of pictures begins an address, and nowhere else.
        let before = text[..at].chars().next_back();
        let begins = scheme > 0 || before.is_none_or(|letter| matches!(letter, '(' | '"' | '\'' | ',' | ' '));
        let rest = &text[at - scheme..];
        let is_end = |byte: u8| byte.is_ascii_whitespace() || matches!(byte, b')' | b'"' | b'\'' | b',' | b';');
        let end = rest.bytes().take(ADDRESS_MAX).position(is_end).unwrap_or(rest.len().min(ADDRESS_MAX));
        begins.then(|| rest.get(..end)).flatten()
    })
}

/// Octets of an address in a style sheet that are looked at.
const ADDRESS_MAX: usize = 2000;

/// The host that an address leads to, in ASCII.
fn host(address: &str) -> Option<String> {
    let address = address.trim_matches(|letter: char| letter <= ' ');
    let (scheme, rest) = address.split_once("//")?;
    if !["", "http:", "https:"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    if let Some((literal, _)) = host.strip_prefix('[').and_then(|literal| literal.split_once(']')) {
        return literal.parse::<Ipv6Addr>().ok().map(|address| format!("[{address}]"));
    }
    let host = host.split(':').next()?;
    let ascii = idna::domain_to_ascii(host).ok().filter(|host| !host.is_empty() && host.len() <= 253)?;
    ascii.bytes().all(|byte| byte.is_ascii_graphic()).then_some(ascii)
}

fn number(text: &str) -> Option<f64> {
    text.trim().trim_end_matches("px").trim().parse().ok()
}

/// A length in pixels; a percentage is none.
fn pixels(text: &str) -> Option<f64> {
    number(text.trim().to_ascii_lowercase().trim_end_matches("!important"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn remote(html: &str) -> (usize, usize, String) {
        let Remote { images, pixels, hosts } = Remote::of(html);
        (images, pixels, hosts.join(" "))
    }

    #[test]
    fn pages_by_example() {
        for (html, expected) in [
            ("<p>nothing <a href=https://x.test>x</a>", (0, 0, "")),
            ("<img src=https://a.test/1><img src=https://a.test/1><img src=//b.test:81/2>", (2, 0, "a.test b.test")),
            ("<img src=cid:x><img src=data:image/png,x><img src=/local>", (0, 0, "")),
            ("<img src=https://t.test/o width=1 height=1>", (0, 1, "t.test")),
            ("<img src=https://t.test/o style='width:1px;height:0'>", (0, 1, "t.test")),
            ("<img src=https://t.test/o width='1' style='height: 2px !important'>", (0, 1, "t.test")),
            ("<img src=https://t.test/o width=1 height=30>", (1, 0, "t.test")),
            ("<img src=https://t.test/o width=1%>", (1, 0, "t.test")),
            (
                "<td background=https://a.test/b><td style=\"background:url('http://c.test/d')\">",
                (2, 0, "a.test c.test"),
            ),
            ("<style>@import '//f.test/x';@font-face{src:url(https://g.test/y)}</style>", (0, 0, "f.test g.test")),
            ("<style>/* a comment // not an address */</style>", (0, 0, "")),
            ("<link rel=stylesheet href=https://fonts.test/css>", (0, 0, "fonts.test")),
            ("<source srcset='https://s.test/a 1x, https://u.test/b 2x'>", (0, 0, "s.test u.test")),
            ("<img src=https://user:secret@Bücher.test/x>", (1, 0, "xn--bcher-kva.test")),
            ("<img src=http://[::1]:80/x>", (1, 0, "[::1]")),
            ("<img src='https://'><img src=https:x.test>", (0, 0, "")),
        ] {
            let (images, pixels, hosts) = remote(html);
            assert_eq!((images, pixels, hosts.as_str()), expected, "{html}");
        }
    }

    #[test]
    fn hosts_are_sorted_and_not_too_many() {
        let html: String = (0..100).rev().map(|number| format!("<img src=https://h{number:03}.test>")).collect();
        let found = Remote::of(&html);
        assert_eq!((found.images, found.hosts.len(), found.hosts[0].as_str()), (100, HOSTS_MAX, "h000.test"));
    }
}
