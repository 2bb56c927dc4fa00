//! The test author's kit against the real binary: the Rust client, and the command line in a script of a shell.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use client::{Client, Error, Event, Kind};

use crate::program::{PATIENCE, Program, output, until};
use crate::smtp::{Smtp, deliver, message};

fn client(program: &Program) -> Client {
    Client::new(&format!("http://{}", program.http)).unwrap().timeout(PATIENCE)
}

fn mail(subject: &str, text: &str) -> Vec<u8> {
    format!("From: Shop <no-reply@shop.test>\r\nSubject: {subject}\r\n\r\n{text}\r\n").into_bytes()
}

const RESET: &str =
    "Press here to choose a new password:\r\nhttps://shop.test/reset?token=8f3ac91b7d2e4f60a1b2c3d4e5f60718";

#[tokio::test]
async fn a_sign_up_from_the_address_to_the_code() {
    let program = Program::start(&[]);
    let inbox = client(&program).open_inbox("signup").await.unwrap();
    assert!(inbox.address().starts_with("signup-"), "{}", inbox.address());
    deliver(program.smtp, inbox.address(), &mail("Your code", "Your verification code is 884201"));
    assert_eq!(inbox.code().await.unwrap(), "884201");
    deliver(program.smtp, inbox.address(), &mail("Your code", "Your verification code is 137902"));
    assert_eq!(inbox.code().await.unwrap(), "137902", "a handle hands out each mail once");
    deliver(program.smtp, inbox.address(), &mail("Reset", RESET));
    let link = inbox.link_of(Kind::Reset).await.unwrap();
    assert_eq!(link, "https://shop.test/reset?token=8f3ac91b7d2e4f60a1b2c3d4e5f60718");
    inbox.expect_none(Duration::from_millis(50)).await.unwrap();
    assert_eq!(inbox.list().await.unwrap().len(), 3);
    inbox.purge().await.unwrap();
    assert_eq!(inbox.list().await.unwrap().len(), 0);
    inbox.close().await.unwrap();
}

#[tokio::test]
async fn a_mailbox_begins_where_its_handle_is_made() {
    let program = Program::start(&[]);
    deliver(program.smtp, "alice@x.test", &message("old"));
    let alice = client(&program).mailbox("alice").await.unwrap();
    deliver(program.smtp, "alice@x.test", &message("one"));
    deliver(program.smtp, "alice@x.test", &message("two"));
    let two = alice.wait().subject("TWO").await.unwrap();
    let rcpt_to = two.envelope.as_ref().unwrap().rcpt_to.clone();
    assert_eq!((two.subject.as_str(), rcpt_to), ("two", vec!["alice@x.test".to_owned()]));
    assert_eq!(alice.message().await.unwrap().subject, "one", "what matched nothing before is still there");
    let error = alice.message().timeout(Duration::from_millis(100)).await.unwrap_err();
    assert!(matches!(error, Error::Timeout(_)), "{error}");
    let whole = client(&program).whole_mailbox("alice");
    let subjects: Vec<_> = whole.messages(3).await.unwrap().into_iter().map(|mail| mail.subject).collect();
    assert_eq!(subjects, ["old", "one", "two"]);
    whole.delete(&two.id).await.unwrap();
    assert_eq!(whole.delete(&two.id).await.unwrap_err().status(), Some(404));
    let source = whole.read("latest").await.unwrap().source().await.unwrap();
    assert!(source.ends_with(b"Subject: one\r\n\r\nHello.\r\n"));
}

/// The same wait with the mail of each second test lands in the right place: nothing is shared.
#[tokio::test]
async fn tests_side_by_side_do_not_meet() {
    let program = Program::start(&[]);
    let client = client(&program);
    let one = client.open_inbox("same").await.unwrap();
    let other = client.open_inbox("same").await.unwrap();
    assert_ne!(one.address(), other.address());
    let (first, second, ()) = tokio::join!(one.code(), other.code(), async {
        for (inbox, code) in [(&other, "222222"), (&one, "111111")] {
            deliver(program.smtp, inbox.address(), &mail("Code", &format!("Your code is {code}")));
        }
    });
    assert_eq!((first.unwrap(), second.unwrap()), ("111111".to_owned(), "222222".to_owned()));
}

#[tokio::test]
async fn a_failed_wait_says_why() {
    let program = Program::start(&["smtp.message_max=1KB"]);
    let short = Duration::from_millis(200);
    let client = client(&program);
    let alice = client.mailbox("alice").await.unwrap();
    let error = alice.code().timeout(short).await.unwrap_err().to_string();
    assert!(error.starts_with("PostkeepTimeout: no mail for alice matched in 0.2 s"), "{error}");
    assert!(error.contains("\n  smtp      nobody connected"), "{error}");
    deliver(program.smtp, "alice@x.test", &mail("Welcome", "Your verification code is 884201"));
    let error = alice.code().subject("Reset").timeout(short).await.unwrap_err().to_string();
    assert!(error.contains("wanted    a code, subject contains \"Reset\""), "{error}");
    assert!(error.contains("\"Welcome\" from no-reply@shop.test  ✗ subject  ✓ code"), "{error}");
    let bob = client.mailbox("bob").await.unwrap();
    let mut smtp = Smtp::session(program.smtp);
    let refused = smtp.mail("ann@x.test", &["bob@x.test"], &mail("Big", &"x".repeat(2000)));
    assert!(refused.starts_with("552"), "{refused}");
    let error = bob.message().timeout(short).await.unwrap_err().to_string();
    assert!(error.contains("  552 ") && error.contains("(MAIL FROM ann@x.test)"), "{error}");
}

