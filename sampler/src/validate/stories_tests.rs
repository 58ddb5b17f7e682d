//! A thread whose delays are validated, and followed by a tracker.

use super::*;
use crate::columns::{comm, Identity, Totals};
use crate::compare::{Ended, NoNotes, RoleNames, RoleSums, Tracker};
use crate::encode::events::{Event, Exited};
use crate::fields::CPU;
use crate::procfs::Presence;

const SECOND: f64 = 1e9;
const TID: u32 = 7;
const SWAPIN: &str = "swapin_delay_ns";
const FILE_WRITE_DISK: &str = "state_file_write_disk_ns";

/// One thread; times in seconds.
#[derive(Clone, Copy, Default)]
struct Row {
    blkio: f64,
    disk: f64,
    swapin: f64,
    start: f64,
    other: bool,
}

fn blkio(blkio: f64, disk: f64) -> Row {
    Row { blkio, disk, ..Row::default() }
}

struct Story {
    fields: Fields,
    validation: Validation,
    tracker: Tracker,
    now: f64,
}

impl Story {
    fn new(ledger: bool) -> Self {
        let mut names = vec![CPU, BLKIO, SWAPIN];
        if ledger {
            names.extend(["state_on_cpu_ns"]);
            names.extend(io_bounds::IO_STATES);
            names.extend(["state", "state_since_ns"]);
        }
        let fields = Fields::new(names).unwrap();
        let roles = RoleSums::new(RoleNames::default(), 8, fields.summed);
        let ended = Ended::new(fields.summed, roles, Box::new(NoNotes));
        Self {
            validation: Validation::new(&fields, 0),
            tracker: Tracker::new(fields.clone(), 0, false, ended),
            fields,
            now: 0.0,
        }
    }

    fn rows(&self, row: Row) -> Rows {
        let ns = |seconds: f64| (seconds * SECOND).round() as i64;
        let mut rows = Rows::new(self.fields.len());
        let tid = if row.other { TID + 1 } else { TID };
        rows.push(Identity {
            tid,
            process: TID,
            start_ns: ns(row.start),
            seen_ns: ns(self.now),
            comm: comm(b"reader"),
        });
        rows.set(0, 0, 5);
        rows.set(0, 1, ns(row.blkio).unsigned_abs());
        rows.set(0, 2, ns(row.swapin).unsigned_abs());
        if let Some(disk) = self.fields.find(FILE_WRITE_DISK) {
            rows.set(0, disk, ns(row.disk).unsigned_abs());
        }
        rows
    }

    /// Rows of the thread at a second.
    fn at(&mut self, second: f64, row: Row) -> Rows {
        self.now = second;
        let mut rows = self.rows(row);
        self.validation.check(&mut rows, (second * SECOND) as i64);
        rows
    }

    /// Exit record of the thread.
    fn exit(&mut self, lived: f64, row: Row) -> Exits {
        let age_us = vec![(lived * 1e6).round() as u64];
        let rows = self.rows(row);
        let mut exits = Exits { rows, age_us, drained_ns: (self.now * SECOND) as i64 };
        self.validation.check_exits(&mut exits, false);
        exits
    }

    /// Takes the thread's rows at a second into the tracker.
    fn follow(&mut self, second: f64, row: Row) -> Option<f64> {
        let mut rows = self.at(second, row);
        let now_ns = (second * SECOND) as i64;
        let none = Exits::new(self.fields.len());
        self.tracker.update(&mut rows, now_ns, &none, None, &mut |_, _| Presence::Gone);
        value(self.tracker.rows())
    }

    fn end(&mut self, lived: f64, row: Row) -> Exited {
        let exits = self.exit(lived, row);
        let mut nobody = Rows::new(self.fields.len());
        let now_ns = (self.now * SECOND) as i64;
        let changes =
            self.tracker.update(&mut nobody, now_ns, &exits, None, &mut |_, _| Presence::Gone);
        let [Event::Exited(exited)] = &changes.events[..] else { panic!("{changes:?}") };
        (**exited).clone()
    }

