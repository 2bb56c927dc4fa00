//! Each kind of violation is found, and nothing that a sound server may do is called one.

mod across;
mod simulation;

use std::time::Duration;

use super::super::history::{Cut, OPEN};
use super::*;

/// A history, written one thing after the other.
struct Story {
    tick: Tick,
    history: History,
    ledger: Ledger,
    /// When everything that is sent is sent.
    at: Instant,
}

const A: &str = "a";
const B: &str = "b";

fn canary(number: u16) -> Canary {
    Canary { round: 1, client: 0, turn: number }
}

/// The row of a message under the id that its number gives it.
fn row(number: u16) -> Row {
    row_as(number, &format!("id-{number:03}"))
}

fn row_as(number: u16, id: &str) -> Row {
    Row { id: id.into(), canary: Ok(canary(number)), size: 1000 + u64::from(number) }
}

impl Default for Story {
    fn default() -> Self {
        let (tick, history, ledger) = Default::default();
        Self { tick, history, ledger, at: Instant::now() }
    }
}

impl Story {
    fn span(&mut self) -> Span {
        self.tick += 2;
        Span { begin: self.tick - 1, end: self.tick }
    }

    fn send(&mut self, number: u16, mailboxes: &[&str], outcome: Outcome) -> &mut Self {
        let mut span = self.span();
        if outcome == Outcome::Unknown {
            span.end = OPEN;
        }
        let mailboxes = mailboxes.iter().map(ToString::to_string).collect();
        self.history.sends.push(Send {
            canary: canary(number),
            mailboxes,
            at: self.at,
            span,
            outcome,
            door: 0,
            waited: None,
        });
        self
    }

    fn sent(&mut self, number: u16, mailboxes: &[&str]) -> &mut Self {
        self.send(number, mailboxes, Outcome::Done)
    }

    fn remove(&mut self, mailbox: &str, target: Target, outcome: Outcome) -> &mut Self {
        let mut span = self.span();
        if outcome == Outcome::Unknown {
            span.end = OPEN;
        }
        self.history.removals.push(Removal { mailbox: mailbox.into(), target, span, outcome, door: 0 });
        self
    }

    fn delete(&mut self, mailbox: &str, number: u16, outcome: Outcome) -> &mut Self {
        self.remove(mailbox, Target::Message(format!("id-{number:03}")), outcome)
    }

    fn look(&mut self, mailbox: &str, rows: Vec<Row>) -> Look {
        let span = self.span();
        Look { mailbox: mailbox.into(), scope: Scope::Mailbox, span, door: 0, rows, print: None }
    }

    fn list(&mut self, mailbox: &str, numbers: &[u16]) -> &mut Self {
        let look = self.look(mailbox, numbers.iter().map(|number| row(*number)).collect());
        self.history.looks.push(look);
        self
    }

    fn died(&mut self) -> &mut Self {
        self.tick += 1;
        let died = self.tick;
        self.history.close(died);
        self
    }

    /// What is listed after the restart.
    fn then(&mut self, mailbox: &str, numbers: &[u16]) -> &mut Self {
        self.then_rows(mailbox, numbers.iter().map(|number| row(*number)).collect())
    }

    fn then_rows(&mut self, mailbox: &str, rows: Vec<Row>) -> &mut Self {
        let look = self.look(mailbox, rows);
        self.history.after.push(look);
        self
    }

    fn then_source(&mut self, mailbox: &str, number: u16, print: Option<Print>) -> &mut Self {
        let (span, row) = (self.span(), row(number));
        let scope = Scope::Message(row.id.clone());
        let rows = print.iter().map(|_| row.clone()).collect();
        self.history.after.push(Look { mailbox: mailbox.into(), scope, span, door: 0, rows, print });
        self
    }

    fn judge(&mut self) -> Vec<Kind> {
        let history = std::mem::take(&mut self.history);
        self.ledger.judge(&history).into_iter().map(|violation| violation.kind).collect()
    }
}

