//! HTML as text.

use super::*;

#[track_caller]
fn check(html: &str, text: &str) {
    assert_eq!(html::render(html), text, "{html}");
}

#[test]
fn html_only_mail_has_text() {
    let page = "<html><head><style>p{color:red}</style></head><body><p>Hello caf&eacute; &amp; bar</p></body></html>";
    let page = leaf("text/html; charset=utf-8", "", page);
    for entity in [
        page.clone(),
        multipart("related", &[&page, PNG]),
        multipart("alternative", &[&page]),
        multipart("mixed", &[&page, &attached("text/plain", "x", "notes.txt")]),
    ] {
        assert_eq!(view(&entity).text, "Hello café & bar");
    }
    // A text part, even an empty one, is the sender's word.
    assert_eq!(view(&multipart("alternative", &["\r\n", HTML])).text, "");
}

#[test]
fn words_and_blanks() {
    check("", "");
    check("plain", "plain");
    check("  a \n\t b  ", "a b");
    check("a<b>b</b> c", "ab c");
    check("<b>a</b> <i>b</i>", "a b");
    check("a &lt;b&gt; &#233;&#xe9;&nbsp;c &unknown; &", "a <b> éé c &unknown; &");
    check("1 < 2 && 3 > 2 <3", "1 < 2 && 3 > 2 <3");
    check("a&#0;b&#27;[31m&#10;c", "a b [31m c");
    check("&amp;lt;", "&lt;");
}

#[test]
fn lines() {
    check("a<br>b<BR/>c<br />d", "a\nb\nc\nd");
    check("<p>a</p><p>b</p>", "a\n\nb");
    check("<div>a</div><div>b</div>", "a\nb");
    check("<h1>a</h1>b<hr>c", "a\n\nb\n\nc");
    check("<ul><li>a</li><li>b</li></ul>c", "* a\n* b\n\nc");
    check("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "a b\nc");
    check("<pre>a\n  b</pre>c", "a\n  b\n\nc");
    check("a<br><br><br><br>b", "a\n\nb");
}

#[test]
fn what_is_not_seen_is_left_out() {
    check("a<!-- <p>hidden</p> -->b", "ab");
    check("a<!-- never ends", "a");
    check("<!DOCTYPE html><?xml x?>a", "a");
    check("<title>t</title><script>if (a < b) { '</p>' }</script>a<STYLE>x</Style >b", "ab");
    check("a<script>never ends", "a");
    check("<p title=\"a > b\" x='>'>c</p>", "c");
    check("a<p title=\"never ends>b", "a");
    check("a<", "a<");
    check("a</", "a</");
}

#[test]
fn links_tell_their_target() {
    check("<a href=\"https://x.test/?a=1&amp;b=2\">go</a> on", "go (https://x.test/?a=1&b=2) on");
    check("<a href='https://x.test/'>https://x.test/</a>", "https://x.test/");
    check("<A HREF=https://x.test/ >go</A>", "go (https://x.test/)");
    check("<a href=\"mailto:a@x.test\">a</a>", "a (mailto:a@x.test)");
    check("<a href=\"https://x.test/\"><img src=y></a>", "(https://x.test/)");
    check("<a href=\"javascript:alert(1)\">a</a><a href=\"#top\">b</a><a name=x>c</a>", "abc");
    check("<a href=\"https://x.test/\n\">a", "a");
    check("<a href=\"https://x.test/\">a</a></a>", "a (https://x.test/)");
}

proptest! {
    #[test]
    fn t032_rendering_is_total_and_bounded(html in "(<|>|/|&|;|#|!--|-->|=|\"|'|a|br|p|href|script|style|pre|li|https://x| |\n|\\PC){0,60}") {
        let text = html::render(&html);
        prop_assert!(text.len() <= 4 * html.len() + 8, "{} from {}", text.len(), html.len());
        prop_assert!(!text.contains(|letter: char| letter.is_control() && letter != '\n' && letter != '\t'));
    }
}
