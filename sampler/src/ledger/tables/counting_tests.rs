//! Tables of living and ended threads, from slots and hash maps.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::counts::EDGES_AT;
use super::*;
use crate::columns::comm;
use crate::ledger::keeper::Keeper;
use crate::ledger::slot::testing::Entry;
use crate::ledger::slot::{DETAIL, ENDED, FUTEX, LAYOUT, ON_CPU, PREEMPTED};
use crate::ledger::walks::Walks;
use crate::os::bpf::{self, testing};
use crate::os::memory::{scratch, Mapped};
use crate::slots::testing::Memory;
use crate::slots::Watcher;

const LOCK: u64 = 0xA0;
const TAKERS_AT: usize = EDGES_AT + 40;

struct Counted {
    memory: Memory,
    details: Mapped,
    keeper: SharedKeeper,
    tables: WaitTables,
    edges: OwnedFd,
    takers: OwnedFd,
    calls: OwnedFd,
    names: OwnedFd,
}

fn counted() -> io::Result<Counted> {
    let hash = |key, value, count| testing::create([testing::HASH, key, value, count, 0]);
    let (edges, takers) = (hash(24, 40, 64)?, hash(16, 8, 4096)?);
    let (calls, names) = (hash(16, 112, 64)?, hash(4, 32, 64)?);
    let copy = |map: &OwnedFd| map.try_clone().unwrap();
    let maps = WaitMaps {
        edges: copy(&edges),
        takers: copy(&takers),
        calls: copy(&calls),
        names: copy(&names),
    };
    let (memory, mut slots) = Memory::new(LAYOUT);
    let file = scratch(DETAIL * LAYOUT.count);
    let details = Mapped::new(file.as_fd(), DETAIL * 64, true).unwrap();
    slots.map_beside(file, DETAIL).unwrap();
    let walks = Walks { begin: Box::new(|_| Ok(())), let_go: Box::new(|_| Ok(())) };
    let nowhere = PathBuf::from("/nowhere");
    let keeper = Arc::new(Mutex::new(Keeper::with(slots, walks, nowhere.clone())));
    let tables = WaitTables::new(keeper.clone(), Counting::new(maps, true, nowhere));
    for pid in [10, 20] {
        tables.note_name(pid, comm(format!("program {pid}").as_bytes()));
    }
    let mut made = Counted { memory, details, keeper, tables, edges, takers, calls, names };
    made.fill();
    Ok(made)
}

impl Counted {
    fn fill(&mut self) {
        let threads = [(10, 101), (10, 102), (20, 201)];
        for (index, owner) in threads.into_iter().enumerate() {
            let ns = if index == 2 { vec![(PREEMPTED, 5)] } else { vec![] };
            let entry = Entry { owner, began_ns: 1, state: ON_CPU, ns, ..Entry::default() };
            entry.write(&mut self.memory, index as u32);
        }
        self.memory.use_slots(3);
        self.detail(0, EDGES_AT, &[10 << 32 | 102, LOCK, 3, 30, 1]);
        self.detail(1, EDGES_AT, &[20 << 32 | 201, 0, 2, 20, 1]);
        self.detail(2, EDGES_AT, &[10 << 32 | 101, LOCK, 1, 10, 1]);
        self.detail(2, TAKERS_AT, &[10 << 1, 5]);
        self.detail(2, 24, &[1]); // one stay in PREEMPTED, bucket 0
    }

    fn detail(&mut self, index: usize, word: usize, values: &[u64]) {
        for (place, &value) in values.iter().enumerate() {
            self.details.store(index * DETAIL + (word + place) * 8, value);
        }
    }

    fn watch(&self, members: &[u32]) -> Watcher {
        let mut keeper = lock(&self.keeper);
        let watcher = keeper.enter();
        keeper.follow(watcher, members).unwrap();
        watcher
    }

    /// Threads end, and their slots are freed.
    fn end(&mut self, indices: &[u32], watcher: Watcher) {
        for &index in indices {
            self.memory.set(index, 2, 77);
        }
        lock(&self.keeper).drop_ended(watcher).unwrap();
    }

    fn rows(&self, watcher: Watcher, table: &str) -> Vec<Vec<u64>> {
        self.tables.read(watcher).unwrap().get(table).unwrap().rows()
    }
}

/// The first columns of rows.
fn first(rows: &[Vec<u64>], count: usize) -> Vec<&[u64]> {
    rows.iter().map(|row| &row[..count]).collect()
}

