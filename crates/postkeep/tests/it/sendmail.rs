//! `postkeep sendmail` as PHP, cron and people call it: against a real server, and against one that does as it is told.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use crate::http::{latest_as_sent, list};
use crate::program::{PATIENCE, Program, directory, postkeep};

/// How a run ended.
#[derive(Debug)]
struct Ran {
    code: Option<i32>,
    stderr: String,
}

/// Run a command to its end with this on stdin; stdout stays empty.
fn run(command: &mut Command, input: &[u8]) -> Ran {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    // It may end without having read all.
    let writer = thread::spawn(move || drop(stdin.write_all(&input)));
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert_eq!(String::from_utf8_lossy(&stdout), "", "nothing stands on stdout");
    Ran { code: status.code(), stderr: String::from_utf8(stderr).unwrap() }
}

/// `postkeep sendmail` for the server at this place.
fn sendmail(place: &str, args: &[&str]) -> Command {
    let mut command = postkeep(&["sendmail"]);
    command.args(args).env("POSTKEEP_SENDMAIL_SERVER", place);
    command
}

/// It must go well, and say nothing.
#[track_caller]
fn sends(place: &str, args: &[&str], input: &[u8]) {
    let ran = run(&mut sendmail(place, args), input);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{args:?}");
}

/// It must fail with this code and these words.
#[track_caller]
fn fails(place: &str, args: &[&str], input: &[u8], code: i32, words: &str) {
    let ran = run(&mut sendmail(place, args), input);
    assert!(ran.code == Some(code) && ran.stderr.contains(words), "{args:?}: {ran:?}");
    assert!(ran.stderr.starts_with("sendmail: ") && ran.stderr.lines().count() == 1, "{ran:?}");
}

const MAIL: &[u8] =
    b"From: ann@x.test\nTo: bob@x.test\nDate: Sun, 15 Nov 2026 07:10:58 +0000\nMessage-ID: <1@x.test>\n\nHi.\n";

fn crlf(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('\n', "\r\n").into_bytes()
}

fn real() -> (Program, String) {
    let program = Program::start(&[]);
    let place = program.smtp.to_string();
    (program, place)
}

/// What the newest message of a mailbox is, as text.
fn latest(program: &Program, mailbox: &str) -> String {
    String::from_utf8(latest_as_sent(program.http, mailbox)).unwrap()
}

#[test]
fn php_calls_it_so() {
    let (program, place) = real();
    let input =
        b"To: Bob <bob@x.test>,\r\n cleo@x.test\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\nbcc: dora@x.test\r\n\
        X-PHP-Originating-Script: 0:mail.php\r\n\r\nfirst\n.\nlast\n";
    sends(&place, &["-t", "-i", "-fann@x.test"], input);
    for mailbox in ["bob", "cleo", "dora"] {
        let text = latest(&program, mailbox);
        let (added, rest) = text.split_once("To: Bob").unwrap();
        assert!(added.starts_with("From: ann@x.test\r\nDate: ") && added.contains("\r\nMessage-ID: <"), "{text}");
        assert_eq!(added.lines().count(), 3, "{text}");
        let expected = " <bob@x.test>,\r\n cleo@x.test\r\nSubject: =?utf-8?Q?Gr=C3=BC=C3=9Fe?=\r\n\
            X-PHP-Originating-Script: 0:mail.php\r\n\r\nfirst\r\n.\r\nlast\r\n";
        assert_eq!(rest, expected);
        assert!(!text.contains("dora") && !text.to_lowercase().contains("bcc"), "{text}");
    }
}

#[test]
fn cron_calls_it_so() {
    let (program, place) = real();
    let input =
        b"From: root (Cron Daemon)\nTo: user\nSubject: Cron <root@host> job\nContent-Type: text/plain\n\nd\xc3\xb6ne\n";
    sends(&place, &["-FCronDaemon", "-i", "-B8BITMIME", "-oem", "user"], input);
    let text = latest(&program, "user");
    assert!(text.ends_with(&String::from_utf8(crlf(input)).unwrap()), "{text}");
    sends(&place, &["-FCron Daemon", "-i", "user"], b"no header\n");
    let text = latest(&program, "user");
    assert!(text.starts_with("From: Cron Daemon <") && text.ends_with("\r\n\r\nno header\r\n"), "{text}");
}

#[test]
#[cfg(unix)]
fn a_link_of_its_name_is_enough() {
    let (program, place) = real();
    let link = program.dir.join("sendmail");
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_postkeep"), &link).unwrap();
    let ran = run(Command::new(link).env_clear().args(["-ti", "-S", &place]), MAIL);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(latest(&program, "bob").into_bytes(), crlf(MAIL));
}

