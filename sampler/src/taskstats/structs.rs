//! Structs taskstats of many threads, and the columns that are made of them.

use std::fmt;

use super::layout::{Layout, COMM_BYTES};
use crate::columns::{Comm, Mask, Rows};
use crate::fields::columns_of;

/// Structs taskstats of n threads: words of 64 bits.
#[derive(Clone, Default)]
pub(super) struct Structs {
    each: usize,
    words: Vec<u64>,
}

impl fmt::Debug for Structs {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(form, "{} structs", self.len())
    }
}

impl Structs {
    /// Number of threads.
    pub(super) fn len(&self) -> usize {
        self.words.len().checked_div(self.each).unwrap_or(0)
    }

    /// Removes all threads and keeps the memory; what follows is of this layout.
    pub(super) fn begin(&mut self, layout: &Layout) {
        self.each = layout.length / 8;
        self.words.clear();
    }

    /// Appends a struct of the layout's length.
    pub(super) fn push(&mut self, stats: &[u8]) {
        debug_assert_eq!(stats.len(), self.each * 8);
        self.words.extend(stats.chunks_exact(8).map(|bytes| {
            let mut word = [0; 8];
            word.copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        }));
    }

    pub(super) fn word(&self, row: usize, offset: usize) -> u64 {
        self.words[row * self.each + offset / 8]
    }

    pub(super) fn half(&self, row: usize, offset: usize) -> u32 {
        let bytes = self.word(row, offset).to_ne_bytes();
        let at = offset % 8;
        u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
    }

    pub(super) fn byte(&self, row: usize, offset: usize) -> u8 {
        self.word(row, offset).to_ne_bytes()[offset % 8]
    }

    /// A name up to its first zero; what follows that is zeros, too.
    fn comm(&self, row: usize, offset: usize) -> Comm {
        let mut name = [0; COMM_BYTES];
        name[..8].copy_from_slice(&self.word(row, offset).to_ne_bytes());
        name[8..].copy_from_slice(&self.word(row, offset + 8).to_ne_bytes());
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(COMM_BYTES);
        name[end..].fill(0);
        name
    }
}

/// Makes columns of structs.
#[derive(Clone, Debug)]
pub struct Decoder {
    words: Vec<usize>,
    delays: Mask,
    delays_from_ns: i64,
    pid: usize,
    age: usize,
    comm: usize,
}

impl Decoder {
    /// Makes a decoder whose column n is the counter `members[n]` of the struct.
    ///
    /// `delays` are the columns of delay accounting. Threads that began before `delays_from_ns` of
    /// CLOCK_MONOTONIC have these only where they are not 0: the threads may have begun before the
    /// accounting was switched on.
    ///
    /// # Errors
    /// Tells which member the struct lacks.
    pub fn new<S: AsRef<str>>(
        layout: &Layout,
        members: impl IntoIterator<Item = S>,
        delays: Mask,
        delays_from_ns: i64,
    ) -> Result<Self, String> {
        let words: Result<Vec<usize>, String> =
            members.into_iter().map(|name| layout.word(name.as_ref())).collect();
        let words = words?;
        let Layout { pid, age, comm, .. } = *layout;
        Ok(Self { words, delays, delays_from_ns, pid, age, comm })
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.words.len()
    }

    /// How long the thread of a struct has lived, microseconds.
    pub(super) fn age_us(&self, structs: &Structs, row: usize) -> u64 {
        structs.word(row, self.age)
    }

    /// Appends threads to rows.
    ///
    /// `chosen` are places of structs, each with the process of its thread; `before_ns` is
    /// CLOCK_MONOTONIC shortly before the structs were made, or taken.
    ///
    /// # Panics
    /// Panics if the rows have fewer columns.
    pub(super) fn append(
        &self,
        structs: &Structs,
        chosen: &[(usize, u32)],
        before_ns: i64,
        rows: &mut Rows,
    ) {
        let first = rows.len();
        rows.resize(first + chosen.len());
        let mut early = false;
        for (to, &(row, process)) in (first..).zip(chosen) {
            let age_us = i64::try_from(self.age_us(structs, row)).unwrap_or(i64::MAX);
            rows.tid[to] = structs.half(row, self.pid);
            rows.process[to] = process;
            rows.start_ns[to] = before_ns.saturating_sub(age_us.saturating_mul(1000));
            rows.seen_ns[to] = before_ns;
            rows.comm[to] = structs.comm(row, self.comm);
            early |= rows.start_ns[to] < self.delays_from_ns;
        }
        for (column, &word) in self.words.iter().enumerate() {
            let values = &mut rows.column_mut(column)[first..];
            for (value, &(row, _)) in values.iter_mut().zip(chosen) {
                *value = structs.word(row, word * 8);
            }
        }
        if early && self.delays != 0 {
            self.mark_unknown_delays(rows, first);
        }
    }

    fn mark_unknown_delays(&self, rows: &mut Rows, first: usize) {
        for column in columns_of(self.delays) {
            for row in first..rows.len() {
                if rows.start_ns[row] < self.delays_from_ns && rows.get(row, column) == 0 {
                    rows.absent[row] |= 1 << column;
                }
            }
        }
    }
}
