//! The Arrow part of frames: rows of threads, without the columns that are 0 in all of them.
//!
//! Of a delta frame it is the message of a record batch with `tid` and counters; of a key frame a
//! stream with `tid`, of a group `pid`, then `start_ns`, `name` and counters.

use super::arrow::{schema, Batch, Kind, END_OF_STREAM};
use crate::columns::{Mask, Rows};
use crate::fields::{columns_of, low_bits, Fields};

/// Identities of threads in a key frame, besides their counters.
pub trait Identities {
    /// Start of the thread in a row, nanoseconds since attach.
    fn start_ns(&self, row: usize) -> i64;
    /// Name of the thread in a row.
    fn name(&self, row: usize) -> &str;
}

/// Rows as bytes, until the encoder's next call.
#[derive(Clone, Copy, Debug)]
pub struct EncodedRows<'a> {
    /// The Arrow part; empty without rows in a delta frame.
    pub bytes: &'a [u8],
    /// Counter columns that it has; None: all, or there are no rows.
    pub columns: Option<Mask>,
}

/// Encodes the rows of one target's frames.
pub struct RowEncoder {
    names: Vec<String>,
    is_group: bool,
    buffer: Vec<u8>,
    schema: Vec<u8>,
    schema_columns: Option<Mask>,
}

impl RowEncoder {
    /// Makes an encoder; the key frames of a group say which process a thread is of.
    pub fn new(fields: &Fields, is_group: bool) -> Self {
        Self {
            names: fields.names().to_vec(),
            is_group,
            buffer: Vec::new(),
            schema: Vec::new(),
            schema_columns: None,
        }
    }

    /// Encodes counters of the rows `chosen`, ascending, for a delta frame.
    pub fn delta(&mut self, rows: &Rows, chosen: &[usize]) -> EncodedRows<'_> {
        if chosen.is_empty() {
            return EncodedRows { bytes: &[], columns: None };
        }
        let given = given(rows, chosen);
        let kinds = std::iter::once(Kind::U32).chain(columns_of(given.columns).map(|_| Kind::U64));
        let mut batch = Batch::begin(&mut self.buffer, 0, chosen.len(), kinds);
        batch.u32s(chosen.iter().map(|&row| rows.tid[row]));
        counters(&mut batch, rows, chosen, given);
        let end = batch.end();
        EncodedRows { bytes: &self.buffer[..end], columns: self.named(given.columns) }
    }

    /// Encodes the rows `chosen`, ascending, with their identities, for a key frame.
    pub fn key(
        &mut self,
        rows: &Rows,
        chosen: &[usize],
        threads: &dyn Identities,
    ) -> EncodedRows<'_> {
        // A batch without rows has all columns: it says which ones there are.
        let given = if chosen.is_empty() {
            Given { columns: low_bits(self.names.len()), absent: 0 }
        } else {
            given(rows, chosen)
        };
        if self.schema_columns != Some(given.columns) {
            self.schema = schema(
                identity(self.is_group)
                    .chain(columns_of(given.columns).map(|n| (self.names[n].as_str(), Kind::U64))),
            );
            self.schema_columns = Some(given.columns);
        }
        let start = self.schema.len();
        if self.buffer.len() < start {
            self.buffer.resize(start, 0);
        }
        self.buffer[..start].copy_from_slice(&self.schema);
        let kinds = identity(self.is_group)
            .map(|(_, kind)| kind)
            .chain(columns_of(given.columns).map(|_| Kind::U64));
        let mut batch = Batch::begin(&mut self.buffer, start, chosen.len(), kinds);
        batch.u32s(chosen.iter().map(|&row| rows.tid[row]));
        if self.is_group {
            batch.u32s(chosen.iter().map(|&row| rows.process[row]));
        }
        batch.i64s(chosen.iter().map(|&row| threads.start_ns(row)));
        batch.texts(chosen.iter().map(|&row| threads.name(row)));
        counters(&mut batch, rows, chosen, given);
        let end = batch.end();
        let behind = end + END_OF_STREAM.len();
        if self.buffer.len() < behind {
            self.buffer.resize(behind, 0);
        }
        self.buffer[end..behind].copy_from_slice(&END_OF_STREAM);
        EncodedRows { bytes: &self.buffer[..behind], columns: self.named(given.columns) }
    }

    fn named(&self, columns: Mask) -> Option<Mask> {
        (columns != low_bits(self.names.len())).then_some(columns)
    }
}

fn identity<'a>(is_group: bool) -> impl Iterator<Item = (&'a str, Kind)> {
    let pid = is_group.then_some(("pid", Kind::U32));
    std::iter::once(("tid", Kind::U32))
        .chain(pid)
        .chain([("start_ns", Kind::I64), ("name", Kind::Text)])
}

