//! Command lines by example: those that programs really use, then the corners.

use super::*;

fn wish(line: &[&str]) -> Result<Wish, Misuse> {
    read(line.iter().map(OsString::from))
}

#[track_caller]
fn sends(line: &[&str], expected: Options) {
    assert_eq!(wish(line), Ok(Wish::Send(expected)), "{line:?}");
}

#[track_caller]
fn refuses(line: &[&str], words: &str) {
    let misuse = wish(line).unwrap_err().to_string();
    assert!(misuse.contains(words), "{line:?}: {misuse}");
}

fn none() -> Options {
    Options::default()
}

fn to(recipients: &[&str]) -> Vec<String> {
    recipients.iter().map(|&recipient| recipient.to_owned()).collect()
}

fn with_header() -> Options {
    Options { source: Source::Header, dots: Dots::Text, ..none() }
}

#[test]
fn what_programs_write() {
    // PHP's default.
    sends(&["-t", "-i"], with_header());
    // PHP with a fifth argument, and frameworks.
    sends(&["-t", "-i", "-fann@x.test"], Options { sender: Some("ann@x.test".into()), ..with_header() });
    sends(&["-oi", "-t", "-f", "ann@x.test"], Options { sender: Some("ann@x.test".into()), ..with_header() });
    // Debian's cron.
    let cron = Options { dots: Dots::Text, name: Some("CronDaemon".into()), recipients: to(&["user"]), ..none() };
    sends(&["-FCronDaemon", "-i", "-B8BITMIME", "-oem", "user"], cron);
    // mailx, git send-email, Python.
    sends(&["-i", "-r", "a@x", "b@x", "c@x"], {
        Options { dots: Dots::Text, sender: Some("a@x".into()), recipients: to(&["b@x", "c@x"]), ..none() }
    });
    sends(&["-f", "a@x", "-i", "--", "b@x"], {
        Options { dots: Dots::Text, sender: Some("a@x".into()), recipients: to(&["b@x"]), ..none() }
    });
    sends(&["-oi", "-oem", "-om", "x"], Options { dots: Dots::Text, recipients: to(&["x"]), ..none() });
}

#[test]
fn options_may_stand_together() {
    sends(&["-ti"], with_header());
    sends(&["-it"], with_header());
    sends(&["-tiv"], Options { verbose: true, ..with_header() });
    sends(&["-tifann@x"], Options { sender: Some("ann@x".into()), ..with_header() });
    sends(&["-tif", "ann@x"], Options { sender: Some("ann@x".into()), ..with_header() });
    sends(&["-Fi", "x"], Options { name: Some("i".into()), recipients: to(&["x"]), ..none() });
    sends(&["-f", "", "x"], Options { sender: Some(String::new()), recipients: to(&["x"]), ..none() });
    sends(&["-f", "-t"], Options { sender: Some("-t".into()), ..none() });
}

#[test]
fn what_changes_nothing_is_taken() {
    for line in [
        &["-bm"][..],
        &["-b", "m"],
        &["-Am"],
        &["-Ac"],
        &["-G", "-U", "-c", "-m", "-n", "-s", "-x"],
        &["-C/etc/mail/sendmail.cf"],
        &["-d0.1"],
        &["-d"],
        &["-em"],
        &["-e", "q"],
        &["-h", "25"],
        &["-h25"],
        &["-L", "tag"],
        &["-N", "never"],
        &["-Nsuccess,failure"],
        &["-R", "hdrs"],
        &["-V", "envelope"],
        &["-X", "/tmp/log"],
        &["-O", "DeliveryMode=b"],
        &["-ODeliveryMode=b"],
        &["-OIgnoreDots=false"],
        &["-o7"],
        &["-pSMTP"],
        &["-B", "7BIT"],
    ] {
        sends(line, none());
    }
    for line in [&["-oi"][..], &["-o", "i"], &["-oiTrue"], &["-O", "IgnoreDots=True"], &["-Oignoredots"]] {
        sends(line, Options { dots: Dots::Text, ..none() });
    }
    sends(&["-Bbinarymime"], Options { breaks: Breaks::Octets, ..none() });
}

#[test]
fn recipients_end_the_options() {
    sends(&["a@x", "t"], Options { recipients: to(&["a@x", "t"]), ..none() });
    refuses(&["a@x", "-t"], "-t stands behind a recipient");
    refuses(&["a@x", "--", "b@x"], "-- stands behind a recipient");
    sends(&["--", "a@x", "-t"], Options { recipients: to(&["a@x", "-t"]), ..none() });
    sends(&["--", "-t", "--"], Options { recipients: to(&["-t", "--"]), ..none() });
    sends(&["-", "x"], Options { recipients: to(&["-", "x"]), ..none() });
    sends(&["", "x"], Options { recipients: to(&["", "x"]), ..none() });
    sends(&[], none());
}

#[test]
fn ours_have_long_names_too() {
    let server = |server: &str| Options { server: Some(server.to_owned()), ..none() };
    sends(&["-S", "h:25"], server("h:25"));
    sends(&["-Sunix:/run/x"], server("unix:/run/x"));
    sends(&["--server", "h:25"], server("h:25"));
    sends(&["--server=h:25"], server("h:25"));
    sends(&["--timeout=5"], Options { timeout: Some("5".into()), ..none() });
    assert_eq!(wish(&["--help"]), Ok(Wish::Help));
    assert_eq!(wish(&["-h"]), Ok(Wish::Help));
    assert_eq!(wish(&["-t", "--help"]), Ok(Wish::Help));
    assert_eq!(wish(&["--version"]), Ok(Wish::Version));
    assert_eq!(wish(&["-q"]), Ok(Wish::RunQueue));
    assert_eq!(wish(&["-q15m"]), Ok(Wish::RunQueue));
}

#[test]
fn mistakes_say_what_to_do() {
    refuses(&["-bs"], "speak SMTP to the server itself");
    refuses(&["-bd"], "postkeep serve");
    refuses(&["-bp"], "no queue");
    refuses(&["-bi"], "no aliases");
    refuses(&["-b", "v"], "only -bm");
    refuses(&["-Z"], "-Z is no option");
    refuses(&["-tZ"], "-Z is no option");
    refuses(&["-ü"], "-ü is no option");
    refuses(&["--read-recipients"], "--read-recipients is no option");
    refuses(&["--help=x"], "--help is no option");
    refuses(&["-f"], "-f needs a value");
    refuses(&["--server"], "--server needs a value");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        let misuse = read([OsString::from_vec(b"a\xff@x".to_vec())]).unwrap_err().to_string();
        assert!(misuse.contains("no UTF-8"), "{misuse}");
    }
}
