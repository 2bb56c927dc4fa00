//! Asking all nodes, and answering those who ask.

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Desk, Nodes, similar, wire};
use crate::error::Result;
use crate::room::Mailroom;

/// What nodes ask each other about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Topic {
    Recent,
    Mailboxes,
    Refusals,
}

impl Topic {
    pub(crate) const ALL: [Self; 3] = [Self::Recent, Self::Mailboxes, Self::Refusals];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Recent => "recent",
            Self::Mailboxes => "mailboxes",
            Self::Refusals => "refusals",
        }
    }

    /// What this node has to say; nothing when it does not understand the question.
    pub(crate) fn answer(self, room: &Mailroom, question: &[u8]) -> Bytes {
        let answer = match self {
            Self::Recent => wire::read(question).map(|asked| wire::write(&room.recent.recent(&asked))),
            Self::Mailboxes => wire::read(question).map(|asked| wire::write(&room.recent.names(&asked))),
            Self::Refusals => wire::read(question).map(|asked| wire::write(&similar::own_refusals(room, &asked))),
        };
        answer.unwrap_or_default()
    }
}

impl Desk<'_> {
    /// What this node and all others say, as far as they answer in time.
    pub(super) async fn gather<Q: Serialize, A: DeserializeOwned>(
        &self,
        topic: Topic,
        question: &Q,
        own: A,
    ) -> Result<(Vec<A>, Nodes)> {
        let within = self.room.recent_limits.gather_max;
        let gathered = self.store.peers().ask(topic.name(), wire::write(question), within).await?;
        let mut answers = vec![own];
        answers.extend(gathered.answers.iter().filter_map(|octets| wire::read(octets)));
        let nodes = Nodes { complete: false, asked: gathered.asked + 1, answered: answers.len() };
        Ok((answers, nodes))
    }
}
