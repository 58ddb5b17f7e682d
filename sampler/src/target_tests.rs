use super::*;
use crate::columns::{comm, Totals};
use crate::fields::CPU;
use crate::procfs::Presence;
use crate::source::Late;
use crate::testing::{self, events, exits, header, script, Shared};
use serde_json::{json, Value};

const PROCESS: u32 = 7;

struct Stream {
    target: Target,
    script: Shared,
    when: When,
}

impl Stream {
    fn new(threads: &[(u32, u32, u64)], checked: bool) -> Self {
        let script = script(threads);
        let processes = testing::processes(&[PROCESS]);
        let target = testing::target("t-7-0000000a", &script, checked, &processes);
        let when = When { started_ns: target.attach_ns(), ..When::default() };
        Self { target, script, when }
    }

    /// Time passes, 100 ms unless set otherwise.
    fn later(&mut self) -> When {
        self.when.started_ns += 100_000_000;
        self.when
    }

    fn frames(&mut self) -> Vec<Value> {
        let when = self.later();
        let frames = match self.target.read(&[PROCESS], &[PROCESS]) {
            Ok(_) => self.target.sample(when, &mut |_, _| Presence::Gone),
            Err(error) => self.target.failure(error.to_string(), when),
        };
        frames.iter().map(header).collect()
    }

    fn sample(&mut self) -> Value {
        let mut frames = self.frames();
        assert_eq!(frames.len(), 1);
        frames.remove(0)
    }

    fn finish(&mut self, exited: bool) -> Vec<Value> {
        let when = self.later();
        let end = Event::TargetExited { exit_code: Some(9) };
        self.target.finish(exited, end, When { last: exited, ..when }).iter().map(header).collect()
    }
}

#[test]
fn the_first_frame_is_a_key_frame_and_then_only_what_changed() {
    let mut stream = Stream::new(&[(7, PROCESS, 100), (8, PROCESS, 200)], true);
    let first = stream.sample();
    assert_eq!(
        (&first["kind"], &first["seq"], &first["rows"]),
        (&json!("key"), &json!(1), &json!(2))
    );
    assert_eq!(first["baseline"], true);
    stream.script.lock().unwrap().threads[1].2 = 201;
    let second = stream.sample();
    assert_eq!((&second["kind"], &second["rows"]), (&json!("delta"), &json!(1)));
    let third = stream.sample();
    assert_eq!(
        (&third["seq"], &third["rows"], &third["live_threads"]),
        (&json!(3), &json!(0), &json!(2))
    );
    assert!(stream.target.take_named().iter().eq(&[PROCESS]));
}

#[test]
fn a_key_frame_comes_again_after_ten_seconds() {
    let mut stream = Stream::new(&[(7, PROCESS, 100)], true);
    let mut keys = Vec::new();
    for number in 1..23 {
        stream.when.started_ns += 900_000_000;
        if stream.sample()["kind"] == "key" {
            keys.push(number);
        }
    }
    assert_eq!(keys, [1, 11, 21]);
}

#[test]
fn a_sample_that_failed_loses_nothing() {
    let mut stream = Stream::new(&[(7, PROCESS, 100), (8, PROCESS, 200)], false);
    stream.sample();
    stream.target.take_exits(exits(&[(8, PROCESS, 220), (9, PROCESS, 5)]), false).unwrap();
    stream.script.lock().unwrap().failure = Some(("no answer", false));
    stream.script.lock().unwrap().threads = vec![(7, PROCESS, 150)];
    let failed = stream.sample();
    assert_eq!(events(&failed, "sample_failed")[0]["reason"], "no answer");
    assert_eq!((&failed["rows"], &failed["live_threads"]), (&json!(0), &json!(2)));
    stream.script.lock().unwrap().failure = None;
    let next = stream.sample();
    assert_eq!((events(&next, "thread_exited").len(), &next["rows"]), (2, &json!(1)));
    assert_eq!(stream.target.tracker().total(&[0]), 150 + 220 + 5);
}

