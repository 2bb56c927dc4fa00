//! What the owner of a store does with it: check, backup, export, import; beside a server and without one.

use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::SystemTime;

use crate::access::{start, tokens};
use crate::archive::{entries, tar};
use crate::http::{get, list, subjects};
use crate::program::{PATIENCE, Program, directory, output, postkeep, until};
use crate::smtp::{Smtp, deliver, message};

/// A server over a store in the directory `data` of its own.
fn disk() -> Program {
    Program::start(&["store.engine=disk", "store.disk.path=data", "store.disk.free_min=0"])
}

/// Run a verb there: exit code, stdout, stderr.
fn store(dir: &Path, args: &[&str]) -> (Option<i32>, String, String) {
    output(postkeep(&["store"]).args(args).current_dir(dir))
}

/// Run a verb that must end well; what it said.
fn well(dir: &Path, args: &[&str]) -> String {
    let (code, stdout, stderr) = store(dir, args);
    assert_eq!((code, stderr.as_str()), (Some(0), ""), "{args:?}: {stdout}");
    stdout
}

/// Any bytes into a mailbox, by the way that takes any.
fn post(addr: SocketAddr, query: &str, raw: &[u8]) -> u16 {
    let mut stream = TcpStream::connect(addr).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /api/v2/import?{query} HTTP/1.1\r\nHost: {addr}\r\nConnection: close\r\nContent-Type: message/rfc822\r\n\
         Content-Length: {}\r\n\r\n",
        raw.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(raw).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer[9..12].parse().unwrap()
}

fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

/// Seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs()
}

/// Stop a server and wait until it has put everything in order; its directory stays.
#[cfg(unix)]
fn stopped(mut program: Program) -> std::path::PathBuf {
    program.signal(rustix::process::Signal::TERM);
    assert_eq!(program.wait(), Some(0));
    let kept = directory();
    fs::remove_dir(&kept).unwrap();
    fs::rename(&program.dir, &kept).unwrap();
    kept
}

/// Messages that are hard to hold: bytes that formats use as signs, none, all of them, no line end.
fn hostile() -> Vec<Vec<u8>> {
    let from = "From ann@x.test Sun Nov 15 09:33:45 2026";
    let mut all: Vec<Vec<u8>> = ["", "\n", "\r", "\r\n", "a", "a\n\n", "a\r", "\n\nFrom ", "From \n>From \n>>From x"]
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .collect();
    all.push(format!("{from}\n\n{from}\r\n>{from}\n").into_bytes());
    all.push(b"\0\0\0".to_vec());
    all.push((0..=255).cycle().take(70_000).collect());
    all.push(
        b"Subject: packed\r\n\r\n".iter().copied().chain(b"words ".iter().copied().cycle().take(50_000)).collect(),
    );
    all
}

