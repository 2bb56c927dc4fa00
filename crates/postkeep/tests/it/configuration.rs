//! Where values come from, which one holds, and what mistakes look like.

use std::fs;
use std::path::Path;

use crate::program::{Program, directory, output, postkeep};
use crate::smtp::Smtp;

#[test]
fn file_environment_and_set_are_laid_over_each_other() {
    let dir = directory();
    let file = dir.join("postkeep.toml");
    let text =
        "[smtp]\nhostname = \"file.test\"\nrecipients_max = 7\n\n[mailbox]\nretention = \"1h\"\nmessages_max = 9\n";
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let mut command = postkeep(&["serve", "--config", path]);
    command.env("POSTKEEP_SMTP__HOSTNAME", "variable.test").env("POSTKEEP_SMTP__MESSAGE_MAX", "1MB");
    let program = Program::run(command, &["smtp.message_max=2MB"]);
    let mut smtp = Smtp::connect(program.smtp);
    assert!(smtp.greeting.starts_with("220 variable.test "), "{}", smtp.greeting);
    assert!(smtp.command("EHLO c.test").contains("SIZE 2000000"));
    program.wait_for("9 messages in a mailbox, for 1h");

    let mut show = postkeep(&["--set", "smtp.line_max=1000", "config", "show", "--set", "smtp.errors_max=3"]);
    let (code, shown, stderr) = output(show.env("POSTKEEP_CONFIG", path).env("POSTKEEP_SMTP__HOSTNAME", "v.test"));
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    for (setting, origin) in [
        ("hostname = \"v.test\"", "POSTKEEP_SMTP__HOSTNAME"),
        ("recipients_max = 7", &format!("{path}:3")),
        ("retention = \"1h\"", &format!("{path}:6")),
        ("line_max = 1000", "--set"),
        ("errors_max = 3", "--set"),
        ("naming = \"local\"", "default"),
    ] {
        let line = shown.lines().find(|line| line.starts_with(setting)).unwrap_or_else(|| panic!("{setting}: {shown}"));
        assert!(line.ends_with(&format!("# {origin}")), "{line}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_command_lines_file_holds_before_the_environments() {
    let dir = directory();
    for (name, host) in [("a.toml", "a.test"), ("b.toml", "b.test")] {
        fs::write(dir.join(name), format!("smtp.hostname = \"{host}\"\n")).unwrap();
    }
    for args in [&["--config", "a.toml", "config", "show"], &["config", "show", "--config", "a.toml"]] {
        let (_, shown, _) = output(postkeep(args).current_dir(&dir).env("POSTKEEP_CONFIG", "b.toml"));
        assert!(shown.contains("hostname = \"a.test\""), "{args:?}: {shown}");
        assert!(shown.contains("# a.toml:1"), "{args:?}: {shown}");
    }
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn the_defaults_are_a_sound_file_that_changes_nothing() {
    let (code, defaults, _) = output(&mut postkeep(&["config", "default"]));
    assert_eq!(code, Some(0));
    let dir = directory();
    fs::write(dir.join("all.toml"), defaults).unwrap();
    let check = output(postkeep(&["config", "check", "--config", "all.toml"]).current_dir(&dir));
    assert_eq!(check, (Some(0), "The configuration is sound.\n".into(), String::new()));
    let values =
        |text: &str| text.lines().map(|line| line.split("  #").next().unwrap().trim().to_owned()).collect::<Vec<_>>();
    let (_, with, _) = output(postkeep(&["config", "show", "--config", "all.toml"]).current_dir(&dir));
    let (_, without, _) = output(&mut postkeep(&["config", "show"]));
    assert_eq!(values(&with), values(&without));
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn a_doubt_is_told_and_is_no_mistake() {
    let (code, stdout, stderr) = output(&mut postkeep(&["config", "check", "--set", "smtp.in_flight_max=1MiB"]));
    assert_eq!((code, stdout.as_str()), (Some(0), "The configuration is sound.\n"));
    assert!(stderr.starts_with("perhaps not meant: smtp.in_flight_max is 1MiB"), "{stderr}");
}

#[test]
fn an_unknown_variable_is_told_with_its_neighbour() {
    let (code, _, stderr) = output(postkeep(&["config", "check"]).env("POSTKEEP_SMTP_ADDR", "127.0.0.1:1"));
    assert_eq!(code, Some(1));
    assert_eq!(stderr, "POSTKEEP_SMTP_ADDR: this variable sets no key; did you mean POSTKEEP_SMTP__ADDR?\n");
}

#[test]
fn a_file_that_cannot_be_read_is_told_in_one_sentence() {
    let dir = directory();
    fs::write(dir.join("latin1.toml"), b"smtp.hostname = \"\xe9\"\n").unwrap();
    for (file, why) in [
        ("missing.toml", "there is no such file; check --config and POSTKEEP_CONFIG"),
        (".", "it is a directory; name the file in it"),
        ("latin1.toml", "it is not UTF-8; save it as UTF-8"),
    ] {
        let (code, _, stderr) = output(postkeep(&["--config", file]).current_dir(&dir));
        assert_eq!(code, Some(2));
        assert_eq!(stderr, format!("cannot read the configuration file \"{file}\": {why}\n"));
    }
    fs::remove_dir_all(dir).unwrap();
}

/// Each bad file beside the text that is told about it. `UPDATE_GOLDEN=1` writes the texts anew.
#[test]
fn every_bad_configuration_is_told_as_expected() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/bad_configs");
    let mut names: Vec<String> = fs::read_dir(&dir)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.ends_with(".toml"))
        .collect();
    names.sort();
    let mut differences = String::new();
    for name in &names {
        let expected = dir.join(name).with_extension("expected");
        let (code, stdout, told) = output(postkeep(&["config", "check", "--config", name]).current_dir(&dir));
        assert_eq!((code, stdout.as_str()), (Some(1), ""), "{name}");
        let served = output(postkeep(&["serve", "--config", name]).current_dir(&dir));
        assert_eq!(served, (Some(2), String::new(), told.clone()), "{name}");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&expected, &told).unwrap();
        }
        let wanted = fs::read_to_string(&expected).unwrap_or_default();
        if told != wanted {
            differences.push_str(&format!("--- {name}\nexpected:\n{wanted}told:\n{told}"));
        }
    }
    assert!(names.len() > 10 && differences.is_empty(), "{differences}");
}
