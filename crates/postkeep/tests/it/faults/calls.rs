//! System calls that fail (F04, F06, F27) or take long (F07).

use std::thread;
use std::time::{Duration, Instant};

use super::{Place, Sent, Told, Tracer, can_trace, check, is_ready, send};
use crate::http::{delete, list};
use crate::program::{Program, until};

/// Send so many mails at once.
fn send_together(program: &Program, name: &str, number: usize) -> Vec<Sent> {
    let addr = program.smtp;
    let senders: Vec<_> = (0..number)
        .map(|number| {
            let name = format!("{name}{number}");
            thread::spawn(move || send(addr, &name, 3_000))
        })
        .collect();
    senders.into_iter().map(|sender| sender.join().unwrap()).collect()
}

#[test]
fn f04_a_sync_that_fails_is_never_taken_for_kept_and_never_for_refused() {
    if !can_trace() {
        return;
    }
    let place = Place::new();
    let mut program = place.serve(&[]);
    let mut all = send_together(&program, "before", 3);
    assert!(all.iter().all(|sent| sent.told == Told::Kept), "{all:?}");
    let tracer = Tracer::inject(&program, &["fdatasync:error=EIO".to_owned(), "fsync:error=EIO".to_owned()]);
    let during = send_together(&program, "during", 4);
    drop(tracer);
    assert!(during.iter().any(|sent| sent.told == Told::Nothing), "no true reply, so none: {during:?}");
    assert!(during.iter().all(|sent| sent.told != Told::Kept), "{during:?}");
    // The disk is well again, as far as it says; nobody can know what became of the pages before.
    let after = send_together(&program, "after", 2);
    assert!(
        after.iter().all(|sent| matches!(&sent.told, Told::Refused(reply) if reply.starts_with("451"))),
        "{after:?}"
    );
    check(program.http, &all);
    assert!(!is_ready(program.http), "it takes no mail");
    program.wait_for("the disk failed: no mail is taken");
    program.wait_for("then start postkeep again");
    program.signal(rustix::process::Signal::TERM);
    assert!(program.wait().is_some(), "it ends when asked to");
    drop(program);
    all.extend(during.into_iter().chain(after));
    let program = place.serve(&[]);
    check(program.http, &all);
    assert!(is_ready(program.http));
    assert_eq!(send(program.smtp, "again", 3_000).told, Told::Kept);
}

#[test]
fn f06_a_disk_that_cannot_be_written_for_a_while_is_no_reason_to_start_again() {
    if !can_trace() {
        return;
    }
    for error in ["EROFS", "EACCES", "ENOSPC", "EDQUOT"] {
        let place = Place::new();
        let program = place.serve(&[]);
        let mut all = send_together(&program, "before", 2);
        let tracer = Tracer::inject(&program, &[format!("pwrite64:error={error}")]);
        let during = send_together(&program, "during", 3);
        assert!(during.iter().all(|sent| sent.told != Told::Kept), "{error}: {during:?}");
        if error == "ENOSPC" {
            let full = |sent: &Sent| matches!(&sent.told, Told::Refused(reply) if reply.starts_with("452 4.3.1"));
            assert!(during.iter().all(full), "{during:?}");
        }
        check(program.http, &all);
        drop(tracer);
        let after = send(program.smtp, "after", 3_000);
        assert_eq!(after.told, Told::Kept, "{error}: {}", program.stderr());
        all.extend(during.into_iter().chain([after]));
        check(program.http, &all);
        drop(program);
        check(place.serve(&[]).http, &all);
    }
}

#[test]
fn f07_a_slow_disk_makes_replies_late_and_the_queue_no_longer() {
    if !can_trace() {
        return;
    }
    let place = Place::new();
    let program = place.serve(&["store.disk.queue_max=4", "store.disk.wait_max=1s"]);
    let mut all = vec![send(program.smtp, "before", 3_000)];
    let tracer = Tracer::inject(&program, &["fdatasync:delay_enter=2s".to_owned(), "fsync:delay_enter=2s".to_owned()]);
    let addr = program.smtp;
    let senders: Vec<_> = (0..30)
        .map(|number| {
            thread::spawn(move || {
                let begun = Instant::now();
                (send(addr, &format!("slow{number}"), 3_000), begun.elapsed())
            })
        })
        .collect();
    let mut reads = 0;
    while !senders.iter().all(thread::JoinHandle::is_finished) {
        let begun = Instant::now();
        assert_eq!(list(program.http, "left-before").len(), 1);
        assert!(begun.elapsed() < Duration::from_secs(1), "reading does not wait for the disk: {:?}", begun.elapsed());
        reads += 1;
        thread::sleep(Duration::from_millis(20));
    }
    let (mut kept, mut put_off) = (0, 0);
    for (sent, took) in senders.into_iter().map(|sender| sender.join().unwrap()) {
        match &sent.told {
            Told::Kept => {
                assert!(took > Duration::from_millis(1_900), "250 after {took:?}, before the disk had it");
                kept += 1;
            }
            Told::Refused(reply) => {
                assert!(reply.starts_with("451"), "{reply}");
                put_off += 1;
            }
            Told::Nothing => panic!("{sent:?}"),
        }
        all.push(sent);
    }
    assert!(kept >= 1 && put_off >= 10 && reads > 10, "{kept} kept, {put_off} put off, {reads} reads");
    drop(tracer);
    check(program.http, &all);
    let begun = Instant::now();
    all.push(send(program.smtp, "after", 3_000));
    assert!(begun.elapsed() < Duration::from_secs(2) && all[all.len() - 1].told == Told::Kept);
    drop(program);
    check(place.serve(&[]).http, &all);
}

