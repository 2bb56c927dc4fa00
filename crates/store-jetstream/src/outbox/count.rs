//! How many jobs there are, and whether there is room for more.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::json;
use store::outbox::admit;
use store::{Error, IfFull, NewJob, Result};

use super::{Outbox, hold};
use crate::record::JobLine;
use crate::wire::{Failed, Failure};

/// Up to here the leader counts, exactly. It takes it a second for some hundred thousands, which a replica counts in
/// milliseconds.
const EXACT_MAX: u64 = 10_000;
/// So long a count is good for deciding whether there is room.
const COUNT_KEPT: Duration = Duration::from_secs(2);
/// Behind every subject: only their number is wanted.
const NONE_OF_THEM: u64 = 1 << 40;

/// What is known of the room for jobs.
#[derive(Default)]
pub(super) struct Room {
    counted: Option<Instant>,
    /// What was counted, and what was granted here since.
    jobs: u64,
}

#[derive(Deserialize)]
struct Subjects {
    #[serde(default)]
    total: u64,
}

impl Outbox {
    /// Those of these jobs that may wait as well, which is decided before what carries them is committed. The others' jobs
    /// are counted now and then, so that several nodes can pass the bound by what they write in such a moment.
    pub(crate) async fn admit(&self, jobs: Vec<NewJob>) -> Result<Vec<JobLine>> {
        let fits = self.fits(&jobs).await?;
        let left_out = fits.iter().filter(|fits| !**fits).count() as u64;
        self.left_out.add(left_out, "store.jetstream.jobs_max");
        Ok(jobs.into_iter().zip(fits).filter(|(_, fits)| *fits).map(|(job, _)| JobLine::new(job)).collect())
    }

    async fn fits(&self, jobs: &[NewJob]) -> Result<Vec<bool>> {
        let (number, jobs_max) = (jobs.len() as u64, self.office.settings.jobs_max);
        if number == 0 || hold(&self.room).grant(number, jobs_max) {
            return Ok(vec![true; jobs.len()]);
        }
        // Whoever depends on none of them does not wait for a count that was made a moment ago.
        let is_patient = jobs.iter().any(|job| job.if_full == IfFull::Refuse);
        if is_patient || !hold(&self.room).is_known() {
            let all = self.office.names.below(&["j", "w", ">"]);
            let count = self.office.patience().of(|| self.count(&all)).await.map_err(Failed::into_harmless)?;
            *hold(&self.room) = Room { counted: Some(Instant::now()), jobs: count };
        }
        let mut room = hold(&self.room);
        let (count, left) = (room.jobs, jobs_max.saturating_sub(room.jobs));
        let full =
            || Error::Full { what: format!("{count} jobs wait, and store.jetstream.jobs_max allows {jobs_max}") };
        let fits = admit(jobs, left, |_| 1).ok_or_else(full)?;
        room.jobs += fits.iter().filter(|fits| **fits).count() as u64;
        Ok(fits)
    }

    /// Whether so many jobs more may wait.
    pub(super) async fn room_for(&self, jobs: usize) -> Result<()> {
        self.fits(&vec![NewJob::new("", ""); jobs]).await.map(drop)
    }

    /// How many subjects there are that match; each holds one message. Where they are many, as any replica has it.
    pub(super) async fn count(&self, subject: &str) -> Result<u64, Failure> {
        let rough = self.count_roughly(subject).await?;
        if rough > EXACT_MAX {
            return Ok(rough);
        }
        let question = json!({ "subjects_filter": subject, "offset": NONE_OF_THEM });
        let call = format!("STREAM.INFO.{}", self.stream);
        self.office.link.api(&call, &question).await.map(|Subjects { total }| total)
    }

    /// A replica that is asked for the first message says how many are behind it.
    async fn count_roughly(&self, subject: &str) -> Result<u64, Failure> {
        let question = json!({ "seq": 1, "batch": 1, "next_by_subj": subject }).to_string();
        let call = format!("$JS.API.DIRECT.GET.{}", self.stream);
        let answer = self.office.link.ask(call, None, question.into()).await?;
        let behind = answer.headers.as_ref().and_then(|headers| headers.get("Nats-Num-Pending"));
        match (
            answer.status.map(|status| status.as_u16()),
            behind.and_then(|number| number.as_str().parse::<u64>().ok()),
        ) {
            (None, Some(behind)) => Ok(behind + 1),
            (Some(404), _) => Ok(0),
            _ => Err(Failure::Unknown("a broker did not say how many messages there are".to_owned())),
        }
    }
}

impl Room {
    fn is_known(&self) -> bool {
        self.counted.is_some_and(|at| at.elapsed() < COUNT_KEPT)
    }

    /// Set so many aside if that is surely right.
    fn grant(&mut self, jobs: u64, jobs_max: u64) -> bool {
        let is_known = self.is_known();
        let fits = self.jobs.saturating_add(jobs) <= jobs_max;
        if is_known && fits {
            self.jobs += jobs;
        }
        is_known && fits
    }
}
