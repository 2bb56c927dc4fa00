//! Sees to it that there is a page to be built in, and that a change of it is noticed. It builds nothing: whoever changes
//! `ui/` does, and commits what came of it, so that the program can be built without Node and without a network.

#![allow(clippy::print_stdout, reason = "this is how Cargo is told something")]

use std::fs;

const FOLDER: &str = "../../ui/dist";

fn main() {
    println!("cargo::rerun-if-changed={FOLDER}");
    println!("cargo::rerun-if-changed=build.rs");
    let index = fs::read_to_string(format!("{FOLDER}/index.html"));
    if index.is_err() {
        println!(
            "cargo::error=ui/dist/index.html is missing, so there is no page to build in. It is a part of the repository: \
             bring it back with `git checkout ui/dist`, or make it with `npm ci && npm run build` in ui/."
        );
    }
}
