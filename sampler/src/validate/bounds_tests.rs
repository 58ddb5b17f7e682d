use super::*;
use crate::columns::Identity;

const MS: i64 = 1_000_000;
const ATTACH: i64 = 1000 * MS;
const FUTEX: &str = "state_futex_ns";
const FILE_READ: &str = "state_file_read_disk_ns";

fn fields() -> Fields {
    let mut names = vec![BLKIO, BLKIO_COUNT, FUTEX];
    names.extend(IO_STATES);
    names.extend(["state", "state_since_ns"]);
    Fields::new(names).unwrap()
}

fn number(state: &str) -> u64 {
    let fields = fields();
    (fields.find(state).unwrap() - fields.first_state + 1) as u64
}

type Thread<'a> = &'a [(&'a str, u64)];

/// Threads 1, 2 and so on; times in milliseconds since attach.
fn rows(threads: &[Thread<'_>], start: i64) -> Rows {
    let fields = fields();
    let mut rows = Rows::new(fields.len());
    for (tid, thread) in (1..).zip(threads) {
        let start_ns = start * MS + ATTACH;
        let row = rows.push(Identity { tid, process: 1, start_ns, ..Identity::default() });
        for &(name, value) in *thread {
            let plain = [BLKIO_COUNT, "state"].contains(&name);
            let value = if plain { value } else { value * MS.unsigned_abs() };
            rows.set(row, fields.find(name).unwrap(), value);
        }
    }
    rows
}

/// Threads whose delays cannot be, by readings one after the other.
struct Story(IoBounds);

impl Story {
    fn new() -> Self {
        Self(IoBounds::new(&fields(), ATTACH))
    }

    fn at(&mut self, ms: i64, threads: &[Thread<'_>]) -> Vec<usize> {
        self.since(0, ms, threads)
    }

    fn since(&mut self, start: i64, ms: i64, threads: &[Thread<'_>]) -> Vec<usize> {
        self.0.check(&rows(threads, start), ATTACH + ms * MS)
    }
}

#[test]
fn a_wait_under_way_counts() {
    let mut story = Story::new();
    let reads = |blkio| [(BLKIO, blkio), ("state", number(FILE_READ)), ("state_since_ns", 100)];
    assert!(story.at(200, &[&reads(0)]).is_empty());
    // The thread was woken after its ledger was read.
    assert!(story.at(900, &[&reads(800)]).is_empty());
    let waits = [(BLKIO, 800), ("state", number(FUTEX)), ("state_since_ns", 100)];
    assert_eq!(story.at(900, &[&waits]), [0]);
}

#[test]
fn a_wait_that_began_before_the_ledger_is_waited_for() {
    let mut story = Story::new();
    assert!(story.since(-900, 10, &[&[(BLKIO, 50), ("state", number(FILE_READ))]]).is_empty());
    let later =
        |blkio| [(BLKIO, blkio), (FILE_READ, 40), ("state", number(FUTEX)), ("state_since_ns", 40)];
    assert!(story.since(-900, 100, &[&later(900)]).is_empty());
    assert_eq!(story.since(-900, 200, &[&later(1000)]), [0]);
}

#[test]
fn a_wait_that_the_kernel_did_not_count_is_missed() {
    let mut story = Story::new();
    assert!(story.since(-900, 10, &[&[(BLKIO, 90)]]).is_empty());
    let waited = |blkio| {
        [(BLKIO, blkio), (FILE_READ, 400), ("state", number(FUTEX)), ("state_since_ns", 500)]
    };
    assert!(story.since(-900, 500, &[&waited(490)]).is_empty());
    assert_eq!(story.since(-900, 600, &[&waited(300)]), [0]);
    // A wait that may not have been for a disk need not be in the delay.
    let calls = [
        (BLKIO, 90),
        ("state_other_call_ns", 400),
        ("state", number(FUTEX)),
        ("state_since_ns", 700),
    ];
    assert!(story.since(-900, 700, &[&calls]).is_empty());
}

#[test]
fn each_wake_up_may_take_a_while() {
    let mut story = Story::new();
    assert!(story.at(10, &[&[], &[]]).is_empty());
    let many = |count| [(BLKIO, 150), ("state_page_fault_disk_ns", 80), (BLKIO_COUNT, count)];
    assert_eq!(story.at(400, &[&many(1000), &many(100)]), [1]);
}

#[test]
fn metadata_and_queues_of_the_kernel_are_no_excess() {
    let mut story = Story::new();
    assert!(story.at(10, &[&[], &[]]).is_empty());
    let allowed = [(BLKIO, 500), ("state_other_call_ns", 300), ("state_io_uring_ns", 200)];
    assert_eq!(story.at(900, &[&allowed, &[(BLKIO, 500), (FUTEX, 500)]]), [1]);
}

#[test]
fn an_exit_record_comes_after_the_thread_is_gone() {
    let mut story = Story::new();
    assert!(story.at(10, &[&[], &[]]).is_empty());
    assert!(story.at(20, &[&[]]).is_empty());
    assert_eq!(story.0.check_exits(&rows(&[&[], &[(BLKIO, 400)]], 0)), [1]);
    // One that nobody saw alive may have waited before.
    assert!(story.0.check_exits(&rows(&[&[], &[], &[(BLKIO, 400)]], 25)).is_empty());
}

#[test]
fn without_a_ledger_nothing_is_bounded() {
    let fields = Fields::new([BLKIO, BLKIO_COUNT]).unwrap();
    let mut bounds = IoBounds::new(&fields, ATTACH);
    let mut rows = Rows::new(2);
    rows.push(Identity { tid: 1, ..Identity::default() });
    rows.set(0, 0, 9_000_000_000);
    for ms in [10, 20] {
        assert!(bounds.check(&rows, ATTACH + ms * MS).is_empty());
    }
}

#[test]
fn of_a_thread_that_waited_for_no_disk_it_is_known_from_the_first_reading() {
    let mut story = Story::new();
    assert!(story.since(-900, 10, &[&[(BLKIO, 50), ("state", number(FUTEX))]]).is_empty());
    let read = [(BLKIO, 400), (FILE_READ, 40), ("state", number(FUTEX)), ("state_since_ns", 90)];
    assert_eq!(story.since(-900, 100, &[&read]), [0]);
}
