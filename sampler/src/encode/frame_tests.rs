use super::super::events::Exited;
use super::*;
use crate::columns::{Identity, Totals};

const ATTACH: i64 = 1_000;

struct Anonymous;

impl Identities for Anonymous {
    fn start_ns(&self, _: usize) -> i64 {
        0
    }
    fn name(&self, _: usize) -> &str {
        "t"
    }
}

struct Target {
    maker: FrameMaker,
    rows: Rows,
    chosen: Vec<usize>,
    exited: ExitedTotals,
    process: ProcessGauges,
    machine: Fragment,
    health: Health,
}

impl Target {
    fn new(threads: u32) -> Self {
        let fields = Fields::new(["a"]).unwrap();
        let mut rows = Rows::new(1);
        for tid in 1..=threads {
            let row = rows.push(Identity { tid, ..Identity::default() });
            rows.set(row, 0, 1 << 40);
        }
        Self {
            maker: FrameMaker::new("t-1-0000000a", &fields, false, ATTACH),
            chosen: (0..rows.len()).collect(),
            rows,
            exited: ExitedTotals { totals: Totals::new(1), ..ExitedTotals::default() },
            process: ProcessGauges::default(),
            machine: Fragment::new("{}").unwrap(),
            health: Health::default(),
        }
    }

    /// Samples at a time since attach.
    fn sample(&mut self, at_ns: i64, events: Vec<Event>) -> Vec<Frame> {
        let live = self.rows.len() as u64;
        let wants = self.maker.wants(ATTACH + at_ns, live, false);
        let (rows, chosen) = (&self.rows, &self.chosen[..]);
        let body = if wants.key {
            Body::Key { rows, chosen, threads: &Anonymous }
        } else {
            Body::Delta { rows, chosen }
        };
        let common = Common {
            started_ns: ATTACH + at_ns,
            live,
            exited: &self.exited,
            process: &self.process,
            machine: &self.machine,
            health: &self.health,
            counters_from: None,
            group: None,
        };
        let roles = wants.roles.then_some(&[][..]);
        let tables = EncodedTables::NONE;
        let sample = Sample { body, late_ns: -5, cpu_ns: None, roles, tables };
        self.maker.sample(events, &common, &sample)
    }

    fn one(&mut self, at_ns: i64) -> Frame {
        let mut frames = self.sample(at_ns, Vec::new());
        assert_eq!(frames.len(), 1);
        frames.remove(0)
    }
}

fn header(frame: &Frame) -> serde_json::Value {
    let length = u32::from_le_bytes(frame.data[..4].try_into().unwrap()) as usize;
    assert_eq!((length + 4) % 8, 0);
    serde_json::from_slice(&frame.data[4..4 + length]).unwrap()
}

fn exit(tid: u32, seen_alive: bool) -> Event {
    Event::Exited(Box::new(Exited {
        tid,
        process: 1,
        start_ns: 0,
        name: "t".into(),
        totals: Totals { values: vec![1], given: 1 },
        inexact: 0,
        exact: true,
        seen_alive,
        lifetime_ns: None,
    }))
}

#[test]
fn key_frames_come_first_and_every_ten_seconds() {
    let mut target = Target::new(2);
    let first = target.one(0);
    assert!(first.key && first.baseline && first.seq == 1);
    let second = target.one(KEY_FRAME_NS - 1);
    assert!(!second.key && !second.baseline && second.seq == 2);
    let third = target.one(KEY_FRAME_NS);
    assert!(third.key && !third.baseline);
    assert_eq!(target.maker.key_due_ns(), ATTACH + 2 * KEY_FRAME_NS);
}

#[test]
fn many_deltas_bring_a_key_frame_however_large_it_is() {
    let mut target = Target::new(100_000);
    let kinds: Vec<_> = (0..12).map(|n| target.one(n).key).collect();
    let first_again = kinds.iter().skip(1).position(|&key| key).unwrap() + 1;
    // A frame has 1.2 MB: four of them are beyond the bound.
    assert_eq!(first_again, 5);
    assert!(kinds[10] && kinds.iter().filter(|&&key| key).count() == 3);
}

#[test]
fn a_target_without_threads_has_its_baseline_later() {
    let mut target = Target::new(0);
    let first = target.one(0);
    assert!(first.key && !first.baseline);
    assert!(!target.one(1).key);
    let rows = std::mem::take(&mut Target::new(1).rows);
    (target.rows, target.chosen) = (rows, vec![0]);
    let third = target.one(2);
    assert!(third.key && third.baseline);
    assert!(!target.one(3).key);
}

#[test]
fn totals_of_roles_come_about_once_a_second() {
    let mut target = Target::new(1);
    let with: Vec<_> =
        (0..12).map(|n| !header(&target.one(n * 100_000_000))["roles"].is_null()).collect();
    assert_eq!(with.iter().filter(|&&one| one).count(), 2);
    assert!(with[0] && with[10]);
    assert!(target.maker.wants(ATTACH, 1, true).roles);
}

#[test]
fn exits_of_one_instant_are_divided_and_counted_as_they_are_reported() {
    let mut target = Target::new(3);
    target.one(0);
    target.exited.threads = 2500;
    target.exited.totals = Totals { values: vec![2500], given: 1 };
    let events = (0..2500).map(|tid| exit(tid, tid >= 2490)).collect();
    let frames = target.sample(7, events);
    let headers: Vec<_> = frames.iter().map(header).collect();
    let reported = headers.iter().map(|one| {
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        (
            number(&one["seq"]),
            number(&one["exited"]["totals"]["a"]),
            number(&one["live_threads"]),
            number(&one["threads_born"]),
            number(&one["rows"]),
        )
    });
    let expected = [(2, 1000, 13, 1010, 0), (3, 2000, 13, 2010, 0), (4, 2500, 3, 2500, 3)];
    assert_eq!(reported.collect::<Vec<_>>(), expected);
    assert!(headers.iter().all(|one| one["time_ns"] == 7));
}

#[test]
fn a_first_frame_is_a_key_frame_whatever_has_ended_before_it() {
    let mut target = Target::new(1);
    let frames = target.sample(0, (0..2500).map(|tid| exit(tid, false)).collect());
    assert_eq!((frames.len(), target.maker.exits_without_event()), (1, 1500));
    assert!(frames[0].key);
    assert_eq!(header(&frames[0])["events"].as_array().unwrap().len(), 1000);
}

#[test]
fn born_threads_never_fall() {
    let mut target = Target::new(2);
    target.one(0);
    target.exited.threads = 3;
    assert_eq!(header(&target.one(1))["threads_born"], 3);
    target.exited.threads = 2;
    assert_eq!(header(&target.one(2))["threads_born"], 3);
}
