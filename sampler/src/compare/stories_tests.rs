use std::collections::HashMap;

use super::testing::*;
use super::*;
use crate::procfs::Presence::{Alive, Exiting, Gone};

#[test]
fn the_first_sample_gives_birth_to_all_and_has_all_rows() {
    let mut story = Story::new();
    let main = row(5).blkio(1).start(-70).name(b"main");
    let events = story.sample(&[(MAIN, main), (20, row(0).start(30))], &[]);
    assert_eq!(events, [born(MAIN, -70, "main"), born(20, 30, "work")]);
    assert_eq!(story.sent(), [(MAIN, [Some(5), Some(1)]), (20, [Some(0), Some(0)])]);
}

#[test]
fn the_order_of_a_listing_means_nothing() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6)), (30, row(7))], &[]);
    assert!(story.sample(&[(MAIN, row(5)), (20, row(6).blkio(1)), (30, row(8))], &[]).is_empty());
    assert_eq!(story.sent(), [(20, [Some(6), Some(1)]), (30, [Some(8), Some(0)])]);
    assert!(story.sample(&[(30, row(8)), (MAIN, row(5)), (20, row(9).blkio(1))], &[]).is_empty());
    assert_eq!(story.sent(), [(20, [Some(9), Some(1)])]);
}

#[test]
fn a_birth_among_others() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (30, row(7))], &[]);
    let events = story.sample(&[(MAIN, row(5)), (20, row(1).start(1500)), (30, row(8))], &[]);
    assert_eq!(events, [born(20, 1500, "work")]);
    assert_eq!(story.sent(), [(20, [Some(1), Some(0)]), (30, [Some(8), Some(0)])]);
}

#[test]
fn a_start_that_jitters_is_no_birth() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5).start(500))], &[]);
    for start in [400, 700, 650] {
        assert!(story.sample(&[(MAIN, row(5).start(start))], &[]).is_empty());
    }
    assert_eq!(story.receiver.live[&MAIN].start_ns, 500);
}

#[test]
fn a_new_name_is_reported_once() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6).name(b"a"))], &[]);
    let threads = [(MAIN, row(5)), (20, row(6).name(b"b"))];
    assert_eq!(story.sample(&threads, &[]), [renamed(20, "b", "a")]);
    assert!(story.sample(&threads, &[]).is_empty());
    // Also where another thread is new in the same sample, and with bytes that are not UTF-8.
    let new = (30, row(0).start(3500));
    let both = story.sample(&[(MAIN, row(5)), (20, row(6).name(b"\xff")), new], &[]);
    assert!(both.len() == 2 && both.contains(&renamed(20, "\u{fffd}", "b")));
    assert!(story.sample(&[(MAIN, row(5)), (20, row(6).name(b"\xfe")), new], &[]).is_empty());
}

#[test]
fn an_exit_record_has_the_last_word() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6).start(-50))], &[]);
    // The record's start is somewhat late, as it comes from the time of the drain.
    let record = row(9).blkio(2).start(40).name(b"last");
    let events = story.sample(&[(MAIN, row(5))], &[(20, record)]);
    let [exit] = exited(&events)[..] else { panic!("{events:?}") };
    assert_eq!((exit.start_ns, exit.name.as_str()), (-50, "last"));
    assert_eq!((exit.exact, exit.seen_alive, &exit.totals.values[..]), (true, true, &[9, 2][..]));
    let sums = &story.tracker.ended().sums;
    assert_eq!((sums.threads, sums.inexact, &sums.totals.values[..]), (1, 0, &[9, 2][..]));
}

#[test]
fn two_lives_of_one_id_in_one_drain() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    let records = [(20, row(7)), (20, row(11).start(1500))];
    let events = story.sample(&[(MAIN, row(5))], &records);
    let seen: Vec<bool> = exited(&events).iter().map(|exit| exit.seen_alive).collect();
    assert_eq!((seen, story.cpu()), (vec![true, false], 5 + 7 + 11));
}

