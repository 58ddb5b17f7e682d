//! The uplink's thread: it connects, says hello, receives acknowledgements, and sends frames that could not
//! be sent at once.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use tungstenite::Bytes;

use super::backoff::{Backoff, End};
use super::in_flight::{InFlight, Numbered};
use super::messages::{frames_lost, parse, Message, Reached};
use super::replay::Replay;
use super::uplink::Session;
use super::websocket::{Connection, Patience, Place};
use crate::os::wait::{wait_for_peer, Waker};
use crate::slots::lock;

/// Version of the protocol.
pub const PROTOCOL_VERSION: u64 = 1;

/// Time for the answer to the hello, or for the reason of a refusal.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// Interval of checks of a thread that may not connect; the waker ends it.
const IDLE_TIME: Duration = Duration::from_secs(3600);

/// Frames put into the buffer of a connection before the kernel is asked to take them, in bytes.
const BATCH_BYTES: usize = 128 * 1024;

/// How long frames without a waiting reader are held, so that several are sent together.
const HOLD_TIME: Duration = Duration::from_millis(500);

/// Frames, their progress towards the backend, and reports about it.
pub struct State {
    pub(super) replay: Replay,
    pub(super) in_flight: InFlight,
    pub(super) refused: BTreeSet<Numbered>,
    pub(super) texts: VecDeque<String>,
    /// Target that was sent last; the next one follows it.
    pub(super) last_target: String,
    pub(super) connected: bool,
    /// Targets whose frames somebody waits for, or None until the backend has sent them.
    watched: Option<BTreeSet<String>>,
    /// Since when frames are held that nobody waits for; None: none are.
    held: Option<Instant>,
    pub(super) sent_frames: u64,
    pub(super) sent_bytes: u64,
    pub(super) said: String,
    pub(super) unheard: Option<String>,
}

/// Next message to send.
pub(super) enum Out {
    Frame(Bytes),
    Text(String),
}

/// The connection that the backend has welcomed, and why it cannot be used any more.
#[derive(Default)]
struct Line {
    connection: Option<Connection>,
    failed: Option<End>,
}

/// State shared by the two threads of the uplink.
pub struct Shared {
    pub(super) state: Mutex<State>,
    /// Locked before `state` where both are.
    line: Mutex<Line>,
    /// Signalled when frames were confirmed, and when a connection has ended.
    pub(super) changed: Condvar,
    pub(super) waker: Waker,
    /// Set when the thread has to end.
    pub(super) ends: AtomicBool,
    /// Set while nothing may be connected: a connection ends, and none is tried.
    pub(super) halts: AtomicBool,
    /// Number of times that connecting was allowed; a change ends a pause.
    pub(super) allowed: AtomicU64,
}

