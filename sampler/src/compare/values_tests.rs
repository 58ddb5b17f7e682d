use super::testing::*;
use super::*;
use crate::procfs::Presence::Gone;

#[test]
fn absent_is_not_zero() {
    let mut story = Story::new();
    let first = [(MAIN, row(5).blkio(None)), (20, row(6))];
    story.sample(&first, &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(5), None]), (20, [Some(6), Some(0)])]);
    assert!(story.sample(&first, &[]).is_empty() && story.sent().is_empty());
    story.sample(&[(MAIN, row(6).blkio(None)), (20, row(6))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(6), None])]);
    // A value may come, even if it is 0.
    story.sample(&[(MAIN, row(6)), (20, row(6))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(6), Some(0)])]);
}

#[test]
fn a_value_that_is_absent_later_stands_up_to_the_end() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5).blkio(3)), (20, row(6).blkio(1))], &[]);
    story.sample(&[(MAIN, row(7).blkio(None)), (20, row(6).blkio(None))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(7), Some(3)])]);
    story.presence.insert(20, Gone);
    let events = story.sample(&[(MAIN, row(7).blkio(None))], &[]);
    assert_eq!(exited(&events)[0].totals, Totals { values: vec![6, 1], given: 0b11 });
}

#[test]
fn an_absent_cpu_counter_is_no_rebirth() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(500).blkio(3))], &[]);
    let lacking = Row { values: [None, Some(4)], ..row(0) };
    assert!(story.sample(&[(MAIN, lacking)], &[]).is_empty());
    assert_eq!(story.sent(), [(MAIN, [Some(500), Some(4)])]);
}

#[test]
fn absent_values_are_in_no_sum() {
    let mut story = Story::new();
    let main = (MAIN, row(5).blkio(None));
    story.sample(&[main, (20, row(6).blkio(None))], &[]);
    story.sample(&[main], &[(20, row(7).blkio(None))]);
    let totals = |story: &Story| story.tracker.ended().sums.totals.clone();
    assert_eq!(totals(&story), Totals { values: vec![7, 0], given: 0b1 });
    story.sample(&[main], &[(30, row(7))]);
    assert_eq!(totals(&story), Totals { values: vec![14, 0], given: 0b11 });
}

#[test]
fn a_value_that_turns_out_to_be_invalid_is_absent_and_sums_go_on_with_the_last() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5).blkio(3)), (20, row(6).blkio(1))], &[]);
    let invalid = Row { invalid: 0b10, ..row(7).blkio(None) };
    story.sample(&[(MAIN, invalid), (20, row(6).blkio(1))], &[]);
    assert_eq!(story.sent(), [(MAIN, [Some(7), None])]);
    assert_eq!(story.tracker.total(&[1]), 3 + 1);
    // The record lacks the value too: the event lacks it, and sums keep the last certain value.
    let record = Row { invalid: 0b10, ..row(9).blkio(None) };
    let events = story.sample(&[(20, row(6).blkio(1))], &[(MAIN, record)]);
    let exit = exited(&events)[0];
    assert_eq!((exit.totals.get(1), exit.inexact), (None, 0b10));
    assert_eq!(story.tracker.total(&[1]), 3 + 1);
}

#[test]
fn an_old_kernel_does_not_say_whose_thread_has_ended() {
    let mut story = Story::new();
    story.tracker = tracker(true);
    story.sample(&[(MAIN, row(5)), (20, row(6))], &[]);
    let events = story.sample(&[(MAIN, row(5))], &[(20, row(7)), (999, row(1000))]);
    assert!(exited(&events).iter().map(|exit| exit.tid).eq([20]));
    assert_eq!(story.cpu(), 5 + 7);
}

#[test]
fn the_end_of_sampling_ends_no_thread_but_those_that_said_so() {
    let mut story = Story::new();
    story.sample(&[(MAIN, row(5)), (20, row(6)), (30, row(7))], &[]);
    let records = story.exits(&[(20, row(8))]);
    assert_eq!(exited(&story.tracker.finish(&records, false)).len(), 1);
    assert_eq!(story.tracker.threads().len(), 2);
    let events = story.tracker.finish(&Exits::new(2), true);
    assert!(exited(&events).iter().all(|exit| !exit.exact) && events.len() == 2);
    let sums = &story.tracker.ended().sums;
    assert_eq!((sums.threads, sums.inexact, sums.totals.get(0)), (3, 2, Some(5 + 8 + 7)));
}

