//! Tables of facts whose keys are not threads, each an Arrow IPC stream of one batch.
//!
//! What columns a table has is said at runtime: `shared/schemas/frame_tables.json` has them.

use super::arrow::{schema, Batch, Kind, END_OF_STREAM};

/// Maximum key columns of a table.
pub const MAX_KEYS: usize = 4;
/// Key of a row: its key columns, the others 0.
pub type Key = [u32; MAX_KEYS];

/// Life cycle of the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// A row replaces an earlier one with its key; one whose figures are all 0 deletes it.
    Figures,
    /// A row replaces an earlier one with its key; no row is deleted.
    Names,
    /// Rows are added, and repeated by no key frame; a row completes an earlier one with its key.
    Log,
}

/// Name and columns of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Name.
    pub name: String,
    /// Names and types of columns, the key's first.
    pub columns: Vec<(String, Kind)>,
    /// Number of key columns.
    pub keys: usize,
    /// Life cycle of the rows.
    pub rows: RowKind,
}

impl Shape {
    /// Checks that keys are 32-bit numbers and no column is signed.
    ///
    /// # Errors
    /// Tells what is wrong.
    pub fn check(&self) -> Result<(), String> {
        let keys = self.columns.get(..self.keys).filter(|keys| keys.len() <= MAX_KEYS);
        if keys.is_none_or(|keys| keys.iter().any(|(_, kind)| *kind != Kind::U32)) {
            return Err(format!("table {}: a key is not of up to 4 uint32", self.name));
        }
        if self.columns.iter().any(|(_, kind)| *kind == Kind::I64) {
            return Err(format!("table {}: a column is int64", self.name));
        }
        Ok(())
    }
}

/// Texts one behind the other, so that a table of many rows has few allocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    bytes: String,
    ends: Vec<usize>,
}

impl Texts {
    /// Appends a text.
    pub fn push(&mut self, text: &str) {
        self.bytes.push_str(text);
        self.ends.push(self.bytes.len());
    }

    /// Text of a row.
    pub fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[row]]
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True without texts.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// All texts, in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        (0..self.len()).map(|row| self.get(row))
    }
}

/// A column of n rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Numbers of 32 bits.
    U32(Vec<u32>),
    /// Numbers of 64 bits.
    U64(Vec<u64>),
    /// Texts.
    Text(Texts),
}

impl Column {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::U32 => Self::U32(Vec::new()),
            Kind::U64 | Kind::I64 => Self::U64(Vec::new()),
            Kind::Text => Self::Text(Texts::default()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::U32(values) => values.len(),
            Self::U64(values) => values.len(),
            Self::Text(texts) => texts.len(),
        }
    }

    fn kind(&self) -> Kind {
        match self {
            Self::U32(_) => Kind::U32,
            Self::U64(_) => Kind::U64,
            Self::Text(_) => Kind::Text,
        }
    }

    fn bytes(&self) -> usize {
        match self {
            Self::U32(values) => 4 * values.len(),
            Self::U64(values) => 8 * values.len(),
            Self::Text(texts) => 4 * texts.len() + texts.bytes.len(),
        }
    }

    /// Bytes of the value of a row.
    pub fn row_bytes(&self, row: usize) -> usize {
        match self {
            Self::U32(_) => 4,
            Self::U64(_) => 8,
            Self::Text(texts) => 4 + texts.get(row).len(),
        }
    }

    /// True if the first values are those of another column of the same kind.
    fn starts_with(&self, other: &Column) -> bool {
        match (self, other) {
            (Self::U32(one), Self::U32(two)) => one.starts_with(two),
            (Self::U64(one), Self::U64(two)) => one.starts_with(two),
            _ => false,
        }
    }

    /// True if a row has the same value as a row of another column of the same kind.
    fn equals(&self, row: usize, other: &Column, other_row: usize) -> bool {
        match (self, other) {
            (Self::U32(one), Self::U32(two)) => one[row] == two[other_row],
            (Self::U64(one), Self::U64(two)) => one[row] == two[other_row],
            (Self::Text(one), Self::Text(two)) => one.get(row) == two.get(other_row),
            _ => false,
        }
    }

    fn push(&mut self, from: &Column, row: usize) {
        match (self, from) {
            (Self::U32(into), Self::U32(from)) => into.push(from[row]),
            (Self::U64(into), Self::U64(from)) => into.push(from[row]),
            (Self::Text(into), Self::Text(from)) => into.push(from.get(row)),
            // Columns of one shape have one kind: `Table::of` has checked it.
            _ => {}
        }
    }
}

/// Rows of a table.
///
/// Invariant: columns have the kinds of the shape, and one length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Column>,
}

impl Table {
    /// Makes a table without rows.
    pub fn new(shape: &Shape) -> Self {
        Self { columns: shape.columns.iter().map(|(_, kind)| Column::new(*kind)).collect() }
    }

