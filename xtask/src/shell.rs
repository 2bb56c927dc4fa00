//! Running other programs from the repository's root, and telling how long the parts of a task took.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the root")
}

/// The folder that this very program was built into, where its siblings are: `target/release`.
#[cfg(target_os = "linux")]
pub(crate) fn built() -> Result<PathBuf> {
    let own = std::env::current_exe().context("this program does not know where it lies")?;
    Ok(own.parent().expect("a program lies in a folder").to_path_buf())
}

/// `cargo …` in the root, with the cargo that runs us.
pub(crate) fn cargo<const N: usize>(words: [&str; N]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(root());
    command
}

/// Run to the end; anything but success is an error.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("cannot run {}", shown(command)))?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Run to the end and hand back what it printed on stdout.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot run {}", shown(command)))?;
    if !output.status.success() {
        bail!("{} ended with {}\n{}", shown(command), output.status, String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("{} did not print UTF-8", shown(command)))
}

/// Where on the PATH a program lies.
pub(crate) fn which(name: &str) -> Option<PathBuf> {
    let paths = std::env::var_os("PATH")?;
    // Debian keeps some of Postfix's tools where only root looks.
    let sbin = ["/usr/sbin", "/usr/local/sbin"].map(PathBuf::from);
    std::env::split_paths(&paths).chain(sbin).map(|folder| folder.join(name)).find(|file| file.is_file())
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let text: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    format!("`{}`", text.join(" "))
}

/// The parts of a task, each with its time and outcome. A part that fails does not stop the others: one run tells all.
#[derive(Default)]
pub(crate) struct Parts {
    done: Vec<(&'static str, Duration, Result<()>)>,
}

impl Parts {
    /// Run one part, and tell whether it went well.
    pub(crate) fn part(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) -> bool {
        println!("\n== {name}");
        let begin = Instant::now();
        let outcome = work();
        if let Err(error) = &outcome {
            println!("{error:#}");
        }
        let went_well = outcome.is_ok();
        self.done.push((name, begin.elapsed(), outcome));
        went_well
    }

    /// The table, and an error when a part failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!();
        for (name, time, outcome) in &self.done {
            let word = if outcome.is_ok() { "ok" } else { "FAILED" };
            println!("{name:<10} {:>7.1}s  {word}", time.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|(_, time, _)| *time).sum();
        println!("{:<10} {:>7.1}s", "total", total.as_secs_f64());
        let failed: Vec<_> = self.done.iter().filter(|(_, _, outcome)| outcome.is_err()).map(|part| part.0).collect();
        if !failed.is_empty() {
            bail!("failed: {}", failed.join(", "));
        }
        Ok(())
    }
}
