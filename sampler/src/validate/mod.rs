//! Validation: delays that cannot be are not given as the kernel's.
//!
//! From Linux 6.12 on the kernel may count a wait for block I/O from the start of an earlier one, or of
//! none, or not at all (docs/measurement.md). Once a counter has such a wait in it, it is wrong for the
//! rest of the thread's life. A ledger says what it should be; without one there is no value.

mod io_bounds;

use std::collections::HashMap;

pub use io_bounds::IoBounds;

use crate::columns::{Exits, Mask, Rows};
use crate::fields::{columns_of, Fields, BLKIO};
use crate::taskstats::with_tick_time;

/// Delays that a ledger knows as well: the states that they are the sum of, as far as the target has them.
const LEDGER_STATES: [(&str, &[&str]); 2] = [
    (BLKIO, &io_bounds::DISK_STATES),
    ("cpu_delay_ns", &["state_preempted_ns", "state_woken_ns", "state_throttled_ns"]),
];
/// Starts of living threads come from ages, in /proc in ticks of 10 ms.
const SLACK_NS: i64 = 20_000_000;
/// Exit records have the age itself, in whole microseconds.
const RECORD_SLACK_NS: i64 = 1_000_000;
/// Interval between comparisons of the same threads with their ledgers, nanoseconds.
const COMPARE_NS: i64 = 1_000_000_000;
/// How long a thread that is neither read nor reported as ended is remembered, nanoseconds.
const FORGET_NS: i64 = 5_000_000_000;

/// Replacement of a wrong counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// The sum of states of the thread's ledger.
    Ledger,
    /// Nothing: the counter is absent.
    Nothing,
}

/// A counter that is wrong.
#[derive(Clone, Debug)]
struct Wrong {
    start_ns: i64,
    /// CLOCK_MONOTONIC at which the id stood for the thread.
    seen_ns: i64,
    /// Kernel's count before the ledger began.
    base: u64,
    kernel: u64,
    life_ns: i64,
    instead: Instead,
}

/// A row of the table of inexact counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inexact {
    /// Thread id.
    pub tid: u32,
    /// Column.
    pub column: usize,
    /// Kernel's value, in the unit of the column.
    pub kernel: u64,
    /// How long the thread lived by then, nanoseconds.
    pub life_ns: i64,
    /// Value that replaces the kernel's.
    pub instead: Instead,
}

/// The validation of one target's readings.
pub struct Validation {
    delays: Vec<usize>,
    states: Vec<(usize, Vec<usize>)>,
    fields: Fields,
    blkio: Option<usize>,
    bounds: IoBounds,
    /// The longest delay that each row can have, nanoseconds.
    most: Vec<u64>,
    compared_ns: i64,
    compared: Vec<u32>,
    wrong: HashMap<(u32, usize), Wrong>,
    /// Start, and each delay before the ledger, of the threads that lived at attach.
    before: Option<HashMap<u32, (i64, Vec<u64>)>>,
}

impl Validation {
    /// Makes the validation of readings with these columns; ledgers count time from `attach_ns` on.
    pub fn new(fields: &Fields, attach_ns: i64) -> Self {
        let has = |names: &[&str]| -> Vec<usize> {
            names.iter().filter_map(|name| fields.find(name)).collect()
        };
        let states = LEDGER_STATES
            .iter()
            .filter_map(|(delay, states)| Some((fields.find(delay)?, has(states))))
            .filter(|(_, states)| !states.is_empty())
            .collect();
        Self {
            delays: columns_of(fields.delay_times).collect(),
            states,
            fields: fields.clone(),
            blkio: fields.find(BLKIO),
            bounds: IoBounds::new(fields, attach_ns),
            most: Vec::new(),
            compared_ns: 0,
            compared: Vec::new(),
            wrong: HashMap::new(),
            before: None,
        }
    }

