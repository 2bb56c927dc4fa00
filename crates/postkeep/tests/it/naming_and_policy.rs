//! Which mailbox an address leads to, which mail is taken, and where the server says it is reached.

use crate::http::{ask, get, subjects};
use crate::program::{Program, directory, postkeep};
use crate::smtp::{Smtp, deliver, message};

#[test]
fn an_address_leads_to_its_mailbox_by_the_naming() {
    for (naming, mailbox, others) in [
        ("local", "jane.doe", &["jane.doe%2Bother", "Jane.Doe@else.test", "%22jane.doe%22"][..]),
        ("full", "jane.doe@mail.test", &["Jane.Doe+x@MAIL.test"]),
        ("domain", "mail.test", &["anybody@Mail.Test"]),
    ] {
        let program = Program::start(&[&format!("mailbox.naming={naming}")]);
        deliver(program.smtp, "Jane.Doe+tag@Mail.Test", &message(naming));
        let list = get(program.http, &format!("/api/v1/mailbox/{mailbox}")).json();
        assert_eq!((list.as_array().unwrap().len(), &list[0]["mailbox"]), (1, &mailbox.into()), "{naming}");
        for other in others {
            assert_eq!(subjects(program.http, other), [naming], "{other}");
        }
    }
}

#[test]
fn the_policy_decides_by_domain() {
    let program = Program::start(&[
        "policy.accept=good.test,*.good.test",
        "policy.reject=bad.good.test",
        "policy.discard=quiet.good.test",
        "policy.reject_senders=spam.test,*.spam.test",
    ]);
    let mut smtp = Smtp::session(program.smtp);
    for (sender, code) in [("a@spam.test", "550"), ("a@x.SPAM.test", "550"), ("", "250"), ("a@ham.test", "250")] {
        smtp.must(code, &format!("MAIL FROM:<{sender}>"));
        smtp.must("250", "RSET");
    }
    smtp.must("250", "MAIL FROM:<a@ham.test>");
    for (recipient, code) in [
        ("a@good.test", "250"),
        ("b@sub.good.test", "250"),
        ("c@quiet.good.test", "250"),
        ("d@bad.good.test", "550"),
        ("e@other.test", "550"),
    ] {
        smtp.must(code, &format!("RCPT TO:<{recipient}>"));
    }
    smtp.must("354", "DATA");
    smtp.send(b"Subject: s\r\n\r\n.\r\n");
    assert!(smtp.reply().starts_with("250"));
    let held: Vec<usize> = ["a", "b", "c", "d", "e"].map(|mailbox| subjects(program.http, mailbox).len()).into();
    assert_eq!(held, [1, 1, 0, 0, 0]);
}

#[test]
fn a_public_url_with_a_prefix_is_served_and_written_into_links() {
    let program = Program::start(&["http.public_url=https://mail.example.com/post"]);
    let mail = b"Content-Type: image/png\r\nContent-Disposition: attachment; filename=a.png\r\n\r\nx\r\n";
    deliver(program.smtp, "p@x.test", mail);
    for path in ["/post/api/v1/mailbox/p/latest", "/api/v1/mailbox/p/latest"] {
        let answer = ask(program.http, "GET", path, "mail.example.com");
        assert_eq!(answer.status, 200, "{path}");
        let link = answer.json()["attachments"][0]["view-link"].as_str().unwrap().to_owned();
        let path = link.strip_prefix("https://mail.example.com").unwrap();
        assert!(path.starts_with("/post/mailbox/vattach/p/"), "{link}");
        assert_eq!(ask(program.http, "GET", path, "mail.example.com").status, 200, "{link}");
    }
    program.wait_for("https://mail.example.com/post\n");
}

#[test]
fn strange_hosts_are_turned_away_unless_allowed() {
    let program = Program::start(&["http.allowed_hosts=mine.example.com,*.more.example.com"]);
    for (host, status) in [
        ("mine.example.com", 200),
        ("a.more.example.com:8025", 200),
        ("localhost", 200),
        ("evil.example.com", 421),
        ("more.example.com", 421),
    ] {
        assert_eq!(ask(program.http, "GET", "/api/v1/mailbox/p", host).status, status, "{host}");
    }
}

#[test]
fn rules_of_the_file_name_the_mailbox() {
    let dir = directory();
    let path = dir.join("routes.toml");
    let rules = "[[mailbox.route]]\nlogin = \"team-*\"\nmailbox = \"{login}\"\n\
                 [[mailbox.route]]\nheader = { name = \"X-Run\" }\nmailbox = \"run-{header}\"\n\
                 [[mailbox.route]]\npeer = \"127.0.0.0/8\"\nrecipient = \"*@local.test\"\nmailbox = \"near-{local}\"\n";
    std::fs::write(&path, rules).unwrap();
    let program = Program::run(postkeep(&["serve", "--config", path.to_str().unwrap()]), &[]);
    let send = |login: bool, to: &str, mail: &str| {
        let mut smtp = Smtp::session(program.smtp);
        if login {
            // NUL team-a NUL secret
            smtp.must("235", "AUTH PLAIN AHRlYW0tYQBzZWNyZXQ=");
        }
        smtp.must("250", "MAIL FROM:<a@x.test>");
        smtp.must("250", &format!("RCPT TO:<{to}>"));
        smtp.must("250", "RCPT TO:<second@x.test>");
        smtp.must("354", "DATA");
        smtp.send(mail.as_bytes());
        assert!(smtp.reply().starts_with("250"));
    };
    send(true, "jane@shop.test", "Subject: by login\r\nX-Run: 7\r\n\r\n.\r\n");
    send(false, "jane@shop.test", "Subject: by header\r\nX-Run: 7\r\n\r\n.\r\n");
    send(false, "jane@local.test", "Subject: by peer\r\n\r\n.\r\n");
    assert_eq!(subjects(program.http, "team-a"), ["by login"], "one message, whoever it is for");
    assert_eq!(subjects(program.http, "run-7"), ["by header"]);
    assert_eq!(subjects(program.http, "near-jane"), ["by peer"]);
    assert_eq!(subjects(program.http, "second"), ["by peer"], "where no rule fits the address decides");
    assert!(subjects(program.http, "jane").is_empty());
    drop(program);
    let _ = std::fs::remove_dir_all(dir);
}
