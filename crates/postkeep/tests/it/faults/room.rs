//! Disks that are full (F05) or have no room for another file (F06).

use std::fs;
use std::process::Command;

use super::{Place, Sent, Told, can, check, send};
use crate::http::{delete, list};
use crate::program::{Program, output, postkeep, until};

/// A small file system of its own in a directory.
struct Small(Place);

impl Small {
    /// None where nobody may mount.
    fn mount(options: &str) -> Option<Self> {
        let place = Place::new();
        let path = place.path().to_str().unwrap();
        can("mount", &["-t", "tmpfs", "-o", options, "tmpfs", path]).then_some(Self(place))
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").args(["-l".as_ref(), self.0.path().as_os_str()]).output();
    }
}

fn fill(program: &Program, name: &str) -> Vec<Sent> {
    let mut all = Vec::new();
    for number in 0..500 {
        all.push(send(program.smtp, &format!("{name}{number}"), 400_000));
        match &all[number].told {
            Told::Kept => {}
            Told::Refused(reply) if reply.starts_with("452 4.3.1") => return all,
            other => panic!("{other:?}: {}", program.stderr()),
        }
    }
    panic!("it is never full");
}

/// Delete the first of what is there.
fn make_room(program: &Program, all: &mut Vec<Sent>, number: usize) {
    for sent in all.drain(..number) {
        for mailbox in &sent.mailboxes {
            let gone = delete(program.http, &format!("/api/v1/mailbox/{mailbox}"));
            assert!(gone.status < 300, "{gone:?}: {}", program.stderr());
        }
    }
}

#[test]
fn t085_f05_a_disk_that_fills_up_refuses_mail_and_takes_it_again() {
    // What is kept free has room for SQLite's log, which comes into the database when it is 16 MiB long, and later when
    // the search index reads at that moment.
    let Some(small) = Small::mount("size=144m") else { return };
    let program = small.0.serve(&["store.disk.free_min=64MiB"]);
    let mut all = fill(&program, "a");
    assert!(all.len() > 30, "{}", all.len());
    // At once: a writer that has time packs what is there, and finds room by itself.
    let more: Vec<Sent> = (0..3).map(|number| send(program.smtp, &format!("more{number}"), 400_000)).collect();
    assert!(more.iter().all(|sent| sent.told != Told::Kept), "{more:?}");
    all.extend(more);
    program.wait_for("new mail is refused until there is room");
    check(program.http, &all);
    // More than the log took meanwhile, and less than is given back to the disk: it is room in the database itself.
    make_room(&program, &mut all, 60);
    check(program.http, &all);
    let room = until("there is room again", || {
        Some(send(program.smtp, "again", 100_000)).filter(|sent| sent.told == Told::Kept)
    });
    all.push(room);
    check(program.http, &all);
    program.wait_for("there is room again");
    drop(program);
    check(small.0.serve(&["store.disk.free_min=64MiB"]).http, &all);
}

#[test]
fn f05_a_disk_without_a_free_byte_loses_nothing_and_recovers_when_there_are_some() {
    let Some(small) = Small::mount("size=24m") else { return };
    let program = small.0.serve(&["store.disk.free_min=0"]);
    let ballast = small.0.path().join("ballast");
    fs::write(&ballast, vec![7; 12 << 20]).unwrap();
    let mut all = fill(&program, "a");
    check(program.http, &all);
    let more: Vec<Sent> = (0..3).map(|number| send(program.smtp, &format!("more{number}"), 400_000)).collect();
    assert!(
        more.iter().all(|sent| matches!(&sent.told, Told::Refused(reply) if reply.starts_with("452 4.3.1"))),
        "{more:?}"
    );
    all.extend(more);
    fs::remove_file(&ballast).unwrap();
    all.push(send(program.smtp, "again", 100_000));
    assert_eq!(all[all.len() - 1].told, Told::Kept, "{}", program.stderr());
    make_room(&program, &mut all, 5);
    check(program.http, &all);
    drop(program);
    check(small.0.serve(&[]).http, &all);
}

#[test]
fn f06_without_room_for_another_file_it_says_so_and_starts_when_there_is() {
    let Some(small) = Small::mount("size=24m,nr_inodes=4") else { return };
    let path = format!("store.disk.path={}", small.0.path().join("store").display());
    let mut command = postkeep(&["serve", "--set", "store.engine=disk", "--set", &path]);
    command.args([
        "--set",
        "smtp.addr=127.0.0.1:0",
        "--set",
        "http.addr=127.0.0.1:0",
        "--set",
        "pop3.addr=127.0.0.1:0",
    ]);
    let (code, _, stderr) = output(&mut command);
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("cannot open") && stderr.contains("the room on the disk"), "{stderr}");
    drop(small);
    let Some(small) = Small::mount("size=24m,nr_inodes=6") else { return };
    let program = small.0.serve(&[]);
    let all: Vec<Sent> = (0..5).map(|number| send(program.smtp, &format!("{number}"), 10_000)).collect();
    assert!(all.iter().all(|sent| sent.told == Told::Kept));
    check(program.http, &all);
    assert_eq!(list(program.http, "left-0").len(), 1);
}