fn check(expected: &[Kind], tell: impl FnOnce(&mut Story) -> &mut Story) {
    let mut story = Story::default();
    let found = tell(&mut story).judge();
    assert_eq!(found, expected);
}

#[test]
fn what_was_acknowledged_is_there() {
    check(&[], |story| story.sent(1, &[A, B]).died().then(A, &[1]).then(B, &[1]));
    check(&[Kind::Lost], |story| story.sent(1, &[A]).died().then(A, &[]));
    check(&[Kind::Lost], |story| story.sent(1, &[A, B]).died().then(A, &[1]).then(B, &[]));
    check(&[Kind::Late], |story| story.sent(1, &[A]).list(A, &[]).died().then(A, &[1]));
}

#[test]
fn what_was_refused_or_never_sent_is_nowhere() {
    let refused = || Outcome::Refused("451 4.3.0 Later".into());
    check(&[], |story| story.send(1, &[A], refused()).died().then(A, &[]));
    check(&[Kind::Kept], |story| story.send(1, &[A], refused()).died().then(A, &[1]));
    check(&[Kind::Kept], |story| story.send(1, &[A], Outcome::Unasked).died().then(A, &[1]));
    let mut story = Story::default();
    assert_eq!(story.send(1, &[A], refused()).died().then(A, &[]).judge(), []);
    assert_eq!(story.died().then(A, &[1]).judge(), [Kind::Kept], "and that for ever");
}

#[test]
fn without_a_reply_it_is_everywhere_or_nowhere() {
    let unknown = |story: &mut Story| story.send(1, &[A, B], Outcome::Unknown).died().tick;
    for (a, b, expected) in
        [(&[][..], &[][..], &[][..]), (&[1], &[1], &[]), (&[1], &[], &[Kind::Half]), (&[], &[1], &[Kind::Half])]
    {
        check(expected, |story| {
            unknown(story);
            story.then(A, a).then(B, b)
        });
    }
    // A purge explains an empty mailbox; one that was over before the message was sent does not.
    check(&[], |story| {
        story.send(1, &[A, B], Outcome::Unknown).remove(B, Target::All, Outcome::Done).died().then(A, &[1]).then(B, &[])
    });
    check(&[Kind::Half], |story| {
        story.remove(B, Target::All, Outcome::Done).send(1, &[A, B], Outcome::Unknown).died().then(A, &[1]).then(B, &[])
    });
}

#[test]
fn all_mailboxes_get_it_at_one_moment() {
    // B was seen without it after A was seen with it, and nothing removed it.
    check(&[Kind::Half], |story| {
        story.send(1, &[A, B], Outcome::Unknown).list(A, &[1]).list(B, &[]).died().then(A, &[1]).then(B, &[1])
    });
    check(&[], |story| {
        story.send(1, &[A, B], Outcome::Unknown).list(B, &[]).list(A, &[1]).died().then(A, &[1]).then(B, &[1])
    });
}

#[test]
fn what_was_removed_stays_removed() {
    let seen = |story: &mut Story| story.sent(1, &[A]).list(A, &[1]).tick;
    for (outcome, after, expected) in [
        (Outcome::Done, &[][..], &[][..]),
        (Outcome::Done, &[1], &[Kind::Back]),
        (Outcome::Unknown, &[], &[]),
        (Outcome::Unknown, &[1], &[]),
        (Outcome::Refused("503".into()), &[], &[Kind::Lost]),
        (Outcome::Absent, &[1], &[Kind::Back]),
        (Outcome::Absent, &[], &[Kind::Lost]),
    ] {
        check(expected, |story| {
            seen(story);
            story.delete(A, 1, outcome).died().then(A, after)
        });
    }
    check(&[Kind::Back], |story| story.sent(1, &[A]).remove(A, Target::All, Outcome::Done).died().then(A, &[1]));
    check(&[], |story| story.sent(1, &[A]).remove(A, Target::All, Outcome::Unknown).died().then(A, &[1]));
    check(&[], |story| story.remove(A, Target::All, Outcome::Done).sent(1, &[A]).died().then(A, &[1]));
    // A purge that was over before the message came explains nothing; without an answer it may come at any time.
    check(&[Kind::Lost], |story| story.remove(A, Target::All, Outcome::Done).sent(1, &[A]).died().then(A, &[]));
    check(&[], |story| story.remove(A, Target::All, Outcome::Unknown).sent(1, &[A]).died().then(A, &[]));
    // Deleted with success twice.
    check(&[Kind::Lost], |story| {
        seen(story);
        story.delete(A, 1, Outcome::Done).delete(A, 1, Outcome::Done).died().then(A, &[])
    });
}

