//! The parts of the cluster command that need no cluster; `tests/cluster.rs` runs the command itself.

use std::fs;

use super::command::filled;
use super::orders::Which;
use super::site::{Options, wipe};
use super::table::table;
use crate::args::Args;

fn args(words: &[&str]) -> Args {
    Args::of(words)
}

#[test]
fn the_words_of_a_command_are_no_flags_of_ours() {
    let mut args = args(&["--nodes", "1", "--", "program", "--set", "a=b", "--", "c"]);
    assert_eq!(args.behind_dashes(), ["program", "--set", "a=b", "--", "c"]);
    assert_eq!(args.value::<String>("--set").unwrap(), None);
    assert_eq!(args.value("--nodes").unwrap(), Some(1));
    args.finish().unwrap();
    assert!(self::args(&["--nodes", "1"]).behind_dashes().is_empty());
}

#[test]
fn which_broker_survives_the_way_over_the_socket() {
    for (words, meant) in [
        (&["n2"][..], Which::Named("n2".into())),
        (&["--leader", "postkeep-sum-0"], Which::Leader("postkeep-sum-0".into())),
        (&["--seed", "7"], Which::Any(7)),
    ] {
        let which = Which::new(&mut args(words)).unwrap();
        assert_eq!(which, meant);
        assert_eq!(Which::parse(&which.to_string()), Some(meant));
    }
    assert!(matches!(Which::new(&mut args(&[])).unwrap(), Which::Any(_)));
    for nonsense in ["", "any", "any x", "all 1"] {
        assert_eq!(Which::parse(nonsense), None, "{nonsense}");
    }
}

#[test]
fn places_are_filled_into_the_words_of_a_command() {
    let facts =
        [("{urls}".to_owned(), "nats://a,nats://b".to_owned()), ("{http1}".to_owned(), "127.0.0.1:80".to_owned())];
    let check = |word: &str, expected: &str| assert_eq!(filled(word, &facts), expected);
    check("store.jetstream.urls={urls}", "store.jetstream.urls=nats://a,nats://b");
    check("{http1}{http1}", "127.0.0.1:80127.0.0.1:80");
    check("{data} {http2}", "{data} {http2}");
}

#[test]
fn nodes_get_ports_and_copies_as_the_brokers_allow() {
    let settings = |words: &[&str], node| Options::new(&mut args(words), None, 3).unwrap().of_node(node).unwrap();
    assert!(settings(&[], 0).is_empty());
    let own = settings(&["--servers", "1", "--port-base", "2500", "--set", "a=1", "--set", "b=2"], 1);
    let expected = ["store.jetstream.replicas=1", "smtp.addr=127.0.0.1:2502", "http.addr=127.0.0.1:2503", "a=1", "b=2"];
    assert_eq!(own, expected, "what was asked for comes last, so that it wins");
    let high = Options::new(&mut args(&["--port-base", "65535"]), None, 3).unwrap();
    assert!(high.of_node(0).is_err());
}

#[test]
fn wiping_leaves_what_is_not_of_a_cluster() {
    let folder = std::env::temp_dir().join(format!("postkeep-wipe-{}", std::process::id()));
    let make = |path: &str| {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    };
    ["n1/nats-server.conf", "n1/store/jetstream/meta", "node1.log"].into_iter().for_each(make);
    ["n2/letter", "nodes.log", "notes"].into_iter().for_each(make);
    wipe(&folder).unwrap();
    let mut left: Vec<_> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["n2", "nodes.log", "notes"]);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn columns_stand_below_each_other() {
    let rows = [["n1".to_owned(), "healthy".to_owned()], ["n10".to_owned(), String::new()]];
    assert_eq!(table(["broker", "health"], &rows), "broker  health\nn1      healthy\nn10\n\n");
    assert_eq!(table(["broker", "health"], &[]), "");
}
