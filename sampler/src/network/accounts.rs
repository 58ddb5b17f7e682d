//! The loaded program that counts network bytes: whom it counts for.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::columns::Rows;
use crate::os::{bpf, clock};
use crate::slots::{Layout, Maps, ThreadSlots, Watcher};

/// Offsets and lengths of netacct.bpf.c.
pub const LAYOUT: Layout = Layout { stride: 64, count: 65_536, generation: 56, changes: 24 };
/// Offset of the four counters in a slot, in the order of `fields::NETWORK`.
pub const COUNTERS: usize = 24;
/// Offset of the count of calls that were not counted in struct control.
pub const UNCOUNTED_CALLS: usize = 8;
/// Starts of one thread differ by less, whatever they are derived from.
const START_SLACK_NS: u64 = 100_000_000;

/// A thread that read TCP sockets by splice() or sendfile(), which was not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// Thread id.
    pub tid: u32,
    /// Process id.
    pub process: u32,
    /// Parts that such reads had, since its process was first watched.
    pub count: u64,
    /// Life of the thread up to now, nanoseconds, at least 1.
    pub life_ns: u64,
}

/// Counts for the processes of all networks.
pub struct Accounts {
    slots: ThreadSlots,
    /// Hash map `uncounted`; None where splice() is counted.
    uncounted: Option<OwnedFd>,
}

impl Accounts {
    /// Maps the slots of a loaded program, which has to be attached while `is_watched`. `uncounted` is the
    /// map of that name where reads by splice() cannot be counted.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(maps: Maps, uncounted: Option<OwnedFd>) -> io::Result<Self> {
        Ok(Self::with(ThreadSlots::new(maps, LAYOUT)?, uncounted))
    }

    /// Makes accounts of slots that are mapped already; otherwise like `new`.
    pub fn with(slots: ThreadSlots, uncounted: Option<OwnedFd>) -> Self {
        Self { slots, uncounted }
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

    /// Calls of watched processes that were not counted, because all slots were in use.
    pub fn uncounted_calls(&self) -> u64 {
        self.slots.control(UNCOUNTED_CALLS)
    }

    /// Counts for these processes, ids in ascending order, and no more for others of the watcher.
    ///
    /// # Errors
    /// The error of bpf(2); a later call goes on where this one ended.
    pub fn follow(&mut self, watcher: Watcher, members: &[u32]) -> io::Result<()> {
        self.slots.reach()?;
        let followed = self.slots.follow(watcher, members)?;
        self.slots.free(&followed.gone, clock::monotonic_ns());
        Ok(())
    }

    /// Counts no more for a watcher. Idempotent.
    pub fn leave(&mut self, watcher: Watcher) {
        // Slots that cannot be mapped are tidied away once their threads end.
        let _ = self.slots.reach();
        let gone = self.slots.leave(watcher);
        self.slots.free(&gone, clock::monotonic_ns());
    }

    /// Gives slots back that are not used any more.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn tidy(&mut self) -> io::Result<()> {
        self.slots.reach()?;
        let now_ns = clock::monotonic_ns();
        let late = self.slots.tidy(usize::MAX, now_ns);
        self.slots.free(&late, now_ns);
        Ok(())
    }

    /// Reads of TCP sockets that could not be counted, by living threads of these rows.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn uncounted_reads(&self, members: &[u32], rows: &Rows) -> io::Result<Vec<Uncounted>> {
        let Some(map) = &self.uncounted else {
            return Ok(Vec::new());
        };
        let threads: Vec<([u64; 2], u64)> = bpf::entries(map.as_fd())?;
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_unstable_by_key(|&row| rows.tid[row]);
        let now_ns = clock::monotonic_ns();
        let mut found = Vec::new();
        for ([owner, start_ns], count) in threads {
            let (process, tid, start_ns) = (owner as u32, (owner >> 32) as u32, start_ns as i64);
            if members.binary_search(&process).is_err() {
                continue;
            }
            let at = order.partition_point(|&row| rows.tid[row] < tid);
            let is_thread = order.get(at).is_some_and(|&row| {
                rows.tid[row] == tid && rows.start_ns[row].abs_diff(start_ns) <= START_SLACK_NS
            });
            if is_thread {
                let life_ns = now_ns.saturating_sub(start_ns).max(1).unsigned_abs();
                found.push(Uncounted { tid, process, count, life_ns });
            }
        }
        found.sort_unstable_by_key(|one| one.tid);
        Ok(found)
    }
}
