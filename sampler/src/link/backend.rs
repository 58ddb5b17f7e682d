//! A backend for tests: takes connections on loopback or a Unix socket, one at a time.

use std::io::{Read, Write};
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::time::Duration;

use tungstenite::handshake::server::{Request, Response};
use tungstenite::protocol::frame::coding::CloseCode;
use tungstenite::protocol::CloseFrame;
use tungstenite::{accept_hdr, Error, Message, WebSocket};

use super::messages::Reached;
use super::peer::Address;
use super::websocket::Place;

/// A socket of either kind.
pub trait Socket: Read + Write + Send {}
impl<T: Read + Write + Send> Socket for T {}

/// Address on which a test's backend listens.
pub enum Backend {
    Tcp(TcpListener),
    Unix(UnixListener, String),
}

impl Backend {
    pub fn tcp() -> Self {
        Self::Tcp(TcpListener::bind("127.0.0.1:0").unwrap())
    }

    pub fn unix(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let _ = std::fs::remove_file(&path);
        Self::Unix(UnixListener::bind(&path).unwrap(), path.to_str().unwrap().into())
    }

    pub fn place(&self) -> Place {
        let address = match self {
            Self::Tcp(listener) => {
                Address::Tcp("127.0.0.1".into(), listener.local_addr().unwrap().port())
            }
            Self::Unix(_, path) => Address::Unix(path.clone()),
        };
        Place { address, host: "tidscope.test".into(), path: "/ws/data".into() }
    }

    /// Takes a connection, without reading anything of it.
    pub fn accept(&self) -> Accepted {
        let socket: Box<dyn Socket> = match self {
            Self::Tcp(listener) => {
                let stream = listener.accept().unwrap().0;
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                Box::new(stream)
            }
            Self::Unix(listener, _) => {
                let stream = listener.accept().unwrap().0;
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                Box::new(stream)
            }
        };
        let mut asked = Vec::new();
        #[allow(clippy::result_large_err)] // The crate demands it.
        let answer = |request: &Request, mut response: Response| {
            asked.push(request.uri().path().to_owned());
            for name in ["host", "origin", "authorization"] {
                let value = request.headers().get(name).map(|value| value.to_str().unwrap());
                asked.push(value.unwrap_or("").to_owned());
            }
            response.headers_mut().insert("tidscope-proof", "accepted".parse().unwrap());
            Ok(response)
        };
        let socket = accept_hdr(socket, answer).unwrap();
        Accepted { socket, asked, has: Reached::new() }
    }

    /// Takes a connection, and welcomes who says hello.
    pub fn welcome(&self, resume: &Reached) -> Accepted {
        let mut accepted = self.accept();
        assert_eq!(accepted.read(), Some(Got::Text("hello".into())));
        let targets: Vec<_> =
            resume.iter().map(|(target, seq)| format!("{target:?}:{seq}")).collect();
        accepted.send(&format!(
            "{{\"type\":\"collector_welcome\",\"protocol\":1,\"resume\":{{{}}}}}",
            targets.join(",")
        ));
        accepted.has.clone_from(resume);
        accepted
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A message of the collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Got {
    Frame(Vec<u8>),
    Text(String),
}

/// A connection of the backend.
pub struct Accepted {
    socket: WebSocket<Box<dyn Socket>>,
    /// Path, Host, Origin and Authorization of the request.
    pub asked: Vec<String>,
    has: Reached,
}

impl Accepted {
    /// The next message; None if the collector has gone.
    pub fn read(&mut self) -> Option<Got> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return Some(Got::Text(text.as_str().into())),
                Ok(Message::Binary(data)) => return Some(Got::Frame(data.to_vec())),
                Ok(Message::Close(_)) => return None,
                Ok(_) => {}
                Err(Error::ConnectionClosed | Error::Protocol(_)) => return None,
                Err(error) => panic!("nothing came: {error}"),
            }
        }
    }

    /// The next frame.
    pub fn frame(&mut self) -> Vec<u8> {
        match self.read() {
            Some(Got::Frame(data)) => data,
            other => panic!("{other:?} is not a frame"),
        }
    }

    pub fn send(&mut self, text: &str) {
        self.socket.send(Message::Text(text.into())).unwrap();
    }

    /// Confirms the frames of a target up to a number.
    pub fn confirm(&mut self, target: &str, seq: u64) {
        self.has.insert(target.into(), seq);
        self.send(&format!("{{\"type\":\"frames_received\",\"targets\":{{{target:?}:{seq}}}}}"));
    }

    pub fn close(&mut self, code: u16, reason: &str) {
        let frame = CloseFrame { code: CloseCode::from(code), reason: reason.into() };
        let _ = self.socket.close(Some(frame));
        while self.read().is_some() {}
    }
}
