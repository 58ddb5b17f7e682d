//! Members of a target and what each adds up to: reused ids, late records, bounded rows.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::sums::{MAX_STANDING, OTHERS, STANDS_NS};
use super::*;
use crate::columns::Totals;
use crate::compare::ProcessNotes;

const MAX_NAMES: usize = 255;

fn newcomer(pid: u32, parent: u32, ticks: u64) -> Newcomer {
    Newcomer {
        pid,
        parent,
        start_ns: ticks.cast_signed() * 10_000_000,
        start_ticks: ticks,
        name: "work".into(),
        ..Newcomer::default()
    }
}

fn cpu(value: u64) -> Totals {
    Totals { values: vec![value, 0], given: 0b01 }
}

fn both(cpu: u64, faults: u64) -> Totals {
    Totals { values: vec![cpu, faults], given: 0b11 }
}

fn rows(processes: &mut Processes, now_ns: i64, live: &[(u32, u64, u64)]) -> Vec<ProcessRow> {
    let live = live.iter().map(|&(pid, cpu, faults)| (pid, both(cpu, faults)));
    processes.begin_counting(live.clone());
    processes.rows(live, now_ns)
}

#[test]
fn numbers_are_never_used_again_and_parents_are_numbers() {
    let mut members = Members::default();
    members.add(Newcomer { at_attach: true, ..newcomer(10, 0, 100) });
    members.add(newcomer(11, 10, 200));
    let child = members.get(11).unwrap();
    assert_eq!((child.number, child.parent), (2, 1));
    members.end(11, 5, 5);
    assert_eq!(members.add(newcomer(11, 10, 300)), 3);
    assert_eq!((members.started, members.ended_count, members.unseen), (2, 1, 1));
}

#[test]
fn an_id_that_another_process_has_now_ends_the_first() {
    let mut members = Members::default();
    assert_eq!(members.add(newcomer(10, 0, 100)), members.add(newcomer(10, 0, 100)));
    members.add(newcomer(10, 0, 900));
    assert_eq!(members.take_ended()[0].ended_ns, 9_000_000_000);
    assert_eq!((members.number_of(10), &members.ids()[..]), (Some(2), &[10][..]));
}

#[test]
fn records_are_believed_for_a_while_after_the_end() {
    let mut members = Members::default();
    members.add(newcomer(10, 0, 100));
    members.see(10);
    members.end(10, 0, 50);
    assert_eq!((members.ids().len(), &members.believed()[..], members.unseen), (0, &[10][..], 0));
    members.forget(50 + BELIEVED_NS);
    assert_eq!(&members.believed()[..], [10]);
    members.forget(51 + BELIEVED_NS);
    assert!(members.believed().is_empty());
    // After many exits at once records wait for longer before they are counted.
    assert_eq!(members.number_of(10), Some(1));
    for pid in 11..11 + 65_536 {
        members.add(newcomer(pid, 0, 100));
        members.end(pid, 0, 50);
    }
    assert_eq!((members.number_of(10), members.number_of(11)), (None, Some(2)));
}

#[test]
fn who_began_before_counts_from_then_on_and_a_child_from_its_start() {
    let mut processes = Processes::new(MAX_NAMES);
    processes.members.add(Newcomer { at_attach: true, ..newcomer(10, 0, 100) });
    let found = rows(&mut processes, 0, &[(10, 100, 5), (10, 50, 1)]);
    assert_eq!(found[0].totals, both(0, 0));
    processes.members.add(newcomer(11, 10, 100));
    let live = [(10, 130, 5), (11, 7, 2)];
    rows(&mut processes, 0, &live);
    // One of its threads ended: what that had is added when its record comes.
    processes.ended(10, &both(60, 3), 1);
    let found = rows(&mut processes, 0, &live);
    assert_eq!((&found[0].totals, found[0].threads_ended), (&both(40, 2), 1));
    assert_eq!(found[1].totals, both(7, 2));
}

#[test]
fn counts_begin_with_the_first_sample_whenever_rows_are_asked_for() {
    let mut processes = Processes::new(MAX_NAMES);
    processes.members.add(Newcomer { at_attach: true, ..newcomer(10, 0, 100) });
    processes.begin_counting([(11, cpu(9))].into_iter());
    processes.begin_counting([(10, cpu(100))].into_iter());
    processes.begin_counting([(10, cpu(130))].into_iter());
    let found = processes.rows([(10, cpu(150))].into_iter(), 0);
    assert_eq!(found[0].totals.values[0], 50);
}

#[test]
fn a_process_that_moved_in_and_ended_unseen_counts_since_it_moved() {
    let mut processes = Processes::new(MAX_NAMES);
    processes.members.add(Newcomer { before: true, moved_ns: Some(40), ..newcomer(10, 0, 100) });
    processes.ended(10, &both(70, 3), 1);
    processes.members.end(10, 5, 5);
    assert_eq!(rows(&mut processes, 6, &[])[0].totals, both(30, 3));
}

