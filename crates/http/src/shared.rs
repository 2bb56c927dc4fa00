//! What all requests share: the mailroom, the settings made ready, and the bounds on work and memory.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use bytes::Bytes;
use mail::View;
use mailroom::Mailroom;
use net::{Budget, Gate, Rates, Reservation, Stop};
use tokio::sync::Semaphore;

use crate::counters::Render;
use crate::guard::Guard;
use crate::live;
use crate::page::Page;
use crate::problem::Problem;
use crate::settings::Settings;

/// Messages up to this size are taken apart at once; larger ones aside, where they hold up no other connection.
const INLINE_MAX: usize = 256 << 10;
/// Answers up to this size are not counted: there are no more of them than connections.
const UNCOUNTED_MAX: usize = 64 << 10;

/// One for the whole server.
pub(crate) struct Shared {
    pub(crate) settings: Arc<Settings>,
    pub(crate) guard: Guard,
    pub(crate) mailroom: Arc<Mailroom>,
    pub(crate) stop: Stop,
    pub(crate) page: Page,
    /// None: they are not told.
    pub(crate) counters: Option<Render>,
    /// Takes a message apart. A value, so that a test can put one here that fails.
    pub(crate) view: fn(&[u8]) -> View,
    /// The places of streams.
    pub(crate) streams: Arc<Gate>,
    answers: Arc<Budget>,
    answers_max: u64,
    /// Messages on their way in: as many bytes as answers may have, and none of theirs.
    arrivals: Arc<Budget>,
    aside: Semaphore,
    /// How often each address asks.
    rates: Rates,
    /// Requests that were given a name.
    requests: AtomicU64,
    /// Makes those names differ from node to node.
    seed: RandomState,
}

impl Shared {
    pub(crate) fn new(settings: Arc<Settings>, mailroom: Arc<Mailroom>, stop: Stop, page: Page) -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            guard: Guard::new(&settings),
            mailroom,
            stop,
            page,
            counters: None,
            view: View::of,
            streams: live::gate(&settings.events),
            answers: Budget::new(settings.answers_max),
            answers_max: settings.answers_max,
            arrivals: Budget::new(settings.answers_max),
            aside: Semaphore::new(cores * 2),
            rates: Rates::new(settings.rate_per_ip, None, settings.rate_entries_max),
            requests: AtomicU64::new(0),
            seed: RandomState::new(),
            settings,
        }
    }

    /// Hold a place for an answer of about so many bytes, until it is sent. An answer larger than all places together
    /// takes them all: it is served alone, not never.
    pub(crate) fn place(&self, bytes: usize) -> Result<Option<Reservation>, Problem> {
        if bytes <= UNCOUNTED_MAX {
            return Ok(None);
        }
        let mut place = self.answers.reserve();
        let fits = place.resize((bytes as u64).min(self.answers_max));
        if fits { Ok(Some(place)) } else { Err(Problem::overloaded()) }
    }

    /// One more request from this address, if it may ask so often.
    pub(crate) fn take_turn(&self, client: Option<IpAddr>) -> Result<(), Problem> {
        client.map_or(Ok(()), |client| self.rates.take(client, 1)).map_err(Problem::too_often)
    }

    /// Forget the addresses that have been quiet.
    pub(crate) fn forget_idle(&self) {
        self.rates.forget_idle();
    }

    /// A name for a request, so that what its client was told can be found in the log.
    pub(crate) fn request_id(&self) -> String {
        format!("{:016x}", self.seed.hash_one(self.requests.fetch_add(1, Relaxed)))
    }

    /// A place for a message on its way in, which grows with it.
    pub(crate) fn arrival(&self) -> Reservation {
        self.arrivals.reserve()
    }

    /// Do what takes time in proportion to a message of this size. A panic in it is this request's.
    pub(crate) async fn work<T: Send + 'static>(&self, size: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
        if size <= INLINE_MAX {
            return work();
        }
        let _turn = self.aside.acquire().await.expect("the semaphore is never closed");
        match tokio::task::spawn_blocking(work).await {
            Ok(done) => done,
            Err(ended) => resume_unwind(ended.into_panic()),
        }
    }
}

/// The bytes of an answer that give their place back when the last of them is sent.
pub(crate) fn placed(bytes: impl Into<Bytes>, place: Option<Reservation>) -> Bytes {
    let bytes = bytes.into();
    match place {
        Some(place) => Bytes::from_owner(Placed { bytes, _place: place }),
        None => bytes,
    }
}

struct Placed {
    bytes: Bytes,
    _place: Reservation,
}

impl AsRef<[u8]> for Placed {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}
