//! Rows of keys and sums, one a key. Pure.

/// Rows of `K` words of a key and `V` sums. Sums wrap around.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sums<const K: usize, const V: usize> {
    rows: Vec<([u64; K], [u64; V])>,
    /// Rows from the first on whose keys ascend, none twice.
    summed: usize,
}

impl<const K: usize, const V: usize> Default for Sums<K, V> {
    fn default() -> Self {
        Self { rows: Vec::new(), summed: 0 }
    }
}

impl<const K: usize, const V: usize> Sums<K, V> {
    /// Adds to the sums of a key.
    pub fn add(&mut self, key: [u64; K], values: [u64; V]) {
        let ascends =
            self.summed == self.rows.len() && self.rows.last().is_none_or(|last| last.0 < key);
        self.rows.push((key, values));
        self.summed += usize::from(ascends);
    }

    /// Adds all rows of others.
    pub fn absorb(&mut self, others: &Self) {
        for &(key, values) in &others.rows {
            self.add(key, values);
        }
    }

    /// Number of rows that may have the key of others.
    pub fn pending(&self) -> usize {
        self.rows.len() - self.summed
    }

    /// Rows by ascending keys, one a key.
    pub fn rows(&mut self) -> &[([u64; K], [u64; V])] {
        if self.summed < self.rows.len() {
            self.rows.sort_by_key(|row| row.0); // stable: fast where most rows ascend
            self.rows.dedup_by(|later, first| {
                let same = later.0 == first.0;
                if same {
                    for (sum, value) in first.1.iter_mut().zip(later.1) {
                        *sum = sum.wrapping_add(value);
                    }
                }
                same
            });
            self.summed = self.rows.len();
        }
        &self.rows
    }

    /// Gives rows other keys; None removes a row.
    pub fn rekey(&mut self, key: impl Fn([u64; K]) -> Option<[u64; K]>) {
        let before = std::mem::take(&mut self.rows);
        self.summed = 0;
        self.rows.reserve(before.len());
        for (old, values) in before {
            if let Some(new) = key(old) {
                self.add(new, values);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rows_of_a_key_are_added_up(
            rows in prop::collection::vec((0_u64..4, 0_u64..3, 0_u64..1 << 40), 0..30),
        ) {
            let (mut sums, mut expected) = (Sums::<2, 1>::default(), BTreeMap::new());
            for (place, (one, other, value)) in rows.into_iter().enumerate() {
                sums.add([one, other], [value]);
                *expected.entry([one, other]).or_insert(0) += value;
                if place % 7 == 0 {
                    sums.rows();
                }
            }
            let expected: Vec<_> = expected.into_iter().map(|(key, sum)| (key, [sum])).collect();
            prop_assert_eq!(sums.rows(), expected);
        }
    }

    #[test]
    fn rows_get_other_keys_and_are_added_up_again() {
        let mut sums = Sums::<1, 1>::default();
        for key in 0..6 {
            sums.add([key], [key]);
        }
        sums.rekey(|[key]| (key > 1).then_some([key % 2]));
        assert_eq!(sums.rows(), [([0], [6]), ([1], [8])]);
        let mut others = Sums::default();
        others.absorb(&sums);
        others.absorb(&sums);
        assert_eq!(others.rows(), [([0], [12]), ([1], [16])]);
    }
}