#[test]
fn of_one_process_threads_of_others_are_their_processes() {
    let Ok(counted) = counted() else {
        return; // no right to make maps here
    };
    let watcher = counted.watch(&[10]);
    let tables = counted.tables.read(watcher).unwrap();
    let wakes = tables.get("wakes").unwrap().rows();
    assert_eq!(first(&wakes, 3), [[102, 10, 101], [0, 20, 102]]);
    let locks = tables.get("locks").unwrap().rows();
    assert_eq!(locks, [[LOCK, 10, 101, 30, 3, 0], [LOCK, 10, 102, 0, 0, 3]]);
    assert_eq!(tables.get("takers").unwrap().rows(), Vec::<Vec<u64>>::new());
    let names: Vec<_> = tables.processes.iter().map(|one| (one.0, one.1.name)).collect();
    assert_eq!(names, [(10, comm(b"program 10")), (20, comm(b"program 20"))]);
}

#[test]
fn of_a_group_edges_between_processes_are_by_thread() {
    let Ok(counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    let wakes = counted.rows(group, "wakes");
    assert_eq!(first(&wakes, 3), [[101, 10, 201], [102, 10, 101], [201, 20, 102]]);
    // One address in two processes: two locks.
    assert_eq!(
        first(&counted.rows(group, "locks"), 3),
        [[LOCK, 10, 101], [LOCK, 10, 102], [LOCK, 20, 101], [LOCK, 20, 201]]
    );
    assert_eq!(counted.rows(group, "takers"), [[201, 10, 0, 0, 5]]);
    assert_eq!(counted.rows(group, "stays"), [[201, u64::from(PREEMPTED), 0, 1]]);
}

#[test]
fn what_ended_threads_leave_is_everybodys_who_counted_for_them() {
    let Ok(mut counted) = counted() else {
        return;
    };
    let (group, alone) = (counted.watch(&[10, 20]), counted.watch(&[10]));
    counted.end(&[1, 2], group);
    let expected = [[0, 10, 101, 0, 0, 3], [0, 20, 0, 0, 0, 2]];
    assert_eq!(first(&counted.rows(alone, "wakes"), 6), expected);
    let expected = [[0, 10, 101, 0, 0, 3], [101, 10, 0, 0, 0, 1], [0, 20, 0, 0, 0, 2]];
    assert_eq!(first(&counted.rows(group, "wakes"), 6), expected);
    assert_eq!(counted.rows(group, "stays"), [[0, u64::from(PREEMPTED), 0, 1]]);
    assert_eq!(counted.rows(group, "takers"), [[0, 10, 0, 0, 5]]);
    // Made room for: the edge of a dead waker stands in no slot any more.
    assert_eq!(counted.details.load::<u64>((EDGES_AT + 2) * 8), 0);
    lock(&counted.keeper).leave(group);
    assert_eq!(counted.tables.read(alone).unwrap(), counted.tables.read(alone).unwrap());
}

#[test]
fn long_waits_for_futexes_are_reported_while_they_last() {
    let Ok(mut counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    assert_eq!(counted.rows(group, "waiting"), Vec::<Vec<u64>>::new());
    let now_ns = crate::os::clock::monotonic_ns();
    for (index, owner, began_ns) in [(0, (10, 101), 9), (1, (10, 102), now_ns)] {
        let entry = Entry { owner, began_ns, state: FUTEX, ..Entry::default() };
        entry.write(&mut counted.memory, index);
        counted.memory.set(index, 10, LOCK);
    }
    assert_eq!(counted.rows(group, "waiting"), [[101, 10, LOCK, 9]]);
}

#[test]
fn who_leaves_keeps_what_its_threads_left() {
    let Ok(counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    lock(&counted.keeper).follow(group, &[10]).unwrap();
    assert_eq!(counted.rows(group, "takers"), [[0, 10, 0, 0, 5]]);
}

#[test]
fn rows_beside_slots_belong_to_those_who_had_them() {
    let Ok(mut counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    let set = |map: &OwnedFd, key: [u64; 2], value: u64| {
        bpf::set(map.as_fd(), Some(&key), &value).unwrap();
    };
    bpf::set(counted.edges.as_fd(), Some(&[2_u64, 7 << 32, 0]), &[7_u64 << 32, 0, 4, 40, 1])
        .unwrap();
    set(&counted.takers, [2, 8 << 1], 6);
    set(&counted.takers, [1 | 5 << 32, 8 << 1], 7);
    let mut call = [0_u64; 14];
    call[..2].copy_from_slice(&[2, 20]);
    bpf::set(counted.calls.as_fd(), Some(&[2_u64, 0]), &call).unwrap();
    for (pid, name, kernel) in [(7_u32, b"waker\0\0\0", 1_u32), (8, b"taker\0\0\0", 0)] {
        let name = u64::from_ne_bytes(*name);
        let words = [name, 0, u64::from(kernel), 9_870_000_000];
        bpf::set(counted.names.as_fd(), Some(&pid), &words).unwrap();
    }
    let entry = Entry { owner: (20, 201), began_ns: 1, state: ON_CPU, ..Entry::default() };
    Entry { ns: vec![(PREEMPTED, 11)], ..entry.clone() }.write(&mut counted.memory, 2);
    assert!(counted.rows(group, "wakes").contains(&vec![0, 7, 201, 0, 1, 4, 40, 1]));
    assert_eq!(counted.rows(group, "takers"), [[201, 8, 0, 0, 6], [201, 10, 0, 0, 5]]);
    assert_eq!(counted.rows(group, "calls"), [[201, 0, 2, 20]]);
    let processes = counted.tables.read(group).unwrap().processes;
    for (key, name, kernel) in [(7, comm(b"waker"), true), (8, comm(b"taker"), false)] {
        let described = Described { name, kernel, start_ticks: 987, is_many: false };
        assert!(processes.contains(&(key, described)), "{processes:?}");
    }
    // Nobody knows whose the other taker was.
    let left = |map: &OwnedFd| bpf::entries::<[u64; 2], u64>(map.as_fd()).unwrap().len();
    assert_eq!(left(&counted.takers), 1);
    let last = Entry { state: ENDED, ns: vec![(PREEMPTED, 11)], ..entry };
    last.write(&mut counted.memory, 2);
    counted.end(&[2], group);
    assert!(counted.rows(group, "wakes").contains(&vec![0, 7, 0, 0, 1, 4, 40, 1]));
    assert_eq!(counted.rows(group, "takers"), [[0, 8, 0, 0, 6], [0, 10, 0, 0, 5]]);
    assert_eq!(counted.rows(group, "calls"), [[0, 0, 2, 20]]);
    assert_eq!(left(&counted.takers), 0);
    assert_eq!(bpf::entries::<[u64; 3], [u64; 5]>(counted.edges.as_fd()).unwrap(), []);
}

#[test]
fn many_takers_are_taken_out_of_the_map_and_kept_by_name() {
    let Ok(mut counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    for pid in 1000..3000_u64 {
        counted.tables.note_name(pid as u32, comm(b"cc1"));
        bpf::set(counted.takers.as_fd(), Some(&[2_u64, pid << 1]), &1_u64).unwrap();
    }
    counted.memory.control.store(32, 1_u64);
    let entry = Entry { owner: (20, 201), began_ns: 1, state: ON_CPU, ..Entry::default() };
    Entry { ns: vec![(PREEMPTED, 2010)], ..entry }.write(&mut counted.memory, 2);
    for _ in 0..2 {
        let takers = counted.rows(group, "takers");
        // One is the target's own, one not known, and of the others one stands for most.
        assert_eq!(takers.len(), 18, "{takers:?}");
        assert_eq!(takers.iter().map(|row| row[4]).sum::<u64>(), 2010);
        assert_eq!(takers.iter().map(|row| row[4]).max(), Some(1985));
        let left = bpf::entries::<[u64; 2], u64>(counted.takers.as_fd()).unwrap();
        assert_eq!(left, []);
    }
}

#[test]
fn hostile_details_and_rows_are_no_panic() {
    use proptest::prelude::*;
    let Ok(mut counted) = counted() else {
        return;
    };
    let group = counted.watch(&[10, 20]);
    let words = (prop::collection::vec(any::<u64>(), 356), prop::collection::vec(any::<u64>(), 14));
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(40));
    let counted = std::cell::RefCell::new(&mut counted);
    runner
        .run(&words, |(detail, row)| {
            let mut counted = counted.borrow_mut();
            counted.detail(0, 0, &detail);
            let call: [u64; 14] = row.clone().try_into().unwrap();
            let _ = bpf::set(counted.calls.as_fd(), Some(&[row[0], row[1]]), &call);
            let _ = bpf::set(counted.edges.as_fd(), Some(&[row[2], row[3], 1]), &[row[4]; 5]);
            let _ = bpf::set(counted.takers.as_fd(), Some(&[row[5] & 7, row[6]]), &row[7]);
            counted.tables.read(group).unwrap();
            Ok(())
        })
        .unwrap();
}
