//! Threads by columns: the form in which every source gives them, and every stage takes them.

/// Name of a thread as the kernel keeps it: bytes, filled up with zeros.
pub type Comm = [u8; 16];

/// One bit for each counter column, bit n for column n.
pub type Mask = u64;

/// Counter columns that fit into a `Mask`.
pub const MAX_COLUMNS: usize = Mask::BITS as usize;

/// Identities and counters of n threads, taken within one sweep.
///
/// All vectors have n elements. An absent counter has the value 0 until a later stage gives it one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    /// Thread ids.
    pub tid: Vec<u32>,
    /// Ids of the processes that the threads belong to.
    pub process: Vec<u32>,
    /// Start of each thread, CLOCK_MONOTONIC, nanoseconds. A start that is derived from an age moves by
    /// some microseconds from reading to reading, that of /proc by 10 ms.
    pub start_ns: Vec<i64>,
    /// CLOCK_MONOTONIC at which the id certainly stood for this thread, nanoseconds.
    pub seen_ns: Vec<i64>,
    /// Names.
    pub comm: Vec<Comm>,
    /// Counters that the kernel gave no value for.
    pub absent: Vec<Mask>,
    /// Counters whose value of the kernel cannot be: another value replaces it, or it is absent.
    pub invalid: Vec<Mask>,
    counters: Vec<Vec<u64>>,
}

impl Rows {
    /// Makes rows of no thread with `width` counter columns.
    ///
    /// # Panics
    /// Panics where a `Mask` has fewer bits than `width`.
    pub fn new(width: usize) -> Self {
        assert!(width <= MAX_COLUMNS, "{width} columns; {MAX_COLUMNS} fit");
        Self { counters: vec![Vec::new(); width], ..Self::default() }
    }

    /// Number of threads.
    pub fn len(&self) -> usize {
        self.tid.len()
    }

    /// True without threads.
    pub fn is_empty(&self) -> bool {
        self.tid.is_empty()
    }

    /// Number of counter columns.
    pub fn width(&self) -> usize {
        self.counters.len()
    }

    /// Removes all threads and keeps the memory.
    pub fn clear(&mut self) {
        self.resize(0);
    }

    /// Gives all vectors the length `count`; new threads are zeros.
    pub fn resize(&mut self, count: usize) {
        self.tid.resize(count, 0);
        self.process.resize(count, 0);
        self.start_ns.resize(count, 0);
        self.seen_ns.resize(count, 0);
        self.comm.resize(count, [0; 16]);
        self.absent.resize(count, 0);
        self.invalid.resize(count, 0);
        for column in &mut self.counters {
            column.resize(count, 0);
        }
    }

    /// Appends a thread without counters, and returns its row.
    pub fn push(&mut self, thread: Identity) -> usize {
        let row = self.len();
        self.tid.push(thread.tid);
        self.process.push(thread.process);
        self.start_ns.push(thread.start_ns);
        self.seen_ns.push(thread.seen_ns);
        self.comm.push(thread.comm);
        self.absent.push(0);
        self.invalid.push(0);
        for column in &mut self.counters {
            column.push(0);
        }
        row
    }

    /// Appends a row of other rows of the same width.
    pub fn push_row(&mut self, from: &Rows, row: usize) {
        self.tid.push(from.tid[row]);
        self.process.push(from.process[row]);
        self.start_ns.push(from.start_ns[row]);
        self.seen_ns.push(from.seen_ns[row]);
        self.comm.push(from.comm[row]);
        self.absent.push(from.absent[row]);
        self.invalid.push(from.invalid[row]);
        for (column, other) in self.counters.iter_mut().zip(&from.counters) {
            column.push(other[row]);
        }
    }

