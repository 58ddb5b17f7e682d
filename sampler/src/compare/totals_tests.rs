//! Whatever threads do, the living and the ended add up to what the kernel counted: as a whole, by role and
//! by process.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use proptest::prelude::*;

use super::testing::{Receiver, ATTACH, FIELDS};
use super::*;
use crate::columns::{comm, Identity};
use crate::processes::{Newcomer, Processes, SharedProcesses};

const MAINS: [u32; 2] = [10, 40];
const STEP: i64 = 1_000_000;

/// An event in a generated story; numbers choose among the live threads.
#[derive(Clone, Debug)]
enum Deed {
    Spawn {
        tid: u32,
        process: usize,
        name: u8,
    },
    Run {
        chosen: usize,
        cpu: u64,
        more: u64,
        name: u8,
    },
    Exit {
        chosen: usize,
        lost: bool,
    },
    /// A thread executes a program: the others end, and it gets the main thread's id.
    Execute {
        chosen: usize,
    },
    Sample(Sample),
}

#[derive(Clone, Debug)]
struct Sample {
    /// Threads that the listing does not show.
    skip: BTreeSet<u32>,
    /// Threads whose answer is lost.
    unread: BTreeSet<u32>,
    /// Threads that end between the reading and the drain.
    dying: BTreeSet<u32>,
    /// Skipped threads that end behind the drain.
    late: BTreeSet<u32>,
    /// Nanoseconds by which starts are too early.
    jitter: i64,
    /// Some records are taken in before the sample, as after too many exits.
    folded: bool,
}

fn deeds() -> impl Strategy<Value = Vec<Deed>> {
    let ids = |most| proptest::collection::btree_set(11_u32..17, 0..most);
    let sample = (ids(4), ids(4), ids(3), ids(2), 0_i64..1000, any::<bool>()).prop_map(
        |(skip, unread, dying, late, jitter, folded)| {
            Deed::Sample(Sample { skip, unread, dying, late, jitter, folded })
        },
    );
    let deed = prop_oneof![
        3 => (11_u32..17, 0..2_usize, 0..2_u8)
            .prop_map(|(tid, process, name)| Deed::Spawn { tid, process, name }),
        4 => (any::<usize>(), 0..4_u64, 0..3_u64, 0..2_u8)
            .prop_map(|(chosen, cpu, more, name)| Deed::Run { chosen, cpu, more, name }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(chosen, lost)| Deed::Exit { chosen, lost }),
        1 => any::<usize>().prop_map(|chosen| Deed::Execute { chosen }),
        4 => sample,
    ];
    proptest::collection::vec(deed, 1..40)
}

/// A thread of the kernel.
#[derive(Clone, Debug)]
struct Life {
    process: u32,
    start_ns: i64,
    name: &'static str,
    counters: [u64; 2],
    /// Counters that the tracker last saw, or None if it never read the thread.
    shown: Option<[u64; 2]>,
    exiting: bool,
    recorded: bool,
}

impl Life {
    fn new(process: u32, start_ns: i64, name: &'static str) -> Self {
        Self {
            process,
            start_ns,
            name,
            counters: [0, 0],
            shown: None,
            exiting: false,
            recorded: false,
        }
    }

    /// Counters of the thread that sums can contain.
    fn counted(&self) -> [u64; 2] {
        if self.recorded {
            self.counters
        } else {
            self.shown.unwrap_or([0, 0])
        }
    }
}

/// Two processes, their kernel, the tracker, and a receiver of what it says.
struct World {
    /// True if exit records may be lost; then no thread executes a program, since the tracker cannot always
    /// tell the two apart.
    loses: bool,
    now: i64,
    lives: Vec<Life>,
    /// Index into `lives` by thread ID.
    threads: BTreeMap<u32, usize>,
    queue: Vec<(u32, usize, i64)>,
    barred: HashMap<u32, u32>,
    samples: u32,
    tracker: Tracker,
    processes: SharedProcesses,
    receiver: Receiver,
    reported: [u64; 2],
    roles: HashMap<Option<String>, RoleTotals>,
}

fn check(threads: &BTreeMap<u32, usize>, lives: &[Life], tid: u32, process: u32) -> Presence {
    match threads.get(&tid).map(|&place| &lives[place]) {
        Some(life) if life.process != process => Presence::Gone,
        Some(life) if life.exiting => Presence::Exiting,
        Some(_) => Presence::Alive,
        None => Presence::Gone,
    }
}

impl World {
    fn new(loses: bool) -> Self {
        let mut processes = Processes::new(4);
        for (pid, start_ticks) in MAINS.into_iter().zip(1..) {
            processes.members.add(Newcomer { pid, start_ticks, ..Newcomer::default() });
        }
        let processes = Arc::new(Mutex::new(processes));
        let fields = Fields::new(FIELDS).unwrap();
        let roles = RoleSums::new(RoleNames::default(), 8, fields.summed);
        let ended = Ended::new(fields.summed, roles, Box::new(Arc::clone(&processes)));
        let main = |pid| Life { counters: [7, 0], ..Life::new(pid, ATTACH - STEP, "main") };
        Self {
            loses,
            now: ATTACH,
            lives: MAINS.map(main).to_vec(),
            threads: MAINS.into_iter().zip(0..).collect(),
            queue: Vec::new(),
            barred: HashMap::new(),
            samples: 0,
            tracker: Tracker::new(fields, ATTACH, false, ended),
            processes,
            receiver: Receiver::default(),
            reported: [0, 0],
            roles: HashMap::new(),
        }
    }

