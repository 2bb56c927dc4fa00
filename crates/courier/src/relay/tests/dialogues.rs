//! What is said to a server, and what becomes of a letter by its replies.

use super::super::smart_host::Login;
use super::*;

const RAW: &[u8] = b"Subject: a\r\n\r\n.hidden\r\n";
const ALL: [&str; 6] = ["SIZE 1000", "8BITMIME", "SMTPUTF8", "CHUNKING", "BINARYMIME", "AUTH LOGIN PLAIN"];

fn states(fates: &[Fate]) -> String {
    let state = |fate: &Fate| match fate {
        Fate::Sent(_) => 's',
        Fate::Later(_) => 'l',
        Fate::Never(_) => 'n',
    };
    fates.iter().map(state).collect()
}

#[tokio::test]
async fn a_letter_by_data_and_by_bdat() {
    for (offers, expected) in [
        (&[][..], "EHLO client.test|MAIL FROM:<a@x.test>|RCPT TO:<b@y.test>|DATA|QUIT"),
        (&["SIZE"], "EHLO client.test|MAIL FROM:<a@x.test> SIZE=47|RCPT TO:<b@y.test>|DATA|QUIT"),
        (&["chunking"], "EHLO client.test|MAIL FROM:<a@x.test>|RCPT TO:<b@y.test>|BDAT 47 LAST|QUIT"),
    ] {
        let letter = letter(RAW, &["b@y.test"]);
        let (fates, heard) =
            tell(Sink { offers: offers.to_vec(), ..Sink::default() }, &smart_host(Tls::Off), &letter).await;
        assert_eq!(fates, [Fate::Sent("250 2.0.0 taken".to_owned())]);
        assert_eq!((heard.lines.join("|").as_str(), &heard.faults[..]), (expected, &[][..]));
        assert_eq!(heard.messages, [letter.content.to_vec()]);
    }
}

#[tokio::test]
async fn each_recipient_has_a_fate_of_its_own() {
    let answers = vec![("RCPT TO:<later", "450 4.2.0 busy"), ("RCPT TO:<never", "550 5.1.1 nobody")];
    let to = ["b@y.test", "later@y.test", "never@y.test", "c@y.test"];
    let (fates, heard) = tell(Sink { answers, ..Sink::default() }, &smart_host(Tls::Off), &letter(RAW, &to)).await;
    assert_eq!((states(&fates).as_str(), heard.messages.len()), ("slns", 1));
    assert_eq!(fates[2], Fate::Never("550 5.1.1 nobody".to_owned()));

    let answers = vec![("RCPT", "550 5.1.1 nobody")];
    let (fates, heard) = tell(Sink { answers, ..Sink::default() }, &smart_host(Tls::Off), &letter(RAW, &to)).await;
    assert_eq!((states(&fates).as_str(), heard.messages.len()), ("nnnn", 0));
    assert!(!heard.lines.contains(&"DATA".to_owned()));
}

#[tokio::test]
async fn what_a_reply_means_for_the_letter() {
    for (answers, expected) in [
        (("", "554 no service"), "l"),
        (("", "421 busy"), "l"),
        (("", "+OK POP3"), "l"),
        (("EHLO", "550 who?"), "l"),
        (("MAIL", "451 later"), "l"),
        (("MAIL", "550 never"), "n"),
        (("DATA", "554 never"), "n"),
        (("DATA", "250 done"), "l"),
        (("RCPT", "!"), "l"),
    ] {
        let (fates, heard) = tell(
            Sink { answers: vec![answers], ..Sink::default() },
            &smart_host(Tls::Off),
            &letter(RAW, &["b@y.test"]),
        )
        .await;
        assert_eq!((states(&fates).as_str(), heard.messages.len()), (expected, 0), "{answers:?}");
    }
    for offers in [vec![], vec!["CHUNKING"]] {
        let sink = Sink { dies: true, offers, ..Sink::default() };
        let (fates, _) = tell(sink, &smart_host(Tls::Off), &letter(RAW, &["b@y.test"])).await;
        assert_eq!(states(&fates), "l");
    }
}

#[tokio::test]
async fn an_old_server_is_greeted_in_the_old_way() {
    let answers = vec![("EHLO", "502 what?")];
    let (fates, heard) =
        tell(Sink { answers, ..Sink::default() }, &smart_host(Tls::Off), &letter(RAW, &["b@y.test"])).await;
    assert_eq!((states(&fates).as_str(), heard.lines[1].as_str()), ("s", "HELO client.test"));
}

