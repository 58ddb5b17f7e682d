//! One WebSocket connection to the backend, whose calls never block.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tungstenite::client::client_with_config;
use tungstenite::handshake::client::{generate_key, Request, Response};
use tungstenite::handshake::HandshakeError;
use tungstenite::protocol::frame::coding::{Data, OpCode};
use tungstenite::protocol::frame::Frame as Part;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Bytes, Error, Message, WebSocket};

use super::backoff::End;
use super::peer::{Address, Peer};
use crate::os::wait::{wait_for_peer, Waker};

/// Time for connecting, and again for the handshake.
const OPEN_TIME: Duration = Duration::from_secs(10);
/// Silence after which the backend is asked whether it is there.
const PING_TIME: Duration = Duration::from_secs(20);
/// Silence after which the connection is lost.
const LOST_TIME: Duration = Duration::from_secs(40);
/// Messages handed to the kernel at once, in bytes.
const BATCH_BYTES: usize = 128 * 1024;
/// Part of a larger message that is written at once, in bytes. The crate moves what the kernel does not
/// take, and keeps a buffer of the largest part.
const PART_BYTES: usize = 1 << 20;
/// Largest message of the backend, in bytes: numbers of frames by target.
const MAX_MESSAGE_BYTES: usize = 1 << 20;

/// Address and request of a WebSocket connection.
#[derive(Clone, Debug)]
pub struct Place {
    /// Address of the backend.
    pub address: Address,
    /// Value of the header `Host`.
    pub host: String,
    /// Path of the request.
    pub path: String,
}

/// How long and for whom a thread waits for a socket.
#[derive(Clone, Copy)]
pub struct Patience<'a> {
    /// Wakes the thread.
    pub waker: &'a Waker,
    /// Set when the connection has to end.
    pub ends: &'a AtomicBool,
}

impl Patience<'_> {
    /// Waits for a socket, up to a deadline; false if it is over or the connection has to end.
    fn wait(&self, peer: &Peer, writes: bool, until: Instant) -> bool {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() || self.ends.load(Ordering::Acquire) {
            return false;
        }
        wait_for_peer(self.waker, Some((peer.as_fd(), writes)), left);
        true
    }
}

/// An open connection.
pub struct Connection {
    socket: WebSocket<Peer>,
    /// Parts of the last message that are not written yet.
    rest: Bytes,
    is_flushed: bool,
    heard: Instant,
    has_asked: bool,
}

impl Connection {
    /// Connects and upgrades; returns the connection and the response.
    ///
    /// `headers` are those of the request besides the ones of WebSocket: Origin, authorization.
    ///
    /// # Errors
    /// Tells why there is no connection.
    pub fn open(
        place: &Place,
        headers: &[(String, String)],
        patience: Patience<'_>,
    ) -> Result<(Self, Response), End> {
        let nobody = |error: &dyn std::fmt::Display| {
            End::soon(format!("no backend at {}: {error}", place.address))
        };
        let peer = Peer::connect(&place.address, OPEN_TIME).map_err(|error| nobody(&error))?;
        // Waiting for the handshake needs the socket, which is inside of it.
        let waiting = match &peer {
            Peer::Tcp(stream) => stream.try_clone().map(Peer::Tcp),
            Peer::Tls(stream) => stream.sock.try_clone().map(Peer::Tcp),
            Peer::Unix(stream) => stream.try_clone().map(Peer::Unix),
        }
        .map_err(|error| nobody(&error))?;
        let config = WebSocketConfig::default()
            .read_buffer_size(8 * 1024)
            .write_buffer_size(BATCH_BYTES)
            .max_message_size(Some(MAX_MESSAGE_BYTES))
            .max_frame_size(Some(MAX_MESSAGE_BYTES));
        let request = request(place, headers).map_err(|error| End::late(error.to_string()))?;
        let until = Instant::now() + OPEN_TIME;
        let mut result = client_with_config(request, peer, Some(config));
        loop {
            match result {
                Ok((socket, response)) => {
                    let heard = Instant::now();
                    let rest = Bytes::new();
                    let open = Self { socket, rest, is_flushed: true, heard, has_asked: false };
                    return Ok((open, response));
                }
                Err(HandshakeError::Interrupted(handshake)) => {
                    // The request is a few hundred bytes: the kernel always has room for it.
                    if !patience.wait(&waiting, false, until) {
                        return Err(nobody(&"it did not answer the request in time"));
                    }
                    result = handshake.handshake();
                }
                Err(HandshakeError::Failure(error)) => return Err(nobody(&error)),
            }
        }
    }