#[tokio::test]
async fn an_attachment_and_what_is_watched() {
    let program = Program::start(&[]);
    let client = client(&program);
    let mut watch = client.watch(&["alice"]).await.unwrap();
    let raw = "From: a@x.test\r\nSubject: Bill\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
        --b\r\nContent-Type: text/plain\r\n\r\nHere.\r\n--b\r\nContent-Type: application/pdf\r\n\
        Content-Disposition: attachment; filename=bill.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\nUERG\r\n--b--\r\n";
    let delivered = client.deliver(raw).mail_from("a@x.test").rcpt_to("alice@x.test").await.unwrap();
    let event = watch.next().await.unwrap();
    assert!(matches!(&event, Event::Deliver(summary) if summary.id == delivered[0].id), "{event:?}");
    let bill = client.whole_mailbox("alice").wait().has_attachment().await.unwrap();
    assert_eq!(bill.attachment("bill.pdf").await.unwrap(), "PDF");
    client.compose().from("a@x.test").to("alice@x.test").subject("Grüße").text("Hallo").await.unwrap();
    let event = watch.next().await.unwrap();
    assert!(matches!(&event, Event::Deliver(summary) if summary.subject == "Grüße"), "{event:?}");
}

/// A node dies while a test waits; the next one knows the cursor, and the mail comes there.
#[test]
fn a_wait_outlives_the_node_it_began_on() {
    let (mut dying, living) = (Program::start(&[]), Program::start(&[]));
    let (address, asked) = relay(dying.http);
    let urls = format!("http://{address},http://{}", living.http);
    let waiting = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let alice = Client::new(&urls).unwrap().mailbox("alice").await.unwrap();
            alice.wait().subject("late").timeout(PATIENCE).await
        })
    });
    until("the wait is with the first node", || asked.try_iter().any(|head| head.contains("/wait ")).then_some(()));
    dying.signal(rustix::process::Signal::KILL);
    dying.wait();
    deliver(living.smtp, "alice@x.test", &message("late"));
    assert_eq!(waiting.join().unwrap().unwrap().subject, "late");
}

/// Stands before a server and tells the beginning of each request once it has passed it on.
fn relay(server: SocketAddr) -> (SocketAddr, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, (told, asked)) = (listener.local_addr().unwrap(), channel());
    thread::spawn(move || {
        for near in listener.incoming() {
            let (mut near, Ok(mut far)) = (near.unwrap(), TcpStream::connect(server)) else { continue };
            let (mut back, mut answer) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let mut head = [0; 4096];
            let count = near.read(&mut head).unwrap_or_default();
            let _ = far.write_all(&head[..count]);
            let _ = told.send(String::from_utf8_lossy(&head[..count]).into_owned());
            thread::spawn(move || std::io::copy(&mut near, &mut far));
            thread::spawn(move || {
                let _ = std::io::copy(&mut answer, &mut back);
                let _ = back.shutdown(Shutdown::Both);
            });
        }
    });
    (address, asked)
}

/// A complete test of an e-mail, as a script: nothing but a shell and the binary.
#[test]
#[cfg(unix)]
fn a_script_of_a_shell_is_a_complete_test() {
    const SCRIPT: &str = r#"
        set -eu
        eval "$(postkeep inbox new signup --export)"
        postkeep send --to "$POSTKEEP_ADDRESS" --from no-reply@shop.test --subject 'Your code' --text 'Your code is 884201'
        [ "$(postkeep code --timeout 20s)" = 884201 ]
        postkeep wait --subject 'your CODE' --timeout 20s | grep -q '^Code      884201$'
        postkeep wait --none --subject Reset --timeout 100ms
        ! postkeep wait --subject Reset --timeout 100ms 2> why
        grep -q '✗ subject' why
        postkeep purge
        ! postkeep show 2> why
        echo passed
    "#;
    let program = Program::start(&[]);
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_postkeep")).parent().unwrap();
    let mut script = Command::new("sh");
    script.args(["-c", SCRIPT]).current_dir(&program.dir).env_clear();
    script.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    script.env("POSTKEEP_URL", format!("http://{}", program.http));
    script.env("POSTKEEP_SENDMAIL_SERVER", program.smtp.to_string());
    assert_eq!(output(&mut script), (Some(0), "passed\n".to_owned(), String::new()));
}
