//! DATA in every cut: the same answer however the stream is split.

use proptest::prelude::*;

use super::*;

/// Read `input` in the given pieces; what was kept, and what stopped it.
fn read(pieces: &[&[u8]], bare_newlines: BareNewlines) -> (Vec<u8>, Progress) {
    let (mut unstuffer, mut kept) = (Unstuffer::new(bare_newlines), Vec::new());
    let mut before = 0;
    for piece in pieces {
        match unstuffer.read(piece, |run| kept.extend_from_slice(run)) {
            Progress::More => before += piece.len(),
            Progress::End(used) => return (kept, Progress::End(before + used)),
            Progress::BareNewline => return (kept, Progress::BareNewline),
        }
    }
    (kept, Progress::More)
}

fn check(input: &str, expected: &str, progress: Progress) {
    for cut in 0..=input.len() {
        let (head, tail) = input.as_bytes().split_at(cut);
        let (kept, found) = read(&[head, tail], BareNewlines::Reject);
        assert_eq!(found, progress, "{input:?} cut at {cut}");
        if progress != Progress::BareNewline {
            assert_eq!(String::from_utf8_lossy(&kept), expected, "{input:?} cut at {cut}");
        }
    }
}

#[test]
fn dots_are_unstuffed_and_the_end_is_found() {
    check(".\r\n", "", Progress::End(3));
    check("a\r\n.\r\nQUIT\r\n", "a\r\n", Progress::End(6));
    check("..\r\n.\r\n", ".\r\n", Progress::End(7));
    check("...\r\n.a\r\n a.\r\n.\r\n", "..\r\na\r\n a.\r\n", Progress::End(17));
    check("\r\n\r\n.\r\n", "\r\n\r\n", Progress::End(7));
    check("no end\r\n", "no end\r\n", Progress::More);
    check("a. \r\n. \r\n.\0\r\n", "a. \r\n \r\n\0\r\n", Progress::More);
}

#[test]
fn t001_only_crlf_dot_crlf_ends_a_message() {
    let ends = ["\r\n", "\n", "\r", "\n\r", "\r\0\n"];
    for (before, after) in ends.iter().flat_map(|a| ends.iter().map(move |b| (*a, *b))) {
        if (before, after) != ("\r\n", "\r\n") {
            check(&format!("body{before}.{after}MAIL FROM:<>\r\n"), "", Progress::BareNewline);
        }
    }
}

#[test]
fn t001_normalizing_makes_lines_but_no_end_of_data() {
    let normalize = |input: &str| read(&[input.as_bytes()], BareNewlines::Normalize);
    assert_eq!(normalize("a\nb\n.\nc\r\n.\r\n").0, b"a\r\nb\r\n.\r\nc\r\n");
    assert_eq!(normalize("a\n.\r\nb").1, Progress::More);
    assert_eq!(normalize("a\r\n.\nb").1, Progress::More);
    assert_eq!(normalize("a\r.\rb").0, b"a\r.\rb");
    for cut in 0..9 {
        let (head, tail) = b"a\n.\r\n\r.\rb".split_at(cut);
        assert_eq!(read(&[head, tail], BareNewlines::Normalize).1, Progress::More, "cut at {cut}");
    }
}

fn stuffed(message: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for line in message.split_inclusive(|byte| *byte == b'\n') {
        out.extend(line.starts_with(b".").then_some(b'.'));
        out.extend_from_slice(line);
    }
    out.extend_from_slice(b".\r\n");
    out
}

/// Lines of the bytes that matter, each ended by CRLF.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let line = proptest::collection::vec(prop_oneof![Just(b'.'), Just(b'a'), Just(0), Just(0xff)], 0..5);
    proptest::collection::vec(line, 0..8)
        .prop_map(|lines| lines.into_iter().flat_map(|line| line.into_iter().chain(*b"\r\n")).collect())
}

proptest! {
    #[test]
    fn a_stuffed_message_comes_back_whatever_the_cuts(message in message(), cuts in proptest::collection::vec(0usize..60, 0..6)) {
        let wire = stuffed(&message);
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(wire.len())).collect();
        cuts.sort_unstable();
        let bounds = std::iter::once(0).chain(cuts.iter().copied()).zip(cuts.iter().copied().chain([wire.len()]));
        let pieces: Vec<&[u8]> = bounds.map(|(from, to)| &wire[from..to]).collect();
        let (kept, progress) = read(&pieces, BareNewlines::Reject);
        prop_assert_eq!(kept, message);
        prop_assert_eq!(progress, Progress::End(wire.len()));
    }

    #[test]
    fn any_bytes_give_the_same_answer_in_one_piece_and_byte_by_byte(input in proptest::collection::vec(prop_oneof![Just(b'.'), Just(b'\r'), Just(b'\n'), Just(b'a')], 0..12), normalize: bool) {
        let mode = if normalize { BareNewlines::Normalize } else { BareNewlines::Reject };
        let bytes: Vec<&[u8]> = input.chunks(1).collect();
        let (whole, split) = (read(&[&input], mode), read(&bytes, mode));
        prop_assert_eq!(whole.1, split.1);
        if whole.1 != Progress::BareNewline {
            prop_assert_eq!(whole.0, split.0);
        }
    }
}