impl Shared {
    pub(super) fn new(replay: Replay) -> io::Result<Self> {
        Ok(Self {
            state: Mutex::new(State::new(replay)),
            line: Mutex::default(),
            changed: Condvar::new(),
            waker: Waker::new()?,
            ends: AtomicBool::new(false),
            halts: AtomicBool::new(true),
            allowed: AtomicU64::new(0),
        })
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends what waits, as far as that is possible without waiting. Returns false if the thread of the
    /// uplink has to go on with it.
    pub(super) fn send_now(&self) -> bool {
        let mut line = match self.line.try_lock() {
            Ok(line) => line,
            Err(TryLockError::Poisoned(line)) => line.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let Some(connection) = &mut line.connection else {
            return false;
        };
        if !connection.is_flushed() {
            // The thread waits until the kernel has room.
            return true;
        }
        match self.send(connection) {
            Ok(more) => !more && connection.is_flushed(),
            Err(end) => {
                line.failed = Some(end);
                false
            }
        }
    }

    /// Hands a batch of messages to the kernel; true if there are more that it would take now.
    fn send(&self, connection: &mut Connection) -> Result<bool, End> {
        // One frame that the kernel refuses waits in the connection; further ones wait in the replay buffer.
        let more = !connection.is_flushed() || self.fill(connection)?;
        Ok(connection.flush()? && more)
    }

    /// Writes messages up to the size of a batch; false if there are no more.
    fn fill(&self, connection: &mut Connection) -> Result<bool, End> {
        let mut size = 0;
        while size < BATCH_BYTES && !connection.is_full() {
            let mut state = self.lock();
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

impl State {
    pub(super) fn new(replay: Replay) -> Self {
        Self {
            replay,
            in_flight: InFlight::default(),
            refused: BTreeSet::new(),
            texts: VecDeque::new(),
            last_target: String::new(),
            connected: false,
            watched: None,
            held: None,
            sent_frames: 0,
            sent_bytes: 0,
            said: String::new(),
            unheard: None,
        }
    }

    /// True if the frames of a target, now that another one has come, may wait for more to come.
    pub(super) fn holds(&mut self, target: &str) -> bool {
        let is_watched = self.watched.as_ref().is_none_or(|watched| watched.contains(target));
        if !is_watched && self.held.get_or_insert_with(Instant::now).elapsed() < HOLD_TIME {
            return true;
        }
        self.held = None;
        false
    }

    /// Takes the next message of any target, each in its turn; None if nothing may be sent now.
    pub(super) fn next(&mut self) -> Option<Out> {
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
pub(super) struct Sender {
    pub(super) shared: Arc<Shared>,
    pub(super) place: Place,
    pub(super) session: Box<dyn Session>,
}

impl Sender {
    /// Connects and reconnects while that is allowed, until the thread has to end.
    pub(super) fn run(&mut self) {
        let mut backoff = Backoff::default();
        while !self.ends() {
            if self.halts() {
                wait_for_peer(&self.shared.waker, None, IDLE_TIME);
                backoff = Backoff::default();
                continue;
            }
            let allowed = self.shared.allowed.load(Ordering::Acquire);
            let (end, held) = self.connection();
            let mut state = self.shared.lock();
            if end.refused {
                if let Some(frame) = state.in_flight.refused() {
                    state.refused.insert(frame);
                }
            }
            state.connected = false;
            if !self.halts() {
                state.say(end.text.clone());
            }
            drop(state);
            self.shared.changed.notify_all();
            self.pause(backoff.wait(held, end.wait), allowed);
        }
    }

    fn ends(&self) -> bool {
        self.shared.ends.load(Ordering::Acquire)
    }

    fn halts(&self) -> bool {
        self.shared.halts.load(Ordering::Acquire)
    }

    fn pause(&self, time: Duration, allowed: u64) {
        // Collectors of many hosts do not come all at once to a backend that was restarted.
        let percent = 70 + RandomState::new().hash_one(0) % 61;
        let until = Instant::now() + time * percent as u32 / 100;
        let is_same = || self.shared.allowed.load(Ordering::Acquire) == allowed;
        while !self.halts() && is_same() && Instant::now() < until {
            wait_for_peer(
                &self.shared.waker,
                None,
                until.saturating_duration_since(Instant::now()),
            );
        }
    }

    /// Connects once; returns why the connection has ended, and how long after its welcome.
    fn connection(&mut self) -> (End, Option<Duration>) {
        let connection = match self.open() {
            Ok(connection) => connection,
            Err(end) => return (end, None),
        };
        let welcomed = Instant::now();
        let served = connection.peer().and_then(|peer| {
            lock(&self.shared.line).connection = Some(connection);
            self.serve(peer.as_fd())
        });
        let line = std::mem::take(&mut *lock(&self.shared.line));
        let end = match served {
            Ok(()) => {
                line.connection.into_iter().for_each(|mut connection| connection.close());
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
        let patience = Patience { waker: &shared.waker, ends: &shared.halts };
        let (mut connection, response) = Connection::open(&self.place, &headers, patience)?;
        let header = |name: &str| {
            response.headers().get(name).and_then(|value| value.to_str().ok()).map(str::to_owned)
        };
        if let Err(text) = self.session.accept(&header) {
            // A refusal gives its reason in a close frame.
            let ended = connection.read_until(Instant::now() + ANSWER_TIME, patience);
            return Err(ended.err().flatten().unwrap_or_else(|| End::late(text)));
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
                (state.connected, state.watched, state.held) = (true, None, None);
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

    /// Sends and receives until the connection ends, or has to.
    fn serve(&self, peer: BorrowedFd<'_>) -> Result<(), End> {
        // Something may have come together with the welcome.
        let mut may_read = true;
        while !self.halts() {
            let (writes, longest) = self.go_on(may_read)?;
            // If the kernel's buffer is full, poll(2) reports when there is room.
            may_read = wait_for_peer(&self.shared.waker, Some((peer, writes)), longest);
        }
        Ok(())
    }

    /// Receives and sends what is possible now. Returns true if more can be written once the kernel has
    /// room, and the longest time until the next check.
    fn go_on(&self, may_read: bool) -> Result<(bool, Duration), End> {
        let mut line = lock(&self.shared.line);
        if let Some(end) = line.failed.take() {
            return Err(end);
        }
        let Some(connection) = &mut line.connection else {
            return Err(End::default());
        };
        if may_read {
            self.receive(connection)?;
        }
        let longest = connection.check()?;
        let goes_on = self.shared.send(connection)?;
        let longest = if goes_on { Duration::ZERO } else { longest };
        Ok((!connection.is_flushed(), longest))
    }

    /// Takes in all messages that have come.
    fn receive(&self, connection: &mut Connection) -> Result<(), End> {
        while let Some(text) = connection.read()? {
            match parse(&text) {
                Ok(Message::Received(received)) => {
                    self.shared.lock().confirm(&received);
                    self.shared.changed.notify_all();
                }
                Ok(Message::Watched(targets)) => self.shared.lock().watched = Some(targets),
                Ok(_) => {}
                Err(error) => {
                    return Err(End::late(format!("a message of the backend is {error}")));
                }
            }
        }
        Ok(())
    }
}
