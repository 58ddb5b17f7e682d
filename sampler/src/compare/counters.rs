//! Counters of two readings: rows of the same thread, changes, and values that fell.

use super::Tracker;
use crate::columns::{Mask, Rows};
use crate::fields::{columns_of, low_bits};

/// Bits of `Tracker::flags`: the row differs from the last one; it has to be looked at by itself.
pub(super) const DIFFERS: u8 = 1;
pub(super) const SPECIAL: u8 = 2;
pub(super) const REBORN: u8 = 4;
pub(super) const FRESH: u8 = 8;

impl Tracker {
    /// Row of the last reading of each thread; `u32::MAX` for one that it had not.
    ///
    /// Readings have threads in about the same order. Of those that the last one had, only such that ended
    /// since are known no more, and they are left out of this one.
    pub(super) fn rows_before(&mut self, rows: &Rows) -> Vec<u32> {
        let mut next = 0;
        let mut found = Vec::with_capacity(rows.len());
        for &tid in &rows.tid {
            let last = &self.last.tid;
            while last.get(next).is_some_and(|one| *one != tid && !self.threads.contains_key(one)) {
                next += 1;
            }
            let place = if self.last.tid.get(next) == Some(&tid) {
                next as u32
            } else if self.threads.contains_key(&tid) {
                self.places().get(&tid).copied().unwrap_or(u32::MAX)
            } else {
                u32::MAX
            };
            if place != u32::MAX {
                next = place as usize + 1;
            }
            found.push(place);
        }
        found
    }

    /// Compares threads with their last rows, and restores what fell: a value once given is not taken
    /// back, whatever a source says. The last one stands until there is a greater one; otherwise sums
    /// would fall. But a value that turns out to be invalid: rows lack it, and sums go on with the last.
    pub(super) fn compare(&self, rows: &mut Rows, then: Option<&[u32]>, flags: &mut Vec<u8>) {
        let last = &self.last;
        flags.clear();
        flags.resize(rows.len(), 0);
        for column in 0..self.fields.len() {
            let special = if self.fields.rising >> column & 1 != 0 { SPECIAL } else { 0 };
            let (now, before) = (rows.column(column), last.column(column));
            match then {
                None => {
                    for ((flags, now), before) in flags.iter_mut().zip(now).zip(before) {
                        *flags |= u8::from(now != before) | (special * u8::from(now < before));
                    }
                }
                Some(then) => {
                    for ((flags, now), &then) in flags.iter_mut().zip(now).zip(then) {
                        let before = before.get(then as usize).unwrap_or(now);
                        *flags |= u8::from(now != before) | (special * u8::from(now < before));
                    }
                }
            }
        }
        for row in 0..rows.len() {
            let place = then.map_or(row, |then| then[row] as usize);
            if place >= last.len() {
                flags[row] = FRESH;
                continue;
            }
            // Starts are lower bounds: this thread began after the other one was seen.
            let reborn = rows.start_ns[row] > last.seen_ns[place];
            flags[row] |= if reborn { REBORN } else { 0 };
            if flags[row] & SPECIAL != 0
                || rows.absent[row] | rows.invalid[row] | last.absent[place] != 0
            {
                self.compare_row(rows, row, place, &mut flags[row]);
            }
        }
    }

    fn compare_row(&self, rows: &mut Rows, row: usize, place: usize, flags: &mut u8) {
        let last = &self.last;
        let (absent, was_absent) = (rows.absent[row], last.absent[place]);
        let (mut fell, mut differs): (Mask, Mask) = (0, 0);
        for column in 0..self.fields.len() {
            let (now, before) = (rows.get(row, column), last.get(place, column));
            fell |= Mask::from(now < before) << column;
            differs |= Mask::from(now != before) << column;
        }
        if let Some(cpu) = self.cpu {
            // The scheduler's own counter falls only where an id stands for another thread.
            if (fell & !absent & !was_absent) >> cpu & 1 != 0 {
                *flags |= REBORN;
            }
        }
        if *flags & REBORN != 0 {
            return;
        }
        let stands = !was_absent & (absent | fell) & self.fields.rising;
        let lacking = absent & rows.invalid[row];
        for column in columns_of((stands | lacking) & low_bits(self.fields.len())) {
            rows.set(row, column, last.get(place, column));
            differs &= !(1 << column);
        }
        let absent = absent & !(stands & !lacking);
        rows.absent[row] = absent;
        *flags &= !DIFFERS;
        if differs & !absent != 0 || absent != was_absent {
            *flags |= DIFFERS;
        }
    }
}