    /// Appends all rows of others of the same width.
    pub fn append(&mut self, from: &Rows) {
        self.tid.extend_from_slice(&from.tid);
        self.process.extend_from_slice(&from.process);
        self.start_ns.extend_from_slice(&from.start_ns);
        self.seen_ns.extend_from_slice(&from.seen_ns);
        self.comm.extend_from_slice(&from.comm);
        self.absent.extend_from_slice(&from.absent);
        self.invalid.extend_from_slice(&from.invalid);
        for (column, other) in self.counters.iter_mut().zip(&from.counters) {
            column.extend_from_slice(other);
        }
    }

    /// Keeps the rows for which `keep` is true, in order.
    pub fn retain(&mut self, keep: impl Fn(usize) -> bool) {
        if (0..self.len()).all(&keep) {
            return;
        }
        filter(&mut self.tid, &keep);
        filter(&mut self.process, &keep);
        filter(&mut self.start_ns, &keep);
        filter(&mut self.seen_ns, &keep);
        filter(&mut self.comm, &keep);
        filter(&mut self.absent, &keep);
        filter(&mut self.invalid, &keep);
        for column in &mut self.counters {
            filter(column, &keep);
        }
    }

    /// Values of a counter column.
    pub fn column(&self, column: usize) -> &[u64] {
        &self.counters[column]
    }

    /// Values of a counter column, to write to.
    pub fn column_mut(&mut self, column: usize) -> &mut Vec<u64> {
        &mut self.counters[column]
    }

    /// Value of a counter of a thread.
    pub fn get(&self, row: usize, column: usize) -> u64 {
        self.counters[column][row]
    }

    /// Sets a counter of a thread.
    pub fn set(&mut self, row: usize, column: usize, value: u64) {
        self.counters[column][row] = value;
    }

    /// True where the kernel gave no value.
    pub fn is_absent(&self, row: usize, column: usize) -> bool {
        self.absent[row] >> column & 1 != 0
    }

    /// True if the threads are those of other rows, in the same order, under the same names.
    pub fn has_same_threads(&self, other: &Rows) -> bool {
        self.tid == other.tid
            && self.start_ns == other.start_ns
            && self.comm == other.comm
            && self.process == other.process
    }
}

fn filter<T: Copy>(values: &mut Vec<T>, keep: &impl Fn(usize) -> bool) {
    let mut kept = 0;
    for row in 0..values.len() {
        if keep(row) {
            values[kept] = values[row];
            kept += 1;
        }
    }
    values.truncate(kept);
}

/// Identity of a thread in a reading.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity {
    /// Thread id.
    pub tid: u32,
    /// Id of its process.
    pub process: u32,
    /// Start, CLOCK_MONOTONIC, nanoseconds.
    pub start_ns: i64,
    /// CLOCK_MONOTONIC at which the id certainly stood for the thread, nanoseconds.
    pub seen_ns: i64,
    /// Name.
    pub comm: Comm,
}

/// Exit records: final counters of n threads that have ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exits {
    /// Final counters. A start is late by the time from the thread's end to the drain.
    pub rows: Rows,
    /// How long each thread lived, microseconds.
    pub age_us: Vec<u64>,
    /// CLOCK_MONOTONIC before the drain that gave these records, nanoseconds.
    pub drained_ns: i64,
}

impl Exits {
    /// Makes records of no thread with `width` counter columns.
    pub fn new(width: usize) -> Self {
        Self { rows: Rows::new(width), ..Self::default() }
    }

    /// Appends records of a later drain.
    pub fn append(&mut self, from: &Exits) {
        self.rows.append(&from.rows);
        self.age_us.extend_from_slice(&from.age_us);
        self.drained_ns = from.drained_ns;
    }

    /// Removes all records and keeps the memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.age_us.clear();
    }

    /// Removes the first `count` records and returns them.
    pub fn take_front(&mut self, count: usize) -> Exits {
        let count = count.min(self.rows.len());
        let mut front = Exits::new(self.rows.width());
        front.drained_ns = self.drained_ns;
        for row in 0..count {
            front.rows.push_row(&self.rows, row);
        }
        front.age_us.extend(self.age_us.drain(..count));
        self.rows.retain(|row| row >= count);
        front
    }
}

