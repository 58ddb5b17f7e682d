//! Hostile contents of struct detail and of the maps beside it, held to sums by hash map.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use super::counts::{edges_of, pid_of, Counts, Detail, BUCKETS, DETAIL_WORDS, EDGES_AT, TAKERS_AT};
use super::made::{tables_of, Table};
use super::names::Names;
use crate::columns::comm;
use crate::fuzzing::{fuzz, Random};
use crate::ledger::slot::{PREEMPTED, STATES};

const MEMBERS: [u32; 2] = [10, 20];

/// Rows of a table by its first columns.
fn rows(table: &Table, keys: usize) -> BTreeMap<Vec<u64>, Vec<u64>> {
    let rows = table.rows();
    let count = rows.len();
    let found: BTreeMap<_, _> = rows
        .into_iter()
        .map(|mut row| {
            let values = row.split_off(keys);
            (row, values)
        })
        .collect();
    assert_eq!(found.len(), count, "a key twice in {}", table.name);
    found
}

#[derive(Default)]
struct Sums(BTreeMap<Vec<u64>, Vec<u64>>);

impl Sums {
    fn add(&mut self, key: &[u64], values: &[u64]) {
        let sums = self.0.entry(key.to_vec()).or_insert_with(|| vec![0; values.len()]);
        for (sum, value) in sums.iter_mut().zip(values) {
            *sum = sum.wrapping_add(*value);
        }
    }
}

/// An id of a process, mostly a known one.
fn process(random: &mut Random) -> u64 {
    if random.one_in(10) {
        random.next() >> 32
    } else {
        *random.pick(&[0, 7, 10, 20, 30])
    }
}

fn detail(random: &mut Random) -> Detail {
    let mut made = [0; DETAIL_WORDS];
    for _ in 0..random.below(8) {
        made[random.below(EDGES_AT)] = random.number();
    }
    for place in 0..random.below(9) {
        let at = EDGES_AT + place * 5;
        let waker = process(random) << 32 | random.below(4) as u64;
        let address = if random.one_in(3) { 0 } else { random.number() };
        made[at..at + 5].copy_from_slice(&[
            waker,
            address,
            random.number(),
            random.number(),
            random.number(),
        ]);
    }
    for place in 0..random.below(5) {
        let at = TAKERS_AT + place * 2;
        made[at] = process(random) << 1 | random.below(2) as u64;
        made[at + 1] = random.number();
    }
    made
}

#[test]
fn tables_of_details() {
    let mut names = Names::new(PathBuf::from("/nowhere"));
    for (pid, kernel) in [(7, true), (10, false), (20, false), (30, false)] {
        names.note(pid, comm(format!("p{pid}").as_bytes()), kernel, 0);
    }
    fuzz("tables of details", |random| {
        let mut counts = Counts::default();
        let (mut stays, mut calls, mut call_stays) = <(Sums, Sums, Sums)>::default();
        let (mut wakes, mut locks) = <(Sums, Sums)>::default();
        let (mut takers, mut queued) = (Sums::default(), HashMap::<u32, u64>::new());
        for _ in 0..=random.below(3) {
            let (tid, owner) = (random.below(4) as u32, *random.pick(&MEMBERS));
            let of = u64::from(tid);
            let detail = detail(random);
            counts.add_detail(tid, &detail);
            for state in 0..STATES {
                for bucket in 0..BUCKETS {
                    let word = detail[state * BUCKETS / 2 + bucket / 2];
                    let count = word >> (32 * (bucket % 2)) & 0xFFFF_FFFF;
                    if count != 0 {
                        stays.add(&[of, state as u64, bucket as u64], &[count]);
                    }
                }
            }
            for at in (TAKERS_AT..DETAIL_WORDS).step_by(2).filter(|&at| detail[at + 1] != 0) {
                takers.add(&[of, detail[at]], &[detail[at + 1]]);
            }
            for (_, edge) in edges_of(&detail) {
                counts.add_edge(tid, owner, &edge);
                let [waker, address, count, blocked, delay] = edge;
                let (pid, by) = (waker >> 32, waker & 0xFFFF_FFFF);
                let key = pid as u32;
                let (pid, party) = (u64::from(pid_of(key)), party_of(key));
                wakes.add(&[by, pid, of, party], &[count, blocked, delay]);
                if address != 0 {
                    let owner = u64::from(owner);
                    locks.add(&[address, owner, of], &[blocked, count, 0]);
                    if MEMBERS.contains(&(pid as u32)) {
                        locks.add(&[address, owner, by], &[0, 0, count]);
                    }
                }
            }
            let ns = if random.one_in(3) { random.number() } else { random.next() % 200 };
            counts.add_queued(tid, |state| if state == PREEMPTED { ns } else { 1 });
            let sum = queued.entry(tid).or_default();
            *sum = sum.wrapping_add(ns).wrapping_add(1);
            let mut counted = [0; 2 + BUCKETS / 2];
            for _ in 0..random.below(5) {
                counted[random.below(counted.len())] = random.number();
            }
            let call = random.below(3) as u64;
            counts.add_call(tid, call as u32, &counted);
            calls.add(&[of, call], &counted[..2]);
            for bucket in 0..BUCKETS {
                let count = counted[2 + bucket / 2] >> (32 * (bucket % 2)) & 0xFFFF_FFFF;
                if count != 0 {
                    call_stays.add(&[of, call, bucket as u64], &[count]);
                }
            }
        }
        let made = tables_of(counts, &MEMBERS, &mut names, true);
        let table = |name: &str| made.get(name).unwrap();
        assert_eq!(rows(table("stays"), 3), stays.0);
        assert_eq!(rows(table("calls"), 2), calls.0);
        assert_eq!(rows(table("call_stays"), 3), call_stays.0);
        assert_eq!(rows(table("locks"), 3), locks.0);
        let listed: BTreeMap<_, _> = rows(table("wakes"), 4)
            .into_iter()
            .map(|(key, values)| {
                assert_eq!(
                    values[0],
                    u64::from(key[1] == 7 && key[3] == 0),
                    "only 7 is the kernel's"
                );
                (key, values[1..].to_vec())
            })
            .collect();
        assert_eq!(listed, wakes.0);
        check_takers(table("takers"), &takers, &queued);
        !stays.0.is_empty()
    });
}

/// The column `party` of a process.
fn party_of(key: u32) -> u64 {
    if pid_of(key) == key {
        0
    } else {
        u64::from(key)
    }
}

/// Rows of a thread add up to its time in run queues, and none is longer than what was counted.
fn check_takers(table: &Table, counted: &Sums, queued: &HashMap<u32, u64>) {
    let mut sums: HashMap<u32, u128> = HashMap::new();
    for row in table.rows() {
        let [tid, pid, kernel, party, ns] = row[..] else { unreachable!() };
        let pid = if party == 0 { pid } else { party };
        *sums.entry(tid as u32).or_default() += u128::from(ns);
        let known = counted.0.get(&[tid, pid << 1 | kernel][..]).map_or(0, |values| values[0]);
        // Process 0 stands for unknown processes and for the idle task.
        assert!(pid == 0 || ns <= known, "{row:?}");
    }
    for (tid, &ns) in queued {
        assert_eq!(sums.get(tid).copied().unwrap_or(0), u128::from(ns), "thread {tid}");
    }
}
