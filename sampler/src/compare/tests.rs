use std::collections::HashSet;

use super::*;
use crate::columns::{comm, Identity};
use crate::encode::events::Exited;

const MS: i64 = 1_000_000;
const NAMES: [&str; 3] = [CPU, "voluntary_switches", "blkio_delay_ns"];

/// A target of process 1, seen sample by sample, 100 ms apart.
struct Target {
    tracker: Tracker,
    time_ns: i64,
    gone: HashSet<u32>,
    exiting: HashSet<u32>,
}

/// A living thread: id, start in milliseconds, name, CPU time.
type Living = (u32, i64, &'static str, u64);

impl Target {
    fn new() -> Self {
        let fields = Fields::new(NAMES).unwrap();
        let roles = RoleSums::new(RoleNames::default(), 8, fields.summed);
        let ended = Ended::new(fields.summed, roles, Box::new(NoNotes));
        Self {
            tracker: Tracker::new(fields, 0, false, ended),
            time_ns: 1_000 * MS,
            gone: HashSet::new(),
            exiting: HashSet::new(),
        }
    }

    fn rows(&self, living: &[Living]) -> Rows {
        let mut rows = Rows::new(NAMES.len());
        for &(tid, start_ms, name, cpu) in living {
            let row = rows.push(Identity {
                tid,
                process: 1,
                start_ns: start_ms * MS,
                seen_ns: self.time_ns,
                comm: comm(name.as_bytes()),
            });
            rows.set(row, 0, cpu);
        }
        rows
    }

    fn exits(&self, ended: &[Living]) -> Exits {
        let rows = self.rows(ended);
        let age_us = rows.start_ns.iter().map(|start| ((self.time_ns - start) / 1000) as u64);
        Exits { age_us: age_us.collect(), rows, drained_ns: self.time_ns }
    }

    fn sample(&mut self, living: &[Living], ended: &[Living]) -> Changes {
        self.sample_rows(self.rows(living), ended)
    }

    fn sample_rows(&mut self, mut rows: Rows, ended: &[Living]) -> Changes {
        self.time_ns += 100 * MS;
        let exits = self.exits(ended);
        let (gone, exiting) = (&self.gone, &self.exiting);
        let mut check = |tid, _| {
            if gone.contains(&tid) {
                Presence::Gone
            } else if exiting.contains(&tid) {
                Presence::Exiting
            } else {
                Presence::Alive
            }
        };
        self.tracker.update(&mut rows, self.time_ns, &exits, None, &mut check)
    }

    fn cpu(&self) -> u64 {
        self.tracker.total(&[0])
    }
}

fn born(changes: &Changes) -> Vec<u32> {
    changes
        .events
        .iter()
        .filter_map(|event| if let Event::Born { tid, .. } = event { Some(*tid) } else { None })
        .collect()
}

fn exited(changes: &Changes) -> Vec<&Exited> {
    changes
        .events
        .iter()
        .filter_map(|event| if let Event::Exited(exited) = event { Some(&**exited) } else { None })
        .collect()
}

#[test]
fn a_sample_reports_births_and_the_rows_that_changed() {
    let mut target = Target::new();
    let first = target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    assert_eq!((born(&first), first.changed), (vec![1, 2], vec![0, 1]));
    let second = target.sample(&[(1, 10, "main", 5), (2, 20, "w", 7)], &[]);
    assert_eq!((second.events, second.changed), (vec![], vec![1]));
    let third = target.sample(&[(2, 20, "w", 7), (3, 1_050, "x", 0), (1, 10, "main", 5)], &[]);
    assert_eq!((born(&third), third.changed), (vec![3], vec![1]));
}

#[test]
fn an_exit_record_gives_the_final_counters() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    let changes = target.sample(&[(1, 10, "main", 5)], &[(2, 20, "w", 9)]);
    let exits = exited(&changes);
    assert_eq!((exits.len(), exits[0].exact, exits[0].seen_alive), (1, true, true));
    assert_eq!(exits[0].totals.get(0), Some(9));
    assert_eq!((target.cpu(), target.tracker.ended().sums.inexact), (14, 0));
}

#[test]
fn a_thread_that_no_sample_saw_is_counted() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5)], &[]);
    let changes = target.sample(&[(1, 10, "main", 5)], &[(7, 1_050, "short", 3)]);
    assert!(!exited(&changes)[0].seen_alive);
    assert_eq!(target.cpu(), 8);
}

#[test]
fn a_thread_without_a_record_ends_with_its_last_row_and_a_late_record_corrects_that() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    target.gone.insert(2);
    let changes = target.sample(&[(1, 10, "main", 5)], &[]);
    assert!(!exited(&changes)[0].exact);
    assert_eq!((target.cpu(), target.tracker.ended().sums.inexact), (11, 1));
    let changes = target.sample(&[(1, 10, "main", 5)], &[(2, 20, "w", 9)]);
    assert!(changes.events.is_empty());
    assert_eq!((target.cpu(), target.tracker.ended().sums.inexact), (14, 0));
}

