//! One target at work: its schedule, who belongs to it, and what is asked beside its threads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError};

use super::gauge::Gomaxprocs;
use super::notices::Board;
use super::schedule::Schedule;
use super::times::SampleTimes;
use crate::columns::{text, Totals};
use crate::compare::Thread;
use crate::fields::CPU;
use crate::os::clock::process_cpu_ns;
use crate::processes::{
    Boundary, Event, GroupPrograms, Kind, LastSwitches, Newcomer, SharedProcesses, BELIEVED_NS,
};
use crate::slots::Watcher;
use crate::target::Target;
use crate::taskstats::Decoder;

/// Nanoseconds of a clock tick of /proc.
const TICK_NS: i64 = 10_000_000;
/// Suffix that the kernel appends to the path of a deleted file.
const DELETED: &[u8] = b" (deleted)";

/// How it is known which processes a target has.
pub enum Following {
    /// The target is one process until its end.
    Process {
        /// Process ID.
        pid: u32,
        /// Readable when it has ended.
        alive: OwnedFd,
        /// Last known program, to notice another one.
        program: Program,
    },
    /// The kernel reports births, executions and ends.
    Reported {
        /// The group's bit.
        bit: u64,
        /// The group's boundary.
        boundary: Boundary,
        /// True if the target ends with its last process.
        ends_empty: bool,
    },
    /// Somebody looks again and again, and tells.
    Listed {
        /// True if the target ends with its last process.
        ends_empty: bool,
    },
}

/// The last known program of a process.
pub struct Program {
    /// Link of /proc that points to the executable.
    pub link: PathBuf,
    /// Destination of the link, or None if it may not be read.
    pub executable: Option<OsString>,
    /// Name of the main thread.
    pub name: String,
    /// See `Source::executed`; None: it is not known yet, or never.
    pub executed: Option<u64>,
    /// True if Python was notified of another program or another name.
    pub notified: bool,
}

impl Program {
    /// True if the process runs another program than before.
    fn is_other(&mut self, executed: Option<u64>) -> bool {
        if executed.is_some() {
            let before = std::mem::replace(&mut self.executed, executed);
            return before.is_some_and(|before| executed != Some(before));
        }
        let executable = std::fs::read_link(&self.link).ok().map(without_mark);
        !self.notified && executable.is_some() && executable != self.executable
    }
}

/// A target at work.
pub struct Entry {
    /// The target.
    pub target: Target,
    /// When its next sample is due.
    pub schedule: Schedule,
    /// Samples a second that were asked for.
    pub requested_hz: f64,
    /// Processes of the target.
    pub processes: SharedProcesses,
    /// ID of the process that represents a group, or 0.
    pub lead: u32,
    /// Reported CPU time of a group that is in no frame yet, in nanoseconds.
    pub reported_cpu_ns: Option<u64>,
    /// How they are followed.
    pub following: Following,
    /// Whole times on a CPU of ended threads, where no join gives them.
    pub last_switches: Option<LastSwitches>,
    /// Decoder of exit records into columns, or None without exit records.
    pub decoder: Option<Decoder>,
    /// GOMAXPROCS; None: it is not read.
    pub gomaxprocs: Option<Gomaxprocs>,
    /// How long samples took.
    pub times: SampleTimes,
    /// CPU of the sampler since this was taken last, nanoseconds.
    pub spent_ns: i64,
    /// Bytes of frames since this was taken last.
    pub bytes: u64,
    /// Lost exit records that frames have reported.
    pub lost_reported: u64,
    /// Exit status of the process, or None until an exit record reports it.
    pub exit_code: Option<u32>,
    /// When members ended whose threads the kernel does not count, and their ids.
    pub leaving: VecDeque<(i64, u32)>,
    /// CLOCK_MONOTONIC at which the CPU time of the process is due, nanoseconds.
    pub cpu_due_ns: i64,
    /// CLOCK_MONOTONIC until which the end of the target waits for tables; None: it has not ended.
    pub ending_until_ns: Option<i64>,
    /// Watcher whose threads have ledgers, or None without ledgers.
    pub watcher: Option<Watcher>,
    /// Why locks cannot be read or named; None if they can, or there are none.
    pub locks_reason: Option<String>,
    /// True once Python was notified that no process is left.
    pub notified_empty: bool,
    /// True if Python awaits the next sample.
    pub tell_sample: bool,
}

