//! A step: one caller's work for the writer, with the way back to the caller. The writer knows nothing else of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use store::{Error, Result};
use tokio::sync::oneshot;

use crate::desk::Desk;
use crate::error::Fault;

/// Work for the writer.
pub(crate) trait Step: Send {
    /// Whether the caller still waits; from then on it waits for the outcome, however long that takes.
    fn begin(&self) -> bool;

    /// Do it within the open transaction. It may be done again after the transaction was rolled back.
    fn run(&mut self, desk: &mut Desk<'_>) -> rusqlite::Result<()>;

    /// Tell the caller what became of it: what the work said, or why the transaction was not committed.
    fn answer(self: Box<Self>, failed: Option<Error>);
}

const WAITING: u8 = 0;
const BEGUN: u8 = 1;
const LEFT: u8 = 2;

struct Call<T, F> {
    work: F,
    said: Option<Result<T>>,
    reply: oneshot::Sender<Result<T>>,
    ticket: Arc<AtomicU8>,
}

impl<T, F> Step for Call<T, F>
where
    T: Send,
    F: FnMut(&mut Desk<'_>) -> std::result::Result<T, Fault> + Send,
{
    fn begin(&self) -> bool {
        self.ticket.compare_exchange(WAITING, BEGUN, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    fn run(&mut self, desk: &mut Desk<'_>) -> rusqlite::Result<()> {
        self.said = Some(match (self.work)(desk) {
            Ok(said) => Ok(said),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<Error>) {
        let lost = || Error::UnknownOutcome { why: "the writer forgot a step".to_owned() };
        let said = match (self.said, failed) {
            // A refusal holds whatever became of the transaction: it has written nothing.
            (Some(Err(refused)), _) => Err(refused),
            (_, Some(error)) => Err(error),
            (said, None) => said.unwrap_or_else(|| Err(lost())),
        };
        // A caller that has gone away does not want to know.
        let _ = self.reply.send(said);
    }
}

/// Where the caller waits.
pub(crate) struct Waiting<T> {
    answer: oneshot::Receiver<Result<T>>,
    ticket: Arc<AtomicU8>,
}

/// Make a step of work that may be done more than once, and the place to wait for it.
pub(crate) fn step<T, F>(work: F) -> (Box<dyn Step>, Waiting<T>)
where
    T: Send + 'static,
    F: FnMut(&mut Desk<'_>) -> std::result::Result<T, Fault> + Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let ticket = Arc::new(AtomicU8::new(WAITING));
    let call = Call { work, said: None, reply, ticket: Arc::clone(&ticket) };
    (Box::new(call), Waiting { answer, ticket })
}

impl<T> Waiting<T> {
    /// Wait for the answer. A step that was not begun within `begin_max` is taken back, and nothing was changed.
    pub(crate) async fn answer(mut self, begin_max: Duration) -> Result<T> {
        let answer = match tokio::time::timeout(begin_max, &mut self.answer).await {
            Ok(answer) => answer,
            Err(_) if self.leave() => {
                return Err(Error::try_later(format!("the disk is slow: nothing was written for {begin_max:?}")));
            }
            Err(_) => self.answer.await,
        };
        // Only a writer that broke down drops a step without an answer.
        answer.unwrap_or_else(|_| Err(Error::UnknownOutcome { why: "the writer broke down".to_owned() }))
    }

    fn leave(&self) -> bool {
        self.ticket.compare_exchange(WAITING, LEFT, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}
