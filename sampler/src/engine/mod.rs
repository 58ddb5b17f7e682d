//! The engine: the thread that waits for deadlines, samples, and hands frames over.
//!
//! The thread alone touches targets. Others give it closures (`Handle::ask`), take what it leaves for them
//! (`notices`), and get frames by a sink. It wakes up for nothing but deadlines, ends of processes, exit
//! records that would fill their sockets, and what it is asked.

mod draining;
pub mod entry;
pub mod gauge;
mod handle;
pub mod kit;
pub mod notices;
pub mod schedule;
pub mod times;

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::mpsc::Receiver;
use std::sync::{Arc, PoisonError};

pub use draining::ExitRecords;
use entry::{Entry, Following};
use gauge::Gomaxprocs;
use handle::Message;
pub use handle::{Handle, Running};
use kit::Kit;
use notices::Board;

use crate::encode::events::Event;
use crate::encode::frame::Frame;
use crate::encode::header::{GroupCounts, Health};
use crate::os::clock::{monotonic_ns, thread_cpu_ns};
use crate::os::wait::{wait, Waker};
use crate::processes::{self, GroupPrograms};
use crate::procfs::presence;
use crate::source::ReadError;
use crate::target::When;

/// Interval of checks whether the backend accepts frames again, in nanoseconds.
const STALLED_NS: i64 = 50_000_000;
/// Between two readings of a process's CPU time, nanoseconds: about a second.
const CPU_NS: i64 = 950_000_000;
/// How long the end of a target waits for its last tables, nanoseconds.
const ENDING_NS: i64 = 2_000_000_000;

/// Takes frames.
pub trait Sink: Send {
    /// Takes a frame of a target.
    fn add(&mut self, target: &str, frame: Frame);

    /// Passes on at once what was added.
    fn hurry(&mut self) {}

    /// True while too many frames wait to make further ones.
    fn is_stalled(&self) -> bool;
}

/// State of the whole collector, for the health of each frame.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // Members of `CollectorHealth` in shared/schemas.
pub struct CommonHealth {
    pub cpu_percent: Option<f64>,
    pub overhead_percent: Option<f64>,
    pub budget_percent: f64,
    pub replay_bytes: u64,
    pub replay_frames: u64,
    pub unsent_frames: u64,
    pub sent_frames: u64,
    pub sent_bytes: u64,
    pub slowed_by_backlog: bool,
    pub undelivered_bytes: u64,
    /// Dropped frames by target.
    pub frames_dropped: BTreeMap<String, u64>,
}

/// CPU that sampling took since this was taken last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// CPU time of the sampler's thread, nanoseconds.
    pub thread_ns: i64,
    /// CPU time of the sampler's thread in nanoseconds, and bytes of frames, by target.
    pub targets: BTreeMap<String, (i64, u64)>,
}

/// All that the thread works with.
pub struct Engine {
    kit: Arc<Kit>,
    entries: BTreeMap<String, Box<Entry>>,
    exits: Option<ExitRecords>,
    /// The programs that follow groups.
    pub programs: Option<GroupPrograms>,
    programs_lost: u64,
    sink: Box<dyn Sink>,
    board: Board,
    drain_due_ns: i64,
    drain_trouble: String,
    /// Health of the whole collector.
    pub health: CommonHealth,
    spent_from_ns: i64,
    ring: Vec<processes::Event>,
}

impl Engine {
    /// Makes an engine without targets.
    pub fn new(
        kit: Arc<Kit>,
        exits: Option<ExitRecords>,
        programs: Option<GroupPrograms>,
        sink: Box<dyn Sink>,
        board: Board,
    ) -> Self {
        Self {
            kit,
            entries: BTreeMap::new(),
            exits,
            programs_lost: programs.as_ref().map_or(0, GroupPrograms::lost),
            programs,
            sink,
            board,
            drain_due_ns: 0,
            drain_trouble: String::new(),
            health: CommonHealth::default(),
            spent_from_ns: 0,
            ring: Vec::new(),
        }
    }