/// Values of the columns that have sums, of one thread or of several; those that were not given are 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// One value for each column that has sums.
    pub values: Vec<u64>,
    /// Columns with a value.
    pub given: Mask,
}

impl Totals {
    /// Makes totals of nothing, with `count` columns.
    pub fn new(count: usize) -> Self {
        Self { values: vec![0; count], given: 0 }
    }

    /// Value of a column; None if it was not given.
    pub fn get(&self, column: usize) -> Option<u64> {
        (self.given >> column & 1 != 0).then(|| self.values[column])
    }

    /// Adds other totals.
    pub fn add(&mut self, other: &Totals) {
        self.given |= other.given;
        for (value, more) in self.values.iter_mut().zip(&other.values) {
            *value = value.wrapping_add(*more);
        }
    }

    /// Takes off totals that were added before; what would be below 0 is 0.
    pub fn subtract(&mut self, other: &Totals) {
        for (value, less) in self.values.iter_mut().zip(&other.values) {
            *value = value.saturating_sub(*less);
        }
    }

    /// Copy of the totals without the masked columns.
    pub fn without(&self, columns: Mask) -> Totals {
        let mut made = self.clone();
        for (column, value) in made.values.iter_mut().enumerate() {
            if columns >> column & 1 != 0 {
                *value = 0;
            }
        }
        made.given &= !columns;
        made
    }
}

/// A name as text; bytes that are not UTF-8 become replacement characters.
pub fn text(comm: &Comm) -> String {
    let end = comm.iter().position(|&byte| byte == 0).unwrap_or(comm.len());
    String::from_utf8_lossy(&comm[..end]).into_owned()
}

/// Makes a name of bytes; what does not fit is cut off.
pub fn comm(name: &[u8]) -> Comm {
    let mut made = [0; 16];
    let count = name.len().min(made.len() - 1);
    made[..count].copy_from_slice(&name[..count]);
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three() -> Rows {
        let mut rows = Rows::new(2);
        for tid in [7, 8, 9] {
            let row = rows.push(Identity { tid, process: 7, ..Identity::default() });
            rows.set(row, 1, u64::from(tid) * 10);
        }
        rows
    }

    #[test]
    fn retaining_rows_keeps_all_columns_in_step() {
        let mut rows = three();
        rows.retain(|row| row != 1);
        assert_eq!(rows.tid, [7, 9]);
        assert_eq!(rows.column(1), [70, 90]);
        assert_eq!(rows.process.len(), 2);
    }

    #[test]
    fn exits_are_divided_in_order() {
        let mut exits = Exits { rows: three(), age_us: vec![1, 2, 3], drained_ns: 5 };
        let front = exits.take_front(2);
        assert_eq!(
            (front.rows.tid.as_slice(), front.age_us.as_slice()),
            (&[7, 8][..], &[1, 2][..])
        );
        assert_eq!((exits.rows.tid.as_slice(), exits.age_us.as_slice()), (&[9][..], &[3][..]));
        assert_eq!(exits.rows.column(1), [90]);
    }

    #[test]
    fn totals_are_added_and_subtracted_by_column() {
        let mut totals = Totals::new(3);
        totals.add(&Totals { values: vec![5, 0, 1], given: 0b101 });
        totals.add(&Totals { values: vec![1, 2, 0], given: 0b010 });
        assert_eq!(totals, Totals { values: vec![6, 2, 1], given: 0b111 });
        totals.subtract(&Totals { values: vec![1, 3, 0], given: 0b011 });
        assert_eq!(totals, Totals { values: vec![5, 0, 1], given: 0b111 });
    }

    #[test]
    fn names_are_text_whatever_their_bytes_are() {
        assert_eq!(text(&comm(b"worker-1")), "worker-1");
        assert_eq!(text(&comm(b"a\xffb")), "a\u{fffd}b");
        assert_eq!(text(&comm(b"sixteen characters")), "sixteen charact");
    }
}