#[test]
fn the_first_frame_with_threads_is_the_baseline_and_births_count_since() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], false);
    stream.script.lock().unwrap().failure = Some(("no answer", false));
    let first = stream.sample();
    assert_eq!((&first["baseline"], &first["rows"]), (&json!(false), &json!(0)));
    stream.script.lock().unwrap().failure = None;
    let second = stream.sample();
    assert_eq!((&second["kind"], &second["baseline"]), (&json!("key"), &json!(true)));
    assert_eq!((&second["rows"], &second["threads_born"]), (&json!(1), &json!(0)));
    stream.script.lock().unwrap().threads.extend([(9, PROCESS, 1), (10, PROCESS, 1)]);
    for _ in 0..2 {
        let next = stream.sample();
        assert_eq!((&next["baseline"], &next["threads_born"]), (&json!(false), &json!(2)));
    }
}

#[test]
fn the_end_of_a_target() {
    let mut stream = Stream::new(&[(7, PROCESS, 100), (8, PROCESS, 200)], true);
    stream.sample();
    stream.target.take_exits(exits(&[(8, PROCESS, 230)]), false).unwrap();
    let frames = stream.finish(true);
    let all = frames[0]["events"].as_array().unwrap();
    let kinds: Vec<&str> = all.iter().filter_map(|event| event["type"].as_str()).collect();
    assert_eq!(kinds, ["thread_exited", "thread_exited", "target_exited"]);
    assert_eq!(all[2]["exit_code"], 9);
    assert_eq!((&frames[0]["live_threads"], &frames[0]["rows"]), (&json!(0), &json!(0)));
    assert_eq!(frames[0]["exited"]["totals"][CPU], 330);
    assert_eq!(frames[0]["exited"]["inexact"], 1);
}

#[test]
fn a_source_that_disagrees_with_its_check_is_replaced_for_good() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    assert_eq!(stream.sample()["counters_from"], "walk");
    stream.script.lock().unwrap().failure = Some(("x is 1 and 2", true));
    let header = stream.sample();
    let event = events(&header, "counters_source_changed")[0];
    assert_eq!((&event["source"], &event["disagreed"]), (&json!("genetlink"), &json!(true)));
    assert_eq!(event["reason"], "walk and taskstats disagreed: x is 1 and 2");
    assert_eq!(header["counters_from"], "genetlink");
    assert_eq!(stream.target.disagreement(), Some("x is 1 and 2"));
    stream.script.lock().unwrap().failure = None;
    assert_eq!(stream.sample()["counters_from"], "genetlink");
}

#[test]
fn a_source_that_fails_is_replaced_and_did_not_disagree() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.sample();
    stream.script.lock().unwrap().failure = Some(("EPERM", false));
    let header = stream.sample();
    let event = events(&header, "counters_source_changed")[0];
    assert_eq!(
        (&event["reason"], &event["disagreed"]),
        (&json!("the walk failed: EPERM"), &json!(false))
    );
    assert_eq!((stream.target.disagreement(), header["rows"].as_u64()), (None, Some(0)));
}

#[test]
fn where_another_target_disagreed_nobody_walks() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.target.fall_back(&ReadError::Disagreement("x".into()));
    let header = stream.sample();
    assert_eq!(header["counters_from"], "genetlink");
    // The source of counters never changed.
    assert!(events(&header, "counters_source_changed").is_empty());
}

#[test]
fn what_comes_late_is_counted_with_the_next_sample() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.target.take_exits(exits(&[(8, PROCESS, 5)]), false).unwrap();
    stream.sample();
    let totals = Totals { values: vec![3, 0], given: 1 };
    stream.script.lock().unwrap().late =
        vec![Late { comm: comm(b"work"), process: PROCESS, totals }];
    let header = stream.sample();
    assert_eq!(header["exited"]["totals"][CPU], 8);
}

#[test]
fn exits_whose_join_fails_are_counted() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.script.lock().unwrap().join_fails = true;
    assert!(stream.target.take_exits(exits(&[(8, PROCESS, 5)]), false).is_err());
    let header = stream.sample();
    let event = events(&header, "thread_exited")[0];
    assert_eq!(
        (&event["totals"][CPU], &event["totals"]["net_read_bytes"]),
        (&json!(5), &Value::Null)
    );
}

