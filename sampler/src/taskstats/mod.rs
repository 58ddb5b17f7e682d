//! Taskstats: counters of threads by genetlink, asked for one by one, and final ones of ended threads.
//!
//! Hooks: none. Threads are listed in /proc/PID/task and asked for in batches (`query`); the kernel sends
//! a record for each thread that exits (`exits`). Python opens the sockets and tells the struct's layout.
//! Produces the columns of struct taskstats, and exit records with the exact number of lost ones.

mod exit_filter;
mod exit_records;
mod exits;
#[cfg(test)]
mod fuzz_tests;
#[cfg(test)]
mod kernel_tests;
mod layout;
mod messages;
mod numbering;
mod query;
mod refusals;
mod structs;
#[cfg(test)]
pub(crate) mod testing;

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use exit_filter::MAX_PROCESSES;
pub use exit_records::{with_tick_time, ExitCode, Records, LATE_NS};
pub use exits::ExitListener;
pub use layout::{Kernel, Layout};
pub use numbering::Numbering;
pub use query::Query;
pub use refusals::{Refusal, Refusals};
pub use structs::Decoder;

use crate::columns::Rows;
use crate::procfs::TaskFolders;
use crate::source::{Origin, ReadError, Source};

/// A query that all targets share.
pub type SharedQuery = Arc<Mutex<Query>>;

/// A `Source` that asks for all threads of its processes.
pub struct Taskstats {
    query: SharedQuery,
    decoder: Decoder,
    folders: TaskFolders,
    process_at: Option<usize>,
    tids: Vec<u32>,
    owners: Vec<u32>,
    chosen: Vec<(usize, u32)>,
}

impl Taskstats {
    /// Makes the source; `proc` is the root of /proc.
    pub fn new(query: SharedQuery, decoder: Decoder, proc: &Path) -> Self {
        let process_at = lock(&query).kernel().layout.process.map(|process| process.id);
        Self {
            query,
            decoder,
            folders: TaskFolders::new(proc),
            process_at,
            tids: Vec::new(),
            owners: Vec::new(),
            chosen: Vec::new(),
        }
    }

    /// Reads these threads, whatever process they belong to. Threads that have gone are left out.
    ///
    /// Where the kernel does not tell the process of a thread, it is 0.
    ///
    /// # Errors
    /// As `Source::read`.
    pub fn ask(&mut self, tids: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let Self { decoder, process_at, chosen, .. } = self;
        lock(&self.query).ask(tids, |answers| {
            let structs = &answers.structs;
            let process_of = |row| process_at.map_or(0, |at| structs.half(row, at));
            chosen.clear();
            chosen.extend((0..structs.len()).map(|row| (row, process_of(row))));
            decoder.append(structs, chosen, answers.before_ns, rows);
        })
    }
}

impl Source for Taskstats {
    fn origin(&self) -> Origin {
        Origin::Genetlink
    }

    fn read(&mut self, members: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let Self { decoder, folders, process_at, tids, owners, chosen, .. } = self;
        tids.clear();
        owners.clear();
        folders.visit(members, |process, _, listed| {
            tids.extend_from_slice(listed);
            owners.resize(tids.len(), process);
            Ok(())
        })?;
        lock(&self.query).ask(tids, |answers| {
            let structs = &answers.structs;
            let rows_and_owners =
                answers.places.iter().enumerate().map(|(row, &place)| (row, owners[place]));
            chosen.clear();
            // An id may stand for a thread of another process since it was listed.
            chosen.extend(rows_and_owners.filter(|&(row, owner)| {
                process_at.is_none_or(|at| structs.half(row, at) == owner)
            }));
            decoder.append(structs, chosen, answers.before_ns, rows);
        })
    }

    fn listed(&self) -> Option<&[u32]> {
        Some(&self.tids)
    }
}

/// Locks a query. One that was left in the middle by a panic is as good as any: each question starts afresh.
fn lock(query: &SharedQuery) -> MutexGuard<'_, Query> {
    query.lock().unwrap_or_else(PoisonError::into_inner)
}
