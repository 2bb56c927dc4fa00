//! `postkeep store export`: messages out of a store into files, one at a time, beside a server or without one.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use mail::{Mailbox, MessageId};
use mailroom::{
    Caller, MailboxOrder, MailboxPage, MailboxState, Mailroom, Order, Page, Position, StoreError, Stored, Which,
};

use super::letter::Letter;
use super::progress::{Progress, Steps};
use super::tree::Dir;
use super::words::{bytes, count, many, shown};
use super::{Ended, Format, Misuse, maildir, mbox, name, tar};
use crate::assembly::{self, Looked};
use crate::config::Config;

/// Mailboxes, and summaries, asked for at once.
const MAILBOXES: usize = 1000;
const SUMMARIES: usize = 256;
/// So often a message is asked for that cannot be read at the moment.
const TRIES: usize = 3;
/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 20;

/// What is to be exported.
pub(crate) struct Export {
    /// These mailboxes; none: all.
    pub(crate) mailboxes: Vec<String>,
    /// As what.
    pub(crate) format: Format,
    /// Where to; `-`: stdout.
    pub(crate) to: PathBuf,
}

/// An export under way.
struct Run {
    room: Arc<Mailroom>,
    damaged: Box<dyn Fn() -> Vec<MessageId>>,
    /// Those that were named.
    named: BTreeSet<MessageId>,
    progress: Progress,
    sink: Sink,
    sum: Sum,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sum {
    mailboxes: u64,
    messages: u64,
    bytes: u64,
    unreadable: u64,
}

/// Export from the store in a directory.
pub(crate) fn export(config: &Config, path: &Path, wish: &Export) -> Result<Ended> {
    let Looked { store, damaged } = assembly::look(path)?;
    let room = Mailroom::new(store, config.mailroom.clone());
    let named = |name: &String| room.named(name).map_err(|bad| Misuse(format!("{}: {bad}", shown(name))));
    let names: Vec<Mailbox> = wish.mailboxes.iter().map(named).collect::<Result<_, _>>()?;
    let sink = Sink::open(wish).with_context(|| format!("cannot export to {}", wish.to.display()))?;
    let progress = Progress::begin("export", Steps::Things, None);
    let mut run = Run { room, damaged, progress, sink, named: BTreeSet::new(), sum: Sum::default() };
    let done = assembly::block_on(async { if names.is_empty() { run.all().await } else { run.some(&names).await } })?;
    let done = done.and_then(|()| run.sink.finish());
    if done.is_err() {
        wish.clear_away();
    }
    done.with_context(|| format!("the export to {} is not whole", wish.to.display()))?;
    drop(run.progress);
    let told = run.sum.text();
    // On stdout stands the archive, when it goes there.
    let _ = match wish.is_to_stdout() {
        true => io::stderr().lock().write_all(told.as_bytes()),
        false => io::stdout().lock().write_all(told.as_bytes()),
    };
    Ok(if run.sum.unreadable == 0 { Ended::Well } else { Ended::Short })
}

impl Sum {
    fn text(&self) -> String {
        let left_out = match self.unreadable {
            0 => String::new(),
            left_out => format!("Left out as damaged, and named above: {}.\n", count(left_out, "message")),
        };
        let (messages, boxes) = (count(self.messages, "message"), many(self.mailboxes, "mailbox", "mailboxes"));
        format!("Exported {messages} from {boxes} ({}).\n{left_out}", bytes(self.bytes))
    }
}

impl Export {
    fn is_to_stdout(&self) -> bool {
        self.to.as_os_str() == "-"
    }

    /// Half an archive looks like a whole one; half a tree of files can be looked at.
    fn clear_away(&self) {
        if self.format == Format::Eml && !self.is_to_stdout() {
            let _ = fs::remove_file(&self.to);
        }
    }
}

impl Run {
    /// Every mailbox, by name.
    async fn all(&mut self) -> Result<()> {
        let mut after: Option<Mailbox> = None;
        loop {
            let order = MailboxOrder::Name { after: after.as_ref() };
            let page = MailboxPage { prefix: "", order, limit: MAILBOXES };
            let states: Vec<MailboxState> = self.room.mailboxes(&Caller::Program, page).await.map_err(readable)?;
            let Some(last) = states.last() else { return Ok(()) };
            after = Some(last.mailbox.clone());
            for state in &states {
                self.mailbox(&state.mailbox).await?;
            }
        }
    }

    async fn some(&mut self, names: &[Mailbox]) -> Result<()> {
        for mailbox in names {
            let before = (self.sum.messages, self.sum.unreadable);
            self.mailbox(mailbox).await?;
            if before == (self.sum.messages, self.sum.unreadable) {
                self.progress.tell(&format!("{} holds no mail", shown(mailbox.as_str())));
            }
        }
        Ok(())
    }

    /// Every message of a mailbox, the oldest first.
    async fn mailbox(&mut self, mailbox: &Mailbox) -> Result<()> {
        let spelling = self.room.spelling(mailbox).into_owned();
        let mut after: Option<Position> = None;
        let mut begun = false;
        loop {
            let page = Page { after, limit: SUMMARIES, order: Order::Oldest };
            let listing = self.room.list(&Caller::Program, mailbox, page).await.map_err(readable)?;
            for summary in &listing.items {
                after = Some(summary.id.into());
                let Some(stored) = self.read(mailbox, summary.id).await? else { continue };
                if !begun {
                    self.sink.begin(&spelling)?;
                    self.sum.mailboxes += 1;
                    begun = true;
                }
                self.sum.messages += 1;
                self.sum.bytes += stored.raw.len() as u64;
                self.sink.write(&spelling, summary.id, &letter(stored))?;
                self.progress.add(1);
            }
            if !listing.more || listing.items.is_empty() {
                break;
            }
        }
        self.name_damaged(mailbox);
        Ok(())
    }

