//! A connection that has become a WebSocket: what happens goes out, and what comes in is counted and forgotten.
//!
//! Framing is the library's. Here are the limits: how large a frame may be, how many come, how long nothing is heard.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{SinkExt as _, StreamExt as _};
use mailroom::access::Verb;
use mailroom::{Caller, Event, Item, Order, Page, RecentPage, Scope, Watch};
use net::{Phase, Slot, Stop};
use tokio::time::{Instant, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::error::Error as WsError;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes};

use super::super::LOOK_EVERY;
use super::frame::Told;
use super::{Dialect, frame};
use crate::shared::Shared;

/// As Inbucket pings; a client that has not said a word between two of these is gone.
const PING_EVERY: Duration = Duration::from_secs(54);
/// A client has nothing to say but pongs: whoever sends more frames than this between two pings sends no pongs.
const FRAMES_MAX: u32 = 100;

/// What a connection becomes when the answer to its handshake is out.
#[derive(Clone)]
pub(crate) struct Talk(Arc<std::sync::Mutex<Option<Box<Held>>>>);

struct Held {
    shared: Arc<Shared>,
    caller: Caller,
    dialect: Dialect,
    watch: Watch,
    _slot: Slot,
}

type Socket = WebSocketStream<net::Stream>;

/// Why it ends, as a client is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    /// The client said goodbye, or is gone.
    Gone,
    Told(CloseCode, &'static str),
}

impl Talk {
    pub(super) fn new(shared: Arc<Shared>, caller: Caller, dialect: Dialect, watch: Watch, slot: Slot) -> Self {
        let held = Held { shared, caller, dialect, watch, _slot: slot };
        Self(Arc::new(std::sync::Mutex::new(Some(Box::new(held)))))
    }

    /// Talk until either end has enough. What came behind the handshake already is not lost.
    pub(crate) async fn run(self, stream: net::Stream, ahead: Bytes, stop: Stop) {
        let held = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        if let Some(held) = held {
            held.run(stream, ahead, stop).await;
        }
    }
}

impl Held {
    async fn run(mut self: Box<Self>, stream: net::Stream, ahead: Bytes, stop: Stop) {
        let config = config(self.shared.settings.monitor.frame_max);
        let mut socket = WebSocketStream::from_partially_read(stream, ahead.into(), Role::Server, Some(config)).await;
        let end = self.talk(&mut socket, stop.clone()).await;
        tracing::debug!(?end, "a monitor ended");
        let End::Told(code, reason) = end else { return };
        let goodbye = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        if let Ok(Ok(())) = timeout(self.shared.settings.events.write_max, socket.close(Some(goodbye))).await {
            net::linger(socket.into_inner(), stop).await;
        }
    }

    async fn talk(&mut self, socket: &mut Socket, mut stop: Stop) -> End {
        let told = match self.replay(socket).await {
            Ok(told) => told,
            Err(end) => return end,
        };
        let end_at = Instant::now() + self.shared.settings.events.life_max;
        let (mut ping_at, mut look_at) = (Instant::now() + PING_EVERY, Instant::now() + LOOK_EVERY);
        let (mut frames, mut heard) = (0, true);
        let mut draining = std::pin::pin!(stop.reached(Phase::Draining));
        loop {
            let done = tokio::select! {
                () = &mut draining => Err(End::Told(CloseCode::Away, "the server is stopping")),
                came = socket.next() => {
                    (frames, heard) = (frames + 1, true);
                    judge(came, frames)
                }
                event = self.watch.next() => self.tell(socket, event, &told).await,
                () = sleep_until(ping_at.min(look_at).min(end_at)) => {
                    let now = Instant::now();
                    if now >= look_at {
                        look_at = now + LOOK_EVERY;
                    }
                    if now >= ping_at && !heard {
                        Err(End::Gone)
                    } else if now >= ping_at {
                        (ping_at, frames, heard) = (now + PING_EVERY, 0, false);
                        self.send(socket, Message::Ping(Bytes::new())).await
                    } else {
                        self.look(now, end_at)
                    }
                }
            };
            if let Err(end) = done {
                return end;
            }
        }
    }

