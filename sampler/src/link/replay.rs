//! Replay buffer: frames kept until confirmed, and longer for a backend that starts later. Pure.
//!
//! Confirmed and unconfirmed frames are bounded separately. Confirmed frames are evicted first; evicted
//! unconfirmed frames are lost, counted and reported.

use std::collections::{BTreeMap, VecDeque};

use super::messages::Reached;
use crate::encode::frame::Frame;

/// A baseline larger than this fraction of the bound is not pinned.
const BASELINE_SHARE: usize = 4;

/// Kept frames of one target, contiguous up to the newest.
///
/// They start with a key frame, unless the bound evicted part of the newest group, or the stream began
/// otherwise.
#[derive(Debug, Default)]
struct Stream {
    /// Frames, oldest first; confirmed ones precede the others.
    frames: VecDeque<Frame>,
    confirmed: usize,
    /// The frame with the counters at attach, pinned on eviction from `frames`: a backend that starts
    /// later needs it for totals since attach.
    baseline: Option<Frame>,
    /// Confirmed frames and the baseline, in bytes.
    held_bytes: usize,
    /// Unconfirmed frames, in bytes.
    waiting_bytes: usize,
    last_seq: u64,
    keys: usize,
    /// Number of the last frame sent, or reported lost, on this connection.
    sent: u64,
    /// Evicted frames that no backend received.
    dropped: u64,
    /// Frames evicted after sending and before confirmation, as ranges of numbers, oldest first; the
    /// backend may still confirm them.
    flying: VecDeque<(u64, u64)>,
}

impl Stream {
    /// True if a group can be evicted and the newest one stays.
    fn has_old_group(&self) -> bool {
        self.keys > 1 || (self.keys == 1 && self.frames.front().is_some_and(|one| !one.key))
    }

    /// True if a confirmed group can be evicted and the newest one stays.
    fn has_old_confirmed_group(&self) -> bool {
        let second = self.frames.iter().skip(1).position(|one| one.key);
        self.has_old_group() && second.is_some_and(|place| place < self.confirmed)
    }

    fn first_seq(&self) -> u64 {
        self.frames.front().map_or(self.last_seq + 1, |one| one.seq)
    }

    fn baseline_behind(&self, seq: u64) -> Option<&Frame> {
        self.baseline.as_ref().filter(|one| one.seq > seq)
    }

    fn confirm(&mut self, seq: u64) {
        while let Some((first, last)) = self.flying.pop_front() {
            if seq < last {
                self.flying.push_front((first.max(seq + 1), last));
                break;
            }
        }
        let count = (seq + 1).saturating_sub(self.first_seq());
        let count = usize::try_from(count).unwrap_or(usize::MAX).min(self.frames.len());
        let (low, high) = (count.min(self.confirmed), count.max(self.confirmed));
        let moved: usize = self.frames.range(low..high).map(|one| one.data.len()).sum();
        if count > self.confirmed {
            self.held_bytes += moved;
            self.waiting_bytes -= moved;
        } else {
            self.held_bytes -= moved;
            self.waiting_bytes += moved;
        }
        self.confirmed = count;
    }

    /// Evicts the oldest group, or its confirmed part.
    fn drop_group(&mut self, confirmed_only: bool, most_confirmed: usize) {
        let mut dropped = false;
        while self.frames.front().is_some_and(|first| !(dropped && first.key))
            && !(confirmed_only && self.confirmed == 0)
        {
            let Some(gone) = self.frames.pop_front() else {
                break;
            };
            self.keys -= usize::from(gone.key);
            dropped = true;
            let was_confirmed = self.confirmed > 0;
            if was_confirmed {
                self.confirmed -= 1;
                self.held_bytes -= gone.data.len();
            } else {
                self.waiting_bytes -= gone.data.len();
            }
            if gone.baseline && gone.data.len() * BASELINE_SHARE <= most_confirmed {
                self.held_bytes += gone.data.len();
                self.baseline = Some(gone);
            } else if !was_confirmed && gone.seq > self.sent {
                self.dropped += 1;
            } else if !was_confirmed {
                // Frames evicted between two ranges are already counted.
                match self.flying.back_mut().filter(|last| last.1 + 1 == gone.seq) {
                    Some(last) => last.1 = gone.seq,
                    None => self.flying.push_back((gone.seq, gone.seq)),
                }
            }
        }
    }

