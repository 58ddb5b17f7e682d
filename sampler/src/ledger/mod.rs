//! Ledgers: how long each thread was in each state, and in which state it is now.
//! Hooks: switches, wake-ups, births, exits and execs of watched processes (waits.bpf.c).
//! Produces: the columns of 25 states (24 where the kernel does not tell who is throttled), of the current
//! state and of its beginning.

#[cfg(test)]
mod fuzz_tests;
pub mod keeper;
#[cfg(test)]
mod keeper_tests;
pub mod reading;
pub mod slot;
pub mod tables;
pub mod walks;

use std::io;
use std::ops::Range;
use std::time::Duration;

pub use keeper::{Final, Keeper, Late, Leaver, Leaving, Program, SharedKeeper};

use crate::columns::{Exits, Mask, Rows, Totals};
use crate::fields::{columns_of, low_bits, Fields, CPU};
use crate::slots::exited::Ended;
use crate::slots::{lock, Watcher};
use crate::source::{self, Join, ReadError};
use keeper::Exit;
use reading::Reading;
use slot::{COLUMNS, ENDED, THROTTLED};

/// Time for which the ends of all threads of a drain are waited for.
pub const PATIENCE: Duration = Duration::from_millis(2);
/// Starts of one thread differ by less, whatever they are derived from.
const START_SLACK_NS: i64 = 100_000_000;

/// The ledgers of a target's threads. Its processes are watched until it is dropped.
///
/// Members of `begin` are all processes that exit records may still come for: a member that leaves takes
/// its slots along.
pub struct Ledger {
    keeper: SharedKeeper,
    watcher: Watcher,
    members: Vec<u32>,
    reading: Reading,
    /// First column; the others follow it.
    first: usize,
    /// Number of states with columns; the last one has none where it is not known who is throttled.
    states: usize,
    /// Column of the time on CPUs.
    cpu: Option<usize>,
    attach_ns: i64,
    patience: Duration,
    /// Ledger of each row of the last join, or the number of ledgers if the row has none.
    places: Vec<usize>,
    /// Ids of threads and processes, and the listing, that `places` is of.
    placed: (Vec<u32>, Vec<u32>, u64),
}

impl Ledger {
    /// Watches no process yet. The program has to be attached.
    ///
    /// Beginnings of states count from `attach_ns`, CLOCK_MONOTONIC. `patience` bounds the waiting of
    /// each drain of exit records.
    ///
    /// # Errors
    /// Tells what is missing in the columns.
    pub fn new(
        keeper: SharedKeeper,
        fields: &Fields,
        attach_ns: i64,
        patience: Duration,
    ) -> Result<Self, String> {
        let states = fields.summed - fields.first_state;
        if states != COLUMNS && states != COLUMNS - 1 {
            return Err(format!("{states} states have columns; a ledger has {COLUMNS}"));
        }
        let watcher = lock(&keeper).enter();
        Ok(Self {
            keeper,
            watcher,
            members: Vec::new(),
            reading: Reading::default(),
            first: fields.first_state,
            states,
            cpu: fields.find(CPU),
            attach_ns,
            patience,
            places: Vec::new(),
            placed: (Vec::new(), Vec::new(), 0),
        })
    }

    /// The watcher that the ledgers are kept for.
    pub fn watcher(&self) -> Watcher {
        self.watcher
    }

