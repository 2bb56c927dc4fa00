//! A step: one caller's work for the writer. The writer knows nothing else of it.

use store::{Error, Result};

use crate::desk::Desk;
use crate::error::Fault;
use crate::slot::{Slot, Waiting, Wake};

/// Work for the writer.
pub(crate) trait Step: Send {
    /// Whether the caller still waits; from then on it waits for the outcome, however long that takes.
    fn begin(&self) -> bool;

    /// Do it within the open transaction. It may be done again after the transaction was rolled back.
    fn run(&mut self, desk: &mut Desk<'_>) -> rusqlite::Result<()>;

    /// Leave the answer for the caller: what the work said, or why the transaction was not committed. Who is to be woken.
    fn answer(self: Box<Self>, failed: Option<Error>) -> Option<Wake>;
}

struct Call<T, F> {
    work: F,
    said: Option<Result<T>>,
    slot: Slot<T>,
}

impl<T, F> Step for Call<T, F>
where
    T: Send + 'static,
    F: FnMut(&mut Desk<'_>) -> std::result::Result<T, Fault> + Send,
{
    fn begin(&self) -> bool {
        self.slot.begin()
    }

    fn run(&mut self, desk: &mut Desk<'_>) -> rusqlite::Result<()> {
        self.said = Some(match (self.work)(desk) {
            Ok(said) => Ok(said),
            Err(Fault::Refused(error)) => Err(error),
            Err(Fault::Sql(error)) => return Err(error),
        });
        Ok(())
    }

    fn answer(self: Box<Self>, failed: Option<Error>) -> Option<Wake> {
        let lost = || Error::UnknownOutcome { why: "the writer forgot a step".to_owned() };
        let said = match (self.said, failed) {
            // A refusal holds whatever became of the transaction: it has written nothing.
            (Some(Err(refused)), _) => Err(refused),
            (_, Some(error)) => Err(error),
            (said, None) => said.unwrap_or_else(|| Err(lost())),
        };
        self.slot.fill(said)
    }
}

/// Make a step of work that may be done more than once, and the place to wait for it.
pub(crate) fn step<T, F>(work: F) -> (Box<dyn Step>, Waiting<T>)
where
    T: Send + 'static,
    F: FnMut(&mut Desk<'_>) -> std::result::Result<T, Fault> + Send + 'static,
{
    let (slot, waiting) = Slot::new();
    (Box::new(Call { work, said: None, slot }), waiting)
}
