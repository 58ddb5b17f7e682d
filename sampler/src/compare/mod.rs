//! Comparison: what changed between two readings of a target: births, names, exits, counters.
//!
//! The one question that the comparison asks is what a thread id stands for now, and only where the
//! reading leaves it open.

mod births;
mod counters;
mod ended;
mod ends;
mod inherited;
mod instant;
mod role_name;
mod roles;
#[cfg(test)]
mod stories_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod totals_tests;
#[cfg(test)]
mod values_tests;

use counters::{DIFFERS, FRESH, REBORN};
pub use ended::{Ended, NoNotes, ProcessNotes};
use ends::Heir;
use inherited::InheritedCounters;
pub use instant::Instant;
pub use role_name::RoleNames;
pub use roles::RoleSums;

use crate::columns::{text, Comm, Exits, Rows, Totals};
use crate::encode::events::Event;
use crate::encode::header::RoleTotals;
use crate::fields::{Fields, CPU};
use crate::ids::{IdMap, IdSet};
use crate::procfs::Presence;

/// The start of a record's thread comes from an age: it is that of a row within so much, nanoseconds.
const SAME_START_NS: u64 = 10_000_000;

/// Tells what a thread id of a process stands for now: thread, process.
pub type Check<'a> = &'a mut dyn FnMut(u32, u32) -> Presence;

/// Identity of a live thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thread {
    /// Since attach, nanoseconds.
    pub start_ns: i64,
    /// Name under which the thread is reported.
    pub name: String,
    /// Name in the kernel, if the thread is reported under another one.
    pub kernel_name: Option<String>,
    /// True if the name comes from the thread's spans; such a name precedes any other that the program gives.
    pub named_by_span: bool,
    /// Id of its process.
    pub process: u32,
}

impl Thread {
    /// Name in the kernel.
    pub fn comm(&self) -> &str {
        self.kernel_name.as_deref().unwrap_or(&self.name)
    }
}

/// Changes that one sample found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Changes {
    /// Events, in order.
    pub events: Vec<Event>,
    /// Rows of `Tracker::rows` that changed, ascending.
    pub changed: Vec<usize>,
}

/// The threads of one target.
pub struct Tracker {
    fields: Fields,
    instant: Instant,
    attach_ns: i64,
    has_other_exits: bool,
    cpu: Option<usize>,
    threads: IdMap<Thread>,
    ended: Ended,
    /// Ids whose exit record came and that may still be listed, or be listed only now.
    lingering: IdSet,
    /// Lingering IDs that the last listing lacked and whose record came before that listing.
    absent: IdSet,
    /// Ids whose exit record came for the sample that is being taken in.
    recorded: IdSet,
    heirs: Vec<Heir>,
    inherited: InheritedCounters,
    /// The last row of each live thread, whichever sample it is from.
    last: Rows,
    places: Option<IdMap<u32>>,
    /// True if exit records of the next sample were taken in.
    open: bool,
    flags: Vec<u8>,
}

impl Tracker {
    /// Makes a tracker of no thread.
    ///
    /// `attach_ns` is CLOCK_MONOTONIC of the attachment, the zero of all times given out.
    /// `has_other_exits` tells that exit records may be of other processes' threads (taskstats before
    /// version 12 does not say whose they are): then only those of known threads are believed.
    pub fn new(fields: Fields, attach_ns: i64, has_other_exits: bool, ended: Ended) -> Self {
        Self {
            instant: Instant::new(&fields, attach_ns),
            cpu: fields.find(CPU),
            last: Rows::new(fields.len()),
            fields,
            attach_ns,
            has_other_exits,
            threads: IdMap::default(),
            ended,
            lingering: IdSet::default(),
            absent: IdSet::default(),
            recorded: IdSet::default(),
            heirs: Vec::new(),
            inherited: InheritedCounters::default(),
            places: None,
            open: false,
            flags: Vec::new(),
        }
    }

    /// Columns of the readings.
    pub fn fields(&self) -> &Fields {
        &self.fields
    }