    fn of_role(&mut self) -> Option<u64> {
        self.tracker.roles((self.now * SECOND) as i64)[0].totals.get(1)
    }

    fn labels(&self) -> Vec<(u32, usize, Instead)> {
        self.validation.inexact().iter().map(|one| (one.tid, one.column, one.instead)).collect()
    }
}

fn value_of(rows: &Rows, column: usize) -> Option<f64> {
    (!rows.is_absent(0, column)).then(|| rows.get(0, column) as f64 / SECOND)
}

fn value(rows: &Rows) -> Option<f64> {
    value_of(rows, 1)
}

#[test]
fn what_can_be_is_given_as_it_is() {
    let mut story = Story::new(true);
    for second in [1.0, 2.0, 3.0] {
        let waited = second + SLACK_NS as f64 / SECOND;
        let rows = story.at(second, blkio(waited, waited));
        assert_eq!(rows, story.rows(blkio(waited, waited)));
    }
    assert!(story.labels().is_empty());
}

#[test]
fn more_than_its_ledger_says_is_wrong_in_a_long_life_too() {
    let mut story = Story::new(true);
    assert_eq!(value(&story.at(10.0, blkio(3.0, 2.0))), Some(3.0));
    // One second was before its ledger began.
    assert_eq!(value(&story.at(11.0, blkio(3.5, 2.5))), Some(3.5));
    assert_eq!(value(&story.at(12.0, blkio(5.0, 2.75))), Some(3.75));
    assert_eq!(story.labels(), [(TID, 1, Instead::Ledger)]);
    assert_eq!(value(&story.exit(13.0, blkio(5.5, 3.25)).rows), Some(4.25));
}

#[test]
fn what_cannot_be_is_the_ledgers() {
    let mut story = Story::new(true);
    assert_eq!(value(&story.at(1.0, blkio(0.3, 0.25))), Some(0.3));
    let rows = story.at(2.0, blkio(5450.0, 0.75));
    // Delay from before the ledger began is not in the ledger.
    assert_eq!((value(&rows), rows.invalid[0]), (Some(0.8), 0b10));
    let found = story.validation.inexact();
    assert_eq!((found.len(), found[0].kernel), (1, 5_450_000_000_000));
    assert_eq!((found[0].life_ns, found[0].instead), (2_000_000_000, Instead::Ledger));
}

#[test]
fn it_stays_wrong_when_the_thread_is_old_enough() {
    let mut story = Story::new(true);
    story.at(1.0, blkio(0.0, 0.0));
    story.at(2.0, blkio(4.0, 0.5));
    assert_eq!(value(&story.at(10.0, blkio(4.5, 1.0))), Some(1.0));
    // A value that was wrong at first counts from the ledger's beginning.
    let mut story = Story::new(true);
    assert_eq!(value(&story.at(1.0, blkio(100.0, 0.0))), Some(0.0));
    assert_eq!(value(&story.at(2.0, blkio(100.5, 0.5))), Some(0.5));
}

#[test]
fn what_no_ledger_knows_is_absent_with_one() {
    let mut story = Story::new(true);
    let rows = story.at(1.0, Row { swapin: 9.0, ..blkio(0.5, 0.0) });
    assert_eq!((value(&rows), value_of(&rows, 2)), (Some(0.5), None));
}

#[test]
fn another_thread_under_the_id_is_judged_by_itself() {
    let mut story = Story::new(true);
    story.at(1.0, blkio(50.0, 0.0));
    let rows = story.at(3.0, Row { start: 2.0, ..blkio(0.5, 0.0) });
    assert_eq!((value(&rows), story.labels().len()), (Some(0.5), 0));
}

#[test]
fn it_is_forgotten_some_time_after_it_was_seen_last() {
    let mut story = Story::new(true);
    story.at(1.0, blkio(50.0, 0.0));
    let other = Row { other: true, start: 1.0, ..Row::default() };
    story.at(2.0, other);
    assert!(!story.labels().is_empty());
    story.at(2.0 + FORGET_NS as f64 / SECOND, other);
    assert!(story.labels().is_empty());
}

