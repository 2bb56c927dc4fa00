//! Texts made to hurt: ten times as much takes about ten times as long.

use super::*;

#[track_caller]
fn check(size: usize, piece: &str, limits: &Limits) {
    let input = |size: usize| piece.repeat(size / piece.len());
    tenfold(size, input, |content| {
        let text = Some(Body { part_id: "1", content });
        extract(&Sources { text, ..Sources::default() }, limits)
    });
    tenfold(size, input, |content| {
        let html = Some(Body { part_id: "2", content });
        extract(&Sources { html, ..Sources::default() }, limits)
    });
}

#[test]
fn t036_strange_texts_take_linear_time() {
    let limits = Limits { text_max: usize::MAX, ..Limits::default() };
    for piece in [
        "482915 ",
        "4 ",
        "4-",
        "A4-",
        "code 482915 ",
        "1 1 1 ",
        ".",
        "code",
        "#",
        "@x.test #1234 ",
        "https://",
        "https://x.test/a(",
        "www.",
        "x@y ",
        "<a href=x>",
        "<a href=https://x.test/1>code",
        "</td>",
        "<td>4",
        "<table><tr><td>1234",
        "<b style='font-size:30px'>1",
        "<div class=a>",
        "<p>",
        "<",
        "&",
        "&#49;",
        "<style>.a{",
        "<style>@media{.a{",
        "<script type=application/ld+json>{\"url\":\"",
        "<a ",
        "<a x=",
        "<a x='",
        "<!--",
        "\u{200b}",
        "码",
        "1分",
        "wrote:\n",
        "> 482915\n",
        "+1 (234) 567-",
        "((((",
        "1,",
        "1:",
        "EUR ",
        "1 EUR ",
        "verify",
        "unsubscribe ",
        "\n482915\n",
        "a.b/",
        "://",
        "%",
        "order code ",
    ] {
        check(10 * 1024, piece, &limits);
    }
    for piece in [
        "code 482915 ",
        "<td>4",
        "<b style='font-size:30px'>1</b> ",
        "https://x.test/a( ",
        "<a href=https://x.test/1>code",
    ] {
        check(100 * 1024, piece, &limits);
    }
}
