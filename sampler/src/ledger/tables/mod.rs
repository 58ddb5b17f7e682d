//! Tables beside ledgers: histograms of stays, wake-ups, locks, takers, system calls.
//! Hooks: those of ledgers; the maps `details`, `edges`, `takers`, `call_counts` and `names`.
//! Produces: tables of columns by thread and something else, without names of locks and calls.

mod beside;
mod counting;
#[cfg(test)]
mod counting_tests;
mod counts;
#[cfg(test)]
mod fuzz_tests;
mod made;
mod names;
mod sums;

/// Layouts for tests.
#[cfg(test)]
pub(crate) mod testing {
    pub use super::counting::CONTROL;
    use super::counts::{EDGES_AT, TAKERS_AT};

    /// First words of edges and takers.
    pub const DETAIL: [usize; 2] = [EDGES_AT, TAKERS_AT];
}

pub use counting::{Counting, WaitMaps};
pub use made::{Column, Table, Tables};
pub use names::Described;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use super::keeper::SharedKeeper;
use crate::slots::{lock, Watcher};
use crate::source::ReadError;

/// Reads the tables of the targets of a keeper.
#[derive(Clone)]
pub struct WaitTables {
    keeper: SharedKeeper,
    counting: Arc<Mutex<Counting>>,
}

impl WaitTables {
    /// Keeps what threads leave from now on; nobody may be watched yet.
    pub fn new(keeper: SharedKeeper, counting: Counting) -> Self {
        let counting = Arc::new(Mutex::new(counting));
        lock(&keeper).set_leaving(counting.clone());
        Self { keeper, counting }
    }

    /// Notes the name of a process, by its key.
    #[cfg(test)]
    fn note_name(&self, key: u32, name: crate::columns::Comm) {
        lock(&self.counting).names().note(key, name, false, 0);
    }

    /// Wake-ups, takers and system calls that found no room in the program's tables.
    pub fn lost(&self) -> u64 {
        Counting::lost(lock(&self.keeper).slots())
    }

    /// The tables of a target, since its processes are watched. All are of one moment.
    ///
    /// # Errors
    /// If ledgers do not add up, or the kernel refused.
    pub fn read(&self, watcher: Watcher) -> Result<Tables, ReadError> {
        // The keeper is locked first, as where threads leave.
        let mut keeper = lock(&self.keeper);
        let mut counting = lock(&self.counting);
        let copied = counting.copy(keeper.slots(), watcher)?;
        drop(keeper);
        Ok(counting.tables(copied))
    }
}

/// Threads that have slots and have not ended, of all that are counted for.
#[derive(Debug, Default)]
struct Living {
    tids: HashSet<u32>,
    processes: HashSet<u32>,
}
