//! The configuration that is shipped in `deploy/nats` is one that nats-server takes, and holds what nodes insist on.

use std::path::Path;
use std::process::Command;

use brokers::nats_server;

#[test]
fn nats_server_takes_the_shipped_configuration() {
    let Some(program) = nats_server().expect("a nats-server") else { return };
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/nats/nats-server.conf");
    let mut command = Command::new(program);
    command.arg("-t").arg("--config").arg(&file);
    for name in ["NATS_SERVER_NAME", "NATS_POSTKEEP_PASSWORD", "NATS_OPERATOR_PASSWORD"] {
        command.env(name, "word");
    }
    let answer = command.output().unwrap();
    assert!(answer.status.success(), "{}", String::from_utf8_lossy(&answer.stderr));
    let text = std::fs::read_to_string(file).unwrap();
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    for line in ["sync_interval: always", "include ./accounts.conf", "http: \"127.0.0.1:8222\""] {
        assert!(lines.contains(&line), "{line} is missing");
    }
}