    /// Whether it may go on.
    fn look(&self, now: Instant, end_at: Instant) -> Result<(), End> {
        match () {
            () if now >= end_at => Err(End::Told(CloseCode::Away, "events.life_max is over; connect again")),
            () if !self.shared.mailroom.may(&self.caller, Verb::Watch, self.watch.scope()) => {
                Err(End::Told(CloseCode::Policy, "watching is not allowed any more"))
            }
            () => Ok(()),
        }
    }

    /// The newest messages, oldest first. The watch began before they were listed, so some may come by it again.
    async fn replay(&self, socket: &mut Socket) -> Result<Told, End> {
        let mut told = Told::new();
        for Item { mailbox, summary } in self.history().await.into_iter().rev() {
            let name = self.shared.mailroom.spelling(&mailbox);
            self.send(socket, Message::text(frame::stored(self.dialect, &name, &summary))).await?;
            told.insert((mailbox, summary.id));
        }
        Ok(told)
    }

    /// What cannot be listed, by this caller or by this engine, is no history.
    async fn history(&self) -> Vec<Item> {
        let (room, limit) = (&self.shared.mailroom, self.shared.settings.monitor.history_max);
        let listed = match self.watch.scope() {
            Scope::All => room.recent(&self.caller, RecentPage { before: None, limit }).await.map(|list| list.items),
            Scope::Mailbox(mailbox) => {
                let page = Page { after: None, limit, order: Order::Newest };
                let item = |summary| Item { mailbox: mailbox.clone(), summary };
                room.list(&self.caller, mailbox, page).await.map(|list| list.items.into_iter().map(item).collect())
            }
        };
        listed.inspect_err(|error| tracing::debug!(%error, "a monitor begins without history")).unwrap_or_default()
    }

    async fn tell(&self, socket: &mut Socket, event: Option<Event>, told: &Told) -> Result<(), End> {
        let change = match event {
            Some(Event::Change(change, _)) => change,
            // There is no word for it in either dialect.
            Some(Event::Lagged { .. }) => return Ok(()),
            None => return Err(End::Told(CloseCode::Away, "the server is stopping")),
        };
        let name = self.shared.mailroom.spelling(change.mailbox());
        let text = frame::of(self.dialect, &name, &change, told);
        match text {
            Some(text) => self.send(socket, Message::text(text)).await,
            None => Ok(()),
        }
    }

    /// A client that does not take what it is sent is given up.
    async fn send(&self, socket: &mut Socket, message: Message) -> Result<(), End> {
        match timeout(self.shared.settings.events.write_max, socket.send(message)).await {
            Ok(Ok(())) => Ok(()),
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }
}

fn config(frame_max: usize) -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(1 << 10)
        .write_buffer_size(0)
        .max_write_buffer_size(256 << 10)
        .max_message_size(Some(frame_max))
        .max_frame_size(Some(frame_max))
        .accept_unmasked_frames(false)
}

/// Whatever a client says is nothing to us, if it is sound and not too much (T063). Pings were answered below.
fn judge(came: Option<Result<Message, WsError>>, frames: u32) -> Result<(), End> {
    match came {
        Some(Ok(_)) if frames > FRAMES_MAX => Err(End::Told(CloseCode::Policy, "too many frames")),
        Some(Ok(_)) => Ok(()),
        Some(Err(WsError::Capacity(_))) => Err(End::Told(CloseCode::Size, "larger than monitor.frame_max")),
        Some(Err(WsError::Protocol(_))) => Err(End::Told(CloseCode::Protocol, "not a frame")),
        Some(Err(WsError::Utf8(_))) => Err(End::Told(CloseCode::Invalid, "not UTF-8")),
        Some(Err(_)) | None => Err(End::Gone),
    }
}
