//! The connection to a server: lines and content out, replies in, each within a time. It knows nothing of their meaning.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use courier::relay::reply::{LINE_MAX, Reply};
use courier::relay::stuff::stuffed;
use net::Place;

/// So many octets are handed to the system at a time, each within the time allowed.
const PIECE: usize = 64 << 10;
/// Time for a goodbye, which changes nothing any more.
const GOODBYE: Duration = Duration::from_secs(2);

/// Why nothing came or went.
#[derive(Debug)]
pub(super) enum Broken {
    /// The connection, and how.
    Lost(String),
    /// What came is no reply.
    Strange,
}

/// A socket of either kind.
trait Socket: Read + Write {
    fn allow(&self, time: Duration) -> io::Result<()>;
}

/// A connection.
pub(super) struct Link {
    socket: Box<dyn Socket>,
    /// Read and not yet taken.
    ahead: Vec<u8>,
    timeout: Duration,
    is_verbose: bool,
}

impl Link {
    /// Connect, to the first address of a host that answers.
    pub(super) fn connect(place: &Place, timeout: Duration, is_verbose: bool) -> io::Result<Self> {
        let socket: Box<dyn Socket> = match place {
            Place::Tcp(address) => Box::new(tcp(address, timeout)?),
            #[cfg(unix)]
            Place::Unix(path) => Box::new(UnixStream::connect(path)?),
            #[cfg(not(unix))]
            Place::Unix(_) => return Err(io::Error::other("this system has no Unix sockets")),
        };
        Ok(Self { socket, ahead: Vec::new(), timeout, is_verbose })
    }

    /// Read one reply.
    pub(super) fn reply(&mut self) -> Result<Reply, Broken> {
        let deadline = Instant::now() + self.timeout;
        let mut reply = Reply::default();
        loop {
            let line = self.line(deadline)?;
            let is_whole = reply.take(&line).map_err(|_| Broken::Strange)?;
            if is_whole {
                self.tell('<', &reply.shown());
                return Ok(reply);
            }
        }
    }

    /// A line without its end.
    fn line(&mut self, deadline: Instant) -> Result<Vec<u8>, Broken> {
        loop {
            if let Some(end) = memchr::memchr(b'\n', &self.ahead) {
                let line: Vec<u8> = self.ahead.drain(..=end).collect();
                return Ok(line.trim_ascii_end().to_vec());
            }
            if self.ahead.len() > LINE_MAX {
                return Err(Broken::Strange);
            }
            self.more(deadline)?;
        }
    }

    fn more(&mut self, deadline: Instant) -> Result<(), Broken> {
        let mut piece = [0; 1024];
        let left = deadline.saturating_duration_since(Instant::now());
        let read = if left.is_zero() {
            Err(io::ErrorKind::TimedOut.into())
        } else {
            self.socket.allow(left).and_then(|()| self.socket.read(&mut piece))
        };
        match read {
            Ok(0) => Err(Broken::Lost("the server closed the connection".to_owned())),
            Ok(count) => {
                self.ahead.extend_from_slice(&piece[..count]);
                Ok(())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(self.lost(&error)),
        }
    }

    /// Send a line.
    pub(super) fn say(&mut self, line: &str) -> Result<(), Broken> {
        self.tell('>', line);
        self.write(format!("{line}\r\n").as_bytes())
    }

    /// Send content with dots doubled and the end mark (RFC 5321 §4.5.2). It is empty or ends with CRLF.
    pub(super) fn data(&mut self, content: &[u8]) -> Result<(), Broken> {
        self.tell('>', &format!("({} octets and a dot)", content.len()));
        self.write(&stuffed(content))
    }

    /// Send content as it is.
    pub(super) fn chunk(&mut self, content: &[u8]) -> Result<(), Broken> {
        self.tell('>', &format!("({} octets)", content.len()));
        self.write(content)
    }

    /// Take leave. Whatever happens, all is done that had to be done.
    pub(super) fn quit(mut self) {
        self.timeout = self.timeout.min(GOODBYE);
        if self.say("QUIT").is_ok() {
            let _ = self.reply();
        }
    }

    fn write(&mut self, octets: &[u8]) -> Result<(), Broken> {
        for piece in octets.chunks(PIECE) {
            self.piece(piece).map_err(|error| self.lost(&error))?;
        }
        Ok(())
    }

    /// All of a piece within the time, however little is taken at once.
    fn piece(&mut self, mut rest: &[u8]) -> io::Result<()> {
        let deadline = Instant::now() + self.timeout;
        while !rest.is_empty() {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            self.socket.allow(left)?;
            match self.socket.write(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn lost(&self, error: &io::Error) -> Broken {
        Broken::Lost(match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => {
                format!("the server did not answer within {} s", self.timeout.as_secs())
            }
            _ => format!("the connection was lost ({error})"),
        })
    }

    /// What is said, for `-v`. If stderr is gone, nobody wants to know.
    fn tell(&self, direction: char, what: &str) {
        if self.is_verbose {
            let _ = writeln!(io::stderr(), "{direction} {what}");
        }
    }
}

fn tcp(address: &str, timeout: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::other("this host has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

impl Socket for TcpStream {
    fn allow(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}

#[cfg(unix)]
impl Socket for UnixStream {
    fn allow(&self, time: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(time))?;
        self.set_write_timeout(Some(time))
    }
}
