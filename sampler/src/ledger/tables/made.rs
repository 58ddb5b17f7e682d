//! Tables of what is counted beside ledgers. Pure.

use std::collections::{BTreeSet, HashMap};

use super::counts::{pid_of, Counts, PID_BITS};
use super::names::{Described, Names};
use super::sums::Sums;

/// Values of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Column {
    /// Ids, numbers and flags.
    U32(Vec<u32>),
    /// Addresses and sums.
    U64(Vec<u64>),
}

/// Columns of one length, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    /// Name of the table.
    pub name: &'static str,
    /// Names and values.
    pub columns: Vec<(&'static str, Column)>,
}

/// The tables of a target.
///
/// - `stays` (tid, state, bucket, count): histograms of finished stays.
/// - `wakes` (waker_tid, waker_pid, wakee_tid, party, waker_kernel, count, blocked_ns, delay_ns): who woke
///   whom. The process 0 is an interrupt, the thread 0 any one of another process.
/// - `locks` (address, process, tid, wait_ns, waits, wakes): waits for futexes by who waited, and wake-ups
///   by who gave them. An address from 2^63 on is that plus the number of a call.
/// - `takers` (tid, pid, kernel, party, ns): who ran while a thread was queued. The process 0 is the idle task if
///   it is the kernel's, else what is not known. Rows of a thread never exceed its time in run queues.
/// - `waiting` (tid, process, address, since_ns): waits for futexes that last, from some seconds on, by who
///   waits since when (CLOCK_MONOTONIC).
/// - `calls` (tid, call, count, ns) and `call_stays` (tid, call, bucket, count): system calls, if counted.
///
/// Thread ID 0 stands for ended threads. A party is the key of a process outside the target, else 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The tables.
    pub tables: Vec<Table>,
    /// The processes in `wakes` and `takers` by key (of members, the id), ascending.
    pub processes: Vec<(u32, Described)>,
}

impl Tables {
    /// A table by its name.
    pub fn get(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name == name)
    }
}

/// Makes the tables of the processes `members`.
pub(super) fn tables_of(
    mut counts: Counts,
    members: &[u32],
    names: &mut Names,
    with_calls: bool,
) -> Tables {
    let mut made = vec![plain("stays", ["tid", "state", "bucket"], ["count"], &mut counts.stays)];
    let mut processes = BTreeSet::new();
    made.push(wakes(&mut counts, names, &mut processes));
    made.push(locks(&mut counts, members));
    made.push(takers(&mut counts, &mut processes));
    if with_calls {
        made.push(plain("calls", ["tid", "call"], ["count", "ns"], &mut counts.calls));
        let keys = ["tid", "call", "bucket"];
        made.push(plain("call_stays", keys, ["count"], &mut counts.call_stays));
    }
    processes.remove(&0);
    let processes = processes.into_iter().map(|key| (key, names.describe(key))).collect();
    Tables { tables: made, processes }
}

/// A wait for a futex that lasts.
pub(super) struct Waiting {
    pub tid: u32,
    pub process: u32,
    pub address: u64,
    pub since_ns: u64,
}

/// The table `waiting`.
pub(super) fn waiting_of(rows: &[Waiting]) -> Table {
    Table {
        name: "waiting",
        columns: vec![
            ("tid", Column::U32(rows.iter().map(|row| row.tid).collect())),
            ("process", Column::U32(rows.iter().map(|row| row.process).collect())),
            ("address", Column::U64(rows.iter().map(|row| row.address).collect())),
            ("since_ns", Column::U64(rows.iter().map(|row| row.since_ns).collect())),
        ],
    }
}

fn low(value: u64) -> u32 {
    value as u32
}

/// The key of a process outside the target; 0 for a member.
fn party(key: u32) -> u32 {
    if key >> PID_BITS == 0 {
        0
    } else {
        key
    }
}

