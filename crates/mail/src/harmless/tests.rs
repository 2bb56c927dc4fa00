//! What stays and what goes, by example; and that what was made harmless once stays as it is.

use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::*;

fn made(html: &str) -> String {
    harmless(html, Reader { remote: false, part: &mut |_| None })
}

fn with_parts(html: &str) -> String {
    let mut part = |cid: &str| (cid == "logo@x").then(|| "data:image/png;base64,AAAA".to_owned());
    harmless(html, Reader { remote: false, part: &mut part })
}

const HOSTILE: [&str; 34] = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<img/src=x/onerror=alert(1)>",
    "<a href=\"javascript:alert(1)\">x</a>",
    "<a href=\" JaVaScRiPt:alert(1)\">x</a>",
    "<a href=\"java\nscript:alert(1)\">x</a>",
    "<a href=\"\u{1}javascript:alert(1)\">x</a>",
    "<a href=\"javascript&colon;alert(1)\">x</a>",
    "<a href=\"&#106;avascript:alert(1)\">x</a>",
    "<a href=\"data:text/html,<script>alert(1)</script>\">x</a>",
    "<a href=\"vbscript:x\">x</a>",
    "<a href=\"//evil.test\">x</a>",
    "<a href=x ping=https://evil.test>x</a>",
    "<iframe src=https://evil.test srcdoc='<script>alert(1)</script>'></iframe>",
    "<form action=https://evil.test><input name=a formaction=javascript:x><button>x</button></form>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<svg><animate attributeName=href values=javascript:alert(1)></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<style><img src=x onerror=alert(1)></style/x><img src=x onerror=alert(1)>",
    "<select><style></select><img src=x onerror=alert(1)></style>",
    "<meta http-equiv=refresh content=\"0;url=https://evil.test\">",
    "<meta name=color-scheme http-equiv=refresh content=\"0;url=https://evil.test\">",
    "<base href=https://evil.test>",
    "<object data=https://evil.test></object><embed src=https://evil.test>",
    "<noscript><p title=\"</noscript><img src=x onerror=alert(1)>\">",
    "<link rel=stylesheet href=https://evil.test><link rel=dns-prefetch href=https://evil.test>",
    "<video poster=https://evil.test autoplay><source src=https://evil.test onerror=x></video>",
    "<img src=\"data:image/svg+xml,<svg onload=x>\">",
    "<template><img src=x onerror=alert(1)></template>",
    "<p title='\"><img src=x onerror=alert(1)>'>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<body onload=alert(1) background=javascript:alert(1)>",
    "<plaintext><img src=x onerror=alert(1)>",
];

/// The names of all elements and attributes in what was written, by a reader that is not the one under test.
fn names(html: &str) -> (Vec<String>, Vec<String>) {
    let (mut elements, mut attributes) = (Vec::new(), Vec::new());
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let Some(end) = rest.find('>') else { panic!("a tag does not end: {html}") };
        let tag = &rest[..end];
        let name: String = tag.chars().take_while(|letter| letter.is_ascii_alphanumeric()).collect();
        rest = &rest[end + 1..];
        if name == "style" {
            rest = &rest[rest.find("</style>").expect("a sheet ends")..];
        }
        // Values are quoted and hold no quote, so each odd piece is a value.
        let pieces = tag.split('"').step_by(2).flat_map(str::split_whitespace).skip(1);
        attributes.extend(pieces.filter_map(|piece| piece.strip_suffix('=')).map(str::to_owned));
        elements.push(name);
    }
    (elements, attributes)
}

fn is_sound(html: &str) {
    let made = made(html);
    let (elements, attributes) = names(&made);
    for element in elements.iter().filter(|element| !element.is_empty()) {
        assert!(lists::element(element).is_some_and(|name| name != "link"), "{html} gave <{element}>: {made}");
    }
    for attribute in attributes {
        let is_ours = ["target", "rel"].contains(&attribute.as_str());
        let is_known = ELEMENTS_OF_TEST.iter().any(|element| lists::attribute(element, &attribute).is_some());
        assert!((is_ours || is_known) && !attribute.starts_with("on"), "{html} gave {attribute}: {made}");
    }
    // In a sheet these are words; all that matters there is that nothing looks like a tag.
    let lower = made.to_ascii_lowercase();
    let outside: String = lower.split("<style").map(|piece| piece.split("</style>").last().unwrap_or("")).collect();
    for word in ["href=\"javascript", "href=\"data", "href=\"vbscript", "src=\"javascript", "http-equiv", "svg+xml"] {
        assert!(!outside.contains(word), "{html} gave {made}");
    }
    assert_eq!(self::made(&made), made, "once is enough: {html}");
}

