//! Ledgers of targets, on slots in memory.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use proptest::prelude::*;

use super::slot::testing::Entry;
use super::slot::{ENDED, LAYOUT, ON_CPU, THROTTLED, WOKEN};
use super::walks::Walks;
use super::*;
use crate::columns::{comm, Identity};
use crate::fields::{SINCE, STATE};
use crate::os::clock;
use crate::slots::testing::Memory;
use crate::slots::ThreadSlots;

const FUTEX: u8 = 4;
const SLEEP: u8 = 6;
const ATTACH: i64 = 1_000;
const PID: u32 = 7;
const CPU_COLUMN: usize = 0;
const FIRST: usize = 1;

struct Made {
    memory: Memory,
    keeper: SharedKeeper,
    begun: Arc<Mutex<Vec<u32>>>,
    refuses: Arc<Mutex<bool>>,
    looked_at: Arc<Mutex<Vec<u32>>>,
}

fn entry(tid: u32, state: u8, ns: &[(u8, u64)]) -> Entry {
    Entry { owner: (PID, tid), began_ns: ATTACH, state, ns: ns.to_vec(), ..Entry::default() }
}

fn made(entries: &[Entry]) -> Made {
    let (memory, slots) = Memory::new(LAYOUT);
    let (begun, refuses) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(false)));
    let (begins, refused) = (begun.clone(), refuses.clone());
    let begin = Box::new(move |pid| {
        if *refused.lock().unwrap() {
            return Err(io::Error::from_raw_os_error(libc::EPERM));
        }
        begins.lock().unwrap().push(pid);
        Ok(())
    });
    let looked_at = Arc::new(Mutex::new(Vec::new()));
    let walked = looked_at.clone();
    let let_go = Box::new(move |pid| {
        walked.lock().unwrap().push(pid);
        Ok(())
    });
    let walks = Walks { begin, let_go };
    let keeper = Arc::new(Mutex::new(Keeper::with(slots, walks, PathBuf::from("/nowhere"))));
    let mut made = Made { memory, keeper, begun, refuses, looked_at };
    made.give(entries);
    made
}

impl Made {
    fn give(&mut self, entries: &[Entry]) {
        for (index, entry) in entries.iter().enumerate() {
            entry.write(&mut self.memory, index as u32);
        }
        self.memory.use_slots(entries.len() as u32);
    }

    fn ledger(&self) -> Ledger {
        Ledger::new(self.keeper.clone(), &fields(), ATTACH, Duration::ZERO).unwrap()
    }

    fn in_use(&self) -> usize {
        lock(&self.keeper).slots().in_use()
    }
}

fn fields() -> Fields {
    fields_with(COLUMNS)
}

fn fields_with(states: usize) -> Fields {
    let mut names = vec![CPU.to_owned()];
    names.extend((1..=states).map(|state| format!("state_{state}_ns")));
    names.extend([STATE.to_owned(), SINCE.to_owned()]);
    Fields::new(names).unwrap()
}

fn rows(tids: &[u32]) -> Rows {
    let mut rows = Rows::new(fields().len());
    for &tid in tids {
        rows.push(Identity { tid, process: PID, ..Identity::default() });
    }
    rows
}

/// Columns of a row that are not 0; names of states are their numbers.
fn columns(rows: &Rows, row: usize) -> Vec<(usize, u64)> {
    (0..rows.width())
        .map(|column| (column, rows.get(row, column)))
        .filter(|one| one.1 != 0)
        .collect()
}

/// Columns of the current state and of its beginning.
const NOW: usize = FIRST + COLUMNS;
const SINCE_COLUMN: usize = NOW + 1;

/// An exit record of a thread that lived from `start_ns` to `end_ns`.
fn exits(threads: &[(u32, i64, i64)]) -> Exits {
    let mut exits = Exits::new(fields().len());
    for &(tid, start_ns, end_ns) in threads {
        let name = comm(b"worker");
        exits.rows.push(Identity { tid, process: PID, comm: name, ..Identity::default() });
        exits.age_us.push((end_ns - start_ns) as u64 / 1000);
    }
    exits
}

