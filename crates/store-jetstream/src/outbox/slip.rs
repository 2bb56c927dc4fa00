//! A job as it lies on the brokers: one message that is rewritten whenever the job is taken or put back.

use bytes::Bytes;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use store::outbox::DeadJob;
use store::{Filed, Job, JobId, Lease};

use crate::names::Deed;
use crate::record::{self, JobLine, LANES, Spoilt};

/// What stands at a job's subject among those that wait.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) enum Slip {
    /// It waits, or somebody has it under a lease.
    Waiting(Waiting),
    /// It is dead; this stands here for a moment until it is cleared away.
    Buried {
        /// Where the job was first stored.
        born: u64,
    },
    /// It waits, or somebody has it, and it is in a lane.
    InLane {
        /// Which.
        lane: String,
        /// The job, which does not say it again.
        job: Waiting,
    },
}

/// A job that waits or is leased.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) id: u64,
    pub(super) kind: String,
    /// Written by [`Slip::InLane`]: a job of no lane is written as it ever was.
    #[serde(skip)]
    pub(super) lane: Option<String>,
    payload: Vec<u8>,
    messages: Vec<(String, u64)>,
    /// Can be taken from this time on: not before it, or when its lease has run out.
    pub(super) due: Option<i64>,
    takings: u32,
    /// The sequence at which it was first stored, which is its place in the line; none: this is it.
    born: Option<u64>,
    /// Another one for each writing, which knows its own work again by it.
    pub(super) mark: u128,
}

/// A job nobody will take again. Of format [`LANES`].
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Dead {
    pub(super) id: u64,
    pub(super) kind: String,
    lane: Option<String>,
    payload: Vec<u8>,
    messages: Vec<(String, u64)>,
    attempts: u32,
    reason: String,
    died_at: i64,
    pub(super) mark: u128,
}

/// The same as it was before there were lanes.
#[derive(Serialize, Deserialize)]
struct LanelessDead {
    id: u64,
    kind: String,
    payload: Vec<u8>,
    reason: String,
    died_at: i64,
    mark: u128,
}

impl Slip {
    pub(super) fn of(mut job: Waiting) -> Self {
        match job.lane.take() {
            Some(lane) => Self::InLane { lane, job },
            None => Self::Waiting(job),
        }
    }

    /// The job, unless it is buried.
    pub(super) fn job(self) -> Result<Waiting, Spoilt> {
        match self {
            Self::Waiting(job) => Ok(job),
            Self::InLane { lane, job } => Ok(Waiting { lane: Some(lane), ..job }),
            Self::Buried { .. } => Err(Spoilt),
        }
    }
}

impl Waiting {
    pub(super) fn new(deed: Deed, index: usize, job: &JobLine, messages: &[Filed]) -> Self {
        let filed = |filed: &Filed| (filed.mailbox.as_str().to_owned(), filed.id.number());
        Self {
            id: id(deed, index),
            kind: job.kind.clone(),
            lane: job.lane.clone(),
            payload: job.payload.clone(),
            messages: messages.iter().map(filed).collect(),
            due: job.not_before,
            takings: 0,
            born: None,
            mark: 0,
        }
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Spoilt> {
        record::read::<Slip>(bytes)?.job()
    }

    /// Its place in the line, when it stands at this sequence.
    pub(super) fn born(&self, seq: u64) -> u64 {
        self.born.unwrap_or(seq)
    }

    /// As it is to stand after this sequence, not to be taken before a time.
    pub(super) fn put_back(mut self, seq: u64, due: Timestamp) -> Self {
        self.born = Some(self.born(seq));
        self.due = Some(due.as_microsecond());
        self.mark = mark();
        self
    }

    /// The same, taken until a time.
    pub(super) fn taken(self, seq: u64, until: Timestamp) -> Self {
        let mut taken = self.put_back(seq, until);
        taken.takings = taken.takings.saturating_add(1);
        taken
    }

    /// For whoever took it; its taking stands at this sequence.
    pub(super) fn job(self, seq: u64) -> Job {
        Job {
            lease: Lease { job: JobId(self.id), taking: seq },
            kind: self.kind,
            lane: self.lane,
            payload: self.payload.into(),
            messages: self.messages.into_iter().map(record::filed).collect(),
            attempts: self.takings.saturating_sub(1),
        }
    }

    pub(super) fn dead(self, reason: &str, now: Timestamp) -> Dead {
        let Self { id, kind, lane, payload, messages, takings, .. } = self;
        let (reason, died_at) = (reason.to_owned(), now.as_microsecond());
        Dead { id, kind, lane, payload, messages, attempts: takings, reason, died_at, mark: mark() }
    }
}

impl Dead {
    pub(super) fn write(&self) -> Bytes {
        record::write_as(LANES, self)
    }

    pub(super) fn read(bytes: &[u8]) -> Result<Self, Spoilt> {
        record::read_as(LANES, bytes).or_else(|_| record::read::<LanelessDead>(bytes).map(Self::from))
    }

    pub(super) fn job(self) -> Result<DeadJob, Spoilt> {
        let Self { id, kind, lane, payload, messages, attempts, reason, died_at, .. } = self;
        let messages = messages.into_iter().map(record::filed).collect();
        let (id, payload, died_at) = (JobId(id), payload.into(), record::time(died_at)?);
        Ok(DeadJob { id, kind, lane, payload, messages, attempts, reason, died_at })
    }

    /// To be taken again, as if it was never taken.
    pub(super) fn revived(self) -> Waiting {
        let Self { id, kind, lane, payload, messages, .. } = self;
        Waiting { id, kind, lane, payload, messages, due: None, takings: 0, born: None, mark: mark() }
    }
}

impl From<LanelessDead> for Dead {
    fn from(LanelessDead { id, kind, payload, reason, died_at, mark }: LanelessDead) -> Self {
        Self { id, kind, lane: None, payload, messages: Vec::new(), attempts: 0, reason, died_at, mark }
    }
}

/// The same for the same job of the same deed, by whomever it is written.
pub(super) fn id(deed: Deed, index: usize) -> u64 {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&deed.0.to_be_bytes()).update(&(index as u64).to_be_bytes());
    let bytes = hasher.finalize().as_bytes()[..8].try_into().expect("eight bytes of thirty-two");
    u64::from_be_bytes(bytes) >> 1
}

fn mark() -> u128 {
    uuid::Uuid::new_v4().as_u128()
}
