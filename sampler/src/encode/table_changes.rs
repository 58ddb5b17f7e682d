//! Choice of table rows for a frame: the changed rows, or all.

use std::collections::HashMap;

use super::header::TableHeader;
use super::tables::{Key, RowKind, Shape, Table, TableEncoder};

/// Rows of a table of a frame.
pub const MAX_TABLE_ROWS: usize = 65_536;
/// Maximum size of the tables in a frame, in bytes: the room beside rows and events of the largest frames.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// Tables of a frame, until the next call.
#[derive(Clone, Copy, Debug)]
pub struct EncodedTables<'a> {
    /// Headers of the encoded tables.
    pub described: &'a [TableHeader],
    /// Their streams, one behind the other.
    pub bytes: &'a [u8],
}

impl EncodedTables<'_> {
    /// No tables.
    pub const NONE: EncodedTables<'static> = EncodedTables { described: &[], bytes: &[] };
}

struct Known {
    shape: Shape,
    encoder: TableEncoder,
    /// Rows that readers have.
    sent: Table,
    /// Rows of the last reading; for a log, rows that wait for a frame.
    now: Table,
    /// Rows beyond the bound in the last reading; for a log, in all readings since a frame.
    omitted: usize,
}

impl Known {
    fn take(&mut self, table: Table) {
        if self.shape.rows == RowKind::Log {
            let (now, omitted) =
                self.now.joined(&table, &self.shape).bounded(&self.shape, MAX_TABLE_ROWS);
            (self.now, self.omitted) = (now, self.omitted + omitted);
        } else {
            (self.now, self.omitted) = table.bounded(&self.shape, MAX_TABLE_ROWS);
        }
    }

    /// Rows of a frame, and how many are left out; None if a frame does not carry the table.
    fn next(&mut self, whole: bool) -> Option<(Table, usize)> {
        if self.shape.rows == RowKind::Log {
            let rows = std::mem::replace(&mut self.now, Table::new(&self.shape));
            let left_out = std::mem::take(&mut self.omitted);
            return (!rows.is_empty() || left_out > 0).then_some((rows, left_out));
        }
        let rows = if whole {
            self.now.clone()
        } else {
            // New rows and deleted ones may be more than a table has; key frames have all again.
            changed(&self.shape, &self.sent, &self.now).bounded(&self.shape, MAX_TABLE_ROWS).0
        };
        self.sent.clone_from(&self.now);
        (!rows.is_empty() || (self.omitted > 0 && whole)).then_some((rows, self.omitted))
    }
}

/// The tables of one target, as they were read and as readers have them.
pub struct TableChanges {
    known: Vec<Known>,
    read_ns: i64,
    is_read: bool,
    max_bytes: usize,
    described: Vec<TableHeader>,
    buffer: Vec<u8>,
}

impl TableChanges {
    /// Makes tables without rows, in the order in which frames have them.
    ///
    /// # Errors
    /// Tells which shape is none of a table.
    pub fn new(shapes: Vec<Shape>) -> Result<Self, String> {
        let known = shapes
            .into_iter()
            .map(|shape| {
                shape.check()?;
                let encoder = TableEncoder::new(&shape);
                let (sent, now) = (Table::new(&shape), Table::new(&shape));
                Ok(Known { shape, encoder, sent, now, omitted: 0 })
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            known,
            read_ns: 0,
            is_read: false,
            max_bytes: MAX_BYTES,
            described: Vec::new(),
            buffer: Vec::new(),
        })
    }

    /// Shapes, in order.
    pub fn shapes(&self) -> impl Iterator<Item = &Shape> {
        self.known.iter().map(|known| &known.shape)
    }

    /// Takes a complete reading: all current rows; for logs, new and completed rows.
    /// Tables that it does not have are empty.
    ///
    /// Rows of a log wait for the next frame, and are in that frame only.
    ///
    /// `tables` gives tables by the places of their shapes, `read_ns` when they were read, since
    /// attach.
    pub fn take(&mut self, tables: impl IntoIterator<Item = (usize, Table)>, read_ns: i64) {
        for known in self.known.iter_mut().filter(|known| known.shape.rows != RowKind::Log) {
            known.take(Table::new(&known.shape));
        }
        for (place, table) in tables {
            if let Some(known) = self.known.get_mut(place) {
                known.take(table);
            }
        }
        self.read_ns = read_ns.max(0);
        self.is_read = true;
    }

    /// Encodes the tables of a frame: rows that changed since they were sent; for a key frame all.
    /// Rows of logs are always the waiting ones.
    pub fn next(&mut self, whole: bool) -> EncodedTables<'_> {
        self.described.clear();
        if !std::mem::take(&mut self.is_read) && !whole {
            return EncodedTables::NONE;
        }
        let (mut end, mut size) = (0, 0);
        for known in &mut self.known {
            let Some((rows, left_out)) = known.next(whole) else { continue };
            let (rows, too_many) = rows.fitting(&known.shape, self.max_bytes - size);
            size += rows.bytes();
            let start = end;
            end = known.encoder.encode(&mut self.buffer, start, &rows);
            self.described.push(TableHeader {
                name: known.shape.name.clone(),
                rows: rows.len(),
                bytes: end - start,
                omitted: left_out + too_many,
                read_ns: self.read_ns,
            });
        }
        EncodedTables { described: &self.described, bytes: &self.buffer[..end] }
    }
}

