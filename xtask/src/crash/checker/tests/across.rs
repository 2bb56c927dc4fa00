//! Several servers over one store: what one of them said holds for all. Reads that may lag, and mailboxes that a message
//! comes into one by one, excuse what they must and nothing else.

use super::super::super::history::Entering;
use super::*;

impl Story {
    /// The last look was by this door.
    fn by(&mut self, door: usize) -> &mut Self {
        let look = self.history.after.last_mut().or(self.history.looks.last_mut()).unwrap();
        look.door = door;
        self
    }

    fn one_by_one(&mut self) -> &mut Self {
        self.history.entering = Entering::OneByOne;
        self
    }

    fn lagging(&mut self) -> &mut Self {
        self.history.reads = Reads::Lagging;
        self
    }
}

#[test]
fn what_one_server_acknowledged_every_server_shows_at_once() {
    check(&[], |story| story.sent(1, &[A]).list(A, &[1]).by(1).died().then(A, &[1]).then(A, &[1]).by(1));
    check(&[Kind::Late], |story| story.sent(1, &[A]).list(A, &[]).by(1).died().then(A, &[1]));
    let seen = |story: &mut Story| story.sent(1, &[A]).list(A, &[1]).delete(A, 1, Outcome::Done).tick;
    check(&[], |story| {
        seen(story);
        story.list(A, &[]).by(1).died().then(A, &[])
    });
    check(&[Kind::Back], |story| {
        seen(story);
        story.list(A, &[1]).by(1).died().then(A, &[])
    });
}

#[test]
fn all_servers_agree_when_nobody_is_at_work() {
    check(&[Kind::Lost], |story| story.sent(1, &[A]).died().then(A, &[1]).then(A, &[]).by(1));
    check(&[Kind::Late], |story| story.sent(1, &[A]).died().then(A, &[]).then(A, &[1]).by(1));
    // Even what nobody had an answer to is everywhere the same.
    check(&[Kind::Lost], |story| story.send(1, &[A], Outcome::Unknown).died().then(A, &[1]).by(0).then(A, &[]).by(1));
    check(&[Kind::Lost], |story| {
        let seen = story.sent(1, &[A]).list(A, &[1]).delete(A, 1, Outcome::Unknown).died();
        seen.then(A, &[1]).by(0).then(A, &[]).by(1)
    });
}

#[test]
fn one_by_one_is_still_all_or_none_and_before_the_reply() {
    let unknown = |story: &mut Story| story.one_by_one().send(1, &[A, B], Outcome::Unknown).tick;
    check(&[], |story| {
        unknown(story);
        story.list(A, &[1]).list(B, &[]).died().then(A, &[1]).then(B, &[1])
    });
    check(&[Kind::Half], |story| {
        unknown(story);
        story.list(A, &[1]).list(B, &[]).died().then(A, &[1]).then(B, &[])
    });
    check(&[Kind::Half], |story| {
        unknown(story);
        story.died().then(A, &[]).then(B, &[1])
    });
    check(&[Kind::Late], |story| story.one_by_one().sent(1, &[A, B]).list(B, &[]).died().then(A, &[1]).then(B, &[1]));
    check(&[Kind::Lost], |story| story.one_by_one().sent(1, &[A, B]).died().then(A, &[1]).then(B, &[]));
}

#[test]
fn a_read_that_lags_misses_with_impunity_but_what_it_shows_was_there() {
    check(&[], |story| story.lagging().sent(1, &[A]).list(A, &[]).died().then(A, &[1]));
    check(&[], |story| {
        story.lagging().sent(1, &[A]).list(A, &[1]).delete(A, 1, Outcome::Done).list(A, &[1]).died().then(A, &[])
    });
    check(&[], |story| story.lagging().sent(1, &[A]).list(A, &[1]).delete(A, 1, Outcome::Absent).died().then(A, &[1]));
    // With nobody at work it does not lag any more.
    check(&[Kind::Lost], |story| story.lagging().sent(1, &[A]).list(A, &[1]).died().then(A, &[]));
    check(&[Kind::Lost], |story| story.lagging().send(1, &[A], Outcome::Unknown).list(A, &[1]).died().then(A, &[]));
    let refused = || Outcome::Refused("451 4.3.0 Later".into());
    check(&[Kind::Kept], |story| story.lagging().send(1, &[A], refused()).list(A, &[1]).died().then(A, &[]));
    check(&[Kind::Back], |story| {
        story.lagging().sent(1, &[A]).remove(A, Target::All, Outcome::Done).died().then(A, &[1])
    });
}
