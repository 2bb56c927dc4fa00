//! Small mail that would be large if anybody unpacked it. Nobody does.

use crate::http::get;
use crate::program::Program;
use crate::smtp::deliver;

/// What reading may cost in memory, measured from outside.
const GROWTH_MAX: u64 = 16 << 20;

fn attached(media_type: &str, name: &str, base64: &str) -> Vec<u8> {
    format!(
        "Subject: bomb\r\nMIME-Version: 1.0\r\nContent-Type: {media_type}\r\nContent-Transfer-Encoding: base64\r\n\
         Content-Disposition: attachment; filename=\"{name}\"\r\n\r\n{base64}\r\n"
    )
    .into_bytes()
}

/// Deliver it, read it, follow both links; the bytes come back as they went in and memory stays.
#[cfg(target_os = "linux")]
fn check(media_type: &str, name: &str, base64: &str) {
    let program = Program::start(&[]);
    deliver(program.smtp, "warm@x.test", &attached(media_type, name, "AAAA"));
    get(program.http, "/api/v1/mailbox/warm/latest");
    let before = program.resident();
    deliver(program.smtp, "bomb@x.test", &attached(media_type, name, base64));
    let message = get(program.http, "/api/v1/mailbox/bomb/latest");
    assert_eq!(message.status, 200);
    for kind in ["download-link", "view-link"] {
        let link = message.json()["attachments"][0][kind].as_str().unwrap().to_owned();
        let path = link.split_once(&program.http.to_string()).unwrap().1;
        assert_eq!(get(program.http, path).status, 200, "{link}");
    }
    let grown = program.resident().saturating_sub(before);
    assert!(grown < GROWTH_MAX, "{grown} bytes for {name}");
}

#[cfg(target_os = "linux")]
#[test]
fn t033_an_image_of_many_pixels_is_only_bytes() {
    // The head of a PNG of 65,535 by 65,535 pixels, 17 GB if decoded.
    check("image/png", "big.png", "iVBORw0KGgoAAAANSUhEUgAA//8AAP//CAYAAAA=");
}

#[cfg(target_os = "linux")]
#[test]
fn t034_an_archive_is_only_bytes() {
    // The head of a gzip stream, followed by a long run of one block; its content is never looked at.
    let stream = format!("H4sIAAAAAAAA/w{}", "7BAQAAAACAkP6v7ggK".repeat(400));
    check("application/gzip", "bomb.gz", &stream[..stream.len() / 4 * 4]);
}
