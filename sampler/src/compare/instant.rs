//! Totals of threads at an instant: what their rows say, and the stays in a state that are under way.

use crate::columns::{Mask, Rows, Totals};
use crate::fields::{low_bits, Fields};

/// The rule by which rows become totals.
#[derive(Clone, Debug)]
pub struct Instant {
    attach_ns: i64,
    summed: usize,
    first_state: usize,
    gauges: Option<(usize, usize)>,
    states: Mask,
}

impl Instant {
    /// Makes the rule for these columns; times of states count from `attach_ns` on, CLOCK_MONOTONIC.
    pub fn new(fields: &Fields, attach_ns: i64) -> Self {
        Self {
            attach_ns,
            summed: fields.summed,
            first_state: fields.first_state,
            gauges: fields.gauges(),
            states: low_bits(fields.summed) & !low_bits(fields.first_state),
        }
    }

    /// Number of columns that have sums.
    pub fn len(&self) -> usize {
        self.summed
    }

    /// True if no column has sums.
    pub fn is_empty(&self) -> bool {
        self.summed == 0
    }

    /// Columns of states, which may fall by microseconds when a stay ends.
    pub fn states(&self) -> Mask {
        self.states
    }

    /// Totals of a row at `now_ns`, CLOCK_MONOTONIC. A value that is absent because it is invalid is the
    /// last one that was valid.
    pub fn totals(&self, rows: &Rows, row: usize, now_ns: i64) -> Totals {
        let mut totals = self.values(rows, row, rows.absent[row] & !rows.invalid[row]);
        if let Some((column, open)) = self.under_way(rows, row, now_ns) {
            if totals.given >> column & 1 != 0 {
                totals.values[column] = totals.values[column].wrapping_add(open);
            }
        }
        totals
    }

    /// Column and duration of the stay in a state that is under way in a row; None: there is none.
    fn under_way(&self, rows: &Rows, row: usize, now_ns: i64) -> Option<(usize, u64)> {
        let (state, since) = self.gauges?;
        let place = (rows.get(row, state) as usize).checked_sub(1)?;
        let column = self.first_state.saturating_add(place);
        let time = u64::try_from(now_ns - self.attach_ns).unwrap_or(0);
        (column < self.summed).then(|| (column, time.saturating_sub(rows.get(row, since))))
    }

    /// Adds the totals of each row, as `totals` has them, to the sum at its place; rows without a place are
    /// left out.
    pub fn add_up(&self, rows: &Rows, places: &[Option<usize>], now_ns: i64, sums: &mut [Totals]) {
        let lacking = |row: usize| rows.absent[row] & !rows.invalid[row];
        for column in 0..self.summed {
            for (row, (&value, place)) in rows.column(column).iter().zip(places).enumerate() {
                let Some(place) = *place else { continue };
                if lacking(row) >> column & 1 == 0 {
                    let sum = &mut sums[place];
                    sum.given |= 1 << column;
                    sum.values[column] = sum.values[column].wrapping_add(value);
                }
            }
        }
        if self.gauges.is_none() {
            return;
        }
        for (row, place) in places.iter().enumerate() {
            let (Some(place), Some((column, open))) = (*place, self.under_way(rows, row, now_ns))
            else {
                continue;
            };
            if lacking(row) >> column & 1 == 0 {
                sums[place].values[column] = sums[place].values[column].wrapping_add(open);
            }
        }
    }

    /// Totals of an exit record, in which no stay is under way.
    pub fn recorded(&self, rows: &Rows, row: usize) -> Totals {
        self.values(rows, row, rows.absent[row])
    }

    fn values(&self, rows: &Rows, row: usize, absent: Mask) -> Totals {
        let given = low_bits(self.summed) & !absent;
        let value = |column| if given >> column & 1 != 0 { rows.get(row, column) } else { 0 };
        Totals { values: (0..self.summed).map(value).collect(), given }
    }

    /// Totals that never fall below earlier reports, except for times in states.
    pub fn latest(&self, before: &Totals, now: &Totals) -> Totals {
        let mut made = before.clone();
        made.given |= now.given;
        for (column, value) in made.values.iter_mut().enumerate() {
            if now.given >> column & 1 != 0 {
                let is_state = self.states >> column & 1 != 0;
                *value = if is_state { now.values[column] } else { now.values[column].max(*value) };
            }
        }
        made
    }

    /// Takes off what a thread had at `until_ns`, CLOCK_MONOTONIC, from a later row of it; a stay under way
    /// counts from then on.
    pub fn take_off(&self, rows: &mut Rows, row: usize, values: &Totals, until_ns: i64) {
        for column in 0..self.summed {
            let left = rows.get(row, column).saturating_sub(values.values[column]);
            rows.set(row, column, left);
        }
        if let Some((_, since)) = self.gauges {
            let began = u64::try_from(until_ns - self.attach_ns).unwrap_or(0);
            rows.set(row, since, rows.get(row, since).max(began));
        }
    }
}
