//! Network: payload that each thread moved over IPv4 and IPv6 sockets since its target was attached.
//! Hooks: the ends of sends, receives and splices of sockets (netacct/bpf/netacct.bpf.c).
//! Produces: bytes and calls, read and written.

mod accounts;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod tests;

/// Layouts for tests.
#[cfg(test)]
pub(crate) mod testing {
    pub use super::accounts::{COUNTERS, LAYOUT, UNCOUNTED_CALLS};
}

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

pub use accounts::{Accounts, Uncounted};

use crate::columns::{Exits, Mask, Rows};
use crate::fields::{Fields, NETWORK};
use crate::os::clock;
use crate::slots::exited::{is_exiting, Candidates, Ended};
use crate::slots::{lock, Listing, ThreadSlots, Watcher};
use crate::source::{Join, ReadError};
use accounts::COUNTERS;

/// Accounts that the networks of several targets use.
pub type SharedAccounts = Arc<Mutex<Accounts>>;

/// The network columns of a target's threads. Its processes are watched until it is dropped.
///
/// Members of `begin` are all processes that exit records may still come for, as for ledgers.
pub struct Network {
    accounts: SharedAccounts,
    watcher: Watcher,
    members: Vec<u32>,
    /// First column; the others follow it.
    first: usize,
    procfs: PathBuf,
    /// Calls that were not counted before the target was attached.
    uncounted: u64,
    /// CLOCK_MONOTONIC before the counters of the sample were read.
    before_ns: i64,
    living: Living,
}

/// Living threads with slots, by ascending id.
#[derive(Default)]
struct Living {
    /// Listing of the slots; None if threads are lacking that began too late for the sample.
    listing: Option<Listing>,
    threads: Vec<(u32, u32)>,
}

impl Living {
    /// Finds the slots of processes' threads. Threads that began after `before_ns` are others, under used
    /// ids.
    fn list(&mut self, slots: &mut ThreadSlots, members: &[u32], before_ns: i64) -> io::Result<()> {
        // Read before the slots are: changes meanwhile make the next call list them again.
        let listing = slots.listing();
        if self.listing == Some(listing) {
            return Ok(());
        }
        slots.reach()?;
        self.listing = Some(listing);
        self.threads.clear();
        for index in slots.slots_of(members) {
            if slots.has_ended(index) {
                continue;
            }
            if slots.start_ns(index) <= before_ns {
                self.threads.push((slots.owner(index).1, index));
            } else {
                self.listing = None;
            }
        }
        self.threads.sort_unstable();
        Ok(())
    }

    fn find(&self, tid: u32) -> Option<u32> {
        let at = self.threads.partition_point(|&(one, _)| one < tid);
        self.threads.get(at).filter(|one| one.0 == tid).map(|one| one.1)
    }
}

impl Network {
    /// Watches no process yet. The program has to be attached.
    ///
    /// # Errors
    /// Tells which column is missing.
    pub fn new(accounts: SharedAccounts, fields: &Fields, procfs: PathBuf) -> Result<Self, String> {
        let first = fields.find(NETWORK[0]).ok_or("no network columns")?;
        if fields.names()[first..].iter().zip(NETWORK).filter(|(one, name)| one == name).count()
            != NETWORK.len()
        {
            return Err("the network columns do not stand in their order".into());
        }
        let (watcher, uncounted) = {
            let mut accounts = lock(&accounts);
            (accounts.slots().enter(), accounts.uncounted_calls())
        };
        let (members, living) = (Vec::new(), Living::default());
        Ok(Self { accounts, watcher, members, first, procfs, uncounted, before_ns: 0, living })
    }

    /// Watches these processes, ids in ascending order, and no others. `begin` does so as well; exit
    /// records need their processes to be followed before.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn follow(&mut self, members: &[u32]) -> io::Result<()> {
        if self.members != members {
            self.members = members.to_vec();
        }
        lock(&self.accounts).follow(self.watcher, members)
    }

    /// True if calls of watched processes were not counted since the target was attached: threads without
    /// a slot have unknown counters since.
    pub fn is_incomplete(&self) -> bool {
        lock(&self.accounts).uncounted_calls() != self.uncounted
    }

    /// Reads of TCP sockets by threads of the rows that could not be counted: the counters of these
    /// threads are lower bounds.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn uncounted_reads(&self, rows: &Rows) -> io::Result<Vec<Uncounted>> {
        lock(&self.accounts).uncounted_reads(&self.members, rows)
    }

    fn columns(&self) -> Mask {
        crate::fields::low_bits(NETWORK.len()) << self.first
    }

    /// Fills the columns of rows from their slots.
    fn fill(&self, slots: &ThreadSlots, rows: &mut Rows, found: &[Option<u32>], unknown: bool) {
        for (row, index) in found.iter().enumerate() {
            let mut counters = [0_u64; NETWORK.len()];
            match index {
                Some(index) => slots.slots().copy_to(*index, COUNTERS, &mut counters),
                // Such a thread has moved nothing, unless there was no slot for it.
                None if unknown => rows.absent[row] |= self.columns(),
                None => {}
            }
            for (column, value) in counters.into_iter().enumerate() {
                rows.set(row, self.first + column, value);
            }
        }
    }
}

impl Join for Network {
    fn follow(&mut self, members: &[u32]) -> Result<(), ReadError> {
        Ok(Network::follow(self, members)?)
    }

    fn begin(&mut self, members: &[u32]) -> Result<(), ReadError> {
        self.before_ns = clock::monotonic_ns();
        Ok(Network::follow(self, members)?)
    }

    fn join(&mut self, rows: &mut Rows) -> Result<(), ReadError> {
        let shared = self.accounts.clone();
        let mut accounts = lock(&shared);
        accounts.tidy()?;
        self.living.list(accounts.slots(), &self.members, self.before_ns)?;
        let found: Vec<Option<u32>> = rows.tid.iter().map(|&tid| self.living.find(tid)).collect();
        let unknown = accounts.uncounted_calls() != self.uncounted;
        self.fill(accounts.slots(), rows, &found, unknown);
        Ok(())
    }

    fn join_exits(&mut self, exits: &mut Exits) -> Result<(), ReadError> {
        let shared = self.accounts.clone();
        let mut accounts = lock(&shared);
        let unknown = accounts.uncounted_calls() != self.uncounted;
        let slots = accounts.slots();
        slots.reach()?;
        let now_ns = clock::monotonic_ns();
        let records: Vec<Ended> = Ended::of(exits).collect();
        let found = Candidates::find(slots, &records)
            .choose(slots, now_ns, |pid, tid| is_exiting(&self.procfs, pid, tid));
        self.fill(slots, &mut exits.rows, &found, unknown);
        let indices: Vec<u32> = found.into_iter().flatten().collect();
        let done = slots.claim(&indices, self.watcher);
        slots.free(&done, now_ns);
        Ok(())
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        lock(&self.accounts).leave(self.watcher);
    }
}
