//! Sums over the threads of each role, ended threads included.
//!
//! Work of a thread counts for the role that the thread had when its counters were read. A role's total is
//! the sum over its live threads' rows plus a settled part: totals of threads that ended in the role, or
//! had when they left it for another name, less the totals with which threads came into it.

use std::collections::HashMap;

use super::RoleNames;
use crate::columns::{Mask, Totals};
use crate::encode::header::RoleTotals;
use crate::fields::columns_of;

/// Names whose role is kept at hand.
const MAX_NAMES: usize = 16_384;

/// Part of a role's sums that is not in the rows of its live threads. A value is negative if threads that
/// joined the role brought more than ended threads left.
#[derive(Clone, Default)]
struct Settled {
    exited: u64,
    values: Vec<i128>,
    given: Mask,
}

impl Settled {
    fn add(&mut self, totals: &Totals, sign: i128) {
        self.values.resize(totals.values.len(), 0);
        self.given |= totals.given;
        for (value, more) in self.values.iter_mut().zip(&totals.values) {
            *value += sign * i128::from(*more);
        }
    }
}

/// The roles of one target.
///
/// The first `max_named` keep a place of their own for good; all others share one, so that a program that
/// names threads without end fills neither memory nor frames.
pub struct RoleSums {
    names: RoleNames,
    max_named: usize,
    summed: usize,
    roles: Vec<(Option<String>, Settled)>,
    place_of_role: HashMap<Option<String>, usize>,
    place_of_name: HashMap<String, usize>,
}

impl RoleSums {
    /// Makes sums of no role, of `summed` columns.
    pub fn new(names: RoleNames, max_named: usize, summed: usize) -> Self {
        Self {
            names,
            max_named,
            summed,
            roles: Vec::new(),
            place_of_role: HashMap::new(),
            place_of_name: HashMap::new(),
        }
    }

    /// A thread of this name ended with these totals.
    pub(super) fn ended(&mut self, name: &str, totals: &Totals) {
        let settled = self.of(name);
        settled.exited += 1;
        settled.add(totals, 1);
        // Many programs number their threads: a name that ended seldom comes again.
        self.place_of_name.remove(name);
    }

    /// A live thread has a new name; `values` are its counters as they were read last before.
    pub(super) fn renamed(&mut self, previous: &str, name: &str, values: &Totals) {
        let (from, to) = (self.place(previous), self.place(name));
        if from != to {
            self.roles[from].1.add(values, 1);
            self.roles[to].1.add(values, -1);
        }
    }

    /// A thread that ended in this name had other totals than it was counted with.
    pub(super) fn corrected(&mut self, name: &str, before: &Totals, after: &Totals) {
        let settled = self.of(name);
        settled.add(before, -1);
        settled.add(after, 1);
    }

    /// A thread that comes into this name brings along what was counted already.
    pub(super) fn brought(&mut self, name: &str, values: &Totals) {
        self.of(name).add(values, -1);
    }

    /// Sums over live threads and over those that ended, in the order in which roles appeared. What a thread
    /// brought along into its role may be more than it is by now, since time in a state is settled when the
    /// stay ends: then 0.
    ///
    /// `names` are those of rows (None: the row is of no live thread); `add_up` adds each row to the sum at its
    /// place.
    pub fn summary<'a>(
        &mut self,
        names: impl Iterator<Item = Option<&'a str>>,
        add_up: impl FnOnce(&[Option<usize>], &mut [Totals]),
    ) -> Vec<RoleTotals> {
        let places: Vec<Option<usize>> = names.map(|name| Some(self.place(name?))).collect();
        let mut live = vec![0; self.roles.len()];
        places.iter().flatten().for_each(|&place| live[place] += 1);
        let mut sums = vec![Totals::new(self.summed); self.roles.len()];
        add_up(&places, &mut sums);
        let settle =
            |((role, settled), (live, mut totals)): (&(Option<String>, Settled), (u64, Totals))| {
                for column in columns_of(settled.given) {
                    let sum = i128::from(totals.values[column]) + settled.values[column];
                    totals.values[column] = u64::try_from(sum.max(0)).unwrap_or(u64::MAX);
                }
                totals.given |= settled.given;
                RoleTotals { role: role.clone(), live, exited: settled.exited, totals }
            };
        self.roles.iter().zip(live.into_iter().zip(sums)).map(settle).collect()
    }

    fn of(&mut self, name: &str) -> &mut Settled {
        let place = self.place(name);
        &mut self.roles[place].1
    }

    /// Place of the role that a name counts for, from now on.
    fn place(&mut self, name: &str) -> usize {
        if let Some(&place) = self.place_of_name.get(name) {
            return place;
        }
        let mut role = Some(self.names.role_of(name));
        if !self.place_of_role.contains_key(&role) {
            let named = self.roles.iter().filter(|(role, _)| role.is_some()).count();
            if named >= self.max_named {
                role = None;
            }
        }
        let next = self.roles.len();
        let place = *self.place_of_role.entry(role.clone()).or_insert(next);
        if place == next {
            self.roles.push((role, Settled::default()));
        }
        if self.place_of_name.len() >= MAX_NAMES {
            self.place_of_name.clear();
        }
        self.place_of_name.insert(name.to_owned(), place);
        place
    }
}

#[cfg(test)]
#[path = "roles_tests.rs"]
mod tests;
