//! The limit of open files: raised as far as it goes at the start, and where that is not far enough the numbers of
//! connections are cut to fit. A server that runs out of files cannot even turn a client away.

use crate::config::{Config, Engine};

/// Files for everything that is no connection: the standard streams, listeners, signals, and connections on their way
/// to being turned away.
const RESERVE: u64 = 40;
/// Files of each worker's event loop.
const PER_WORKER: u64 = 4;
/// Files of the disk engine with its index, and of each of its readers.
const DISK: u64 = 24;
const PER_READER: u64 = 3;
/// Files of the connections to brokers, and of those that are just being made or looked up.
const BROKERS: u64 = 16;

/// Raise the limit and cut the connections to fit; a sentence when something was cut.
pub(crate) fn fit(config: &mut Config, workers: usize) -> Option<String> {
    cut(config, workers, raise()?)
}

/// Share what the limit leaves between the protocols in the proportion they were asked for.
fn cut(config: &mut Config, workers: usize, files: u64) -> Option<String> {
    let store = match &config.store.engine {
        Engine::Memory(_) => 0,
        Engine::Disk(disk) => DISK + PER_READER * disk.readers as u64,
        Engine::Jetstream(_) => BROKERS,
    };
    let reserve = RESERVE + PER_WORKER * workers as u64 + store;
    let room = files.saturating_sub(reserve).max(3);
    let mut shares = [
        ("smtp.connections_max", &mut config.smtp.connections_max),
        ("http.connections_max", &mut config.http.connections_max),
        ("pop3.connections_max", &mut config.pop3.connections_max),
    ];
    let all: u64 = shares.iter().map(|(_, share)| **share as u64).sum();
    if all <= room {
        return None;
    }
    let mut told = Vec::new();
    for (key, share) in &mut shares {
        let fits = (room * **share as u64 / all).max(1) as usize;
        told.push(format!("{key} is {fits} instead of {share}"));
        **share = fits;
    }
    Some(format!(
        "the limit of open files is {files} here, so {}; raise the limit (ulimit -Hn) to have them whole",
        told.join(", ")
    ))
}

/// Raise the soft limit to the hard one; the limit that holds now, none when there is none.
#[cfg(unix)]
fn raise() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // macOS calls the hard limit infinite and takes no more than this.
    const FALLBACK: u64 = 10_240;
    for wanted in [limit.maximum, Some(FALLBACK)] {
        let higher = match (limit.current, wanted) {
            (Some(current), Some(wanted)) => wanted > current,
            (Some(_), None) => true,
            (None, _) => false,
        };
        let raised = Rlimit { current: wanted, maximum: limit.maximum };
        if !higher || setrlimit(Resource::Nofile, raised).is_ok() {
            break;
        }
    }
    getrlimit(Resource::Nofile).current
}

/// Windows has no such limit.
#[cfg(not(unix))]
fn raise() -> Option<u64> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Checked, Sources};

    fn check(files: u64, asked: [usize; 3], expected: [usize; 3]) {
        let mut config = Checked::of(&Sources::default()).unwrap().config();
        let [smtp, http, pop3] = asked;
        (config.smtp.connections_max, config.http.connections_max) = (smtp, http);
        config.pop3.connections_max = pop3;
        let said = cut(&mut config, 2, files);
        let fits = [config.smtp.connections_max, config.http.connections_max, config.pop3.connections_max];
        assert_eq!(fits, expected, "{files} files");
        assert_eq!(said.is_some(), asked != expected, "{said:?}");
    }

    #[test]
    fn f08_connections_are_cut_to_the_files_there_are() {
        check(20_000, [12_000, 4_000, 2_000], [12_000, 4_000, 2_000]);
        check(18_048, [12_000, 4_000, 2_000], [12_000, 4_000, 2_000]);
        check(18_047, [12_000, 4_000, 2_000], [11_999, 3_999, 1_999]);
        check(138, [12_000, 4_000, 2_000], [60, 20, 10]);
        check(144, [1_000_000, 1, 1], [95, 1, 1]);
        check(144, [1, 1_000_000, 1], [1, 95, 1]);
        check(0, [12_000, 4_000, 2_000], [2, 1, 1]);
    }

    #[test]
    #[cfg(unix)]
    fn the_soft_limit_becomes_the_hard_one() {
        use rustix::process::{Resource, getrlimit};
        let holds = raise();
        let limit = getrlimit(Resource::Nofile);
        assert_eq!(holds, limit.current);
        assert!(limit.current == limit.maximum || limit.current >= Some(10_240), "{limit:?}");
    }
}
