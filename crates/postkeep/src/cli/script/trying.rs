//! Scripts by hand: what is wrong with them, and what they would do.

use std::fmt::Write;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use mail::address::Charset;
use mail::{Address, Letter, ReversePath, letter};
use script::trial::{self, Level, Mail, Network, Report};
use script::{Program, Settings};

use super::super::{FAILED, Given, MISUSED, complain, print, told};
use super::{CheckArgs, TryArgs};
use crate::config::{Checked, Config};
use crate::{assembly, script as scripts};

/// List the handlers, or the mistake.
pub(super) fn check(given: Given, CheckArgs { path, given: more }: CheckArgs) -> ExitCode {
    let config = match Checked::of(&given.over(more)) {
        Ok(checked) => checked.config(),
        Err(report) => return complain(&report.to_string(), MISUSED),
    };
    match Program::read(&path, &scripts::settings(&config.script)) {
        Ok(program) => print(&listed(&program)),
        Err(bad) => complain(&format!("postkeep: {bad}\n"), FAILED),
    }
}

/// Each script with what it handles.
fn listed(program: &Program) -> String {
    let mut text = String::new();
    for module in &program.modules {
        let handlers: Vec<_> = module.handlers.iter().map(ToString::to_string).collect();
        let handlers = if handlers.is_empty() { "handles nothing".to_owned() } else { handlers.join(", ") };
        let _ = writeln!(text, "{}: {handlers}", module.name);
    }
    text
}

/// Show what they would do.
pub(super) fn try_out(given: Given, mut args: TryArgs) -> ExitCode {
    let config = match Checked::of(&given.over(std::mem::take(&mut args.given))) {
        Ok(checked) => checked.config(),
        Err(report) => return complain(&report.to_string(), MISUSED),
    };
    let mail = match mail(&args, &config) {
        Ok(mail) => mail,
        Err(error) => return complain(&format!("postkeep: {}\n", told(&error)), MISUSED),
    };
    match tried(&args, &config, &mail) {
        Ok(reports) => {
            let failed = reports.iter().any(|report| report.failed);
            let code = print(&shown(&reports, &scripts::settings(&config.script)));
            if failed { ExitCode::from(FAILED) } else { code }
        }
        Err(error) => complain(&format!("postkeep: {}\n", told(&error)), FAILED),
    }
}

fn tried(args: &TryArgs, config: &Config, mail: &Mail) -> Result<Vec<Report>> {
    let settings = scripts::settings(&config.script);
    let program = Program::read(&args.path, &settings)?;
    if !args.http {
        return Ok(trial::run(program, &settings, Network::Shown, mail));
    }
    // The scripts wait for the network on this thread, so somebody else must see to it.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    let network = Network::Asked(assembly::outside(config), runtime.handle().clone());
    Ok(trial::run(program, &settings, network, mail))
}

/// The mail with its envelope.
fn mail(args: &TryArgs, config: &Config) -> Result<Mail> {
    let raw = read(&args.eml, config.smtp.message_max)?;
    let letter = Letter::of(&raw, &letter::Limits::default().without_finds());
    let sender = match args.from.as_deref() {
        Some("" | "<>") => None,
        Some(text) => Some(address(text)?),
        None => letter.from.as_ref().and_then(|from| Address::parse(&from.email, Charset::Utf8).ok()),
    };
    let recipients = match args.to.is_empty() {
        false => args.to.iter().map(|text| address(text)).collect::<Result<Vec<_>>>()?,
        true => {
            letter.to.iter().chain(&letter.cc).filter_map(|to| Address::parse(&to.email, Charset::Utf8).ok()).collect()
        }
    };
    if recipients.is_empty() {
        bail!("nobody to send it to: name a recipient by --to");
    }
    let (peer, helo) = (Some(args.peer), args.helo.clone());
    Ok(Mail { raw: raw.into(), sender: ReversePath(sender), recipients, peer, helo })
}

fn address(text: &str) -> Result<Address> {
    Address::parse(text, Charset::Utf8).with_context(|| format!("{text:?}"))
}

fn read(path: &Path, max: u64) -> Result<Vec<u8>> {
    let mut raw = Vec::new();
    let told = || format!("cannot read {}", path.display());
    match path.to_str() {
        Some("-") => io::stdin().lock().take(max + 1).read_to_end(&mut raw).context("cannot read stdin")?,
        _ => File::open(path).with_context(told)?.take(max + 1).read_to_end(&mut raw).with_context(told)?,
    };
    if raw.len() as u64 > max {
        bail!("{} is larger than smtp.message_max", path.display());
    }
    Ok(raw)
}

/// Event by event: what was asked, what was logged, what came out.
fn shown(reports: &[Report], settings: &Settings) -> String {
    let mut text = String::new();
    for report in reports {
        let _ = writeln!(text, "{}", report.event);
        for (file, handler, took) in &report.handlers {
            let _ = writeln!(text, "    {file}  {handler}  {:.3} ms", took.as_secs_f64() * 1e3);
        }
        for line in &report.lines {
            let _ = writeln!(text, "    {}  log {}: {}", line.file, level(line.level), line.text);
        }
        let _ = writeln!(text, "    → {}", report.outcome);
    }
    if reports.is_empty() {
        text += "No handler was asked: these scripts handle nothing that happens to this mail.\n";
    }
    if reports.iter().any(|report| report.failed) {
        let then = match settings.on_error {
            script::OnError::Tempfail => "the client hears 451 and tries again later",
            script::OnError::Accept => "the mail goes on as without scripts",
        };
        let _ = writeln!(text, "When a script fails before mail is taken, {then} (script.on_error).");
    }
    text
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    }
}
