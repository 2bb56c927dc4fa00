//! Which other nodes are there, by what they say themselves.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_nats::Message;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until, timeout};

use crate::office::Office;
use crate::record;

const BEAT_EVERY: Duration = Duration::from_secs(1);
/// Three beats may fail to come.
const KNOWN_FOR: Duration = Duration::from_millis(3_500);
/// So long those who are there have to say so to one who has come.
const HELLO_WAIT: Duration = Duration::from_millis(250);
const FOLLOW_PAUSE: Duration = Duration::from_millis(200);

/// The others, each with when it was last heard of.
pub(super) struct Known {
    heard: Mutex<HashMap<String, Instant>>,
    /// When the others have had time to say that they are there.
    settled: watch::Sender<Option<Instant>>,
}

/// What a node says of itself.
#[derive(Serialize, Deserialize)]
struct Beat {
    node: String,
    /// Whether it has just come and wants to know who is there.
    has_come: bool,
}

impl Default for Known {
    fn default() -> Self {
        Self { heard: Mutex::default(), settled: watch::Sender::new(None) }
    }
}

impl Known {
    /// How many others there are.
    pub(super) fn count(&self) -> usize {
        let mut heard = self.hold();
        heard.retain(|_, at| at.elapsed() < KNOWN_FOR);
        heard.len()
    }

    /// Wait until the count can be right, which is a moment after this node came; whether it can.
    pub(super) async fn settled(&self) -> bool {
        let mut settled = self.settled.subscribe();
        let known = timeout(KNOWN_FOR, settled.wait_for(Option::is_some)).await;
        let at = known.ok().and_then(Result::ok).and_then(|at| *at);
        if let Some(at) = at {
            sleep_until(at).await;
        }
        at.is_some()
    }

    /// Whether the one who says this wants to hear of us.
    fn hear(&self, message: &Message, us: &str) -> bool {
        let Ok(Beat { node, has_come }) = record::read(&message.payload) else { return false };
        if node == us {
            return false;
        }
        self.hold().insert(node, Instant::now());
        has_come
    }

    fn hold(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Say every second that this node is there, and hear the others, for ever.
pub(super) async fn beat(office: Arc<Office>, known: Arc<Known>) {
    let subject = office.names.below(&["nq", "hb"]);
    let mut others = loop {
        match office.link.follow(subject.clone()).await {
            Ok(others) => break others,
            Err(_) => sleep(FOLLOW_PAUSE).await,
        }
    };
    let say = async |has_come| {
        let beat = record::write(&Beat { node: office.node.clone(), has_come });
        // Who is not heard now is heard in a second.
        if office.link.stands() {
            let _ = office.link.tell(subject.clone(), None, beat).await;
        }
    };
    let mut beats = interval(BEAT_EVERY);
    beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut made = None;
    loop {
        let mended = office.link.mended();
        if made != Some(office.link.made()) {
            made = Some(office.link.made());
            say(true).await;
            known.settled.send_replace(Some(Instant::now() + HELLO_WAIT));
        }
        tokio::select! {
            () = mended => (),
            _ = beats.tick() => say(false).await,
            message = others.next() => match message {
                Some(message) if known.hear(&message, &office.node) => say(false).await,
                Some(_) => (),
                None => return,
            },
        }
    }
}