/// New and changed rows, and deleted rows with figures of 0.
fn changed(shape: &Shape, before: &Table, now: &Table) -> Table {
    let keys = shape.keys;
    let mut changes = Table::new(shape);
    if now.starts_with_keys_of(before, keys) {
        for row in 0..now.len() {
            if row >= before.len() || !now.has_values_of(row, before, row, keys) {
                changes.push(now, row);
            }
        }
        return changes;
    }
    let mut earlier: HashMap<Key, (usize, bool)> =
        (0..before.len()).map(|row| (before.key(row, keys), (row, false))).collect();
    for row in 0..now.len() {
        match earlier.get_mut(&now.key(row, keys)) {
            Some((place, stays)) => {
                *stays = true;
                if !now.has_values_of(row, before, *place, keys) {
                    changes.push(now, row);
                }
            }
            None => changes.push(now, row),
        }
    }
    if shape.rows == RowKind::Figures {
        let mut gone: Vec<usize> =
            earlier.into_values().filter(|(_, stays)| !stays).map(|(row, _)| row).collect();
        gone.sort_unstable();
        for row in gone {
            changes.push_deleted(before, row);
        }
    }
    changes
}

#[cfg(test)]
mod tests {
    use super::super::arrow::Kind;
    use super::super::tables::Column;
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stays() -> Shape {
        let columns = [("tid", Kind::U32), ("state", Kind::U32), ("count", Kind::U64)];
        Shape {
            name: "stays".into(),
            columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
            keys: 2,
            rows: RowKind::Figures,
        }
    }

    fn table(rows: &BTreeMap<(u32, u32), u64>) -> Table {
        let columns = vec![
            Column::U32(rows.keys().map(|key| key.0).collect()),
            Column::U32(rows.keys().map(|key| key.1).collect()),
            Column::U64(rows.values().copied().collect()),
        ];
        Table::of(&stays(), columns).unwrap()
    }

    fn rows_of(table: &Table) -> BTreeMap<(u32, u32), u64> {
        let Column::U64(counts) = &table.columns()[2] else { unreachable!() };
        let key = |row| (table.key(row, 2)[0], table.key(row, 2)[1]);
        (0..table.len()).map(|row| (key(row), counts[row])).collect()
    }

    fn simple(count: u64) -> Table {
        table(&BTreeMap::from([((1, 4), count)]))
    }

    fn changes() -> TableChanges {
        TableChanges::new(vec![stays()]).unwrap()
    }

    proptest! {
        #[test]
        fn a_reader_of_changes_knows_the_table(
            history in proptest::collection::vec(
                proptest::collection::btree_map((0..4u32, 0..2u32), 1..4u64, 0..8), 0..6)
        ) {
            let mut known = BTreeMap::new();
            let mut before = Table::new(&stays());
            for rows in history {
                let now = table(&rows);
                for (key, count) in rows_of(&changed(&stays(), &before, &now)) {
                    prop_assert_ne!(known.get(&key), Some(&count));
                    if count == 0 { known.remove(&key); } else { known.insert(key, count); }
                }
                prop_assert_eq!(&known, &rows);
                before = now;
            }
        }
    }

    #[test]
    fn what_changed_is_sent_once_and_a_key_frame_has_all() {
        let mut tables = changes();
        assert!(tables.next(true).described.is_empty());
        tables.take([(0, simple(5))], 7);
        let described = tables.next(false).described.to_vec();
        assert_eq!((described[0].rows, described[0].read_ns), (1, 7));
        assert_eq!(described[0].bytes % 8, 0);
        assert!(tables.next(false).described.is_empty());
        assert_eq!(tables.next(true).described[0].rows, 1);
        tables.take([(0, simple(5))], 8);
        assert!(tables.next(false).described.is_empty());
        tables.take([], 9);
        assert_eq!(tables.next(false).described[0].rows, 1);
        assert!(tables.next(true).described.is_empty());
    }

    #[test]
    fn readings_between_two_frames_add_up() {
        let mut tables = changes();
        tables.take([(0, simple(5))], 1);
        tables.take([(0, simple(6))], 2);
        assert_eq!(tables.next(false).described[0].read_ns, 2);
        tables.take([(0, simple(7))], 3);
        tables.take([(0, simple(6))], 4);
        assert!(tables.next(false).described.is_empty());
    }

    #[test]
    fn a_table_is_bounded_and_what_is_left_out_is_counted() {
        let mut tables = changes();
        let rows =
            (0..MAX_TABLE_ROWS as u32 + 7).map(|tid| ((tid, 1), if tid < 7 { 1 } else { 2 }));
        tables.take([(0, table(&rows.collect()))], 0);
        let described = tables.next(true).described.to_vec();
        assert_eq!((described[0].rows, described[0].omitted), (MAX_TABLE_ROWS, 7));
    }

