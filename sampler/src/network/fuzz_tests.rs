//! Slots with hostile contents, joined to threads and to exit records.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::accounts::LAYOUT;
use super::*;
use crate::columns::Identity;
use crate::fuzzing::{fuzz, Random};
use crate::slots::testing::Memory;
use crate::slots::Layout;

const SLOTS: usize = 12;
const WORDS: usize = 7;
/// Inputs for one map and one set of members: slots of ended threads are freed after seconds, and those of
/// processes that leave at once.
const ROUNDS: u32 = 512;

struct Made {
    memory: Memory,
    accounts: SharedAccounts,
    network: Network,
    members: Vec<u32>,
    words: [[u64; WORDS]; SLOTS],
    used: usize,
    rounds: u32,
}

fn fields() -> Fields {
    Fields::new(["cpu_run_ns"].into_iter().chain(NETWORK)).unwrap()
}

impl Made {
    fn new(members: Vec<u32>) -> Self {
        let (memory, held) = Memory::new(Layout { count: 64, ..LAYOUT });
        let accounts = Arc::new(Mutex::new(Accounts::with(held, None)));
        let nowhere = PathBuf::from("/nowhere");
        let network = Network::new(accounts.clone(), &fields(), nowhere).unwrap();
        let words = [[0; WORDS]; SLOTS];
        Self { memory, accounts, network, members, words, used: 0, rounds: 0 }
    }

    fn change(&mut self, random: &mut Random) {
        for _ in 0..=random.below(4) {
            let index = random.below(SLOTS);
            let mut words: [u64; WORDS] = std::array::from_fn(|_| random.number());
            words[0] = random.below(4) as u64 | (random.below(6) as u64) << 32;
            for place in [1, 2] {
                if !random.one_in(4) {
                    words[place] = 0;
                }
            }
            for (word, &value) in words.iter().enumerate() {
                self.memory.set(index as u32, word, value);
            }
            self.words[index] = words;
        }
        let used = if random.one_in(20) { random.next() as u32 } else { SLOTS as u32 };
        let used = if random.one_in(10) { random.below(SLOTS) as u32 } else { used };
        self.memory.use_slots(used);
        self.used = SLOTS.min(used as usize);
    }

    fn owner(&self, index: usize) -> (u32, u32) {
        (self.words[index][0] as u32, (self.words[index][0] >> 32) as u32)
    }
}

fn threads(random: &mut Random) -> Rows {
    let mut rows = Rows::new(fields().len());
    for _ in 0..random.below(5) {
        let (tid, process) = (random.below(7) as u32, random.below(4) as u32);
        rows.push(Identity { tid, process, ..Identity::default() });
    }
    rows
}

fn counters(rows: &Rows, row: usize) -> [u64; 4] {
    std::array::from_fn(|column| rows.get(row, 1 + column))
}

#[test]
fn network_slots() {
    let mut made = Made::new(Vec::new());
    fuzz("slots of the network", |random| {
        made.rounds += 1;
        if made.rounds > ROUNDS || made.members.is_empty() {
            made = Made::new((0..5).filter(|_| random.one_in(2)).collect());
        }
        made.change(random);
        made.network.begin(&made.members).unwrap();
        if random.one_in(64) {
            exit_records(&mut made, random);
            made = Made::new(Vec::new());
            return true;
        }
        let mut rows = threads(random);
        made.network.join(&mut rows).unwrap();
        let mut found = false;
        for row in 0..rows.len() {
            // A thread's slot: of a member, not ended, and of no thread that began later.
            let slot = (0..made.used).find(|&index| {
                let (pid, tid) = made.owner(index);
                let [_, start, exit, ..] = made.words[index];
                tid == rows.tid[row]
                    && pid != 0
                    && made.members.contains(&pid)
                    && exit == 0
                    && start.cast_signed() <= made.network.before_ns
            });
            let wanted = slot.map_or([0; 4], |index| made.words[index][3..].try_into().unwrap());
            assert_eq!(counters(&rows, row), wanted);
            assert_eq!(rows.absent[row], 0);
            found |= slot.is_some();
        }
        found
    });
}

/// Joins exit records: each gets the counters of a slot of its ids, or zeros; no slot is given twice, and
/// what was given is freed.
fn exit_records(made: &mut Made, random: &mut Random) {
    let rows = threads(random);
    let age_us: Vec<u64> = rows.tid.iter().map(|_| random.number()).collect();
    let mut exits = Exits { rows, age_us, drained_ns: clock::monotonic_ns() };
    let watched = lock(&made.accounts).slots().in_use();
    made.network.join_exits(&mut exits).unwrap();
    let mut given = HashSet::new();
    for row in 0..exits.rows.len() {
        let values = counters(&exits.rows, row);
        if values == [0; 4] {
            continue;
        }
        let ids = (exits.rows.process[row], exits.rows.tid[row]);
        let slot = (0..made.used)
            .find(|&index| {
                made.owner(index) == ids
                    && made.words[index][3..] == values
                    && !given.contains(&index)
            })
            .expect("the counters of a slot of the thread");
        assert_ne!(ids.0, 0);
        given.insert(slot);
    }
    assert!(lock(&made.accounts).slots().in_use() + given.len() <= watched);
}