/// F27: a short dialogue while the n-th call of a kind fails, then what is there; and again after a start.
fn fail_nth(call: &str, fault: &str, nth: &str) {
    let place = Place::new();
    let program = place.serve(&["mailbox.messages_max=2"]);
    let mut all = vec![send(program.smtp, "first", 2_000)];
    assert_eq!(all[0].told, Told::Kept);
    let tracer = Tracer::inject(&program, &[format!("{call}:{fault}:when={nth}")]);
    all.extend((0..2).map(|number| send(program.smtp, &format!("one{number}"), 20_000)));
    all.extend(send_together(&program, "many", 3));
    let gone = delete(program.http, "/api/v1/mailbox/left-first");
    let emptied = gone.status < 300;
    drop(tracer);
    all.push(send(program.smtp, "last", 2_000));
    let what = format!("{call}:{fault}:when={nth}");
    let first = all.remove(0);
    check(program.http, &all);
    let left = list(program.http, "left-first").len();
    assert!(if emptied { left == 0 } else { left <= 1 }, "{what}: {gone:?}, {left} left");
    drop(program);
    let program = place.serve(&[]);
    check(program.http, &all);
    let left = list(program.http, "left-first").len();
    assert!(if emptied { left == 0 } else { left <= 1 }, "{what}: {gone:?}, {left} left after a start");
    assert_eq!(list(program.http, &first.mailboxes[1]).len(), 1, "{what}");
    assert_eq!(send(program.smtp, "new", 2_000).told, Told::Kept, "{what}");
}

const CALLS: [&str; 4] = ["pwrite64", "fdatasync", "fsync", "ftruncate"];
const FAULTS: [&str; 4] = ["error=EIO", "error=ENOSPC", "error=EINTR", "retval=0"];

/// The faults that make sense: a sync or a cut has no length.
fn faults() -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = CALLS.into_iter().flat_map(|call| FAULTS.map(|fault| (call, fault)));
    all.filter(|(call, fault)| *call == "pwrite64" || *fault != "retval=0")
}

/// Once, or from then on; a call that is interrupted is made again, and would be for ever.
fn ends(fault: &str) -> &'static [&'static str] {
    if fault.ends_with("EINTR") { &[""] } else { &["", "+"] }
}

#[test]
fn f27_whichever_call_fails_what_was_said_holds() {
    if !can_trace() {
        return;
    }
    let mut chance = 1usize;
    for (call, fault) in faults().filter(|(call, _)| ["pwrite64", "fdatasync"].contains(call)) {
        for end in ends(fault) {
            chance = chance * 7 % 31;
            let nth = 1 + chance % if call == "pwrite64" { 24 } else { 5 };
            fail_nth(call, fault, &format!("{nth}{end}"));
        }
    }
}

/// `cargo test --release -p postkeep --test it f27_each -- --ignored --nocapture`: half an hour.
#[test]
#[ignore = "takes half an hour"]
fn f27_each_call_of_the_dialogue_fails_once() {
    if !can_trace() {
        return;
    }
    for (call, fault) in faults() {
        for nth in 1..=if call == "pwrite64" { 60 } else { 10 } {
            ends(fault).iter().for_each(|end| fail_nth(call, fault, &format!("{nth}{end}")));
        }
    }
}

/// The store is in order again as soon as calls succeed: nothing is left to be waited for.
#[test]
fn f27_interrupted_calls_are_made_again() {
    if !can_trace() {
        return;
    }
    let place = Place::new();
    let program = place.serve(&[]);
    let tracer = Tracer::inject(&program, &["pwrite64:error=EINTR:when=1+2".to_owned()]);
    let all = send_together(&program, "interrupted", 5);
    assert!(all.iter().all(|sent| sent.told == Told::Kept), "{all:?}");
    drop(tracer);
    until("all are there", || (check(program.http, &all) == 0).then_some(()));
}
