//! `postkeep health`: whether a server takes mail, for images that have no shell and no curl. Where nobody names a server, it
//! is the one that this configuration would start.

use std::time::{Duration, Instant};

use clap::Args;
use client::Client;
use net::Place;

use super::super::Given;
use super::at::At;
use super::matchers::duration;
use super::{Failure, block};
use crate::config::Checked;

/// Between two questions.
const PAUSE: Duration = Duration::from_millis(50);

pub(crate) const HEALTH_EXAMPLES: &str = "\
Asks /readyz of the server that --server, POSTKEEP_URL or client.toml name; else of the one that the configuration describes, \
which is found by the same --config, --set and variables as serve takes. It prints nothing when all is well.

Exit codes:
  0  it takes mail
  2  a mistake in the configuration or on the command line
  3  no server answers
  5  it answers, and does not take mail

Examples:
  postkeep health
  postkeep health --server http://mail-1:8025
  postkeep & postkeep health --wait 10s
  HEALTHCHECK CMD [\"/postkeep\", \"health\"]";

#[derive(Debug, Args)]
pub(crate) struct HealthArgs {
    /// Ask again for so long, until it does
    #[arg(long, value_name = "TIME", value_parser = duration, default_value = "0s", hide_default_value = true)]
    wait: Duration,
    #[command(flatten)]
    given: Given,
    #[command(flatten)]
    at: At,
}

pub(super) fn health(given: Given, args: HealthArgs) -> Result<(), Failure> {
    let client = if args.at.is_told()? { args.at.client()? } else { configured(given, args.given)? };
    block(until_ready(&client, args.wait))
}

async fn until_ready(client: &Client, patience: Duration) -> Result<(), Failure> {
    let until = Instant::now() + patience;
    loop {
        match client.ready().await {
            Err(_) if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            done => return Ok(done?),
        }
    }
}

fn configured(given: Given, more: Given) -> Result<Client, Failure> {
    let checked = Checked::of(&given.over(more)).map_err(|report| Failure::misused(report.to_string().trim_end()))?;
    let places = checked.config().doors.of("http").to_vec();
    let address = places.iter().find_map(|place| match place {
        Place::Tcp(address) => Some(reachable(address)),
        Place::Unix(_) => None,
    });
    let address = address.ok_or_else(|| Failure::misused("http.addr names no port to ask; give --server"))?;
    Ok(Client::new(&format!("http://{address}"))?)
}

/// An address that listens everywhere is asked on this machine.
fn reachable(address: &str) -> String {
    match address.rsplit_once(':') {
        Some(("0.0.0.0" | "*" | "", port)) => format!("127.0.0.1:{port}"),
        Some(("[::]", port)) => format!("[::1]:{port}"),
        _ => address.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_listens_everywhere_is_asked_here() {
        for (address, expected) in [
            ("0.0.0.0:80", "127.0.0.1:80"),
            ("[::]:80", "[::1]:80"),
            ("10.0.0.7:80", "10.0.0.7:80"),
            ("localhost:80", "localhost:80"),
        ] {
            assert_eq!(reachable(address), expected);
        }
    }
}
