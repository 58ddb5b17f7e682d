//! Sums over the threads of each process of a target, ended threads included.
//!
//! Counters of a process that began before it came into the target count from then on.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use super::members::{Member, Members};
use crate::columns::{Mask, Totals};
use crate::compare::ProcessNotes;
use crate::ids::{IdMap, IdSet};

/// How long an ended process keeps its own row, nanoseconds.
pub(super) const STANDS_NS: i64 = 10_000_000_000;
/// Ended processes with rows of their own; of more the first ones are folded sooner.
pub(super) const MAX_STANDING: usize = 1024;
/// Folded processes whose exit records may still come.
const MAX_LATE: usize = 65_536;
/// Name of the row that further names of ended processes share.
pub(super) const OTHERS: &str = "others";

/// Sums of one process, or of ended ones of one name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sums {
    values: Vec<i128>,
    given: Mask,
    threads_ended: u64,
    count: u64,
}

impl Sums {
    fn of_one() -> Self {
        Self { count: 1, ..Self::default() }
    }

    fn add(&mut self, totals: &Totals, sign: i128) {
        if self.values.len() < totals.values.len() {
            self.values.resize(totals.values.len(), 0);
        }
        self.given |= totals.given;
        for (value, more) in self.values.iter_mut().zip(&totals.values) {
            *value += sign * i128::from(*more);
        }
    }

    /// Sum of what ended threads left and what live threads have.
    fn with(&self, live: Option<&Totals>) -> Totals {
        let mut sum = self.clone();
        if let Some(live) = live {
            sum.add(live, 1);
        }
        let values =
            sum.values.iter().map(|&value| u64::try_from(value.max(0)).unwrap_or(u64::MAX));
        Totals { values: values.collect(), given: sum.given }
    }
}

/// One row of the table of processes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessRow {
    /// Number of the row.
    pub number: u32,
    /// Id of the process; None: of ended processes of one name.
    pub pid: Option<u32>,
    /// Name.
    pub name: String,
    /// True while it lives.
    pub live: bool,
    /// Live threads.
    pub threads: u64,
    /// Threads that ended.
    pub threads_ended: u64,
    /// Processes of the row.
    pub count: u64,
    /// Sums over all of its threads.
    pub totals: Totals,
}

/// The processes of one target, and their sums.
pub struct Processes {
    /// Processes of the target.
    pub members: Members,
    max_names: usize,
    /// Totals of ended threads less the counters' values at the beginning, by process number.
    settled: IdMap<Sums>,
    begun: IdSet,
    standing: VecDeque<Member>,
    folded: Vec<(String, u32, Sums)>,
    /// Index into `folded` for totals that come after the process's row is gone, by process number.
    late: IdMap<usize>,
    late_order: VecDeque<u32>,
}

impl Processes {
    /// Makes sums of no process; ended processes have rows of `max_names` names, and one of others.
    pub fn new(max_names: usize) -> Self {
        Self {
            members: Members::default(),
            max_names,
            settled: IdMap::default(),
            begun: IdSet::default(),
            standing: VecDeque::new(),
            folded: Vec::new(),
            late: IdMap::default(),
            late_order: VecDeque::new(),
        }
    }

    /// Notes with what the counters of processes begin that had begun before they came. `live` are process
    /// and totals of each live thread in a sample.
    pub fn begin_counting(&mut self, live: impl Iterator<Item = (u32, Totals)>) {
        let unread = self.members.take_unread();
        if unread.is_empty() {
            return;
        }
        let sums = by_process(live.filter(|(process, _)| unread.contains(process)));
        for pid in unread {
            let Some(member) = self.members.get(pid).cloned() else { continue };
            match sums.get(&pid) {
                Some((threads, totals)) => self.begin(&member, Some(totals), *threads),
                None => self.members.keep_unread(pid),
            }
        }
    }

