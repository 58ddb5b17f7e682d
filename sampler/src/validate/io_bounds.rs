//! How long threads can have waited for block I/O, by their ledgers.
//!
//! The kernel's delay counts from the switch away to the wake-up of threads that sleep for I/O. The ledger
//! has the same sleeps in a few states: some states are of nothing else, others may be, so the ledger
//! bounds the delay on both sides. A delay far outside is wrong.

use crate::columns::Rows;
use crate::fields::{Fields, BLKIO};
use crate::ids::IdMap;

/// States in which a thread waits for a disk and for nothing else.
pub(super) const DISK_STATES: [&str; 4] = [
    "state_file_read_disk_ns",
    "state_file_write_disk_ns",
    "state_file_sync_disk_ns",
    "state_page_fault_disk_ns",
];
/// States in which a thread may wait for a disk: opening a file is one of the other calls.
pub(super) const IO_STATES: [&str; 7] = [
    "state_file_read_disk_ns",
    "state_file_write_disk_ns",
    "state_file_sync_disk_ns",
    "state_page_fault_disk_ns",
    "state_io_uring_ns",
    "state_other_call_ns",
    "state_other_ns",
];
const BLKIO_COUNT: &str = "blkio_count";
const TOLERANCE: f64 = 1.25;
/// The kernel's wait ends on the CPU that the thread will run on, the ledger's on the one that wakes it:
/// with an interrupt in between that took 18 us a wait on a virtual machine (Linux 6.18).
const WAKE_NS: f64 = 50_000.0;
const SLACK_NS: f64 = 20_000_000.0;
/// How long an unread thread is remembered, nanoseconds; exit records come sooner.
const FORGET_NS: i64 = 5_000_000_000;

struct Columns {
    blkio: usize,
    count: Option<usize>,
    disk: Vec<usize>,
    io: Vec<usize>,
    /// Column of the state with the number 1.
    first_state: usize,
    state: usize,
    since: usize,
}

struct Known {
    /// Delay of the thread before its ledger began, nanoseconds.
    before_ns: f64,
    /// CLOCK_MONOTONIC of the last reading with it.
    seen_ns: i64,
}

/// Delays of threads, and those from before their ledgers began.
pub struct IoBounds {
    attach_ns: i64,
    columns: Option<Columns>,
    known: IdMap<Known>,
}

impl IoBounds {
    /// Makes bounds for readings with these columns; without those of a ledger nothing is bounded.
    pub fn new(fields: &Fields, attach_ns: i64) -> Self {
        let all = |names: &[&str]| -> Option<Vec<usize>> {
            names.iter().map(|name| fields.find(name)).collect()
        };
        let columns = || -> Option<Columns> {
            let (state, since) = fields.gauges()?;
            Some(Columns {
                blkio: fields.find(BLKIO)?,
                count: fields.find(BLKIO_COUNT),
                disk: all(&DISK_STATES)?,
                io: all(&IO_STATES)?,
                first_state: fields.first_state,
                state,
                since,
            })
        };
        Self { attach_ns, columns: columns(), known: IdMap::default() }
    }

    /// Rows of living threads whose delay is too long or too short, at `now_ns`, CLOCK_MONOTONIC.
    pub fn check(&mut self, rows: &Rows, now_ns: i64) -> Vec<usize> {
        let Some(columns) = &self.columns else { return Vec::new() };
        let mut found = Vec::new();
        for row in 0..rows.len() {
            let in_io = columns.is_in_io(rows, row);
            let since_ns = rows.get(row, columns.since);
            let mut waited = sum(rows, row, &columns.io);
            if in_io {
                let began_ns = self.attach_ns.saturating_add_unsigned(since_ns);
                waited += (now_ns.saturating_sub(began_ns)).max(0) as f64;
            }
            let tid = rows.tid[row];
            let known = self.known.get_mut(&tid).filter(|one| rows.start_ns[row] <= one.seen_ns);
            let before_ns = match known {
                Some(one) => {
                    one.seen_ns = now_ns;
                    one.before_ns
                }
                // A wait for I/O whose beginning the ledger did not see will be longer than it says.
                None if since_ns == 0 && in_io => continue,
                None => {
                    let before_ns = (rows.get(row, columns.blkio) as f64 - waited).max(0.0);
                    self.known.insert(tid, Known { before_ns, seen_ns: now_ns });
                    before_ns
                }
            };
            if columns.is_outside(rows, row, before_ns, waited) {
                found.push(row);
            }
        }
        if self.known.len() > rows.len() {
            self.known.retain(|_, one| now_ns - one.seen_ns <= FORGET_NS);
        }
        found
    }

    /// Rows of ended threads whose delay is too long or too short; these threads are forgotten.
    pub fn check_exits(&mut self, rows: &Rows) -> Vec<usize> {
        let Some(columns) = &self.columns else { return Vec::new() };
        let mut found = Vec::new();
        for row in 0..rows.len() {
            let Some(known) = self.known.get(&rows.tid[row]) else { continue };
            if rows.start_ns[row] > known.seen_ns {
                continue;
            }
            let waited = sum(rows, row, &columns.io);
            if columns.is_outside(rows, row, known.before_ns, waited) {
                found.push(row);
            }
            self.known.remove(&rows.tid[row]);
        }
        found
    }
}

impl Columns {
    fn is_in_io(&self, rows: &Rows, row: usize) -> bool {
        let state = usize::try_from(rows.get(row, self.state)).unwrap_or(0);
        state > 0 && self.io.contains(&(self.first_state.saturating_add(state - 1)))
    }

    fn is_outside(&self, rows: &Rows, row: usize, before_ns: f64, waited: f64) -> bool {
        if rows.is_absent(row, self.blkio) || rows.is_absent(row, self.state) {
            return false;
        }
        let delay = rows.get(row, self.blkio) as f64;
        let woken = self.count.map_or(0.0, |count| WAKE_NS * rows.get(row, count) as f64);
        let disk = sum(rows, row, &self.disk);
        // Ledgers are read before counters: what the one has, the other has to have as well.
        delay > before_ns + TOLERANCE * waited + woken + SLACK_NS
            || delay < before_ns + disk / TOLERANCE - SLACK_NS
    }
}

fn sum(rows: &Rows, row: usize, columns: &[usize]) -> f64 {
    columns.iter().map(|&column| rows.get(row, column) as f64).sum()
}

#[cfg(test)]
#[path = "bounds_tests.rs"]
mod tests;
