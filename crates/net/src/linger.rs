//! The end of a connection on which the other end may still be sending.
//!
//! Closing at once would reset the connection and take the last word away from a client that has not read it yet.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};

use crate::stop::{Phase, Stop};

/// The other end may send so much more, so long, before the socket is closed under it.
const BYTES_MAX: usize = 4 << 20;
const TIME_MAX: Duration = Duration::from_secs(2);

/// Say that nothing follows, and let the other end finish; not when the program ends at once.
pub async fn linger<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, mut stop: Stop) {
    let rest = async {
        if stream.shutdown().await.is_err() {
            return;
        }
        // Not in the task itself, where every open connection would carry it.
        let (mut scrap, mut left) = (vec![0; 4 << 10], BYTES_MAX);
        while let Ok(bytes @ 1..) = stream.read(&mut scrap).await {
            left = left.saturating_sub(bytes);
            if left == 0 {
                return;
            }
        }
    };
    tokio::select! {
        () = rest => {}
        () = tokio::time::sleep(TIME_MAX) => {}
        () = stop.reached(Phase::Ending) => {}
    }
}
