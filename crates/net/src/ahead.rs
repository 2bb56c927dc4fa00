//! Reading ahead below TLS: records are taken off the socket many at a time, where the library asks for a few kilobytes.
//!
//! The room for it is there only while bytes flow; a connection that waits has none.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::stream::Raw;

/// Two full records of TLS.
const ROOM: usize = 32 << 10;

/// A connection that is read ahead.
#[derive(Debug)]
pub struct Ahead {
    raw: Raw,
    /// Empty while the connection waits.
    room: Box<[u8]>,
    /// What was read and not yet taken lies between these.
    begin: usize,
    end: usize,
}

impl Ahead {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, room: Box::default(), begin: 0, end: 0 }
    }

    /// What carries the bytes.
    pub(crate) fn raw(&mut self) -> &mut Raw {
        &mut self.raw
    }

    /// Read what is there; the room goes when nothing is.
    fn poll_fill(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.room.is_empty() {
            self.room = vec![0; ROOM].into();
        }
        let mut into = ReadBuf::new(&mut self.room);
        let read = Pin::new(&mut self.raw).poll_read(context, &mut into);
        (self.begin, self.end) = (0, into.filled().len());
        if self.end == 0 {
            self.room = Box::default();
        }
        read
    }
}

impl AsyncRead for Ahead {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.begin == this.end {
            ready!(this.poll_fill(context))?;
        }
        let taken = into.remaining().min(this.end - this.begin);
        into.put_slice(&this.room[this.begin..this.begin + taken]);
        this.begin += taken;
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Ahead {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().raw).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.get_mut().raw).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.raw.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().raw).poll_flush(context)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().raw).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;
    use crate::Stream;

    #[tokio::test]
    async fn what_is_read_ahead_comes_out_in_order_and_the_room_goes() {
        let (mut client, Stream::Plain(raw)) = Stream::pipe(100_000) else { panic!("a pipe is plain") };
        let sent: Vec<u8> = (0..70_000_u32).map(|number| number as u8).collect();
        let mut ahead = Ahead::new(raw);
        client.write_all(&sent).await.unwrap();
        let mut got = Vec::new();
        while got.len() < sent.len() {
            let mut piece = [0; 4096];
            let bytes = ahead.read(&mut piece).await.unwrap();
            got.extend_from_slice(&piece[..bytes]);
        }
        assert_eq!(got, sent);
        let waiting = tokio::time::timeout(std::time::Duration::from_millis(1), ahead.read(&mut [0; 8])).await;
        assert!(waiting.is_err() && ahead.room.is_empty(), "a connection that waits holds nothing");
        drop(client);
        assert_eq!(ahead.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
