//! `postkeep users hash`, by a pipe and on a terminal.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use crate::program::postkeep;

fn hash(args: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut command: Command = postkeep(&["users", "hash"]);
    let mut child =
        command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // It may end without having read all.
    let _ = child.stdin.take().unwrap().write_all(input);
    let Output { status, stdout, stderr } = child.wait_with_output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

#[test]
fn a_password_from_a_pipe_becomes_a_line() {
    for input in ["hunter2", "hunter2\n", "hunter2\r\n"] {
        let (code, stdout, stderr) = hash(&["ann@x.test"], input.as_bytes());
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let users = mailroom::Users::parse(&stdout).unwrap();
        assert!(users.check("ann@x.test", "hunter2"), "{stdout}");
    }
    let (code, stdout, _) = hash(&[], b"hunter2\n");
    assert!(code == Some(0) && stdout.starts_with("$argon2id$") && stdout.lines().count() == 1, "{stdout}");
}

#[test]
fn mistakes_are_told_and_nothing_is_printed() {
    for (args, input, code, words) in [
        (&[][..], &b""[..], 1, "no password on stdin"),
        (&[], b"one\ntwo\n", 1, "more than one line"),
        (&[], b"\xff\n", 1, "no UTF-8"),
        (&[], b"a\0b", 1, "NUL"),
        (&["a:b"], b"hunter2", 2, "colon"),
        (&["#ann"], b"hunter2", 2, "#"),
    ] {
        let (ended, stdout, stderr) = hash(args, input);
        assert_eq!((ended, stdout.as_str()), (Some(code), ""), "{args:?}: {stderr}");
        assert!(stderr.contains(words), "{stderr}");
    }
}

#[cfg(target_os = "linux")]
mod terminal {
    use std::fs::{File, OpenOptions};
    use std::io::{Read, Write};
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;
    use std::process::{Child, Stdio};
    use std::sync::{Arc, Mutex};
    use std::thread;

    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    use rustix::termios::{LocalModes, tcgetattr};

    use crate::program::{postkeep, until};

    /// The program with a terminal as stdin and stderr, and somebody in front of it.
    struct Person {
        child: Child,
        keys: File,
        screen: Arc<Mutex<Vec<u8>>>,
    }

    fn sits_down() -> Person {
        let keys = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&keys).unwrap();
        unlockpt(&keys).unwrap();
        let name = ptsname(&keys, Vec::new()).unwrap();
        let path = Path::new(std::ffi::OsStr::from_bytes(name.as_bytes()));
        let line = OpenOptions::new().read(true).write(true).open(path).unwrap();
        let mut command = postkeep(&["users", "hash", "ann"]);
        command.stdin(line.try_clone().unwrap()).stderr(line).stdout(Stdio::piped());
        let child = command.spawn().unwrap();
        let keys = File::from(keys);
        let screen = Arc::new(Mutex::new(Vec::new()));
        let (mut from, into) = (keys.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || {
            let mut piece = [0; 1024];
            while let Ok(count @ 1..) = from.read(&mut piece) {
                into.lock().unwrap().extend_from_slice(&piece[..count]);
            }
        });
        Person { child, keys, screen }
    }

    impl Person {
        fn screen(&self) -> String {
            String::from_utf8_lossy(&self.screen.lock().unwrap()).into_owned()
        }

        /// Wait for the question, then type.
        fn types(&mut self, question: &str, answer: &[u8]) {
            until(question, || self.screen().ends_with(question).then_some(()));
            self.keys.write_all(answer).unwrap();
        }

        /// Exit code, stdout, and whether the terminal shows again what is typed.
        fn leaves(mut self) -> (Option<i32>, String, bool) {
            let code = until("the end", || self.child.try_wait().unwrap()).code();
            let mut stdout = String::new();
            self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
            let modes = tcgetattr(&self.keys).unwrap().local_modes;
            (code, stdout, modes.contains(LocalModes::ECHO | LocalModes::ICANON | LocalModes::ISIG))
        }
    }

    #[test]
    fn a_typed_password_is_not_shown() {
        let mut person = sits_down();
        person.types("Password: ", b"hunter3\x7f2\r");
        person.types("The same again: ", b"hunter2\r");
        let screen = Arc::clone(&person.screen);
        let (code, stdout, shows) = person.leaves();
        let screen = String::from_utf8_lossy(&screen.lock().unwrap()).into_owned();
        assert!(code == Some(0) && shows, "{screen}");
        assert!(mailroom::Users::parse(&stdout).unwrap().check("ann", "hunter2"), "{stdout}");
        assert!(!screen.contains("hunter"), "{screen}");
    }

    #[test]
    fn whoever_gives_up_or_slips_gets_nothing() {
        for answers in [&[&b"hunt\x03"[..]][..], &[b"\x04"], &[b"\r"], &[b"hunter2\r", b"hunter3\r"]] {
            let mut person = sits_down();
            for (question, answer) in ["Password: ", "The same again: "].iter().zip(answers) {
                person.types(question, answer);
            }
            assert_eq!(person.leaves(), (Some(1), String::new(), true), "{answers:?}");
        }
    }
}
