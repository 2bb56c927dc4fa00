//! `GET /api/v2/mailboxes/{name}/export`: all messages of a mailbox as one file, made while it is sent. Two messages at
//! most are held for it, and they count among the answers under way.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use hyper::body::Frame;
use jiff::tz::Offset;
use mail::{Mailbox, MessageId};
use mailroom::{Caller, Order, Page, Position, Stored, Which};
use tokio::sync::mpsc::{Receiver, Sender, channel};

use super::params::Params;
use super::zip::Archive;
use super::{About, Answer, Kind, Param, Shape, reading};
use crate::asked::{Asked, mailbox};
use crate::attachment::disposition;
use crate::problem::Problem;
use crate::shared::{Shared, placed};

pub(crate) const EXPORT: About = About {
    id: "exportMailbox",
    summary: "Export a mailbox",
    detail: "All messages, oldest first: as one mbox file (mboxrd), or as a ZIP archive with one .eml for each. It is made \
             while it is sent; one that breaks off is not whole.",
    params: &[Param::new("format", Kind::Word(&["mbox", "zip"]), "mbox unless said.")],
    bodies: &[],
    answers: &[
        Answer { status: 200, about: "The file.", media_type: "application/mbox", shape: Shape::Bytes },
        Answer { status: 200, about: "The file.", media_type: "application/zip", shape: Shape::Bytes },
    ],
    problems: &["bad-mailbox"],
};

/// Summaries that are asked for at once.
const STRIDE: usize = 200;
/// How long a message waits for a place among the answers before that is asked for again.
const PAUSE: Duration = Duration::from_millis(100);

/// What the file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Format {
    Mbox,
    Zip,
}

type Piece = Result<Bytes, Cut>;

/// The file ends before its end: the connection is broken off, so that nobody takes it for whole.
#[derive(Debug, thiserror::Error)]
#[error("the export was cut off")]
struct Cut;

pub(crate) async fn export(shared: &Arc<Shared>, asked: &Asked) -> Result<Response, Problem> {
    let [name, _export] = asked.tail();
    let mailbox = mailbox(shared, name)?;
    let format = match Params::read(asked, EXPORT.params)?.word("format", &["mbox", "zip"])? {
        Some(1) => Format::Zip,
        _ => Format::Mbox,
    };
    // Both questions are put before an answer begins, so that a refusal is a proper one.
    let first = Page { after: None, limit: 1, order: Order::Oldest };
    shared.mailroom.list(&asked.caller, &mailbox, first).await.map_err(reading)?;
    shared.mailroom.read(&asked.caller, &mailbox, Which::Id(MessageId::new(0))).await.map_err(reading)?;
    let (ending, media_type) = match format {
        Format::Mbox => ("mbox", HeaderValue::from_static("application/mbox")),
        Format::Zip => ("zip", HeaderValue::from_static("application/zip")),
    };
    let filename = format!("{}.{ending}", shared.mailroom.spelling(&mailbox));
    let fields: [(HeaderName, HeaderValue); 2] =
        [(CONTENT_TYPE, media_type), (CONTENT_DISPOSITION, disposition("attachment", &filename))];
    let (pieces, come) = channel(1);
    let clerk = Clerk { shared: Arc::clone(shared), caller: asked.caller.clone(), mailbox, format, pieces };
    tokio::spawn(clerk.run());
    Ok((fields, Body::new(Pieces(come))).into_response())
}

/// Makes the file, piece by piece, as long as somebody takes it.
struct Clerk {
    shared: Arc<Shared>,
    caller: Caller,
    mailbox: Mailbox,
    format: Format,
    pieces: Sender<Piece>,
}

/// Nobody takes it any more, or it cannot be made.
struct Over;

impl Clerk {
    async fn run(self) {
        let mut archive = Archive::default();
        if self.messages(&mut archive).await.is_ok() && self.format == Format::Zip {
            let _ = self.pieces.send(Ok(archive.finish().into())).await;
        }
    }

    async fn messages(&self, archive: &mut Archive) -> Result<(), Over> {
        let mut after = None;
        loop {
            let page = Page { after, limit: STRIDE, order: Order::Oldest };
            let listing = self.cut(self.shared.mailroom.list(&self.caller, &self.mailbox, page).await).await?;
            for summary in &listing.items {
                let read = self.shared.mailroom.read(&self.caller, &self.mailbox, Which::Id(summary.id)).await;
                // One that went meanwhile is left out.
                if let Some(stored) = self.cut(read).await? {
                    self.message(archive, stored).await?;
                }
            }
            after = listing.items.last().filter(|_| listing.more).map(|last| Position::from(last.id));
            if after.is_none() {
                return Ok(());
            }
        }
    }

    async fn message(&self, archive: &mut Archive, stored: Stored) -> Result<(), Over> {
        let (summary, raw) = (&stored.summary, stored.raw.clone());
        let place = self.place(raw.len()).await?;
        match self.format {
            Format::Mbox => {
                let mut piece = Vec::with_capacity(raw.len() + 128);
                mail::mbox::write(&mut piece, &summary.mail_from, summary.received_at, &raw).map_err(|_| Over)?;
                self.send(placed(piece, place)).await
            }
            Format::Zip => {
                let at = Offset::UTC.to_datetime(summary.received_at);
                let local = archive.file(&format!("{}.eml", summary.id), &raw, at);
                self.send(local.into()).await?;
                self.send(placed(raw, place)).await
            }
        }
    }

    /// Wait for a place among the answers under way, as long as somebody still takes this one.
    async fn place(&self, bytes: usize) -> Result<Option<net::Reservation>, Over> {
        loop {
            if let Ok(place) = self.shared.place(bytes) {
                return Ok(place);
            }
            tokio::select! {
                () = self.pieces.closed() => return Err(Over),
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
    }

    async fn send(&self, piece: Bytes) -> Result<(), Over> {
        self.pieces.send(Ok(piece)).await.map_err(|_| Over)
    }

    /// After an error nothing can follow but the end of the connection.
    async fn cut<T>(&self, answer: mailroom::Result<T>) -> Result<T, Over> {
        match answer {
            Ok(answer) => Ok(answer),
            Err(error) => {
                tracing::warn!(%error, "an export was cut off");
                let _ = self.pieces.send(Err(Cut)).await;
                Err(Over)
            }
        }
    }
}

/// The file as the body of an answer.
struct Pieces(Receiver<Piece>);

impl HttpBody for Pieces {
    type Data = Bytes;
    type Error = Cut;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Cut>>> {
        self.0.poll_recv(context).map(|piece| piece.map(|piece| piece.map(Frame::data)))
    }
}