#[test]
fn a_late_record_puts_the_sums_right_once() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    story.presence.insert(20, Gone);
    story.sample(&[(MAIN, row(5))], &[]);
    // Counted once: the second record belongs to another thread.
    let records = [(20, row(8).start(-4000)), (20, row(9).start(-4000))];
    let events = story.sample(&[(MAIN, row(5))], &records);
    let [exit] = exited(&events)[..] else { panic!("{events:?}") };
    assert_eq!((exit.seen_alive, exit.totals.get(0)), (false, Some(9)));
    let sums = &story.tracker.ended().sums;
    assert_eq!((sums.threads, sums.inexact, sums.totals.get(0)), (2, 0, Some(8 + 9)));
}

#[test]
fn a_record_of_the_next_life_is_not_taken_for_a_late_one() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    story.presence.insert(20, Gone);
    story.sample(&[(MAIN, row(5))], &[]);
    let events = story.sample(&[(MAIN, row(5))], &[(20, row(8).start(1001))]);
    assert!(!exited(&events)[0].seen_alive);
    let sums = &story.tracker.ended().sums;
    assert_eq!((sums.threads, sums.inexact, sums.totals.get(0)), (2, 1, Some(14)));
}

#[test]
fn a_main_thread_that_lingers_has_ended_once() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    // Read before it ended, drained after.
    let events = story.sample(&[(MAIN, row(6)), (20, row(6))], &[(MAIN, row(7))]);
    assert_eq!(exited(&events).len(), 1);
    story.presence.insert(MAIN, Exiting);
    for _ in 0..3 {
        // A zombie answers, and is skipped by no listing.
        assert!(story.sample(&[(MAIN, row(8)), (20, row(6))], &[]).is_empty());
        assert!(story.sent().is_empty());
    }
    assert!(story.sample_listed(&[(20, row(6))], &[], Some(&[MAIN, 20])).is_empty());
    assert!(story.sample(&[(MAIN, row(8)), (20, row(6))], &[]).is_empty());
    assert!(story.receiver.live.keys().eq(&[20]));
    assert_eq!(story.cpu(), 7 + 6);
}

#[test]
fn a_thread_that_still_ends_after_its_record_is_no_new_one() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[(20, row(7))]);
    story.presence.insert(20, Exiting);
    assert!(story.sample(&[(MAIN, row(5)), (20, row(7))], &[]).is_empty());
    assert!(story.sample(&[(MAIN, row(5))], &[]).is_empty());
    assert_eq!(story.cpu(), 5 + 7);
}

#[test]
fn a_thread_that_began_after_the_listing_and_lingers_has_exited_once() {
    for skipped in [false, true] {
        let mut story = Story::new();
        story.sample(&[(MAIN, row(5))], &[]);
        // The record is drained with a sample that did not list the thread; the following samples list it.
        story.sample(&[(MAIN, row(5))], &[(20, row(1).start(1500))]);
        if skipped {
            story.sample(&[(MAIN, row(5))], &[]);
        }
        story.presence.insert(20, Exiting);
        for _ in 0..2 {
            let threads = [(MAIN, row(5)), (20, row(1).start(1490))];
            assert!(story.sample(&threads, &[]).is_empty());
        }
        assert!(story.sample(&[(MAIN, row(5))], &[]).is_empty());
        let sums = &story.tracker.ended().sums;
        assert_eq!((story.cpu(), sums.threads, sums.inexact), (5 + 1, 1, 0));
        // Two listings without it: it is gone, and nobody is asked about the next thread of that id.
        story.sample(&[(MAIN, row(5))], &[]);
        assert_eq!(story.sample(&[(MAIN, row(5)), (20, row(1).start(8000))], &[]).len(), 1);
        assert!(story.asked.is_empty());
    }
}

