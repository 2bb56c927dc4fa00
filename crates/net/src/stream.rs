//! A connection's bytes, whatever carries them: TCP, a Unix socket, a pipe of the tests, each in the clear or under TLS.
//!
//! One type for all of them, so that a session can go on under TLS where it stands, and so that no server is built once
//! for each way to be reached.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::server::TlsStream;

use crate::ahead::Ahead;

/// A connection.
#[derive(Debug)]
pub enum Stream {
    /// In the clear.
    Plain(Raw),
    /// Under TLS.
    Tls(Box<TlsStream<Ahead>>),
}

/// What carries the bytes.
#[derive(Debug)]
pub enum Raw {
    /// TCP.
    Tcp(TcpStream),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(UnixStream),
    /// A pipe within the process.
    Pipe(DuplexStream),
    /// On its way from one event loop to another: nobody can read or write it now.
    Loose(Loose),
}

/// A socket without an event loop.
#[derive(Debug)]
pub enum Loose {
    /// TCP.
    Tcp(std::net::TcpStream),
    /// A Unix socket.
    #[cfg(unix)]
    Unix(std::os::unix::net::UnixStream),
    /// Nothing: it could not be moved.
    Lost,
}

impl Stream {
    /// The two ends of a pipe that holds so many bytes: the client's and the server's.
    pub fn pipe(bytes: usize) -> (DuplexStream, Self) {
        let (client, server) = tokio::io::duplex(bytes);
        (client, Self::Plain(Raw::Pipe(server)))
    }

    /// What stands in for a connection that was moved elsewhere.
    pub(crate) fn gone() -> Self {
        Self::Plain(Raw::Loose(Loose::Lost))
    }

    /// Write what goes in at once and forget the rest: a last word to somebody who is not waited for.
    pub fn offer(&mut self, bytes: &[u8]) {
        let mut context = Context::from_waker(Waker::noop());
        if Pin::new(&mut *self).poll_write(&mut context, bytes).is_ready() {
            let _ = Pin::new(self).poll_flush(&mut context);
        }
    }
}

impl Raw {
    /// Take it out of its event loop. A pipe has none.
    pub(crate) fn loosen(&mut self) -> io::Result<()> {
        let loose = match std::mem::replace(self, Self::Loose(Loose::Lost)) {
            Self::Tcp(stream) => Self::Loose(Loose::Tcp(stream.into_std()?)),
            #[cfg(unix)]
            Self::Unix(stream) => Self::Loose(Loose::Unix(stream.into_std()?)),
            other => other,
        };
        *self = loose;
        Ok(())
    }

    /// Let the event loop of the present task watch it from now on.
    pub(crate) fn settle(&mut self) -> io::Result<()> {
        let settled = match std::mem::replace(self, Self::Loose(Loose::Lost)) {
            Self::Loose(Loose::Tcp(stream)) => Self::Tcp(TcpStream::from_std(stream)?),
            #[cfg(unix)]
            Self::Loose(Loose::Unix(stream)) => Self::Unix(UnixStream::from_std(stream)?),
            other => other,
        };
        *self = settled;
        Ok(())
    }

    fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        with: impl FnOnce(Pin<&mut dyn Carrier>, &mut Context<'_>) -> Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        match self {
            Self::Tcp(stream) => with(Pin::new(stream), context),
            #[cfg(unix)]
            Self::Unix(stream) => with(Pin::new(stream), context),
            Self::Pipe(stream) => with(Pin::new(stream), context),
            Self::Loose(_) => Poll::Ready(Err(io::ErrorKind::NotConnected.into())),
        }
    }
}

trait Carrier: AsyncRead + AsyncWrite + Unpin {}
impl<T: AsyncRead + AsyncWrite + Unpin> Carrier for T {}

impl AsyncRead for Raw {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            // By far the most of them, so without a detour.
            Self::Tcp(stream) => Pin::new(stream).poll_read(context, into),
            other => other.poll(context, |stream, context| stream.poll_read(context, into)),
        }
    }
}

impl AsyncWrite for Raw {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Tcp(stream) => Pin::new(stream).poll_write(context, bytes),
            other => other.poll(context, |stream, context| stream.poll_write(context, bytes)),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.get_mut().poll(context, |stream, context| stream.poll_write_vectored(context, slices))
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Tcp(stream) => stream.is_write_vectored(),
            #[cfg(unix)]
            Self::Unix(stream) => stream.is_write_vectored(),
            Self::Pipe(stream) => stream.is_write_vectored(),
            Self::Loose(_) => false,
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll(context, |stream, context| stream.poll_flush(context))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll(context, |stream, context| stream.poll_shutdown(context))
    }
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(context, into),
            Self::Tls(stream) => Pin::new(stream).poll_read(context, into),
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(context, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(context, bytes),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(context, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(context),
            Self::Tls(stream) => Pin::new(stream).poll_flush(context),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(context),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(context),
        }
    }
}