    /// A message; none when it has gone meanwhile, or cannot be read.
    async fn read(&mut self, mailbox: &Mailbox, id: MessageId) -> Result<Option<Stored>> {
        let mut tries = 0;
        loop {
            tries += 1;
            match self.room.read(&Caller::Program, mailbox, Which::Id(id)).await {
                Ok(found) => return Ok(found),
                Err(mailroom::Error::Store(StoreError::TryLater { .. })) if tries < TRIES => {}
                Err(error) => {
                    tracing::debug!(%error, "a message cannot be read");
                    self.leave_out(mailbox, id);
                    return Ok(None);
                }
            }
        }
    }

    /// Name what the engine came upon in this mailbox, lists included, that leave damaged messages out.
    fn name_damaged(&mut self, mailbox: &Mailbox) {
        for id in (self.damaged)() {
            self.leave_out(mailbox, id);
        }
    }

    fn leave_out(&mut self, mailbox: &Mailbox, id: MessageId) {
        if self.named.insert(id) {
            self.sum.unreadable += 1;
            let place = format!("{}/{id}", shown(mailbox.as_str()));
            self.progress.tell(&format!("{place}: is damaged and left out; a backup may have it whole"));
        }
    }
}

fn readable(error: mailroom::Error) -> anyhow::Error {
    anyhow!(error).context("the store cannot be read; `postkeep store check` tells what is damaged")
}

fn letter(stored: Stored) -> Letter {
    Letter {
        received_at: Some(stored.summary.received_at),
        mail_from: Some(stored.envelope.reverse_path.clone()),
        rcpt_to: stored.envelope.recipients.iter().map(|recipient| recipient.address.clone()).collect(),
        raw: stored.raw.into(),
    }
}

/// Where messages go.
enum Sink {
    Mbox { to: Dir, open: Option<BufWriter<File>> },
    Maildir { to: Dir, open: Option<maildir::Writer> },
    Tar(Option<tar::Writer<BufWriter<Box<dyn Out>>>>),
}

/// What an archive is written to.
trait Out: Write {
    /// See to it that what is written stays.
    fn keep(&mut self) -> io::Result<()>;
}

impl Out for File {
    fn keep(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Out for io::Stdout {
    fn keep(&mut self) -> io::Result<()> {
        self.flush()
    }
}

impl Sink {
    fn open(wish: &Export) -> Result<Self> {
        if wish.is_to_stdout() && wish.format != Format::Eml {
            bail!(Misuse("only --format eml is one stream; name a directory with --to".into()));
        }
        Ok(match wish.format {
            Format::Mbox => Self::Mbox { to: Dir::fresh(&wish.to)?, open: None },
            Format::Maildir => Self::Maildir { to: Dir::fresh(&wish.to)?, open: None },
            Format::Eml => {
                let out: Box<dyn Out> =
                    if wish.is_to_stdout() { Box::new(io::stdout()) } else { Box::new(new_file(&wish.to)?) };
                Self::Tar(Some(tar::Writer::new(BufWriter::with_capacity(BUFFER, out))))
            }
        })
    }

    /// A mailbox begins.
    fn begin(&mut self, mailbox: &str) -> Result<()> {
        let begun = || format!("cannot begin {}", shown(mailbox));
        match self {
            Self::Mbox { to, open } => {
                flush(open)?;
                let file = mbox_file(to, mailbox).with_context(begun)?;
                *open = Some(BufWriter::with_capacity(BUFFER, file));
            }
            Self::Maildir { to, open } => *open = Some(maildir::Writer::begin(to, mailbox).with_context(begun)?),
            Self::Tar(_) => {}
        }
        Ok(())
    }

    fn write(&mut self, mailbox: &str, id: MessageId, letter: &Letter) -> Result<()> {
        let written = match self {
            Self::Mbox { open: Some(out), .. } => mbox::write(out, letter),
            Self::Maildir { open: Some(out), .. } => out.write(id, letter),
            Self::Tar(Some(out)) => out.write(mailbox, id, letter),
            _ => Err(io::Error::other("nothing is open")),
        };
        written.with_context(|| format!("cannot write {}/{id}", shown(mailbox)))
    }

    fn finish(&mut self) -> Result<()> {
        match self {
            Self::Mbox { open, .. } => flush(open),
            Self::Maildir { .. } => Ok(()),
            Self::Tar(out) => {
                let Some(out) = out.take() else { return Ok(()) };
                let mut out = out.finish()?;
                out.flush()?;
                Ok(out.get_mut().keep()?)
            }
        }
    }
}

fn flush(open: &mut Option<BufWriter<File>>) -> Result<()> {
    match open.take() {
        Some(mut out) => Ok(out.flush()?),
        None => Ok(()),
    }
}

/// `mailbox.mbox`, below directories when the name is long.
fn mbox_file(to: &Dir, mailbox: &str) -> Result<File> {
    let mut components = name::components(mailbox)?;
    let last = format!("{}.mbox", components.pop().unwrap_or_default());
    let mut inner: Option<Dir> = None;
    for component in &components {
        inner = Some(inner.as_ref().unwrap_or(to).enter(component)?);
    }
    Ok(inner.as_ref().unwrap_or(to).create(&last)?)
}

/// A file that was not there, for its owner alone; a link in its place is not followed.
fn new_file(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => anyhow!("it exists already; name a file that does not"),
        _ => error.into(),
    })
}
