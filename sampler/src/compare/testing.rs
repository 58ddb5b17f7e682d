//! A tracker of made-up samples, and a receiver that fails where the tracker contradicts itself.

use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::columns::{comm, Identity, Mask};
use crate::encode::events::Exited;

pub const FIELDS: [&str; 2] = [CPU, "blkio_delay_ns"];
pub const ATTACH: i64 = 1_000_000;
/// Id of the process of all threads, and of its main thread.
pub const MAIN: u32 = 10;

/// A thread as a source shows it.
#[derive(Clone, Copy)]
pub struct Row {
    pub values: [Option<u64>; 2],
    pub invalid: Mask,
    /// Since attach, nanoseconds.
    pub start: i64,
    pub name: &'static [u8],
}

/// A thread with this time on a CPU.
pub fn row(cpu: u64) -> Row {
    Row { values: [Some(cpu), Some(0)], invalid: 0, start: -5000, name: b"work" }
}

impl Row {
    pub fn blkio(mut self, blkio: impl Into<Option<u64>>) -> Self {
        self.values[1] = blkio.into();
        self
    }

    pub fn start(self, start: i64) -> Self {
        Self { start, ..self }
    }

    pub fn name(self, name: &'static [u8]) -> Self {
        Self { name, ..self }
    }
}

/// State of a live thread as a reader of frames knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    pub values: Vec<Option<u64>>,
    pub start_ns: i64,
    pub name: String,
}

/// A reader of frames, which fails at once if one contradicts those before it.
#[derive(Default)]
pub struct Receiver {
    pub live: BTreeMap<u32, Known>,
    pub exits: Vec<Exited>,
}

impl Receiver {
    pub fn take(&mut self, tracker: &Tracker, changes: &Changes) {
        self.take_events(&changes.events);
        let rows = tracker.rows();
        for &row in &changes.changed {
            let known = self.live.get_mut(&rows.tid[row]).expect("a row of no live thread");
            known.values.resize(rows.width(), None);
            for (column, known) in known.values.iter_mut().enumerate() {
                if rows.is_absent(row, column) {
                    let invalid = rows.invalid[row] >> column & 1 != 0;
                    assert!(known.is_none() || invalid, "column {column} was taken back");
                    *known = None;
                    continue;
                }
                let now = rows.get(row, column);
                let rises = tracker.fields().rising >> column & 1 != 0;
                assert!(!rises || now >= known.unwrap_or(0), "column {column} fell");
                *known = Some(now);
            }
        }
        // A reader that starts here with all rows of live threads knows the same.
        let mut late = BTreeMap::new();
        for row in 0..rows.len() {
            let Some(thread) = tracker.threads().get(&rows.tid[row]) else { continue };
            let value = |column| (!rows.is_absent(row, column)).then(|| rows.get(row, column));
            late.insert(
                rows.tid[row],
                Known {
                    values: (0..rows.width()).map(value).collect(),
                    start_ns: thread.start_ns,
                    name: thread.name.clone(),
                },
            );
        }
        assert_eq!(late, self.live);
    }

    pub fn take_events(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Born { tid, start_ns, name, .. } => {
                    let known =
                        Known { values: Vec::new(), start_ns: *start_ns, name: name.clone() };
                    assert!(self.live.insert(*tid, known).is_none(), "{tid} was born twice");
                }
                Event::Renamed { tid, name, previous, .. } => {
                    let known = self.live.get_mut(tid).expect("another name of nobody");
                    assert_eq!(&std::mem::replace(&mut known.name, name.clone()), previous);
                }
                Event::Exited(exited) => {
                    let known = self.live.remove(&exited.tid);
                    assert_eq!(exited.seen_alive, known.is_some());
                    if let Some(known) = known {
                        assert_eq!(known.start_ns, exited.start_ns);
                        for (column, &value) in known.values.iter().enumerate() {
                            let end = exited.totals.get(column);
                            assert!(end >= value, "column {column} fell at the end");
                        }
                    }
                    self.exits.push((**exited).clone());
                }
                _ => {}
            }
        }
    }

    /// A column of the whole target: the living and the ended.
    pub fn total(&self, tracker: &Tracker, column: usize) -> u64 {
        let live: u64 = self.live.values().filter_map(|known| known.values[column]).sum();
        live + tracker.ended().sums.totals.get(column).unwrap_or(0)
    }
}

pub fn tracker(has_other_exits: bool) -> Tracker {
    let fields = Fields::new(FIELDS).unwrap();
    let roles = RoleSums::new(RoleNames::default(), 63, fields.summed);
    let ended = Ended::new(fields.summed, roles, Box::new(NoNotes));
    Tracker::new(fields, ATTACH, has_other_exits, ended)
}

