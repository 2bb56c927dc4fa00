//! A connection as a server sees it: bytes read ahead in one buffer, replies gathered in another, and one deadline.

use std::fmt;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::BufMut;
use tokio::io::{AsyncReadExt, AsyncWrite};
use tokio::time::{Instant, Sleep};

use crate::linger::linger;
use crate::stop::{Phase, Stop};
use crate::stream::Stream;
use crate::tls::{Secured, Tls};

/// An idle connection keeps no more input buffer than this.
const IDLE_BYTES: usize = 4 * 1024;

/// A buffered connection.
pub struct Wire {
    stream: Stream,
    input: Vec<u8>,
    /// How much of `input` is used up.
    used: usize,
    output: Vec<u8>,
    /// Set no later than the deadline of the present wait. Deadlines mostly move ahead, so it is rarely touched.
    alarm: Pin<Box<Sleep>>,
    stop: Stop,
    /// Ends when the stop goes on beyond `heard`; kept across waits, as registering is what costs.
    news: Pin<Box<dyn Future<Output = ()> + Send>>,
    heard: Phase,
}

/// How a wait for input ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Filled {
    /// There is more input.
    More,
    /// The other end has sent its last byte, or is gone.
    Closed,
    /// The deadline passed.
    TimedOut,
    /// The program stops, and has reached the phase that was to be heard of.
    Stopping,
}

impl fmt::Debug for Wire {
    /// Sizes only: what was read may be a password.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Wire").field("input", &self.input.len()).field("output", &self.output.len()).finish()
    }
}

impl Wire {
    /// A connection that hears of the stop.
    pub fn new(stream: Stream, stop: Stop) -> Self {
        let heard = stop.phase();
        Self {
            stream,
            input: Vec::new(),
            used: 0,
            output: Vec::new(),
            alarm: Box::pin(tokio::time::sleep_until(Instant::now() + Duration::from_secs(1))),
            news: news_beyond(&stop, heard),
            stop,
            heard,
        }
    }

    /// What was read and not yet used.
    pub fn input(&self) -> &[u8] {
        &self.input[self.used..]
    }

    /// So many bytes of the input are used up.
    pub fn consume(&mut self, bytes: usize) {
        self.used = (self.used + bytes).min(self.input.len());
    }

    /// Where replies are written before they are flushed.
    pub fn output(&mut self) -> &mut Vec<u8> {
        &mut self.output
    }

    /// How far the program's stop has come.
    pub fn phase(&self) -> Phase {
        self.stop.phase()
    }

    /// Wait for more input, at most `bytes`, until the deadline or until the stop has come as far as `hear`.
    pub async fn fill(&mut self, bytes: usize, until: Instant, hear: Phase) -> Filled {
        self.make_room(bytes);
        if self.stop.phase() >= hear {
            return Filled::Stopping;
        }
        poll_fn(|cx| self.poll_fill(cx, bytes, until, hear)).await
    }

    fn poll_fill(&mut self, cx: &mut Context<'_>, bytes: usize, until: Instant, hear: Phase) -> Poll<Filled> {
        let mut room = (&mut self.input).limit(bytes);
        if let Poll::Ready(read) = pin!(self.stream.read_buf(&mut room)).poll(cx) {
            // A reset is an end like any other: what it cut off is decided by what has been read.
            return Poll::Ready(if matches!(read, Ok(count) if count > 0) { Filled::More } else { Filled::Closed });
        }
        if self.poll_alarm(cx, until).is_ready() {
            return Poll::Ready(Filled::TimedOut);
        }
        self.poll_news(cx, hear).map(|()| Filled::Stopping)
    }

    /// Ready when `until` has passed.
    fn poll_alarm(&mut self, cx: &mut Context<'_>, until: Instant) -> Poll<()> {
        if self.alarm.deadline() > until {
            self.alarm.as_mut().reset(until);
        }
        loop {
            ready!(self.alarm.as_mut().poll(cx));
            if Instant::now() >= until {
                return Poll::Ready(());
            }
            self.alarm.as_mut().reset(until);
        }
    }

    /// Ready when the stop has come as far as `hear`.
    fn poll_news(&mut self, cx: &mut Context<'_>, hear: Phase) -> Poll<()> {
        while self.heard < hear {
            ready!(self.news.as_mut().poll(cx));
            self.heard = self.stop.phase();
            self.news = news_beyond(&self.stop, self.heard);
        }
        Poll::Ready(())
    }

    fn make_room(&mut self, bytes: usize) {
        if self.used == self.input.len() {
            self.input.clear();
            if self.input.capacity() > IDLE_BYTES.max(bytes) {
                self.input = Vec::new();
            }
        } else if self.used > 0 {
            self.input.drain(..self.used);
        }
        self.used = 0;
        self.input.reserve(bytes);
    }

    /// Send what was gathered; an error when the other end is gone or does not take it by the deadline.
    /// Either way it is gathered no more: what was sent in part cannot be sent again.
    pub async fn flush(&mut self, until: Instant) -> io::Result<()> {
        let sent = self.send(until).await;
        self.output.clear();
        sent
    }

