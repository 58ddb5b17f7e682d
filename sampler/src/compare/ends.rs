//! Ends of threads: exit records, threads that left without one, and IDs that still answer.

use super::inherited::Inherited;
use super::{Check, Tracker};
use crate::columns::{text, Exits, Rows, Totals};
use crate::encode::events::{Event, Exited};
use crate::fields::low_bits;
use crate::ids::IdSet;
use crate::procfs::Presence;

/// How far the CPU time of an exit record may be below that of a row, nanoseconds: the two sources round
/// differently.
const ROUNDING_NS: u64 = 1_000_000;

/// An ended thread that no sample saw, and that had a main thread's id.
pub(super) struct Heir {
    name: String,
    totals: Totals,
    process: u32,
    /// Place of its end among the events of the sample; None: the event was given out before.
    pub(super) event: Option<usize>,
}

impl Tracker {
    pub(super) fn end(&mut self, exits: &Exits, end_ns: Option<i64>) -> Vec<Event> {
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
    pub(super) fn leave_out_ended(
        &mut self,
        rows: &mut Rows,
        listed: Option<&[u32]>,
        check: Check<'_>,
    ) {
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

    /// Judges threads that are known and were not read.
    ///
    /// One that was listed may have ended since, or its answer was lost. One that was not listed may live
    /// all the same: while threads end, a listing of many may skip some (the kernel goes on by count where
    /// the thread at which a piece ended is gone; proc_task_readdir). Returns the rows of the last reading
    /// that stand on.
    pub(super) fn judge_unread(
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

    pub(super) fn vanish(&mut self, tid: u32, events: &mut Vec<Event>) {
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

    /// Takes back what ended threads counted twice that no sample saw under a main thread's id.
    pub(super) fn close(&mut self, events: &mut [Event]) {
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

    /// True if a last row is already of who took the id by execve(2), and the record of who had it.
    fn is_of_another(&self, row: &Totals, record: &Totals) -> bool {
        let Some(cpu) = self.cpu else { return false };
        record
            .get(cpu)
            .is_some_and(|said| row.get(cpu).unwrap_or(0) > said.saturating_add(ROUNDING_NS))
    }
}
