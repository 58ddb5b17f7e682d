//! Sums over the threads that ended since attach.

use super::{Instant, RoleSums};
use crate::columns::Totals;
use crate::encode::header::ExitedTotals;
use crate::ids::IdMap;

/// Takes what the ended threads of each process of a target add up to.
pub trait ProcessNotes: Send {
    /// Threads of a process ended with these totals, added up.
    fn ended(&mut self, process: u32, totals: &Totals, threads: u64);
    /// A thread that ended had other totals than it was counted with.
    fn corrected(&mut self, process: u32, before: &Totals, after: &Totals);
    /// A thread that was counted as ended lives on under another id.
    fn moved(&mut self, process: u32, values: &Totals);
}

/// Takes no notes.
pub struct NoNotes;

impl ProcessNotes for NoNotes {
    fn ended(&mut self, _: u32, _: &Totals, _: u64) {}
    fn corrected(&mut self, _: u32, _: &Totals, _: &Totals) {}
    fn moved(&mut self, _: u32, _: &Totals) {}
}

/// A thread that was gone without an exit record.
struct Vanished {
    name: String,
    /// Totals of its last sample; they were added to the sums.
    totals: Totals,
    start_ns: i64,
    /// CLOCK_MONOTONIC after that sample.
    seen_ns: i64,
    process: u32,
}

impl Vanished {
    /// True if a record may be its own, and not of a later thread with its id.
    ///
    /// A record's start is late by the time from the thread's end to the drain, and the thread lived when
    /// it was seen. Where both may be, the id was hardly given away so soon.
    fn may_be(&self, start_ns: i64, end_ns: Option<i64>) -> bool {
        end_ns.is_none_or(|end_ns| start_ns <= self.start_ns + end_ns - self.seen_ns)
    }
}

/// Sums over ended threads.
///
/// Threads that vanished are remembered for one more sample, since only then it may turn out that their
/// exit record was on its way, or that they live on under another id.
pub struct Ended {
    /// Sums over all of them.
    pub sums: ExitedTotals,
    /// Sums by role.
    pub roles: RoleSums,
    notes: Box<dyn ProcessNotes>,
    recent: IdMap<Vanished>,
    before: IdMap<Vanished>,
}

impl Ended {
    /// Makes sums over no thread, of `summed` columns.
    pub fn new(summed: usize, roles: RoleSums, notes: Box<dyn ProcessNotes>) -> Self {
        Self {
            sums: ExitedTotals { totals: Totals::new(summed), ..ExitedTotals::default() },
            roles,
            notes,
            recent: IdMap::default(),
            before: IdMap::default(),
        }
    }

    /// Begins another sample: forgets threads that vanished two samples ago.
    pub(super) fn turn(&mut self) {
        self.before = std::mem::take(&mut self.recent);
    }

    /// Counts a thread that ended, whose totals the kernel reported; `process` is 0 if unknown.
    pub(super) fn record(&mut self, name: &str, totals: &Totals, process: u32) {
        self.sums.threads += 1;
        self.sums.totals.add(totals);
        self.roles.ended(name, totals);
        self.notes.ended(process, totals, 1);
    }

    /// Counts a thread that is gone without an exit record, by its last sample.
    pub(super) fn vanish(
        &mut self,
        tid: u32,
        name: &str,
        totals: &Totals,
        start_ns: i64,
        seen_ns: i64,
        process: u32,
    ) {
        self.record(name, totals, process);
        self.sums.inexact += 1;
        let vanished =
            Vanished { name: name.to_owned(), totals: totals.clone(), start_ns, seen_ns, process };
        self.recent.insert(tid, vanished);
    }

    /// Corrects a lately vanished thread by its exit record; false if the record is of no such thread.
    ///
    /// `start_ns` is the start of the record's thread, CLOCK_MONOTONIC, or somewhat later; `end_ns` about
    /// the time of the drain, None if it is the last one.
    pub(super) fn correct(
        &mut self,
        tid: u32,
        start_ns: i64,
        totals: &Totals,
        end_ns: Option<i64>,
        instant: &Instant,
    ) -> bool {
        let found = [&mut self.recent, &mut self.before].into_iter().find_map(|vanished| {
            vanished.get(&tid)?.may_be(start_ns, end_ns).then(|| vanished.remove(&tid))?
        });
        let Some(known) = found else { return false };
        self.sums.inexact -= 1;
        let corrected = instant.latest(&known.totals, totals);
        self.replace(&known.name, known.process, &known.totals, &corrected);
        true
    }

    /// Adds what a thread that ended had more than its totals said.
    pub fn add_late(&mut self, name: &str, process: u32, totals: &Totals) {
        let nothing = Totals::new(totals.values.len());
        self.replace(name, process, &nothing, totals);
    }

    fn replace(&mut self, name: &str, process: u32, before: &Totals, after: &Totals) {
        self.sums.totals.subtract(before);
        self.sums.totals.add(after);
        self.roles.corrected(name, before, after);
        self.notes.corrected(process, before, after);
    }

    /// Finds the thread that vanished and lives on under a main thread's id; it is found once, and its
    /// totals, which stay in the sums, are exact.
    ///
    /// `totals` are the counters under that id, which have grown since. Returns what the thread was counted
    /// with, and CLOCK_MONOTONIC when it was seen last.
    pub(super) fn find_moved(
        &mut self,
        process: u32,
        main: u32,
        totals: &Totals,
        instant: &Instant,
    ) -> Option<(Totals, i64)> {
        let fits = |tid: u32, known: &Vanished| {
            known.process == process
                && tid != main
                && (0..known.totals.values.len()).all(|column| {
                    instant.states() >> column & 1 != 0
                        || known.totals.values[column] <= totals.get(column).unwrap_or(0)
                })
        };
        let sum =
            |known: &Vanished| known.totals.values.iter().map(|&one| u128::from(one)).sum::<u128>();
        let (tid, before) = [(&self.recent, true), (&self.before, false)]
            .into_iter()
            .flat_map(|(vanished, recent)| vanished.iter().map(move |one| (one, recent)))
            .filter(|((&tid, known), _)| fits(tid, known))
            // Between equal candidates, prefer the thread that vanished earlier: it is forgotten first.
            .map(|((&tid, known), recent)| (sum(known), !recent, tid))
            .max()
            .map(|(_, before, tid)| (tid, before))?;
        let from = if before { &mut self.before } else { &mut self.recent };
        let found = from.remove(&tid)?;
        self.sums.inexact -= 1;
        Some((found.totals, found.seen_ns))
    }

    /// Takes back what was counted under two ids; the role of the second one, `name`, lacks it from now on.
    pub(super) fn counted_twice(&mut self, name: &str, totals: &Totals, process: u32) {
        self.sums.totals.subtract(totals);
        self.roles.brought(name, totals);
        self.notes.moved(process, totals);
    }
}
