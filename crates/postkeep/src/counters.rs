//! The counters of all rooms, gathered and written as Prometheus reads them.
//!
//! Each room says what it counts, by a name; this is the only file that knows who keeps the numbers.

use anyhow::{Context, Result};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};

/// What the names mean, for whoever reads the numbers.
const MEANINGS: &[(&str, &str)] = &[
    ("postkeep_connections_accepted_total", "Connections that were let in, over all protocols"),
    ("postkeep_connections_turned_away_total", "Connections that were not let in, by the reason"),
    ("postkeep_tls_handshakes_total", "TLS handshakes, by how they ended"),
    ("postkeep_sign_ins_total", "Sign-ins over SMTP and POP3, by how they ended"),
    ("postkeep_smtp_transactions_total", "MAIL commands"),
    ("postkeep_smtp_tarpitted_total", "Refusals that were held back for smtp.tarpit"),
    ("postkeep_messages_total", "Messages that were kept, each once"),
    ("postkeep_message_bytes_total", "Their bytes"),
    ("postkeep_refusals_total", "Mail that was refused, by what decided it"),
    ("postkeep_rates_not_counted_total", "What passed uncounted because rate.entries_max was reached"),
    ("postkeep_jobs_left_out_total", "Webhooks and relayed mail that there was no room to write down"),
    ("postkeep_webhooks_total", "Webhooks that were sent or given up, by the outcome"),
    ("postkeep_webhook_rests_total", "How often a target of webhooks was left alone after failures in a row"),
    ("postkeep_releases_total", "Recipients that a released message was tried for, by the outcome"),
    ("postkeep_script_events_total", "Events that scripts were asked or told of, by how it ended"),
    ("postkeep_dns_questions_total", "Questions to the DNS, from its cache or not"),
    ("postkeep_dns_questions_failed_total", "Questions that were not answered, or not in time"),
    ("postkeep_dns_questions_skipped_total", "Questions that were not asked because too many were under way"),
];

/// Begin to count. Everything that counts must come after this: what was counted before is lost.
pub(crate) fn start() -> Result<PrometheusHandle> {
    let handle =
        PrometheusBuilder::new().install_recorder().context("cannot begin to count; is it counted already?")?;
    for (name, meaning) in MEANINGS {
        metrics::describe_counter!(*name, *meaning);
    }
    Ok(handle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_has_a_meaning() {
        let rooms = ["courier", "mailroom", "net", "pop3", "rate", "script", "smtp", "http"];
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut counted = 0;
        for room in rooms {
            for text in sources(&root.join(room).join("src")) {
                for (at, _) in text.match_indices("counter!(") {
                    let call = &text[at..at + text[at..].find(')').unwrap()];
                    let name = call.split('"').nth(1).unwrap();
                    assert!(MEANINGS.iter().any(|(known, _)| *known == name), "{name} has no meaning here");
                    counted += 1;
                }
            }
        }
        assert!(counted >= MEANINGS.len(), "{counted}");
    }

    /// The texts of all Rust files below a folder.
    fn sources(folder: &std::path::Path) -> Vec<String> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
        let paths = entries.map(|entry| entry.unwrap().path());
        let texts = |path: std::path::PathBuf| match path.is_dir() {
            true => sources(&path),
            false => vec![std::fs::read_to_string(path).unwrap()],
        };
        paths.flat_map(texts).collect()
    }
}