#[test]
fn exits_that_are_folded_are_in_the_totals_and_counted() {
    let mut stream = Stream::new(&[(7, PROCESS, 1), (8, PROCESS, 2)], true);
    stream.sample();
    stream.script.lock().unwrap().threads.pop();
    let ended: Vec<(u32, u32, u64)> = (8..108).map(|tid| (tid, PROCESS, 10)).collect();
    stream.target.take_exits(exits(&ended), false).unwrap();
    stream.target.fold_exits(60);
    assert_eq!((stream.target.waiting_exits(), stream.target.exits_without_event()), (40, 59));
    let header = stream.sample();
    // A thread that readers know has its end in the frame.
    assert_eq!(events(&header, "thread_exited").len(), 41);
    assert_eq!(
        (&header["exited"]["threads"], &header["exited"]["totals"][CPU]),
        (&json!(100), &json!(1000))
    );
}

#[test]
fn many_exits_of_one_sample_are_divided_among_frames() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.sample();
    let ended: Vec<(u32, u32, u64)> = (100..2_600).map(|tid| (tid, PROCESS, 10)).collect();
    stream.target.take_exits(exits(&ended), false).unwrap();
    let frames = stream.frames();
    let counts: Vec<usize> =
        frames.iter().map(|header| events(header, "thread_exited").len()).collect();
    assert_eq!(counts, [1000, 1000, 500]);
    // Each frame counts what it and those before it report.
    let threads: Vec<u64> =
        frames.iter().map(|header| header["exited"]["threads"].as_u64().unwrap()).collect();
    assert_eq!(threads, [1000, 2000, 2500]);
    assert!(frames.iter().all(|header| header["time_ns"] == frames[0]["time_ns"]));
    assert_eq!(stream.target.exits_without_event(), 0);
}

#[test]
fn a_first_frame_is_a_key_frame_whatever_has_ended_before_it() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    let ended: Vec<(u32, u32, u64)> = (100..2_100).map(|tid| (tid, PROCESS, 10)).collect();
    stream.target.take_exits(exits(&ended), false).unwrap();
    let header = stream.sample();
    assert_eq!((&header["kind"], &header["exited"]["threads"]), (&json!("key"), &json!(2000)));
    assert_eq!(stream.target.exits_without_event(), 1000);
}

#[test]
fn ends_without_a_record_are_divided_too() {
    let threads: Vec<(u32, u32, u64)> = (1..2_501).map(|tid| (tid, PROCESS, 10)).collect();
    let mut stream = Stream::new(&threads, true);
    stream.sample();
    let frames = stream.finish(true);
    let mut gone = 0;
    for header in &frames {
        gone += events(header, "thread_exited").len() as u64;
        let counted = (header["exited"]["threads"].as_u64(), header["live_threads"].as_u64());
        assert_eq!(counted, (Some(gone), Some(2500 - gone)));
        assert_eq!(header["exited"]["totals"][CPU].as_u64(), Some(gone * 10));
    }
    assert_eq!((gone, frames.len()), (2500, 3));
    assert_eq!(events(&frames[2], "target_exited").len(), 1);
}

#[test]
fn more_threads_than_a_key_frame_holds_are_a_failed_sample() {
    let most = most_threads(testing::NAMES.len()) as u32;
    let threads: Vec<(u32, u32, u64)> = (0..=most).map(|tid| (tid, PROCESS, 1)).collect();
    let mut stream = Stream::new(&threads, false);
    let header = stream.sample();
    let reason = format!("{} threads; a frame holds {most}", most + 1);
    assert_eq!(events(&header, "sample_failed")[0]["reason"], reason.as_str());
    assert_eq!(header["rows"], 0);
}

#[test]
fn joins_follow_those_that_are_believed() {
    let mut stream = Stream::new(&[(7, PROCESS, 1)], true);
    stream.target.follow(&[7, 9]).unwrap();
    assert_eq!(stream.script.lock().unwrap().followed, [7, 9]);
    stream.sample();
    assert_eq!(stream.target.tracker().total(&[1]), 70);
}
