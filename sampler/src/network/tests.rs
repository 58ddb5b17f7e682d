//! Network columns of targets, on slots in memory.

use std::os::fd::AsFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::accounts::LAYOUT;
use super::*;
use crate::columns::Identity;
use crate::fields::low_bits;
use crate::os::bpf::{self, testing};
use crate::slots::testing::{Memory, Slot};

const PID: u32 = 100;
const MS: i64 = 1_000_000;

fn fields() -> Fields {
    Fields::new(["cpu_run_ns"].into_iter().chain(NETWORK)).unwrap()
}

fn rows(tids: &[u32]) -> Rows {
    let mut rows = Rows::new(fields().len());
    for &tid in tids {
        rows.push(Identity { tid, process: PID, ..Identity::default() });
    }
    rows
}

struct Made {
    memory: Memory,
    accounts: SharedAccounts,
}

fn made(slots: &[Slot]) -> Made {
    let (memory, held) = Memory::new(LAYOUT);
    let accounts = Arc::new(Mutex::new(Accounts::with(held, None)));
    let mut made = Made { memory, accounts };
    made.give(slots);
    made
}

impl Made {
    /// Gives slots to threads; the counters of each are its thread id, and 1 to 3 more.
    fn give(&mut self, slots: &[Slot]) {
        for (index, slot) in slots.iter().enumerate() {
            let index = index as u32;
            self.memory.set(index, 1, slot.start_ns as u64);
            self.memory.set(index, 2, slot.exit_ns as u64);
            for counter in 0..4 {
                self.memory.set(index, 3 + counter, u64::from(slot.tid) + counter as u64);
            }
            self.memory.set(index, 0, u64::from(slot.tgid) | u64::from(slot.tid) << 32);
        }
        self.memory.use_slots(slots.len() as u32);
    }

    fn network(&self) -> Network {
        Network::new(self.accounts.clone(), &fields(), PathBuf::from("/nowhere")).unwrap()
    }
}

fn slot(tid: u32) -> Slot {
    Slot { tgid: PID, tid, start_ns: 5, exit_ns: 0 }
}

fn values(rows: &Rows, row: usize) -> [u64; 5] {
    std::array::from_fn(|column| rows.get(row, column))
}

#[test]
fn counters_stand_in_the_order_of_the_fields_whatever_that_of_threads_is() {
    let mut made = made(&[slot(9), slot(5), Slot { tgid: 101, ..slot(7) }]);
    let mut network = made.network();
    network.begin(&[PID]).unwrap();
    let mut found = rows(&[5, 6, 7, 9]);
    found.set(0, 0, 77);
    network.join(&mut found).unwrap();
    assert_eq!(values(&found, 0), [77, 5, 6, 7, 8]);
    assert_eq!(values(&found, 1), [0; 5]);
    assert_eq!(values(&found, 2), [0; 5], "of another process");
    assert_eq!(values(&found, 3), [0, 9, 10, 11, 12]);
    assert_eq!(found.absent, [0; 4]);
    // Counters are read again, also of slots that were listed before.
    made.memory.set(1, 3, 1 << 40);
    network.begin(&[PID]).unwrap();
    network.join(&mut found).unwrap();
    assert_eq!(values(&found, 0), [77, 1 << 40, 6, 7, 8]);
}

#[test]
fn ended_threads_and_those_that_began_after_the_reading_are_others() {
    let late = Slot { start_ns: i64::MAX, ..slot(6) };
    let mut made = made(&[Slot { exit_ns: 8, ..slot(5) }, late, slot(5)]);
    made.memory.set(2, 3, 1);
    let mut network = made.network();
    network.begin(&[PID]).unwrap();
    let mut found = rows(&[5, 6]);
    network.join(&mut found).unwrap();
    assert_eq!((values(&found, 0)[1], values(&found, 1)[1]), (1, 0));
    // The list was incomplete: it is made again.
    made.memory.set(1, 1, 5);
    network.join(&mut found).unwrap();
    assert_eq!(values(&found, 1)[1], 6);
}

#[test]
fn threads_without_a_slot_are_unknown_once_calls_were_not_counted() {
    let mut made = made(&[slot(5)]);
    made.memory.control.store(8, 3_u64);
    let mut network = made.network();
    network.begin(&[PID]).unwrap();
    let mut found = rows(&[5, 6]);
    network.join(&mut found).unwrap();
    assert_eq!((found.absent.as_slice(), network.is_incomplete()), (&[0, 0][..], false));
    made.memory.control.store(8, 4_u64);
    network.join(&mut found).unwrap();
    assert_eq!(found.absent, [0, low_bits(4) << 1]);
    assert!(network.is_incomplete());
}

#[test]
fn exit_records_get_their_last_counters_and_slots_are_freed() {
    let now_ns = clock::monotonic_ns();
    let ended = |tid| Slot { start_ns: now_ns - 9 * MS, exit_ns: now_ns - 4 * MS, ..slot(tid) };
    let made = made(&[ended(5), ended(6)]);
    let mut network = made.network();
    network.begin(&[PID]).unwrap();
    let mut exits = Exits { rows: rows(&[6, 8]), age_us: vec![5_000, 5_000], drained_ns: now_ns };
    network.join_exits(&mut exits).unwrap();
    assert_eq!(values(&exits.rows, 0), [0, 6, 7, 8, 9]);
    assert_eq!(values(&exits.rows, 1), [0; 5]);
    assert_eq!(lock(&made.accounts).slots().in_use(), 1);
    drop(network);
    assert_eq!(lock(&made.accounts).slots().in_use(), 0);
    assert!(!lock(&made.accounts).is_watched());
}

#[test]
fn columns_have_to_be_there_in_their_order() {
    let made = made(&[]);
    let refused = |names: &[&str]| {
        let fields = Fields::new(names.iter().copied()).unwrap();
        Network::new(made.accounts.clone(), &fields, PathBuf::new()).is_err()
    };
    assert!(refused(&["cpu_run_ns"]));
    assert!(refused(&["net_read_bytes", "net_write_bytes", "net_read_calls"]));
    assert!(refused(&["net_read_bytes", "net_read_calls", "net_write_bytes", "net_write_calls"]));
    assert!(!lock(&made.accounts).is_watched());
}

#[test]
fn reads_that_are_not_counted_are_reported_of_living_threads() {
    let Ok(map) = testing::create([testing::HASH, 16, 8, 64, 0]) else {
        return; // no right to make maps here
    };
    let owner = |pid: u32, tid: u32| u64::from(pid) | u64::from(tid) << 32;
    let add = |key: [u64; 2], count: u64| bpf::set(map.as_fd(), Some(&key), &count).unwrap();
    add([owner(PID, 5), 1_000], 3);
    add([owner(PID, 6), 900_000_000], 4); // another thread has the id now
    add([owner(PID, 8), 1_000], 5); // it has ended
    add([owner(101, 7), 1_000], 6);
    let (_memory, held) = Memory::new(LAYOUT);
    let accounts = Accounts::with(held, Some(map));
    let found = accounts.uncounted_reads(&[PID], &rows(&[7, 6, 5])).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].tid, found[0].process, found[0].count), (5, PID, 3));
    assert!(found[0].life_ns > 1);
}
