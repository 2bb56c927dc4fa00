//! Where the clients of a campaign go: one door for each server under trial. A server that comes back has another one.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Result;

use crate::load::chance::Chance;
use crate::load::server::Server;

/// A server as its clients see it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Door {
    /// Which of the servers.
    pub(crate) number: usize,
    pub(crate) smtp: SocketAddr,
    pub(crate) http: SocketAddr,
    /// The address that clients come from.
    pub(crate) from: Ipv4Addr,
}

impl Door {
    pub(super) fn of(server: &Server, number: usize, from: Ipv4Addr) -> Result<Self> {
        Ok(Self { number, smtp: server.address("smtp")?, http: server.address("http")?, from })
    }
}

/// All of them, those that are open and those that are not.
#[derive(Default)]
pub(crate) struct Doors(Mutex<Vec<Option<Door>>>);

impl Doors {
    pub(super) fn open(&self, door: Door) {
        let mut all = self.all();
        let length = all.len().max(door.number + 1);
        all.resize(length, None);
        all[door.number] = Some(door);
    }

    /// Nobody goes there any more.
    pub(super) fn close(&self, number: usize) {
        if let Some(door) = self.all().get_mut(number) {
            *door = None;
        }
    }

    /// Those that are open.
    pub(crate) fn opened(&self) -> Vec<Door> {
        self.all().iter().flatten().copied().collect()
    }

    /// The open ones, beginning with any of them.
    pub(super) fn shuffled(&self, chance: &mut Chance) -> Vec<Door> {
        let mut doors = self.opened();
        if !doors.is_empty() {
            let first = chance.below(doors.len());
            doors.rotate_left(first);
        }
        doors
    }

    fn all(&self) -> MutexGuard<'_, Vec<Option<Door>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