#[test]
fn the_server_is_found() {
    let (program, place) = real();
    // An option goes over the environment; options of the program itself may stand before.
    sends("127.0.0.1:1", &["-S", &place, "-ti"], MAIL);
    sends("unix:/nowhere", &[&format!("--server={place}"), "-ti"], MAIL);
    let ran = run(postkeep(&["--config", "x", "sendmail", "-S", &place, "-i", "--", "bob@x.test"]).env_clear(), MAIL);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert_eq!(list(program.http, "bob").len(), 3);
    for bad in ["localhost", "localhost:x", ":25", "unix:", "127.0.0.1:99999"] {
        fails(bad, &["-ti"], MAIL, 64, "give HOST:PORT or unix:PATH");
    }
}

#[test]
fn a_message_arrives_to_the_octet() {
    let (program, place) = real();
    let head = "From: a@x.test\r\nTo: bob@x.test\r\nDate: now\r\nMessage-ID: <1@x>\r\n";
    let mut all: Vec<Vec<u8>> = ["", "\r\n", "\r\n\r\n", "\r\n.\r\n..\r\n.a\r\n", "Subject: grüße\r\n\r\nUTF-8: ü\r\n"]
        .iter()
        .map(|rest| format!("{head}{rest}").into_bytes())
        .collect();
    let body = |octets: &[u8]| [head.as_bytes(), b"\r\n", octets, b"\r\n"].concat();
    all.push(body(b"Latin-1: \xfc\xff"));
    all.push(body(&[b'x'; 100_000]));
    all.push(body(b"a lone\rcarriage return"));
    all.push(body(b"a\0NUL\0\r\n.\r\n"));
    all.push(body(&b"0123456789\r\n.\r\n".repeat(300_000)));
    for message in &all {
        sends(&place, &["-t", "-i"], message);
        assert!(
            &latest_as_sent(program.http, "bob") == message,
            "{:?}",
            String::from_utf8_lossy(&message[..200.min(message.len())])
        );
        let lines: Vec<u8> = String::from_utf8_lossy(message).replace("\r\n", "\n").into_bytes();
        if message.is_ascii() && message.len() < 1_000_000 {
            sends(&place, &["-t", "-i"], &lines);
            assert!(&latest_as_sent(program.http, "bob") == message, "from lines that end with LF alone");
        }
    }
    let binary = [head.as_bytes(), b"\r\nlone\nline feeds\n, no end"].concat();
    sends(&place, &["-t", "-i", "-B", "BINARYMIME"], &binary);
    assert_eq!(latest_as_sent(program.http, "bob"), binary);
}

#[test]
fn a_lone_dot_ends_the_message_without_i() {
    let (program, place) = real();
    let input = [MAIL, b"one\n..\n.two\n.\nthree\n"].concat();
    let before = [MAIL, b"one\n..\n.two\n"].concat();
    for (args, expected) in [(&["-t"][..], &before), (&["-t", "-oi"], &input), (&["-t", "-OIgnoreDots=True"], &input)] {
        sends(&place, args, &input);
        assert_eq!(latest_as_sent(program.http, "bob"), crlf(expected), "{args:?}");
    }
}

#[test]
fn nothing_on_stdin_is_a_message_too() {
    let (program, place) = real();
    sends(&place, &["-f", "<>", "bob@x.test"], b"");
    let text = latest(&program, "bob");
    assert!(text.starts_with("From: ") && text.lines().count() == 3, "{text}");
    fails(&place, &["-t", "-i"], b"", 65, "no recipients");
}

#[test]
fn letters_beyond_ascii_go_where_they_are_taken() {
    let (program, place) = real();
    sends(&place, &["-i", "-f", "zoë@x.test", "zoë@exämple.test"], b"Subject: \xc3\xbc\n\n");
    assert!(latest(&program, "zoë".replace('ë', "%c3%ab").as_str()).contains("\r\nSubject: ü\r\n"));
    let (place, said) = fake(&[]);
    fails(&place, &["zoë@x.test"], b"", 65, "does not offer SMTPUTF8");
    assert_eq!(transcript(&said).last().unwrap(), "QUIT");
}