    fn unpin(&mut self) {
        if let Some(gone) = self.baseline.take() {
            self.held_bytes -= gone.data.len();
            self.dropped += u64::from(gone.seq > self.sent);
        }
    }
}

/// Kept frames of all targets.
#[derive(Debug)]
pub struct Replay {
    most_confirmed: usize,
    most_waiting: usize,
    streams: BTreeMap<String, Stream>,
}

impl Replay {
    /// Makes an empty buffer with bounds on confirmed frames and baselines, and on unconfirmed ones, in
    /// bytes.
    pub fn new(most_confirmed: usize, most_waiting: usize) -> Self {
        Self { most_confirmed, most_waiting, streams: BTreeMap::new() }
    }

    /// Size of unconfirmed frames, in bytes.
    pub fn waiting_bytes(&self) -> usize {
        self.streams.values().map(|one| one.waiting_bytes).sum()
    }

    fn held_bytes(&self) -> usize {
        self.streams.values().map(|one| one.held_bytes).sum()
    }

    /// Size of all kept frames, in bytes.
    pub fn size(&self) -> usize {
        self.held_bytes() + self.waiting_bytes()
    }

    /// Share of the bound that unconfirmed frames use, from 0.
    pub fn fill(&self) -> f64 {
        if self.most_waiting == 0 {
            return 1.0;
        }
        self.waiting_bytes() as f64 / self.most_waiting as f64
    }

    /// Keeps a frame. Without room, the oldest key-frame groups of the largest stream are evicted, and
    /// the newest group of a stream last.
    ///
    /// A frame that is not newer is ignored; one that does not follow the last one takes the place of all
    /// frames before it.
    pub fn add(&mut self, target: &str, frame: Frame) {
        if !self.streams.contains_key(target) {
            self.streams.insert(target.to_owned(), Stream::default());
        }
        let Some(stream) = self.streams.get_mut(target) else {
            return;
        };
        if frame.seq <= stream.last_seq {
            return;
        }
        if stream.last_seq > 0 && frame.seq > stream.last_seq + 1 {
            while !stream.frames.is_empty() {
                stream.drop_group(false, self.most_confirmed);
            }
            stream.dropped += frame.seq - stream.last_seq - 1;
        }
        stream.last_seq = frame.seq;
        stream.keys += usize::from(frame.key);
        stream.waiting_bytes += frame.data.len();
        stream.frames.push_back(frame);
        while self.waiting_bytes() > self.most_waiting {
            let most_confirmed = self.most_confirmed;
            let waiting = |one: &Stream| one.waiting_bytes > 0;
            let old = |one: &Stream| waiting(one) && one.has_old_group();
            let size = |one: &Stream| one.waiting_bytes;
            let Some(largest) = self.largest(old, size).or_else(|| self.largest(waiting, size))
            else {
                break;
            };
            if let Some(stream) = self.streams.get_mut(&largest) {
                stream.drop_group(false, most_confirmed);
            }
        }
        self.trim_confirmed();
    }

    /// Target of the largest stream among some, the first one of several.
    fn largest(
        &self,
        among: impl Fn(&Stream) -> bool,
        size: impl Fn(&Stream) -> usize,
    ) -> Option<String> {
        let streams = self.streams.iter().filter(|(_, stream)| among(stream));
        let largest = streams.rev().max_by_key(|(_, stream)| size(stream));
        largest.map(|(target, _)| target.clone())
    }

