//! Reading what the program counts beside ledgers, and keeping what threads that ended leave.

use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;

use super::beside::{
    clear_edge, detail_of, is_current, living, own, Beside, CallCount, EdgeKey, PairKey,
};
use super::counts::{edges_of, Counts, Edge};
use super::made::{tables_of, waiting_of, Tables, Waiting};
use super::names::Names;
use super::Living;
use crate::columns::Comm;
use crate::ledger::keeper::{Leaver, Leaving};
use crate::ledger::reading::Reading;
use crate::ledger::slot::{address, ENDED, FUTEX};
use crate::os::bpf;
use crate::os::clock::monotonic_ns;
use crate::slots::{ThreadSlots, Watcher};
use crate::source::ReadError;

/// Offsets in struct control: edges and takers that were looked for beside slots, and what was lost.
const MORE_EDGES: usize = 24;
const MORE_TAKERS: usize = 32;
const LOST: [usize; 3] = [40, 48, 56];
/// All of these offsets.
#[cfg(test)]
pub const CONTROL: [usize; 5] = [MORE_EDGES, MORE_TAKERS, LOST[0], LOST[1], LOST[2]];
/// Edges beside slots from which on the rarest are removed, and kept here.
const MANY_EDGES: usize = 32_768 * 3 / 4;
/// Takers beside slots from which on all are removed, and kept here by name.
const MANY_TAKERS: usize = 1024;
/// Rows that threads left from which on they are added up between readings.
const MANY_PENDING: usize = 16_384;
/// Freed slots that are remembered until the next reading; rows beside further ones are dropped.
const MAX_FREED: usize = 65_536;

/// Length of a wait for a futex from which it is reported while it lasts.
const LONG_WAIT_NS: i64 = 5_000_000_000;

/// Words of struct name: the name in two, the flag in the low half of the third (the high one is not used),
/// and the start.
type NameWords = [u64; 4];

/// Descriptors of the hash maps of waits.bpf.c.
pub struct WaitMaps {
    /// Map `edges`.
    pub edges: OwnedFd,
    /// Map `takers`.
    pub takers: OwnedFd,
    /// Map `call_counts`.
    pub calls: OwnedFd,
    /// Map `names`.
    pub names: OwnedFd,
}

/// Counts of the threads of all watchers.
pub struct Counting {
    maps: WaitMaps,
    calls: bool,
    names: Names,
    readings: HashMap<Watcher, Reading>,
    /// Counts of ended threads, by watcher.
    ended: HashMap<Watcher, Counts>,
    /// Processes and watchers of freed slots, by index and generation of the slot.
    freed: HashMap<u64, (u32, Vec<Watcher>)>,
}

/// Counts of a target of one moment.
pub(super) struct Copied {
    counts: Counts,
    members: Vec<u32>,
    living: Living,
    waiting: Vec<Waiting>,
    with_calls: bool,
}