#[test]
fn an_id_that_is_given_to_a_new_thread_at_once() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6).start(500))], &[]);
    // The new thread may have been read already: it is reported in the next sample.
    let threads = [(MAIN, row(5)), (20, row(1).start(1100))];
    assert_eq!(story.sample(&threads, &[(20, row(7))]).len(), 1);
    story.presence.insert(20, Alive);
    let events = story.sample(&[(MAIN, row(5)), (20, row(2).start(1100))], &[]);
    assert_eq!(events, [born(20, 1100, "work")]);
    assert_eq!(story.cpu(), 5 + 7 + 2);
}

#[test]
fn an_id_reused_without_a_record_is_known_by_its_start() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(1)), (20, row(0))], &[]);
    // Also with equal counters.
    let events = story.sample(&[(MAIN, row(1)), (20, row(0).start(1500))], &[]);
    assert_eq!((exited(&events).len(), &events[1]), (1, &born(20, 1500, "work")));
    assert_eq!(story.sent(), [(20, [Some(0), Some(0)])]);
    let events = story.sample(&[(MAIN, row(1)), (20, row(60).start(2001))], &[]);
    assert_eq!((exited(&events)[0].exact, exited(&events)[0].totals.get(0)), (false, Some(0)));
    assert_eq!(story.cpu(), 1 + 60);
}

#[test]
fn an_id_reused_without_a_record_is_known_by_its_cpu() {
    for another in [false, true] {
        let mut story = Story::new();
        story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
        // /proc gives starts as clock ticks.
        let mut threads = vec![(MAIN, row(5)), (20, row(2).blkio(9).start(900))];
        threads.extend(another.then(|| (30, row(0).start(1500))));
        let events = story.sample(&threads, &[]);
        assert!(matches!(events[..2], [Event::Exited(_), Event::Born { tid: 20, .. }]));
        assert_eq!(story.cpu(), 5 + 6 + 2);
    }
}

#[test]
fn an_id_reused_while_a_listing_skipped_it() {
    // The time that counts is when the other thread was last seen.
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    story.presence.insert(20, Alive);
    assert!(story.sample(&[(MAIN, row(5))], &[]).is_empty());
    let events = story.sample(&[(MAIN, row(5)), (20, row(60).start(1500))], &[]);
    assert!(matches!(events[..], [Event::Exited(_), Event::Born { .. }]));
    assert_eq!(story.cpu(), 5 + 6 + 60);
}

#[test]
fn another_counter_that_falls_is_no_new_thread_and_does_not_fall() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5).blkio(4))], &[]);
    assert!(story.sample(&[(MAIN, row(7).blkio(3))], &[]).is_empty());
    assert_eq!(story.sent(), [(MAIN, [Some(7), Some(4)])]);
    assert!(story.sample(&[(MAIN, row(7).blkio(3))], &[]).is_empty());
    assert!(story.sent().is_empty());
    story.sample(&[(MAIN, row(7).blkio(5))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(7), Some(5)])]);
    // Nor does it at the end.
    story.sample(&[], &[(MAIN, row(8).blkio(2))]);
    assert_eq!(story.tracker.total(&[1]), 5);
}

#[test]
fn a_thread_that_was_listed_and_not_read_stays_with_its_counters() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    assert!(story.sample_listed(&[(MAIN, row(6))], &[], Some(&[MAIN, 20])).is_empty());
    assert!(story.receiver.live.keys().eq(&[MAIN, 20]) && story.asked.is_empty());
    // Only then it is missed in the listing: it ended after the one before.
    story.presence.insert(20, Gone);
    let events = story.sample(&[(MAIN, row(6))], &[]);
    assert_eq!((exited(&events)[0].totals.get(0), story.cpu()), (Some(6), 6 + 6));
}