    /// Rows at `now_ns`, CLOCK_MONOTONIC, ascending by number. `live` are process and totals of each live
    /// thread.
    pub fn rows(
        &mut self,
        live: impl Iterator<Item = (u32, Totals)>,
        now_ns: i64,
    ) -> Vec<ProcessRow> {
        let sums = by_process(live);
        let mut rows = Vec::new();
        let alive: Vec<Member> = self.members.alive().cloned().collect();
        for member in alive {
            let (threads, totals) = sums
                .get(&member.process.pid)
                .map_or((0, None), |(threads, totals)| (*threads, Some(totals)));
            rows.push(self.row(&member, true, threads, totals));
        }
        self.standing.extend(self.members.take_ended());
        while self.standing.front().is_some_and(|first| {
            now_ns - first.ended_ns > STANDS_NS || self.standing.len() > MAX_STANDING
        }) {
            if let Some(member) = self.standing.pop_front() {
                self.fold(&member);
            }
        }
        for member in self.standing.clone() {
            if self.settled.contains_key(&member.number) {
                self.begin(&member, None, 1);
            }
            rows.push(self.row(&member, false, 0, None));
        }
        rows.extend(self.folded.iter().map(|(name, number, sums)| ProcessRow {
            number: *number,
            pid: None,
            name: name.clone(),
            live: false,
            threads: 0,
            threads_ended: sums.threads_ended,
            count: sums.count,
            totals: sums.with(None),
        }));
        rows.sort_unstable_by_key(|row| row.number);
        rows
    }

    fn row(
        &self,
        member: &Member,
        is_live: bool,
        threads: u64,
        live: Option<&Totals>,
    ) -> ProcessRow {
        let nothing = Sums::of_one();
        let sums = self.settled.get(&member.number).unwrap_or(&nothing);
        ProcessRow {
            number: member.number,
            pid: Some(member.process.pid),
            name: member.process.name.clone(),
            live: is_live,
            threads,
            threads_ended: sums.threads_ended,
            count: sums.count,
            totals: sums.with(live),
        }
    }

    /// Notes that the counters of a process begin: what they were before is not the target's.
    fn begin(&mut self, member: &Member, live: Option<&Totals>, threads: u64) {
        let moved_ns = member.process.moved_ns.filter(|_| threads == 1);
        let is_known = live.is_some() || moved_ns.is_some();
        if !member.process.before || !is_known || !self.begun.insert(member.number) {
            return;
        }
        let mut before = live.cloned().unwrap_or_default();
        if let Some(moved_ns) = moved_ns {
            // The time on a CPU is the first column.
            if before.values.is_empty() {
                before = Totals::new(1);
            }
            before.values[0] = moved_ns;
            before.given |= 1;
        }
        self.sums(member.number).add(&before, -1);
    }

    /// Makes the row of an ended process a part of its name's.
    fn fold(&mut self, member: &Member) {
        self.begun.remove(&member.number);
        let sums = self.settled.remove(&member.number).unwrap_or_else(Sums::of_one);
        let known = |name: &str| self.folded.iter().position(|(known, _, _)| known == name);
        let place = match known(&member.process.name) {
            Some(place) => place,
            None if self.folded.len() < self.max_names => self.fold_as(&member.process.name),
            None => known(OTHERS).unwrap_or_else(|| self.fold_as(OTHERS)),
        };
        let into = &mut self.folded[place].2;
        into.add(&sums.with(None), 1);
        into.threads_ended += sums.threads_ended;
        into.count += 1;
        // Many processes may end at once, and their records come after their rows have gone.
        self.late.insert(member.number, place);
        self.late_order.push_back(member.number);
        while self.late.len() > MAX_LATE {
            let Some(first) = self.late_order.pop_front() else { break };
            self.late.remove(&first);
        }
    }

    fn fold_as(&mut self, name: &str) -> usize {
        let number = self.members.next_number();
        self.folded.push((name.to_owned(), number, Sums::default()));
        self.folded.len() - 1
    }

    fn sums(&mut self, number: u32) -> &mut Sums {
        match self.late.get(&number) {
            Some(&place) => &mut self.folded[place].2,
            None => self.settled.entry(number).or_insert_with(Sums::of_one),
        }
    }
}

/// Live threads of each process, and what they add up to.
fn by_process(live: impl Iterator<Item = (u32, Totals)>) -> IdMap<(u64, Totals)> {
    let mut sums: IdMap<(u64, Totals)> = IdMap::default();
    for (process, totals) in live {
        let sum = sums.entry(process).or_insert_with(|| (0, Totals::new(totals.values.len())));
        sum.0 += 1;
        sum.1.add(&totals);
    }
    sums
}

impl ProcessNotes for Processes {
    fn ended(&mut self, process: u32, totals: &Totals, threads: u64) {
        if let Some(number) = self.members.number_of(process) {
            let sums = self.sums(number);
            sums.add(totals, 1);
            sums.threads_ended += threads;
        }
    }

