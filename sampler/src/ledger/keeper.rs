//! The loaded program: whose ledgers are kept, and what they say in the end.

use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::reading::copy_whole;
use super::slot::{Settled, COLUMNS, DETAIL, LAYOUT, STATES, WITHOUT_SLOT};
use super::walks::Walks;
use crate::columns::Comm;
use crate::os::clock;
use crate::slots::exited::{is_exiting, Candidates, Ended};
use crate::slots::{lock, Maps, ThreadSlots, Watcher};
use crate::source::ReadError;

/// Processes from which on all threads of the machine are walked once.
const MAX_WALKS: usize = 8;
/// Ended threads from which on their slots wait for exit records for a second only.
const MANY_ENDED: usize = LAYOUT.count / 4;
/// Interval of checks whether a thread has made its last switch.
const CHECK_INTERVAL: Duration = Duration::from_micros(100);
/// Time after which a thread's last switch is given up.
const LATEST_SWITCH_NS: i64 = 2_000_000_000;

/// A keeper that several ledgers use.
pub type SharedKeeper = Arc<Mutex<Keeper>>;

/// Descriptors of waits.bpf.c.
pub struct Program {
    /// Maps of slots.
    pub maps: Maps,
    /// Array `details`.
    pub details: OwnedFd,
    /// Program `begin_ledgers`.
    pub begin: OwnedFd,
    /// Program `let_go_throttled`.
    pub let_go: OwnedFd,
}

/// A thread whose slot is freed, and what it leaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaver {
    /// Slot.
    pub index: u32,
    /// Generation of the slot until now.
    pub generation: u64,
    /// Process id.
    pub process: u32,
    /// Thread id.
    pub tid: u32,
    /// Nanoseconds in each state.
    pub ns: [u64; STATES],
}

/// Takes over the contents of slots, and of tables beside them, before slots are freed.
pub trait Leaving: Send {
    /// Somebody watches processes from now on.
    fn enter(&mut self, watcher: Watcher);

    /// Drops what was kept for a watcher.
    fn forget(&mut self, watcher: Watcher);

    /// Keeps what threads leave. `leaving`: who watched them until now, beside those who watch their
    /// processes still.
    fn keep(&mut self, slots: &mut ThreadSlots, leavers: &[Leaver], leaving: Option<Watcher>);
}

/// An exit record, and what it says of the thread.
#[derive(Clone, Copy, Debug)]
pub struct Exit {
    /// Identity of the ended thread.
    pub ended: Ended,
    /// Time on CPUs by the record, nanoseconds.
    pub cpu_ns: u64,
    /// Name.
    pub comm: Comm,
}

/// The ledger of an ended thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Final {
    /// Nanoseconds in each state that has a column.
    pub ns: [u64; COLUMNS],
    /// Time on CPUs up to the last switch, nanoseconds; at least the record's.
    pub cpu_ns: u64,
}

/// Time that a ledger gained after its thread's exit record was joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Late {
    /// Thread id.
    pub tid: u32,
    /// Process id.
    pub process: u32,
    /// Name by the exit record.
    pub comm: Comm,
    /// Further nanoseconds in each state that has a column.
    pub ns: [u64; COLUMNS],
    /// Further time on CPUs, nanoseconds.
    pub cpu_ns: u64,
}

/// A ledger that was given before its thread's last switch.
struct Open {
    since_ns: i64,
    given: Vec<(Watcher, Final, Comm)>,
}

/// Keeps the ledgers of all watched processes.
pub struct Keeper {
    slots: ThreadSlots,
    walks: Walks,
    procfs: PathBuf,
    leaving: Option<Arc<Mutex<dyn Leaving>>>,
    /// Processes whose threads' ledgers have not been begun, because that failed.
    unbegun: Vec<u32>,
    /// Ledgers that were given before their threads' last switches, by slot.
    open: HashMap<u32, Open>,
    late: HashMap<Watcher, Vec<Late>>,
    unfinished: u64,
}

