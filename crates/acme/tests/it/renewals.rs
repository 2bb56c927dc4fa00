//! Renewals: by the life of a certificate, and by what its CA suggests.

use std::fs;
use std::path::Path;

use acme::{Notary, Pair};
use jiff::{SignedDuration, Timestamp};
use rcgen::{CertificateParams, KeyPair, date_time_ymd};

use crate::rig::Rig;

const DOMAIN: &str = "mail.example.com";

#[tokio::test]
async fn a_certificate_with_less_than_a_third_of_its_life_left_is_replaced() {
    let Some(rig) = Rig::started("life", |_| ()).await else { return };
    let notary = Notary::open(rig.settings(&[DOMAIN])).unwrap();
    keep_aged(&notary.path(), 61, 29);
    let notary = Notary::open(rig.settings(&[DOMAIN])).unwrap();
    let aged = notary.kept().expect("it has not ended").clone();
    let path = notary.path();
    let mut service = rig.run(notary);
    let (chain, key) = service.pair().await;
    assert_ne!((&chain, &key), (&aged.chain_pem, &aged.key_pem));
    assert_eq!(fs::read(&path).unwrap(), [chain, key].concat());
}

#[tokio::test]
async fn what_ended_is_not_used_while_another_one_is_ordered() {
    let Some(rig) = Rig::started("ended", |_| ()).await else { return };
    keep_aged(&Notary::open(rig.settings(&[DOMAIN])).unwrap().path(), 90, -1);
    let notary = Notary::open(rig.settings(&[DOMAIN])).unwrap();
    assert!(notary.kept().is_none());
    rig.log.line(&["WARN", "the kept certificate has ended"]).await;
    rig.run(notary).pair().await;
}

#[tokio::test]
async fn what_the_ca_suggests_is_followed_and_the_account_stays() {
    let Some(rig) = Rig::started("ari", |_| ()).await else { return };
    let notary = Notary::open(rig.settings(&[DOMAIN])).unwrap();
    let path = notary.path();
    let mut service = rig.run(notary);
    let first = service.pair().await;
    let account = rig.account(&path);
    suggest(&rig, &first.0).await;
    let second = service.pair().await;
    assert_ne!(first, second);
    rig.said("is a replacement of", 1).await;
    assert_eq!(rig.account(&path), account);
    let kept: Pair = Notary::open(rig.settings(&[DOMAIN])).unwrap().kept().unwrap().clone();
    assert_eq!((kept.chain_pem, kept.key_pem), second);
}

#[tokio::test]
async fn certificates_of_seconds_are_renewed_by_the_second() {
    let Some(rig) = Rig::started("seconds", |plan| plan.validity = 6).await else { return };
    let mut settings = rig.settings(&[DOMAIN]);
    settings.pace = acme::Pace::default();
    let mut service = rig.run(Notary::open(settings).unwrap());
    let first = service.pair().await;
    assert_ne!(service.pair().await, first);
}

/// Put a pair into the folder that is so many days old and has so many left.
fn keep_aged(path: &Path, old: i64, left: i64) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new([DOMAIN.to_owned()]).unwrap();
    let day = |days: i64| {
        let then = Timestamp::now() + SignedDuration::from_hours(24 * days);
        let date = then.to_zoned(jiff::tz::TimeZone::UTC).date();
        date_time_ymd(date.year().into(), date.month() as u8, date.day() as u8)
    };
    (params.not_before, params.not_after) = (day(-old), day(left));
    let pem = params.self_signed(&key).unwrap().pem();
    fs::write(path, [pem, key.serialize_pem()].concat()).unwrap();
}

/// Have the CA suggest yesterday for this certificate.
async fn suggest(rig: &Rig, chain: &[u8]) {
    let yesterday = Timestamp::now() - SignedDuration::from_hours(24);
    let window =
        serde_json::json!({ "suggestedWindow": { "start": yesterday.to_string(), "end": yesterday.to_string() } });
    let certificate = String::from_utf8(chain.to_vec()).unwrap();
    let first = certificate.split_inclusive("-----END CERTIFICATE-----\n").next().unwrap();
    let body = serde_json::json!({ "Certificate": first, "ARIResponse": window.to_string() }).to_string();
    rig.pebble.manage("POST", "/set-renewal-info/", &body).await;
}