    /// Corrects a reading of living threads, taken at `now_ns`, CLOCK_MONOTONIC.
    pub fn check(&mut self, rows: &mut Rows, now_ns: i64) {
        let life_ns = |rows: &Rows, row: usize| (now_ns - rows.start_ns[row]).max(0);
        self.most.clear();
        self.most.extend(rows.start_ns.iter().map(|start_ns| most(now_ns - start_ns, SLACK_NS)));
        let mut found = self.too_long(rows);
        let due = now_ns - self.compared_ns >= COMPARE_NS || self.compared != rows.tid;
        if due || !self.wrong.is_empty() {
            self.compared_ns = now_ns;
            self.compared.clone_from(&rows.tid);
            let outside = self.bounds.check(rows, now_ns);
            found.extend(outside.into_iter().filter_map(|row| Some((row, self.blkio?))));
        }
        if self.before.is_none() {
            self.note_first(rows, &found);
        }
        for (row, column) in found {
            self.note(rows, row, column, life_ns(rows, row), now_ns);
        }
        if !self.wrong.is_empty() {
            self.correct(rows, |row, rows| life_ns(rows, row), now_ns);
            self.wrong.retain(|_, wrong| now_ns - wrong.seen_ns <= FORGET_NS);
        }
    }

    /// Corrects exit records, and forgets their threads. Without a ledger, and where nothing else completes
    /// it (`whole_cpu`), the time on a CPU becomes the time in ticks where that is more.
    pub fn check_exits(&mut self, exits: &mut Exits, whole_cpu: bool) {
        if !whole_cpu {
            with_tick_time(&mut exits.rows, &self.fields);
        }
        let now_ns = exits.drained_ns;
        let life_ns: Vec<i64> = exits
            .age_us
            .iter()
            .map(|&us| i64::try_from(us).unwrap_or(i64::MAX / 1000))
            .map(|us| us.saturating_mul(1000))
            .collect();
        let rows = &mut exits.rows;
        self.most.clear();
        self.most.extend(life_ns.iter().map(|&life_ns| most(life_ns, RECORD_SLACK_NS)));
        let mut found = self.too_long(rows);
        let outside = self.bounds.check_exits(rows);
        found.extend(outside.into_iter().filter_map(|row| Some((row, self.blkio?))));
        for (row, column) in found {
            self.note(rows, row, column, life_ns[row], now_ns);
        }
        if !self.wrong.is_empty() {
            self.correct(rows, |row, _| life_ns[row], now_ns);
            for &tid in &rows.tid {
                self.wrong.retain(|key, _| key.0 != tid);
            }
        }
    }

    /// Counters that are wrong, in the order of threads and columns.
    pub fn inexact(&self) -> Vec<Inexact> {
        let mut made: Vec<Inexact> = self
            .wrong
            .iter()
            .map(|(&(tid, column), wrong)| Inexact {
                tid,
                column,
                kernel: wrong.kernel,
                life_ns: wrong.life_ns,
                instead: wrong.instead,
            })
            .collect();
        made.sort_unstable_by_key(|one| (one.tid, one.column));
        made
    }

