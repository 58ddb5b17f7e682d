//! The thread that keeps the backend informed: hello, replay, frames, confirmations.
//!
//! The sampler's thread hands frames over and never waits for the backend. It shares a lock with this
//! thread that is held for the accounts of the replay buffer only, never while a socket is used.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tungstenite::Bytes;

use super::backoff::{Backoff, End};
use super::in_flight::{InFlight, Numbered};
use super::messages::{frames_lost, parse, Message, Reached};
use super::replay::Replay;
use super::websocket::{Connection, Patience, Place};
use crate::encode::frame::Frame;
use crate::os::wait::{wait, Waker};

/// Version of the protocol.
pub const PROTOCOL_VERSION: u64 = 1;
/// Time for the answer to the hello, or for the reason of a refusal.
const ANSWER_TIME: Duration = Duration::from_secs(10);
/// Share of the bound on unconfirmed frames above which rates are lowered.
const BACKLOG: f64 = 0.25;
/// Share of that bound above which no frames are made while a backend is connected.
const STALL: f64 = 0.5;
/// Frames put into the buffer of a connection before the kernel is asked to take them, in bytes.
const BATCH_BYTES: usize = 128 * 1024;
/// Texts that wait to be sent.
const MAX_TEXTS: usize = 64;

/// What a connection needs from who attaches and signs in; its calls may block.
pub trait Session: Send {
    /// Headers of the next upgrade request: Origin, authorization.
    ///
    /// # Errors
    /// Tells why signing in failed.
    fn headers(&mut self) -> Result<Vec<(String, String)>, String>;

    /// Checks the response by its headers.
    ///
    /// # Errors
    /// Tells why the peer is not the backend that has proven itself.
    fn accept(&mut self, header: &dyn Fn(&str) -> Option<String>) -> Result<(), String>;

    /// The first message, which the backend answers with a welcome.
    fn hello(&mut self) -> String;
}

/// The load of the uplink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// True if a backend has welcomed this connection.
    pub connected: bool,
    /// Kept frames, in bytes.
    pub replay_bytes: usize,
    /// Kept frames.
    pub replay_frames: usize,
    /// Frames behind their target's last sent one.
    pub unsent_frames: u64,
    /// Unconfirmed frames, in bytes.
    pub undelivered_bytes: usize,
    /// True if so much is unconfirmed that rates have to fall.
    pub backlog: bool,
    /// Frames sent, replayed ones included.
    pub sent_frames: u64,
    /// Bytes of messages and frames sent.
    pub sent_bytes: u64,
}

struct State {
    replay: Replay,
    in_flight: InFlight,
    refused: BTreeSet<Numbered>,
    texts: VecDeque<String>,
    /// Target that was sent last; the next one follows it.
    last_target: String,
    connected: bool,
    sent_frames: u64,
    sent_bytes: u64,
    said: String,
    unheard: Option<String>,
}

/// What is to be sent next.
enum Out {
    Frame(Bytes),
    Text(String),
}

