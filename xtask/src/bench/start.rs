//! What it costs to have it: time from exec until it is ready, memory when idle, size on disk.

use std::fs;
use std::thread::sleep;
use std::time::Duration;

use anyhow::Result;

use super::{Plan, Report};
use crate::load::figures::{Goal, median};
use crate::load::process::memory;
use crate::load::server::Server;
use crate::shell::built;

const STARTS: usize = 20;
const COLUMNS: &[&str] = &["what", "figure", "goal"];

pub(super) fn run(plan: &Plan) -> Result<()> {
    let (mut times, mut idle) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let server = Server::postkeep(&plan.binary, &[])?;
        times.push(server.ready_after.as_secs_f64() * 1e3);
        sleep(Duration::from_millis(200));
        idle.push(memory(server.pid())?.now as f64 / 1e6);
        server.stop()?;
    }
    let mut report = Report::new("bench start", COLUMNS);
    report.raw(format!("exec to ready, ms: {}", joined(&times)));
    report.raw(format!("idle RSS, MB: {}", joined(&idle)));

    let (time, resident) = (median(&times), median(&idle));
    let ready = Goal::AtMost(50.0).judged(time);
    report.row(vec![format!("exec to ready, median of {STARTS}"), format!("{time:.1} ms"), ready]);
    let memory = Goal::AtMost(15.0).judged(resident);
    report.row(vec!["idle RSS, median".into(), format!("{resident:.1} MB"), memory]);
    // `dist` is the same code with link-time optimisation and without line tables: what is shipped.
    let shipped = built()?.with_file_name("dist").join("postkeep");
    for (name, path) in [("binary, release profile", &plan.binary), ("binary, dist profile", &shipped)] {
        if let Ok(file) = fs::metadata(path) {
            report.row(vec![name.into(), format!("{:.1} MB", file.len() as f64 / 1e6), Goal::None.judged(0.0)]);
        }
    }
    plan.done(&report)
}

fn joined(figures: &[f64]) -> String {
    figures.iter().map(|figure| format!("{figure:.1}")).collect::<Vec<_>>().join(" ")
}