    /// Row and column of delays that are longer than the rows can have been delayed.
    fn too_long(&self, rows: &Rows) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        for &column in &self.delays {
            let values = rows.column(column).iter().zip(&self.most);
            // Without a branch in it, as next to none is.
            if !values.clone().fold(false, |any, (value, most)| any | (value > most)) {
                continue;
            }
            let longer = values.enumerate().filter(|(_, (value, most))| value > most);
            let given = longer.filter(|&(row, _)| !rows.is_absent(row, column));
            found.extend(given.map(|(row, _)| (row, column)));
        }
        found
    }

    /// Notes what threads had waited before their ledgers began.
    fn note_first(&mut self, rows: &Rows, found: &[(usize, usize)]) {
        let mut before = HashMap::new();
        if !self.states.is_empty() {
            for row in 0..rows.len() {
                let waited = self
                    .states
                    .iter()
                    .map(|(column, states)| {
                        if found.contains(&(row, *column)) {
                            0
                        } else {
                            rows.get(row, *column).saturating_sub(sum(rows, row, states))
                        }
                    })
                    .collect();
                before.insert(rows.tid[row], (rows.start_ns[row], waited));
            }
        }
        self.before = Some(before);
    }

    fn note(&mut self, rows: &Rows, row: usize, column: usize, life_ns: i64, now_ns: i64) {
        let (tid, start_ns) = (rows.tid[row], rows.start_ns[row]);
        if self.wrong.get(&(tid, column)).is_some_and(|known| start_ns <= known.seen_ns) {
            return;
        }
        let place = self.states.iter().position(|(delay, _)| *delay == column);
        let first = self.before.as_ref().and_then(|before| before.get(&tid));
        let base = match (place, first) {
            (Some(place), Some((began_ns, waited))) if (began_ns - start_ns).abs() <= SLACK_NS => {
                waited.get(place).copied().unwrap_or(0)
            }
            _ => 0,
        };
        let kernel = rows.get(row, column);
        let wrong =
            Wrong { start_ns, seen_ns: now_ns, base, kernel, life_ns, instead: Instead::Nothing };
        self.wrong.insert((tid, column), wrong);
    }

    fn correct(&mut self, rows: &mut Rows, life_ns: impl Fn(usize, &Rows) -> i64, now_ns: i64) {
        let row_of: HashMap<u32, usize> =
            rows.tid.iter().enumerate().map(|(row, &tid)| (tid, row)).collect();
        let states = &self.states;
        self.wrong.retain(|&(tid, column), wrong| {
            let Some(&row) = row_of.get(&tid) else { return true };
            if rows.start_ns[row] > wrong.seen_ns {
                return false; // another thread, under its id
            }
            wrong.seen_ns = now_ns;
            wrong.start_ns = rows.start_ns[row];
            wrong.kernel = rows.get(row, column);
            wrong.life_ns = life_ns(row, rows);
            let known = states.iter().find(|(delay, _)| *delay == column).filter(|(_, states)| {
                let needed = states.iter().fold(0, |mask: Mask, &state| mask | 1 << state);
                rows.absent[row] & needed == 0
            });
            match known {
                Some((_, states)) => {
                    wrong.instead = Instead::Ledger;
                    let value = wrong.base.saturating_add(sum(rows, row, states));
                    rows.set(row, column, value);
                }
                None => {
                    wrong.instead = Instead::Nothing;
                    rows.set(row, column, 0);
                    rows.absent[row] |= 1 << column;
                }
            }
            rows.invalid[row] |= 1 << column;
            true
        });
    }
}

/// Longest possible delay of a thread by its lifetime, nanoseconds.
fn most(life_ns: i64, slack_ns: i64) -> u64 {
    life_ns.max(0).saturating_add(slack_ns).unsigned_abs()
}

fn sum(rows: &Rows, row: usize, columns: &[usize]) -> u64 {
    columns.iter().fold(0, |sum, &column| sum.saturating_add(rows.get(row, column)))
}

