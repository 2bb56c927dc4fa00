//! First orders: what comes, what is kept, and what happens when the CA says no or says nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use acme::Notary;
use rustls_pki_types::ServerName;
use tokio::io::duplex;
use tokio::net::TcpListener;

use crate::authority::{acceptor, connector};
use crate::rig::Rig;

const NEW_ORDER: &str = "POST /order-plz";

#[tokio::test]
async fn a_first_order_yields_a_pair_that_clients_of_the_ca_believe() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let http_port = listener.local_addr().unwrap().port();
    let Some(mut rig) = Rig::new("first", |plan| plan.http_port = http_port).await else { return };
    let notary = Notary::open(rig.settings(&["mail.example.com", "Also.Example.com", "MAIL.example.com"])).unwrap();
    assert!(notary.kept().is_none());
    let (challenges, path) = (notary.challenges(), notary.path());
    tokio::spawn(acme::door::serve(listener, challenges.clone()));
    rig.pebble.start();
    let mut service = rig.run(notary);
    let (chain, key) = service.pair().await;
    // It makes a root of its own at each start.
    let root = rig.pebble.manage("GET", "/roots/0", "").await;
    for name in ["mail.example.com", "also.example.com"] {
        handshake(&chain, &key, &root, name).await.unwrap();
    }
    handshake(&chain, &key, &root, "other.example.com").await.unwrap_err();
    assert_eq!(fs::read(&path).unwrap(), [chain, key].concat());
    let mode = |path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.clone()), 0o600);
    assert_eq!(mode(path.with_file_name("account.json")), 0o600);
    assert_eq!(mode(path.parent().unwrap().to_owned()), 0o700);
    assert_eq!(format!("{challenges:?}"), "Challenges(0)", "what was proven is still told");
    rig.log.line(&["INFO", "there is a new certificate", "mail.example.com, also.example.com"]).await;
}

#[tokio::test]
async fn a_restart_uses_the_kept_pair_and_orders_nothing() {
    let Some(rig) = Rig::started("restart", |_| ()).await else { return };
    let notary = Notary::open(rig.settings(&["mail.example.com"])).unwrap();
    let path = notary.path();
    let mut service = rig.run(notary);
    let (chain, key) = service.pair().await;
    let account = rig.account(&path);
    drop(service);
    let orders = rig.pebble.said(NEW_ORDER);
    let notary = Notary::open(rig.settings(&["mail.example.com"])).unwrap();
    let kept = notary.kept().expect("it was kept");
    assert_eq!((&kept.chain_pem, &kept.key_pem), (&chain, &key));
    let looks = rig.pebble.said("renewalInfo");
    let service = rig.run(notary);
    // After the second further look, the first one has been thought over.
    rig.said("renewalInfo", looks + 2).await;
    assert_eq!((rig.pebble.said(NEW_ORDER), service.told()), (orders, 0));
    assert_eq!(rig.account(&path), account);
}

#[tokio::test]
async fn a_ca_that_is_down_is_tried_until_it_is_up() {
    let Some(mut rig) = Rig::new("down", |_| ()).await else { return };
    let mut service = rig.run(Notary::open(rig.settings(&["mail.example.com"])).unwrap());
    rig.log
        .line(&["ERROR", "no certificate yet: cannot reach the CA", &rig.pebble.directory.clone(), "next attempt"])
        .await;
    rig.pebble.start();
    service.pair().await;
}

#[tokio::test]
async fn a_ca_that_refuses_is_asked_again_and_its_words_are_told() {
    let Some(rig) = Rig::started("refused", |_| ()).await else { return };
    let service = rig.run(Notary::open(rig.settings(&["mail.example.com", "blocked.example"])).unwrap());
    rig.said(NEW_ORDER, 3).await;
    let parts = ["the CA refused the order for mail.example.com, blocked.example", "rejectedIdentifier"];
    rig.log.line(&parts).await;
    assert_eq!(service.told(), 0);
}

#[tokio::test]
async fn a_proof_that_is_not_found_is_told_with_its_domain_and_tried_again() {
    let Some(rig) = Rig::started("unproven", |_| ()).await else { return };
    *rig.proofs.wrong.lock().unwrap() = Some("of another server".to_owned());
    let mut service = rig.run(Notary::open(rig.settings(&["mail.example.com"])).unwrap());
    let parts = ["(http-01) that mail.example.com is ours", "of another server", "on port 80 reaches http.addr"];
    rig.log.line(&parts).await;
    *rig.proofs.wrong.lock().unwrap() = None;
    service.pair().await;
}

#[tokio::test]
async fn nonces_that_are_refused_cost_another_try() {
    let Some(mut rig) = Rig::started("nonces", |plan| plan.nonces_refused = 100).await else { return };
    let mut service = rig.run(Notary::open(rig.settings(&["mail.example.com"])).unwrap());
    rig.log.line(&["the CA could not see to a new account", "(badNonce)", "next attempt in"]).await;
    rig.pebble.stop();
    rig.pebble.plan.nonces_refused = 20;
    rig.pebble.start();
    service.pair().await;
}

#[tokio::test]
async fn an_account_that_the_ca_forgot_is_registered_again() {
    let Some(mut rig) = Rig::started("forgotten", |_| ()).await else { return };
    let notary = Notary::open(rig.settings(&["mail.example.com"])).unwrap();
    let path = notary.path();
    let mut service = rig.run(notary);
    service.pair().await;
    let account = rig.account(&path);
    drop(service);
    rig.pebble.stop();
    rig.pebble.start();
    // One domain more makes the kept certificate due.
    let notary = Notary::open(rig.settings(&["mail.example.com", "more.example.com"])).unwrap();
    assert!(notary.kept().is_some(), "it serves for the first domain meanwhile");
    let mut service = rig.run(notary);
    service.pair().await;
    rig.log.line(&["WARN", "the CA does not know the account any more"]).await;
    assert_ne!(rig.account(&path), account);
}

/// Whether a client that trusts this root believes a server with this pair.
async fn handshake(chain: &[u8], key: &[u8], root: &str, name: &'static str) -> std::io::Result<()> {
    let (client, server) = duplex(64 << 10);
    let acceptor = acceptor(chain, key);
    let serving = tokio::spawn(async move { drop(acceptor.accept(server).await) });
    let outcome = connector(root.as_bytes()).connect(ServerName::try_from(name).unwrap(), client).await;
    serving.await.unwrap();
    outcome.map(drop)
}
