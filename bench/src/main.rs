//! A bare axum handler: answers that were fetched before, from memory, with the same header fields. It is the most that
//! this HTTP stack can do, and knows nothing of mail.
//!
//! `bare-http FILE…`: each file holds one HTTP answer, head and body; they are served at `/0`, `/1`, ….

#![allow(clippy::print_stdout, reason = "the ready line is how the benchmark finds it")]

use anyhow::{Context, Result};
use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::routing::get;
use tokio::net::TcpListener;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> Result<()> {
    let mut router = Router::new();
    for (number, file) in std::env::args_os().skip(1).enumerate() {
        let raw = std::fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let (headers, body) = answer(&raw)?;
        router = router.route(&format!("/{number}"), get(async move || (headers.clone(), body.clone())));
    }
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        println!("ready {{\"http\":\"{}\"}}", listener.local_addr()?);
        Ok(axum::serve(listener, router).await?)
    })
}

/// The header fields, without those that the stack writes itself, and the body.
fn answer(raw: &[u8]) -> Result<(HeaderMap, Bytes)> {
    let end = raw.windows(4).position(|window| window == b"\r\n\r\n").context("the answer has no end of its head")?;
    let head = std::str::from_utf8(&raw[..end]).context("the head is not UTF-8")?;
    let mut headers = HeaderMap::new();
    for line in head.lines().skip(1) {
        let (name, value) = line.split_once(':').with_context(|| format!("no header field: {line}"))?;
        let name: HeaderName = name.parse()?;
        if !["connection", "content-length", "date"].contains(&name.as_str()) {
            headers.append(name, HeaderValue::from_str(value.trim())?);
        }
    }
    Ok((headers, Bytes::copy_from_slice(&raw[end + 4..])))
}
