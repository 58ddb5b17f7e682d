//! Exit records of one drain, and what they tell of one target.

use super::layout::Layout;
use super::structs::{Decoder, Structs};
use crate::columns::{Exits, Rows};
use crate::fields::{Fields, CPU};

/// How long a record may be under way, nanoseconds: threads are preempted between its making and its
/// sending.
pub const LATE_NS: i64 = 2_000_000_000;
/// AGROUP of `ac_flag` (include/uapi/linux/acct.h), in taskstats from version 12 on.
const LAST_OF_PROCESS: u8 = 0x20;
const TICKS: [&str; 2] = ["user_cpu_us", "system_cpu_us"];
const LEDGER: &str = "state_on_cpu_ns";

/// Exit records of the threads of all processes, taken by one drain.
#[derive(Clone, Debug, Default)]
pub struct Records {
    structs: Structs,
    /// CPU on whose socket each record came.
    pub cpu: Vec<u16>,
    /// Sequence number of each record.
    pub number: Vec<u32>,
    /// CLOCK_MONOTONIC before the drain, nanoseconds.
    pub before_ns: i64,
    /// CLOCK_MONOTONIC before the drain before, nanoseconds; 0: there was none.
    pub since_ns: i64,
    /// Records that were lost since the drain before, exact.
    pub lost: u64,
}

/// The exit status of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode {
    /// Process id.
    pub process: u32,
    /// Status as wait(2) gives it.
    pub status: u32,
}

impl Records {
    /// Number of records.
    pub fn len(&self) -> usize {
        self.cpu.len()
    }

    /// True without records; some may be lost.
    pub fn is_empty(&self) -> bool {
        self.cpu.is_empty()
    }

    pub(super) fn begin(&mut self, layout: &Layout, since_ns: i64, before_ns: i64) {
        self.structs.begin(layout);
        self.cpu.clear();
        self.number.clear();
        (self.since_ns, self.before_ns, self.lost) = (since_ns, before_ns, 0);
    }

    pub(super) fn push(&mut self, stats: &[u8], cpu: u16, number: u32) {
        self.structs.push(stats);
        self.cpu.push(cpu);
        self.number.push(number);
    }

    /// Thread id of a record.
    pub fn tid(&self, layout: &Layout, row: usize) -> u32 {
        self.structs.half(row, layout.pid)
    }

    /// Process id of a record; 0 if the kernel does not tell it.
    pub fn process(&self, layout: &Layout, row: usize) -> u32 {
        layout.process.map_or(0, |process| self.structs.half(row, process.id))
    }

    /// Appends the records of a target to `exits`, and its processes' exit statuses to `codes`.
    ///
    /// Records of a later process that has got the id of a member are left out; `began_ns` gives the
    /// start of a member on CLOCK_MONOTONIC where it is known. Where the kernel does not tell whose
    /// threads they are (before version 12), all records are appended, as those of process 0: the caller
    /// keeps the threads that it knows.
    ///
    /// Starts are late by the time from a thread's end to the drain.
    pub fn decode(
        &self,
        layout: &Layout,
        decoder: &Decoder,
        is_member: impl Fn(u32) -> bool,
        began_ns: impl Fn(u32) -> Option<i64>,
        exits: &mut Exits,
        codes: &mut Vec<ExitCode>,
    ) {
        let is_own = |process: u32, row: usize| {
            layout.process.is_none()
                || is_member(process)
                    && !began_ns(process).is_some_and(|began| self.is_later(layout, row, began))
        };
        let chosen: Vec<(usize, u32)> = (0..self.len())
            .map(|row| (row, self.process(layout, row)))
            .filter(|&(row, process)| is_own(process, row))
            .collect();
        decoder.append(&self.structs, &chosen, self.before_ns, &mut exits.rows);
        exits.age_us.extend(chosen.iter().map(|&(row, _)| decoder.age_us(&self.structs, row)));
        exits.drained_ns = self.before_ns;
        for (row, _) in chosen {
            if let Some(code) = self.exit_code(layout, row, &is_member) {
                codes.retain(|one| one.process != code.process);
                codes.push(code);
            }
        }
    }

    /// True if a record is of a process that began after another one of the same id, which began at
    /// `began_ns` and lived at the drain before.
    ///
    /// Such a process is older than the time from its start to that drain, and each record tells how old
    /// its process was.
    fn is_later(&self, layout: &Layout, row: usize, began_ns: i64) -> bool {
        let oldest_ns = self.since_ns.saturating_sub(began_ns).saturating_sub(LATE_NS);
        layout.process.is_some_and(|process| {
            oldest_ns > 0 && self.structs.word(row, process.age) < oldest_ns.unsigned_abs() / 1000
        })
    }

    /// The exit status of a process if a record is that of its last thread.
    ///
    /// exit_group(2) and deadly signals give all threads the status of the process, but for those that
    /// left before, such as a main thread that did not wait for the others. Where the kernel does not
    /// tell who was the last thread of which process, it is the main thread's status.
    fn exit_code(
        &self,
        layout: &Layout,
        row: usize,
        is_member: impl Fn(u32) -> bool,
    ) -> Option<ExitCode> {
        let exit = layout.exit?;
        let process = match layout.process {
            Some(process) => {
                let is_last = self.structs.byte(row, exit.flag) & LAST_OF_PROCESS != 0;
                is_last.then(|| self.structs.half(row, process.id))
            }
            None => Some(self.tid(layout, row)).filter(|&tid| is_member(tid)),
        };
        process.map(|process| ExitCode { process, status: self.structs.half(row, exit.code) })
    }
}

/// Gives exit records the larger of time on a CPU and time in ticks, where a thread has no ledger; the
/// value is marked as invalid where it is the time in ticks.
///
/// The kernel writes a record while the thread still runs. It counts time on a CPU at ticks and switches,
/// so of a thread that lived for a moment the record may have none. Its time in ticks, user and system,
/// is right on average instead. Joins have to be made before: they tell which threads have ledgers.
pub fn with_tick_time(rows: &mut Rows, fields: &Fields) {
    let (Some(cpu), [Some(user), Some(system)]) =
        (fields.find(CPU), TICKS.map(|name| fields.find(name)))
    else {
        return;
    };
    let ledger = fields.find(LEDGER);
    for row in 0..rows.len() {
        if ledger.is_some_and(|ledger| !rows.is_absent(row, ledger)) {
            continue;
        }
        let ticks_us = rows.get(row, user).saturating_add(rows.get(row, system));
        let ticks_ns = ticks_us.saturating_mul(1000);
        if ticks_ns > rows.get(row, cpu) {
            rows.set(row, cpu, ticks_ns);
            rows.invalid[row] |= 1 << cpu;
        }
    }
}

#[cfg(test)]
#[path = "exit_records_tests.rs"]
mod tests;