    /// Live threads, by id.
    pub fn threads(&self) -> &IdMap<Thread> {
        &self.threads
    }

    /// The last row of each live thread. Rows of threads that ended since are among them.
    pub fn rows(&self) -> &Rows {
        &self.last
    }

    /// The threads that ended.
    pub fn ended(&self) -> &Ended {
        &self.ended
    }

    /// The threads that ended, to note what comes late.
    pub fn ended_mut(&mut self) -> &mut Ended {
        &mut self.ended
    }

    /// Takes exit records in before the sample that they belong to, and returns the exits in order.
    ///
    /// `end_ns` is CLOCK_MONOTONIC after the reading of that sample; None: sampling is over.
    pub fn take_exits(&mut self, exits: &Exits, end_ns: Option<i64>) -> Vec<Event> {
        let events = self.end(exits, end_ns);
        self.heirs.iter_mut().for_each(|heir| heir.event = None);
        events
    }

    /// Takes a sample in.
    ///
    /// `rows` are the live threads; afterwards they are a buffer to be used again. `end_ns` is
    /// CLOCK_MONOTONIC after they were read, `exits` records that `take_exits` has not got yet, `listed`
    /// the ids that were listed before the reading (None: those of the rows).
    pub fn update(
        &mut self,
        rows: &mut Rows,
        end_ns: i64,
        exits: &Exits,
        listed: Option<&[u32]>,
        check: Check<'_>,
    ) -> Changes {
        let mut events = self.end(exits, Some(end_ns));
        let mut flags = std::mem::take(&mut self.flags);
        self.inherited.take_off(rows, &self.instant, None);
        if !(self.lingering.is_empty() && self.recorded.is_empty()) {
            self.leave_out_ended(rows, listed, check);
        }
        let then = (rows.tid != self.last.tid).then(|| self.rows_before(rows));
        self.compare(rows, then.as_deref(), &mut flags);
        let standing = match &then {
            None => Vec::new(),
            Some(then) => self.judge_unread(then, listed.unwrap_or(&[]), check, &mut events),
        };
        self.begin(rows, then.as_deref(), &mut flags, end_ns, &mut events);
        self.close(&mut events);
        self.rename_by_kernel(rows, then.as_deref(), &mut events);
        let changed = flags
            .iter()
            .enumerate()
            .filter(|(_, &flags)| flags & (DIFFERS | REBORN | FRESH) != 0)
            .map(|(row, _)| row)
            .collect();
        for row in standing {
            rows.push_row(&self.last, row);
        }
        std::mem::swap(rows, &mut self.last);
        self.places = None;
        self.flags = flags;
        Changes { events, changed }
    }

    /// Reports threads under names that their program has for them; ids of no live thread are left out.
    ///
    /// Such a name stands until the kernel's own name of the thread changes, and one of its spans
    /// stands against those that its program gives otherwise.
    pub fn rename(&mut self, names: &[(u32, String)], by_span: bool) -> Vec<Event> {
        let mut events = Vec::new();
        for (tid, name) in names {
            let Some(known) = self.threads.get_mut(tid) else { continue };
            if known.named_by_span && !by_span {
                continue;
            }
            known.named_by_span = by_span;
            if known.name == *name {
                continue;
            }
            let totals = self.last_totals(*tid);
            let Some(thread) = self.threads.get_mut(tid) else { continue };
            let previous = std::mem::replace(&mut thread.name, name.clone());
            self.ended.roles.renamed(&previous, name, &totals);
            let comm = thread.kernel_name.take().unwrap_or_else(|| previous.clone());
            thread.kernel_name = (comm != *name).then_some(comm);
            events.push(Event::Renamed {
                tid: *tid,
                process: thread.process,
                name: name.clone(),
                previous,
            });
        }
        events
    }