    #[test]
    fn changes_of_more_rows_than_a_table_has_are_sent_as_far_as_they_fit() {
        let mut tables = changes();
        let half = MAX_TABLE_ROWS as u32 * 2 / 3;
        tables.take([(0, table(&(0..half).map(|tid| ((tid, 1), 1)).collect()))], 0);
        tables.next(true);
        tables.take([(0, table(&(half..2 * half).map(|tid| ((tid, 1), 1)).collect()))], 1);
        assert_eq!(tables.next(false).described[0].rows, MAX_TABLE_ROWS);
    }

    #[test]
    fn a_table_that_does_not_fit_says_how_many_rows_it_has() {
        let mut tables = changes();
        tables.max_bytes = 10;
        tables.take([(0, simple(5))], 0);
        let described = tables.next(true).described.to_vec();
        assert_eq!((described[0].rows, described[0].omitted), (0, 1));
    }

    #[test]
    fn what_does_not_fit_leaves_room_for_what_does() {
        let mut tables = TableChanges::new(vec![stays(), log()]).unwrap();
        tables.max_bytes = 40;
        tables.take([(0, table(&(0..3).map(|tid| ((tid, 1), 1)).collect())), (1, simple(5))], 0);
        let described = tables.next(true).described.to_vec();
        assert_eq!((described[0].rows, described[0].omitted), (2, 1));
        assert_eq!((described[1].rows, described[1].omitted), (0, 1));
        tables.take([(0, simple(5)), (1, simple(6))], 1);
        let described = tables.next(true).described.to_vec();
        assert_eq!(described.iter().map(|one| one.rows).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn names_are_never_deleted() {
        let shape = Shape { rows: RowKind::Names, ..stays() };
        assert!(changed(&shape, &simple(5), &Table::new(&shape)).is_empty());
        let more = table(&BTreeMap::from([((0, 4), 0), ((1, 4), 5), ((2, 4), 0)]));
        assert_eq!(rows_of(&changed(&shape, &simple(5), &more)).len(), 2);
    }

    fn log() -> Shape {
        Shape { name: "samples".into(), rows: RowKind::Log, ..stays() }
    }

    /// A step in the life of a log: rows are read, or a frame is made.
    #[derive(Clone, Debug)]
    enum Step {
        Read(BTreeMap<(u32, u32), u64>),
        Frame { key: bool },
    }

    fn step() -> impl Strategy<Value = Step> {
        let rows = proptest::collection::btree_map((0..4u32, 0..2u32), 0..4u64, 0..6);
        prop_oneof![rows.prop_map(Step::Read), any::<bool>().prop_map(|key| Step::Frame { key })]
    }

    proptest! {
        #[test]
        fn each_row_of_a_log_is_in_the_next_frame_only(
            steps in proptest::collection::vec(step(), 0..12)
        ) {
            let mut tables = TableChanges::new(vec![log()]).unwrap();
            let mut waiting = BTreeMap::new();
            for step in steps {
                match step {
                    Step::Read(rows) => {
                        tables.take([(0, table(&rows))], 1);
                        waiting.extend(rows);
                    }
                    Step::Frame { key } => {
                        let found = tables.known[0].now.clone();
                        let described = tables.next(key).described.to_vec();
                        let rows = described.first().map_or(0, |one| one.rows);
                        prop_assert_eq!(rows, waiting.len());
                        prop_assert!(described.iter().all(|one| one.omitted == 0));
                        prop_assert_eq!(rows_of(&found), std::mem::take(&mut waiting));
                    }
                }
            }
        }
    }

    #[test]
    fn a_key_frame_does_not_repeat_a_log_and_a_reading_deletes_nothing_of_it() {
        let mut tables = TableChanges::new(vec![log()]).unwrap();
        tables.take([(0, simple(0))], 1);
        tables.take([], 2);
        let described = tables.next(true).described.to_vec();
        assert_eq!((described[0].rows, described[0].omitted, described[0].read_ns), (1, 0, 2));
        assert!(tables.next(true).described.is_empty());
        tables.take([(0, simple(0))], 3);
        assert_eq!(tables.next(false).described[0].rows, 1);
        assert!(tables.next(false).described.is_empty());
    }

    #[test]
    fn a_log_is_bounded_and_what_is_left_out_is_counted_once() {
        let mut tables = TableChanges::new(vec![log()]).unwrap();
        let rows =
            |tids: std::ops::Range<u32>, count| table(&tids.map(|tid| ((tid, 1), count)).collect());
        let most = MAX_TABLE_ROWS as u32;
        tables.take([(0, rows(0..most - 1, 1))], 1);
        // One more fits, and rows that wait are completed.
        tables.take([(0, rows(most - 2..most + 3, 2))], 2);
        assert_eq!(rows_of(&tables.known[0].now)[&(most - 2, 1)], 2);
        tables.take([(0, rows(most..most + 4, 3))], 3);
        let described = tables.next(false).described.to_vec();
        assert_eq!((described[0].rows, described[0].omitted), (MAX_TABLE_ROWS, 7));
        assert!(tables.next(true).described.is_empty());
    }
}