/// Columns with a value other than 0 in some row, and those that some row lacks.
#[derive(Clone, Copy)]
struct Given {
    columns: Mask,
    absent: Mask,
}

fn given(rows: &Rows, chosen: &[usize]) -> Given {
    let absent =
        chosen.iter().fold(0, |mask, &row| mask | rows.absent[row]) & low_bits(rows.width());
    let columns = (0..rows.width())
        .filter(|&column| {
            let values = rows.column(column);
            chosen.iter().any(|&row| values[row] != 0)
        })
        .fold(absent, |mask, column| mask | 1 << column);
    Given { columns, absent }
}

fn counters(batch: &mut Batch<'_>, rows: &Rows, chosen: &[usize], given: Given) {
    // All rows ascending are the column itself: it is copied as a whole.
    let all = chosen.len() == rows.len();
    for column in columns_of(given.columns) {
        let values = rows.column(column);
        let of_chosen = chosen.iter().map(|&row| values[row]);
        if given.absent >> column & 1 != 0 {
            let absent = chosen.iter().map(|&row| rows.is_absent(row, column));
            let missing = absent.clone().filter(|&one| one).count();
            batch.u64s_or_absent(of_chosen, absent, missing);
        } else if all {
            batch.u64s(values.iter().copied());
        } else {
            batch.u64s(of_chosen);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Identity;

    struct Numbered;

    impl Identities for Numbered {
        fn start_ns(&self, row: usize) -> i64 {
            row as i64 - 1
        }
        fn name(&self, row: usize) -> &str {
            ["main", "", "worker é"][row]
        }
    }

    fn rows() -> (Fields, Rows) {
        let fields = Fields::new(["a", "b", "c"]).unwrap();
        let mut rows = Rows::new(3);
        for tid in [7, 8, 9] {
            let row = rows.push(Identity { tid, process: 7, ..Identity::default() });
            rows.set(row, 0, u64::from(tid) << 40);
        }
        rows.absent[2] = 0b100;
        (fields, rows)
    }

    fn long(bytes: &[u8], at: usize) -> u64 {
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    }

    #[test]
    fn a_delta_has_columns_with_a_value_or_without_one() {
        let (fields, rows) = rows();
        let mut encoder = RowEncoder::new(&fields, false);
        let made = encoder.delta(&rows, &[0, 1, 2]);
        assert_eq!(made.columns, Some(0b101));
        // tid; a; a bitmap and c.
        assert_eq!(made.bytes.len() % 8, 0);
        assert_eq!(long(made.bytes, 40), 16 + 24 + 8 + 24);
        let body = &made.bytes[made.bytes.len() - 72..];
        assert_eq!(&body[..16], [7, 0, 0, 0, 8, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(long(body, 16), 7 << 40);
        assert_eq!(long(body, 40), 0b011);
        let made = encoder.delta(&rows, &[1]);
        assert_eq!(made.columns, Some(0b001));
        assert_eq!(long(made.bytes, 72), 1);
        assert_eq!(long(made.bytes, made.bytes.len() - 8), 8 << 40);
    }

    #[test]
    fn a_delta_without_rows_is_nothing() {
        let (fields, rows) = rows();
        let mut encoder = RowEncoder::new(&fields, false);
        let made = encoder.delta(&rows, &[]);
        assert!(made.bytes.is_empty() && made.columns.is_none());
    }

    #[test]
    fn what_was_written_before_does_not_show() {
        let (fields, rows) = rows();
        let mut used = RowEncoder::new(&fields, true);
        let first = used.key(&rows, &[0, 1, 2], &Numbered).bytes.to_vec();
        let second = used.delta(&rows, &[0, 2]).bytes.to_vec();
        assert_eq!(used.key(&rows, &[0, 1, 2], &Numbered).bytes, first);
        assert_eq!(RowEncoder::new(&fields, true).delta(&rows, &[0, 2]).bytes, second);
    }

    #[test]
    fn a_key_frame_is_a_stream() {
        let (fields, rows) = rows();
        let mut encoder = RowEncoder::new(&fields, true);
        let made = encoder.key(&rows, &[0, 1, 2], &Numbered);
        assert_eq!(made.bytes.len() % 8, 0);
        assert!(made.bytes.ends_with(&END_OF_STREAM));
        assert_eq!(made.columns, Some(0b101));
        let text = String::from_utf8_lossy(made.bytes);
        assert!(text.contains("start_ns") && text.contains("pid") && text.contains("mainworker é"));
        assert_eq!(encoder.key(&rows, &[], &Numbered).columns, None);
    }
}