impl Keeper {
    /// Maps the slots of a loaded program, which has to be attached while `is_watched`.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(program: Program, procfs: PathBuf) -> io::Result<Self> {
        let mut slots = ThreadSlots::new(program.maps, LAYOUT)?;
        slots.map_beside(program.details, DETAIL)?;
        Ok(Self::with(slots, Walks::of(program.begin, program.let_go), procfs))
    }

    /// Makes a keeper of slots that are mapped already; otherwise like `new`.
    pub fn with(slots: ThreadSlots, walks: Walks, procfs: PathBuf) -> Self {
        Self {
            slots,
            walks,
            procfs,
            leaving: None,
            unbegun: Vec::new(),
            open: HashMap::new(),
            late: HashMap::new(),
            unfinished: 0,
        }
    }

    /// Sets the owner of what ended threads leave. Its lock is taken while the keeper's is held, never before.
    pub fn set_leaving(&mut self, leaving: Arc<Mutex<dyn Leaving>>) {
        self.leaving = Some(leaving);
    }

    /// True while anybody watches: the program has to be attached before the first one does, and is
    /// detached after the last one has left.
    pub fn is_watched(&self) -> bool {
        self.slots.is_watched()
    }

    /// The slots.
    pub fn slots(&mut self) -> &mut ThreadSlots {
        &mut self.slots
    }

    /// Threads of watched processes that have no ledger, because all slots were in use.
    pub fn threads_without_slot(&self) -> u64 {
        self.slots.control(WITHOUT_SLOT)
    }

    /// Threads whose ledger was closed before their last switch was seen.
    pub fn unfinished_exits(&self) -> u64 {
        self.unfinished
    }

    /// Adds a watcher without processes.
    pub fn enter(&mut self) -> Watcher {
        let watcher = self.slots.enter();
        if let Some(leaving) = &self.leaving {
            lock(leaving).enter(watcher);
        }
        watcher
    }

    /// Keeps the ledgers of these processes, ids in ascending order, and no more of others of the
    /// watcher.
    ///
    /// # Errors
    /// The error of bpf(2); a later call goes on where this one ended.
    pub fn follow(&mut self, watcher: Watcher, members: &[u32]) -> io::Result<()> {
        self.slots.reach()?;
        let followed = self.slots.follow(watcher, members)?;
        self.free(&followed.gone, Some(watcher));
        self.unbegun.extend(followed.new);
        if self.unbegun.len() > MAX_WALKS {
            (self.walks.begin)(0)?;
            self.unbegun.clear();
        }
        while let Some(&pid) = self.unbegun.last() {
            (self.walks.begin)(pid)?;
            self.unbegun.pop();
        }
        Ok(())
    }

    /// Notes in the slots of these processes which throttled threads have been let go since, and when:
    /// the program itself sees it when they run again.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn let_go(&mut self, processes: &[u32]) -> io::Result<()> {
        if processes.len() > MAX_WALKS {
            return (self.walks.let_go)(0);
        }
        processes.iter().try_for_each(|&pid| (self.walks.let_go)(pid))
    }

    /// Keeps no more ledgers for a watcher. Idempotent.
    pub fn leave(&mut self, watcher: Watcher) {
        self.open.retain(|_, one| {
            one.given.retain(|given| given.0 != watcher);
            !one.given.is_empty()
        });
        self.late.remove(&watcher);
        if let Some(leaving) = &self.leaving {
            lock(leaving).forget(watcher);
        }
        // Slots that cannot be mapped are tidied away once their threads end.
        let _ = self.slots.reach();
        let gone = self.slots.leave(watcher);
        self.free(&gone, Some(watcher));
    }

    /// Gives slots back that are not used any more.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn tidy(&mut self) -> io::Result<()> {
        self.slots.reach()?;
        let late = self.slots.tidy(MANY_ENDED, clock::monotonic_ns());
        self.free(&late, None);
        Ok(())
    }

    /// The final ledgers of threads whose exit records came, None for threads without one. Their slots
    /// are freed once all who watch have had this.
    ///
    /// A record comes shortly before the thread's last switch. All of these threads together are waited
    /// for up to `patience`; what comes later is what `take_late` gives.
    ///
    /// # Errors
    /// The errors of `copy_whole` and mmap(2).
    pub fn exited(
        &mut self,
        watcher: Watcher,
        exits: &[Exit],
        patience: Duration,
    ) -> Result<Vec<Option<Final>>, ReadError> {
        self.slots.reach()?;
        let records: Vec<Ended> = exits.iter().map(|exit| exit.ended).collect();
        let candidates = Candidates::find(&self.slots, &records);
        self.await_last_switches(&candidates.slots, patience);
        let now_ns = clock::monotonic_ns();
        let found =
            candidates.choose(&self.slots, now_ns, |pid, tid| is_exiting(&self.procfs, pid, tid));
        let (rows, indices): (Vec<usize>, Vec<u32>) =
            found.iter().enumerate().filter_map(|(row, one)| one.map(|index| (row, index))).unzip();
        let mut finals = vec![None; exits.len()];
        let mut closed = Vec::with_capacity(indices.len());
        let open = &mut self.open;
        copy_whole(&self.slots, &indices, |place, copy| {
            let exit = &exits[rows[place]];
            // Before the last switch the count lacks the round under way.
            let run_ns = if copy.has_ended() { copy.run_ns() } else { 0 };
            let ledger = Final { ns: copy.settle().columns(), cpu_ns: exit.cpu_ns.max(run_ns) };
            finals[rows[place]] = Some(ledger);
            if copy.has_ended() {
                closed.push(indices[place]);
                return;
            }
            let one = open
                .entry(indices[place])
                .or_insert_with(|| Open { since_ns: now_ns, given: Vec::new() });
            one.given.push((watcher, ledger, exit.comm));
        })?;
        let done = self.slots.claim(&closed, watcher);
        self.free(&done, None);
        Ok(finals)
    }

    fn await_last_switches(&self, indices: &[u32], patience: Duration) {
        let begun = Instant::now();
        while indices.iter().any(|&index| !self.slots.has_ended(index)) {
            if begun.elapsed() >= patience {
                return;
            }
            thread::sleep(CHECK_INTERVAL);
        }
    }

    /// Time that ledgers gained after `exited` gave them to a watcher, since the last call.
    pub fn take_late(&mut self, watcher: Watcher) -> Vec<Late> {
        self.settle_late(clock::monotonic_ns());
        self.late.remove(&watcher).unwrap_or_default()
    }

    /// Closes ledgers whose threads have made their last switch by now.
    pub(super) fn settle_late(&mut self, now_ns: i64) {
        let mut closed = Vec::new();
        let slots = &self.slots;
        self.open.retain(|&index, one| {
            let ended = slots.has_ended(index);
            if !ended && now_ns - one.since_ns < LATEST_SWITCH_NS {
                return true;
            }
            let mut found: Option<(Settled, u64)> = None;
            let copied = copy_whole(slots, &[index], |_, copy| {
                let run_ns = if copy.has_ended() { copy.run_ns() } else { 0 };
                found = Some((copy.settle(), run_ns));
            });
            if copied.is_err() && now_ns - one.since_ns < LATEST_SWITCH_NS {
                return true;
            }
            closed.push((index, std::mem::take(&mut one.given), found));
            self.unfinished += u64::from(!ended);
            false
        });
        for (index, given, found) in closed {
            let (process, tid) = self.slots.owner(index);
            for (watcher, before, comm) in given {
                if let Some((settled, run_ns)) = &found {
                    let mut ns = settled.columns();
                    for (more, less) in ns.iter_mut().zip(before.ns) {
                        *more = more.saturating_sub(less);
                    }
                    let cpu_ns = run_ns.saturating_sub(before.cpu_ns);
                    let late = Late { tid, process, comm, ns, cpu_ns };
                    self.late.entry(watcher).or_default().push(late);
                }
                let done = self.slots.claim(&[index], watcher);
                self.free(&done, None);
            }
        }
    }

    /// Frees the slots of threads of a watcher that have ended, whoever waits for them.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn drop_ended(&mut self, watcher: Watcher) -> io::Result<()> {
        self.slots.reach()?;
        let mut ended = self.slots.slots_of(self.slots.watching().members(watcher));
        ended.retain(|&index| self.slots.has_ended(index));
        self.free(&ended, None);
        Ok(())
    }

    /// Frees slots, after what their threads leave was kept.
    fn free(&mut self, indices: &[u32], leaving: Option<Watcher>) {
        if indices.is_empty() {
            return;
        }
        if let Some(keeps) = &self.leaving {
            let mut leavers: Vec<Leaver> = indices
                .iter()
                .filter(|&&index| self.slots.tgid(index) != 0)
                .map(|&index| {
                    let (process, tid) = self.slots.owner(index);
                    let generation = self.slots.generation(index);
                    Leaver { index, generation, process, tid, ns: [0; STATES] }
                })
                .collect();
            let places: Vec<u32> = leavers.iter().map(|one| one.index).collect();
            // A ledger that does not add up is left out of what is kept.
            let _ = copy_whole(&self.slots, &places, |place, copy| {
                leavers[place].ns = copy.settle().ns;
            });
            lock(keeps).keep(&mut self.slots, &leavers, leaving);
        }
        self.slots.free(indices, clock::monotonic_ns());
        if !self.open.is_empty() {
            for index in indices {
                self.open.remove(index);
            }
        }
    }
}
