//! Whether the disk can still be trusted. Once a sync has failed it cannot: what was written may be there or not, and no
//! later sync can tell. From then on nothing is written any more until the program is started again, which reads what is
//! really there; reading goes on.

use std::sync::OnceLock;

use store::Error;

/// Trusted until something fails for good.
#[derive(Debug, Default)]
pub(crate) struct Health(OnceLock<String>);

impl Health {
    /// The disk failed for good.
    pub(crate) fn fail(&self, why: String) {
        if self.0.set(why.clone()).is_ok() {
            tracing::error!(
                why,
                "the disk failed: no mail is taken and nothing is deleted from now on, reading goes on; look after the disk, \
                 then start postkeep again"
            );
        }
    }

    /// Nothing is written any more: no call that would has changed anything.
    pub(crate) fn check(&self) -> store::Result<()> {
        match self.0.get() {
            None => Ok(()),
            Some(why) => Err(Error::try_later(format!("the store has stopped writing: {why}"))),
        }
    }
}