#[test]
fn more_recipients_than_a_server_takes_at_once() {
    let program = Program::start(&["smtp.recipients_max=2"]);
    let place = program.smtp.to_string();
    sends(&place, &["a@x.test, Bea <b@x.test>", "c@x.test", "d@x.test", "e@x.test", "a@x.test"], MAIL);
    for mailbox in ["a", "b", "c", "d", "e"] {
        assert_eq!(list(program.http, mailbox).len(), 1, "{mailbox}");
    }
}

#[test]
fn mistakes_on_the_command_line_end_with_64() {
    for (args, words) in [
        (&["-bs"][..], "-bs is not done here: speak SMTP to the server itself"),
        (&["-bd"], "postkeep serve"),
        (&["-Z"], "-Z is no option"),
        (&["-f"], "-f needs a value"),
        (&["-i", "bob@@x.test"], "\"bob@@x.test\": this is no address"),
        (&["-i", "bob@x.test", "-t"], "-t stands behind a recipient"),
        (&["-f", "a b", "bob@x.test"], "the sender, \"a b\""),
        (&["-F", "a\nb", "bob@x.test"], "control character"),
        (&["--timeout", "0", "bob@x.test"], "from 1 to 3600"),
    ] {
        fails("127.0.0.1:1", args, MAIL, 64, words);
    }
    let ran = run(&mut sendmail("127.0.0.1:1", &["-q30m"]), b"");
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "there is no queue to run");
}

#[test]
fn messages_that_cannot_be_sent_end_with_65() {
    let program = Program::start(&["smtp.message_max=1KiB"]);
    let place = program.smtp.to_string();
    fails(&place, &["-ti"], b"Subject: x\n\nTo: bob@x.test\n", 65, "no recipients");
    fails(&place, &["-i"], MAIL, 65, "no recipients");
    fails(&place, &["-ti"], b"To: bob@x.test\nCc: Cleo cleo@x.test\n\n", 65, "in the field Cc, \"Cleo cleo@x.test\"");
    let large = [MAIL, &[b'x'; 1024]].concat();
    fails(&place, &["-ti"], &large, 65, "the server takes 1024; send a smaller one");
    assert!(list(program.http, "bob").is_empty(), "nothing of it arrived");
    let (place, _) = fake(&[(".", "552 5.3.4 too large")]);
    fails(&place, &["-ti"], MAIL, 65, "552 5.3.4 too large");
    let (place, _) = fake(&[]);
    fails(&place, &["-ti"], &[MAIL, b"a\0b"].concat(), 65, "does not offer CHUNKING");
}

#[test]
fn a_recipient_that_is_not_there_ends_with_67() {
    let (place, said) = fake(&[("RCPT TO:<no@", "550 5.1.1 no such user")]);
    let words = "refused the recipient no@x.test: 550 5.1.1 no such user";
    fails(&place, &["-i", "bob@x.test", "no@x.test", "cleo@x.test"], MAIL, 67, words);
    let said = transcript(&said);
    assert!(!said.iter().any(|line| line == "DATA" || line.contains("cleo")), "none gets it: {said:?}");
}

#[test]
fn refusals_for_good_end_with_69() {
    for (at, reply) in [
        ("", "554 no service here"),
        ("MAIL", "550 not from you"),
        ("MAIL", "530 5.7.0 Must issue a STARTTLS command first"),
        ("RCPT", "554 no"),
        ("DATA", "554 no"),
        (".", "554 \u{1b}[31mspam"),
    ] {
        let (place, _) = fake(&[(at, reply)]);
        fails(&place, &["-ti"], MAIL, 69, &reply[..3]);
    }
    let (place, _) = fake(&[(".", "554 \u{1b}[31mspam")]);
    fails(&place, &["-ti"], MAIL, 69, "554 \\u{1b}[31mspam");
    let (place, _) = fake(&[("", "HTTP/1.1 400 Bad Request")]);
    fails(&place, &["-ti"], MAIL, 69, "no SMTP server");
}

#[test]
fn what_may_work_later_ends_with_75() {
    for (at, reply) in [
        ("", "421 busy"),
        ("EHLO", "421 busy"),
        ("MAIL", "451 later"),
        ("RCPT", "452 full"),
        ("DATA", "451 x"),
        (".", "451 x"),
    ] {
        let (place, _) = fake(&[(at, reply)]);
        fails(&place, &["-ti"], MAIL, 75, "try again later");
    }
    for at in ["", "EHLO", "MAIL", "RCPT", "DATA"] {
        let (place, _) = fake(&[(at, CLOSE)]);
        fails(&place, &["-ti"], MAIL, 75, "nothing was handed on: try again");
    }
    let (place, _) = fake(&[(".", CLOSE)]);
    fails(&place, &["-ti"], MAIL, 75, "whether it took the message is not known");
    // A port that nobody listens at: it was free a moment ago.
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    fails(&free, &["-ti"], MAIL, 75, "is the server running there?");
    fails("unix:/nowhere/at/all", &["-ti"], MAIL, 75, "cannot reach unix:/nowhere/at/all");
}

