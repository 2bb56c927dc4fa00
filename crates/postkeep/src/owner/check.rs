//! `postkeep store check`: every fault is a line on stdout as it is found, and a sum at the end.

use std::io::{self, Write};
use std::path::Path;

use anyhow::Result;

use super::Ended;
use super::progress::{Progress, Steps};
use super::words::{bytes, count, many, shown};
use crate::assembly;
use crate::assembly::checking::{Checked, Depth, Fault, Told};

/// What to do when something was found, whatever it was.
const NEXT: &str = "\
What is damaged is not handed out, everything else is. What to do next:
  stop the server and point store.disk.path at a backup, or at a copy of one; or
  save what can be read with `postkeep store export`, import that into a new directory, and serve from there.";

/// Check a store.
pub(crate) fn check(path: &Path, depth: Depth) -> Result<Ended> {
    let mut progress = None;
    let checked = assembly::check(path, depth, &mut |told| match told {
        Told::Stage(name, ahead) => {
            progress = Some(Progress::begin(name, if ahead.is_some() { Steps::Things } else { Steps::Untold }, ahead))
        }
        Told::Step(steps) => progress.iter().for_each(|progress| progress.add(steps)),
        Told::Fault(fault) => match &progress {
            Some(progress) => progress.say(&line(fault)),
            None => drop(writeln!(io::stdout().lock(), "{}", line(fault))),
        },
    })?;
    drop(progress);
    // A reader that has gone away, such as `head`, has seen what it wanted.
    let _ = writeln!(io::stdout().lock(), "{}", sum(&checked));
    Ok(if checked.faults == 0 { Ended::Well } else { Ended::Short })
}

/// `alice/0abc…: has lost its body; take it from a backup`
fn line(fault: &Fault) -> String {
    let place = match (&fault.mailbox, fault.id) {
        (Some(mailbox), Some(id)) => format!("{}/{id}", shown(mailbox)),
        (Some(mailbox), None) => shown(mailbox),
        (None, Some(id)) => format!("(no mailbox)/{id}"),
        (None, None) => "the store".to_owned(),
    };
    format!("{place}: {}; {}", shown(&fault.what), fault.next)
}

fn sum(checked: &Checked) -> String {
    let Checked { mailboxes: boxes, messages, bodies, bytes: size, faults, whole } = *checked;
    let looked = format!(
        "{} in {}, {} of {}",
        count(messages, "message"),
        many(boxes, "mailbox", "mailboxes"),
        many(bodies, "body", "bodies"),
        bytes(size)
    );
    let whole = if whole {
        ""
    } else {
        "\nSQLite's own check left out the pages of bodies and the free ones, as the store is large; --whole takes them too."
    };
    match faults {
        0 => format!("Sound: {looked}.{whole}"),
        _ => format!("\n{} in {looked}.{whole}\n{NEXT}", count(faults, "fault")),
    }
}
