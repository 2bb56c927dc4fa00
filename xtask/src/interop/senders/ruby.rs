//! Ruby: Net::SMTP, a gem that comes with it.

use std::process::Command;

use crate::interop::tools::{apt, program, scripts, told};

use super::script::{PLAIN, Script};

pub(super) fn net_smtp() -> Script {
    Script { name: "ruby-net-smtp", version, call, install: || apt(&["ruby"]), ..PLAIN }
}

fn call() -> Command {
    let mut command = Command::new("ruby");
    command.arg(scripts().join("ruby/send.rb"));
    command
}

fn version() -> Result<String, String> {
    program("ruby")?;
    told(Command::new("ruby").args(["-rnet/smtp", "-e", "puts \"#{Net::SMTP::VERSION}, Ruby #{RUBY_VERSION}\""]))
}
