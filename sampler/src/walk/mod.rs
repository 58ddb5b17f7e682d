//! Walk: all counters of all threads of many processes, in one call of the kernel.
//!
//! Hooks: none; an eBPF program of type syscall (Linux 6.7) or a task iterator (Linux 6.1) runs when it
//! is called. Produces the columns of struct taskstats, from the same members of struct task_struct.

mod block;
mod crosscheck;
mod visits;

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};

pub use block::{Block, COLUMNS};
pub use crosscheck::{Ask, CrossCheck};
use visits::walk_by_iterators;
pub use visits::Visits;

use crate::columns::{Mask, Rows};
use crate::os::clock::monotonic_ns;
use crate::source::{Origin, ReadError, Source};

/// How often a walk that missed threads is made again: a thread at which a block ended had exited.
const MAX_TRIES: usize = 3;

/// The program that walks.
pub enum Program {
    /// One call walks many processes: `walk_members`, with its map `visits`.
    Members {
        /// The program.
        program: OwnedFd,
        /// Mapped table of processes.
        visits: Visits,
    },
    /// An iterator for each process calls `read_counters` for each of its threads.
    Iterators {
        /// The program.
        program: OwnedFd,
        /// Iterators of the processes walked last, ascending.
        links: Vec<(u32, OwnedFd)>,
    },
}

/// The memory that all walks of a collector write to, one at a time, and the program.
pub struct Walker {
    block: Block,
    program: Program,
}

impl Walker {
    /// Makes it.
    pub fn new(block: Block, program: Program) -> Self {
        Self { block, program }
    }

    /// Columns that this kernel has, as far as a walk was made: bit n for column n.
    pub fn given(&self) -> Mask {
        self.block.given()
    }

    /// Appends the threads of all processes to `rows`, which are empty, with the first `width` columns.
    /// `absent` is not 0 in rows of threads without a record of delays.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn walk(&mut self, members: &[u32], width: usize, rows: &mut Rows) -> io::Result<()> {
        for _ in 0..MAX_TRIES {
            rows.clear();
            let complete = match &mut self.program {
                Program::Members { program, visits } => {
                    visits.walk(program, members, &mut self.block, width, rows)?
                }
                Program::Iterators { program, links } => {
                    walk_by_iterators(program, links, members, &mut self.block, width, rows)?
                }
            };
            if complete {
                break;
            }
        }
        Ok(())
    }
}

/// A walker that several targets use.
pub type SharedWalker = Arc<Mutex<Walker>>;

/// A `Source` of walks.
pub struct Walk {
    walker: SharedWalker,
    width: usize,
    delay_accounts: Mask,
    check: CrossCheck,
    executed: Option<u64>,
}

impl Walk {
    /// Makes the source.
    ///
    /// `width` is the number of columns that taskstats gives, which are the first ones of a block;
    /// `delay_accounts` the columns among them that a thread without a record of delays lacks.
    pub fn new(
        walker: SharedWalker,
        width: usize,
        delay_accounts: Mask,
        check: CrossCheck,
    ) -> Self {
        Self { walker, width: width.min(COLUMNS), delay_accounts, check, executed: None }
    }
}

impl Source for Walk {
    fn origin(&self) -> Origin {
        Origin::Walk
    }

    fn read(&mut self, members: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let before = monotonic_ns();
        let mut walker = self.walker.lock().unwrap_or_else(PoisonError::into_inner);
        walker.walk(members, self.width, rows)?;
        self.executed = walker.block.executed();
        drop(walker);
        for row in 0..rows.len() {
            // An id stood for its thread when it was visited: not before it began, nor before now.
            rows.seen_ns[row] = rows.start_ns[row].max(before);
            if rows.absent[row] != 0 {
                rows.absent[row] = self.delay_accounts;
            }
        }
        self.check.check(rows)
    }

    fn executed(&self) -> Option<u64> {
        self.executed
    }
}
