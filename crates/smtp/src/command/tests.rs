//! Lines and what they are read as.

use super::*;

fn understood(line: &str) -> Command {
    parse(line.as_bytes()).unwrap_or_else(|bad| panic!("{line:?} answered {:?}", bad.reply))
}

fn refused(line: &str) -> u16 {
    match parse(line.as_bytes()) {
        Err(bad) => bad.reply.code,
        Ok(command) => panic!("{line:?} understood as {command:?}"),
    }
}

fn shown(line: &str) -> String {
    match understood(line) {
        Command::Mail { path, parameters } => format!("{} {parameters:?}", told(&path)),
        Command::Rcpt { path } => told(&path),
        other => format!("{other:?}"),
    }
}

fn told(path: &Path) -> String {
    match path {
        Path::Null => "<>".to_owned(),
        Path::Postmaster => "postmaster".to_owned(),
        Path::Address(address) => address.to_string(),
    }
}

#[test]
fn commands_are_understood_in_any_case_with_blanks_behind() {
    for (line, expected) in [
        ("EHLO client.test", "Ehlo(\"client.test\")"),
        ("ehlo [127.0.0.1] ", "Ehlo(\"[127.0.0.1]\")"),
        ("HELO my_host", "Helo(\"my_host\")"),
        ("mAiL fRoM:<a@x.test>", "a@x.test MailParameters { size: None, utf8: false }"),
        ("MAIL FROM: <a@x.test>  ", "a@x.test MailParameters { size: None, utf8: false }"),
        ("MAIL FROM:a@x.test SIZE=5", "a@x.test MailParameters { size: Some(5), utf8: false }"),
        ("MAIL FROM:<> size=0 body=8bitmime smtputf8", "<> MailParameters { size: Some(0), utf8: true }"),
        ("MAIL FROM:<@a.test,@b.test:c@x.test>", "c@x.test MailParameters { size: None, utf8: false }"),
        ("MAIL FROM:<\"a > b\"@x.test>", "\"a > b\"@x.test MailParameters { size: None, utf8: false }"),
        ("MAIL FROM:<é@x.test> SMTPUTF8", "é@x.test MailParameters { size: None, utf8: true }"),
        ("RCPT TO:<PostMaster>", "postmaster"),
        ("RCPT TO:<a@[IPv6:::1]>", "a@[IPv6:::1]"),
        ("RCPT TO:<é@x.test>", "é@x.test"),
        ("BDAT 12", "Bdat { octets: 12, last: false }"),
        ("bdat 0  last", "Bdat { octets: 0, last: true }"),
        ("DATA ", "Data"),
        ("NOOP anything", "Noop"),
        ("VRFY someone", "Vrfy"),
        ("HELP MAIL", "Help"),
        ("QUIT", "Quit"),
        ("starttls", "StartTls"),
        ("LHLO client.test", "Lhlo(\"client.test\")"),
        ("auth plain", "Auth { mechanism: Plain, initial: None }"),
        ("AUTH LOGIN aGVsbG8=", "Auth { mechanism: Login, initial: Some(Secret(***)) }"),
        ("AUTH PLAIN =", "Auth { mechanism: Plain, initial: Some(Secret(***)) }"),
        ("MAIL FROM:<a@x.test> AUTH=<>", "a@x.test MailParameters { size: None, utf8: false }"),
        ("RSET", "Rset"),
    ] {
        assert_eq!(shown(line), expected, "{line:?}");
    }
}

#[test]
fn what_is_no_command_is_told_why() {
    for (line, code) in [
        ("", 500),
        (".", 500),
        ("BOGUS", 500),
        ("MAILFROM:<a@x.test>", 500),
        ("EHLO", 501),
        ("EHLO \u{1b}[31m", 501),
        ("VRFY", 501),
        ("DATA now", 501),
        ("RSET now", 501),
        ("QUIT now", 501),
        ("EXPN list", 502),
        ("STARTTLS now", 501),
        ("AUTH", 501),
        ("AUTH PLAIN a b", 501),
        ("AUTH CRAM-MD5", 504),
        ("AUTH XOAUTH2 abc", 504),
        ("LHLO", 501),
        ("MAIL FROM:<a@x.test> AUTH", 501),
        ("MAIL FROM:<a@x.test> AUTH=<> AUTH=<>", 501),
        ("MAIL", 501),
        ("MAIL FROM", 501),
        ("MAIL TO:<a@x.test>", 501),
        ("MAIL FROM:<a@x.test>SIZE=1", 501),
        ("MAIL FROM:<a b@x.test>", 501),
        ("MAIL FROM:<a>", 553),
        ("MAIL FROM:<é@x.test>", 553),
        ("MAIL FROM:<a@x.test> SIZE", 501),
        ("MAIL FROM:<a@x.test> SIZE=+1", 501),
        ("MAIL FROM:<a@x.test> SIZE=1 SIZE=1", 501),
        ("MAIL FROM:<a@x.test> BODY=FOO", 501),
        ("MAIL FROM:<a@x.test> SMTPUTF8=yes", 501),
        ("MAIL FROM:<a@x.test> RET=FULL", 555),
        ("MAIL FROM:<a@x.test> AVERYLONGPARAMETER", 555),
        ("RCPT TO:<>", 501),
        ("RCPT TO:<a>", 553),
        ("RCPT TO:<a@x.test> NOTIFY=NEVER", 555),
        ("BDAT", 501),
        ("BDAT -1", 501),
        ("BDAT 18446744073709551616", 501),
        ("BDAT 5 FIRST", 501),
        ("BDAT 5 LAST now", 501),
    ] {
        assert_eq!(refused(line), code, "{line:?}");
    }
}

#[test]
fn a_size_beyond_any_number_is_too_large_and_not_malformed() {
    let line = "MAIL FROM:<a@x.test> SIZE=99999999999999999999";
    assert_eq!(shown(line), "a@x.test MailParameters { size: Some(18446744073709551615), utf8: false }");
}

#[test]
fn t018_a_chunk_of_unknown_size_ends_the_connection() {
    assert_eq!(parse(b"BDAT x").unwrap_err().then, Then::Close);
    assert_eq!(parse(b"BOGUS").unwrap_err().then, Then::GoOn);
}

#[test]
fn t020_a_request_of_a_browser_is_known() {
    assert!(is_http(b"POST / HTTP/1.1"));
    assert!(is_http(b"GET"));
    assert!(!is_http(b"HELP"));
    assert!(!is_http(b"EHLO POST"));
}
