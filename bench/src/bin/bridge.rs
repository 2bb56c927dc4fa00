//! Plain TCP in front of a listener that wants TLS or is a Unix socket, for checks that speak plain TCP only.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use postkeep_bench::{Asked, tls};
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, copy};
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio_rustls::TlsConnector;

const USAGE: &str = "bridge --listen HOST:PORT --to HOST:PORT --trust CERT.PEM, or --to unix:PATH";

/// What is behind the bridge.
enum Behind {
    Tls(String, TlsConnector),
    Unix(PathBuf),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut asked = Asked::from_env(USAGE);
    let (listen, to): (String, String) = (asked.must("--listen")?, asked.must("--to")?);
    let trust: Option<PathBuf> = asked.value("--trust")?;
    asked.finish()?;
    let behind = match to.strip_prefix("unix:") {
        Some(path) => Behind::Unix(path.into()),
        None => Behind::Tls(to, TlsConnector::from(tls::client(trust.as_deref())?)),
    };
    let (behind, listener) = (Arc::new(behind), TcpListener::bind(&listen).await.context(listen)?);
    loop {
        let (front, _) = listener.accept().await?;
        let behind = Arc::clone(&behind);
        // One that breaks is told to its client by its end.
        tokio::spawn(async move { carry(front, &behind).await });
    }
}

async fn carry(front: TcpStream, behind: &Behind) -> io::Result<()> {
    front.set_nodelay(true)?;
    match behind {
        Behind::Unix(path) => join(front, UnixStream::connect(path).await?).await,
        Behind::Tls(to, connector) => {
            let back = TcpStream::connect(to).await?;
            back.set_nodelay(true)?;
            let name = ServerName::try_from("localhost").map_err(io::Error::other)?;
            join(front, connector.connect(name, back).await?).await
        }
    }
    Ok(())
}

/// Carry bytes both ways, each way to its own end. When the server has said its last word the client's side ends at
/// once, with a reset or not as the server would have it.
async fn join(front: TcpStream, back: impl AsyncRead + AsyncWrite) {
    let ((mut from_client, mut to_client), (mut from_server, mut to_server)) =
        (tokio::io::split(front), tokio::io::split(back));
    let there = async {
        let _ = copy(&mut from_client, &mut to_server).await;
        let _ = to_server.shutdown().await;
        std::future::pending::<()>().await
    };
    let here = async {
        let _ = copy(&mut from_server, &mut to_client).await;
        let _ = to_client.shutdown().await;
    };
    tokio::select! {
        () = there => {}
        () = here => {}
    }
}
