//! F23: the certificate is replaced on disk under load.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{LISTENERS, Listener, Pair, Place, program, put};
use crate::http::subjects;
use crate::program::{Program, until};

/// Wait until every listener shows this certificate to those who come now.
fn shown_everywhere(program: &Program, pair: &Pair) {
    for listener in LISTENERS {
        until(&format!("{listener:?} with the new certificate"), || {
            (listener.served(program).shown() == pair.shown).then_some(())
        });
    }
}

#[test]
fn f23_a_certificate_is_replaced_while_sessions_run() {
    let pairs = [Pair::new(), Pair::new(), Pair::new()];
    let place = Place::with(&pairs[0]);
    let program = program(&place, &["tls.check_every=200ms"]);
    shown_everywhere(&program, &pairs[0]);
    let mut kept: Vec<_> = LISTENERS.map(|listener| (listener, listener.served(&program))).into();

    let over = Arc::new(AtomicBool::new(false));
    let senders: Vec<_> = [Listener::Smtps, Listener::Starttls]
        .into_iter()
        .enumerate()
        .map(|(number, listener)| {
            let (mut client, over) = (listener.served(&program), Arc::clone(&over));
            thread::spawn(move || {
                let mut count = 0;
                while !over.load(Ordering::Relaxed) {
                    client.mail(&format!("sender{number}"), &format!("letter {count}"));
                    count += 1;
                    thread::sleep(Duration::from_millis(10));
                }
                count
            })
        })
        .collect();
    for pair in &pairs[1..] {
        pair.put(&place);
        shown_everywhere(&program, pair);
        for (listener, client) in &mut kept {
            listener.serves(client);
            assert_eq!(client.shown(), pairs[0].shown, "{listener:?} is the session that it was");
        }
    }
    over.store(true, Ordering::Relaxed);
    for (number, sender) in senders.into_iter().enumerate() {
        // One that was dropped has panicked.
        let count: usize = sender.join().unwrap();
        let expected: Vec<_> = (0..count).map(|count| format!("letter {count}")).rev().take(500).rev().collect();
        assert_eq!(subjects(program.http, &format!("sender{number}")), expected);
    }
}

/// The old certificate stays, the log says why, and the first sound pair is taken again.
fn survives(broken: impl Fn(&Path), said: &[&str]) {
    let (first, second) = (Pair::new(), Pair::new());
    let place = Place::with(&first);
    let program = program(&place, &["tls.check_every=200ms"]);
    shown_everywhere(&program, &first);
    broken(&place);
    said.iter().for_each(|said| program.wait_for(said));
    shown_everywhere(&program, &first);
    second.put(&place);
    shown_everywhere(&program, &second);
}

#[test]
fn f23_a_broken_certificate_is_not_taken() {
    survives(|place| put(place, "cert.pem", "-----BEGIN CERTIFICATE-----\nnonsense\n"), &["cert.pem"]);
}

#[test]
fn f23_a_key_of_another_certificate_is_not_taken() {
    survives(|place| put(place, "key.pem", &Pair::new().key), &["does not belong to the certificate"]);
}

#[test]
fn f23_a_certificate_that_is_gone_is_kept_in_mind() {
    survives(|place| fs::remove_file(place.join("cert.pem")).unwrap(), &["cert.pem"]);
}
