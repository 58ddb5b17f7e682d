//! Comparison: what changed between two readings of a target: births, names, exits, counters.
//!
//! The one question that the comparison asks is what a thread id stands for now, and only where the
//! reading leaves it open.

mod ended;
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

pub use ended::{Ended, NoNotes, ProcessNotes};
use inherited::{Inherited, InheritedCounters};
pub use instant::Instant;
pub use role_name::RoleNames;
pub use roles::RoleSums;

use crate::columns::{text, Comm, Exits, Mask, Rows, Totals};
use crate::encode::events::{Event, Exited};
use crate::encode::header::RoleTotals;
use crate::fields::{low_bits, Fields, CPU};
use crate::ids::{IdMap, IdSet};
use crate::procfs::Presence;

/// How far the CPU time of an exit record may be below that of a row, nanoseconds: the two sources round
/// differently.
const ROUNDING_NS: u64 = 1_000_000;

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

/// An ended thread that no sample saw, and that had a main thread's id.
struct Heir {
    name: String,
    totals: Totals,
    process: u32,
    /// Place of its end among the events of the sample; None: the event was given out before.
    event: Option<usize>,
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

/// Bits of `Tracker::flags`: the row differs from the last one; it has to be looked at by itself.
const DIFFERS: u8 = 1;
const SPECIAL: u8 = 2;
const REBORN: u8 = 4;
const FRESH: u8 = 8;

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

    fn end(&mut self, exits: &Exits, end_ns: Option<i64>) -> Vec<Event> {
        if !self.open {
            self.open = true;
            self.ended.turn();
        }
        let mut events = Vec::new();
        for row in 0..exits.rows.len() {
            if let Some(event) = self.take_exit(exits, row, end_ns, events.len()) {
                events.push(event);
            }
        }
        events
    }

    /// Takes an exit record in; its event will be the one at `place`.
    fn take_exit(
        &mut self,
        exits: &Exits,
        row: usize,
        end_ns: Option<i64>,
        place: usize,
    ) -> Option<Event> {
        let rows = &exits.rows;
        let (tid, start_ns) = (rows.tid[row], rows.start_ns[row]);
        let mut inherited = self.inherited.get(tid).cloned();
        let recorded = self.instant.recorded(rows, row);
        let mut totals =
            inherited.as_ref().map_or_else(|| recorded.clone(), |one| one.taken_off(&recorded));
        let mut name = text(&rows.comm[row]);
        let before = self.threads.contains_key(&tid).then(|| self.last_totals(tid));
        let thread = self.threads.remove(&tid);
        let process = match rows.process[row] {
            0 => thread.as_ref().map_or(0, |thread| thread.process),
            process => process,
        };
        let mut late = false;
        if let (Some(thread), Some(before)) = (&thread, &before) {
            if thread.kernel_name.as_deref() == Some(name.as_str()) {
                name.clone_from(&thread.name);
            }
            if !self.is_of_another(before, &totals) {
                totals = self.instant.latest(before, &totals);
            }
            self.ended.roles.renamed(&thread.name, &name, before);
        } else {
            // Readers know of its end already.
            late = self.ended.correct(tid, start_ns, &totals, end_ns, &self.instant);
            if !late {
                if self.has_other_exits {
                    return None;
                }
                // The thread that inherited has vanished: this one began under its id.
                (totals, inherited) = (recorded, None);
            }
        }
        self.recorded.insert(tid);
        self.inherited.forget(tid);
        if late {
            return None;
        }
        self.ended.record(&name, &totals, process);
        let begin_ns = thread.as_ref().map_or(start_ns - self.attach_ns, |thread| thread.start_ns);
        if thread.is_none() && tid == process {
            self.heirs.push(Heir {
                name: name.clone(),
                totals: totals.clone(),
                process,
                event: Some(place),
            });
        }
        let age_ns =
            i64::try_from(exits.age_us[row]).unwrap_or(i64::MAX / 1000).saturating_mul(1000);
        let summed = low_bits(self.fields.summed);
        Some(Event::Exited(Box::new(Exited {
            tid,
            process,
            start_ns: begin_ns,
            name,
            totals: totals.without(rows.invalid[row] & rows.absent[row]),
            inexact: rows.invalid[row] & summed,
            exact: true,
            seen_alive: thread.is_some(),
            lifetime_ns: Some(
                inherited.map_or(age_ns, |one| (age_ns - (one.seen_ns - start_ns)).max(0)),
            ),
        })))
    }