    async fn send(&mut self, until: Instant) -> io::Result<()> {
        let mut sent = 0;
        while sent < self.output.len() {
            sent += poll_fn(|cx| self.poll_write(cx, sent, until)).await?;
        }
        // Under TLS what was written may still be here.
        poll_fn(|cx| match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Pending => self.poll_alarm(cx, until).map(|()| Err(io::ErrorKind::TimedOut.into())),
            flushed => flushed,
        })
        .await
    }

    fn poll_write(&mut self, cx: &mut Context<'_>, sent: usize, until: Instant) -> Poll<io::Result<usize>> {
        match Pin::new(&mut self.stream).poll_write(cx, &self.output[sent..]) {
            Poll::Ready(Ok(0)) => Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
            Poll::Ready(written) => Poll::Ready(written),
            Poll::Pending => self.poll_alarm(cx, until).map(|()| Err(io::ErrorKind::TimedOut.into())),
        }
    }

    /// Go on under TLS. Nothing that came in the clear is carried over (T003): whoever sent ahead of the handshake has
    /// no connection any more, nor has one whose handshake fails.
    pub async fn secure(&mut self, tls: &Tls) -> io::Result<Secured> {
        if !self.input().is_empty() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the client sent ahead of the handshake"));
        }
        let stream = std::mem::replace(&mut self.stream, Stream::gone());
        let (stream, secured) = tls.accept(stream).await?;
        self.stream = stream;
        (self.input, self.used) = (Vec::new(), 0);
        Ok(secured)
    }

    /// Send what was gathered, say that nothing follows, and let the other end finish, so that it can read it.
    pub async fn close(mut self, until: Instant) {
        if self.flush(until).await.is_ok() {
            linger(self.stream, self.stop).await;
        }
    }
}

fn news_beyond(stop: &Stop, heard: Phase) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    let mut stop = stop.clone();
    Box::pin(async move {
        match heard {
            Phase::Running => stop.reached(Phase::Draining).await,
            Phase::Draining => stop.reached(Phase::Ending).await,
            Phase::Ending => std::future::pending().await,
        }
    })
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::stop;

    fn soon() -> Instant {
        Instant::now() + Duration::from_secs(5)
    }

    #[tokio::test(start_paused = true)]
    async fn reads_until_the_deadline_however_often_it_moves() {
        let (_stopper, stop) = stop::channel();
        let (mut client, server) = Stream::pipe(64);
        let mut wire = Wire::new(server, stop);
        for _ in 0..3 {
            client.write_all(b"abc").await.unwrap();
            assert_eq!(wire.fill(64, soon(), Phase::Draining).await, Filled::More);
            assert_eq!(wire.input(), b"abc");
            wire.consume(3);
            let before = Instant::now();
            assert_eq!(wire.fill(64, soon(), Phase::Draining).await, Filled::TimedOut);
            assert_eq!(before.elapsed().as_secs(), 5);
        }
        drop(client);
        assert_eq!(wire.fill(64, soon(), Phase::Draining).await, Filled::Closed);
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_deadline_is_kept_after_a_longer_one() {
        let (_stopper, stop) = stop::channel();
        let (mut client, server) = Stream::pipe(64);
        let mut wire = Wire::new(server, stop);
        client.write_all(b"a").await.unwrap();
        wire.fill(64, Instant::now() + Duration::from_secs(600), Phase::Draining).await;
        let before = Instant::now();
        assert_eq!(wire.fill(64, soon(), Phase::Draining).await, Filled::TimedOut);
        assert_eq!(before.elapsed().as_secs(), 5);
    }

    #[tokio::test]
    async fn hears_of_the_stop_from_the_phase_it_asks_for() {
        let (stopper, stop) = stop::channel();
        let (_client, server) = Stream::pipe(64);
        let mut wire = Wire::new(server, stop);
        let short = Instant::now() + Duration::from_millis(20);
        stopper.advance(Phase::Draining);
        assert_eq!(wire.fill(64, short, Phase::Ending).await, Filled::TimedOut);
        assert_eq!(wire.fill(64, soon(), Phase::Draining).await, Filled::Stopping);
        let telling = tokio::spawn(async move { wire.fill(64, soon(), Phase::Ending).await });
        tokio::task::yield_now().await;
        stopper.advance(Phase::Ending);
        assert_eq!(telling.await.unwrap(), Filled::Stopping);
    }

    #[tokio::test(start_paused = true)]
    async fn a_client_that_reads_nothing_is_given_up() {
        let (_stopper, stop) = stop::channel();
        let (_client, server) = Stream::pipe(8);
        let mut wire = Wire::new(server, stop);
        wire.output().extend_from_slice(&[b'x'; 100]);
        assert_eq!(wire.flush(soon()).await.unwrap_err().kind(), io::ErrorKind::TimedOut);
        assert!(wire.output().is_empty(), "a part of it was sent already");
    }

    #[tokio::test]
    async fn an_idle_connection_keeps_a_small_buffer() {
        let (_stopper, stop) = stop::channel();
        let (mut client, server) = Stream::pipe(1 << 20);
        let mut wire = Wire::new(server, stop);
        client.write_all(&[b'x'; 100_000]).await.unwrap();
        wire.fill(1 << 20, soon(), Phase::Draining).await;
        wire.consume(100_000);
        wire.fill(IDLE_BYTES, Instant::now(), Phase::Draining).await;
        assert!(wire.input.capacity() <= IDLE_BYTES, "{}", wire.input.capacity());
    }
}
