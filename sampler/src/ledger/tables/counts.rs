//! Counts of threads beside their ledgers, added up. Pure.
//!
//! Thread ID 0 stands for ended threads. The key of a process is its ID with its time of birth in the upper
//! bits, so that a process with a recycled ID is another; members of a target have the ID alone. A waker is
//! the key of its process << 32, plus its thread ID if its process is watched; 0 for an interrupt.

use std::collections::HashSet;

use super::sums::Sums;
use crate::ledger::slot::{PREEMPTED, STATES, WOKEN};

/// Buckets of a histogram: bucket b has stays below 2^(b + 10) ns.
pub const BUCKETS: usize = 24;
/// Words of struct detail.
pub const DETAIL_WORDS: usize = TAKERS_AT + TAKERS * 2;
/// Rows of edges in a slot.
pub const EDGES: usize = 8;
/// Words of struct edge: waker, address, count, blocked_ns, delay_ns.
pub const EDGE_WORDS: usize = 5;
/// First word of the edges in struct detail.
pub const EDGES_AT: usize = STATES * BUCKETS / 2;
const TAKERS: usize = 8;
/// First word of the takers in struct detail.
pub const TAKERS_AT: usize = EDGES_AT + EDGES * EDGE_WORDS;
/// Maximum rows of wake-ups for ended threads; beyond it the rarest are summed by process.
const KEPT_ROWS: usize = 16_384;

/// Bits of the process ID in a key, and number of birth times that the other bits distinguish; 0 is none
/// of them.
pub const PID_BITS: u32 = 22;
const BIRTHS: u64 = 1024;
/// Birth times are 2^24 ns apart.
const BIRTH_BITS: u32 = 24;

/// The id in the key of a process.
pub fn pid_of(key: u32) -> u32 {
    key & ((1 << PID_BITS) - 1)
}

/// True if a process with this key may have begun at `start_ns` of CLOCK_BOOTTIME, known to `within_ns`.
pub fn may_begin_at(key: u32, start_ns: u64, within_ns: u64) -> bool {
    let birth = |ns: u64| ((ns >> BIRTH_BITS) % BIRTHS).max(1);
    let of_key = u64::from(key >> PID_BITS);
    of_key == 0 || of_key == birth(start_ns) || of_key == birth(start_ns + within_ns)
}

/// Words of struct edge.
pub type Edge = [u64; EDGE_WORDS];

/// Words of struct detail.
pub type Detail = [u64; DETAIL_WORDS];

/// Counts of the threads of a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// (tid, state, bucket) to (count).
    pub stays: Sums<3, 1>,
    /// (tid, waker, address, process) to (count, blocked_ns, delay_ns). The process is the waiter's, which
    /// the address belongs to; 0 without an address.
    pub edges: Sums<4, 3>,
    /// (tid, key of a process << 1 | 1 for a kernel thread) to (ns).
    pub takers: Sums<2, 1>,
    /// (tid) to (ns), all the time in run queues.
    pub queued: Sums<1, 1>,
    /// (tid, call) to (count, ns).
    pub calls: Sums<2, 2>,
    /// (tid, call, bucket) to (count).
    pub call_stays: Sums<3, 1>,
}

/// Edges of struct detail that have counted something.
pub fn edges_of(detail: &Detail) -> impl Iterator<Item = (usize, Edge)> + '_ {
    (0..EDGES).filter_map(|place| {
        let at = EDGES_AT + place * EDGE_WORDS;
        let edge: Edge = std::array::from_fn(|word| detail[at + word]);
        (edge[2] != 0).then_some((place, edge))
    })
}

impl Counts {
    /// Adds others.
    pub fn absorb(&mut self, others: &Self) {
        self.stays.absorb(&others.stays);
        self.edges.absorb(&others.edges);
        self.takers.absorb(&others.takers);
        self.queued.absorb(&others.queued);
        self.calls.absorb(&others.calls);
        self.call_stays.absorb(&others.call_stays);
    }

    /// Number of rows that may have the key of others.
    pub fn pending(&self) -> usize {
        self.stays.pending()
            + self.edges.pending()
            + self.takers.pending()
            + self.queued.pending()
            + self.calls.pending()
            + self.call_stays.pending()
    }

    /// Adds up rows of the same keys, and bounds them.
    pub fn sum_up(&mut self) {
        self.stays.rows();
        self.takers.rows();
        self.queued.rows();
        self.calls.rows();
        self.call_stays.rows();
        self.bound();
    }

    /// Adds what stands in a slot's own tables, but for its edges.
    pub fn add_detail(&mut self, tid: u32, detail: &Detail) {
        let tid = u64::from(tid);
        for state in 0..STATES {
            let words = &detail[state * BUCKETS / 2..][..BUCKETS / 2];
            for (place, &word) in words.iter().enumerate().filter(|one| *one.1 != 0) {
                for (half, count) in
                    [word & u64::from(u32::MAX), word >> 32].into_iter().enumerate()
                {
                    if count != 0 {
                        self.stays.add([tid, state as u64, (place * 2 + half) as u64], [count]);
                    }
                }
            }
        }
        for taker in detail[TAKERS_AT..].chunks_exact(2).filter(|taker| taker[1] != 0) {
            self.takers.add([tid, taker[0]], [taker[1]]);
        }
    }

    /// Adds wake-ups of a thread.
    pub fn add_edge(&mut self, tid: u32, process: u32, edge: &Edge) {
        let [waker, address, count, blocked_ns, delay_ns] = *edge;
        let process = if address == 0 { 0 } else { u64::from(process) };
        self.edges.add([u64::from(tid), waker, address, process], [count, blocked_ns, delay_ns]);
    }

