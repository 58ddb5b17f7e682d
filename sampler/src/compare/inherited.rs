//! Counters of threads that continue under another ID because they executed a program.
//!
//! A thread other than the first one that executes a program (execve(2)) ends the others and takes the
//! first one's id. What the thread counted under its own id has been reported there.

use std::collections::VecDeque;

use super::Instant;
use crate::columns::{Rows, Totals};
use crate::ids::IdMap;

/// Maximum threads; beyond it the oldest are forgotten, and report the kernel's counters.
const MAX_THREADS: usize = 4096;

/// Counters of a thread when it was last seen under its own ID.
#[derive(Clone, Debug)]
pub(super) struct Inherited {
    pub values: Totals,
    /// CLOCK_MONOTONIC.
    pub seen_ns: i64,
}

impl Inherited {
    /// Totals without what was inherited.
    pub fn taken_off(&self, totals: &Totals) -> Totals {
        let mut made = totals.clone();
        for (value, less) in made.values.iter_mut().zip(&self.values.values) {
            *value = value.saturating_sub(*less);
        }
        made
    }
}

/// The threads of one target that go on under another id, by that id.
#[derive(Default)]
pub(super) struct InheritedCounters {
    known: IdMap<Inherited>,
    order: VecDeque<u32>,
}

impl InheritedCounters {
    /// Notes that a thread goes on under this id.
    pub fn note(&mut self, tid: u32, inherited: Inherited) {
        self.known.insert(tid, inherited);
        self.order.push_back(tid);
        while self.order.len() > MAX_THREADS {
            if let Some(first) = self.order.pop_front() {
                self.known.remove(&first);
            }
        }
    }

    /// Forgets an ID that belongs to another thread.
    pub fn forget(&mut self, tid: u32) {
        if self.known.remove(&tid).is_some() {
            self.order.retain(|&known| known != tid);
        }
    }

    /// Counters that the thread inherited, or None.
    pub fn get(&self, tid: u32) -> Option<&Inherited> {
        self.known.get(&tid)
    }

    /// Takes off what was inherited from rows as the kernel counts; `only` limits it to some threads.
    pub fn take_off(&self, rows: &mut Rows, instant: &Instant, only: Option<&[u32]>) {
        if self.known.is_empty() {
            return;
        }
        for row in 0..rows.len() {
            let tid = rows.tid[row];
            if only.is_some_and(|only| !only.contains(&tid)) {
                continue;
            }
            if let Some(inherited) = self.known.get(&tid) {
                instant.take_off(rows, row, &inherited.values, inherited.seen_ns);
            }
        }
    }
}
