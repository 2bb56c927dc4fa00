//! What the nodes say about themselves: `/readyz` of each, asked again and again while something happens to the cluster.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle, sleep};
use std::time::{Duration, Instant};

use super::checker::{Kind, Violation};
use super::doors::Doors;
use super::history::{Outcome, Send};

/// How often each is asked.
pub(crate) const EVERY: Duration = Duration::from_millis(100);
/// A node that takes no mail says so within this time.
const SILENT_MAX: Duration = Duration::from_secs(5);
/// One that takes longer says no.
const PATIENCE: Duration = Duration::from_secs(1);

/// The watch under way.
pub(crate) struct Watch {
    over: Arc<AtomicBool>,
    watchers: Vec<JoinHandle<Vec<Said>>>,
}

/// What a node said, and when.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said {
    pub(crate) node: usize,
    pub(crate) ready: bool,
    pub(crate) at: Instant,
}

impl Watch {
    /// Ask all nodes whose doors are open.
    pub(crate) fn begin(doors: &Arc<Doors>, nodes: usize) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let watcher = |node| {
            let (doors, over) = (Arc::clone(doors), Arc::clone(&over));
            thread::spawn(move || watch(node, &doors, &over))
        };
        Self { watchers: (0..nodes).map(watcher).collect(), over }
    }

    /// Everything that was said, in the order of time.
    pub(crate) fn end(self) -> Vec<Said> {
        self.over.store(true, Ordering::Relaxed);
        let mut said: Vec<_> = self.watchers.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect();
        said.sort_by_key(|said| said.at);
        said
    }
}

fn watch(node: usize, doors: &Doors, over: &AtomicBool) -> Vec<Said> {
    let mut all = Vec::new();
    while !over.load(Ordering::Relaxed) {
        let asked = Instant::now();
        if let Some(door) = doors.opened().into_iter().find(|door| door.number == node) {
            let ready = is_ready(door.http);
            all.push(Said { node, ready, at: Instant::now() });
        }
        sleep(EVERY.saturating_sub(asked.elapsed()));
    }
    all
}

/// Whether a node says that it can do its work.
pub(crate) fn is_ready(address: SocketAddr) -> bool {
    ask(address).is_some_and(|answer| answer.starts_with("HTTP/1.1 200 "))
}

fn ask(address: SocketAddr) -> Option<String> {
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    write!(stream, "GET /readyz HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = [0; 13];
    stream.read_exact(&mut answer).ok()?;
    String::from_utf8(answer.to_vec()).ok()
}

/// When nodes turned red, and when all were green again.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Lights {
    /// From the blow to the first no of these nodes' last.
    pub(crate) red: Option<Duration>,
    /// From the mending to the last no of any.
    pub(crate) green: Option<Duration>,
}

impl Lights {
    /// Of what was said; `all_of` are the nodes that ought to turn red, none where any may or may not.
    pub(crate) fn of(said: &[Said], struck: Instant, mended: Instant, all_of: &[usize]) -> Self {
        let first_no = |node: Option<usize>| {
            let mut nos = said.iter().filter(|said| !said.ready && said.at >= struck);
            nos.find(|said| node.is_none_or(|node| said.node == node)).map(|said| said.at - struck)
        };
        let red = match all_of {
            [] => first_no(None),
            nodes => nodes
                .iter()
                .map(|node| first_no(Some(*node)))
                .collect::<Option<Vec<_>>>()
                .and_then(|all| all.into_iter().max()),
        };
        let last_no = said.iter().rev().find(|said| !said.ready && said.at >= struck);
        let green = last_no.map(|said| (said.at + EVERY).saturating_duration_since(mended));
        Self { red, green }
    }
}

/// Nodes that took no mail while the fault lasted, although they were asked to, and never said so in time.
pub(crate) fn liars(said: &[Said], [struck, mended]: [Instant; 2], sends: &[Send], nodes: usize) -> Vec<Violation> {
    let due = struck + SILENT_MAX;
    let lies = |node: &usize| {
        let ended = |send: &Send| send.at + send.waited.unwrap_or_default();
        let asked: Vec<_> = sends.iter().filter(|send| send.door == *node && send.waited.is_some()).collect();
        let waiting = asked.iter().any(|send| send.at < due && ended(send) > due + EVERY && due < mended);
        let within = |at: Instant| at > struck && at < mended;
        let served = asked.iter().any(|send| send.outcome == Outcome::Done && within(ended(send)));
        let told =
            said.iter().any(|said| said.node == *node && !said.ready && said.at > struck && said.at <= due + EVERY);
        waiting && !served && !told
    };
    let what = |node| format!("node {} took no mail for {SILENT_MAX:?} and more, and said that it is ready", node + 1);
    (0..nodes).filter(lies).map(|node| Violation::new(Kind::Ready, what(node))).collect()
}

#[cfg(test)]
mod tests {
    use super::super::history::{Canary, OPEN, Span};
    use super::*;

    #[test]
    fn a_node_that_takes_no_mail_and_says_nothing_is_found_out() {
        let struck = Instant::now();
        let at = |seconds| struck + Duration::from_secs(seconds);
        let send = |begin, waited, outcome| Send {
            canary: Canary { round: 1, client: 0, turn: 0 },
            mailboxes: Vec::new(),
            at: at(begin),
            span: Span { begin: 1, end: OPEN },
            outcome,
            door: 0,
            waited: Some(Duration::from_secs(waited)),
        };
        let found = |said: &[Said], sends: &[Send]| liars(said, [struck, at(10)], sends, 1).len();
        let no = |seconds| Said { node: 0, ready: false, at: at(seconds) };
        let stuck = send(1, 19, Outcome::Unknown);
        assert_eq!(found(&[], std::slice::from_ref(&stuck)), 1);
        assert_eq!(found(&[no(7)], std::slice::from_ref(&stuck)), 1, "too late");
        assert_eq!(found(&[no(4)], std::slice::from_ref(&stuck)), 0);
        assert_eq!(found(&[], &[stuck.clone(), send(2, 0, Outcome::Done)]), 0, "it takes some mail");
        assert_eq!(found(&[], &[stuck, send(1, 11, Outcome::Done)]), 1, "only when all was over");
        assert_eq!(found(&[], &[send(1, 2, Outcome::Unknown)]), 0, "nobody waited for so long");
    }

    #[test]
    fn lights_are_told_from_the_first_no_and_the_last() {
        let struck = Instant::now();
        let at = |ms| struck + Duration::from_millis(ms);
        let said: Vec<_> =
            [(0, true, 0), (1, true, 0), (0, false, 400), (1, false, 700), (0, false, 2000), (1, true, 2100)]
                .map(|(node, ready, ms)| Said { node, ready, at: at(ms) })
                .into();
        let lights = |all_of: &[usize]| Lights::of(&said, struck, at(1500), all_of);
        assert_eq!(lights(&[]).red, Some(Duration::from_millis(400)));
        assert_eq!(lights(&[0, 1]).red, Some(Duration::from_millis(700)));
        assert_eq!(lights(&[0, 2]).red, None, "one that ought to and did not");
        assert_eq!(lights(&[]).green, Some(Duration::from_millis(600)));
    }
}
