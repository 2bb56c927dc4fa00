//! Whether the program still compiles for the systems that the tests do not run on. Checked, not linked: that needs
//! no system of theirs but the standard library, and a C compiler where the allocator is compiled too.

use std::process::Command;

use anyhow::Result;

use crate::shell::{built, cargo, root, run as must, which};

/// A system, the C compiler for it, and what can be checked without one.
const TARGETS: [(&str, &str); 2] =
    [("x86_64-pc-windows-gnu", "x86_64-w64-mingw32-gcc"), ("x86_64-apple-darwin", "x86_64-apple-darwin-clang")];
const WITHOUT_C: [&str; 3] = ["--package=postkeep-net", "--package=postkeep-smtp", "--package=postkeep-http"];

pub(super) fn run() -> Result<()> {
    for (target, compiler) in TARGETS {
        must(Command::new("rustup").args(["target", "add", target]).current_dir(root()))?;
        let mut check = cargo(["check", "--locked", "--target", target]);
        check.arg("--target-dir").arg(built()?.with_file_name("portable"));
        match which(compiler) {
            Some(_) => check.arg("--package=postkeep"),
            None => check.args(WITHOUT_C),
        };
        must(&mut check)?;
        let what = if which(compiler).is_some() { "the program" } else { "net, smtp and http" };
        println!("{target}: compiled {what}");
    }
    Ok(())
}