#[test]
fn what_was_seen_once_stays() {
    check(&[Kind::Lost], |story| story.send(1, &[A], Outcome::Unknown).list(A, &[1]).died().then(A, &[]));
    check(&[Kind::Lost], |story| story.sent(1, &[A]).list(A, &[1]).list(A, &[]).died().then(A, &[]));
    check(&[Kind::Back], |story| story.sent(1, &[A]).list(A, &[1]).list(A, &[]).died().then(A, &[1]));
    let mut story = Story::default();
    assert_eq!(story.send(1, &[A], Outcome::Unknown).died().then(A, &[1]).judge(), []);
    assert_eq!(story.died().then(A, &[]).judge(), [Kind::Lost], "nor may it go in a later round");
    let mut story = Story::default();
    assert_eq!(story.send(1, &[A], Outcome::Unknown).died().then(A, &[]).judge(), []);
    assert_eq!(story.died().then(A, &[1]).judge(), [Kind::Back], "nor may it come in a later round");
}

#[test]
fn one_copy_in_each_mailbox_of_what_was_sent_there() {
    check(&[Kind::Twice], |story| {
        story.sent(1, &[A]).died().then_rows(A, vec![row_as(1, "id-001"), row_as(1, "id-002")])
    });
    check(&[Kind::Ghost], |story| story.sent(1, &[A]).died().then(A, &[1]).then(B, &[1]));
    check(&[Kind::Ghost], |story| story.died().then(A, &[9]));
    let stranger = Row { canary: Err("Hello".into()), ..row(1) };
    check(&[Kind::Ghost], |story| story.died().then_rows(A, vec![stranger]));
}

#[test]
fn bytes_are_those_that_were_sent_and_stay() {
    let print = |sum| Some(Print { sum, fault: None });
    check(&[], |story| {
        story.sent(1, &[A, B]).died().then(A, &[1]).then(B, &[1]).then_source(A, 1, print(5)).then_source(
            B,
            1,
            print(5),
        )
    });
    check(&[Kind::Changed], |story| {
        story.sent(1, &[A, B]).died().then(A, &[1]).then(B, &[1]).then_source(A, 1, print(5)).then_source(
            B,
            1,
            print(6),
        )
    });
    let torn = Some(Print { sum: 5, fault: Some("the first difference is at 4096".into()) });
    check(&[Kind::Changed], |story| story.sent(1, &[A]).died().then(A, &[1]).then_source(A, 1, torn));
    let shorter = Row { size: 7, ..row(1) };
    check(&[Kind::Changed], |story| story.sent(1, &[A]).list(A, &[1]).died().then_rows(A, vec![shorter]));
    check(&[Kind::Lost], |story| story.sent(1, &[A]).died().then(A, &[1]).then_source(A, 1, None));
    let mut story = Story::default();
    assert_eq!(story.sent(1, &[A]).died().then(A, &[1]).then_source(A, 1, print(5)).judge(), []);
    assert_eq!(story.died().then(A, &[1]).then_source(A, 1, print(6)).judge(), [Kind::Changed]);
}