    /// Adds a thread's time in run queues.
    pub fn add_queued(&mut self, tid: u32, ns: impl Fn(u8) -> u64) {
        self.queued.add([u64::from(tid)], [ns(PREEMPTED).wrapping_add(ns(WOKEN))]);
    }

    /// Adds calls of one number by a thread: count, ns, and the histogram of the calls.
    pub fn add_call(&mut self, tid: u32, call: u32, counted: &[u64; 2 + BUCKETS / 2]) {
        let (tid, call) = (u64::from(tid), u64::from(call));
        self.calls.add([tid, call], [counted[0], counted[1]]);
        for (place, &word) in counted[2..].iter().enumerate() {
            for (half, count) in [word & u64::from(u32::MAX), word >> 32].into_iter().enumerate() {
                if count != 0 {
                    self.call_stays.add([tid, call, (place * 2 + half) as u64], [count]);
                }
            }
        }
    }

    /// Puts the thread id 0 in place of threads that have ended. `living`: all threads with slots that
    /// have not.
    pub fn forget_dead(&mut self, living: &HashSet<u32>) {
        let is_dead = |id: u64| id as u32 != 0 && !living.contains(&(id as u32));
        let waiter = |id: u64| if is_dead(id) { 0 } else { id };
        let waker = |id: u64| if is_dead(id) { id >> 32 << 32 } else { id };
        self.edges
            .rekey(|[tid, by, address, process]| Some([waiter(tid), waker(by), address, process]));
        self.takers.rekey(|[tid, who]| Some([waiter(tid), who]));
    }

    /// Puts the thread id 0 in place of wakers of other processes, which others count for.
    pub fn forget_others(&mut self, members: &[u32]) {
        self.edges.rekey(|[tid, by, address, process]| {
            let own = members.binary_search(&pid_of((by >> 32) as u32)).is_ok();
            Some([tid, if own { by } else { by >> 32 << 32 }, address, process])
        });
    }

    /// Bounds the rows of each kind that grows with what threads did.
    pub fn bound(&mut self) {
        let rows = self.edges.rows();
        if rows.len() <= KEPT_ROWS {
            return;
        }
        let mut often: Vec<u64> = rows.iter().map(|row| row.1[0]).collect();
        let rare = rows.len() - KEPT_ROWS / 2;
        often.select_nth_unstable(rare);
        let (most, mut bounded) = (often[rare], Sums::default());
        for &([tid, waker, address, process], values) in rows {
            let key = if values[0] <= most {
                [tid, waker >> 32 << 32, 0, 0]
            } else {
                [tid, waker, address, process]
            };
            bounded.add(key, values);
        }
        bounded.rows();
        self.edges = bounded;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_become_rows_of_what_is_not_zero() {
        let mut detail = [0; DETAIL_WORDS];
        detail[5 * BUCKETS / 2 + 2] = 6 | 9 << 32; // state 5, buckets 4 and 5
        detail[EDGES_AT + 2 * EDGE_WORDS..][..5].copy_from_slice(&[100 << 32, 0xC0, 2, 11, 1]);
        detail[TAKERS_AT..][..2].copy_from_slice(&[1, 13]);
        let mut counts = Counts::default();
        counts.add_detail(6, &detail);
        for (place, edge) in edges_of(&detail) {
            assert_eq!(place, 2);
            counts.add_edge(6, 100, &edge);
        }
        assert_eq!(counts.stays.rows(), [([6, 5, 4], [6]), ([6, 5, 5], [9])]);
        assert_eq!(counts.edges.rows(), [([6, 100 << 32, 0xC0, 100], [2, 11, 1])]);
        assert_eq!(counts.takers.rows(), [([6, 1], [13])]);
        let twice = counts.clone();
        counts.absorb(&twice);
        assert_eq!(counts.stays.rows()[0].1, [12]);
    }

    #[test]
    fn threads_that_ended_and_outside_wakers_lose_their_ids() {
        let mut counts = Counts::default();
        for tid in [5, 6] {
            counts.add_edge(tid, 10, &[10 << 32 | 6, 0xA0, 1, 2, 3]);
        }
        counts.add_edge(5, 10, &[20 << 32 | 5, 0, 1, 0, 0]);
        counts.takers.add([6, 9], [4]);
        counts.forget_others(&[10]);
        counts.forget_dead(&HashSet::from([5]));
        let keys: Vec<[u64; 4]> = counts.edges.rows().iter().map(|row| row.0).collect();
        let lock = [10 << 32, 0xA0, 10];
        assert_eq!(
            keys,
            [[0, lock[0], lock[1], lock[2]], [5, lock[0], lock[1], lock[2]], [5, 20 << 32, 0, 0],]
        );
        assert_eq!(counts.takers.rows(), [([0, 9], [4])]);
    }

    #[test]
    fn what_ended_threads_leave_is_bounded() {
        let mut counts = Counts::default();
        for address in 1..=20_000 {
            counts.add_edge(0, 10, &[10 << 32 | 7, address, address, 1, 0]);
        }
        counts.bound();
        let rows = counts.edges.rows();
        assert_eq!(rows.len(), KEPT_ROWS / 2);
        assert_eq!(rows[0].0, [0, 10 << 32, 0, 0]);
        assert_eq!(rows.iter().map(|row| row.1[0]).sum::<u64>(), 20_000 * 20_001 / 2);
        assert_eq!(rows.iter().map(|row| row.1[1]).sum::<u64>(), 20_000);
    }
}