#[test]
fn every_format_goes_there_and_back_to_the_byte() {
    let program = disk();
    let names = ["alice", "\"john doe\"", "\"../../etc/passwd\"", "con", "grüße", "cur", "\"a@b\""];
    let base = now() - 3600;
    for (number, raw) in hostile().iter().enumerate() {
        for (place, name) in names.iter().enumerate() {
            let at = time(base + (number * 10 + place) as u64, number as u32 * 7 + 1);
            let query = format!(
                "mailbox={}&receivedAt={at}&mailFrom={}&rcptTo={}&rcptTo=other@x.test",
                encoded(name),
                if number % 2 == 0 { "" } else { "%22ann%20b%22@s.test" },
                encoded(&format!("{name}@x.test")),
            );
            assert_eq!(post(program.http, &query, raw), 201, "{query}");
        }
    }
    let dir = &program.dir;
    let export = |format: &str, to: &str, path: &str| {
        well(dir, &["export", "--all", "--format", format, "--to", to, "--path", path])
    };
    let told = export("eml", "all.tar", "data");
    assert!(told.starts_with("Exported 91 messages from 7 mailboxes ("), "{told}");
    let whole = entries(&fs::read(dir.join("all.tar")).unwrap());
    assert_eq!(whole.len(), 91);
    assert_eq!(whole.iter().map(|entry| &entry.content).collect::<BTreeSet<_>>(), hostile().iter().collect());
    for format in ["mbox", "maildir", "eml"] {
        let (out, new, again) = (format!("out-{format}"), format!("new-{format}"), format!("again-{format}.tar"));
        export(format, &out, "data");
        well(dir, &["import", &out, "--format", format, "--path", &new]);
        assert!(well(dir, &["check", "--path", &new]).starts_with("Sound: 91 messages in 7 mailboxes"));
        export("eml", &again, &new);
        let back = entries(&fs::read(dir.join(&again)).unwrap());
        // What the format has a place for comes back: the receipt always, the sender in mbox, all of it in eml.
        for (entry, original) in back.iter().zip(&whole) {
            assert_eq!((entry.folder(), &entry.content), (original.folder(), &original.content), "{format}");
            let kept = match format {
                "eml" => original.records.len(),
                "mbox" => 2,
                _ => 1,
            };
            assert_eq!(entry.records[..kept], original.records[..kept], "{format}");
        }
        assert_eq!(back.len(), whole.len(), "{format}");
    }
    let to_stdout = ["export", "--mailbox", "con", "--format", "eml", "--to", "-", "--path", "data"];
    let piped = postkeep(&["store"]).args(to_stdout).current_dir(dir).output().unwrap();
    assert!(String::from_utf8(piped.stderr).unwrap().starts_with("Exported 13 messages from 1 mailbox"));
    let piped = entries(&piped.stdout);
    let con: Vec<_> = whole.iter().filter(|entry| entry.folder() == "%63on").collect();
    assert_eq!(
        piped.iter().map(|entry| entry.nameless()).collect::<Vec<_>>(),
        con.iter().map(|entry| entry.nameless()).collect::<Vec<_>>()
    );
}