const WHOLE: &str = "http-nio-127.0.0.1-18085-exec-3";
const SHORT: &[u8] = b"http-nio-127.0.";

#[test]
fn a_name_of_the_program_stands_until_the_kernels_changes() {
    let mut story = Story::new();
    let short = std::str::from_utf8(SHORT).unwrap();
    story.sample(&[(1, row(10).name(SHORT)), (2, row(5))], &[]);
    assert_eq!(story.rename(&[(1, WHOLE), (77, "nobody")]), [renamed(1, WHOLE, short)]);
    assert!(story.rename(&[(1, WHOLE)]).is_empty());
    assert!(story.sample(&[(1, row(12).name(SHORT)), (2, row(5))], &[]).is_empty());
    assert_eq!(story.tracker.threads()[&1].comm(), short);
    let events = story.sample(&[(1, row(12).name(b"otherwise")), (2, row(5))], &[]);
    assert_eq!(events, [renamed(1, "otherwise", WHOLE)]);
    assert_eq!(story.tracker.threads()[&1].comm(), "otherwise");
}

#[test]
fn a_name_of_a_span_stands_against_those_of_the_program() {
    let mut story = Story::new();
    story.sample(&[(1, row(10).name(b"python"))], &[]);
    assert_eq!(story.rename(&[(1, "serve")]), [renamed(1, "serve", "python")]);
    assert_eq!(story.rename_by_span(&[(1, "order")]), [renamed(1, "order", "serve")]);
    assert!(story.rename(&[(1, "serve")]).is_empty());
    assert_eq!(story.tracker.threads()[&1].comm(), "python");
    assert_eq!(story.rename_by_span(&[(1, "orders")]), [renamed(1, "orders", "order")]);
    let events = story.sample(&[(1, row(10).name(b"own"))], &[]);
    assert_eq!(events, [renamed(1, "own", "orders")]);
    assert_eq!(story.rename(&[(1, "serve")]), [renamed(1, "serve", "own")]);
}

#[test]
fn what_a_thread_did_before_it_was_named_stays_with_the_role_of_its_first_name() {
    let mut story = Story::new();
    story.sample(&[(1, row(10).name(SHORT))], &[]);
    story.rename(&[(1, WHOLE)]);
    story.sample(&[(1, row(17).name(SHORT))], &[]);
    let mut roles: Vec<Option<u64>> =
        story.tracker.roles(0).iter().map(|one| one.totals.get(0)).collect();
    roles.sort_unstable();
    assert_eq!(roles, [Some(7), Some(10)]);
}

#[test]
fn a_thread_ends_under_the_name_of_its_program() {
    let mut story = Story::new();
    story.sample(&[(1, row(10).name(SHORT)), (2, row(5)), (3, row(1).name(SHORT))], &[]);
    story.rename(&[(1, WHOLE), (3, "three")]);
    story.presence.insert(3, Gone);
    let events = story.sample(&[(2, row(5))], &[(1, row(20).name(SHORT))]);
    let names: Vec<(u32, &str)> =
        exited(&events).iter().map(|exit| (exit.tid, exit.name.as_str())).collect();
    assert_eq!(names, [(1, WHOLE), (3, "three")]);
    // One that changed its name at its very end has that one.
    story.sample(&[(2, row(5)), (4, row(1).name(SHORT))], &[]);
    story.rename(&[(4, WHOLE)]);
    let events = story.sample(&[(2, row(5))], &[(4, row(2).name(b"last"))]);
    assert_eq!(exited(&events)[0].name, "last");
}

#[test]
fn a_record_has_at_least_what_the_last_sample_has_seen() {
    let mut story = Story::new();
    story.sample(&[(20, row(90))], &[]);
    let raised = |story: &mut Story, start: i64| {
        let mut exits = story.exits(&[(20, row(40).start(start)), (21, row(1))]);
        story.tracker.raise_to_seen(&mut exits, 0);
        exits.rows.column(0).to_vec()
    };
    assert_eq!(raised(&mut story, 1_000), [90, 1]);
    // Another thread may have the id by then.
    assert_eq!(raised(&mut story, 50_000_000), [40, 1]);
}