impl Counting {
    /// Reads the maps of a loaded program, which counts system calls or not. Names of living processes
    /// are read from `procfs`.
    pub fn new(maps: WaitMaps, calls: bool, procfs: PathBuf) -> Self {
        Self {
            maps,
            calls,
            names: Names::new(procfs),
            readings: HashMap::new(),
            ended: HashMap::new(),
            freed: HashMap::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn names(&mut self) -> &mut Names {
        &mut self.names
    }

    /// Wake-ups, takers and system calls that found no room in the program's tables.
    pub fn lost(slots: &ThreadSlots) -> u64 {
        LOST.iter().fold(0, |sum, &at| sum.wrapping_add(slots.control(at)))
    }

    pub(super) fn tables(&mut self, copied: Copied) -> Tables {
        let Copied { mut counts, members, living, waiting, with_calls } = copied;
        self.names.fold(&mut counts, &members, |pid| living.processes.contains(&pid));
        counts.forget_others(&members);
        let mut made = tables_of(counts, &members, &mut self.names, with_calls);
        made.tables.push(waiting_of(&waiting));
        made
    }

    /// Copies what the program writes to, and keeps what ended threads leave.
    pub(super) fn copy(
        &mut self,
        slots: &mut ThreadSlots,
        watcher: Watcher,
    ) -> Result<Copied, ReadError> {
        let members = slots.watching().members(watcher).to_vec();
        let mut reading = self.readings.remove(&watcher).unwrap_or_default();
        let copied = self.copy_with(slots, watcher, &members, &mut reading);
        self.readings.insert(watcher, reading);
        let (counts, living, waiting) = copied?;
        Ok(Copied { counts, members, living, waiting, with_calls: self.calls })
    }

    fn copy_with(
        &mut self,
        slots: &mut ThreadSlots,
        watcher: Watcher,
        members: &[u32],
        reading: &mut Reading,
    ) -> Result<(Counts, Living, Vec<Waiting>), ReadError> {
        self.read_names()?;
        reading.read(slots, members)?;
        let mut counts = Counts::default();
        let has_more = self.has_more(slots);
        let edges: Vec<(EdgeKey, Edge)> =
            if has_more { bpf::entries(self.maps.edges.as_fd())? } else { Vec::new() };
        let living = living(slots);
        let mut tid_of = HashMap::with_capacity(reading.len());
        for row in 0..reading.len() {
            let tid = if reading.state[row] == ENDED { 0 } else { reading.tid[row] };
            let (index, process) = (reading.indices[row], reading.process[row]);
            tid_of.insert(index, tid);
            let was_in = |state: usize| state > 0 && reading.ns[state - 1][row] != 0;
            let detail = detail_of(slots, index, was_in);
            counts.add_detail(tid, &detail);
            for (place, edge) in edges_of(&detail) {
                let by = edge[0] as u32;
                if by == 0 || living.tids.contains(&by) {
                    counts.add_edge(tid, process, &edge);
                } else {
                    // Makes room in the slot.
                    let mut kept = Counts::default();
                    kept.add_edge(tid, process, &edge);
                    self.keep_of(slots, process, &kept);
                    clear_edge(slots, index, place);
                }
            }
        }
        if has_more {
            self.read_edges(slots, &edges, &tid_of, &living, &mut counts)?;
            self.read_takers(slots, &tid_of, &mut counts)?;
            if self.calls {
                self.read_calls(slots, &tid_of, &mut counts)?;
            }
            self.freed.clear();
        }
        // After what ran meanwhile, which is never more than the time in run queues. No slot is freed
        // meanwhile; threads that have begun since have no rows.
        reading.read(slots, members)?;
        for row in 0..reading.len() {
            if let Some(&tid) = tid_of.get(&reading.indices[row]) {
                counts.add_queued(tid, |state| reading.ns[state as usize - 1][row]);
            }
        }
        if let Some(ended) = self.ended.get_mut(&watcher) {
            ended.forget_dead(&living.tids);
            self.names.fold(ended, members, |pid| living.processes.contains(&pid));
            ended.sum_up();
            counts.absorb(ended);
        }
        Ok((counts, living, long_waits(slots, reading)))
    }

    /// Adds wake-ups beside slots. Wake-ups of and by ended threads are kept, and removed.
    fn read_edges(
        &mut self,
        slots: &ThreadSlots,
        edges: &[(EdgeKey, Edge)],
        tid_of: &HashMap<u32, u32>,
        living: &Living,
        counts: &mut Counts,
    ) -> io::Result<()> {
        let mut often: Vec<u64> = edges
            .iter()
            .filter(|one| own(slots, *one, tid_of).is_some())
            .map(|one| one.1[2])
            .collect();
        let middle = often.len() / 2;
        let rare = if edges.len() > MANY_EDGES && !often.is_empty() {
            Some(*often.select_nth_unstable(middle).1)
        } else {
            None
        };
        let mut removed = Vec::new();
        for one in edges {
            let by = one.1[0] as u32;
            if let Some((tid, process)) = own(slots, one, tid_of) {
                if by != 0 && !living.tids.contains(&by)
                    || rare.is_some_and(|most| one.1[2] <= most)
                {
                    let mut kept = Counts::default();
                    one.add_to(&mut kept, tid, process);
                    self.keep_of(slots, process, &kept);
                    removed.push(one.0);
                } else {
                    one.add_to(counts, tid, process);
                }
            } else if self.keep_freed(slots, one) {
                removed.push(one.0);
            }
        }
        bpf::remove_all(self.maps.edges.as_fd(), &removed)
    }

    /// Adds takers beside slots. Takers of ended threads, and all if there are many, are kept, and removed.
    fn read_takers(
        &mut self,
        slots: &ThreadSlots,
        tid_of: &HashMap<u32, u32>,
        counts: &mut Counts,
    ) -> io::Result<()> {
        let takers: Vec<(PairKey, u64)> = bpf::entries(self.maps.takers.as_fd())?;
        let mut removed = Vec::new();
        for one in &takers {
            if let Some((tid, process)) = own(slots, one, tid_of) {
                if takers.len() > MANY_TAKERS {
                    let mut kept = Counts::default();
                    one.add_to(&mut kept, tid, process);
                    self.keep_of(slots, process, &kept);
                    removed.push(one.0);
                } else {
                    one.add_to(counts, tid, process);
                }
            } else if self.keep_freed(slots, one) {
                removed.push(one.0);
            }
        }
        bpf::remove_all(self.maps.takers.as_fd(), &removed)
    }

    /// Adds system calls. Those of ended threads are kept, and removed.
    fn read_calls(
        &mut self,
        slots: &ThreadSlots,
        tid_of: &HashMap<u32, u32>,
        counts: &mut Counts,
    ) -> io::Result<()> {
        let calls: Vec<(PairKey, CallCount)> = bpf::entries(self.maps.calls.as_fd())?;
        let mut removed = Vec::new();
        for one in &calls {
            if let Some((tid, process)) = own(slots, one, tid_of) {
                one.add_to(counts, tid, process);
            } else if self.keep_freed(slots, one) {
                removed.push(one.0);
            }
        }
        bpf::remove_all(self.maps.calls.as_fd(), &removed)
    }

    /// Keeps a row of a slot that was freed for all who watched its thread; true if the slot was freed.
    fn keep_freed(&mut self, slots: &ThreadSlots, row: &impl Beside) -> bool {
        if is_current(slots, row.slot()) {
            return false; // of another target's thread
        }
        if let Some((process, watchers)) = self.freed.get(&row.slot()) {
            for watcher in watchers {
                if let Some(ended) = self.ended.get_mut(watcher) {
                    row.add_to(ended, 0, *process);
                }
            }
        }
        true
    }

    /// Keeps counts of a thread for all who watch its process.
    fn keep_of(&mut self, slots: &ThreadSlots, process: u32, counts: &Counts) {
        for (&watcher, ended) in &mut self.ended {
            if slots.watching().watches(watcher, process) {
                ended.absorb(counts);
            }
        }
    }

    fn has_more(&self, slots: &ThreadSlots) -> bool {
        self.calls || slots.control(MORE_EDGES) != 0 || slots.control(MORE_TAKERS) != 0
    }

    /// Takes names of processes out of the map.
    fn read_names(&mut self) -> io::Result<()> {
        let names: Vec<(u32, NameWords)> = bpf::entries(self.maps.names.as_fd())?;
        for &(key, [first, second, flags, start_ns]) in &names {
            let mut name = Comm::default();
            name[..8].copy_from_slice(&first.to_ne_bytes());
            name[8..].copy_from_slice(&second.to_ne_bytes());
            self.names.note(key, name, flags as u32 != 0, start_ns);
        }
        let keys: Vec<u32> = names.iter().map(|one| one.0).collect();
        bpf::remove_all(self.maps.names.as_fd(), &keys)
    }
}

/// Waits for futexes that began a while ago and last.
fn long_waits(slots: &ThreadSlots, reading: &Reading) -> Vec<Waiting> {
    let before_ns = monotonic_ns() - LONG_WAIT_NS;
    let is_long = |&row: &usize| reading.state[row] == FUTEX && reading.since_ns[row] <= before_ns;
    (0..reading.len())
        .filter(is_long)
        .map(|row| Waiting {
            tid: reading.tid[row],
            process: reading.process[row],
            address: address(slots, reading.indices[row]),
            since_ns: reading.since_ns[row] as u64,
        })
        .collect()
}

impl Leaving for Counting {
    fn enter(&mut self, watcher: Watcher) {
        self.ended.insert(watcher, Counts::default());
    }

    fn forget(&mut self, watcher: Watcher) {
        self.ended.remove(&watcher);
        self.readings.remove(&watcher);
    }

    fn keep(&mut self, slots: &mut ThreadSlots, leavers: &[Leaver], leaving: Option<Watcher>) {
        let has_more = self.has_more(slots);
        for one in leavers {
            let detail = detail_of(slots, one.index, |state| one.ns[state] != 0);
            let mut left = Counts::default();
            left.add_detail(0, &detail);
            left.add_queued(0, |state| one.ns[state as usize]);
            for (_, edge) in edges_of(&detail) {
                left.add_edge(0, one.process, &edge);
            }
            let mut watchers = Vec::new();
            for (&watcher, ended) in &mut self.ended {
                if leaving == Some(watcher) || slots.watching().watches(watcher, one.process) {
                    ended.absorb(&left);
                    watchers.push(watcher);
                }
            }
            if has_more && self.freed.len() < MAX_FREED {
                let key = u64::from(one.index) | one.generation << 32;
                self.freed.insert(key, (one.process, watchers));
            }
        }
        for ended in self.ended.values_mut().filter(|ended| ended.pending() > MANY_PENDING) {
            ended.sum_up();
        }
    }
}