const ELEMENTS_OF_TEST: [&str; 10] = ["a", "area", "body", "img", "map", "meta", "source", "table", "td", "p"];

#[test]
fn t038_nothing_that_acts_is_left() {
    for html in HOSTILE {
        is_sound(html);
        for other in HOSTILE {
            is_sound(&format!("{html}{other}"));
        }
    }
}

proptest! {
    #[test]
    fn t043_what_is_harmless_stays_as_it_is(pieces in proptest::collection::vec(0..VOCABULARY.len(), 0..40)) {
        is_sound(&pieces.iter().map(|piece| VOCABULARY[*piece]).collect::<String>());
    }

    #[test]
    fn t043_any_text_is_made_harmless(text in "\\PC{0,200}") {
        is_sound(&text);
    }
}

const VOCABULARY: [&str; 46] = [
    "<",
    ">",
    "</",
    "/>",
    "\"",
    "'",
    "=",
    " ",
    "\n",
    "&",
    "&lt;",
    "&quot;",
    "&#60;",
    "<!--",
    "-->",
    "--!>",
    "<![CDATA[",
    "]]>",
    "<style>",
    "</style",
    "</style>",
    "<svg>",
    "</svg>",
    "<math>",
    "<mtext>",
    "<title>",
    "</title>",
    "<textarea>",
    "<noscript>",
    "<table>",
    "<td>",
    "<p ",
    "<a href=",
    "javascript:",
    "https://x.test",
    " onerror=x",
    "style=",
    "<img ",
    "src=",
    "cid:logo@x",
    "url(",
    ")",
    "<script>",
    "</script>",
    "\0",
    "x",
];

#[test]
fn the_styles_of_a_mail_stay_whole() {
    let html = "<!DOCTYPE html><html lang=\"en\"><head><meta name=\"color-scheme\" content=\"light dark\"><style \
        type=\"text/css\">@import url(https://x.test/a.css);\np > a{background:url('https://x.test/b.png')}\n\
        @media (prefers-color-scheme: dark){body{background:#000!important}}</style></head>\
        <body style=\"margin:0;background:#eee url(https://x.test/c.png)\" bgcolor=\"#eeeeee\" class=\"body\">\
        <table width=\"600\" cellpadding=\"0\" background=\"https://x.test/d.png\"><tbody><tr>\
        <td style=\"color:red\" align=\"center\" data-x=\"1\">a</td></tr></tbody></table>\
        <picture><source srcset=\"https://x.test/e,f.png 2x\" media=\"(prefers-color-scheme: dark)\"></picture></body></html>";
    assert_eq!(made(html), html);
    for (sheet, expected) in [
        ("<!-- a{} -->", "  a{} -->"),
        ("@media (width<=600px) and (3em < width){}", "@media (width<=600px) and (3em < width){}"),
        ("a{b:url('data:image/svg+xml,<svg/>')}", "a{b:url('data:image/svg+xml,\\3c svg/>')}"),
        ("<<!--img>", "< img>"),
    ] {
        assert_eq!(made(&format!("<style>{sheet}</style>")), format!("<style>{expected}</style>"));
    }
    assert!(made("<STYLE>a{}").ends_with("<style>a{}</style>"), "one that is left open is closed");
}

#[test]
fn how_a_page_is_laid_out_is_as_it_was_declared() {
    for (html, starts) in [
        ("<p>", "<p>"),
        (" \u{feff}<!doctype HTML><p>", "<!DOCTYPE html>"),
        ("<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Transitional//EN\" \"x\"><p>", "<!DOCTYPE html PUBLIC"),
        ("<!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.0 Transitional//EN\"><p>", "<p>"),
        ("<!doctype \"><script>", "<!DOCTYPE html>"),
    ] {
        assert!(made(html).starts_with(starts), "{html}: {}", made(html));
    }
}