    /// Evicts confirmed frames; pinned baselines only if no stream has an older group.
    fn trim_confirmed(&mut self) {
        while self.held_bytes() > self.most_confirmed {
            let most_confirmed = self.most_confirmed;
            let size = |one: &Stream| one.held_bytes;
            let old = self.largest(Stream::has_old_confirmed_group, size);
            let pinned = self.largest(|one| one.baseline.is_some(), size);
            let group = match (&old, &pinned) {
                (None, None) => self.largest(|one| one.confirmed > 0, size),
                _ => old,
            };
            let (Some(target), unpins) = (match group {
                Some(target) => (Some(target), false),
                None => (pinned, true),
            }) else {
                break;
            };
            match self.streams.get_mut(&target) {
                Some(stream) if unpins => stream.unpin(),
                Some(stream) => stream.drop_group(true, most_confirmed),
                None => break,
            }
        }
    }

    /// Starts a connection. Another backend may have less than was confirmed.
    pub fn connected(&mut self, resume: &Reached) {
        for (target, stream) in &mut self.streams {
            let seq = resume.get(target).copied().unwrap_or(0).min(stream.last_seq);
            stream.confirm(seq);
            stream.sent = seq;
            stream.dropped +=
                stream.flying.iter().map(|(first, last)| last - first + 1).sum::<u64>();
            stream.flying.clear();
        }
        self.trim_confirmed();
    }

    /// Number of the last frame sent or reported lost on this connection.
    pub fn sent(&self, target: &str) -> u64 {
        self.streams.get(target).map_or(0, |one| one.sent)
    }

    /// Records that frames up to `seq` were sent or reported lost.
    pub fn note_sent(&mut self, target: &str, seq: u64) {
        if let Some(stream) = self.streams.get_mut(target) {
            stream.sent = seq;
        }
    }

    /// Records that the backend has all sent frames up to `seq`.
    pub fn confirm(&mut self, target: &str, seq: u64) {
        if let Some(stream) = self.streams.get_mut(target) {
            stream.confirm(seq.min(stream.last_seq));
            self.trim_confirmed();
        }
    }

    /// Number of kept frames.
    pub fn count(&self) -> usize {
        let of = |one: &Stream| one.frames.len() + usize::from(one.baseline.is_some());
        self.streams.values().map(of).sum()
    }

    /// Number of frames behind their target's last sent one.
    pub fn unsent(&self) -> u64 {
        let of = |one: &Stream| one.last_seq.saturating_sub(one.sent).min(one.frames.len() as u64);
        self.streams.values().map(of).sum()
    }

    /// Number of a target's frames lost before confirmation.
    pub fn dropped(&self, target: &str) -> u64 {
        self.streams.get(target).map_or(0, |one| one.dropped)
    }

    /// First kept frame after `seq`; a pinned baseline comes first.
    pub fn after(&self, target: &str, seq: u64) -> Option<&Frame> {
        let stream = self.streams.get(target).filter(|one| one.last_seq > seq)?;
        if let Some(baseline) = stream.baseline_behind(seq) {
            return Some(baseline);
        }
        let place = (seq + 1).saturating_sub(stream.first_seq());
        stream.frames.get(usize::try_from(place).ok()?)
    }

    /// First and last lost frame directly after `seq`.
    pub fn lost(&self, target: &str, seq: u64) -> Option<(u64, u64)> {
        let stream = self.streams.get(target)?;
        let next = stream.baseline_behind(seq).map_or(stream.first_seq(), |one| one.seq);
        (next > seq + 1).then(|| (seq + 1, next - 1))
    }

    /// Number of a target's newest frame, or 0 if it has none.
    pub fn last_seq(&self, target: &str) -> u64 {
        self.streams.get(target).map_or(0, |one| one.last_seq)
    }

    /// Targets that had frames and are not forgotten, in the order of their ids.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.streams.keys().map(String::as_str)
    }

    /// Drops all frames of a target.
    pub fn forget(&mut self, target: &str) {
        self.streams.remove(target);
    }
}

#[cfg(test)]
#[path = "replay_tests.rs"]
mod tests;