    /// Watches these processes, ids in ascending order, and no others. `begin` does so as well; exit
    /// records need their processes to be followed before.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn follow(&mut self, members: &[u32]) -> io::Result<()> {
        if self.members != members {
            self.members = members.to_vec();
        }
        lock(&self.keeper).follow(self.watcher, members)
    }

    /// Time that ended threads gained after their exit records were joined, since the last call.
    pub fn take_late(&mut self) -> Vec<Late> {
        lock(&self.keeper).take_late(self.watcher)
    }

    fn read(&mut self) -> Result<(), ReadError> {
        let mut keeper = lock(&self.keeper);
        self.reading.read(keeper.slots(), &self.members)?;
        let throttled = self.reading.processes_in(THROTTLED);
        if throttled.is_empty() {
            return Ok(());
        }
        keeper.let_go(&throttled)?;
        self.reading.read(keeper.slots(), &self.members)
    }

    /// Finds the ledger of each row; true if all have the ledgers of living threads.
    fn place(&mut self, rows: &Rows) -> bool {
        let none = self.reading.len();
        let listed = self.reading.listed();
        if self.placed.0 != rows.tid || self.placed.1 != rows.process || self.placed.2 != listed {
            self.placed.0.clone_from(&rows.tid);
            self.placed.1.clone_from(&rows.process);
            self.placed.2 = listed;
            self.places.clear();
            for (&process, &tid) in rows.process.iter().zip(&rows.tid) {
                self.places.push(self.reading.find(process, tid).unwrap_or(none));
            }
        }
        self.places.iter().all(|&at| at < none && self.reading.state[at] != ENDED)
    }

    /// Runs of rows whose ledgers follow each other: first row, first ledger, length. Rows without a ledger
    /// are in none. The ledger of an ended thread is that of a first thread whose process lives, or of
    /// another thread with that id.
    fn runs(&self, rows: &Rows) -> Vec<(usize, usize, usize)> {
        let reading = &self.reading;
        let is_own = |row: usize, at: usize| {
            at < reading.len()
                && (reading.state[at] != ENDED
                    || rows.start_ns[row].abs_diff(reading.start_ns[at])
                        < START_SLACK_NS.unsigned_abs())
        };
        let mut runs: Vec<(usize, usize, usize)> = Vec::new();
        for (row, &at) in self.places.iter().enumerate().filter(|&(row, &at)| is_own(row, at)) {
            match runs.last_mut() {
                Some(run) if run.0 + run.2 == row && run.1 + run.2 == at => run.2 += 1,
                _ => runs.push((row, at, 1)),
            }
        }
        runs
    }

    fn columns(&self) -> Mask {
        low_bits(self.states + 2) << self.first
    }

    fn totals_of(&self, late: &Late) -> source::Late {
        let mut totals = Totals::new(self.first + self.states);
        totals.values[self.first..].copy_from_slice(&late.ns[..self.states]);
        totals.given = low_bits(self.states) << self.first;
        if let Some(cpu) = self.cpu {
            totals.values[cpu] = late.cpu_ns;
            totals.given |= 1 << cpu;
        }
        source::Late { comm: late.comm, process: late.process, totals }
    }
}

impl Join for Ledger {
    fn follow(&mut self, members: &[u32]) -> Result<(), ReadError> {
        Ok(Ledger::follow(self, members)?)
    }

    fn take_late(&mut self) -> Vec<source::Late> {
        let late = Ledger::take_late(self);
        late.into_iter().map(|one| self.totals_of(&one)).collect()
    }

    fn settles_cpu(&self) -> bool {
        self.cpu.is_some()
    }

    fn begin(&mut self, members: &[u32]) -> Result<(), ReadError> {
        self.follow(members)?;
        lock(&self.keeper).tidy()?;
        self.read()
    }

    fn join(&mut self, rows: &mut Rows) -> Result<(), ReadError> {
        if !self.place(rows) && !self.reading.is_current(lock(&self.keeper).slots()) {
            // Some threads began, or were given the ids of others, since ledgers were read.
            self.read()?;
            self.place(rows);
        }
        let runs = self.runs(rows);
        let reading = &self.reading;
        let columns = self.columns();
        let mut filled = 0;
        for &(row, at, count) in &runs {
            absent(rows, filled..row, columns);
            for (column, ns) in reading.ns[..self.states].iter().enumerate() {
                rows.column_mut(self.first + column)[row..row + count]
                    .copy_from_slice(&ns[at..at + count]);
            }
            let states = &reading.state[at..at + count];
            let state = rows.column_mut(self.first + self.states)[row..].iter_mut();
            state.zip(states).for_each(|(into, &state)| *into = u64::from(state));
            let begins = &reading.since_ns[at..at + count];
            let since = rows.column_mut(self.first + self.states + 1)[row..].iter_mut();
            since.zip(begins).for_each(|(into, since_ns)| {
                *into = since_ns.saturating_sub(self.attach_ns).max(0).unsigned_abs();
            });
            filled = row + count;
        }
        absent(rows, filled..rows.len(), columns);
        Ok(())
    }

    fn join_exits(&mut self, exits: &mut Exits) -> Result<(), ReadError> {
        let rows = &exits.rows;
        let records: Vec<Exit> = Ended::of(exits)
            .enumerate()
            .map(|(row, ended)| Exit {
                ended,
                cpu_ns: self.cpu.map_or(0, |column| rows.get(row, column)),
                comm: rows.comm[row],
            })
            .collect();
        let finals = lock(&self.keeper).exited(self.watcher, &records, self.patience)?;
        let columns = self.columns();
        for (row, ledger) in finals.into_iter().enumerate() {
            let Some(ledger) = ledger else {
                exits.rows.absent[row] |= columns;
                continue;
            };
            for (column, ns) in ledger.ns.into_iter().take(self.states).enumerate() {
                exits.rows.set(row, self.first + column, ns);
            }
            if let Some(cpu) = self.cpu {
                exits.rows.set(row, cpu, ledger.cpu_ns);
            }
        }
        Ok(())
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        lock(&self.keeper).leave(self.watcher);
    }
}

/// Lets rows lack some columns.
fn absent(rows: &mut Rows, range: Range<usize>, columns: Mask) {
    if range.is_empty() {
        return;
    }
    for column in columns_of(columns) {
        rows.column_mut(column)[range.clone()].fill(0);
    }
    rows.absent[range].iter_mut().for_each(|absent| *absent |= columns);
}
