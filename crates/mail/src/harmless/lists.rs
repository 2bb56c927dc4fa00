//! The elements and attributes that stay: those that mail is laid out with, and none that runs, submits, embeds or loads
//! on its own.

/// Elements open within each other. Browsers take long over more, and no mail needs it.
pub(super) const DEPTH_MAX: usize = 500;

const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "acronym",
    "address",
    "area",
    "article",
    "aside",
    "b",
    "bdi",
    "bdo",
    "big",
    "blockquote",
    "body",
    "br",
    "caption",
    "center",
    "cite",
    "code",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dfn",
    "dir",
    "div",
    "dl",
    "dt",
    "em",
    "figcaption",
    "figure",
    "font",
    "footer",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "img",
    "ins",
    "kbd",
    "li",
    "link",
    "main",
    "map",
    "mark",
    "menu",
    "meta",
    "nav",
    "ol",
    "p",
    "picture",
    "pre",
    "q",
    "rp",
    "rt",
    "ruby",
    "s",
    "samp",
    "section",
    "small",
    "source",
    "span",
    "strike",
    "strong",
    "style",
    "sub",
    "summary",
    "sup",
    "table",
    "tbody",
    "td",
    "tfoot",
    "th",
    "thead",
    "time",
    "tr",
    "tt",
    "u",
    "ul",
    "var",
    "wbr",
];

/// On every element.
const EVERYWHERE: &[&str] = &[
    "abbr",
    "align",
    "alink",
    "alt",
    "axis",
    "bgcolor",
    "border",
    "bordercolor",
    "cellpadding",
    "cellspacing",
    "char",
    "charoff",
    "cite",
    "class",
    "clear",
    "color",
    "cols",
    "colspan",
    "compact",
    "coords",
    "datetime",
    "dir",
    "face",
    "frame",
    "headers",
    "height",
    "hidden",
    "hspace",
    "id",
    "lang",
    "leftmargin",
    "link",
    "marginheight",
    "marginwidth",
    "media",
    "noshade",
    "nowrap",
    "open",
    "reversed",
    "role",
    "rows",
    "rowspan",
    "rules",
    "scope",
    "shape",
    "size",
    "sizes",
    "span",
    "start",
    "style",
    "summary",
    "text",
    "title",
    "topmargin",
    "type",
    "usemap",
    "valign",
    "value",
    "vlink",
    "vspace",
    "width",
];

/// Those with a place of their own.
const PLACED: &[(&str, &str)] = &[
    ("a", "href"),
    ("a", "name"),
    ("area", "href"),
    ("body", "background"),
    ("img", "src"),
    ("img", "srcset"),
    ("link", "href"),
    ("map", "name"),
    ("meta", "content"),
    ("meta", "name"),
    ("source", "srcset"),
    ("table", "background"),
    ("td", "background"),
    ("th", "background"),
    ("tr", "background"),
];

/// Elements without an end.
const EMPTY: [&str; 9] = ["area", "br", "col", "hr", "img", "link", "meta", "source", "wbr"];

/// An element that stays.
pub(super) fn element(name: &str) -> Option<&'static str> {
    ELEMENTS.iter().copied().find(|known| *known == name)
}

/// An attribute that stays on this element. Pages are styled by `data-…` too, and `aria-…` is for those who listen.
pub(super) fn attribute<'a>(element: &str, name: &'a str) -> Option<&'a str> {
    let is_placed = || PLACED.iter().any(|(place, known)| *place == element && *known == name);
    let is_named = name.strip_prefix("data-").or_else(|| name.strip_prefix("aria-")).is_some_and(is_plain);
    (EVERYWHERE.contains(&name) || is_placed() || is_named).then_some(name)
}

fn is_plain(name: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !name.is_empty() && name.len() <= 64 && name.bytes().all(is_plain)
}

/// Whether an element has no end.
pub(super) fn is_empty(name: &str) -> bool {
    EMPTY.contains(&name)
}

/// About how deep elements stand in each other: tags that open, less those that close. Elements that are never closed
/// count as open, as they do for a browser.
pub(super) fn depth(html: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0_usize);
    let bytes = html.as_bytes();
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'<', &bytes[at..]) {
        at += found + 1;
        match bytes.get(at) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(letter) if letter.is_ascii_alphabetic() && !is_left_open(&bytes[at..]) => depth += 1,
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Elements that hold nothing, or that mail leaves open and browsers close.
fn is_left_open(tag: &[u8]) -> bool {
    const OPEN: [&[u8]; 14] =
        [b"br", b"img", b"hr", b"meta", b"link", b"input", b"col", b"area", b"base", b"wbr", b"li", b"p", b"td", b"tr"];
    let end = tag.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(tag.len());
    OPEN.iter().any(|name| name.eq_ignore_ascii_case(&tag[..end]))
}