    fn run(&mut self, messages: &Receiver<Message>, waker: &Waker) {
        // Until there are targets nobody's exit records are wanted.
        self.keep_exits();
        loop {
            let pause_ns = self.pause_ns(monotonic_ns());
            let mut waited: Vec<BorrowedFd<'_>> = vec![waker.as_fd()];
            let living: Vec<&String> = self
                .entries
                .iter()
                .filter_map(|(id, entry)| match &entry.following {
                    Following::Process { alive, .. } if entry.ending_until_ns.is_none() => {
                        waited.push(alive.as_fd());
                        Some(id)
                    }
                    _ => None,
                })
                .collect();
            let ready = wait(&waited, pause_ns);
            let ended: Vec<String> = living
                .into_iter()
                .zip(&ready[1..])
                .filter(|(_, &ready)| ready)
                .map(|(id, _)| id.clone())
                .collect();
            if ready[0] {
                waker.rest();
            }
            for message in messages.try_iter() {
                match message {
                    Message::Run(action) => action(self),
                    Message::Stop => return self.end(),
                }
            }
            for id in ended {
                self.begin_ending(&id);
            }
            self.step_due();
        }
    }

    /// Time until the next deadline, nanoseconds; None if only messages can wake the thread.
    fn pause_ns(&self, now_ns: i64) -> Option<i64> {
        let mut due: Vec<i64> = self
            .entries
            .values()
            .map(|entry| entry.ending_until_ns.unwrap_or(entry.schedule.due_ns))
            .collect();
        if self.exits.is_some() && !self.entries.is_empty() {
            due.push(self.drain_due_ns);
        }
        if self.sink.is_stalled() && !due.is_empty() {
            return Some(STALLED_NS);
        }
        due.into_iter().min().map(|due_ns| (due_ns - now_ns).max(0))
    }

    /// Takes all samples that are due.
    fn step_due(&mut self) {
        let stalled = self.sink.is_stalled();
        let now_ns = monotonic_ns();
        let is_due =
            |entry: &Entry| entry.ending_until_ns.unwrap_or(entry.schedule.due_ns) <= now_ns;
        let ids: Vec<String> = self
            .entries
            .iter()
            .filter(|(_, entry)| is_due(entry))
            .map(|(id, _)| id.clone())
            .collect();
        for id in ids {
            let now_ns = monotonic_ns();
            let Some(entry) = self.entries.get_mut(&id) else { continue };
            if let Some(until_ns) = entry.ending_until_ns {
                if now_ns >= until_ns {
                    self.finish(&id, true);
                }
            } else if entry.schedule.due_ns <= now_ns {
                if stalled {
                    entry.schedule.skip(now_ns);
                } else {
                    self.sample(&id, false);
                }
            }
        }
        if self.exits.is_some() && !self.entries.is_empty() && monotonic_ns() >= self.drain_due_ns {
            self.drain();
        }
    }

    /// Begins to sample a target.
    pub fn add(&mut self, id: String, entry: Entry) {
        // Threads that ended before this moment do not belong to the attachment.
        self.drain();
        if self.entries.is_empty() {
            self.spent_from_ns = thread_cpu_ns();
        }
        let mut entry = entry;
        entry.lost_reported = self.exits.as_ref().map_or(0, |exits| exits.listener.lost);
        self.entries.insert(id, Box::new(entry));
        self.keep_exits();
    }

    /// A target that is being sampled.
    pub fn entry(&mut self, id: &str) -> Option<&mut Entry> {
        self.entries.get_mut(id).map(|entry| &mut **entry)
    }

    /// Emits everything of a target up to now. Returns the number of the last frame and how many threads
    /// have exited; None if it is not being sampled, or has ended with this.
    pub fn flush(&mut self, id: &str) -> Option<(u64, u64)> {
        if self.entries.get(id)?.ending_until_ns.is_some() {
            self.finish(id, true);
            return None;
        }
        self.sample(id, true);
        let entry = self.entries.get(id)?;
        Some((entry.target.seq(), entry.target.tracker().ended().sums.threads))
    }

    /// Ends the sampling of a target: it has ended (`exited`), or somebody asked to stop. Returns the number
    /// of its last frame.
    pub fn finish(&mut self, id: &str, exited: bool) -> Option<u64> {
        if !exited {
            self.sample(id, true);
        }
        self.take_ring(None);
        self.drain();
        let mut entry = self.entries.remove(id)?;
        let code = entry.exit_code;
        let end = if exited {
            // The wire has the status as wait(2) gives it.
            Event::TargetExited { exit_code: code.and_then(|code| i32::try_from(code).ok()) }
        } else {
            Event::TargetDetached
        };
        self.tell_losses(&mut entry, 0);
        let started_ns = monotonic_ns();
        self.refresh(id, &mut entry);
        let cpu_ns = exited.then(|| entry.cpu_ns()).flatten();
        let when = When { started_ns, late_ns: 0, cpu_ns, last: exited };
        entry.settle();
        for frame in entry.target.finish(exited, end, when) {
            self.sink.add(id, frame);
        }
        self.sink.hurry();
        let seq = entry.target.seq();
        self.release(id, &mut entry);
        self.board.leave(id, |notice| notice.over = Some((code, seq)));
        self.keep_exits();
        Some(seq)
    }