#[test]
fn ledgers_stand_beside_the_counters_of_their_threads() {
    let made = made(&[
        entry(7, SLEEP, &[(ON_CPU, 500)]),
        Entry { arrived_ns: 1_800, woken_ns: 1_700, ..entry(8, FUTEX, &[(FUTEX, 700)]) },
    ]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    let mut found = rows(&[8, 7, 9]);
    found.set(0, CPU_COLUMN, 3);
    ledger.join(&mut found).unwrap();
    let expected = [(CPU_COLUMN, 3), (3, 100), (4, 700), (NOW, 1), (SINCE_COLUMN, 800)];
    assert_eq!(columns(&found, 0), expected);
    assert_eq!(columns(&found, 1), [(1, 500), (NOW, 6), (SINCE_COLUMN, 500)]);
    // Without a ledger all its columns are absent, and no other.
    assert_eq!(columns(&found, 2), []);
    assert_eq!(found.absent, [0, 0, low_bits(COLUMNS + 2) << FIRST]);
    let fields = Fields::new([CPU]).unwrap();
    assert!(Ledger::new(made.keeper.clone(), &fields, ATTACH, PATIENCE).is_err());
}

#[test]
fn processes_with_throttled_threads_are_looked_at_and_no_others() {
    let mut made = made(&[entry(7, SLEEP, &[(ON_CPU, 500)]), entry(8, THROTTLED, &[])]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    assert_eq!(*made.looked_at.lock().unwrap(), [PID]);
    made.give(&[
        entry(7, SLEEP, &[(ON_CPU, 500)]),
        Entry { woken_ns: 1_300, ..entry(8, THROTTLED, &[]) },
    ]);
    ledger.begin(&[PID]).unwrap();
    assert_eq!(*made.looked_at.lock().unwrap(), [PID]);
    let mut found = rows(&[8]);
    ledger.join(&mut found).unwrap();
    assert_eq!(columns(&found, 0), [(THROTTLED as usize, 300), (NOW, 3), (SINCE_COLUMN, 300)]);
    // All threads of the machine at once cost less than many processes one by one.
    lock(&made.keeper).let_go(&[1, 2, 3, 4, 5, 6, 7, 8, 9]).unwrap();
    assert_eq!(*made.looked_at.lock().unwrap(), [PID, 0]);
}

#[test]
fn a_target_without_the_last_state_has_all_others_and_no_column_of_it() {
    let made = made(&[entry(7, SLEEP, &[(ON_CPU, 500)])]);
    let fields = fields_with(COLUMNS - 1);
    let mut ledger = Ledger::new(made.keeper.clone(), &fields, ATTACH, PATIENCE).unwrap();
    ledger.begin(&[PID]).unwrap();
    let mut found = Rows::new(fields.len());
    found.push(Identity { tid: 7, process: PID, ..Identity::default() });
    ledger.join(&mut found).unwrap();
    assert_eq!(columns(&found, 0), [(1, 500), (NOW - 1, 6), (SINCE_COLUMN - 1, 500)]);
    let fields = fields_with(COLUMNS - 2);
    assert!(Ledger::new(made.keeper.clone(), &fields, ATTACH, PATIENCE).is_err());
}

#[test]
fn a_thread_that_began_after_the_ledgers_were_read_is_looked_for_again() {
    let mut made = made(&[entry(7, SLEEP, &[(ON_CPU, 500)])]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    made.give(&[entry(7, SLEEP, &[(ON_CPU, 500)]), entry(8, WOKEN, &[])]);
    let mut found = rows(&[7, 8]);
    ledger.join(&mut found).unwrap();
    assert_eq!(found.column(NOW), [6, 3]);
    assert_eq!(found.absent, [0, 0]);
}

#[test]
fn an_ended_ledger_is_the_first_threads_or_another_threads_with_that_id() {
    let ended = Entry { start_ns: 10, exit_ns: 1_500, ..entry(7, ENDED, &[(ON_CPU, 500)]) };
    let made = made(&[ended]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    let mut found = rows(&[7]);
    found.start_ns[0] = 5_000;
    ledger.join(&mut found).unwrap();
    assert_eq!((columns(&found, 0), found.absent[0]), (vec![(1, 500), (SINCE_COLUMN, 500)], 0));
    let mut other = rows(&[7]);
    other.start_ns[0] = 200_000_000;
    ledger.join(&mut other).unwrap();
    assert_eq!((columns(&other, 0), other.absent[0]), (vec![], low_bits(COLUMNS + 2) << FIRST));
}

#[test]
fn new_processes_are_begun_and_watched_until_the_end() {
    let made = made(&[entry(7, SLEEP, &[]), Entry { owner: (8, 8), ..entry(8, SLEEP, &[]) }]);
    let mut ledger = made.ledger();
    *made.refuses.lock().unwrap() = true;
    assert!(ledger.begin(&[7, 8]).is_err());
    *made.refuses.lock().unwrap() = false;
    ledger.begin(&[7, 8]).unwrap();
    made.begun.lock().unwrap().sort_unstable();
    assert_eq!(*made.begun.lock().unwrap(), [7, 8]);
    let many: Vec<u32> = (7..20).collect();
    ledger.begin(&many).unwrap();
    assert_eq!(*made.begun.lock().unwrap(), [7, 8, 0]);
    ledger.begin(&[8]).unwrap();
    assert_eq!(made.in_use(), 1);
    assert!(lock(&made.keeper).is_watched());
    drop(ledger);
    assert_eq!(made.in_use(), 0);
    assert!(!lock(&made.keeper).is_watched());
}

#[test]
fn exit_records_get_the_final_ledger_and_the_exact_time_on_cpus() {
    let ended =
        Entry { exit_ns: 101_000, run_ns: 900, ..entry(9, ENDED, &[(ON_CPU, 99_000), (6, 1_000)]) };
    let made = made(&[Entry { start_ns: 1_000, ..ended }]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    let mut found = exits(&[(9, 1_000, 101_000), (10, 1_000, 101_000)]);
    found.rows.set(0, CPU_COLUMN, 800);
    ledger.join_exits(&mut found).unwrap();
    assert_eq!(columns(&found.rows, 0), [(CPU_COLUMN, 900), (1, 99_000), (6, 1_000)]);
    assert_eq!(found.rows.absent, [0, low_bits(COLUMNS + 2) << FIRST]);
    assert_eq!(made.in_use(), 0);
    assert_eq!(ledger.take_late(), []);
}

#[test]
fn what_comes_after_the_record_is_reported_late() {
    let start_ns = clock::monotonic_ns() - 1_000_000_000;
    let first = Entry { start_ns, run_ns: 5, ..entry(9, SLEEP, &[(ON_CPU, 300)]) };
    let mut made = made(std::slice::from_ref(&first));
    let mut ledger =
        Ledger::new(made.keeper.clone(), &fields(), ATTACH, Duration::from_millis(2)).unwrap();
    ledger.begin(&[PID]).unwrap();
    let mut found = exits(&[(9, start_ns, start_ns + 999_000_000)]);
    let begun = Instant::now();
    ledger.join_exits(&mut found).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(2));
    assert_eq!(columns(&found.rows, 0), [(1, 300)]);
    assert_eq!((ledger.take_late(), made.in_use()), (vec![], 1));
    let exit_ns = start_ns + 999_500_000;
    let last = Entry { state: ENDED, exit_ns, run_ns: 340, ..first };
    made.give(&[Entry { ns: vec![(ON_CPU, 340), (SLEEP, 60)], ..last }]);
    let late = ledger.take_late();
    assert_eq!(late.len(), 1);
    assert_eq!((late[0].tid, late[0].process, late[0].comm), (9, PID, comm(b"worker")));
    assert_eq!((late[0].ns[0], late[0].ns[5], late[0].cpu_ns), (40, 60, 340));
    assert_eq!((ledger.take_late(), made.in_use()), (vec![], 0));
    assert_eq!(lock(&made.keeper).unfinished_exits(), 0);
}

#[test]
fn a_last_switch_that_never_comes_is_given_up() {
    let start_ns = clock::monotonic_ns() - 1_000_000_000;
    let made = made(&[Entry { start_ns, ..entry(9, SLEEP, &[(ON_CPU, 300)]) }]);
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    ledger.join_exits(&mut exits(&[(9, start_ns, start_ns + 999_000_000)])).unwrap();
    lock(&made.keeper).settle_late(clock::monotonic_ns() + 1_000_000_000);
    assert_eq!(made.in_use(), 1);
    lock(&made.keeper).settle_late(clock::monotonic_ns() + 2_000_000_000);
    assert_eq!((made.in_use(), lock(&made.keeper).unfinished_exits()), (0, 1));
}

#[test]
fn a_process_in_two_targets_gives_both_its_last_numbers() {
    let ended = Entry { start_ns: 1_000, exit_ns: 101_000, ..entry(9, ENDED, &[(6, 100_000)]) };
    let made = made(&[ended]);
    let (mut one, mut two) = (made.ledger(), made.ledger());
    for ledger in [&mut one, &mut two] {
        ledger.begin(&[PID]).unwrap();
    }
    for (ledger, left) in [(&mut one, 1), (&mut two, 0)] {
        let mut found = exits(&[(9, 1_000, 101_000)]);
        ledger.join_exits(&mut found).unwrap();
        assert_eq!(columns(&found.rows, 0), [(6, 100_000)]);
        assert_eq!(made.in_use(), left);
    }
}

struct Kept(Vec<Leaver>);

impl Leaving for Kept {
    fn enter(&mut self, _: Watcher) {}

    fn forget(&mut self, _: Watcher) {}

    fn keep(&mut self, slots: &mut ThreadSlots, leavers: &[Leaver], _: Option<Watcher>) {
        for one in leavers {
            assert_eq!(slots.owner(one.index), (one.process, one.tid), "not freed yet");
        }
        self.0.extend_from_slice(leavers);
    }
}

#[test]
fn what_threads_leave_is_kept_before_their_slots_are_freed() {
    let ended = Entry { start_ns: 1_000, exit_ns: 101_000, ..entry(9, ENDED, &[(6, 100_000)]) };
    let made = made(&[ended, entry(8, SLEEP, &[(ON_CPU, 5)])]);
    let kept = Arc::new(Mutex::new(Kept(Vec::new())));
    lock(&made.keeper).set_leaving(kept.clone());
    let mut ledger = made.ledger();
    ledger.begin(&[PID]).unwrap();
    lock(&made.keeper).drop_ended(ledger.watcher()).unwrap();
    assert_eq!(kept.lock().unwrap().0.len(), 1);
    drop(ledger);
    let kept = kept.lock().unwrap();
    let left: Vec<(u32, u32, u64)> =
        kept.0.iter().map(|one| (one.index, one.tid, one.ns.iter().sum())).collect();
    assert_eq!(left, [(0, 9, 100_000), (1, 8, 5)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn hostile_slots_are_no_panic(
        words in prop::collection::vec(prop_oneof![0_u64..10, any::<u64>()], 96),
        used in prop_oneof![0_u32..5, any::<u32>()],
        whole: bool,
        age_us: u64,
    ) {
        let mut made = made(&[entry(9, SLEEP, &[(ON_CPU, 5)]), entry(8, SLEEP, &[])]);
        for (place, &word) in words.iter().enumerate() {
            // Ids, and what keeps a ledger whole, stay what they are.
            if place % 48 != 0 && !(whole && [4, 7].contains(&(place % 48)))
                && !(whole && place % 48 > 16)
            {
                made.memory.set(place as u32 / 48, place % 48, word);
            }
        }
        made.memory.use_slots(used);
        let mut ledger = made.ledger();
        let begun = ledger.begin(&[PID]);
        prop_assert!(!whole || begun.is_ok());
        let mut found = rows(&[8, 9]);
        let _ = ledger.join(&mut found);
        let mut found = exits(&[(9, 1_000, 101_000), (8, 0, 5)]);
        found.age_us[0] = age_us;
        let _ = ledger.join_exits(&mut found);
        lock(&made.keeper).settle_late(i64::MAX);
        let _ = lock(&made.keeper).tidy();
        ledger.take_late();
        drop(ledger);
        prop_assert_eq!(lock(&made.keeper).slots().slots_of(&[PID]), Vec::<u32>::new());
    }
}
