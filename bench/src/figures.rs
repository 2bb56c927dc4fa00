//! What a load generator tells at its end.

use std::time::Duration;

use serde_json::{Value, json};

/// What was done, and what failed.
#[derive(Debug, Default)]
pub struct Figures {
    /// How long each one took.
    pub times: Vec<Duration>,
    /// Bytes of what was carried.
    pub bytes: u64,
    /// Everything that did not go as it must.
    pub errors: Vec<String>,
}

impl Figures {
    /// One was done, and carried so many bytes.
    pub fn done(&mut self, took: Duration, bytes: usize) {
        self.times.push(took);
        self.bytes += bytes as u64;
    }

    /// Put another client's figures to these.
    pub fn add(&mut self, other: Self) {
        self.times.extend(other.times);
        self.bytes += other.bytes;
        self.errors.extend(other.errors);
    }

    /// All figures, with the time and the CPU seconds that the whole took.
    #[must_use]
    pub fn told(&mut self, time: Duration, cpu: f64) -> Value {
        self.times.sort();
        let seconds = time.as_secs_f64();
        let at = |share: f64| -> f64 {
            let rank = (self.times.len() as f64 * share).ceil() as usize;
            let time = self.times.get(rank.clamp(1, self.times.len().max(1)) - 1);
            (time.map_or(0.0, Duration::as_secs_f64) * 1e6).round() / 1e3
        };
        json!({
            "messages": self.times.len(),
            "seconds": (seconds * 1e3).round() / 1e3,
            "rate": (self.times.len() as f64 / seconds * 10.0).round() / 10.0,
            "p50_ms": at(0.5),
            "p99_ms": at(0.99),
            "max_ms": at(1.0),
            "bytes": self.bytes,
            "cpu_seconds": (cpu * 1e2).round() / 1e2,
            "errors": self.errors.len(),
            "first_error": self.errors.first(),
        })
    }
}

/// The figures as one line for people.
#[must_use]
pub fn line(told: &Value) -> String {
    let mut text = format!(
        "{} messages in {} s, {}/s; p50 {} ms, p99 {} ms, max {} ms; {} errors",
        told["messages"], told["seconds"], told["rate"], told["p50_ms"], told["p99_ms"], told["max_ms"], told["errors"]
    );
    if let Some(error) = told["first_error"].as_str() {
        text += &format!(", the first: {error}");
    }
    text
}
