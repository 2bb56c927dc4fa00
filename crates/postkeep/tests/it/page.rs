//! The page as it comes out of the real binary: the one that is built in, whole, and the one of a folder.

use std::fs;

use crate::http::get;
use crate::program::{Program, directory, output, postkeep};

#[test]
fn the_page_is_in_the_program_with_all_that_it_names() {
    let program = Program::start(&["http.public_url=http://127.0.0.1/pk"]);
    let page = get(program.http, "/pk/m/ben/latest");
    assert_eq!((page.status, page.field("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.text().contains("<base href=\"/pk/\""), "{}", page.text());
    let named = page.text().split('"').filter_map(|word| word.strip_prefix("./"));
    for name in named.filter(|name| name.starts_with("assets/")) {
        let file = get(program.http, &format!("/pk/{name}"));
        assert_eq!(file.status, 200, "{name}");
        assert_eq!(file.field("cache-control"), Some("public, max-age=31536000, immutable"), "{name}");
        assert_ne!(file.field("content-type"), Some("application/octet-stream"), "{name}");
    }
}

#[test]
fn another_folder_is_served_instead_and_read_once() {
    let folder = directory();
    fs::write(folder.join("index.html"), "<base href=\"/\"><p>mine").unwrap();
    fs::create_dir(folder.join("assets")).unwrap();
    fs::write(folder.join("assets/a-1.js"), "first").unwrap();
    let program = Program::start(&[&format!("http.page_folder={}", folder.display())]);
    fs::write(folder.join("assets/a-1.js"), "second").unwrap();
    fs::write(folder.join("assets/b-1.js"), "late").unwrap();
    assert_eq!(get(program.http, "/connect").text(), "<base href=\"/\"><p>mine");
    assert_eq!(get(program.http, "/assets/a-1.js").text(), "first");
    assert_eq!(get(program.http, "/assets/b-1.js").status, 404);
}

#[test]
fn a_folder_without_a_page_ends_the_start_with_what_to_do() {
    let folder = directory();
    let setting = format!("http.page_folder={}", folder.display());
    let words = ["serve", "--set", "smtp.addr=", "--set", "pop3.addr=", "--set", "http.addr=127.0.0.1:0", "--set"];
    let (code, stdout, stderr) = output(postkeep(&words).arg(setting).current_dir(&folder));
    assert_eq!((code, &*stdout), (Some(1), ""), "{stderr}");
    let told = format!("there is no index.html in {}; build the page there with `npm run build`", folder.display());
    assert!(stderr.contains(&told) && stderr.contains("leave http.page_folder empty"), "{stderr}");
}