#[test]
fn a_thread_that_a_listing_skipped_stands_on() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    let changes = target.sample(&[(1, 10, "main", 6)], &[]);
    assert_eq!((changes.events, changes.changed), (vec![], vec![0]));
    assert_eq!(target.tracker.rows().tid, [1, 2]);
    assert_eq!(target.cpu(), 12);
    target.gone.insert(2);
    assert_eq!(exited(&target.sample(&[(1, 10, "main", 6)], &[])).len(), 1);
    assert_eq!(target.cpu(), 12);
}

#[test]
fn an_id_that_stands_for_another_thread_ends_the_one_before() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    let changes = target.sample(&[(1, 10, "main", 5), (2, 1_150, "w", 1)], &[]);
    assert_eq!((born(&changes), exited(&changes).len(), &changes.changed), (vec![2], 1, &vec![1]));
    assert_eq!(target.cpu(), 12);
    // CPU time of thread 2 fell; the scheduler's own counter never falls for one thread.
    let changes = target.sample(&[(1, 10, "main", 5), (2, 1_150, "w", 0)], &[]);
    assert_eq!((born(&changes), exited(&changes).len()), (vec![2], 1));
}

#[test]
fn a_main_thread_that_left_still_answers_and_is_left_out() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    target.exiting.insert(1);
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[(1, 10, "main", 5)]);
    let changes = target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    assert!(changes.events.is_empty() && !target.tracker.threads().contains_key(&1));
    assert_eq!(target.cpu(), 11);
}

#[test]
fn a_thread_that_executes_takes_the_main_threads_id_and_is_counted_once() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 60)], &[]);
    target.gone.insert(2);
    // The main thread's record, and thread 2 under its id with all that it has counted.
    let changes = target.sample(&[], &[(1, 10, "main", 7)]);
    assert_eq!(exited(&changes).len(), 2);
    let changes = target.sample(&[(1, 10, "new", 64)], &[]);
    assert_eq!(born(&changes), [1]);
    assert_eq!((target.cpu(), target.tracker.ended().sums.inexact), (71, 0));
    assert_eq!(target.tracker.rows().get(0, 0), 4);
    target.sample(&[(1, 10, "new", 70)], &[]);
    assert_eq!(target.cpu(), 77);
}

#[test]
fn a_value_once_given_is_not_taken_back() {
    let mut target = Target::new();
    let mut rows = target.rows(&[(1, 10, "main", 5)]);
    rows.set(0, 1, 40);
    target.sample_rows(rows.clone(), &[]);
    rows.seen_ns[0] += 100 * MS;
    rows.set(0, 1, 30);
    rows.absent[0] = 0;
    let changes = target.sample_rows(rows.clone(), &[]);
    assert!(changes.changed.is_empty());
    assert_eq!(target.tracker.rows().get(0, 1), 40);
    // An absent value is the last one; an invalid one is absent, and sums go on with the last.
    rows.seen_ns[0] += 100 * MS;
    rows.set(0, 1, 0);
    rows.absent[0] = 0b10;
    assert!(target.sample_rows(rows.clone(), &[]).changed.is_empty());
    rows.seen_ns[0] += 100 * MS;
    rows.set(0, 1, 0);
    rows.invalid[0] = 0b10;
    assert_eq!(target.sample_rows(rows, &[]).changed, [0]);
    assert!(target.tracker.rows().is_absent(0, 1));
    assert_eq!(target.tracker.total(&[1]), 40);
}

#[test]
fn names_of_the_kernel_and_of_the_program() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5)], &[]);
    let events = target.tracker.rename(&[(1, "http-nio".into()), (9, "nobody".into())], false);
    assert_eq!(events.len(), 1);
    assert!(target.sample(&[(1, 10, "main", 6)], &[]).events.is_empty());
    let changes = target.sample(&[(1, 10, "other", 6)], &[]);
    let Event::Renamed { name, previous, .. } = &changes.events[0] else { panic!("{changes:?}") };
    assert_eq!((previous.as_str(), name.as_str()), ("http-nio", "other"));
}

#[test]
fn roles_add_up_through_names_and_ends() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w-1", 6), (3, 20, "w-2", 7)], &[]);
    target.sample(&[(1, 10, "main", 5), (3, 20, "io-1", 9)], &[(2, 20, "w-1", 8)]);
    let roles = target.tracker.roles(target.time_ns);
    let of = |name: &str| roles.iter().find(|one| one.role.as_deref() == Some(name)).unwrap();
    assert_eq!((of("w-#").live, of("w-#").exited, of("w-#").totals.get(0)), (0, 1, Some(15)));
    assert_eq!((of("io-#").live, of("io-#").totals.get(0)), (1, Some(2)));
}

#[test]
fn the_end_of_a_target_ends_every_thread() {
    let mut target = Target::new();
    target.sample(&[(1, 10, "main", 5), (2, 20, "w", 6)], &[]);
    let exits = target.exits(&[(2, 20, "w", 9)]);
    let events = target.tracker.finish(&exits, true);
    assert_eq!(events.len(), 2);
    assert!(target.tracker.threads().is_empty());
    assert_eq!((target.tracker.ended().sums.threads, target.cpu()), (2, 14));
}