impl Entry {
    /// Applies an event of the ring that concerns this target; `now_ns` is CLOCK_MONOTONIC.
    pub fn apply(
        &mut self,
        id: &str,
        event: &Event,
        programs: Option<&GroupPrograms>,
        board: &Board,
        now_ns: i64,
    ) {
        let Following::Reported { bit, boundary, .. } = &self.following else { return };
        let (is_mine, matched) = (event.groups & bit != 0, boundary.matched);
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let members = &mut processes.members;
        match event.kind {
            Kind::Executed => {
                let (name, mut is_member) = (text(&event.comm), members.get(event.pid).is_some());
                if let Some(exact) = &boundary.exact {
                    let holds = exact.holds(&name, event.value);
                    if holds && !is_member {
                        if let Some(programs) = programs {
                            // If it fails, samples see the process, but not its children.
                            let _ = programs.add(*bit, event.pid);
                        }
                        members.add(Newcomer { before: true, ..newcomer(event, false) });
                    } else if is_member && !holds {
                        if let Some(programs) = programs {
                            programs.remove(*bit, event.pid);
                        }
                        members.end(event.pid, event.at_ns, now_ns);
                    }
                    is_member = holds;
                }
                if is_member {
                    members.rename(event.pid, &name, Some(event.value));
                }
                // If Python decides about matches, every execution is reported.
                if is_member || (matched && boundary.exact.is_none()) {
                    board.leave(id, |notice| notice.execute(*event));
                }
            }
            Kind::Done if is_mine => {
                if let Some(switches) = &mut self.last_switches {
                    switches.note(event.other, event.run_ns);
                }
                let before = members.get(event.pid).is_some_and(|member| member.process.before);
                if event.value == 0 && members.end(event.pid, event.at_ns, now_ns) && before {
                    self.leaving.push_back((now_ns, event.pid));
                }
            }
            Kind::Born | Kind::Moved if is_mine => {
                let moved = event.kind == Kind::Moved;
                members.add(newcomer(event, moved));
                self.notified_empty = false;
            }
            Kind::Moved => {
                members.end(event.pid, event.at_ns, now_ns);
            }
            Kind::Done | Kind::Born => {}
        }
    }

    /// Forgets members that ended so long ago that all of their threads are done.
    pub fn let_go(&mut self, programs: Option<&GroupPrograms>, now_ns: i64) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.members.forget(now_ns);
        let Following::Reported { bit, .. } = self.following else { return };
        while self.leaving.front().is_some_and(|(ended_ns, _)| now_ns - ended_ns > BELIEVED_NS) {
            let Some((_, pid)) = self.leaving.pop_front() else { break };
            if processes.members.get(pid).is_none() {
                if let Some(programs) = programs {
                    programs.remove(bit, pid);
                }
            }
        }
    }

    /// ID of the process that represents the group, or 0.
    pub fn main_process(&self) -> u32 {
        match self.following {
            Following::Process { pid, .. } => pid,
            _ => self.lead,
        }
    }

    /// CPU time of the process with all its threads, nanoseconds; of a group somebody else tells it.
    pub fn cpu_ns(&mut self) -> Option<u64> {
        match self.following {
            Following::Process { pid, .. } => {
                process_cpu_ns(pid).and_then(|ns| u64::try_from(ns).ok())
            }
            _ => self.reported_cpu_ns.take(),
        }
    }

    /// Exit records were drained at `before_ns`, CLOCK_MONOTONIC.
    pub fn drained(&mut self, before_ns: i64) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.members.drained_ns = Some(before_ns);
    }

    /// Notes which processes the last reading has seen.
    pub fn see(&mut self) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let mut last = 0;
        for &pid in self.target.processes_read() {
            if pid != last {
                last = pid;
                processes.members.see(pid);
            }
        }
    }

    /// Notes with what the counters of processes begin that the last sample read first.
    pub fn begin_counting(&mut self, now_ns: i64) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        processes.begin_counting(self.target.tracker().live_totals(now_ns));
    }

    /// Notifies Python of new names of threads and of another program.
    pub fn tell(&mut self, id: &str, board: &Board) {
        if std::mem::take(&mut self.tell_sample) {
            board.leave(id, |notice| notice.sampled = true);
        }
        let named = self.target.take_named();
        if !named.is_empty() {
            board.leave(id, |notice| notice.named.extend(named));
        }
        let Following::Process { pid, program, .. } = &mut self.following else { return };
        let name = self.target.tracker().threads().get(pid).map(Thread::comm);
        let renamed = !program.notified && name.is_some_and(|name| name != program.name);
        if program.is_other(self.target.executed()) || renamed {
            program.notified = true;
            board.leave(id, |notice| notice.program = true);
        }
    }

    /// Ids of the processes that live, and of those that exit records may still come for; both ascending.
    pub fn members(&self) -> (Arc<[u32]>, Arc<[u32]>) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        (processes.members.ids(), processes.members.believed())
    }

    /// Adds CPU time of ended threads beyond what their ends reported.
    pub fn settle(&mut self) {
        let Some(switches) = &mut self.last_switches else { return };
        let fields = self.target.tracker().fields();
        let (Some(cpu), summed) = (fields.find(CPU), fields.summed) else { return };
        for late in switches.take_late() {
            let mut totals = Totals::new(summed);
            (totals.values[cpu], totals.given) = (late.cpu_ns, 1 << cpu);
            let ended = self.target.tracker_mut().ended_mut();
            ended.add_late(&text(&late.comm), late.process, &totals);
        }
    }
}

/// A path without the mark of a deleted file.
fn without_mark(path: PathBuf) -> OsString {
    let mut path = path.into_os_string().into_vec();
    if path.ends_with(DELETED) {
        path.truncate(path.len() - DELETED.len());
    }
    OsString::from_vec(path)
}

/// The process of an event, which is born, or moved into the group.
fn newcomer(event: &Event, moved: bool) -> Newcomer {
    Newcomer {
        pid: event.pid,
        parent: event.other,
        start_ns: event.start_ns,
        start_ticks: u64::try_from(event.start_boot_ns / TICK_NS).unwrap_or(0),
        name: text(&event.comm),
        uid: Some(event.value),
        at_attach: false,
        before: moved,
        moved_ns: moved.then_some(event.run_ns),
    }
}