#[tokio::test]
async fn a_letter_is_not_changed_to_fit() {
    for (raw, to, needed) in [
        ("A: b\r\n\r\nü\r\n", "b@y.test", &["8BITMIME"][..]),
        ("A: b\r\n\r\nc\r\n", "bü@y.test", &["SMTPUTF8"]),
        ("A: b\r\n\r\nc\rd\r\n", "b@y.test", &["CHUNKING", "BINARYMIME"]),
    ] {
        let letter = letter(raw.as_bytes(), &[to]);
        let without = ALL.iter().copied().filter(|offer| !needed.contains(offer)).collect();
        let (fates, heard) = tell(Sink { offers: without, ..Sink::default() }, &smart_host(Tls::Off), &letter).await;
        assert!(matches!(&fates[..], [Fate::Never(why)] if why.contains(needed[0])), "{needed:?} {fates:?}");
        assert_eq!(heard.lines, ["EHLO client.test", "QUIT"]);
        let (fates, heard) =
            tell(Sink { offers: ALL.to_vec(), ..Sink::default() }, &smart_host(Tls::Off), &letter).await;
        assert_eq!((states(&fates).as_str(), &heard.messages[..]), ("s", &[letter.content.to_vec()][..]));
    }
    let large = letter(format!("A: b\r\n\r\n{}\r\n", "x".repeat(1000)).as_bytes(), &["b@y.test"]);
    let (fates, _) = tell(Sink { offers: ALL.to_vec(), ..Sink::default() }, &smart_host(Tls::Off), &large).await;
    assert_eq!(states(&fates), "n");
}

#[tokio::test]
async fn parameters_say_what_the_letter_is() {
    for (raw, to, expected) in [
        ("A: ü\r\n\r\n", "b@y.test", " SIZE=33 BODY=8BITMIME SMTPUTF8"),
        ("A: b\r\n\r\n", "bü@y.test", " SIZE=32 SMTPUTF8"),
        ("A: b\r\n\r\n\r", "b@y.test", " SIZE=33 BODY=BINARYMIME"),
    ] {
        let (_, heard) = tell(
            Sink { offers: ALL.to_vec(), ..Sink::default() },
            &smart_host(Tls::Off),
            &letter(raw.as_bytes(), &[to]),
        )
        .await;
        assert_eq!(heard.lines[1], format!("MAIL FROM:<a@x.test>{expected}"));
    }
}

#[tokio::test]
async fn a_login_by_what_is_offered() {
    let mut host = smart_host(Tls::Off);
    host.login = Some(Login { user: "u".to_owned(), password: "p".to_owned() });
    for (offer, expected, lines) in [
        ("AUTH LOGIN PLAIN", "s", "AUTH PLAIN AHUAcA=="),
        ("AUTH LOGIN", "s", "AUTH LOGIN|dQ==|cA=="),
        ("AUTH CRAM-MD5", "l", "QUIT"),
    ] {
        let sink = Sink { offers: vec![offer], ..Sink::default() };
        let (fates, heard) = tell(sink, &host, &letter(RAW, &["b@y.test"])).await;
        assert_eq!(states(&fates), expected);
        assert!(heard.lines[1..].join("|").starts_with(lines) || expected == "l", "{heard:?}");
    }
    let sink = Sink { offers: vec!["AUTH PLAIN"], answers: vec![("AUTH", "535 no")], ..Sink::default() };
    let (fates, heard) = tell(sink, &host, &letter(RAW, &["b@y.test"])).await;
    assert!(matches!(&fates[..], [Fate::Later(why)] if why.contains("535 no")) && heard.messages.is_empty());
    assert!(!format!("{host:?}").contains("\"p\""));
}

#[tokio::test]
async fn a_silent_server_is_not_waited_for() {
    let mut host = smart_host(Tls::Off);
    host.timeout = Duration::from_millis(100);
    let (ours, _theirs) = tokio::io::duplex(64);
    let link = Link::over(Box::new(ours), host.timeout, Instant::now() + host.attempt_max, true);
    let begun = Instant::now();
    let fates = super::super::dialogue::converse(&host, &letter(RAW, &["b@y.test"]), link).await;
    assert_eq!(states(&fates), "l");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

/// A server that never stops greeting is left within the bounds of a reply.
#[tokio::test]
async fn an_endless_reply_is_no_reply() {
    for endless in [&b"220-x\r\n"[..], b"xxxxxxxx"] {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let host = smart_host(Tls::Off);
        let chatter =
            tokio::spawn(
                async move { while tokio::io::AsyncWriteExt::write_all(&mut theirs, endless).await.is_ok() {} },
            );
        let link = Link::over(Box::new(ours), host.timeout, Instant::now() + host.attempt_max, true);
        let fates = super::super::dialogue::converse(&host, &letter(RAW, &["b@y.test"]), link).await;
        assert!(matches!(&fates[..], [Fate::Later(why)] if why.contains("no SMTP server")), "{fates:?}");
        chatter.await.unwrap();
    }
}
