//! What scripts would do with one mail: each hook in turn, with nothing stored and, unless asked for, nothing sent.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bytes::Bytes;
use jiff::Timestamp;
use mail::{
    Address, Digest, Door, Envelope, Mailbox, MessageId, Recipient, ReversePath, Summary, TransactionId, Transport,
};
use mailroom::hooks::{Arriving, Handling, Opinion};
use mailroom::{Decision, Verdict};

pub use crate::desk::Level;
use crate::desk::{Desk, Sink, Web};
use crate::event::{Client, Event, Kept, Paper, Said, Transaction};
use crate::leash::Leash;
use crate::notes::Notes;
use crate::program::Program;
use crate::settings::Settings;
use crate::vm::Vm;

/// A mail to try scripts with.
#[derive(Clone, Debug)]
pub struct Mail {
    /// Its bytes.
    pub raw: Bytes,
    /// MAIL FROM.
    pub sender: ReversePath,
    /// RCPT TO, in order.
    pub recipients: Vec<Address>,
    /// The client's address.
    pub peer: Option<IpAddr>,
    /// The client's name.
    pub helo: String,
}

/// A line that a script has logged.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// Which script.
    pub file: String,
    /// How much it matters.
    pub level: Level,
    /// What it says.
    pub text: String,
}

/// One event of a trial.
#[derive(Clone, Debug)]
pub struct Report {
    /// The event, as `before.rcpt_to`, and what it was about.
    pub event: String,
    /// Each handler that was asked: its file, its name, and how long it took.
    pub handlers: Vec<(String, String, Duration)>,
    /// What was logged meanwhile.
    pub lines: Vec<Line>,
    /// What came out, as a person reads it.
    pub outcome: String,
    /// Whether a script failed.
    pub failed: bool,
}

/// Whether a trial asks the network.
pub enum Network {
    /// What would be asked is shown.
    Shown,
    /// It is asked, by this client on this runtime.
    Asked(outbound::Client, tokio::runtime::Handle),
}

/// Try scripts with a mail, from the sender on until it would be kept and deleted.
pub fn run(program: Program, settings: &Settings, network: Network, mail: &Mail) -> Vec<Report> {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let web = match network {
        Network::Shown => Web::Shown,
        Network::Asked(client, runtime) => Web::Asked { client, runtime },
    };
    let notes = Arc::new(Notes::new(settings.notes_max));
    let sink = Sink::List(Arc::clone(&lines));
    let desk = Desk::new(Leash::new(|| ()), notes, web, sink, Arc::new(settings.clone()));
    let mut trial = Trial { program: Arc::new(program), desk, lines, reports: Vec::new() };
    trial.all(mail);
    trial.reports
}

struct Trial {
    program: Arc<Program>,
    desk: Arc<Desk>,
    lines: Arc<Mutex<Vec<Line>>>,
    reports: Vec<Report>,
}

impl Trial {
    fn all(&mut self, mail: &Mail) {
        let client = Client { helo: Some(mail.helo.clone()), peer: mail.peer, user: None };
        let transaction = |accepted: &[Recipient], recipient: Option<&Address>| Transaction {
            sender: mail.sender.clone(),
            accepted: accepted.iter().map(|recipient| recipient.address.clone()).collect(),
            recipient: recipient.cloned(),
            client: client.clone(),
        };
        let about = format!("before.mail_from <{}>", crate::event::written(&mail.sender));
        if !self.ask(about, &Event::MailFrom(Arc::new(transaction(&[], None)))) {
            return;
        }
        let mut accepted: Vec<Recipient> = Vec::new();
        for address in &mail.recipients {
            let event = Event::RcptTo(Arc::new(transaction(&accepted, Some(address))));
            if self.ask(format!("before.rcpt_to <{address}>"), &event)
                && let Ok(mailbox) = self.desk.settings.naming.mailbox(address)
            {
                accepted.push(Recipient { address: address.clone(), mailbox });
            }
        }
        if !accepted.is_empty() {
            self.message(mail, accepted);
        }
    }

    fn message(&mut self, mail: &Mail, accepted: Vec<Recipient>) {
        let arriving = arriving(mail, accepted);
        let event = Event::Message(Arc::new(Paper::new(arriving.clone())));
        let Some(Said::Handling(handling)) = self.step("before.message".to_owned(), &event) else { return };
        if handling.verdict.decision != Decision::Accept {
            return;
        }
        let mailboxes = handling.mailboxes.clone().unwrap_or_else(|| arriving.mailboxes.clone());
        for (number, mailbox) in mailboxes.into_iter().enumerate() {
            let summary = Arc::new(summary(&arriving, &handling, number as u64 + 1));
            let about = format!("after.message in {mailbox}");
            let kept = Arc::new(Kept { mailbox, summary });
            self.step(about, &Event::Delivered(Arc::clone(&kept)));
            self.step(format!("after.delete from {}, once it is deleted", kept.mailbox), &Event::Deleted(kept));
        }
    }