    /// Leaves out threads that have exited but still answer, such as a main thread that left.
    ///
    /// An id whose record came earlier may have come back to life: another thread got it, or a thread
    /// executed a program and took the id of the main thread. Then it is alive.
    fn leave_out_ended(&mut self, rows: &mut Rows, listed: Option<&[u32]>, check: Check<'_>) {
        let mut doubtful: IdSet = self.lingering.union(&self.recorded).copied().collect();
        let listed: IdSet = listed
            .unwrap_or(&rows.tid)
            .iter()
            .copied()
            .filter(|tid| doubtful.contains(tid))
            .collect();
        let mut out = IdSet::default();
        for row in 0..rows.len() {
            let tid = rows.tid[row];
            if !doubtful.contains(&tid) {
                continue;
            }
            if self.recorded.contains(&tid) || check(tid, rows.process[row]) != Presence::Alive {
                out.insert(tid);
            } else {
                doubtful.remove(&tid);
            }
        }
        // Most leave the list for good, soon after their record was sent. A thread that began after this
        // listing and has sent its record may still be in the next one: the kernel sends the record early
        // in do_exit (kernel/exit.c), before the thread waits for the lock of its memory in exit_mm. As
        // listings may skip threads, two of them have to agree that it left.
        let absent: IdSet = doubtful
            .iter()
            .copied()
            .filter(|tid| !listed.contains(tid) && !self.recorded.contains(tid))
            .collect();
        doubtful.retain(|tid| !(absent.contains(tid) && self.absent.contains(tid)));
        self.lingering = doubtful;
        self.absent = absent;
        if !out.is_empty() {
            let keep: Vec<bool> = rows.tid.iter().map(|tid| !out.contains(tid)).collect();
            rows.retain(|row| keep[row]);
        }
    }

    /// Row of the last reading of each thread; `u32::MAX` for one that it had not.
    ///
    /// Readings have threads in about the same order. Of those that the last one had, only such that ended
    /// since are known no more, and they are left out of this one.
    fn rows_before(&mut self, rows: &Rows) -> Vec<u32> {
        let mut next = 0;
        let mut found = Vec::with_capacity(rows.len());
        for &tid in &rows.tid {
            let last = &self.last.tid;
            while last.get(next).is_some_and(|one| *one != tid && !self.threads.contains_key(one)) {
                next += 1;
            }
            let place = if self.last.tid.get(next) == Some(&tid) {
                next as u32
            } else if self.threads.contains_key(&tid) {
                self.places().get(&tid).copied().unwrap_or(u32::MAX)
            } else {
                u32::MAX
            };
            if place != u32::MAX {
                next = place as usize + 1;
            }
            found.push(place);
        }
        found
    }

    fn places(&mut self) -> &IdMap<u32> {
        let last = &self.last;
        self.places.get_or_insert_with(|| {
            last.tid.iter().enumerate().map(|(row, &tid)| (tid, row as u32)).collect()
        })
    }

