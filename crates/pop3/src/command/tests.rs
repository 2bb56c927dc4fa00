//! Lines and what they are read as.

use proptest::prelude::*;

use super::*;

fn check(line: &str, expected: Result<Command, Reply>) {
    assert_eq!(parse(line.as_bytes()), expected, "{line:?}");
}

#[test]
fn commands_are_read() {
    check("CAPA", Ok(Command::Capa));
    check("quit", Ok(Command::Quit));
    check("NoOp ", Ok(Command::Noop));
    check("STAT", Ok(Command::Stat));
    check("RSET", Ok(Command::Rset));
    check("STLS", Ok(Command::Stls));
    check("UTF8", Ok(Command::Utf8));
    check("LIST", Ok(Command::List(None)));
    check("LIST ", Ok(Command::List(None)));
    check("LIST 7", Ok(Command::List(Some(7))));
    check("UIDL", Ok(Command::Uidl(None)));
    check("UIDL 007", Ok(Command::Uidl(Some(7))));
    check("RETR 1", Ok(Command::Retr(1)));
    check("DELE 1 ", Ok(Command::Dele(1)));
    check("TOP 1 0", Ok(Command::Top { message: 1, lines: 0 }));
    check("TOP 1 9000000000000000000", Ok(Command::Top { message: 1, lines: 9_000_000_000_000_000_000 }));
    check("USER alice", Ok(Command::User("alice".into())));
    check("USER jörg@example.test ", Ok(Command::User("jörg@example.test".into())));
    check("USER \"john doe\"", Ok(Command::User("\"john doe\"".into())));
}

#[test]
fn a_password_is_the_rest_of_its_line() {
    for (line, secret) in [("PASS x", "x"), ("PASS  two words ", " two words "), ("PASS ", ""), ("pass ü", "ü")] {
        check(line, Ok(Command::Pass(secret.as_bytes().to_vec().into())));
    }
    check("PASS", Err(SAY_PASS));
}

#[test]
fn t005_a_password_is_never_printed() {
    let command = parse(b"PASS canary").unwrap();
    assert!(!format!("{command:?}").contains("canary"));
}

#[test]
fn what_is_no_command_is_told_so() {
    for line in ["", " ", "BOGUS", "RETRY 1", "LANG", "\u{0}", "RET", "RETR\t1"] {
        check(line, Err(UNKNOWN));
    }
    for line in ["QUIT now", "STAT 1", "NOOP x", "CAPA x", "STLS x", "UTF8 USER"] {
        check(line, Err(NO_ARGUMENT));
    }
    check("AUTH", Err(NO_AUTH));
    check("AUTH PLAIN", Err(NO_AUTH));
    check("APOP mrose c4c9334bac560ecc979e58001b3e22fb", Err(NO_APOP));
    check("USER", Err(SAY_USER));
    check("USER  ", Err(SAY_USER));
    check("USER a\u{7}b", Err(BAD_USER));
    assert_eq!(parse(b"USER \xff"), Err(BAD_USER));
}

#[test]
fn t088_numbers_are_digits_that_fit() {
    for number in ["-1", "+1", "1.", "1 2", " 1", "0x1", "1e9", "१", "18446744073709551616", "99999999999999999999"] {
        for verb in ["LIST", "UIDL", "RETR", "DELE"] {
            check(&format!("{verb} {number}"), Err(SAY_MESSAGE));
        }
        check(&format!("TOP {number} 1"), Err(SAY_TOP));
        check(&format!("TOP 1 {number}"), Err(SAY_TOP));
    }
    for line in ["TOP", "TOP ", "TOP 1", "TOP 1 ", "TOP  1 1", "TOP 1  1", "TOP 1 1 1"] {
        check(line, Err(SAY_TOP));
    }
    check("RETR", Err(SAY_MESSAGE));
    check("DELE", Err(SAY_MESSAGE));
}

#[test]
fn strangers_are_known_by_their_first_line() {
    for (line, expected) in [
        ("GET / HTTP/1.1", Some(Stranger::Http)),
        ("POST /x HTTP/1.1", Some(Stranger::Http)),
        ("PROXY TCP4 192.0.2.1 192.0.2.2 5 110", Some(Stranger::Proxy)),
        ("PROXY UNKNOWN", Some(Stranger::Proxy)),
        ("CAPA", None),
        ("", None),
    ] {
        assert_eq!(stranger(line.as_bytes()), expected, "{line}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn t088_any_line_is_read_without_a_panic(line in prop::collection::vec(any::<u8>(), 0..600)) {
        let _ = parse(&line);
    }

    #[test]
    fn t088_any_argument_is_read_without_a_panic(
        verb in "(?i)(list|uidl|retr|dele|top|user|pass|apop|auth|capa|stls|utf8)",
        rest in prop::collection::vec(prop::sample::select(b" 0123456789-+.x\xff".to_vec()), 0..64),
    ) {
        let _ = parse(&[verb.as_bytes(), b" ", &rest].concat());
    }
}
