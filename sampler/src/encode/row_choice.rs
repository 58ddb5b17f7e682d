//! Choice of table rows when not all fit.

use std::collections::hash_map::Entry;
use std::collections::HashMap;

use super::tables::{Column, RowKind, Shape, Table};

impl Table {
    /// At most `most` rows, in order, and the number of omitted ones. Tables of figures keep the rows with
    /// the greatest first figures, names and logs the first rows.
    pub fn bounded(self, shape: &Shape, most: usize) -> (Self, usize) {
        let omitted = self.len().saturating_sub(most);
        if omitted == 0 {
            return (self, 0);
        }
        let figures = self.columns().iter().find_map(|column| match column {
            Column::U64(values) if shape.rows == RowKind::Figures => Some(values),
            _ => None,
        });
        let mut rows: Vec<usize> = (0..self.len()).collect();
        if let (Some(figures), true) = (figures, most > 0) {
            rows.select_nth_unstable_by_key(most - 1, |&row| {
                (std::cmp::Reverse(figures[row]), row)
            });
        }
        rows.truncate(most);
        rows.sort_unstable();
        (self.chosen(shape, rows), omitted)
    }

    /// The first rows that fit into `most` bytes, and the number of omitted ones.
    pub fn fitting(self, shape: &Shape, bytes: usize) -> (Self, usize) {
        if self.bytes() <= bytes {
            return (self, 0);
        }
        let mut size = 0;
        let fits = |&row: &usize| {
            size += self.columns().iter().map(|column| column.row_bytes(row)).sum::<usize>();
            size <= bytes
        };
        let kept = (0..self.len()).take_while(fits).count();
        (self.chosen(shape, 0..kept), self.len() - kept)
    }

    fn chosen(&self, shape: &Shape, rows: impl IntoIterator<Item = usize>) -> Self {
        let mut chosen = Self::new(shape);
        for row in rows {
            chosen.push(self, row);
        }
        chosen
    }

    /// Rows of a log and those added later, in the order in which their keys came first: of several
    /// rows with a key the last one.
    pub fn joined(&self, later: &Table, shape: &Shape) -> Self {
        let sources = [self, later];
        let mut places = HashMap::new();
        let mut chosen: Vec<(&Table, usize)> = Vec::new();
        for source in sources {
            for row in 0..source.len() {
                match places.entry(source.key(row, shape.keys)) {
                    Entry::Occupied(place) => chosen[*place.get()] = (source, row),
                    Entry::Vacant(place) => {
                        place.insert(chosen.len());
                        chosen.push((source, row));
                    }
                }
            }
        }
        let mut joined = Self::new(shape);
        for (source, row) in chosen {
            joined.push(source, row);
        }
        joined
    }
}

#[cfg(test)]
mod tests {
    use super::super::arrow::Kind;
    use super::super::tables::Texts;
    use super::*;

    fn wakes() -> Shape {
        let columns = [("tid", Kind::U32), ("count", Kind::U64), ("name", Kind::Text)];
        Shape {
            name: "wakes".into(),
            columns: columns.map(|(name, kind)| (name.to_owned(), kind)).to_vec(),
            keys: 1,
            rows: RowKind::Figures,
        }
    }

    fn names(all: &[&str]) -> Column {
        let mut texts = Texts::default();
        all.iter().for_each(|text| texts.push(text));
        Column::Text(texts)
    }

    #[test]
    fn the_rows_with_the_greatest_figures_are_kept_in_order() {
        let shape = wakes();
        let columns = vec![
            Column::U32(vec![1, 2, 3, 4]),
            Column::U64(vec![5, 1, 5, 9]),
            names(&["a", "b", "c", "d"]),
        ];
        let table = Table::of(&shape, columns).unwrap();
        let (kept, omitted) = table.clone().bounded(&shape, 2);
        assert_eq!((omitted, &kept.columns()[0]), (2, &Column::U32(vec![1, 4])));
        assert_eq!(table.clone().bounded(&shape, 0).0.len(), 0);
        assert_eq!(table.clone().bounded(&shape, 4), (table.clone(), 0));
        for rows in [RowKind::Names, RowKind::Log] {
            let (kept, omitted) = table.clone().bounded(&Shape { rows, ..shape.clone() }, 3);
            assert_eq!((omitted, &kept.columns()[0]), (1, &Column::U32(vec![1, 2, 3])));
        }
    }

    #[test]
    fn the_first_rows_that_fit_are_kept() {
        let shape = wakes();
        let names = names(&["", "some", "a"]);
        let columns = vec![Column::U32(vec![1, 2, 3]), Column::U64(vec![5, 1, 9]), names];
        let table = Table::of(&shape, columns).unwrap();
        assert_eq!(table.bytes(), 16 + 20 + 17);
        assert_eq!(table.clone().fitting(&shape, 53), (table.clone(), 0));
        for (bytes, kept) in [(52, 2), (36, 2), (35, 1), (16, 1), (15, 0)] {
            let (fitting, omitted) = table.clone().fitting(&shape, bytes);
            assert_eq!((fitting.len(), omitted), (kept, 3 - kept));
            assert!(fitting.bytes() <= bytes);
        }
    }

    #[test]
    fn a_later_row_stands_where_the_first_of_its_key_stood() {
        let shape = Shape { rows: RowKind::Log, ..wakes() };
        let table = |keys: &[u32], texts: &[&str]| {
            let counts = Column::U64(vec![0; keys.len()]);
            Table::of(&shape, vec![Column::U32(keys.to_vec()), counts, names(texts)]).unwrap()
        };
        let joined =
            table(&[3, 1], &["a", "b"]).joined(&table(&[2, 3, 2], &["c", "d", "e"]), &shape);
        assert_eq!(joined, table(&[3, 1, 2], &["d", "b", "e"]));
    }
}