    /// Compares threads with their last rows, and restores what fell: a value once given is not taken
    /// back, whatever a source says. The last one stands until there is a greater one; otherwise sums
    /// would fall. But a value that turns out to be invalid: rows lack it, and sums go on with the last.
    fn compare(&self, rows: &mut Rows, then: Option<&[u32]>, flags: &mut Vec<u8>) {
        let last = &self.last;
        flags.clear();
        flags.resize(rows.len(), 0);
        for column in 0..self.fields.len() {
            let special = if self.fields.rising >> column & 1 != 0 { SPECIAL } else { 0 };
            let (now, before) = (rows.column(column), last.column(column));
            match then {
                None => {
                    for ((flags, now), before) in flags.iter_mut().zip(now).zip(before) {
                        *flags |= u8::from(now != before) | (special * u8::from(now < before));
                    }
                }
                Some(then) => {
                    for ((flags, now), &then) in flags.iter_mut().zip(now).zip(then) {
                        let before = before.get(then as usize).unwrap_or(now);
                        *flags |= u8::from(now != before) | (special * u8::from(now < before));
                    }
                }
            }
        }
        for row in 0..rows.len() {
            let place = then.map_or(row, |then| then[row] as usize);
            if place >= last.len() {
                flags[row] = FRESH;
                continue;
            }
            // Starts are lower bounds: this thread began after the other one was seen.
            let reborn = rows.start_ns[row] > last.seen_ns[place];
            flags[row] |= if reborn { REBORN } else { 0 };
            if flags[row] & SPECIAL != 0
                || rows.absent[row] | rows.invalid[row] | last.absent[place] != 0
            {
                self.compare_row(rows, row, place, &mut flags[row]);
            }
        }
    }

    fn compare_row(&self, rows: &mut Rows, row: usize, place: usize, flags: &mut u8) {
        let last = &self.last;
        let (absent, was_absent) = (rows.absent[row], last.absent[place]);
        let (mut fell, mut differs): (Mask, Mask) = (0, 0);
        for column in 0..self.fields.len() {
            let (now, before) = (rows.get(row, column), last.get(place, column));
            fell |= Mask::from(now < before) << column;
            differs |= Mask::from(now != before) << column;
        }
        if let Some(cpu) = self.cpu {
            // The scheduler's own counter falls only where an id stands for another thread.
            if (fell & !absent & !was_absent) >> cpu & 1 != 0 {
                *flags |= REBORN;
            }
        }
        if *flags & REBORN != 0 {
            return;
        }
        let stands = !was_absent & (absent | fell) & self.fields.rising;
        let lacking = absent & rows.invalid[row];
        for column in crate::fields::columns_of((stands | lacking) & low_bits(self.fields.len())) {
            rows.set(row, column, last.get(place, column));
            differs &= !(1 << column);
        }
        let absent = absent & !(stands & !lacking);
        rows.absent[row] = absent;
        *flags &= !DIFFERS;
        if differs & !absent != 0 || absent != was_absent {
            *flags |= DIFFERS;
        }
    }

    /// Judges threads that are known and were not read.
    ///
    /// One that was listed may have ended since, or its answer was lost. One that was not listed may live
    /// all the same: while threads end, a listing of many may skip some (the kernel goes on by count where
    /// the thread at which a piece ended is gone; proc_task_readdir). Returns the rows of the last reading
    /// that stand on.
    fn judge_unread(
        &mut self,
        then: &[u32],
        listed: &[u32],
        check: Check<'_>,
        events: &mut Vec<Event>,
    ) -> Vec<usize> {
        let mut read = vec![false; self.last.len()];
        then.iter().for_each(|&place| {
            if let Some(read) = read.get_mut(place as usize) {
                *read = true;
            }
        });
        let mut unread: Vec<(u32, usize)> = (0..read.len())
            .filter(|&row| !read[row] && self.threads.contains_key(&self.last.tid[row]))
            .map(|row| (self.last.tid[row], row))
            .collect();
        if unread.is_empty() {
            return Vec::new();
        }
        unread.sort_unstable();
        let listed: IdSet = listed.iter().copied().collect();
        let mut standing = Vec::new();
        for (tid, row) in unread {
            if !listed.contains(&tid) && check(tid, self.last.process[row]) == Presence::Gone {
                self.vanish(tid, events);
            } else {
                standing.push(row);
            }
        }
        standing.sort_unstable();
        standing
    }

    /// Takes in threads that begin: those that were not there, and those under the id of another one.
    fn begin(
        &mut self,
        rows: &mut Rows,
        then: Option<&[u32]>,
        flags: &mut [u8],
        end_ns: i64,
        events: &mut Vec<Event>,
    ) {
        if then.is_none() && flags.iter().all(|flags| flags & REBORN == 0) {
            return;
        }
        let fresh: Vec<usize> =
            (0..rows.len()).filter(|&row| flags[row] & (FRESH | REBORN) != 0).collect();
        for &row in &fresh {
            if flags[row] & REBORN != 0 && self.threads.contains_key(&rows.tid[row]) {
                self.vanish(rows.tid[row], events);
            }
        }
        self.inherit(rows, &fresh, end_ns);
        for row in fresh {
            self.born(rows, row, events);
        }
    }

