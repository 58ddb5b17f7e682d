//! The backend's address, and a socket to it that never blocks.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use super::tls::{self, TlsStream};

/// Address of the backend.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// A host name or an IP address, without brackets, and a port.
    Tcp(String, u16),
    /// Host and port, over TLS.
    Tls(String, u16),
    /// Path of a socket.
    Unix(String),
}

impl fmt::Display for Address {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp(host, port) | Self::Tls(host, port) if host.contains(':') => {
                write!(form, "[{host}]:{port}")
            }
            Self::Tcp(host, port) | Self::Tls(host, port) => write!(form, "{host}:{port}"),
            Self::Unix(path) => write!(form, "unix:{path}"),
        }
    }
}

/// A connected socket; its calls fail with `WouldBlock` where they would block.
#[derive(Debug)]
pub enum Peer {
    /// Over TCP.
    Tcp(TcpStream),
    /// Over TLS.
    Tls(Box<TlsStream>),
    /// Over a Unix socket.
    Unix(UnixStream),
}

impl Peer {
    /// Connects within `longest` for each address that a host name has. Looking the name up may take
    /// longer.
    ///
    /// # Errors
    /// The error of the last attempt.
    pub fn connect(address: &Address, longest: Duration) -> io::Result<Self> {
        match address {
            Address::Tcp(host, port) => connect(host, *port, longest).map(Self::Tcp),
            Address::Tls(host, port) => {
                let stream = connect(host, *port, longest)?;
                tls::over(stream, host).map(|stream| Self::Tls(Box::new(stream)))
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_nonblocking(true)?;
                Ok(Self::Unix(stream))
            }
        }
    }
}

fn connect(host: &str, port: u16, longest: Duration) -> io::Result<TcpStream> {
    let mut failed = io::Error::from(io::ErrorKind::NotFound);
    for address in (host, port).to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, longest) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                return Ok(stream);
            }
            Err(error) => failed = error,
        }
    }
    Err(failed)
}

impl AsFd for Peer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tcp(stream) => stream.as_fd(),
            Self::Tls(stream) => stream.sock.as_fd(),
            Self::Unix(stream) => stream.as_fd(),
        }
    }
}

impl Read for Peer {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(into),
            Self::Tls(stream) => stream.read(into),
            Self::Unix(stream) => stream.read(into),
        }
    }
}

impl Write for Peer {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(from),
            Self::Tls(stream) => stream.write(from),
            Self::Unix(stream) => stream.write(from),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Tls(stream) => stream.flush(),
            Self::Tcp(_) | Self::Unix(_) => Ok(()),
        }
    }
}
