//! Sessions that are kept all the time: they work a little every few seconds, and may never be dropped, whatever happens
//! to the certificate meanwhile.

use std::future::Future;
use std::time::Duration;

use anyhow::{Result, ensure};
use postkeep_bench::letter::letter;
use postkeep_bench::{Door, pop3, rest, smtp};

use crate::Client;
use crate::site::Site;

const PAUSE: Duration = Duration::from_secs(2);
/// After so many messages the keeper's mailbox is emptied.
const PURGE_EVERY: usize = 20;

/// One for each way in and out.
pub(crate) fn all(site: &Site) -> Vec<Client<'_>> {
    let senders = site.smtp.iter().enumerate();
    let senders = senders.map(|(number, door)| kept(site, "SMTP", sender(site, door, number)));
    let readers = site.pop3.iter().map(|door| kept(site, "POP3", reader(site, door)));
    let browsers = site.http.iter().map(|door| kept(site, "HTTP", browser(site, door)));
    senders.chain(readers).chain(browsers).collect()
}

/// A session that must not fail.
fn kept<'a>(site: &'a Site, protocol: &'a str, session: impl Future<Output = Result<()>> + 'a) -> Client<'a> {
    Box::pin(async move {
        if let Err(error) = session.await {
            site.failed(format!("a session of {protocol} that was kept: {error:#}"));
        }
    })
}

async fn sender(site: &Site, door: &Door, number: usize) -> Result<()> {
    let mut client = smtp::Client::open(door).await?;
    let (name, message) = (format!("keeper-{number}"), letter("kept", 500));
    for count in 1.. {
        if site.over() {
            break;
        }
        client.deliver(&format!("{name}@client.test"), &message).await?;
        if count % PURGE_EVERY == 0 {
            purge(site, &name).await?;
        }
        site.count("kept sessions used");
        site.pause(PAUSE).await;
    }
    client.quit().await?;
    purge(site, &name).await
}

async fn purge(site: &Site, name: &str) -> Result<()> {
    let (status, _) =
        rest::Client::open(&site.http[0]).await?.ask("DELETE", &format!("/api/v1/mailbox/{name}")).await?;
    ensure!(status == 200, "the purge answered {status}");
    Ok(())
}

async fn reader(site: &Site, door: &Door) -> Result<()> {
    let mut client = pop3::Client::open(door, "reader").await?;
    while !site.over() {
        client.count().await?;
        site.count("kept sessions used");
        site.pause(PAUSE).await;
    }
    client.quit().await
}

async fn browser(site: &Site, door: &Door) -> Result<()> {
    let mut client = rest::Client::open(door).await?;
    while !site.over() {
        client.get("/api/v1/mailbox/browser").await?;
        site.count("kept sessions used");
        site.pause(PAUSE).await;
    }
    Ok(())
}
