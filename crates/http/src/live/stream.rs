//! A stream of events as the body of an answer. The connection's own task polls it: there is none for the stream, and
//! one timer.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use hyper::body::{Body, Frame};
use mailroom::access::Verb;
use mailroom::{Caller, Event, RefusalWatch, Watch};
use net::{Phase, Slot};
use tokio::time::{Instant, Sleep};

use super::sse::Frames;
use super::story::{Line, Story};
use super::{LOOK_EVERY, wire};
use crate::shared::Shared;

/// So many bytes are gathered before they are sent. What one wait of a slow reader can hold is this and what its
/// connection buffers, not more.
const CHUNK: usize = 8 << 10;

/// A stream that is being told.
pub(super) struct Stream {
    shared: Arc<Shared>,
    caller: Caller,
    watches: Vec<Watch>,
    /// What is refused, if that is to be told.
    refusals: Option<RefusalWatch>,
    story: Story,
    /// What is told first.
    first: Frames,
    /// Whom of several watches to ask first, so that a busy one holds up no other.
    turn: usize,
    alarm: Pin<Box<Sleep>>,
    beat_at: Instant,
    look_at: Instant,
    end_at: Instant,
    _slot: Slot,
}

/// Whether anything can still come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    Ended,
}

impl Stream {
    pub(super) fn new(
        shared: Arc<Shared>,
        caller: Caller,
        watches: Vec<Watch>,
        story: Story,
        first: Frames,
        slot: Slot,
    ) -> Self {
        let (now, events) = (Instant::now(), &shared.settings.events);
        let beat_at = now + events.heartbeat;
        let (look_at, end_at) = (now + LOOK_EVERY, now + events.life_max);
        let alarm = Box::pin(tokio::time::sleep_until(beat_at.min(look_at)));
        let refusals = None;
        Self { caller, watches, refusals, story, first, turn: 0, alarm, beat_at, look_at, end_at, _slot: slot, shared }
    }

    /// The same, which tells what is refused as well.
    pub(super) fn with_refusals(self, refusals: Option<RefusalWatch>) -> Self {
        Self { refusals, ..self }
    }

    /// Whether it has lived its time, the server stops, or the caller may not watch any more.
    fn is_over(&self, now: Instant) -> bool {
        now >= self.end_at || self.shared.stop.phase() > Phase::Running || !self.is_allowed()
    }

    fn is_allowed(&self) -> bool {
        let mailroom = &self.shared.mailroom;
        (self.refusals.is_none() || mailroom.may_watch_refusals(&self.caller))
            && self.watches.iter().all(|watch| self.shared.mailroom.may(&self.caller, Verb::Watch, watch.scope()))
    }

    /// Take what is there from every watch, up to a chunk.
    fn gather(&mut self, context: &mut Context<'_>, frames: &mut Frames, now: Instant) -> State {
        self.turn = self.turn.wrapping_add(1);
        while let Some(refusals) = self.refusals.as_mut().filter(|_| frames.len() < CHUNK)
            && let Poll::Ready(refused) = refusals.poll_next(context)
        {
            self.tell(&refused.into(), frames);
        }
        for offset in 0..self.watches.len() {
            let place = self.turn.wrapping_add(offset) % self.watches.len();
            while frames.len() < CHUNK {
                match self.watches[place].poll_next(context) {
                    Poll::Ready(Some(event)) => self.hear(place, event, frames, now),
                    Poll::Ready(None) => return State::Ended,
                    Poll::Pending => break,
                }
            }
        }
        State::Open
    }

    fn hear(&mut self, place: usize, event: Event, frames: &mut Frames, now: Instant) {
        if let Some(line) = self.story.hear(place, event, now) {
            self.tell(&line, frames);
        }
    }

    fn tell(&self, line: &Line, frames: &mut Frames) {
        let id = self.story.id(&self.shared.mailroom);
        let (name, data) = wire::line(&self.shared.mailroom, &self.caller, line, &id);
        frames.event(name, &id, data);
    }

    /// What the clock has to say: how much was left out, or that the stream lives.
    fn tick(&mut self, frames: &mut Frames, now: Instant) {
        if now >= self.look_at {
            self.look_at = now + LOOK_EVERY;
        }
        if let Some(line) = self.story.skipped(now) {
            self.tell(&line, frames);
        }
        if frames.is_empty() && now >= self.beat_at {
            frames.beat(&self.story.id(&self.shared.mailroom));
        }
        if !frames.is_empty() {
            self.beat_at = now + self.shared.settings.events.heartbeat;
        }
    }

    fn next_tick(&self) -> Instant {
        let tick = self.beat_at.min(self.look_at).min(self.end_at);
        self.story.skipped_at().map_or(tick, |skipped| tick.min(skipped))
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Vec<u8>>> {
        loop {
            let now = Instant::now();
            if self.is_over(now) {
                return Poll::Ready(None);
            }
            let mut frames = std::mem::take(&mut self.first);
            let state = self.gather(context, &mut frames, now);
            self.tick(&mut frames, now);
            if !frames.is_empty() {
                return Poll::Ready(Some(frames.into_bytes()));
            }
            if state == State::Ended {
                return Poll::Ready(None);
            }
            let next = self.next_tick();
            if self.alarm.deadline() != next {
                self.alarm.as_mut().reset(next);
            }
            std::task::ready!(self.alarm.as_mut().poll(context));
        }
    }
}

impl Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.get_mut().poll(context).map(|chunk| chunk.map(|bytes| Ok(Frame::data(bytes.into()))))
    }
}