#[test]
fn t048_a_link_that_leads_out_is_opened_apart() {
    let apart = "<a target=\"_blank\" rel=\"noopener noreferrer\" href=\"https://x.test/?a=1&amp;b=2\">x</a>";
    assert_eq!(made("<a target=_top rel=opener href=' https://x.test/?a=1&amp;b=2'>x</a>"), apart);
    assert!(made("<a href=mailto:a@x.test>x").contains("target=\"_blank\""));
    assert_eq!(made("<a href=#top name=top>x</a>"), "<a href=\"#top\" name=\"top\">x</a>");
    assert_eq!(made("<a href=/api/v2>x</a><a href=tel:1>x</a>"), "<a>x</a><a>x</a>");
}

#[test]
fn t045_parts_are_put_where_they_are_named() {
    for (html, expected) in [
        ("<img src=cid:logo@x>", "<img src=\"data:image/png;base64,AAAA\">"),
        ("<img src='CID:logo%40x'>", "<img src=\"data:image/png;base64,AAAA\">"),
        ("<img src=cid:other alt=o>", "<img alt=\"o\">"),
        ("<img src='cid:logo@x\"><script>'>", "<img>"),
        ("<td background=cid:logo@x>", "<td background=\"data:image/png;base64,AAAA\">"),
        (
            "<p style=\"background:url( 'cid:logo@x' ),url(cid:other)\">",
            "<p style=\"background:url( 'data:image/png;base64,AAAA' ),url(cid:other)\">",
        ),
        (
            "<style>a{b:URL(cid:logo@x)}c{d:cid:logo@x}</style>",
            "<style>a{b:URL(data:image/png;base64,AAAA)}c{d:cid:logo@x}</style>",
        ),
        ("<img src=\"data:image/png;base64,QQ==\">", "<img src=\"data:image/png;base64,QQ==\">"),
        ("<img src=/api/v2/messages><img src=b.png>", "<img><img>"),
    ] {
        assert_eq!(with_parts(html), expected, "{html}");
    }
}

#[test]
fn a_style_sheet_of_another_host_is_linked_when_it_is_asked_for() {
    let html = "<link rel=stylesheet href=https://x.test/a.css media=screen><link rel='preload stylesheet' href=https://x.test>";
    assert_eq!(made(html), "");
    let asked = harmless(html, Reader { remote: true, part: &mut |_| None });
    assert_eq!(asked, "<link href=\"https://x.test/a.css\" media=\"screen\" rel=\"stylesheet\">");
}

#[test]
fn t032_nesting_and_numbers_take_no_time() {
    let shapes: [(&str, usize); 10] = [
        ("<b>", 1 << 18),
        ("<div>", 1 << 17),
        ("<a><p>", 1 << 17),
        ("<p>", 1 << 18),
        ("<table><tr><td>", 1 << 15),
        ("</b>", 1 << 18),
        ("<!--", 1 << 18),
        ("<style>", 1 << 17),
        ("url(cid:", 1 << 17),
        ("a=b ", 1 << 18),
    ];
    for (piece, times) in shapes {
        for html in
            [piece.repeat(times), format!("<p {}>", piece.repeat(times)), format!("<p style=\"{}", piece.repeat(times))]
        {
            let started = Instant::now();
            made(&html);
            let took = started.elapsed();
            assert!(took < Duration::from_secs(10), "{piece} took {took:?}");
        }
    }
}

#[test]
fn t044_svg_goes_with_all_it_holds() {
    for html in [
        "a<svg><animate attributeName=href values=javascript:alert(1)><text>x</text></svg>b",
        "a<SVG><use href=\"data:image/svg+xml,x\"/><set to=javascript:x></SVG >b",
        "a<svg/onload=x>y</svg>b",
    ] {
        assert_eq!(made(html), "ab", "{html}");
    }
}