    /// Raises the column `cpu` of exit records to what the last sample has seen: a thread that has sent its
    /// record runs on, and may have been seen with more than it said.
    pub fn raise_to_seen(&mut self, exits: &mut Exits, cpu: usize) {
        for row in 0..exits.rows.len() {
            let Some(&last) = self.places().get(&exits.rows.tid[row]) else { continue };
            let last = last as usize;
            let apart_ns = exits.rows.start_ns[row].abs_diff(self.last.start_ns[last]);
            if apart_ns < SAME_START_NS {
                let value = exits.rows.get(row, cpu).max(self.last.get(last, cpu));
                exits.rows.set(row, cpu, value);
            }
        }
    }

    /// Sums over the threads of each role, the living and the ended, up to `now_ns`, CLOCK_MONOTONIC.
    pub fn roles(&mut self, now_ns: i64) -> Vec<RoleTotals> {
        let (last, threads) = (&self.last, &self.threads);
        let name_of = |tid: &u32| threads.get(tid).map(|thread| thread.name.as_str());
        self.ended.roles.summary(last.tid.iter().map(name_of), |places, sums| {
            self.instant.add_up(last, places, now_ns, sums);
        })
    }

    /// Sum of some columns over all threads since each one's start, the ended ones included.
    pub fn total(&self, columns: &[usize]) -> u64 {
        let mut sum: u64 = 0;
        for row in 0..self.last.len() {
            if self.threads.contains_key(&self.last.tid[row]) {
                for &column in columns {
                    sum = sum.wrapping_add(self.last.get(row, column));
                }
            }
        }
        let ended = &self.ended.sums.totals;
        columns.iter().fold(sum, |sum, &column| sum.wrapping_add(ended.get(column).unwrap_or(0)))
    }

    /// Rows of live threads with their totals up to `now_ns`, CLOCK_MONOTONIC: process, totals.
    pub fn live_totals(&self, now_ns: i64) -> impl Iterator<Item = (u32, Totals)> + '_ {
        (0..self.last.len())
            .filter(|&row| self.threads.contains_key(&self.last.tid[row]))
            .map(move |row| (self.last.process[row], self.instant.totals(&self.last, row, now_ns)))
    }

    /// Ends the sampling, and returns the last events.
    ///
    /// `exits` are records that came since the last sample; `exited` tells that the target has ended:
    /// then every thread that is left has, too.
    pub fn finish(&mut self, exits: &Exits, exited: bool) -> Vec<Event> {
        let mut events = self.end(exits, None);
        if exited {
            let mut left: Vec<u32> = self.threads.keys().copied().collect();
            left.sort_unstable();
            for tid in left {
                self.vanish(tid, &mut events);
            }
        }
        self.close(&mut events);
        events
    }

    fn places(&mut self) -> &IdMap<u32> {
        let last = &self.last;
        self.places.get_or_insert_with(|| {
            last.tid.iter().enumerate().map(|(row, &tid)| (tid, row as u32)).collect()
        })
    }

    /// Last known counters of a thread.
    fn last_totals(&mut self, tid: u32) -> Totals {
        let Some(&row) = self.places().get(&tid) else { return Totals::new(self.fields.summed) };
        let row = row as usize;
        self.instant.totals(&self.last, row, self.last.seen_ns[row])
    }

    fn rename_by_kernel(&mut self, rows: &Rows, then: Option<&[u32]>, events: &mut Vec<Event>) {
        if then.is_none() && rows.comm == self.last.comm {
            return;
        }
        for row in 0..rows.len() {
            let place = then.map_or(row, |then| then[row] as usize);
            let before: Option<&Comm> = self.last.comm.get(place);
            if before.is_none_or(|before| *before == rows.comm[row]) {
                continue;
            }
            let (tid, name) = (rows.tid[row], text(&rows.comm[row]));
            let totals = self.instant.totals(&self.last, place, self.last.seen_ns[place]);
            let Some(thread) = self.threads.get_mut(&tid) else { continue };
            thread.kernel_name = None;
            thread.named_by_span = false;
            if thread.name == name {
                continue;
            }
            let previous = std::mem::replace(&mut thread.name, name.clone());
            self.ended.roles.renamed(&previous, &name, &totals);
            let process = thread.process;
            events.push(Event::Renamed { tid, process, name, previous });
        }
    }
}
