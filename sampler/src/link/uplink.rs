//! The thread that keeps the backend informed: hello, replay, frames, confirmations.
//!
//! The sampler's thread keeps a frame in the replay buffer and hands it to the kernel itself, if the
//! connection is free and the kernel takes it at once; so nobody is woken by a frame. Else this thread
//! goes on. Neither waits for the backend while it has the connection.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::replay::Replay;
use super::sender::{Sender, Shared, State};
use super::websocket::Place;
use crate::encode::frame::Frame;
use crate::engine::Sink;
use crate::slots::lock;

/// Share of the bound on unconfirmed frames above which rates are lowered.
const BACKLOG: f64 = 0.25;
/// Share of that bound above which no frames are made while a backend is connected.
const STALL: f64 = 0.5;
/// Texts that wait to be sent.
const MAX_TEXTS: usize = 64;

/// Attachment and sign-in of a connection; calls may block.
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
    /// True if unacknowledged frames take so much memory that rates have to fall.
    pub backlog: bool,
    /// Frames sent, replayed ones included.
    pub sent_frames: u64,
    /// Bytes of messages and frames sent.
    pub sent_bytes: u64,
}

/// Keeps the backend informed, in a thread of its own, which ends with this value.
pub struct Uplink {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Uplink {
    /// Starts the thread, which connects when that is allowed.
    ///
    /// # Errors
    /// The system has no descriptor or thread left.
    pub fn start(place: Place, session: Box<dyn Session>, replay: Replay) -> io::Result<Self> {
        let shared = Arc::new(Shared::new(replay)?);
        let mut sender = Sender { shared: Arc::clone(&shared), place, session };
        let thread = thread::Builder::new().name("uplink".into()).spawn(move || sender.run())?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Allows connections: one is made at once, and again whenever it ends.
    pub fn connect(&self) {
        self.shared.allowed.fetch_add(1, Ordering::AcqRel);
        self.shared.halts.store(false, Ordering::Release);
        self.shared.waker.wake();
    }

    /// Ends the connection, and makes none until `connect`.
    pub fn disconnect(&self) {
        self.shared.halts.store(true, Ordering::Release);
        self.shared.lock().texts.clear();
        self.shared.waker.wake();
        self.shared.changed.notify_all();
    }

    /// Ends the thread, and waits for that. Idempotent.
    pub fn stop(&self) {
        self.shared.ends.store(true, Ordering::Release);
        self.disconnect();
        if let Some(thread) = lock(&self.thread).take() {
            let _ = thread.join();
        }
    }

    /// Keeps a frame, and sends it when its turn comes: at once, unless nobody waits for it. Never waits
    /// for the backend.
    pub fn add(&self, target: &str, frame: Frame) {
        let mut state = self.shared.lock();
        let is_first = frame.baseline;
        state.replay.add(target, frame);
        let goes = state.connected && (is_first || !state.holds(target));
        drop(state);
        if goes {
            self.send();
        }
    }

    /// Sends what waits, also what nobody waits for.
    pub fn hurry(&self) {
        if self.shared.lock().connected {
            self.send();
        }
    }

    fn send(&self) {
        if !self.shared.send_now() {
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
        dropped(&self.shared.lock(), target)
    }

    /// Dropped frames of all targets that have frames.
    pub fn all_dropped(&self) -> BTreeMap<String, u64> {
        let state = self.shared.lock();
        state.replay.targets().map(|one| (one.to_owned(), dropped(&state, one))).collect()
    }

    /// Number of a target's newest frame, or 0 if it has none.
    pub fn last_seq(&self, target: &str) -> u64 {
        self.shared.lock().replay.last_seq(target)
    }

    /// Last frame numbers of all targets that have frames.
    pub fn last(&self) -> BTreeMap<String, u64> {
        let state = self.shared.lock();
        state.replay.targets().map(|one| (one.to_owned(), state.replay.last_seq(one))).collect()
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
    pub fn notice(&self) -> Option<String> {
        self.shared.lock().unheard.take()
    }

    /// Waits up to `longest` until the backend has all frames, unless nothing may be connected; returns the
    /// size of those that it does not have, in bytes.
    pub fn deliver(&self, longest: Duration) -> usize {
        self.hurry();
        let until = Instant::now() + longest;
        let mut state = self.shared.lock();
        while !self.shared.halts.load(Ordering::Acquire) && state.replay.waiting_bytes() > 0 {
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
        self.stop();
    }
}

impl Sink for Arc<Uplink> {
    fn add(&mut self, target: &str, frame: Frame) {
        Uplink::add(self, target, frame);
    }

    fn hurry(&mut self) {
        Uplink::hurry(self);
    }

    fn is_stalled(&self) -> bool {
        Uplink::is_stalled(self)
    }
}

/// Two links that get the same frames; their bytes are shared.
pub struct Both {
    /// Link to the backend. It alone decides about rates and stalls.
    pub link: Arc<Uplink>,
    /// Link to a recorder on this host, which never slows sampling down.
    pub recorder: Arc<Uplink>,
}

impl Sink for Both {
    fn add(&mut self, target: &str, frame: Frame) {
        Uplink::add(&self.recorder, target, frame.clone());
        Uplink::add(&self.link, target, frame);
    }

    fn hurry(&mut self) {
        Uplink::hurry(&self.link);
    }

    fn is_stalled(&self) -> bool {
        Uplink::is_stalled(&self.link)
    }
}

fn dropped(state: &State, target: &str) -> u64 {
    let refused = state.refused.iter().filter(|one| one.0 == target).count();
    state.replay.dropped(target) + refused as u64
}

#[cfg(test)]
#[path = "uplink_tests.rs"]
mod tests;
