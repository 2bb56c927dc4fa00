//! Asks a Postkeep server for mail: waits for it, and reads codes and links out of it.
//!
//! An application under test sends its mail to Postkeep; a test opens an inbox, gives its address to the application, and
//! waits for what comes:
//!
//! ```no_run
//! # use std::time::Duration;
//! # use postkeep_client::{Client, Error};
//! # async fn sign_up(address: &str) {}
//! # async fn type_in(code: &str) {}
//! # async fn example() -> Result<(), Error> {
//! let inbox = Client::from_env()?.open_inbox("signup").await?;
//! sign_up(inbox.address()).await;                    // the application sends a mail
//! let code = inbox.code().await?;                    // waits for it, up to 10 seconds
//! type_in(&code).await;
//! let mail = inbox.wait().subject("Welcome").timeout(Duration::from_secs(20)).await?;
//! assert!(mail.text.contains("Thank you"));
//! inbox.expect_none(Duration::from_secs(2)).subject("Reset").await?;
//! # Ok(())
//! # }
//! ```
//!
//! A mailbox with a name of your own works likewise; its handle begins where it is made, so make it before the act:
//!
//! ```no_run
//! # use postkeep_client::{Client, Error, Kind};
//! # async fn ask_for_a_new_password(address: &str) {}
//! # async fn example() -> Result<(), Error> {
//! let alice = Client::new("http://127.0.0.1:8025")?.mailbox("alice").await?;
//! ask_for_a_new_password("alice@example.com").await;
//! let link = alice.link_of(Kind::Reset).await?;
//! # Ok(())
//! # }
//! ```
//!
//! When a wait fails, its error prints why: what was wanted, what came instead and which matcher failed, what the server refused
//! over SMTP, and mailboxes of a similar name that got mail. Other answers of the server are [`Error::Problem`].
//!
//! A long wait is several requests of at most 25 seconds. Lost connections, 503 and 429 are repeated within the time left, on any
//! of the URLs that [`Client::new`] was given: a handle goes on from its cursor on another node.
//!
//! The runtime is tokio. There is no pool of connections and no task in the background, so a client can be kept in a `static` and
//! used by tests that have a runtime each. `https://` needs the feature `https`.

mod call;
mod client;
mod deliver;
mod error;
mod faults;
mod http;
mod inbox;
mod mailbox;
mod message;
mod pick;
mod problem;
mod releases;
mod report;
mod server;
mod text;
#[cfg(feature = "https")]
mod tls;
mod tokens;
mod wait;
mod watch;
mod webhooks;

pub use client::{Client, DEFAULT_URL};
pub use deliver::{Deliver, Delivered, Draft};
pub use error::Error;
pub use faults::{Fault, FaultPlan};
pub use inbox::{Inbox, OpenInbox};
pub use mailbox::Mailbox;
pub use message::{Attachment, Code, Envelope, Header, Kind, Link, Message, Person, Summary};
pub use problem::Problem;
pub use report::{Timeout, Unexpected};
pub use wait::Wait;
pub use watch::{Event, Watch};