    fn tick(&mut self) -> i64 {
        self.now += STEP;
        self.now
    }

    fn living(&self, process: Option<u32>) -> Vec<u32> {
        let is_in = |life: &Life| !life.exiting && process.is_none_or(|one| one == life.process);
        let found = self.threads.iter().filter(|(_, &place)| is_in(&self.lives[place]));
        found.map(|(&tid, _)| tid).collect()
    }

    fn choose(&self, chosen: usize) -> u32 {
        let living = self.living(None);
        living[chosen % living.len()]
    }

    /// A process keeps a thread.
    fn may_end(&self, tid: u32) -> bool {
        let Some(&place) = self.threads.get(&tid) else { return false };
        !self.lives[place].exiting && self.living(Some(self.lives[place].process)).len() > 1
    }

    /// True if a sample has seen a thread under the main thread's id of this thread's process, or not this one.
    ///
    /// Otherwise nobody can tell whether the seen thread took that id or another one that no sample saw.
    fn may_vanish(&self, tid: u32) -> bool {
        let Some(life) = self.threads.get(&tid).map(|&place| &self.lives[place]) else {
            return false;
        };
        let main = self.threads.get(&life.process).map(|&place| &self.lives[place]);
        life.shown.is_none() || main.is_some_and(|main| main.shown.is_some())
    }

    fn end(&mut self, tid: u32, lost: bool) {
        let place = self.threads[&tid];
        self.lives[place].exiting = true;
        if lost {
            // If the ID is reused at once, nobody can tell which of two threads it stood for.
            self.barred.insert(tid, self.samples + 3);
        } else {
            let at_ns = self.tick();
            self.queue.push((tid, place, at_ns));
        }
        if !MAINS.contains(&tid) {
            self.threads.remove(&tid);
        }
    }

    fn execute(&mut self, chosen: u32) {
        let place = self.threads[&chosen];
        let main = self.lives[place].process;
        for tid in self.living(Some(main)) {
            if tid != chosen {
                self.end(tid, false);
            }
        }
        if chosen != main {
            let start_ns = self.lives[self.threads[&main]].start_ns;
            self.threads.remove(&chosen);
            // No record tells that its old id is free: used at once, it is the same thread's.
            self.barred.insert(chosen, self.samples + 3);
            (self.lives[place].start_ns, self.lives[place].name) = (start_ns, "program");
            self.threads.insert(main, place);
        }
    }

    fn rows(&self, threads: &[(u32, usize)], early_ns: i64) -> Rows {
        let mut rows = Rows::new(FIELDS.len());
        for &(tid, place) in threads {
            let life = &self.lives[place];
            let row = rows.push(Identity {
                tid,
                process: life.process,
                start_ns: life.start_ns - early_ns,
                seen_ns: 0,
                comm: comm(life.name.as_bytes()),
            });
            life.counters.iter().zip(0..).for_each(|(&value, column)| rows.set(row, column, value));
        }
        rows
    }

    fn drained(&mut self, before_ns: i64) -> Exits {
        let drained = std::mem::take(&mut self.queue);
        let threads: Vec<(u32, usize)> =
            drained.iter().map(|&(tid, place, _)| (tid, place)).collect();
        let mut rows = self.rows(&threads, 0);
        for (row, &(_, place, ended_ns)) in drained.iter().enumerate() {
            rows.start_ns[row] += before_ns - ended_ns;
            self.lives[place].recorded = true;
        }
        Exits { age_us: vec![0; rows.len()], rows, drained_ns: before_ns }
    }