#[test]
fn ended_ones_stand_and_are_folded_into_the_row_of_their_name() {
    let mut processes = Processes::new(MAX_NAMES);
    for pid in [10, 11] {
        processes.members.add(newcomer(pid, 0, 100));
        processes.ended(pid, &cpu(pid.into()), 1);
        processes.members.end(pid, pid.into(), pid.into());
    }
    let found = rows(&mut processes, STANDS_NS, &[]);
    assert!(found.iter().map(|row| row.totals.values[0]).eq([10, 11]));
    rows(&mut processes, STANDS_NS + 11, &[]);
    // A record that comes late still counts while its row stands.
    processes.corrected(11, &Totals::new(2), &cpu(100));
    let found = rows(&mut processes, STANDS_NS + 12, &[]);
    let [folded] = &found[..] else { panic!("{found:?}") };
    assert_eq!((folded.count, folded.totals.values[0], folded.number), (2, 121, 3));
    assert_eq!((folded.threads_ended, folded.pid), (2, None));
}

#[test]
fn rows_are_bounded_and_nothing_is_lost_of_the_sums() {
    let mut processes = Processes::new(MAX_NAMES);
    let many = (MAX_STANDING + MAX_NAMES + 500) as u32;
    for pid in 1..=many {
        processes.members.add(Newcomer { name: format!("name{pid}"), ..newcomer(pid, 0, 100) });
        processes.ended(pid, &cpu(1), 1);
        processes.members.end(pid, 0, 0);
    }
    let found = rows(&mut processes, 1, &[]);
    assert_eq!(found.len(), MAX_STANDING + MAX_NAMES + 1);
    assert_eq!(found.iter().map(|row| row.totals.values[0]).sum::<u64>(), u64::from(many));
    assert_eq!(found.iter().map(|row| row.count).sum::<u64>(), u64::from(many));
    assert_eq!(found.iter().find(|row| row.name == OTHERS).unwrap().count, 500);
}

#[test]
fn what_is_said_of_a_process_after_its_row_has_gone_is_in_that_of_its_name() {
    let mut processes = Processes::new(MAX_NAMES);
    for pid in 1..=MAX_STANDING as u32 + 2 {
        processes.members.add(newcomer(pid, 0, 100));
        processes.members.end(pid, 0, 0);
    }
    assert_eq!(rows(&mut processes, 1, &[]).len(), MAX_STANDING + 1);
    processes.ended(1, &cpu(7), 1);
    processes.ended(2, &cpu(5), 1);
    processes.corrected(2, &cpu(5), &cpu(6));
    let found = rows(&mut processes, 1, &[]);
    let folded = found.iter().find(|row| row.pid.is_none()).unwrap();
    assert_eq!((folded.totals.values[0], folded.count, folded.threads_ended), (13, 2, 2));
}

proptest! {
    /// Members and their ids agree with a plain list, in whatever order processes come and go.
    #[test]
    fn ids_are_those_alive_and_those_whose_records_may_come(
        deeds in proptest::collection::vec((1_u32..9, any::<bool>(), 0_i64..3), 0..60)
    ) {
        let mut members = Members::default();
        let (mut alive, mut ended): (BTreeMap<u32, u64>, BTreeMap<u32, i64>) = Default::default();
        let mut now_ns = 0;
        for (ticks, (pid, comes, seconds)) in (0..).zip(deeds) {
            now_ns += seconds * 1_000_000_000;
            if comes {
                if alive.insert(pid, ticks).is_some() {
                    // Known at the start of the process that follows, which is 0 here.
                    ended.insert(pid, i64::MIN);
                }
                members.add(Newcomer { pid, start_ticks: ticks, ..Newcomer::default() });
            } else if alive.remove(&pid).is_some() {
                members.end(pid, now_ns, now_ns);
                ended.insert(pid, now_ns);
            }
            members.forget(now_ns);
            let believed = |known_ns: &i64| now_ns.saturating_sub(*known_ns) <= BELIEVED_NS;
            let ids: Vec<u32> = members.ids().to_vec();
            prop_assert!(ids.iter().eq(alive.keys()));
            prop_assert_eq!(members.count(), alive.len());
            for pid in 1..9 {
                let is_believed = members.is_believed(pid);
                prop_assert_eq!(members.believed().contains(&pid), is_believed);
                let expected = alive.contains_key(&pid) || ended.get(&pid).is_some_and(believed);
                // One that was replaced may be believed for longer than it has to be.
                prop_assert!(is_believed || !expected);
            }
        }
    }
}