/// `2026-11-15T07:10:58.123456Z`, from the calendar of days since 1970.
fn time(second: u64, micros: u32) -> String {
    let (days, rest) = (second / 86_400, second % 86_400);
    // Howard Hinnant's days_from_civil, turned round.
    let z = days + 719_468;
    let (era, doe) = (z / 146_097, z % 146_097);
    let yoe = (doe - doe / 1460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let (day, month) = (doy - (153 * mp + 2) / 5 + 1, if mp < 10 { mp + 3 } else { mp - 9 });
    let year = yoe + era * 400 + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{micros:06}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

/// Names that have led others astray.
fn hostile_names() -> Vec<String> {
    let steps = [
        "..", ".", "../..", "/", "/etc", "\\..\\..", "C:\\", "~", "$HOME", "%2e%2e", "%00", "a\0b", "-rf", "|x", "CON",
        "nul.txt",
    ];
    let tails = [
        "",
        "/",
        "/x",
        "/../x",
        "/planted",
        "\\x",
        "/%2e%2e/x",
        " ",
        "\n",
        ";touch made",
        "/new/x",
        "/cur",
        "\u{202e}x",
    ];
    let mut names: Vec<String> =
        steps.iter().flat_map(|step| tails.iter().map(move |tail| format!("{step}{tail}"))).collect();
    names.push("x".repeat(300));
    names.push("../".repeat(400));
    assert!(names.len() >= 200);
    names
}

/// Every file and link below a directory, with its content.
fn tree(dir: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    let mut waiting = vec![dir.to_owned()];
    while let Some(path) = waiting.pop() {
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        if kind.is_dir() {
            waiting.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        let content = if kind.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.push((path.display().to_string(), content));
    }
    found.sort();
    found
}

#[test]
#[cfg(unix)]
fn t080_no_name_leads_out_of_where_it_belongs() {
    let program = disk();
    let names = hostile_names();
    let mut taken = 0;
    for name in &names {
        // As mailboxes they come quoted, as no other spelling could hold them.
        let quoted: String =
            name.chars().flat_map(|c| if matches!(c, '"' | '\\') { vec!['\\', c] } else { vec![c] }).collect();
        let status = post(program.http, &format!("mailbox={}", encoded(&format!("\"{quoted}\""))), b"Subject: x\n\n");
        assert!(matches!(status, 201 | 400), "{name:?}: {status}");
        taken += usize::from(status == 201);
    }
    assert!(taken > 100, "{taken}");
    let root = directory();
    let outside = root.join("outside");
    fs::create_dir_all(outside.join("deep/to")).unwrap();
    fs::write(outside.join("planted"), "planted").unwrap();
    let data = program.dir.join("data");
    let data = data.to_str().unwrap();
    let within = outside.join("deep");
    for (format, to) in [("mbox", "to"), ("maildir", "made"), ("eml", "made.tar")] {
        let mut before = tree(&outside);
        well(&within, &["export", "--all", "--format", format, "--to", to, "--path", data]);
        let inside = within.join(to);
        let mut after = tree(&outside);
        let is_inside = |path: &str| Path::new(path).starts_with(&inside);
        before.retain(|(path, _)| !is_inside(path));
        after.retain(|(path, _)| !is_inside(path));
        assert_eq!(before, after, "{format}");
        let boxes = if format == "eml" { 0 } else { fs::read_dir(&inside).unwrap().count() };
        assert!(format == "eml" || boxes > 50, "{boxes}");
        well(&within, &["import", to, "--format", format, "--path", &format!("back-{format}")]);
        fs::remove_dir_all(within.join(format!("back-{format}"))).unwrap();
        if inside.is_dir() {
            fs::remove_dir_all(&inside).unwrap()
        } else {
            fs::remove_file(&inside).unwrap()
        };
        fs::create_dir_all(within.join("to")).unwrap();
    }
    // As names in an archive, with and without a mailbox of one's own.
    let files: Vec<String> = names.iter().map(|name| format!("{}/1.eml", name.replace('\0', "0"))).collect();
    let files: Vec<(&str, u8, &[u8])> =
        files.iter().map(|path| (path.as_str(), b'0', &b"Subject: x\n\n"[..])).collect();
    fs::write(within.join("evil.tar"), tar(&files, now())).unwrap();
    let before = tree(&outside);
    for args in [&["--mailbox", "box"][..], &[]] {
        let (code, stdout, _) =
            store(&within, &[&["import", "evil.tar", "--format", "eml", "--path", "../../new"], args].concat());
        assert!(stdout.starts_with("Imported "), "{stdout}");
        assert_eq!(code, Some(if args.is_empty() { 1 } else { 0 }), "{stdout}");
    }
    assert_eq!(before, tree(&outside));
    fs::remove_dir_all(root).unwrap();
}

#[test]
#[cfg(unix)]
fn t083_links_are_not_followed_by_export_and_import() {
    use std::os::unix::fs::symlink;
    let program = disk();
    deliver(program.smtp, "alice@x.test", &message("x"));
    let dir = &program.dir;
    fs::create_dir(dir.join("outside")).unwrap();
    fs::write(dir.join("outside/secret"), "Subject: secret\n\n").unwrap();
    symlink("outside", dir.join("link")).unwrap();
    symlink("outside/made", dir.join("link.tar")).unwrap();
    fs::create_dir(dir.join("full")).unwrap();
    symlink("../outside", dir.join("full/alice")).unwrap();
    for (format, to) in
        [("mbox", "link"), ("maildir", "link"), ("eml", "link.tar"), ("maildir", "full"), ("mbox", "full")]
    {
        let (code, _, stderr) = store(dir, &["export", "--all", "--format", format, "--to", to, "--path", "data"]);
        assert_eq!(code, Some(1), "{format} {to}");
        assert!(stderr.starts_with(&format!("postkeep: cannot export to {to}: ")), "{stderr}");
    }
    let (code, _, stderr) = store(dir, &["backup", "link", "--path", "data"]);
    assert_eq!((code, stderr.contains("not an empty directory")), (Some(1), true), "{stderr}");
    let (code, _, stderr) = store(dir, &["check", "--path", "link"]);
    assert_eq!((code, stderr.contains("symbolic link")), (Some(2), true), "{stderr}");
    assert_eq!(fs::read_dir(dir.join("outside")).unwrap().count(), 1);
    // A link among messages is named and passed over.
    for half in ["cur", "new", "tmp"] {
        fs::create_dir_all(dir.join("Maildir").join(half)).unwrap();
    }
    symlink("../../outside/secret", dir.join("Maildir/new/1.M1P1.x")).unwrap();
    fs::write(dir.join("Maildir/new/2"), "Subject: good\n\n").unwrap();
    let url = format!("http://{}", program.http);
    let (code, stdout, stderr) =
        store(dir, &["import", "Maildir", "--format", "maildir", "--mailbox", "bob", "--server", &url]);
    assert_eq!(code, Some(1));
    assert!(stdout.starts_with("Imported 1 message into 1 mailbox"), "{stdout}");
    assert!(stderr.contains("Maildir/new/1.M1P1.x: passed over; it is a link"), "{stderr}");
    assert_eq!(subjects(program.http, "bob"), ["good"]);
}

/// Change a bit wherever these bytes stand in a file: a page may hold old ones beside those that count.
fn flip(path: &Path, bytes: &[u8]) -> bool {
    let mut file = fs::read(path).unwrap();
    let places: Vec<usize> = (0..file.len()).filter(|at| file[*at..].starts_with(bytes)).collect();
    places.iter().for_each(|at| file[*at] ^= 1);
    fs::write(path, file).unwrap();
    !places.is_empty()
}

#[test]
#[cfg(unix)]
fn a_check_names_what_is_damaged_and_an_export_saves_the_rest() {
    let program = disk();
    for number in 0..20 {
        deliver(program.smtp, "alice@x.test", &message(&format!("letter {number}")));
        deliver(program.smtp, "bob@x.test", &format!("Subject: plain\r\n\r\nbody-of-{number}-here\r\n").into_bytes());
    }
    let ids: Vec<String> =
        list(program.http, "bob").iter().map(|message| message["id"].as_str().unwrap().to_owned()).collect();
    let dir = stopped(program);
    let database = dir.join("data/postkeep.db");
    assert!(well(&dir, &["check", "--path", "data"]).starts_with("Sound: 40 messages in 2 mailboxes, 40 bodies of "));
    // One body, and one subject where the list has it: there it stands behind the address.
    assert!(flip(&database, b"body-of-7-here"));
    assert!(flip(&database, b"ann@sender.testletter 3"));
    let (code, stdout, stderr) = store(&dir, &["check", "--set", "store.engine=disk", "--set", "store.disk.path=data"]);
    assert_eq!((code, stderr.as_str()), (Some(1), ""), "{stdout}");
    let lines: Vec<&str> = stdout.lines().collect();
    assert!(
        lines[..2]
            .iter()
            .any(|line| line.starts_with(&format!("bob/{}: has a body that is not what was written", ids[7]))),
        "{stdout}"
    );
    assert!(
        lines[..2]
            .iter()
            .any(|line| line.starts_with("alice/") && line.contains("has an entry that is not what was written")),
        "{stdout}"
    );
    assert!(lines[3].starts_with("2 faults in 40 messages in 2 mailboxes"), "{stdout}");
    let (code, stdout, stderr) =
        store(&dir, &["export", "--all", "--format", "mbox", "--to", "saved", "--path", "data"]);
    assert_eq!(code, Some(1));
    assert!(stdout.starts_with("Exported 38 messages from 2 mailboxes"), "{stdout}");
    assert!(stdout.ends_with("Left out as damaged, and named above: 2 messages.\n"), "{stdout}");
    assert!(stderr.contains(&format!("bob/{}: is damaged and left out", ids[7])), "{stderr}");
    assert_eq!(stderr.lines().count(), 2, "{stderr}");
    well(&dir, &["import", "saved", "--format", "mbox", "--path", "new"]);
    assert!(well(&dir, &["check", "--path", "new"]).starts_with("Sound: 38 messages"));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_backup_has_everything_that_was_acknowledged_before_it_began() {
    let program = disk();
    let (acknowledged, enough) = (AtomicUsize::new(0), AtomicBool::new(false));
    let (before, tries) = thread::scope(|scope| {
        for sender in 0..4 {
            let (acknowledged, enough, addr) = (&acknowledged, &enough, program.smtp);
            scope.spawn(move || {
                let mut smtp = Smtp::session(addr);
                for number in 0.. {
                    if enough.load(Ordering::SeqCst) {
                        break;
                    }
                    let to = [format!("s{sender}@x.test"), format!("all{}@x.test", number % 7)];
                    let reply = smtp.mail("a@x.test", &[&to[0], &to[1]], &message(&format!("{sender}-{number}")));
                    assert!(reply.starts_with("250"), "{reply}");
                    acknowledged.fetch_add(1, Ordering::SeqCst);
                }
            });
        }
        let mut before = Vec::new();
        for (number, wanted) in [50, 200, 400].into_iter().enumerate() {
            until("mail", || (acknowledged.load(Ordering::SeqCst) >= wanted).then_some(()));
            before.push(acknowledged.load(Ordering::SeqCst));
            let told = well(&program.dir, &["backup", &format!("backup{number}"), "--path", "data"]);
            assert!(told.starts_with("Backed up "), "{told}");
        }
        enough.store(true, Ordering::SeqCst);
        (before, 3)
    });
    for (number, before) in before.into_iter().enumerate().take(tries) {
        let backup = format!("backup{number}");
        let sound = well(&program.dir, &["check", "--path", &backup]);
        let messages: usize = sound["Sound: ".len()..].split(' ').next().unwrap().replace(',', "").parse().unwrap();
        assert!(messages >= 2 * before && messages.is_multiple_of(2), "{before} before: {sound}");
        let path = program.dir.join(&backup);
        let restored = Program::start(&[
            "store.engine=disk",
            &format!("store.disk.path={}", path.display()),
            "store.disk.free_min=0",
        ]);
        let held: usize = (0..4).map(|sender| list(restored.http, &format!("s{sender}")).len()).sum();
        assert_eq!(held, messages / 2);
        deliver(restored.smtp, "new@x.test", &message("new"));
    }
}

#[test]
fn an_import_needs_the_store_for_itself_or_a_server() {
    let program = disk();
    let dir = &program.dir;
    let at = now() - 100;
    fs::write(dir.join("one.tar"), tar(&[("alice/1.eml", b'0', b"Subject: one\n\nno end")], at)).unwrap();
    let (code, stdout, stderr) = store(dir, &["import", "one.tar", "--format", "eml", "--path", "data"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("is in use by a server") && stderr.contains("--server http://127.0.0.1:8025"), "{stderr}");
    assert!(stderr.contains(&format!("process {}", program.pid())), "{stderr}");
    // Through the server it works, on every engine.
    for program in [&program, &Program::start(&[])] {
        let url = format!("http://{}", program.http);
        let told = well(dir, &["import", "one.tar", "--format", "eml", "--server", &url]);
        assert_eq!(told, "Imported 1 message into 1 mailbox (20 bytes).\n");
        let listed = list(program.http, "alice");
        assert_eq!(listed[0]["date"], time(at, 0).replace('Z', "+00:00"));
        let source = get(program.http, "/api/v1/mailbox/alice/latest/source");
        assert_eq!(source.body, b"Subject: one\n\nno end", "nothing is written above it");
    }
}

/// As every verb that asks a server, an import shows a token, from a file or from the environment.
#[test]
fn an_import_shows_its_token() {
    let dir = directory();
    fs::write(dir.join("one.tar"), tar(&[("alice/1.eml", b'0', b"Subject: one\n\n")], now())).unwrap();
    let file = |name: &str, token: &str| fs::write(dir.join(name), format!("{token}\n")).unwrap();
    let (config, tokens) = tokens(&["admin:*"]);
    let program = start(&config, &["access.mode=token"]);
    let url = format!("http://{}", program.http);
    let import = ["import", "one.tar", "--format", "eml", "--server", &url];

    let (code, stdout, stderr) = store(&dir, &import);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(stderr.contains("401") && stderr.contains("--token-file"), "{stderr}");
    file("good", &tokens[0]);
    file("broken", "two\nlines");
    let told = well(&dir, &[&import[..], &["--token-file", "good"]].concat());
    assert_eq!(told, "Imported 1 message into 1 mailbox (14 bytes).\n");
    let (code, _, stderr) =
        output(postkeep(&["store"]).args(import).env("POSTKEEP_TOKEN", &tokens[0]).current_dir(&dir));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let (code, _, stderr) = store(&dir, &[&import[..], &["--token-file", "broken"]].concat());
    assert_eq!(code, Some(2), "{stderr}");
    assert!(!stderr.contains("lines"), "{stderr}");
    let alone = ["import", "one.tar", "--format", "eml", "--path", "data", "--token-file", "good"];
    assert_eq!(store(&dir, &alone).0, Some(2), "a token is for a server");
}

#[test]
fn what_retention_and_cap_take_is_counted() {
    let dir = directory();
    let old = now() - 8 * 24 * 3600;
    let files: Vec<(&str, u8, &[u8])> =
        vec![("a/1.eml", b'0', b"Subject: 1\n\n"), ("a/2.eml", b'0', b"Subject: 2\n\n")];
    fs::write(dir.join("old.tar"), tar(&files, old)).unwrap();
    let files: Vec<(String, Vec<u8>)> =
        (0..7).map(|n| (format!("a/{n}.eml"), format!("Subject: {n}\n\n").into_bytes())).collect();
    let files: Vec<(&str, u8, &[u8])> = files.iter().map(|(path, raw)| (path.as_str(), b'0', &raw[..])).collect();
    fs::write(dir.join("seven.tar"), tar(&files, now() - 5)).unwrap();
    let told = well(&dir, &["import", "old.tar", "--format", "eml", "--path", "data"]);
    assert_eq!(
        told,
        "Imported 0 messages into 0 mailboxes (0 bytes).\nNot taken as older than mailbox.retention, 7d: 2 messages. Raise \
         it, for the server too, to take them.\n"
    );
    let told = well(&dir, &["import", "old.tar", "--format", "eml", "--path", "data", "--set", "mailbox.retention=0"]);
    assert_eq!(told, "Imported 2 messages into 1 mailbox (24 bytes).\n");
    let told =
        well(&dir, &["import", "seven.tar", "--format", "eml", "--path", "capped", "--set", "mailbox.messages_max=5"]);
    assert!(told.ends_with("Beyond mailbox.messages_max, 5 in a mailbox: 2 messages. The server lets the oldest go; raise it to keep them.\n"), "{told}");
    let told =
        well(&dir, &["import", "seven.tar", "--format", "eml", "--path", "capped", "--set", "mailbox.messages_max=5"]);
    assert!(told.contains("5 in a mailbox: 9 messages."), "{told}");
    well(&dir, &["export", "--all", "--format", "eml", "--to", "kept.tar", "--path", "capped"]);
    let kept = entries(&fs::read(dir.join("kept.tar")).unwrap()).into_iter().map(|entry| entry.content);
    let seven = (0..7).map(|n| format!("Subject: {n}\n\n").into_bytes());
    assert_eq!(kept.collect::<Vec<_>>(), seven.clone().chain(seven).collect::<Vec<_>>(), "all, in their order");
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn an_import_takes_nothing_away_whatever_its_configuration() {
    let dir = directory();
    let old: Vec<(&str, u8, &[u8])> = vec![("a/1.eml", b'0', b"Subject: 1\n\n"); 30];
    fs::write(dir.join("old.tar"), tar(&old, now() - 60 * 24 * 3600)).unwrap();
    fs::write(dir.join("one.tar"), tar(&[("a/2.eml", b'0', b"Subject: 2\n\n")], now())).unwrap();
    well(&dir, &["import", "old.tar", "--format", "eml", "--path", "data", "--set", "mailbox.retention=0"]);
    let strict = ["--set", "mailbox.retention=1h", "--set", "mailbox.messages_max=1"];
    well(&dir, &[&["import", "one.tar", "--format", "eml", "--path", "data"], &strict[..]].concat());
    assert!(well(&dir, &["check", "--path", "data"]).starts_with("Sound: 31 messages in 1 mailbox"));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn an_import_that_breaks_off_says_how_far_it_came() {
    let dir = directory();
    let whole = tar(&[("a/1.eml", b'0', b"Subject: 1\n\n"), ("a/2.eml", b'0', b"Subject: 2\n\n")], now());
    fs::write(dir.join("cut.tar"), &whole[..1100]).unwrap();
    let (code, stdout, stderr) = store(&dir, &["import", "cut.tar", "--format", "eml", "--path", "data"]);
    assert_eq!((code, stdout.as_str()), (Some(1), "Imported 1 message into 1 mailbox (12 bytes).\n"));
    assert!(
        stderr.contains("the import ended before its end") && stderr.contains("cut.tar: it ends in the middle"),
        "{stderr}"
    );
    let (code, stdout, stderr) = store(&dir, &["import", "cut.tar", "--format", "mbox", "--path", "data"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""));
    assert!(
        stderr.starts_with("postkeep: nothing was imported: cut.tar: it does not begin with a From line"),
        "{stderr}"
    );
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn mistakes_end_with_2_and_say_what_to_do() {
    let dir = directory();
    fs::write(dir.join("a.mbox"), "").unwrap();
    for (args, told) in [
        (
            &["check"][..],
            "give --config or --set store.engine=disk as to serve, or name the store's directory with --path",
        ),
        (&["check", "--path", "nowhere"], "there is no store in nowhere"),
        (&["backup", "to", "--path", "nowhere"], "there is no store in nowhere"),
        (&["export", "--all", "--format", "mbox", "--to", "to", "--path", "nowhere"], "there is no store in nowhere"),
        (&["export", "--format", "mbox", "--to", "to"], "<--mailbox <NAME>|--all>"),
        (&["export", "--all", "--mailbox", "a", "--format", "mbox", "--to", "to"], "cannot be used with"),
        (&["export", "--all", "--format", "pst", "--to", "to"], "[possible values: mbox, maildir, eml]"),
        (&["import", "a.mbox", "--format", "mbox"], "with --path"),
        (&["import", "a.mbox", "--format", "maildir", "--path", "data"], "it is no directory, as a Maildir is"),
        (&["import", ".", "--format", "eml", "--path", "data"], "reads a tar"),
        (&["import", "a.mbox", "--format", "mbox", "--server", "https://127.0.0.1"], "https is not spoken here"),
        (&["import", "a.mbox", "--format", "mbox", "--server", "localhost"], "no URL of a server"),
        (&["import", "a.mbox", "--format", "mbox", "--server", "http://a", "--path", "b"], "cannot be used with"),
        (&["check", "--set", "store.engine=dusk"], "store.engine"),
    ] {
        let (code, stdout, stderr) = store(&dir, args);
        assert_eq!((code, stdout.as_str()), (Some(2), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(told), "{args:?}: {stderr}");
    }
    let server = ["import", "a.mbox", "--format", "mbox", "--server", "http://127.0.0.1:1"];
    assert_eq!(store(&dir, &server).0, Some(0), "nothing was in it, so nobody was asked");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1, "nothing was made");
    fs::remove_dir_all(dir).unwrap();
}