    fn sample(&mut self, sample: &Sample) {
        self.samples += 1;
        let late: Vec<u32> = sample
            .late
            .intersection(&sample.skip)
            .copied()
            .filter(|&tid| self.may_vanish(tid))
            .collect();
        let listed: Vec<u32> =
            self.threads.keys().copied().filter(|tid| !sample.skip.contains(tid)).collect();
        let read: Vec<(u32, usize)> = listed
            .iter()
            .filter(|tid| !sample.unread.contains(tid))
            .map(|tid| (*tid, self.threads[tid]))
            .collect();
        let mut rows = self.rows(&read, sample.jitter);
        for &tid in &sample.dying {
            if self.may_end(tid) {
                self.end(tid, false);
            }
        }
        let recorded: BTreeSet<u32> = self.queue.iter().map(|&(tid, _, _)| tid).collect();
        for &(tid, place) in &read {
            if !recorded.contains(&tid) {
                self.lives[place].shown = Some(self.lives[place].counters);
            }
        }
        let before_ns = self.tick();
        rows.seen_ns.fill(before_ns);
        let mut exits = self.drained(before_ns);
        for tid in late {
            if self.may_end(tid) {
                self.end(tid, false);
            }
        }
        let mut events = Vec::new();
        if sample.folded {
            let first = exits.take_front(exits.rows.len() / 2);
            events = self.tracker.take_exits(&first, Some(before_ns));
        }
        let (threads, lives) = (&self.threads, &self.lives);
        let mut check = |tid, process| check(threads, lives, tid, process);
        let mut changes =
            self.tracker.update(&mut rows, before_ns, &exits, Some(&listed), &mut check);
        events.append(&mut changes.events);
        changes.events = events;
        let known = self.receiver.live.clone();
        self.receiver.take(&self.tracker, &changes);
        let differs = |tid: &&u32| {
            known.get(tid).map(|one| &one.values) != Some(&self.receiver.live[tid].values)
        };
        let mut sent: Vec<u32> =
            changes.changed.iter().map(|&row| self.tracker.rows().tid[row]).collect();
        sent.sort_unstable();
        let born = |tid: &u32| {
            changes
                .events
                .iter()
                .any(|one| matches!(one, Event::Born { tid: born, .. } if born == tid))
        };
        let expected = self.receiver.live.keys().filter(|tid| born(tid) || differs(tid));
        assert!(expected.eq(&sent));
        self.compare();
    }

    fn compare(&mut self) {
        let roles: HashMap<Option<String>, RoleTotals> =
            self.tracker.roles(0).into_iter().map(|one| (one.role.clone(), one)).collect();
        let mut processes = self.processes.lock().unwrap();
        let by_process = processes.rows(self.tracker.live_totals(0), self.now);
        drop(processes);
        for column in 0..FIELDS.len() {
            let total = self.receiver.total(&self.tracker, column);
            let counted: u64 = self.lives.iter().map(|life| life.counted()[column]).sum();
            assert_eq!(total, counted);
            assert!(total >= self.reported[column], "the target's total fell");
            self.reported[column] = total;
            assert_eq!(self.tracker.total(&[column]), total);
            let sum: u64 = roles.values().filter_map(|one| one.totals.get(column)).sum();
            assert_eq!(sum, total, "of roles");
            let sum: u64 = by_process.iter().filter_map(|one| one.totals.get(column)).sum();
            assert_eq!(sum, total, "of processes");
            for (role, before) in &self.roles {
                assert!(roles[role].exited >= before.exited);
                assert!(roles[role].totals.get(column) >= before.totals.get(column));
            }
        }
        let sums = &self.tracker.ended().sums;
        let live = self.receiver.live.len() as u64;
        assert_eq!(roles.values().map(|one| one.live).sum::<u64>(), live);
        assert_eq!(roles.values().map(|one| one.exited).sum::<u64>(), sums.threads);
        assert_eq!(by_process.iter().map(|one| one.threads).sum::<u64>(), live);
        assert_eq!(by_process.iter().map(|one| one.threads_ended).sum::<u64>(), sums.threads);
        self.roles = roles;
    }

    fn finish(&mut self) {
        for tid in self.living(None) {
            self.end(tid, false);
        }
        let exits = self.drained(self.now);
        let events = self.tracker.finish(&exits, true);
        self.receiver.take_events(&events);
        assert!(self.receiver.live.is_empty());
        self.compare();
        let sums = &self.tracker.ended().sums;
        assert_eq!(sums.threads, self.receiver.exits.len() as u64);
        assert!(self.loses || sums.inexact == 0);
    }

    fn run(&mut self, deeds: &[Deed]) {
        for deed in deeds {
            match deed {
                Deed::Spawn { tid, process, name } => {
                    let free = self.barred.get(tid).is_none_or(|&until| until <= self.samples);
                    if free && !self.threads.contains_key(tid) {
                        let start_ns = self.tick();
                        let name = ["a", "b"][usize::from(*name)];
                        self.lives.push(Life::new(MAINS[*process], start_ns, name));
                        self.threads.insert(*tid, self.lives.len() - 1);
                    }
                }
                Deed::Run { chosen, cpu, more, name } => {
                    let place = self.threads[&self.choose(*chosen)];
                    let life = &mut self.lives[place];
                    life.counters = [life.counters[0] + cpu, life.counters[1] + more];
                    life.name = ["a", "b"][usize::from(*name)];
                }
                Deed::Exit { chosen, lost } => {
                    let tid = self.choose(*chosen);
                    if self.may_end(tid) {
                        self.end(tid, *lost && self.loses);
                    }
                }
                Deed::Execute { chosen } => {
                    let tid = self.choose(*chosen);
                    if !self.loses && self.may_vanish(tid) {
                        self.execute(tid);
                    }
                }
                Deed::Sample(sample) => self.sample(sample),
            }
        }
        self.finish();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_threads_do_sums_are_what_the_kernel_counted(deeds in deeds()) {
        World::new(false).run(&deeds);
    }

    #[test]
    fn where_records_are_lost_sums_are_what_was_seen(deeds in deeds()) {
        World::new(true).run(&deeds);
    }
}
