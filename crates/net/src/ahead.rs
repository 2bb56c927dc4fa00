//! Reading ahead below TLS: records are taken off the socket many at a time, where the library asks for a few kilobytes.
//!
//! The room for it is there only while bytes flow; a connection that waits has none.

use std::io::{self, IoSlice};
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};

use bytes::BufMut;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};

use crate::stream::Raw;

/// Two full records of TLS.
const ROOM: usize = 32 << 10;

/// A connection that is read ahead.
#[derive(Debug)]
pub struct Ahead {
    raw: Raw,
    /// What was read ahead; without room while little comes.
    room: Vec<u8>,
    /// So much of it was taken.
    taken: usize,
    /// Whether more is to be expected: the last read was filled to its end.
    flows: bool,
}

impl Ahead {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, room: Vec::new(), taken: 0, flows: false }
    }

    /// What carries the bytes.
    pub(crate) fn raw(&mut self) -> &mut Raw {
        &mut self.raw
    }

    /// Read as little as is asked for: commands, and the beginning of more.
    fn poll_little(&mut self, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(Pin::new(&mut self.raw).poll_read(context, into))?;
        self.flows = into.remaining() == 0 && into.filled().len() > before;
        Poll::Ready(Ok(()))
    }

    /// Read as much as there is room for.
    fn poll_much(&mut self, context: &mut Context<'_>) -> Poll<io::Result<usize>> {
        (self.room, self.taken) = (Vec::with_capacity(ROOM), 0);
        let mut room = (&mut self.room).limit(ROOM);
        let read = pin!(self.raw.read_buf(&mut room)).poll(context);
        self.flows = matches!(read, Poll::Ready(Ok(ROOM)));
        if self.room.is_empty() {
            self.room = Vec::new();
        }
        read
    }
}

impl AsyncRead for Ahead {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.taken == this.room.len() {
            if !this.flows {
                return this.poll_little(context, into);
            }
            ready!(this.poll_much(context))?;
        }
        let piece = into.remaining().min(this.room.len() - this.taken);
        into.put_slice(&this.room[this.taken..this.taken + piece]);
        this.taken += piece;
        if this.taken == this.room.len() {
            (this.room, this.taken) = (Vec::new(), 0);
        }
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
    use tokio::io::AsyncWriteExt;

    use super::*;
    use crate::Stream;

    #[tokio::test]
    async fn what_is_read_ahead_comes_out_in_order_and_the_room_goes() {
        let (mut client, Stream::Plain(raw)) = Stream::pipe(100_000) else { panic!("a pipe is plain") };
        // So much that the last full read leaves nothing behind it.
        let sent: Vec<u8> = (0..4096 + 2 * ROOM).map(|number| number as u8).collect();
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
        assert!(waiting.is_err() && ahead.room.capacity() == 0, "a connection that waits holds nothing");
        drop(client);
        assert_eq!(ahead.read(&mut [0; 8]).await.unwrap(), 0);
    }
}