    /// Counts no thread twice that took the main thread's id.
    ///
    /// That id is never free while the process lives: who begins with it has executed a program as another
    /// thread (execve(2)), which then is gone without a record. Its counters went on; here they begin with
    /// what it has counted since.
    fn inherit(&mut self, rows: &mut Rows, fresh: &[usize], end_ns: i64) {
        let mut heirs = Vec::new();
        for &row in fresh {
            let (tid, process) = (rows.tid[row], rows.process[row]);
            self.inherited.forget(tid);
            if tid == process {
                let totals = self.instant.totals(rows, row, end_ns);
                if let Some((values, seen_ns)) =
                    self.ended.find_moved(process, tid, &totals, &self.instant)
                {
                    self.inherited.note(tid, Inherited { values, seen_ns });
                    heirs.push(tid);
                }
            }
        }
        if !heirs.is_empty() {
            self.inherited.take_off(rows, &self.instant, Some(&heirs));
        }
    }

    fn born(&mut self, rows: &Rows, row: usize, events: &mut Vec<Event>) {
        let tid = rows.tid[row];
        // A thread that executed a program has the main thread's start as well; identities have to differ.
        let least_ns = self.inherited.get(tid).map_or(0, |one| one.seen_ns);
        let thread = Thread {
            start_ns: rows.start_ns[row].max(least_ns) - self.attach_ns,
            name: text(&rows.comm[row]),
            kernel_name: None,
            named_by_span: false,
            process: rows.process[row],
        };
        events.push(Event::Born {
            tid,
            process: thread.process,
            start_ns: thread.start_ns,
            name: thread.name.clone(),
        });
        self.threads.insert(tid, thread);
    }

    /// Takes back what ended threads counted twice that no sample saw under a main thread's id.
    fn close(&mut self, events: &mut [Event]) {
        for heir in std::mem::take(&mut self.heirs) {
            // The main thread has the ID of the process.
            let (process, main) = (heir.process, heir.process);
            let Some((values, seen_ns)) =
                self.ended.find_moved(process, main, &heir.totals, &self.instant)
            else {
                continue;
            };
            self.ended.counted_twice(&heir.name, &values, process);
            let inherited = Inherited { values, seen_ns };
            if let Some(Event::Exited(exited)) = heir.event.and_then(|place| events.get_mut(place))
            {
                exited.totals = inherited.taken_off(&exited.totals);
            }
        }
        self.recorded.clear();
        self.open = false;
    }

    fn vanish(&mut self, tid: u32, events: &mut Vec<Event>) {
        let totals = self.last_totals(tid);
        let row = self.places().get(&tid).map(|&row| row as usize);
        let Some(thread) = self.threads.remove(&tid) else { return };
        let (seen_ns, invalid, absent) = row.map_or((0, 0, 0), |row| {
            (self.last.seen_ns[row], self.last.invalid[row], self.last.absent[row])
        });
        self.ended.vanish(
            tid,
            &thread.name,
            &totals,
            thread.start_ns + self.attach_ns,
            seen_ns,
            thread.process,
        );
        events.push(Event::Exited(Box::new(Exited {
            tid,
            process: thread.process,
            start_ns: thread.start_ns,
            name: thread.name,
            totals: totals.without(invalid & absent),
            inexact: invalid & low_bits(self.fields.summed),
            exact: false,
            seen_alive: true,
            lifetime_ns: None,
        })));
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

    /// True if a last row is already of who took the id by execve(2), and the record of who had it.
    fn is_of_another(&self, row: &Totals, record: &Totals) -> bool {
        let Some(cpu) = self.cpu else { return false };
        record
            .get(cpu)
            .is_some_and(|said| row.get(cpu).unwrap_or(0) > said.saturating_add(ROUNDING_NS))
    }
}