struct Shared {
    state: Mutex<State>,
    /// Signalled when frames were confirmed, and when a connection has ended.
    changed: Condvar,
    waker: Waker,
    ends: AtomicBool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Keeps the backend informed, in a thread of its own; dropping it ends the thread.
pub struct Uplink {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Uplink {
    /// Starts the thread. It reconnects until this value is dropped.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub fn start(place: Place, session: Box<dyn Session>, replay: Replay) -> io::Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                replay,
                in_flight: InFlight::default(),
                refused: BTreeSet::new(),
                texts: VecDeque::new(),
                last_target: String::new(),
                connected: false,
                sent_frames: 0,
                sent_bytes: 0,
                said: String::new(),
                unheard: None,
            }),
            changed: Condvar::new(),
            waker: Waker::new()?,
            ends: AtomicBool::new(false),
        });
        let mut sender = Sender { shared: Arc::clone(&shared), place, session };
        let thread = thread::Builder::new().name("uplink".into()).spawn(move || sender.run())?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// Keeps a frame, and sends it when its turn comes. Never waits for the backend.
    pub fn add(&self, target: &str, frame: Frame) {
        let mut state = self.shared.lock();
        state.replay.add(target, frame);
        let connected = state.connected;
        drop(state);
        if connected {
            self.shared.waker.wake();
        }
    }

    /// Sends a text behind the frames that were handed to the kernel; false without a backend, or if
    /// too many texts wait.
    pub fn say(&self, text: String) -> bool {
        let mut state = self.shared.lock();
        let takes = state.connected && state.texts.len() < MAX_TEXTS;
        if takes {
            state.texts.push_back(text);
        }
        drop(state);
        self.shared.waker.wake();
        takes
    }

    /// Returns the load.
    pub fn load(&self) -> Load {
        let state = self.shared.lock();
        Load {
            connected: state.connected,
            replay_bytes: state.replay.size(),
            replay_frames: state.replay.count(),
            unsent_frames: state.replay.unsent(),
            undelivered_bytes: state.replay.waiting_bytes(),
            backlog: state.replay.fill() >= BACKLOG,
            sent_frames: state.sent_frames,
            sent_bytes: state.sent_bytes,
        }
    }

    /// Frames of a target that no backend got, or that it refused.
    pub fn dropped(&self, target: &str) -> u64 {
        let state = self.shared.lock();
        let refused = state.refused.iter().filter(|one| one.0 == target).count();
        state.replay.dropped(target) + refused as u64
    }

    /// Number of a target's newest frame, or 0 if it has none.
    pub fn last_seq(&self, target: &str) -> u64 {
        self.shared.lock().replay.last_seq(target)
    }

    /// True if all frames of a target were sent or reported lost on this connection.
    pub fn is_sent(&self, target: &str) -> bool {
        let state = self.shared.lock();
        state.replay.sent(target) >= state.replay.last_seq(target)
    }

    /// Forgets an ended target.
    pub fn forget(&self, target: &str) {
        let mut state = self.shared.lock();
        state.replay.forget(target);
        state.in_flight.forget(target);
        state.refused.retain(|one| one.0 != target);
        drop(state);
        self.shared.waker.wake();
    }

    /// True if a connected backend is so slow that no frames should be made.
    pub fn is_stalled(&self) -> bool {
        let state = self.shared.lock();
        state.connected && state.replay.fill() >= STALL
    }

    /// Text for the log about the last connection, once; None if nothing has changed.
    pub fn news(&self) -> Option<String> {
        self.shared.lock().unheard.take()
    }

    /// Waits up to `longest` until a connected backend has all frames; returns the size of those that
    /// it does not have, in bytes.
    pub fn deliver(&self, longest: Duration) -> usize {
        let until = Instant::now() + longest;
        let mut state = self.shared.lock();
        while state.connected && state.replay.waiting_bytes() > 0 {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.shared.changed.wait_timeout(state, left);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        state.replay.waiting_bytes()
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        self.shared.ends.store(true, Ordering::Release);
        self.shared.waker.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl State {
    /// Takes the next message of any target, each in its turn; None if nothing may be sent now.
    fn next(&mut self) -> Option<Out> {
        if let Some(text) = self.texts.pop_front() {
            self.in_flight.add_text();
            return Some(Out::Text(text));
        }
        if !self.in_flight.has_room() {
            return None;
        }
        let last = std::mem::take(&mut self.last_target);
        let behind = self.replay.targets().filter(|one| **one > *last);
        let before = self.replay.targets().filter(|one| **one <= *last);
        let found = behind
            .chain(before)
            .find(|target| self.replay.sent(target) < self.replay.last_seq(target));
        self.last_target = found.map_or(last, str::to_owned);
        let target = found.map(str::to_owned)?;
        Some(self.next_of(&target))
    }

    /// Takes the next message of a target that has one.
    fn next_of(&mut self, target: &str) -> Out {
        let sent = self.replay.sent(target);
        let full = "the collector's replay buffer was full";
        if let Some((first, last)) = self.replay.lost(target, sent) {
            return self.lose(target, first, last, full);
        }
        let Some(frame) = self.replay.after(target, sent) else {
            return self.lose(target, sent + 1, self.replay.last_seq(target), full);
        };
        let (seq, data) = (frame.seq, frame.data.clone());
        if self.refused.contains(&(target.to_owned(), seq)) {
            return self.lose(target, seq, seq, "the backend rejected it");
        }
        self.in_flight.add(target, seq);
        self.replay.note_sent(target, seq);
        self.sent_frames += 1;
        Out::Frame(data)
    }

    fn lose(&mut self, target: &str, first: u64, last: u64, reason: &str) -> Out {
        self.replay.note_sent(target, last);
        self.in_flight.add_text();
        Out::Text(frames_lost(target, first, last, reason))
    }

    fn confirm(&mut self, received: &Reached) {
        for (target, &seq) in received {
            self.replay.confirm(target, seq);
        }
        self.in_flight.confirm(received);
    }

    /// Keeps a text for the log, unless it repeats the one before.
    fn say(&mut self, text: String) {
        if self.said != text {
            self.said.clone_from(&text);
            self.unheard = Some(text);
        }
    }
}

/// The thread.
struct Sender {
    shared: Arc<Shared>,
    place: Place,
    session: Box<dyn Session>,
}

impl Sender {
    fn run(&mut self) {
        let mut backoff = Backoff::default();
        while !self.ends() {
            let (end, held) = self.connection();
            let mut state = self.shared.lock();
            if end.refused {
                if let Some(frame) = state.in_flight.refused() {
                    state.refused.insert(frame);
                }
            }
            state.connected = false;
            state.texts.clear();
            if !self.ends() {
                state.say(end.text.clone());
            }
            drop(state);
            self.shared.changed.notify_all();
            self.pause(backoff.wait(held, end.wait));
        }
    }

    fn ends(&self) -> bool {
        self.shared.ends.load(Ordering::Acquire)
    }

    fn pause(&self, time: Duration) {
        // Collectors of many hosts do not come all at once to a backend that was restarted.
        let percent = 70 + RandomState::new().hash_one(0) % 61;
        let until = Instant::now() + time * percent as u32 / 100;
        while !self.ends() && Instant::now() < until {
            wait(&self.shared.waker, None, until.saturating_duration_since(Instant::now()));
        }
    }

    /// Connects once; returns why the connection has ended, and how long after its welcome.
    fn connection(&mut self) -> (End, Option<Duration>) {
        let mut connection = match self.open() {
            Ok(connection) => connection,
            Err(end) => return (end, None),
        };
        let welcomed = Instant::now();
        let end = match self.serve(&mut connection) {
            Ok(()) => {
                connection.close();
                End::default()
            }
            Err(end) => end,
        };
        (end, Some(welcomed.elapsed()))
    }

    /// Connects, signs in and says hello.
    fn open(&mut self) -> Result<Connection, End> {
        let headers = self.session.headers().map_err(End::late)?;
        let shared = Arc::clone(&self.shared);
        let patience = Patience { waker: &shared.waker, ends: &shared.ends };
        let (mut connection, response) = Connection::open(&self.place, &headers, patience)?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        if let Err(text) = self.session.accept(&header) {
            // A refusal gives its reason in a close frame.
            let told = connection.read_until(Instant::now() + ANSWER_TIME, patience);
            return Err(told.err().flatten().unwrap_or_else(|| End::late(text)));
        }
        let hello = self.session.hello();
        shared.lock().sent_bytes += hello.len() as u64;
        connection.write_text(hello)?;
        let answer = connection.read_until(Instant::now() + ANSWER_TIME, patience);
        let answer = answer.map_err(|end| {
            end.unwrap_or_else(|| End::soon("the backend did not answer the hello in time"))
        })?;
        match parse(&answer) {
            Ok(Message::Welcome { protocol: PROTOCOL_VERSION, resume }) => {
                let mut state = shared.lock();
                state.in_flight.connected(&resume);
                state.replay.connected(&resume);
                state.connected = true;
                state.say("connected to the backend".into());
                Ok(connection)
            }
            Ok(Message::Welcome { protocol, .. }) => {
                Err(End::late(format!("the backend speaks version {protocol} of the protocol")))
            }
            Ok(_) => Err(End::soon("the backend did not answer the hello with a welcome")),
            Err(error) => Err(End::soon(format!("the backend's welcome is {error}"))),
        }
    }

    /// Sends and receives until the connection or the thread ends.
    fn serve(&mut self, connection: &mut Connection) -> Result<(), End> {
        while !self.ends() {
            while let Some(text) = connection.read()? {
                match parse(&text) {
                    Ok(Message::Received(received)) => {
                        self.shared.lock().confirm(&received);
                        self.shared.changed.notify_all();
                    }
                    Ok(_) => {}
                    Err(error) => {
                        return Err(End::late(format!("a message of the backend is {error}")));
                    }
                }
            }
            // What the kernel does not take waits here once, and else in the replay buffer.
            let more = connection.is_flushed() && self.fill(connection)?;
            let longest = connection.look()?;
            if connection.flush()? && more {
                continue;
            }
            connection.wait(&self.shared.waker, longest);
        }
        Ok(())
    }

    /// Writes messages up to the size of a batch; false if there are no more.
    fn fill(&self, connection: &mut Connection) -> Result<bool, End> {
        let mut size = 0;
        while size < BATCH_BYTES {
            let mut state = self.shared.lock();
            let Some(out) = state.next() else {
                return Ok(false);
            };
            let bytes = match &out {
                Out::Frame(data) => data.len(),
                Out::Text(text) => text.len(),
            };
            state.sent_bytes += bytes as u64;
            drop(state);
            size += bytes;
            match out {
                Out::Frame(data) => connection.write_frame(data)?,
                Out::Text(text) => connection.write_text(text)?,
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
#[path = "uplink_tests.rs"]
mod tests;
