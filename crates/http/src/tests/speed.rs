//! temp
use super::*;
use std::time::Instant;
#[tokio::test]
async fn speed() {
    let house = House::open().await;
    for n in 0..100 { house.deliver("hundred", letter(&format!("Message number {n}")) + &"x".repeat(2000)).await; }
    let mailbox = house.mailroom.named("hundred").unwrap();
    let page = mailroom::Page { after: None, limit: 10000, order: mailroom::Order::Oldest };
    let n = 20000;
    for _ in 0..3 {
    let t = Instant::now();
    for _ in 0..n { std::hint::black_box(house.mailroom.list(&Caller::Program, &mailbox, page).await.unwrap()); }
    println!("room.list {:?}", t.elapsed() / n);
    let items = house.mailroom.list(&Caller::Program, &mailbox, page).await.unwrap().items;
    let t = Instant::now();
    for _ in 0..n { std::hint::black_box(crate::v1::wire::list("hundred", &items)); }
    println!("wire.list {:?} {}", t.elapsed() / n, crate::v1::wire::list("hundred", &items).len());
    let t = Instant::now();
    for _ in 0..n { for i in &items { std::hint::black_box(mail::time::rfc3339(i.summary.received_at)); } }
    println!("rfc3339 x100 {:?}", t.elapsed() / n);
    }
}