#[cfg(test)]
mod stories_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Identity;
    use crate::fields::CPU;

    const ON_CPU: &str = "state_on_cpu_ns";
    const MS: i64 = 1_000_000;

    fn fields(ledger: bool) -> Fields {
        let mut names = vec![CPU, "user_cpu_us", "system_cpu_us", BLKIO, "blkio_count"];
        if ledger {
            names.push(ON_CPU);
            names.extend(io_bounds::IO_STATES);
            names.extend(["state", "state_since_ns"]);
        }
        Fields::new(names).unwrap()
    }

    fn thread(fields: &Fields, tid: u32, start_ns: i64, values: &[(&str, u64)]) -> Rows {
        let mut rows = Rows::new(fields.len());
        let row = rows.push(Identity { tid, process: 1, start_ns, ..Identity::default() });
        for (name, value) in values {
            rows.set(row, fields.find(name).unwrap(), *value);
        }
        rows
    }

    #[test]
    fn a_delay_longer_than_life_is_absent_without_a_ledger() {
        let fields = fields(false);
        let mut validation = Validation::new(&fields, 0);
        let blkio = fields.find(BLKIO).unwrap();
        let mut rows = thread(&fields, 5, 1_000 * MS, &[(BLKIO, 400_000_000)]);
        validation.check(&mut rows, 1_100 * MS);
        assert!(rows.is_absent(0, blkio) && rows.invalid[0] == 1 << blkio);
        // The counter stays wrong, however long the thread lives.
        let mut rows = thread(&fields, 5, 1_000 * MS, &[(BLKIO, 400_000_000)]);
        validation.check(&mut rows, 9_000 * MS);
        assert!(rows.is_absent(0, blkio));
        assert_eq!(validation.inexact()[0].kernel, 400_000_000);
        // Another thread under its id is believed again.
        let mut rows = thread(&fields, 5, 9_500 * MS, &[(BLKIO, 1_000_000)]);
        validation.check(&mut rows, 9_600 * MS);
        assert!(!rows.is_absent(0, blkio) && validation.inexact().is_empty());
    }

    #[test]
    fn a_ledger_says_what_a_wrong_delay_should_be() {
        let fields = fields(true);
        let mut validation = Validation::new(&fields, 0);
        let blkio = fields.find(BLKIO).unwrap();
        let first = [(BLKIO, 30_000_000)];
        validation.check(&mut thread(&fields, 5, 0, &first), 100 * MS);
        let wrong = [(BLKIO, 5_000_000_000), ("state_file_read_disk_ns", 50_000_000)];
        let mut rows = thread(&fields, 5, 0, &wrong);
        validation.check(&mut rows, 2_000 * MS);
        assert_eq!(rows.get(0, blkio), 80_000_000);
        assert!(!rows.is_absent(0, blkio) && rows.invalid[0] == 1 << blkio);
        assert_eq!(validation.inexact()[0].instead, Instead::Ledger);
    }

    #[test]
    fn a_delay_that_the_ledger_does_not_allow_is_wrong_within_life() {
        let fields = fields(true);
        let mut validation = Validation::new(&fields, 0);
        let blkio = fields.find(BLKIO).unwrap();
        validation.check(&mut thread(&fields, 5, 0, &[]), 1_000 * MS);
        let mut rows = thread(&fields, 5, 0, &[(BLKIO, 900_000_000)]);
        validation.check(&mut rows, 3_000 * MS);
        assert_eq!((rows.get(0, blkio), rows.invalid[0]), (0, 1 << blkio));
    }

    #[test]
    fn exit_records_have_the_larger_of_cpu_time_and_ticks() {
        let fields = fields(false);
        let mut validation = Validation::new(&fields, 0);
        let values = [(CPU, 3_000_000), ("user_cpu_us", 4_000), ("system_cpu_us", 4_000)];
        let mut exits = Exits {
            rows: thread(&fields, 5, 0, &values),
            age_us: vec![20_000],
            drained_ns: 20 * MS,
        };
        validation.check_exits(&mut exits, false);
        assert_eq!((exits.rows.get(0, 0), exits.rows.invalid[0]), (8_000_000, 1));
    }

    #[test]
    fn ended_threads_are_forgotten() {
        let fields = fields(false);
        let mut validation = Validation::new(&fields, 0);
        validation.check(&mut thread(&fields, 5, 0, &[(BLKIO, 400_000_000)]), 100 * MS);
        let mut exits = Exits {
            rows: thread(&fields, 5, 0, &[(BLKIO, 400_000_000)]),
            age_us: vec![900_000],
            drained_ns: 900 * MS,
        };
        validation.check_exits(&mut exits, false);
        assert!(exits.rows.is_absent(0, fields.find(BLKIO).unwrap()));
        assert!(validation.inexact().is_empty());
    }
}