#[test]
fn ids_ascend_and_are_never_used_again() {
    check(&[], |story| story.sent(1, &[A]).sent(2, &[A]).died().then(A, &[1, 2]));
    check(&[Kind::Order], |story| {
        story.sent(1, &[A]).sent(2, &[A]).died().then_rows(A, vec![row_as(2, "id-001"), row_as(1, "id-002")])
    });
    // The order of those that were under way together is open, but not the order of a list.
    check(&[Kind::Order], |story| {
        story.send(1, &[A], Outcome::Unknown).send(2, &[A], Outcome::Unknown).died().then(A, &[2, 1])
    });
    let mut story = Story::default();
    assert_eq!(story.sent(5, &[A]).list(A, &[5]).delete(A, 5, Outcome::Done).died().then(A, &[]).judge(), []);
    let found = story.sent(6, &[A]).died().then_rows(A, vec![row_as(6, "id-005")]).judge();
    assert!(found.contains(&Kind::Reused), "{found:?}");
    let mut story = Story::default();
    assert_eq!(story.sent(5, &[A]).list(A, &[5]).delete(A, 5, Outcome::Done).died().then(A, &[]).judge(), []);
    assert_eq!(story.sent(6, &[A]).died().then_rows(A, vec![row_as(6, "id-004")]).judge(), [Kind::Order]);
}

#[test]
fn a_cap_explains_that_the_oldest_goes_and_nothing_else() {
    let full = |messages_max, after: &[u16]| {
        let mut story = Story::default();
        for number in 1..=3 {
            story.sent(number, &[A]);
        }
        story.died().then(A, after);
        story.history.messages_max = messages_max;
        story.judge()
    };
    assert_eq!(full(Some(2), &[2, 3]), []);
    assert_eq!(full(Some(2), &[1, 3]), [Kind::Lost], "the second has only one behind it");
    assert_eq!(full(Some(3), &[2, 3]), [Kind::Lost], "there was room for three");
    assert_eq!(full(None, &[2, 3]), [Kind::Lost]);
}

#[test]
fn retention_explains_that_the_old_go_and_the_young_do_not() {
    let hour = Duration::from_secs(3600);
    let expired = |expired: fn(Instant, Duration) -> Instant| {
        let mut story = Story::default();
        story.sent(1, &[A]).list(A, &[1]).died().then(A, &[]);
        story.history.expired = Some(expired(story.at, hour));
        story.judge()
    };
    assert_eq!(expired(|at, hour| at + hour), []);
    assert_eq!(expired(|at, hour| at - hour), [Kind::Lost]);
    let mut story = Story::default();
    story.sent(1, &[A]).list(A, &[1]).list(A, &[]).died().then(A, &[1]);
    story.history.expired = Some(story.at + hour);
    assert_eq!(story.judge(), [Kind::Back], "what went may not come back");
}

#[test]
fn what_the_power_cut_overtook_was_never_answered() {
    let cut = |after: &[u16]| {
        let mut story = Story::default();
        story.sent(1, &[A]);
        let begin = story.tick;
        story.sent(2, &[A]).list(A, &[1, 2]);
        let disks = Span { begin: begin + 1, end: story.tick + 1 };
        story.history.cut(Cut { disks, dark: disks.end });
        story.tick += 2;
        story.sent(3, &[B]).died().then(A, after).then(B, &[]).judge()
    };
    assert_eq!(cut(&[1, 2]), [Kind::Lost], "a yes over a dead disk");
    assert_eq!(cut(&[1]), [Kind::Lost]);
    assert_eq!(cut(&[]), [Kind::Lost, Kind::Lost], "and what came before the cut");
}

#[test]
fn canaries_are_read_as_they_are_written() {
    assert_eq!("canary-1-0-7".parse(), Ok(canary(7)));
    for bad in ["", "canary-1-0", "canary-1-0-7-1", "canary-1-0-07", "Canary-1-0-7", "canary-1-0-99999"] {
        assert_eq!(bad.parse::<Canary>(), Err(()), "{bad}");
    }
}
