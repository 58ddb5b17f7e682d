//! Births of threads, and of threads that take a main thread's ID by execve(2).

use super::counters::{FRESH, REBORN};
use super::inherited::Inherited;
use super::{Thread, Tracker};
use crate::columns::{text, Rows};
use crate::encode::events::Event;

impl Tracker {
    /// Takes in threads that begin: those that were not there, and those under the id of another one.
    pub(super) fn begin(
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
}
