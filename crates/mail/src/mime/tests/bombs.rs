//! Messages made to hurt: time stays linear, depth and number bounded. Each runs on a stack of 256 KiB.

use super::*;

/// On a stack far smaller than any that the program runs on.
fn on_small_stack<T: Send + 'static>(run: impl FnOnce() -> T + Send + 'static) -> T {
    std::thread::Builder::new().stack_size(256 * 1024).spawn(run).unwrap().join().unwrap()
}

fn nested(depth: usize) -> String {
    let open: String = (0..depth)
        .map(|level| format!("Content-Type: multipart/mixed; boundary=b{level}\r\n\r\n--b{level}\r\n"))
        .collect();
    let close: String = (0..depth).rev().map(|level| format!("\r\n--b{level}--")).collect();
    format!("{open}Content-Type: text/plain\r\n\r\nwords{close}\r\n")
}

#[test]
fn t024_deep_nesting_is_bounded() {
    assert_eq!(view(&nested(60)).text, "words");
    assert_eq!(view(&nested(DEPTH_MAX)).text, "words");
    let deeper = view(&nested(DEPTH_MAX + 1));
    assert_eq!((deeper.text.as_str(), names(&deeper)), ("", vec!["attachment.bin"]));
    for depth in [10, 1000, 100_000] {
        let raw = nested(depth);
        on_small_stack(move || within(100, || View::of(raw.as_bytes())));
    }
}

#[test]
fn t024_nested_messages_are_not_walked_into() {
    let raw = "Content-Type: message/rfc822\r\n\r\n".repeat(100_000);
    let view = on_small_stack(move || {
        within(100, || View::of(raw.as_bytes()));
        View::of(raw.as_bytes())
    });
    assert_eq!(view.attachments.len(), 1);
}

#[test]
fn t025_parts_are_bounded() {
    let many = |part: &str, count: usize| {
        format!(
            "Content-Type: multipart/mixed; boundary=b\r\n\r\n{}--b--\r\n",
            format!("--b\r\n{part}\r\n").repeat(count)
        )
    };
    let view = View::of(many("Content-Type: image/png\r\n\r\nx", 100_000).as_bytes());
    assert_eq!(view.attachments.len(), PARTS_MAX - 1);
    for part in ["\r\nx", "", "\r\n--c\r\n--b\r\n", "Content-Type: multipart/mixed; boundary=b\r\n"] {
        doubling(40_000, |size| many(part, size / 10).into_bytes(), View::of);
        within(300, || View::of(many(part, 100_000).as_bytes()));
    }
}

#[test]
fn t025_delimiter_lines_take_linear_time() {
    // Many open multiparts whose boundaries are long and alike, and lines that are like all of them.
    let alike = "x".repeat(60);
    let bomb = |lines: usize| {
        let open: String = (100..199)
            .map(|level| format!("Content-Type: multipart/mixed; boundary={alike}{level}\r\n\r\n--{alike}{level}\r\n"))
            .collect();
        format!("{open}\r\n{}", format!("--{alike}\r\n").repeat(lines)).into_bytes()
    };
    doubling(2000, bomb, View::of);
    within(1000, || View::of(&bomb(100_000)));
    doubling(
        100_000,
        |size| format!("Content-Type: multipart/mixed; boundary=b\r\n\r\n{}", "--\n".repeat(size)).into_bytes(),
        View::of,
    );
}

#[test]
fn t026_big_headers_of_parts_take_linear_time() {
    let bomb = |size: usize| {
        let part = format!("--b\r\n{}\r\nx\r\n", "X: y\r\n".repeat(100));
        format!(
            "Content-Type: multipart/mixed; boundary=b\r\n{}\r\n{}",
            "A: b\r\n".repeat(size / 10),
            part.repeat(size / 1000)
        )
    };
    doubling(100_000, |size| bomb(size).into_bytes(), View::of);
    assert_eq!(View::of(bomb(100_000).as_bytes()).header.len(), header::FIELDS_MAX);
}

#[test]
fn t027_continued_parameters_take_linear_time() {
    let bomb = |size: usize| {
        let params: String = (0..size).map(|number| format!("; filename*{number}=x")).collect();
        format!("Content-Disposition: attachment{params}\r\n\r\nx").into_bytes()
    };
    let view = View::of(&bomb(1_000_000));
    assert_eq!(view.attachments[0].filename, "x".repeat(100));
    within(300, || View::of(&bomb(100_000)));
    doubling(1000, bomb, View::of);
    for piece in [";", "\"", "=", "\\", "x=\"", "(", "filename*0*=%41;", "filename*=''"] {
        let bomb =
            |size: usize| format!("Content-Disposition: a;{}\r\n\r\nx", piece.repeat(size / piece.len())).into_bytes();
        doubling(10_000, bomb, View::of);
    }
}

#[test]
fn t030_decoders_take_linear_time() {
    for (encoding, piece) in [
        ("base64", "QUJD"),
        ("base64", "===="),
        ("base64", "Q=\r\n"),
        ("base64", "!"),
        ("quoted-printable", "=41"),
        ("quoted-printable", "="),
        ("quoted-printable", "=\r\n"),
        ("quoted-printable", " \t"),
        ("quoted-printable", "a \r\n"),
    ] {
        let bomb = |size: usize| {
            let content = piece.repeat(size / piece.len());
            format!("Content-Transfer-Encoding: {encoding}\r\n\r\n{content}").into_bytes()
        };
        doubling(100_000, bomb, View::of);
    }
}

#[test]
fn t032_html_takes_linear_time() {
    for piece in [
        "<div>",
        "<table>",
        "<b><p>",
        "<a href='http://x.test'>",
        "<pre>\n",
        "<!--",
        "<",
        "&",
        "&#",
        "<a ",
        "=\"",
        "<style>",
        "</a>",
        "<li>",
        "<a href=http://x.test/>y</a>",
        "<br>",
        "<p title='",
        "<font size=1>",
    ] {
        let bomb = |size: usize| leaf("text/html", "", &piece.repeat(size)).into_bytes();
        let million = bomb(1_000_000);
        on_small_stack(move || within(1500, || View::of(&million)));
        doubling(20_000, bomb, View::of);
    }
}