#[test]
fn a_server_that_says_nothing_is_not_waited_for() {
    for at in ["", "MAIL", "."] {
        let (place, _) = fake(&[(at, SILENCE)]);
        fails(&place, &["-ti", "--timeout", "1"], MAIL, 75, "did not answer within 1 s");
    }
    let (place, _) = fake(&[("", SILENCE)]);
    let ran = run(sendmail(&place, &["-ti"]).env("POSTKEEP_SENDMAIL_TIMEOUT", "1"), MAIL);
    assert!(ran.code == Some(75) && ran.stderr.contains("within 1 s"), "{ran:?}");
}

#[test]
#[cfg(unix)]
fn what_cannot_be_read_ends_with_70() {
    let dir = directory();
    let ran = sendmail("127.0.0.1:1", &["bob@x.test"]).stdin(fs::File::open(&dir).unwrap()).output().unwrap();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.code() == Some(70) && stderr.contains("cannot read the message from stdin"), "{stderr}");
    fs::remove_dir(dir).unwrap();
}

#[test]
fn the_dialogue_is_shown_when_asked() {
    let (place, said) = fake(&[]);
    let ran = run(&mut sendmail(&place, &["-tiv"]), MAIL);
    assert_eq!(ran.code, Some(0));
    for line in ["< 220 fake", "> MAIL FROM:<", "> RCPT TO:<bob@x.test>", "> DATA", "< 250 ok", "> QUIT"] {
        assert!(ran.stderr.lines().any(|shown| shown.starts_with(line)), "{line}: {}", ran.stderr);
    }
    let said = transcript(&said);
    assert!(
        said[0].starts_with("EHLO ") && said[1].starts_with("MAIL FROM:<") && !said[1].contains("SIZE"),
        "{said:?}"
    );
}

#[test]
#[cfg(unix)]
fn a_unix_socket_is_a_server_too() {
    let dir = directory();
    let path = dir.join("smtp.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let (tell, said) = channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        drop(tell.send(serve(stream.try_clone().unwrap(), stream, &[])));
    });
    sends(&format!("unix:{}", path.display()), &["-ti"], MAIL);
    let said = transcript(&said);
    assert!(said.ends_with(&["Hi.".to_owned(), ".".to_owned(), "QUIT".to_owned()]), "{said:?}");
    fs::remove_dir_all(dir).unwrap();
}

/// Instead of a reply: the connection ends here.
const CLOSE: &str = "close";
/// Instead of a reply: nothing more is said.
const SILENCE: &str = "silence";

/// A server for one connection that offers nothing. Where a line begins so it replies so; where nothing stands that is
/// the greeting, and a dot is the end of the message. It tells what it was told.
fn fake(replies: &[(&'static str, &'static str)]) -> (String, Receiver<Vec<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let place = listener.local_addr().unwrap().to_string();
    let replies = replies.to_vec();
    let (tell, said) = channel();
    thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        drop(tell.send(serve(stream.try_clone().unwrap(), stream, &replies)));
    });
    (place, said)
}

fn transcript(said: &Receiver<Vec<String>>) -> Vec<String> {
    said.recv_timeout(PATIENCE).unwrap()
}

fn serve(from: impl Read, mut to: impl Write, replies: &[(&str, &str)]) -> Vec<String> {
    let mut said: Vec<String> = Vec::new();
    let mut lines = BufReader::new(from).lines().map_while(Result::ok);
    let mut in_data = false;
    let mut line = String::new();
    loop {
        let mut own = replies
            .iter()
            .filter(|(at, _)| if said.is_empty() { at.is_empty() } else { !at.is_empty() && line.starts_with(at) });
        let usual = match line.as_str() {
            "" => "220 fake",
            "DATA" => "354 go on",
            "QUIT" => "221 bye",
            _ => "250 ok",
        };
        let reply = own.next().map_or(usual, |(_, reply)| reply);
        if !in_data || line == "." {
            in_data = reply.starts_with("354");
            match reply {
                CLOSE => return said,
                SILENCE => {}
                _ => drop(write!(to, "{reply}\r\n")),
            }
        }
        match lines.next() {
            Some(next) => line = next,
            None => return said,
        }
        said.push(line.clone());
    }
}
