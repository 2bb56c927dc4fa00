//! What has lapsed goes in slices beside the mail that comes, and the room it leaves is used again or given back.

use std::fs;
use std::time::Duration;

use store::conformance::Letter;
use store::{Position, Store};

use super::bench::{Bench, assert_whole, mailbox, subjects, until};

#[tokio::test]
async fn k11_lapsed_mail_goes_while_mail_comes() {
    let bench = Bench::new(|settings| settings.retention = Some(Duration::from_secs(100)));
    let disk = bench.open();
    for number in 0..1_500 {
        let name = format!("old{}", number % 50);
        bench.send(&disk, Letter::new("old", &[&name, "all"])).await;
    }
    bench.pass(101);
    assert_eq!(subjects(&disk, "all").await, [""; 0], "out of sight at once");
    let mut sent = 0;
    let mut left = Vec::new();
    while bench.number("SELECT count(*) FROM message WHERE subject = 'old'") > 0 {
        bench.send(&disk, Letter::new("new", &["all"])).await;
        sent += 1;
        left.push(bench.number("SELECT count(*) FROM message WHERE subject = 'old'"));
        assert!(sent < 100_000, "{left:?}");
    }
    let largest = left.windows(2).map(|two| two[0] - two[1]).max().unwrap();
    assert!(sent > 4 && largest <= 1_024, "in slices: {sent} sent, {largest} at once");
    assert_eq!(subjects(&disk, "all").await.len(), sent);
    disk.close();
    assert_whole(&bench.database());
}

#[tokio::test]
async fn room_is_used_again_and_given_back() {
    let bench = Bench::new(|_| ());
    let disk = bench.open();
    let fill = async |name: &str, messages: usize| {
        for number in 0..messages {
            bench.send(&disk, Letter::new(format!("{number}"), &[name]).size(200_000)).await;
        }
    };
    fill("a", 300).await;
    disk.purge(&mailbox("a"), Position::END, Vec::new()).await.unwrap();
    fill("kept", 20).await;
    // About 60 MB were written; a part of the free pages is kept for mail to come, the rest goes back.
    until("most pages are given back", || bench.number("SELECT page_count FROM pragma_page_count") < 3_000);
    disk.close();
    let bytes = fs::metadata(bench.database()).unwrap().len();
    assert!(bytes < 3_000 * 8192, "{bytes}");
    assert_whole(&bench.database());
}

#[tokio::test]
async fn steady_turnover_does_not_make_the_file_grow() {
    let bench = Bench::new(|settings| settings.messages_max = 20);
    let disk = bench.open();
    let mut pages = Vec::new();
    for _ in 0..5 {
        for number in 0..100 {
            bench.send(&disk, Letter::new(format!("{number}"), &["cap"]).size(20_000)).await;
        }
        pages.push(bench.number("SELECT page_count FROM pragma_page_count"));
    }
    assert!(pages[4] <= pages[0] + 10, "{pages:?}");
}

/// Mail that is brought in from elsewhere may have lapsed when it comes.
#[tokio::test]
async fn a_mailbox_whose_cap_takes_all_of_it_is_forgotten() {
    let bench = Bench::new(|settings| {
        settings.messages_max = 1;
        settings.retention = Some(Duration::from_secs(100));
    });
    let disk = bench.open();
    let long_ago = store::Clock::now(&*bench.clock) - jiff::SignedDuration::from_secs(1_000);
    for number in 0..20 {
        let name = format!("old{number}");
        bench.send(&disk, Letter::new("one", &[&name]).received_at(long_ago)).await;
        bench.send(&disk, Letter::new("two", &[&name]).received_at(long_ago)).await;
    }
    until("nothing is left", || bench.number("SELECT count(*) FROM message") == 0);
    assert_eq!(bench.number("SELECT count(*) FROM mailbox"), 0);
    bench.send(&disk, Letter::new("new", &["old3"])).await;
    assert_eq!(subjects(&disk, "old3").await, ["new"]);
    disk.close();
    assert_whole(&bench.database());
}
