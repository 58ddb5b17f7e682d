//! Sent and unconfirmed frames; finds a frame that the backend refuses. Pure.
//!
//! A backend closes the connection on a refused message without naming it. If only one message was in
//! flight, it is that one. After a refusal fewer frames are sent at a time, finally one by one, until
//! all suspects are confirmed or the refused one is found. No frame is dropped on a guess.

use std::collections::{BTreeSet, VecDeque};

use super::messages::Reached;

/// Factor by which the window shrinks after each refusal.
const NARROWING: usize = 8;
/// Maximum remembered messages; the oldest are forgotten if the backend confirms nothing.
const MAX_MESSAGES: usize = 100_000;

/// A target's id and the number of a frame.
pub type Numbered = (String, u64);

/// Unconfirmed messages of this connection, and suspects of earlier ones.
///
/// The backend handles messages in order: everything sent before a confirmed frame has arrived.
#[derive(Debug, Default)]
pub struct InFlight {
    /// Frames, and None for one or more texts.
    sent: VecDeque<Option<Numbered>>,
    frames: usize,
    suspects: BTreeSet<Numbered>,
    window: Option<usize>,
}

impl InFlight {
    /// Starts a connection; `resume` has the backend's last frames.
    pub fn connected(&mut self, resume: &Reached) {
        self.sent.clear();
        self.frames = 0;
        self.settle(resume);
    }

    /// Records a sent frame.
    pub fn add(&mut self, target: &str, seq: u64) {
        if self.sent.len() == MAX_MESSAGES {
            self.forget_first();
        }
        self.sent.push_back(Some((target.to_owned(), seq)));
        self.frames += 1;
    }

    /// Records a sent message that is no frame.
    pub fn add_text(&mut self) {
        if self.sent.back().is_none_or(Option::is_some) {
            self.sent.push_back(None);
        }
    }

    fn forget_first(&mut self) {
        if let Some(Some(_)) = self.sent.pop_front() {
            self.frames -= 1;
        }
    }

    /// Records the backend's last frames.
    pub fn confirm(&mut self, received: &Reached) {
        let has = |one: &Option<Numbered>| one.as_ref().is_some_and(|one| has(received, one));
        let count = self.sent.iter().rposition(has).map_or(0, |last| last + 1);
        for _ in 0..count {
            self.forget_first();
        }
        self.settle(received);
    }

    /// Removes a target that has ended.
    pub fn forget(&mut self, target: &str) {
        self.suspects.retain(|one| one.0 != target);
        self.settle(&Reached::new());
    }

    /// True if another frame may be sent.
    pub fn has_room(&self) -> bool {
        self.window.is_none_or(|window| self.frames < window)
    }

    /// Records that the connection was closed because of a message, and returns the refused frame;
    /// None if it is not certain yet, or was no frame.
    pub fn refused(&mut self) -> Option<Numbered> {
        if let [Some(frame)] = self.sent.make_contiguous() {
            let frame = frame.clone();
            self.suspects.clear();
            self.settle(&Reached::new());
            return Some(frame);
        }
        if self.frames > 0 {
            self.window = Some((self.frames / NARROWING).max(1));
            self.suspects = self.sent.iter().flatten().cloned().collect();
        }
        None
    }

    /// Removes suspects that have arrived; without suspects the window is lifted.
    fn settle(&mut self, received: &Reached) {
        self.suspects.retain(|one| !has(received, one));
        if self.suspects.is_empty() {
            self.window = None;
        }
    }
}

fn has(received: &Reached, (target, seq): &Numbered) -> bool {
    received.get(target).is_some_and(|reached| seq <= reached)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(seq: u64) -> Reached {
        Reached::from([("a".to_owned(), seq)])
    }

    /// Sends frames from `next` on while there is room, and returns the number behind the last one.
    fn send(flight: &mut InFlight, next: u64) -> u64 {
        (next..=100)
            .find(|&seq| {
                let full = !flight.has_room();
                if !full {
                    flight.add("a", seq);
                }
                full
            })
            .unwrap_or(101)
    }

    #[test]
    fn a_refused_frame_is_found_and_no_other() {
        for bad in [1, 7, 64, 100] {
            let (mut flight, mut has, mut found) = (InFlight::default(), 0, None);
            for _ in 0..200 {
                flight.connected(&reached(has));
                let end = send(&mut flight, has + 1);
                if end <= bad {
                    // The window is full: frames arrive, and more are sent.
                    has = end - 1;
                    flight.confirm(&reached(has));
                    continue;
                }
                has = bad - 1;
                if let Some(frame) = flight.refused() {
                    found = Some(frame);
                    break;
                }
            }
            assert_eq!(found, Some(("a".to_owned(), bad)));
            assert!(flight.has_room());
        }
    }

    #[test]
    fn a_refused_text_blames_no_frame() {
        let mut flight = InFlight::default();
        flight.add_text();
        assert_eq!(flight.refused(), None);
        assert!(flight.has_room());
    }

    #[test]
    fn confirmed_suspects_lift_the_window() {
        let mut flight = InFlight::default();
        send(&mut flight, 1);
        assert_eq!(flight.refused(), None);
        flight.connected(&Reached::new());
        assert_eq!(send(&mut flight, 1), 13);
        flight.confirm(&reached(12));
        assert_eq!(send(&mut flight, 13), 25);
        flight.confirm(&reached(100));
        assert_eq!(send(&mut flight, 1), 101);
    }

    #[test]
    fn a_target_that_ended_is_no_suspect() {
        let mut flight = InFlight::default();
        send(&mut flight, 1);
        flight.refused();
        flight.connected(&Reached::new());
        flight.forget("a");
        assert_eq!(send(&mut flight, 1), 101);
    }
}
