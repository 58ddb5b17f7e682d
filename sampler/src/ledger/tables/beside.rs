//! Rows in hash maps beside slots, and what stands in struct detail.

use std::collections::HashMap;

use super::counts::{Counts, Detail, Edge, BUCKETS, DETAIL_WORDS, EDGES_AT, EDGE_WORDS};
use super::Living;
use crate::ledger::slot::STATES;
use crate::slots::ThreadSlots;

/// Words of struct edge_key: index and generation, waker, address.
pub type EdgeKey = [u64; 3];
/// Words of struct taker_key (index and generation, who), and of struct call_key (the same, call).
pub type PairKey = [u64; 2];
/// Words of struct call_count: count, ns, histogram.
pub type CallCount = [u64; 2 + BUCKETS / 2];

/// A row beside slots: the key of its slot, and what it counts.
pub trait Beside {
    /// Index and generation of the slot.
    fn slot(&self) -> u64;
    /// Adds the row to the counts of a thread.
    fn add_to(&self, counts: &mut Counts, tid: u32, process: u32);
}

impl Beside for (EdgeKey, Edge) {
    fn slot(&self) -> u64 {
        self.0[0]
    }

    fn add_to(&self, counts: &mut Counts, tid: u32, process: u32) {
        counts.add_edge(tid, process, &self.1);
    }
}

impl Beside for (PairKey, u64) {
    fn slot(&self) -> u64 {
        self.0[0]
    }

    fn add_to(&self, counts: &mut Counts, tid: u32, _: u32) {
        counts.takers.add([u64::from(tid), self.0[1]], [self.1]);
    }
}

impl Beside for (PairKey, CallCount) {
    fn slot(&self) -> u64 {
        self.0[0]
    }

    fn add_to(&self, counts: &mut Counts, tid: u32, _: u32) {
        counts.add_call(tid, self.0[1] as u32, &self.1);
    }
}

/// Thread and process of a row beside slots, if the row is of a target's thread; the thread id is 0 for one
/// that has ended.
pub fn own(
    slots: &ThreadSlots,
    row: &impl Beside,
    tid_of: &HashMap<u32, u32>,
) -> Option<(u32, u32)> {
    let index = row.slot() as u32;
    let tid = *tid_of.get(&index)?;
    is_current(slots, row.slot()).then(|| (tid, slots.tgid(index)))
}

/// True if the thread that a row beside slots is of has its slot still.
pub fn is_current(slots: &ThreadSlots, slot: u64) -> bool {
    let index = slot as u32;
    // The slot of a thread that has begun just now may not be mapped yet.
    index >= slots.used()
        || slots.generation(index) as u32 == (slot >> 32) as u32 && slots.tgid(index) != 0
}

/// Copies what the program has written of struct detail. `was_in` tells which states the thread has been
/// in; the histograms of others are left out.
pub fn detail_of(slots: &mut ThreadSlots, index: u32, was_in: impl Fn(usize) -> bool) -> Detail {
    let mut detail = [0; DETAIL_WORDS];
    if let Some(details) = slots.beside() {
        for state in (0..STATES).filter(|&state| was_in(state)) {
            let at = state * BUCKETS / 2;
            details.copy_to(index, at * 8, &mut detail[at..at + BUCKETS / 2]);
        }
        details.copy_to(index, EDGES_AT * 8, &mut detail[EDGES_AT..]);
    }
    detail
}

/// Empties an edge of a slot. The program claims what has no count, so that goes last.
pub fn clear_edge(slots: &mut ThreadSlots, index: u32, place: usize) {
    if let Some(details) = slots.beside() {
        let at = (EDGES_AT + place * EDGE_WORDS) * 8;
        for word in [3, 4, 2] {
            details.store(index, at + word * 8, 0_u64);
        }
    }
}

/// Threads that have slots and have not ended.
pub fn living(slots: &ThreadSlots) -> Living {
    let mut living = Living::default();
    for index in 0..slots.used() {
        let (process, tid) = slots.owner(index);
        if process != 0 && !slots.has_ended(index) {
            living.tids.insert(tid);
            living.processes.insert(process);
        }
    }
    living
}