fn plain<const K: usize, const V: usize>(
    name: &'static str,
    keys: [&'static str; K],
    values: [&'static str; V],
    sums: &mut Sums<K, V>,
) -> Table {
    let rows = sums.rows();
    let keys = keys.into_iter().enumerate().map(|(place, name)| {
        (name, Column::U32(rows.iter().map(|row| low(row.0[place])).collect()))
    });
    let values = values
        .into_iter()
        .enumerate()
        .map(|(place, name)| (name, Column::U64(rows.iter().map(|row| row.1[place]).collect())));
    Table { name, columns: keys.chain(values).collect() }
}

fn wakes(counts: &mut Counts, names: &mut Names, processes: &mut BTreeSet<u32>) -> Table {
    let mut sums = Sums::<2, 3>::default();
    for &([tid, waker, _, _], values) in counts.edges.rows() {
        sums.add([waker, tid], values);
    }
    let rows = sums.rows();
    let mut kernel = HashMap::from([(0, 0)]);
    for row in rows {
        let key = low(row.0[0] >> 32);
        kernel.entry(key).or_insert_with(|| u32::from(names.describe(key).kernel));
    }
    processes.extend(kernel.keys());
    let key =
        |of: &dyn Fn([u64; 2]) -> u32| Column::U32(rows.iter().map(|row| of(row.0)).collect());
    let value = |place: usize| Column::U64(rows.iter().map(|row| row.1[place]).collect());
    Table {
        name: "wakes",
        columns: vec![
            ("waker_tid", key(&|[waker, _]| low(waker))),
            ("waker_pid", key(&|[waker, _]| pid_of(low(waker >> 32)))),
            ("wakee_tid", key(&|[_, tid]| low(tid))),
            ("party", key(&|[waker, _]| party(low(waker >> 32)))),
            ("waker_kernel", key(&|[waker, _]| kernel[&low(waker >> 32)])),
            ("count", value(0)),
            ("blocked_ns", value(1)),
            ("delay_ns", value(2)),
        ],
    }
}

fn locks(counts: &mut Counts, members: &[u32]) -> Table {
    let mut sums = Sums::<3, 3>::default();
    for &([tid, waker, address, process], [count, blocked_ns, _]) in counts.edges.rows() {
        if address == 0 {
            continue;
        }
        sums.add([address, process, tid], [blocked_ns, count, 0]);
        if members.binary_search(&pid_of(low(waker >> 32))).is_ok() {
            sums.add([address, process, u64::from(low(waker))], [0, 0, count]);
        }
    }
    let rows = sums.rows();
    let key = |place: usize| Column::U32(rows.iter().map(|row| low(row.0[place])).collect());
    let value = |place: usize| Column::U64(rows.iter().map(|row| row.1[place]).collect());
    Table {
        name: "locks",
        columns: vec![
            ("address", Column::U64(rows.iter().map(|row| row.0[0]).collect())),
            ("process", key(1)),
            ("tid", key(2)),
            ("wait_ns", value(0)),
            ("waits", value(1)),
            ("wakes", value(2)),
        ],
    }
}

/// Clocks of run queues differ from those of ledgers by nanoseconds, which a thread's greatest rows make up
/// for.
fn takers(counts: &mut Counts, processes: &mut BTreeSet<u32>) -> Table {
    let mut rows: Vec<([u64; 2], u64)> =
        counts.takers.rows().iter().map(|&(key, [ns])| (key, ns)).collect();
    let mut unknown = Vec::new();
    for &([tid], [queued]) in counts.queued.rows() {
        let first = rows.partition_point(|row| row.0[0] < tid);
        let after = rows.partition_point(|row| row.0[0] <= tid);
        let mine = &mut rows[first..after];
        let known: u128 = mine.iter().map(|row| u128::from(row.1)).sum();
        let queued = u128::from(queued);
        if queued > known {
            unknown.push((tid, (queued - known) as u64));
        }
        let mut surplus = known.saturating_sub(queued);
        while surplus > 0 {
            let Some(greatest) = mine.iter_mut().max_by_key(|row| row.1) else { break };
            let cut = surplus.min(greatest.1.into());
            greatest.1 -= cut as u64;
            surplus -= cut;
        }
    }
    let (mut tids, mut pids, mut kernel, mut times) = (vec![], vec![], vec![], vec![]);
    let mut parties = vec![];
    for ([tid, who], ns) in rows {
        let key = low(who >> 1);
        let pid = pid_of(key);
        processes.insert(key);
        tids.push(low(tid));
        pids.push(pid);
        parties.push(party(key));
        kernel.push(if pid == 0 { 1 } else { low(who & 1) });
        times.push(ns);
    }
    for (tid, ns) in unknown {
        tids.push(low(tid));
        pids.push(0);
        parties.push(0);
        kernel.push(0);
        times.push(ns);
    }
    Table {
        name: "takers",
        columns: vec![
            ("tid", Column::U32(tids)),
            ("pid", Column::U32(pids)),
            ("kernel", Column::U32(kernel)),
            ("party", Column::U32(parties)),
            ("ns", Column::U64(times)),
        ],
    }
}

/// Rows of a table for tests.
#[cfg(test)]
impl Table {
    /// All rows, a value a column.
    pub fn rows(&self) -> Vec<Vec<u64>> {
        let columns: Vec<Vec<u64>> = self
            .columns
            .iter()
            .map(|(_, column)| match column {
                Column::U32(values) => values.iter().map(|&value| u64::from(value)).collect(),
                Column::U64(values) => values.clone(),
            })
            .collect();
        let count = columns.first().map_or(0, Vec::len);
        (0..count).map(|row| columns.iter().map(|column| column[row]).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::columns::comm;

    const PID: u32 = 100;

    fn made(counts: Counts) -> Tables {
        let mut names = Names::new(PathBuf::from("/nowhere"));
        names.note(PID, comm(b"own"), false, 0);
        names.note(7, comm(b"kworker"), true, 0);
        tables_of(counts, &[PID], &mut names, true)
    }

    #[test]
    fn wake_ups_and_waits_for_locks_come_from_the_same_rows() {
        let own = u64::from(PID) << 32;
        let mut counts = Counts::default();
        // Thread 5 waits for two locks and a timer, thread 6 for one lock; a kernel thread wakes 6.
        for (tid, edge) in [
            (5, [own | 6, 0xA0, 3, 30, 1]),
            (5, [own | 6, 0xB0, 1, 10, 2]),
            (5, [0, 0, 2, 20, 3]),
            (6, [own | 5, 0xA0, 4, 40, 4]),
            (6, [7 << 32, 0, 1, 9, 5]),
        ] {
            counts.add_edge(tid, PID, &edge);
        }
        let tables = made(counts);
        let wakes = tables.get("wakes").unwrap().rows();
        assert_eq!(wakes[..2], [[0, 0, 5, 0, 0, 2, 20, 3], [0, 7, 6, 0, 1, 1, 9, 5]]);
        assert_eq!(wakes[2..], [[5, 100, 6, 0, 0, 4, 40, 4], [6, 100, 5, 0, 0, 4, 40, 3]]);
        assert_eq!(
            tables.get("locks").unwrap().rows(),
            [
                [0xA0, 100, 5, 30, 3, 4],
                [0xA0, 100, 6, 40, 4, 3],
                [0xB0, 100, 5, 10, 1, 0],
                [0xB0, 100, 6, 0, 0, 1],
            ]
        );
        let names: Vec<_> = tables.processes.iter().map(|one| (one.0, one.1.name)).collect();
        assert_eq!(names, [(7, comm(b"kworker")), (PID, comm(b"own"))]);
    }

    #[test]
    fn takers_add_up_to_the_time_in_run_queues() {
        let mut counts = Counts::default();
        let outside = u64::from(8_u32 | 5 << PID_BITS);
        for (tid, who, ns) in [(5, 200, 10), (5, 7 << 1 | 1, 20), (6, 1, 5), (6, outside << 1, 9)] {
            counts.takers.add([tid, who], [ns]);
        }
        for (tid, ns) in [(5, 37), (6, 12), (7, 4)] {
            counts.queued.add([tid], [ns]);
        }
        assert_eq!(
            made(counts).get("takers").unwrap().rows(),
            [
                [5, 7, 1, 0, 20],
                [5, 100, 0, 0, 10],
                [6, 0, 1, 0, 5],
                [6, 8, 0, outside, 7], // two ns too many: clocks differ
                [5, 0, 0, 0, 7],
                [7, 0, 0, 0, 4],
            ]
        );
    }

    #[test]
    fn calls_are_reported_with_their_histograms() {
        let mut counts = Counts::default();
        let mut counted = [0; 14];
        counted[..3].copy_from_slice(&[3, 20, 1 | 2 << 32]);
        counts.add_call(5, 202, &counted);
        let tables = made(counts);
        assert_eq!(tables.get("calls").unwrap().rows(), [[5, 202, 3, 20]]);
        assert_eq!(tables.get("call_stays").unwrap().rows(), [[5, 202, 0, 1], [5, 202, 1, 2]]);
        assert_eq!(tables.get("nothing"), None);
    }
}
