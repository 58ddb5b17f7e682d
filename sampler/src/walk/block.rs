//! The memory that the programs of task_iterator.bpf.c write: struct block.

use std::io;
use std::os::fd::BorrowedFd;

#[cfg(test)]
use crate::columns::Identity;
use crate::columns::{Mask, Rows};
use crate::os::memory::Mapped;

/// Threads that a block holds; of more, one block after the other is filled.
pub const ROWS: usize = 4096;
/// Counter columns of a block.
pub const COLUMNS: usize = 30;
/// Rows between two columns: one cache line more than rows.
const STRIDE: usize = ROWS + 8;

const USED: usize = 0;
const THREADS: usize = 4;
const GIVEN: usize = 8;
const EXECUTED: usize = 16;
const TID: usize = 64;
const STATE: usize = TID + 4 * ROWS;
const START: usize = STATE + 4 * ROWS;
const COMM: usize = START + 8 * ROWS;
const COUNTERS: usize = COMM + 16 * ROWS;
const BYTES: usize = COUNTERS + 8 * COLUMNS * STRIDE;

/// Bit of `state`: the thread has a record of delays.
const DELAYS: u32 = 2;

/// The block, mapped.
pub struct Block {
    memory: Mapped,
    state: Vec<u32>,
}

impl Block {
    /// Maps the block.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self { memory: Mapped::new(map, BYTES, true)?, state: Vec::new() })
    }

    /// Number of threads in the block.
    pub fn used(&self) -> usize {
        (self.memory.load::<u32>(USED) as usize).min(ROWS)
    }

    /// Empties the block, which an iterator does not do itself.
    pub fn empty(&mut self) {
        self.memory.store(USED, 0u32);
    }

    /// Threads of the process of the last row, when it was visited.
    pub fn threads(&self) -> usize {
        self.memory.load::<u32>(THREADS) as usize
    }

    /// A number that every execution of a program changes, of the process of the last row; None: this
    /// kernel does not count them.
    pub fn executed(&self) -> Option<u64> {
        Some(self.memory.load(EXECUTED)).filter(|&number: &u64| number > 0)
    }

    /// Columns that this kernel has.
    pub fn given(&self) -> Mask {
        self.memory.load(GIVEN)
    }

    /// Id of the thread in a row.
    pub fn tid(&self, row: usize) -> u32 {
        self.memory.load(TID + 4 * row.min(ROWS - 1))
    }

    /// Appends all rows of the block to `rows`, with the first `width` columns. `absent` is not 0 in rows
    /// of threads without a record of delays. The processes are not set.
    pub fn copy_to(&mut self, width: usize, rows: &mut Rows) {
        let (first, count) = (rows.len(), self.used());
        rows.resize(first + count);
        self.memory.copy_to(TID, &mut rows.tid[first..]);
        self.memory.copy_to(START, &mut rows.start_ns[first..]);
        self.memory.copy_to(COMM, &mut rows.comm[first..]);
        for column in 0..width.min(COLUMNS).min(rows.width()) {
            let from = COUNTERS + 8 * STRIDE * column;
            self.memory.copy_to(from, &mut rows.column_mut(column)[first..]);
        }
        self.state.resize(count, 0);
        self.memory.copy_to(STATE, &mut self.state);
        for (absent, state) in rows.absent[first..].iter_mut().zip(&self.state) {
            *absent = Mask::from(state & DELAYS == 0);
        }
    }

    /// Appends one row, for tests.
    #[cfg(test)]
    pub fn write(&mut self, thread: Identity, state: u32, counters: &[u64]) {
        let row = self.used();
        self.memory.store(TID + 4 * row, thread.tid);
        self.memory.store(STATE + 4 * row, state);
        self.memory.store(START + 8 * row, thread.start_ns);
        self.memory.store(COMM + 16 * row, thread.comm);
        for (column, &value) in counters.iter().enumerate() {
            self.memory.store(COUNTERS + 8 * (STRIDE * column + row), value);
        }
        self.memory.store(USED, row as u32 + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::comm;

    #[test]
    fn rows_are_copied_by_columns() {
        let mut block = Block { memory: Mapped::anonymous(BYTES).unwrap(), state: Vec::new() };
        for tid in 1..=3 {
            let thread = Identity {
                tid,
                start_ns: 100 + i64::from(tid),
                comm: comm(b"x"),
                ..Default::default()
            };
            block.write(thread, if tid == 2 { 0 } else { DELAYS }, &[u64::from(tid), 7]);
        }
        let mut rows = Rows::new(4);
        block.copy_to(2, &mut rows);
        block.copy_to(1, &mut rows);
        assert_eq!(rows.tid, [1, 2, 3, 1, 2, 3]);
        assert_eq!(rows.column(0), [1, 2, 3, 1, 2, 3]);
        assert_eq!(rows.column(1), [7, 7, 7, 0, 0, 0]);
        assert_eq!(rows.absent, [0, 1, 0, 0, 1, 0]);
        assert_eq!(rows.start_ns[2], 103);
    }
}
