//! Everything a developer runs, as `cargo xtask …`. It knows the repository, not the product: the server is a binary
//! to start and to measure, never a library to call.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a command for people: what it prints is what it is for")]

mod args;
#[cfg(target_os = "linux")]
mod bench;
mod ci;
#[cfg(target_os = "linux")]
mod cluster;
#[cfg(target_os = "linux")]
mod crash;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod interop;
#[cfg(target_os = "linux")]
mod leaving;
#[cfg(target_os = "linux")]
mod load;
#[cfg(target_os = "linux")]
mod long;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
mod schemathesis;
mod shell;
mod tidy;
#[cfg(target_os = "linux")]
mod webhooks;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::args::Args;

const HELP: &str = "\
cargo xtask ci                                    what CI runs: fmt, clippy, tidy, tests, a short crash campaign, the page, docs
                                                  (and deny where installed)
cargo xtask tidy                                  the repository's own rules: walls, sizes, links, banned crates
cargo xtask bench [smtp|http|start|disk|cluster|tls|all]
                                                  speed, beside a yardstick in the same run
    --rounds N --seconds N                        how often and how long (5 and 5)
    --connections N --size 20KB                   cluster only: messages on their way at once (64), and of one size only
    --write                                       put the table into docs/performance.md
    --bin PATH                                    a binary that is already built
cargo xtask cluster up                            three brokers and three nodes on this machine, until Ctrl-C
    --servers N --nodes N                         how many
    --set KEY=VALUE                               a setting of every node
    --port-base N                                 the nodes' ports, from N on: SMTP and HTTP of the first, the second…
    --bin PATH                                    a binary that is already built
    --folder PATH                                 where data and logs lie (target/cluster); kept from one run to the next
cargo xtask cluster [down|status|wipe]            stop it; how everybody is; remove the data (with --folder as above)
cargo xtask cluster broker kill [NAME]            kill a broker: this one, the one that leads a stream (--leader STREAM),
                                                  or one by chance (--seed N)
cargo xtask cluster broker back                   bring back what is down, and wait until all are healthy
cargo xtask cluster run -- COMMAND…               brokers (and --nodes N, --set, …) for as long as the command runs; its
                                                  words may hold {urls}, {smtp1}, {http1}, …, {folder} and {xtask}
cargo xtask crash                                 kill the server under load, again and again, and hold what is there
                                                  after it against what the clients were told
    --rounds N --seed S                           how often (100), and a seed to do the same again
    --set KEY=VALUE                               a setting of the server; store.engine=disk is set already
    --syscalls                                    instead: kill it at every write and sync, by strace
    --lying                                       instead: a build that acknowledges too early, which must be found out
    --engine jetstream                            instead: brokers and nodes, any of which may be killed
    --nodes N --servers N --shards N --body-shards N
                                                  how many of them, and over how many streams mail is spread (3, 3, 4, 2)
    --bin PATH                                    a binary that is already built
cargo xtask interop                               real mail programs send to and read from the server; docs/interop.md is
                                                  made anew by a whole run
    --only NAME,… --short                         some programs; all letters over one transport only, a few over the others
    --seed N                                      which transport that is
    --install                                     instead: install the programs that are missing
    --bin PATH                                    a binary that is already built
cargo xtask page                                  the page: types, lint and unit tests, whether ui/dist is what ui/ gives, and
                                                  real browsers on the real binary; installs what ui/package-lock.json names
    --short | --long                              the memory engine alone (as CI does), or every engine and full sizes
    --bin PATH                                    a binary that is already built
cargo xtask webhooks                              the receiver of docs/webhooks.md, as it stands there, believes our signatures
    --install                                     the package that it verifies with
    --bin PATH                                    a binary that is already built
cargo xtask schemathesis                          requests made from the API's description, and every answer held against it
    --engine NAME --examples N --seed N           memory, disk or jetstream alone; how many requests of a kind (20)
    --install                                     instead: install Schemathesis
    --bin PATH                                    a binary that is already built
cargo xtask long [fuzz|portable|hold|slow|crash|power|disk|cluster|faults|tls|api|leaving|page|mixed|bench|all]
                                                  what takes longer than CI has time for
    --seconds N                                   how long each fuzz target, and the slow clients, run (60)
    --rounds N --seed S                           how often the server is killed (1000), or loses its power (50; as root)
    --lying                                       power and faults only: fake or leave out every sync, which must be found
                                                  out
    faults NAME…                                  what can happen to a cluster, all of it or by name: `faults help` tells
                                                  the names; --rounds N (10), --write
    --scale X --write                             disk only (growth, expiry, reopen, turnover, also by name), and
                                                  cluster (cluster stale, cluster mailboxes, cluster turnover), and tls
                                                  (tls hold, tls storm): a smaller size for trying out; put the
                                                  tables into docs/
    --engine NAME                                 api (waits, kit, events, also by name) only: memory, disk or
                                                  jetstream alone; --scale X, --write
    leaving [events|full|pace]                    webhooks to a receiver that fails while the server is killed; --minutes N
                                                  (10) for how long it is gone, --engine NAME, --write
    --minutes N                                   mixed only: how long everybody is there at once (60)
    --shards N                                    cluster mailboxes only: streams of summaries, and of bodies (1)
    --bin PATH                                    a binary that is already built
";

fn main() -> ExitCode {
    match run(Args::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(mut args: Args) -> Result<()> {
    match args.word().as_deref() {
        Some("ci") => ci::run(args),
        Some("tidy") => tidy::run(args),
        #[cfg(target_os = "linux")]
        Some("bench") => bench::run(args),
        #[cfg(target_os = "linux")]
        Some("cluster") => cluster::run(args),
        #[cfg(target_os = "linux")]
        Some("crash") => crash::run(args),
        #[cfg(target_os = "linux")]
        Some("interop") => interop::run(args),
        #[cfg(target_os = "linux")]
        Some("page") => page::run(args),
        #[cfg(target_os = "linux")]
        Some("schemathesis") => schemathesis::run(args),
        #[cfg(target_os = "linux")]
        Some("webhooks") => webhooks::run(args),
        #[cfg(target_os = "linux")]
        Some("long") => long::run(args),
        #[cfg(not(target_os = "linux"))]
        Some("bench" | "cluster" | "crash" | "interop" | "page" | "schemathesis" | "webhooks" | "long") => {
            bail!("this reads /proc and so runs on Linux only")
        }
        None | Some("help" | "--help" | "-h") => {
            print!("{HELP}");
            Ok(())
        }
        Some(word) => bail!("there is no `{word}` here; what there is:\n{HELP}"),
    }
}