/// A tracker and a receiver of what it says; samples are 1,000 ns apart.
pub struct Story {
    pub tracker: Tracker,
    pub receiver: Receiver,
    pub now: i64,
    /// Answers of /proc by ID. A request for an ID without an answer fails the test.
    pub presence: HashMap<u32, Presence>,
    pub asked: Vec<u32>,
    pub changes: Changes,
    roles: HashMap<Option<String>, RoleTotals>,
}

impl Story {
    pub fn new() -> Self {
        Self {
            tracker: tracker(false),
            receiver: Receiver::default(),
            now: 0,
            presence: HashMap::new(),
            asked: Vec::new(),
            changes: Changes::default(),
            roles: HashMap::new(),
        }
    }

    pub fn rows(&self, threads: &[(u32, Row)]) -> Rows {
        let mut made = Rows::new(FIELDS.len());
        for (tid, thread) in threads {
            let at = made.push(Identity {
                tid: *tid,
                process: MAIN,
                start_ns: thread.start + ATTACH,
                seen_ns: self.now + ATTACH,
                comm: comm(thread.name),
            });
            made.invalid[at] = thread.invalid;
            for (column, value) in thread.values.iter().enumerate() {
                made.set(at, column, value.unwrap_or(0));
                made.absent[at] |= Mask::from(value.is_none()) << column;
            }
        }
        made
    }

    pub fn exits(&self, ended: &[(u32, Row)]) -> Exits {
        let rows = self.rows(ended);
        Exits { age_us: vec![0; rows.len()], rows, drained_ns: self.now + ATTACH }
    }

    /// Takes a sample in, and returns its events.
    pub fn sample(&mut self, threads: &[(u32, Row)], ended: &[(u32, Row)]) -> Vec<Event> {
        self.sample_listed(threads, ended, None)
    }

    /// Takes a sample after a listing of these IDs.
    pub fn sample_listed(
        &mut self,
        threads: &[(u32, Row)],
        ended: &[(u32, Row)],
        listed: Option<&[u32]>,
    ) -> Vec<Event> {
        self.now += 1000;
        self.asked.clear();
        let (mut rows, exits) = (self.rows(threads), self.exits(ended));
        let (presence, asked) = (&self.presence, &mut self.asked);
        let mut check = |tid, process| {
            assert_eq!(process, MAIN);
            asked.push(tid);
            presence[&tid]
        };
        let end_ns = ATTACH + self.now;
        self.changes = self.tracker.update(&mut rows, end_ns, &exits, listed, &mut check);
        self.receiver.take(&self.tracker, &self.changes);
        self.compare_roles();
        self.changes.events.clone()
    }

    /// Roles add up to the target, and none falls.
    fn compare_roles(&mut self) {
        let roles: HashMap<Option<String>, RoleTotals> =
            self.tracker.roles(0).into_iter().map(|one| (one.role.clone(), one)).collect();
        for column in 0..FIELDS.len() {
            let sum: u64 = roles.values().filter_map(|one| one.totals.get(column)).sum();
            assert_eq!(sum, self.tracker.total(&[column]));
            for (role, before) in &self.roles {
                assert!(roles[role].totals.get(column) >= before.totals.get(column));
            }
        }
        self.roles = roles;
    }

    pub fn rename(&mut self, names: &[(u32, &str)]) -> Vec<Event> {
        self.named(names, false)
    }

    pub fn rename_by_span(&mut self, names: &[(u32, &str)]) -> Vec<Event> {
        self.named(names, true)
    }

    fn named(&mut self, names: &[(u32, &str)], by_span: bool) -> Vec<Event> {
        let names: Vec<(u32, String)> =
            names.iter().map(|(tid, name)| (*tid, (*name).to_owned())).collect();
        let events = self.tracker.rename(&names, by_span);
        self.receiver.take_events(&events);
        events
    }

    /// Rows of the last sample: thread, values.
    pub fn sent(&self) -> Vec<(u32, [Option<u64>; 2])> {
        let rows = self.tracker.rows();
        let value =
            |row: usize, column| (!rows.is_absent(row, column)).then(|| rows.get(row, column));
        let changed = self.changes.changed.iter();
        changed.map(|&row| (rows.tid[row], [value(row, 0), value(row, 1)])).collect()
    }

    /// Time on a CPU of the target, as a receiver adds it up.
    pub fn cpu(&self) -> u64 {
        self.receiver.total(&self.tracker, 0)
    }
}

pub fn exited(events: &[Event]) -> Vec<&Exited> {
    let found = events.iter().filter_map(|event| match event {
        Event::Exited(exited) => Some(&**exited),
        _ => None,
    });
    found.collect()
}

pub fn born(tid: u32, start_ns: i64, name: &str) -> Event {
    Event::Born { tid, process: MAIN, start_ns, name: name.into() }
}

pub fn renamed(tid: u32, name: &str, previous: &str) -> Event {
    Event::Renamed { tid, process: MAIN, name: name.into(), previous: previous.into() }
}