    /// A question about a sender or a recipient; whether it goes on.
    fn ask(&mut self, about: String, event: &Event) -> bool {
        match self.step(about, event) {
            Some(Said::Opinion(Opinion::Judge(verdict))) => !verdict.is_refusal(),
            Some(_) => true,
            None => false,
        }
    }

    /// One event; none when a script failed.
    fn step(&mut self, event: String, asked: &Event) -> Option<Said> {
        if !self.program.wants(asked.moment()) {
            return Some(asked.usual());
        }
        let settings = Arc::clone(&self.desk.settings);
        let time = if asked.is_over() { settings.after_deadline } else { settings.deadline };
        let mut handlers = Vec::new();
        let mut tell =
            |step: crate::vm::Step| handlers.push((step.file.to_string(), step.handler.to_string(), step.took));
        let said = Vm::new(&self.program, &self.desk)
            .map_err(|error| crate::failure::Failure::of("script", &error))
            .and_then(|vm| vm.run(asked, Instant::now() + time, &mut tell));
        let outcome = match &said {
            Ok(said) => told(said, asked, &settings),
            Err(failure) => format!("failed: {failure}"),
        };
        let lines = std::mem::take(&mut *self.lines.lock().unwrap_or_else(PoisonError::into_inner));
        self.reports.push(Report { event, handlers, lines, outcome, failed: said.is_err() });
        said.ok()
    }
}

fn arriving(mail: &Mail, recipients: Vec<Recipient>) -> Arriving {
    let mut mailboxes: Vec<Mailbox> = Vec::new();
    for recipient in &recipients {
        if !mailboxes.contains(&recipient.mailbox) {
            mailboxes.push(recipient.mailbox.clone());
        }
    }
    let transport = Transport {
        door: Door::Esmtp,
        utf8: false,
        helo: mail.helo.clone(),
        peer: mail.peer,
        tls: None,
        auth_user: None,
    };
    let transaction = TransactionId::new(1);
    let envelope = Envelope { transaction, reverse_path: mail.sender.clone(), recipients, transport };
    Arriving {
        digest: Digest::of(&mail.raw),
        raw: mail.raw.clone(),
        envelope: Arc::new(envelope),
        received_at: Timestamp::now(),
        mailboxes,
    }
}

fn summary(arriving: &Arriving, handling: &Handling, number: u64) -> Summary {
    let author = || Paper::new(arriving.clone()).author();
    let recipients = &arriving.envelope.recipients;
    Summary {
        id: MessageId::new(number),
        received_at: arriving.received_at,
        size: arriving.raw.len() as u64,
        from: handling.from.clone().unwrap_or_else(author),
        subject: handling.subject.clone().unwrap_or_else(|| arriving.digest.subject.clone()),
        mail_from: arriving.envelope.reverse_path.clone(),
        rcpt_to: recipients.iter().take(mail::summary::RCPT_MAX).map(|recipient| recipient.address.clone()).collect(),
        transaction: arriving.envelope.transaction,
        other_recipients: 0,
        expires: None,
        tags: handling.tags.clone(),
    }
}

/// What scripts said, for a person.
fn told(said: &Said, event: &Event, settings: &Settings) -> String {
    match said {
        Said::Opinion(Opinion::Defer) => "goes on: policy decides".to_owned(),
        Said::Opinion(Opinion::Allow) => "accepted, whatever policy says of the domain".to_owned(),
        Said::Opinion(Opinion::Judge(verdict)) => judged(verdict).unwrap_or_else(|| "accepted".to_owned()),
        Said::Nothing => "told".to_owned(),
        Said::Handling(handling) => judged(&handling.verdict).unwrap_or_else(|| handled(handling, event, settings)),
    }
}

fn judged(verdict: &Verdict) -> Option<String> {
    match &verdict.decision {
        Decision::Accept => None,
        Decision::Discard => Some("discarded: the client hears 250 and nothing is kept".to_owned()),
        Decision::Refuse(status) => {
            let (class, subject, detail) = status.enhanced;
            Some(format!("refused: {} {class}.{subject}.{detail} {}", status.code, status.text))
        }
    }
}

fn handled(handling: &Handling, event: &Event, settings: &Settings) -> String {
    let Event::Message(paper) = event else { return String::new() };
    let mailboxes = handling.mailboxes.as_ref().unwrap_or(&paper.arriving.mailboxes);
    let names: Vec<_> = mailboxes.iter().map(|mailbox| settings.naming.spelling(mailbox)).collect();
    let mut text = format!("kept in {}", names.join(", "));
    if !handling.tags.is_empty() {
        text += &format!("; tagged {}", handling.tags.join(", "));
    }
    if let Some(subject) = &handling.subject {
        text += &format!("; listed with the subject {subject:?}");
    }
    if let Some(from) = &handling.from {
        text += &format!("; listed as from {}", from.display());
    }
    text
}