    /// Lets the kernel follow the members of a target no more.
    fn release(&mut self, id: &str, entry: &mut Entry) {
        let Following::Reported { bit, boundary, .. } = &entry.following else { return };
        let Some(programs) = &mut self.programs else { return };
        let bit = *bit;
        programs.release(bit, boundary, std::iter::empty());
        // Whoever was born meanwhile is a member by now, and nobody is from here on.
        self.take_ring(Some((id, &mut *entry)));
        if let Some(programs) = &self.programs {
            let (_, believed) = entry.members();
            believed.iter().for_each(|&pid| programs.remove(bit, pid));
        }
    }

    /// Takes the last samples of all targets.
    fn end(&mut self) {
        let ids: Vec<String> = self.entries.keys().cloned().collect();
        for id in &ids {
            self.flush(id);
        }
        self.entries.clear();
    }

    /// A target has ended: its last sample waits for tables, which somebody else reads.
    fn begin_ending(&mut self, id: &str) {
        self.drain();
        let Some(entry) = self.entries.get_mut(id) else { return };
        entry.ending_until_ns = Some(monotonic_ns() + ENDING_NS);
        self.board.leave(id, |notice| notice.ending = true);
    }

    /// Counts all exits of a target that has ended, whose last sample waits.
    pub fn take_in_last(&mut self, id: &str) {
        if self.entries.get(id).is_none_or(|entry| entry.ending_until_ns.is_none()) {
            return;
        }
        self.take_ring(None);
        self.drain();
        if let Some(entry) = self.entries.get_mut(id) {
            entry.target.take_in_exits();
            entry.settle();
        }
    }

    /// CPU that sampling took since this was asked last.
    pub fn take_spent(&mut self) -> Spent {
        let now_ns = thread_cpu_ns();
        let thread_ns = now_ns - std::mem::replace(&mut self.spent_from_ns, now_ns);
        let targets = self.entries.iter_mut().map(|(id, entry)| {
            let spent = std::mem::take(&mut entry.spent_ns);
            (id.clone(), (spent, std::mem::take(&mut entry.bytes)))
        });
        Spent { thread_ns, targets: targets.collect() }
    }

    /// Takes a sample, and hands its frames over. `last`: no later frame may be counted on.
    fn sample(&mut self, id: &str, last: bool) {
        let cpu_ns = thread_cpu_ns();
        let Some((id, mut entry)) = self.entries.remove_entry(id) else { return };
        let frames = self.frames(&id, &mut entry, last);
        for frame in frames {
            entry.bytes += frame.data.len() as u64;
            self.sink.add(&id, frame);
        }
        if last {
            self.sink.hurry();
        }
        entry.spent_ns += thread_cpu_ns() - cpu_ns;
        self.entries.insert(id, entry);
    }

    fn frames(&mut self, id: &str, entry: &mut Entry, last: bool) -> Vec<Frame> {
        let started_ns = monotonic_ns();
        let (late_ns, missed) = entry.schedule.advance(started_ns);
        if let Some(gauge) = &mut entry.gomaxprocs {
            gauge.request();
        }
        self.take_ring(Some((id, &mut *entry)));
        entry.let_go(self.programs.as_ref(), started_ns);
        let (alive, believed) = entry.members();
        if alive.is_empty() && self.is_over(id, entry) {
            return Vec::new();
        }
        entry.notified_empty &= alive.is_empty();
        if let Some(text) = self.kit.disagreement.get() {
            entry.target.fall_back(&ReadError::Disagreement(text.clone()));
        }
        let read = entry.target.read(&alive, &believed);
        if let Some(text) = entry.target.disagreement() {
            self.kit.disagreement.get_or_init(|| text.to_owned());
        }
        // Drained after the listing: a thread that is not listed any more has its record here.
        self.drain_with(Some((id, &mut *entry)));
        self.tell_losses(entry, missed);
        if let Some(changed) = entry.gomaxprocs.as_mut().and_then(Gomaxprocs::collect) {
            let process = entry.main_process();
            let (size, previous) = (changed.size, changed.previous);
            entry.target.report(Event::GomaxprocsChanged { process, size, previous });
            self.board.leave(id, |notice| notice.gomaxprocs = Some(size));
        }
        let due = last || started_ns >= entry.cpu_due_ns;
        let cpu_ns = due.then(|| entry.cpu_ns()).flatten();
        if due {
            entry.cpu_due_ns = started_ns + CPU_NS;
        }
        let when = When { started_ns, late_ns, cpu_ns, last };
        self.refresh(id, entry);
        let made = match read {
            Ok(_) => {
                entry.see();
                entry.settle();
                let procfs = &self.kit.procfs;
                let mut check = |tid, process| presence(procfs, tid, &[process]);
                let frames = entry.target.sample(when, &mut check);
                entry.begin_counting(started_ns);
                frames
            }
            Err(error) => entry.target.failure(reason(&error), when),
        };
        entry.times.note(entry.target.sample_us(), started_ns);
        entry.tell(id, &self.board);
        made
    }

