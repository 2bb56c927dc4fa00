//! Texts that people read, kept beside the tests so that a change is seen: every `--help`, and `docs/configuration.md`.
//! `UPDATE_GOLDEN=1 cargo test --release -p postkeep golden` writes them anew.

use std::fs;
use std::path::{Path, PathBuf};

use crate::program::{output, postkeep};

fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The text is that of the file.
fn same(path: &Path, text: &str) {
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(path, text).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap_or_default().replace("\r\n", "\n");
    assert!(kept == text, "{} differs; set UPDATE_GOLDEN=1 to write it anew. Now:\n{text}", path.display());
}

#[test]
fn golden_help_of_every_command() {
    for (name, args) in [
        ("postkeep", &[][..]),
        ("serve", &["serve"]),
        ("list", &["list"]),
        ("show", &["show"]),
        ("source", &["source"]),
        ("wait", &["wait"]),
        ("code", &["code"]),
        ("link", &["link"]),
        ("watch", &["watch"]),
        ("send", &["send"]),
        ("delete", &["delete"]),
        ("purge", &["purge"]),
        ("release", &["release"]),
        ("releases", &["releases"]),
        ("inbox", &["inbox"]),
        ("fault", &["fault"]),
        ("fault-list", &["fault", "list"]),
        ("fault-add", &["fault", "add"]),
        ("fault-remove", &["fault", "remove"]),
        ("health", &["health"]),
        ("inbox-new", &["inbox", "new"]),
        ("inbox-close", &["inbox", "close"]),
        ("config", &["config"]),
        ("config-check", &["config", "check"]),
        ("config-show", &["config", "show"]),
        ("config-default", &["config", "default"]),
        ("store", &["store"]),
        ("store-check", &["store", "check"]),
        ("store-backup", &["store", "backup"]),
        ("store-export", &["store", "export"]),
        ("store-import", &["store", "import"]),
        ("script", &["script"]),
        ("script-check", &["script", "check"]),
        ("script-try", &["script", "try"]),
        ("token", &["token"]),
        ("token-new", &["token", "new"]),
        ("token-list", &["token", "list"]),
        ("token-revoke", &["token", "revoke"]),
        ("webhook", &["webhook"]),
        ("webhook-list", &["webhook", "list"]),
        ("webhook-try", &["webhook", "try"]),
        ("webhook-dead", &["webhook", "dead"]),
        ("webhook-replay", &["webhook", "replay"]),
        ("users", &["users"]),
        ("users-hash", &["users", "hash"]),
        ("sendmail", &["sendmail"]),
    ] {
        let (code, help, stderr) = output(postkeep(args).arg("--help"));
        assert_eq!((code, stderr.as_str()), (Some(0), ""));
        let (_, short, _) = output(postkeep(args).arg("-h"));
        assert_eq!(help, short, "both ways to ask for help answer the same");
        same(&here(&format!("tests/golden/help-{name}.txt")), &help.replace("postkeep.exe", "postkeep"));
    }
}

#[test]
fn the_version_is_told() {
    let told = output(&mut postkeep(&["--version"]));
    assert_eq!(told, (Some(0), format!("postkeep {}\n", env!("CARGO_PKG_VERSION")), String::new()));
}

#[test]
fn golden_configuration_reference() {
    let (_, defaults, _) = output(&mut postkeep(&["config", "default"]));
    same(&here("../../docs/configuration.md"), &reference(&defaults));
}

/// The default file as a page: its comments are the text.
fn reference(defaults: &str) -> String {
    let (head, sections) = defaults.split_once("\n\n").unwrap();
    let mut page = String::from(
        "# Configuration\n\n<!-- Made from crates/postkeep/config.default.toml; change that, and see CONTRIBUTING.md. -->\n\n",
    );
    page.push_str(&paragraphs(head));
    page.push_str(
        "\n`postkeep config check` lists every mistake at once, `postkeep config show` tells where each value came from, and \
         `postkeep config default` prints the file that this page is made from.\n",
    );
    sections.split("\n\n").for_each(|text| section(&mut page, text));
    page
}

fn section(page: &mut String, text: &str) {
    let mut comment: Vec<&str> = Vec::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(words) = line.strip_prefix("# ") {
            comment.push(words);
        } else if let Some(header) = line.strip_prefix('[') {
            name = header.trim_end_matches(']');
            let words = std::mem::take(&mut comment).join(" ");
            page.push_str(&format!(
                "\n## {name}\n\n{}\n\n| key | default | what it does |\n|---|---|---|\n",
                escaped(&words)
            ));
        } else {
            let (key, value) = line.split_once(" = ").unwrap();
            let words = std::mem::take(&mut comment).join(" ");
            page.push_str(&format!("| `{name}.{key}` | `{value}` | {} |\n", escaped(&words)));
        }
    }
}

/// Comment lines as paragraphs; a line without words parts them.
fn paragraphs(comment: &str) -> String {
    let lines = comment.lines().map(|line| line.trim_start_matches('#').trim());
    lines.map(|line| escaped(line) + "\n").collect()
}

/// Signs that Markdown would take for its own.
fn escaped(words: &str) -> String {
    words
        .replace('|', "\\|")
        .replace('*', "\\*")
        .replace('<', "&lt;")
        .replace("POSTKEEP_SMTP__ADDR", "`POSTKEEP_SMTP__ADDR`")
}