    fn corrected(&mut self, process: u32, before: &Totals, after: &Totals) {
        if let Some(number) = self.members.number_of(process) {
            let sums = self.sums(number);
            sums.add(before, -1);
            sums.add(after, 1);
        }
    }

    fn moved(&mut self, process: u32, values: &Totals) {
        if let Some(number) = self.members.number_of(process) {
            self.sums(number).add(values, -1);
        }
    }
}

/// Processes that a tracker takes notes of while somebody else asks for their rows.
pub type SharedProcesses = Arc<Mutex<Processes>>;

impl ProcessNotes for SharedProcesses {
    fn ended(&mut self, process: u32, totals: &Totals, threads: u64) {
        self.lock().unwrap_or_else(PoisonError::into_inner).ended(process, totals, threads);
    }

    fn corrected(&mut self, process: u32, before: &Totals, after: &Totals) {
        self.lock().unwrap_or_else(PoisonError::into_inner).corrected(process, before, after);
    }

    fn moved(&mut self, process: u32, values: &Totals) {
        self.lock().unwrap_or_else(PoisonError::into_inner).moved(process, values);
    }
}

#[cfg(test)]
mod tests {
    use super::super::members::Newcomer;
    use super::*;

    fn totals(cpu: u64) -> Totals {
        Totals { values: vec![cpu, 1], given: 0b11 }
    }

    fn process(pid: u32, name: &str) -> Newcomer {
        Newcomer { pid, name: name.into(), ..Newcomer::default() }
    }

    fn cpu(rows: &[ProcessRow]) -> Vec<(u32, u64, u64, u64)> {
        rows.iter()
            .map(|row| {
                (
                    row.number,
                    row.totals.values.first().copied().unwrap_or(0),
                    row.threads,
                    row.threads_ended,
                )
            })
            .collect()
    }

    #[test]
    fn a_row_has_live_and_ended_threads() {
        let mut processes = Processes::new(4);
        processes.members.add(process(10, "a"));
        processes.members.add(process(20, "b"));
        processes.ended(10, &totals(5), 1);
        let live = [(10, totals(7)), (10, totals(1)), (20, totals(3))];
        assert_eq!(cpu(&processes.rows(live.into_iter(), 0)), [(1, 13, 2, 1), (2, 3, 1, 0)]);
    }

    #[test]
    fn counters_of_a_process_that_was_there_begin_when_it_is_seen() {
        let mut processes = Processes::new(4);
        processes.members.add(Newcomer { before: true, ..process(10, "a") });
        processes.begin_counting([(10, totals(100))].into_iter());
        assert_eq!(cpu(&processes.rows([(10, totals(100))].into_iter(), 0)), [(1, 0, 1, 0)]);
        processes.begin_counting([(10, totals(130))].into_iter());
        assert_eq!(cpu(&processes.rows([(10, totals(130))].into_iter(), 0)), [(1, 30, 1, 0)]);
        let moved = Newcomer { before: true, moved_ns: Some(40), ..process(20, "b") };
        processes.members.add(moved);
        // One that the sample has not read yet begins with a later one.
        processes.begin_counting([(10, totals(130))].into_iter());
        let live = [(10, totals(130)), (20, totals(60))];
        processes.begin_counting(live.clone().into_iter());
        assert_eq!(cpu(&processes.rows(live.into_iter(), 0))[1], (2, 20, 1, 0));
    }

    #[test]
    fn ended_processes_fold_into_their_name_and_late_records_count_there() {
        let mut processes = Processes::new(1);
        for (number, name) in [(1, "sh"), (2, "sh"), (3, "sed"), (4, "awk")] {
            processes.members.add(process(number * 10, name));
            processes.ended(number * 10, &totals(2), 1);
            processes.members.end(number * 10, 5, 5);
        }
        assert_eq!(processes.rows(std::iter::empty(), 10).len(), 4);
        let rows = processes.rows(std::iter::empty(), 2 * STANDS_NS);
        let named: Vec<(&str, u64, u64)> =
            rows.iter().map(|row| (row.name.as_str(), row.count, row.totals.values[0])).collect();
        assert_eq!(named, [("sh", 2, 4), (OTHERS, 2, 4)]);
        processes.ended(20, &totals(3), 1);
        let rows = processes.rows(std::iter::empty(), 2 * STANDS_NS);
        assert_eq!((rows[0].totals.values[0], rows[0].threads_ended), (7, 3));
    }
}
