//! Server of an agent: one thread serves all connections without blocking.

use crate::failure::{Failure, CLIENTS, INVALID};
use crate::lease::Lease;
use crate::protocol::{reply, RESTART_SEARCH};
use crate::system::{effective_user, peer_user, readable};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::io::AsRawFd;
use std::os::unix::net::{UnixListener, UnixStream};
use std::thread;
use std::time::{Duration, Instant};

const LONGEST_LINE: usize = 4096;
const MAX_CLIENTS: usize = 8;
const RETRY: Duration = Duration::from_millis(50);

struct Client {
    number: u64,
    stream: UnixStream,
    buffer: Vec<u8>,
}

/// Error: the connection must be closed.
struct Over;

impl From<io::Error> for Over {
    fn from(_: io::Error) -> Self {
        Over
    }
}

impl Client {
    /// Send a line; fails if the client does not read it, so that the caller disconnects it.
    fn send(&mut self, line: &str) -> Result<(), Over> {
        Ok(self.stream.write_all(line.as_bytes())?)
    }
}

pub struct Server {
    listener: UnixListener,
    /// Wake-up socket: a byte means that clients must be notified, its end that the server must stop.
    woken: UnixStream,
    lease: Lease,
    begin: Instant,
    clients: Vec<Client>,
    last_number: u64,
}

impl Server {
    pub fn new(listener: UnixListener, woken: UnixStream, lease: Lease) -> Self {
        let begin = Instant::now();
        Server { listener, woken, lease, begin, clients: Vec::new(), last_number: 0 }
    }

    /// Serve until the other end of `woken` is closed, then restore the size.
    pub fn run(mut self) {
        while let Ok(true) = self.step() {}
        self.lease.release();
    }

    /// Serve one round. Return false if the server must stop.
    fn step(&mut self) -> io::Result<bool> {
        let mut fds = vec![self.woken.as_raw_fd(), self.listener.as_raw_fd()];
        fds.extend(self.clients.iter().map(|client| client.stream.as_raw_fd()));
        let ready = readable(&fds, self.lease.left_ms())?;
        if ready.contains(&self.woken.as_raw_fd()) {
            match self.woken.read(&mut [0; 64]) {
                Ok(0) => return Ok(false),
                Ok(_) => self.notify(),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        for client in std::mem::take(&mut self.clients) {
            let asked = ready.contains(&client.stream.as_raw_fd());
            self.serve(client, |server, client| if asked { server.receive(client) } else { Ok(()) });
        }
        if ready.contains(&self.listener.as_raw_fd()) {
            self.accept();
        }
        Ok(true)
    }

    /// Run an action for a client; drop the client if the action fails.
    fn serve<F>(&mut self, mut client: Client, action: F)
    where
        F: FnOnce(&mut Self, &mut Client) -> Result<(), Over>,
    {
        match action(self, &mut client) {
            Ok(()) => self.clients.push(client),
            Err(Over) => self.lease.forget(client.number),
        }
    }

    fn notify(&mut self) {
        for client in std::mem::take(&mut self.clients) {
            self.serve(client, |_, client| client.send(RESTART_SEARCH));
        }
    }

    fn accept(&mut self) {
        let stream = match self.listener.accept() {
            Ok((stream, _)) => stream,
            Err(error) if error.kind() == ErrorKind::WouldBlock => return,
            Err(_) => return thread::sleep(RETRY), // Out of file descriptors, for example; retry later.
        };
        let trusted = matches!(peer_user(&stream), Ok(user) if user == 0 || user == effective_user());
        if !trusted || stream.set_nonblocking(true).is_err() {
            return;
        }
        self.last_number += 1;
        let mut client = Client { number: self.last_number, stream, buffer: Vec::new() };
        if self.clients.len() >= MAX_CLIENTS {
            let wrong = Failure::new(CLIENTS, &format!("there are {} clients already", MAX_CLIENTS));
            let _ = client.send(&wrong.line(None));
            return;
        }
        self.clients.push(client);
    }

    fn receive(&mut self, client: &mut Client) -> Result<(), Over> {
        let mut piece = [0; LONGEST_LINE];
        let length = client.stream.read(&mut piece)?;
        if length == 0 {
            return Err(Over);
        }
        client.buffer.extend_from_slice(&piece[..length]);
        while let Some(end) = client.buffer.iter().position(|&byte| byte == b'\n') {
            if end >= LONGEST_LINE {
                break;
            }
            let line: Vec<u8> = client.buffer.drain(..=end).take(end).collect();
            let (answer, closes) = reply(&mut self.lease, self.begin, client.number, &line);
            client.send(&answer)?;
            if closes {
                return Err(Over);
            }
        }
        if client.buffer.len() >= LONGEST_LINE {
            let why = format!("the line is longer than {} bytes", LONGEST_LINE);
            client.send(&Failure::new(INVALID, &why).line(None))?;
            return Err(Over);
        }
        Ok(())
    }
}