#[test]
fn exit_records_follow_the_same_rule() {
    for (ledger, expected) in [(true, Some(0.25)), (false, None)] {
        let mut story = Story::new(ledger);
        assert_eq!(value(&story.exit(1.0, blkio(1.0, 0.25)).rows), Some(1.0));
        assert_eq!(value(&story.exit(1.0, blkio(1.1, 0.25)).rows), expected);
    }
}

#[test]
fn an_exit_record_of_a_thread_whose_value_was_wrong() {
    let mut story = Story::new(true);
    story.at(1.0, blkio(4.0, 0.1));
    assert_eq!(value(&story.exit(9.0, blkio(4.5, 0.5)).rows), Some(0.5));
    assert!(story.labels().is_empty());
    // The id is free again.
    assert_eq!(value(&story.exit(9.0, blkio(4.5, 0.5)).rows), Some(4.5));
}

#[test]
fn ledgers_of_the_same_threads_are_compared_once_a_second() {
    let mut story = Story::new(true);
    assert_eq!(value(&story.at(20.0, blkio(1.0, 1.0))), Some(1.0));
    assert_eq!(value(&story.at(20.5, blkio(9.0, 1.0))), Some(9.0));
    assert_eq!(value(&story.at(21.0, blkio(9.0, 1.0))), Some(1.0));
}

#[test]
fn rows_lack_it_and_sums_keep_what_was_certain() {
    let mut story = Story::new(false);
    assert_eq!(story.follow(1.0, blkio(0.5, 0.0)), Some(0.5));
    assert_eq!(story.follow(2.0, blkio(5450.0, 0.0)), None);
    assert_eq!(story.of_role(), Some(500_000_000));
    assert_eq!(story.follow(3.0, blkio(5451.0, 0.0)), None);
    let exit = story.end(3.0, blkio(5451.0, 0.0));
    assert_eq!((exit.totals.get(1), exit.inexact), (None, 0b10));
    assert_eq!(story.tracker.ended().sums.totals.get(1), Some(500_000_000));
    assert_eq!(story.of_role(), Some(500_000_000));
}

#[test]
fn rows_and_sums_have_the_ledgers() {
    let mut story = Story::new(true);
    assert_eq!(story.follow(1.0, blkio(0.5, 0.4)), Some(0.5));
    assert_eq!(story.follow(2.0, blkio(5450.0, 0.8)), Some(0.9));
    assert_eq!(story.of_role(), Some(900_000_000));
    let exit = story.end(2.5, blkio(5450.0, 1.4));
    assert_eq!((exit.totals.get(1), exit.inexact), (Some(1_500_000_000), 0b10));
    assert_eq!(story.tracker.ended().sums.totals.get(1), Some(1_500_000_000));
}

#[test]
fn a_wrong_value_of_a_thread_that_nobody_saw_is_in_no_sum() {
    let mut story = Story::new(false);
    let exit = story.end(1.0, blkio(900.0, 0.0));
    let sums: &Totals = &story.tracker.ended().sums.totals;
    assert_eq!((exit.totals.get(1), sums.get(1)), (None, None));
}

#[test]
fn a_time_on_a_cpu_that_is_completed_elsewhere_is_not_raised_to_ticks() {
    let fields = Fields::new([CPU, "user_cpu_us", "system_cpu_us"]).unwrap();
    for (whole_cpu, expected) in [(false, 8_000_000), (true, 300)] {
        let mut exits = Exits::new(3);
        exits.rows.push(Identity { tid: 5, process: 5, ..Identity::default() });
        exits.age_us.push(20_000);
        for (column, value) in [300, 4_000, 4_000].into_iter().enumerate() {
            exits.rows.set(0, column, value);
        }
        Validation::new(&fields, 0).check_exits(&mut exits, whole_cpu);
        assert_eq!(exits.rows.get(0, 0), expected);
        assert_eq!(exits.rows.invalid[0], u64::from(!whole_cpu));
    }
}