    /// Makes a table of columns.
    ///
    /// # Errors
    /// Tells in what they are not the columns of the shape, or differ in length.
    pub fn of(shape: &Shape, columns: Vec<Column>) -> Result<Self, String> {
        let kinds = columns.iter().map(Column::kind);
        if !kinds.eq(shape.columns.iter().map(|(_, kind)| *kind)) {
            return Err(format!("table {} has columns of other kinds", shape.name));
        }
        let rows = columns.first().map_or(0, Column::len);
        if columns.iter().any(|column| column.len() != rows) {
            return Err(format!("table {} has columns of several lengths", shape.name));
        }
        Ok(Self { columns })
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.columns.first().map_or(0, Column::len)
    }

    /// True without rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Bytes of all values.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(Column::bytes).sum()
    }

    /// Key of a row.
    pub fn key(&self, row: usize, keys: usize) -> Key {
        let mut key = Key::default();
        for (part, column) in key.iter_mut().zip(&self.columns[..keys]) {
            if let Column::U32(values) = column {
                *part = values[row];
            }
        }
        key
    }

    /// True if the first rows have the keys of all rows of another table, in their order.
    pub fn starts_with_keys_of(&self, other: &Table, keys: usize) -> bool {
        let mut pairs = self.columns[..keys].iter().zip(&other.columns[..keys]);
        pairs.all(|(one, two)| one.starts_with(two))
    }

    /// True if two rows have the same values besides their keys.
    pub fn has_values_of(&self, row: usize, other: &Table, other_row: usize, keys: usize) -> bool {
        let pairs = self.columns.iter().zip(&other.columns).skip(keys);
        pairs.into_iter().all(|(one, two)| one.equals(row, two, other_row))
    }

    /// Appends a row of another table of the same shape.
    pub fn push(&mut self, from: &Table, row: usize) {
        for (column, other) in self.columns.iter_mut().zip(&from.columns) {
            column.push(other, row);
        }
    }

    /// Appends a row of another table with figures of 0: a deleted one.
    pub fn push_deleted(&mut self, from: &Table, row: usize) {
        for (column, other) in self.columns.iter_mut().zip(&from.columns) {
            match column {
                Column::U64(values) => values.push(0),
                _ => column.push(other, row),
            }
        }
    }
}

/// Encodes tables of one shape.
pub struct TableEncoder {
    schema: Vec<u8>,
}

impl TableEncoder {
    /// Makes an encoder.
    pub fn new(shape: &Shape) -> Self {
        let columns = shape.columns.iter().map(|(name, kind)| (name.as_str(), *kind));
        Self { schema: schema(columns) }
    }

    /// Writes a stream at `start` of a buffer, a multiple of 8 bytes long, and returns its end.
    pub fn encode(&self, out: &mut Vec<u8>, start: usize, table: &Table) -> usize {
        write_at(out, start, &self.schema);
        let kinds = table.columns.iter().map(Column::kind);
        let mut batch = Batch::begin(out, start + self.schema.len(), table.len(), kinds);
        for column in &table.columns {
            match column {
                Column::U32(values) => batch.u32s(values.iter().copied()),
                Column::U64(values) => batch.u64s(values.iter().copied()),
                Column::Text(texts) => batch.texts(texts.iter()),
            }
        }
        let end = batch.end();
        write_at(out, end, &END_OF_STREAM);
        end + END_OF_STREAM.len()
    }
}

fn write_at(out: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if out.len() < end {
        out.resize(end, 0);
    }
    out[at..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    pub fn wakes() -> Shape {
        Shape {
            name: "wakes".into(),
            columns: vec![
                ("waker_tid".into(), Kind::U32),
                ("count".into(), Kind::U64),
                ("waker_name".into(), Kind::Text),
            ],
            keys: 1,
            rows: RowKind::Figures,
        }
    }

    fn texts(all: &[&str]) -> Texts {
        let mut texts = Texts::default();
        all.iter().for_each(|text| texts.push(text));
        texts
    }

    #[test]
    fn a_table_has_the_columns_of_its_shape() {
        let shape = wakes();
        assert!(shape.check().is_ok());
        let (tids, counts) = (Column::U32(vec![1, 2]), Column::U64(vec![5, 6]));
        let names = Column::Text(texts(&["a", ""]));
        assert!(Table::of(&shape, vec![tids.clone(), counts.clone()]).is_err());
        assert!(Table::of(&shape, vec![counts.clone(), counts.clone(), names.clone()]).is_err());
        let short = Column::Text(texts(&["a"]));
        assert!(Table::of(&shape, vec![tids.clone(), counts.clone(), short]).is_err());
        let table = Table::of(&shape, vec![tids, counts, names]).unwrap();
        assert_eq!((table.len(), table.key(1, 1)), (2, [2, 0, 0, 0]));
        let mut out = vec![7; 3];
        let end = TableEncoder::new(&shape).encode(&mut out, 8, &table);
        assert_eq!(end % 8, 0);
        assert!(out[..end].ends_with(&END_OF_STREAM));
    }

    #[test]
    fn keys_are_a_few_numbers() {
        let mut shape = wakes();
        shape.keys = 2;
        assert!(shape.check().is_err());
        shape.keys = 9;
        assert!(shape.check().is_err());
    }
}