    /// True if no process is left and none will come: then the target begins to end.
    fn is_over(&mut self, id: &str, entry: &mut Entry) -> bool {
        let ends = match entry.following {
            Following::Process { .. } => false,
            Following::Reported { ends_empty, .. } | Following::Listed { ends_empty } => ends_empty,
        };
        if ends {
            entry.ending_until_ns = Some(monotonic_ns() + ENDING_NS);
            self.board.leave(id, |notice| notice.ending = true);
        } else if !std::mem::replace(&mut entry.notified_empty, true) {
            self.board.leave(id, |notice| notice.empty = true);
        }
        ends
    }

    /// Brings up to date what frames say besides threads.
    fn refresh(&self, id: &str, entry: &mut Entry) {
        let common = &self.health;
        let received = self.exits.as_ref().map_or(0, |exits| exits.listener.received);
        let lost = self.exits.as_ref().map_or(0, |exits| exits.listener.lost);
        let (network_calls_uncounted, ledger_threads_uncounted) = self.kit.uncounted();
        let health = Health {
            sample_mean_us: entry.times.mean_us(),
            sample_max_us: entry.times.max_us(),
            missed_deadlines: entry.schedule.missed,
            effective_hz: entry.schedule.rate_hz(),
            requested_hz: entry.requested_hz,
            exit_records_received: received,
            exit_records_lost: lost,
            cpu_percent: common.cpu_percent,
            overhead_percent: common.overhead_percent,
            budget_percent: common.budget_percent,
            replay_bytes: common.replay_bytes,
            replay_frames: common.replay_frames,
            unsent_frames: common.unsent_frames,
            sent_frames: common.sent_frames,
            sent_bytes: common.sent_bytes,
            slowed_by_backlog: common.slowed_by_backlog,
            undelivered_bytes: common.undelivered_bytes,
            frames_dropped: common.frames_dropped.get(id).copied().unwrap_or(0),
            exits_without_event: entry.target.exits_without_event(),
            network_calls_uncounted,
            counters_disagreement: entry.target.disagreement().map(str::to_owned),
            locks_reason: entry.locks_reason.clone(),
            ledger_threads_uncounted,
        };
        let surroundings = &mut entry.target.surroundings;
        surroundings.health = health;
        if let Some(gauge) = &entry.gomaxprocs {
            surroundings.process.gomaxprocs = gauge.size();
            surroundings.process.gomaxprocs_missed = Some(gauge.missed);
        }
        if let Some(group) = &mut surroundings.group {
            let processes = entry.processes.lock().unwrap_or_else(PoisonError::into_inner);
            let members = &processes.members;
            *group = GroupCounts {
                live: members.count() as u64,
                started: members.started,
                ended: members.ended_count,
                unseen: members.unseen,
                ..std::mem::take(group)
            };
        }
    }

    fn tell_losses(&mut self, entry: &mut Entry, missed: u64) {
        if missed > 0 {
            entry.target.report(Event::DeadlinesMissed { count: missed });
        }
        let lost = self.exits.as_ref().map_or(0, |exits| exits.listener.lost);
        let count = lost - std::mem::replace(&mut entry.lost_reported, lost);
        if count > 0 {
            entry.target.report(Event::ExitRecordsLost { count });
        }
    }
}

fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Kernel(text) => format!("OSError: {text}"),
        ReadError::Disagreement(text) => format!("DisagreementError: {text}"),
    }
}

#[cfg(test)]
mod tests;
