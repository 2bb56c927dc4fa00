//! Python: smtplib with octets, smtplib with a parsed message, and aiosmtplib.

use std::process::Command;

use crate::interop::tools::{environment, pip, python, scripts, told};

use super::script::{PLAIN, Script};

pub(super) fn smtplib() -> Script {
    Script { name: "smtplib", version, call: || call("smtplib_raw.py"), install: environment, ..PLAIN }
}

/// The same, but the library writes the message anew, as Django and most applications let it.
pub(super) fn smtplib_email() -> Script {
    let call = || call("smtplib_message.py");
    Script { name: "smtplib-email", version, call, install: environment, ..PLAIN }
}

pub(super) fn aiosmtplib() -> Script {
    let version = || asked("import aiosmtplib; print(aiosmtplib.__version__)");
    let install = || pip(&["aiosmtplib"]);
    Script { name: "aiosmtplib", version, call: || call("aiosmtplib_raw.py"), install, ..PLAIN }
}

fn call(script: &str) -> Command {
    let mut command = Command::new(python());
    // Without it, Python writes what it compiled beside the scripts.
    command.env("PYTHONDONTWRITEBYTECODE", "1").arg(scripts().join("python").join(script));
    command
}

fn version() -> Result<String, String> {
    asked("import platform; print('Python', platform.python_version())")
}

fn asked(question: &str) -> Result<String, String> {
    if !python().is_file() {
        return Err("there is no Python environment in the cache".into());
    }
    told(Command::new(python()).args(["-c", question])).map_err(|_| "it is not installed".into())
}