    /// Reads a text that has come; None if none has.
    ///
    /// # Errors
    /// Tells why the connection has ended.
    pub fn read(&mut self) -> Result<Option<String>, End> {
        loop {
            let message = match self.socket.read() {
                Ok(message) => message,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(None);
                }
                Err(error) => return Err(lost(&error)),
            };
            self.heard = Instant::now();
            self.has_asked = false;
            match message {
                Message::Text(text) => return Ok(Some(text.as_str().to_owned())),
                Message::Close(frame) => {
                    // The answer is on its way before the socket is closed.
                    let _ = self.socket.flush();
                    return Err(frame.map_or_else(
                        || End::closed(1005, ""),
                        |frame| End::closed(frame.code.into(), frame.reason.as_str()),
                    ));
                }
                // Pings are answered by the crate, with the next read or flush.
                Message::Ping(_) => self.is_flushed = false,
                _ => {}
            }
        }
    }

    /// Waits for a text until a deadline.
    ///
    /// # Errors
    /// Tells why the connection has ended; None if the deadline has passed.
    pub fn read_until(
        &mut self,
        until: Instant,
        patience: Patience<'_>,
    ) -> Result<String, Option<End>> {
        loop {
            if let Some(text) = self.read().map_err(Some)? {
                return Ok(text);
            }
            let is_flushed = self.flush().map_err(Some)?;
            if !patience.wait(self.socket.get_ref(), !is_flushed, until) {
                return Err(None);
            }
        }
    }

    /// True if the kernel has all that was written.
    pub fn is_flushed(&self) -> bool {
        self.is_flushed
    }

    /// True if the next message is to wait until the kernel has taken this one.
    pub fn is_full(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Puts a frame behind what was written, unless the connection is full.
    ///
    /// # Errors
    /// Tells why the connection has ended.
    pub fn write_frame(&mut self, mut data: Bytes) -> Result<(), End> {
        if data.len() <= PART_BYTES {
            return self.write(Message::Binary(data));
        }
        self.rest = data.split_off(PART_BYTES);
        self.write(Message::Frame(Part::message(data, OpCode::Data(Data::Binary), false)))
    }

    /// Puts the next part of a large frame behind what was written.
    fn write_part(&mut self) -> Result<(), End> {
        let part = self.rest.split_to(self.rest.len().min(PART_BYTES));
        let is_last = self.rest.is_empty();
        self.write(Message::Frame(Part::message(part, OpCode::Data(Data::Continue), is_last)))
    }

    /// Puts a text behind what was written.
    ///
    /// # Errors
    /// Tells why the connection has ended.
    pub fn write_text(&mut self, text: String) -> Result<(), End> {
        self.write(Message::Text(text.into()))
    }

    fn write(&mut self, message: Message) -> Result<(), End> {
        self.is_flushed = false;
        match self.socket.write(message) {
            Ok(()) => Ok(()),
            // The message is in the buffer: the next flush goes on with it.
            Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => Ok(()),
            Err(error) => Err(lost(&error)),
        }
    }

    /// Hands what was written to the kernel; false if it does not take all now.
    ///
    /// # Errors
    /// Tells why the connection has ended.
    pub fn flush(&mut self) -> Result<bool, End> {
        while !self.is_flushed {
            match self.socket.flush() {
                Ok(()) if self.is_full() => self.write_part()?,
                Ok(()) => self.is_flushed = true,
                Err(Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) => return Err(lost(&error)),
            }
        }
        Ok(self.is_flushed)
    }

    /// Asks a silent backend whether it is there; returns the time until the next check.
    ///
    /// # Errors
    /// Tells that the backend is silent for too long.
    pub fn check(&mut self) -> Result<Duration, End> {
        let silent = self.heard.elapsed();
        if silent >= LOST_TIME {
            return Err(End::soon("the connection to the backend was lost: it is silent"));
        }
        if silent >= PING_TIME && !self.has_asked {
            self.has_asked = true;
            self.write(Message::Ping(Bytes::new()))?;
        }
        let next = if self.has_asked { LOST_TIME } else { PING_TIME };
        Ok(next.saturating_sub(silent))
    }

    /// Another descriptor of the socket, to wait for it while somebody else uses the connection.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub fn peer(&self) -> Result<OwnedFd, End> {
        let made = self.socket.get_ref().as_fd().try_clone_to_owned();
        made.map_err(|error| End::soon(format!("the socket cannot be waited for: {error}")))
    }

    /// Says goodbye, as far as the kernel takes it now.
    pub fn close(&mut self) {
        let _ = self.socket.close(None);
        let _ = self.socket.flush();
    }
}

fn request(
    place: &Place,
    headers: &[(String, String)],
) -> Result<Request, tungstenite::http::Error> {
    let mut request = Request::builder()
        .uri(format!("ws://localhost{}", place.path))
        .header("Host", &place.host)
        .header("Connection", "Upgrade")
        .header("Upgrade", "websocket")
        .header("Sec-WebSocket-Version", "13")
        .header("Sec-WebSocket-Key", generate_key());
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(())
}

fn lost(error: &Error) -> End {
    End::soon(format!("the connection to the backend was lost: {error}"))
}
