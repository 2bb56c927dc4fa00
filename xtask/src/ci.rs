//! What CI runs, no more and no less. What takes longer is in [`crate::long`].

use std::process::Command;

use anyhow::Result;

use crate::args::Args;
use crate::shell::{Parts, cargo, run as must, which};
use crate::tidy;

/// All parts in order; each runs even when one before it failed.
pub(crate) fn run(mut args: Args) -> Result<()> {
    let old_rust = args.flag("--ignore-rust-version");
    args.finish()?;
    let build = |mut command: Command, rest: &[&str]| {
        command.args(["--release", "--workspace", "--locked"]);
        if old_rust {
            command.arg("--ignore-rust-version");
        }
        command.args(rest);
        command
    };

    let mut parts = Parts::default();
    parts.part("fmt", || must(&mut cargo(["fmt", "--all", "--check"])));
    parts.part("tidy", tidy::check);
    parts.part("clippy", || must(&mut build(cargo(["clippy"]), &["--all-targets", "--", "-D", "warnings"])));
    // All that fails is seen at once, not what fails in the first package alone.
    parts.part("tests", || must(&mut build(cargo(["test", "--no-fail-fast"]), &[])));
    #[cfg(target_os = "linux")]
    parts.part("crash", || crate::crash::short(crate::shell::built()?.join("postkeep")));
    #[cfg(target_os = "linux")]
    parts.part("cluster", || crate::crash::short_cluster(crate::shell::built()?.join("postkeep")));
    #[cfg(target_os = "linux")]
    parts.part("leaving", || crate::leaving::short(&crate::shell::built()?.join("postkeep")));
    #[cfg(target_os = "linux")]
    parts.part("schemathesis", || crate::schemathesis::short(crate::shell::built()?.join("postkeep")));
    #[cfg(target_os = "linux")]
    parts.part("webhooks", || crate::webhooks::short(crate::shell::built()?.join("postkeep")));
    #[cfg(target_os = "linux")]
    parts.part("mixed", || {
        must(&mut build(cargo(["build"]), &["--bin", "mixed-load"]))?;
        crate::long::short_mixed(&crate::shell::built()?.join("postkeep"))
    });
    #[cfg(target_os = "linux")]
    parts.part("api", || {
        let tools = ["--bin", "wait-load", "--bin", "kit-load", "--bin", "events-load"];
        must(&mut build(cargo(["build"]), &tools))?;
        crate::long::short_api(&crate::shell::built()?.join("postkeep"))
    });
    #[cfg(target_os = "linux")]
    if let Ok(built) = crate::shell::built() {
        crate::page::if_possible(&mut parts, crate::page::Size::Short, &built.join("postkeep"));
    }
    parts.part("docs", || must(build(cargo(["doc"]), &["--no-deps"]).env("RUSTDOCFLAGS", "-D warnings")));
    if which("cargo-deny").is_some() {
        // Without advisories: their database comes from the network, which is not always there.
        parts.part("deny", || must(&mut cargo(["deny", "check", "bans", "licenses", "sources"])));
    }
    parts.finish()
}