#[test]
fn a_listing_that_skips_a_thread_ends_nothing() {
    for there in [Alive, Exiting] {
        let mut story = Story::new();
        story.sample(&[(MAIN, row(5)), (20, row(6)), (30, row(7))], &[]);
        story.presence.insert(20, there);
        assert!(story.sample(&[(MAIN, row(5)), (30, row(8))], &[]).is_empty());
        assert_eq!(story.sent(), [(30, [Some(8), Some(0)])]);
        assert!(story.sample(&[(MAIN, row(5)), (20, row(9)), (30, row(8))], &[]).is_empty());
        assert_eq!(story.sent(), [(20, [Some(9), Some(0)])]);
    }
}

#[test]
fn exec_by_another_thread_than_the_main_one() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(60)), (30, row(7))], &[]);
    // The main thread and the others end, and the one that executed goes on under its id.
    story.presence = HashMap::from([(20, Gone), (MAIN, Alive)]);
    story.sample(&[(MAIN, row(61))], &[(30, row(8)), (MAIN, row(6))]);
    assert_eq!(story.cpu(), 6 + 60 + 8);
    let events = story.sample(&[(MAIN, row(62).name(b"sh"))], &[]);
    // Another thread than the main one before: the id is its own since it was seen as 20.
    assert_eq!(events, [born(MAIN, 1000, "sh")]);
    assert_eq!(story.sent(), [(MAIN, [Some(62 - 60), Some(0)])]);
    assert_eq!((story.cpu(), story.tracker.ended().sums.inexact), (6 + 8 + 62, 0));
    story.sample(&[(MAIN, row(65).name(b"sh"))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(65 - 60), Some(0)])]);
    // In each thread's row is what it used under that id: together that is what all used.
    let events = story.sample(&[], &[(MAIN, row(66))]);
    assert_eq!(exited(&events)[0].totals.get(0), Some(66 - 60));
    assert_eq!(story.cpu(), 6 + 8 + 66);
    let all: u64 = story.receiver.exits.iter().filter_map(|exit| exit.totals.get(0)).sum();
    assert_eq!(all, 6 + 8 + 66);
}

#[test]
fn exec_and_the_end_between_two_samples() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(60))], &[]);
    let records = story.exits(&[(MAIN, row(6)), (MAIN, row(64).name(b"sh"))]);
    let events = story.tracker.finish(&records, true);
    assert_eq!(story.tracker.ended().sums.totals.get(0), Some(6 + 64));
    let said: Vec<(u32, Option<u64>)> =
        exited(&events).iter().map(|exit| (exit.tid, exit.totals.get(0))).collect();
    assert_eq!(said, [(MAIN, Some(6)), (MAIN, Some(64 - 60)), (20, Some(60))]);
}

#[test]
fn exec_without_exit_records() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(50)), (20, row(30))], &[]);
    story.presence.insert(20, Gone);
    let events = story.sample(&[(MAIN, row(31).name(b"sh"))], &[]);
    assert!(exited(&events).iter().map(|exit| exit.tid).eq([20, MAIN]));
    assert_eq!(story.sent(), [(MAIN, [Some(31 - 30), Some(0)])]);
    assert_eq!(story.cpu(), 50 + 31);
    // An id that is used again inherits nothing.
    story.sample(&[], &[(MAIN, row(33))]);
    story.presence.insert(MAIN, Alive);
    story.sample(&[(MAIN, row(40).start(3500))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(40), Some(0)])]);
}

#[test]
fn a_thread_that_nobody_saw_inherits_nothing_from_one_that_vanished() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(50)), (20, row(30))], &[]);
    story.presence = HashMap::from([(20, Gone), (MAIN, Gone)]);
    story.sample(&[(MAIN, row(31).name(b"sh"))], &[]);
    story.sample(&[], &[]);
    let cpu = story.cpu();
    let events = story.sample(&[], &[(MAIN, row(70).start(5000))]);
    assert_eq!(exited(&events)[0].totals.get(0), Some(70));
    assert_eq!(story.cpu(), cpu + 70);
}
