//! Stand-ins that bound the number of takers and wakers: a few processes of a name are distinguished, and
//! the last of them stands for all further ones.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::hash::Hash;
use std::path::PathBuf;

use super::counts::{may_begin_at, pid_of, Counts};
use crate::columns::{comm, Comm};
use crate::os::clock::ticks_per_second;
use crate::procfs::parse_stat;

/// Maximum distinguished names; takers under further names are unknown.
const MAX_NAMES: usize = 1024;
/// Processes of one name that are distinguished; the last of them stands for all further ones.
const OF_A_NAME: usize = 16;
/// Maximum members that stand for further members of their names, over all targets.
const MAX_MEMBERS: usize = 1024;
/// Processes whose stand-in is kept at hand.
const MAX_KNOWN: usize = 4096;
/// Processes whose name is kept.
const MAX_PROCESSES: usize = 2 * 8192;

/// Name of a process, and whether it is a kernel thread. The name is zeros if it is not known.
pub type Name = (Comm, bool);

/// Known identity of a process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Described {
    /// Name of the main thread.
    pub name: Comm,
    /// True for a kernel thread.
    pub kernel: bool,
    /// When it began, in clock ticks since boot; 0 if that is not known.
    pub start_ticks: u64,
    /// True if it stands for further processes of its name.
    pub is_many: bool,
}

/// A map with a maximum number of entries; the oldest leave first.
struct Bounded<K, V> {
    values: HashMap<K, V>,
    order: VecDeque<K>,
    most: usize,
}

impl<K: Copy + Eq + Hash, V> Bounded<K, V> {
    fn new(most: usize) -> Self {
        Self { values: HashMap::new(), order: VecDeque::new(), most }
    }

    fn insert(&mut self, key: K, value: V) {
        if self.values.insert(key, value).is_none() {
            self.order.push_back(key);
            if self.order.len() > self.most {
                if let Some(oldest) = self.order.pop_front() {
                    self.values.remove(&oldest);
                }
            }
        }
    }
}

/// Representatives of processes: a process stands for itself, or one of the first with its name does.
pub struct Names {
    procfs: PathBuf,
    /// Known processes by key.
    processes: Bounded<u32, Described>,
    first: HashMap<Name, Vec<u64>>,
    /// Members of targets that stand for members of one name.
    members: HashMap<Name, Vec<u64>>,
    stand_ins: Bounded<u64, u64>,
    /// The processes that stand for themselves or others, by their keys.
    described: HashMap<u32, Described>,
}

impl Names {
    /// Knows no name yet. Names of living processes are read from `procfs`.
    pub fn new(procfs: PathBuf) -> Self {
        Self {
            procfs,
            processes: Bounded::new(MAX_PROCESSES),
            first: HashMap::new(),
            members: HashMap::new(),
            stand_ins: Bounded::new(MAX_KNOWN),
            described: HashMap::new(),
        }
    }

    /// Notes what is known of a process, by its key and by its id: members of targets have the latter alone.
    ///
    /// The name may have changed, as the process executed a program. A process that stands for itself alone
    /// goes by the new name; one that stands for others keeps the name that they have.
    pub fn note(&mut self, key: u32, name: Comm, kernel: bool, start_ns: u64) {
        let start_ticks = start_ns / ns_per_tick();
        let known = Described { name, kernel, start_ticks, is_many: false };
        if let Some(before) = self.described.get_mut(&key) {
            if name[0] != 0 && before.name != name && !before.is_many {
                let former = (before.name, before.kernel);
                before.name = name;
                self.renamed(key, former, (name, former.1));
            }
        }
        self.processes.insert(key, known);
        self.processes.insert(pid_of(key), known);
    }

    /// Moves a process to those that are distinguished by its new name.
    fn renamed(&mut self, key: u32, former: Name, name: Name) {
        let who = u64::from(key) << 1 | u64::from(name.1);
        let Some(others) = self.first.get_mut(&former) else { return };
        let Some(place) = others.iter().position(|&one| one == who) else { return };
        others.remove(place);
        if others.is_empty() {
            self.first.remove(&former);
        }
        if self.first.contains_key(&name) || self.first.len() < MAX_NAMES {
            let others = self.first.entry(name).or_default();
            if others.len() < OF_A_NAME {
                // The last one stands for further processes, so this one becomes no last one of a full list.
                others.insert(0, who);
            }
        }
    }

    /// Known identity of a process, which may stand for further processes with its name.
    pub fn describe(&mut self, key: u32) -> Described {
        match self.described.get(&key) {
            Some(&known) if known.name[0] != 0 => known,
            _ => self.known(key),
        }
    }

    /// A process that nothing was noted of is looked for in /proc, where another may have its id by now.
    fn known(&mut self, key: u32) -> Described {
        if let Some(&known) = self.processes.values.get(&key) {
            return known;
        }
        let Ok(line) = fs::read(self.procfs.join(format!("{}/stat", pid_of(key)))) else {
            return Described::default();
        };
        let Some(stat) = parse_stat(&line) else { return Described::default() };
        let start_ns = stat.start_ticks.saturating_mul(ns_per_tick());
        if !may_begin_at(key, start_ns, ns_per_tick()) {
            return Described::default();
        }
        self.note(key, comm(stat.name), false, start_ns);
        self.processes.values[&key]
    }

    /// The stand-in of a process (its key << 1 | 1 for a kernel thread), or None if there are too many names.
    fn stand_in(&mut self, who: u64) -> Option<u64> {
        let key = (who >> 1) as u32;
        if key == 0 {
            return Some(who);
        }
        if let Some(&known) = self.stand_ins.values.get(&who) {
            return Some(known);
        }
        let known = self.known(key);
        let name = (known.name, who & 1 != 0);
        if !self.first.contains_key(&name) && self.first.len() >= MAX_NAMES {
            return None;
        }
        let first = self.first.entry(name).or_default();
        // Nameless processes ended before their names were read; one row stands for them all.
        let most = if known.name[0] == 0 { 1 } else { OF_A_NAME };
        if first.len() < most && !first.contains(&who) {
            first.push(who);
        }
        let found = if first.contains(&who) { who } else { first[first.len() - 1] };
        let described = self.described.entry((found >> 1) as u32).or_insert(known);
        described.kernel = name.1;
        described.is_many |= found != who;
        self.stand_ins.insert(who, found);
        Some(found)
    }

    /// The member of a target that stands for its members of a name.
    fn member(&mut self, who: u64, members: &[u32]) -> u64 {
        let key = (who >> 1) as u32;
        let described = self.known(key);
        let name = (described.name, described.kernel);
        if self.members.values().map(Vec::len).sum::<usize>() >= MAX_MEMBERS {
            self.members.clear();
        }
        let known = self.members.entry(name).or_default();
        let is_own = |one: &&u64| members.binary_search(&pid_of((**one >> 1) as u32)).is_ok();
        if let Some(&found) = known.iter().find(is_own) {
            return found;
        }
        known.push(who);
        self.described.entry(key).or_insert(described);
        who
    }

    /// Puts the processes that stand for others in place of takers and wakers.
    ///
    /// The keys of `members` become their ids: a target knows when its processes began. A target of one
    /// process stands for itself. Wakers of `members` that live are left; of takers of `members` one stands
    /// for those of its name. `is_living` tells whether a process has threads that are counted for.
    pub fn fold(&mut self, counts: &mut Counts, members: &[u32], is_living: impl Fn(u32) -> bool) {
        let own = match members {
            [pid] => Some(*pid),
            _ => None,
        };
        let is_member = |pid: u32| members.binary_search(&pid).is_ok();
        let mut takers: HashMap<u64, Option<u64>> = HashMap::new();
        for &([_, who], _) in counts.takers.rows() {
            let pid = pid_of((who >> 1) as u32);
            let plain = u64::from(pid) << 1 | who & 1;
            takers.entry(who).or_insert_with(|| {
                if own == Some(pid) {
                    Some(plain)
                } else if is_member(pid) {
                    Some(self.member(plain, members))
                } else {
                    self.stand_in(who)
                }
            });
        }
        counts.takers.rekey(|[tid, who]| Some([tid, takers.get(&who).copied().flatten()?]));
        counts.takers.rows();
        let mut wakers: HashMap<u32, u64> = HashMap::new();
        for &([_, waker, _, _], _) in counts.edges.rows() {
            let key = (waker >> 32) as u32;
            let pid = pid_of(key);
            if pid != 0 && !(is_member(pid) && is_living(pid)) {
                wakers.entry(key).or_insert_with(|| {
                    // A member that has ended has its id still, so that it stays one.
                    let key = if is_member(pid) { pid } else { key };
                    let who = u64::from(key) << 1 | u64::from(self.known(key).kernel);
                    self.stand_in(who).map_or(u64::from(key), |first| first >> 1)
                });
            }
        }
        counts.edges.rekey(|[tid, waker, address, process]| {
            let key = (waker >> 32) as u32;
            let member = u64::from(pid_of(key)) << 32 | u64::from(waker as u32);
            let waker = wakers.get(&key).map_or(member, |first| first << 32);
            Some([tid, waker, address, process])
        });
        counts.edges.rows();
    }
}

/// Nanoseconds of a clock tick, in which /proc tells starts.
fn ns_per_tick() -> u64 {
    1_000_000_000 / ticks_per_second()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::counts::PID_BITS;
    use super::*;

    fn names() -> Names {
        let mut names = Names::new(PathBuf::from("/proc"));
        for pid in [4_000_001, 4_000_002, 4_000_003] {
            names.note(pid, comm(b"cc1"), false, 0);
        }
        names.note(4_000_003, comm(b"kworker"), true, 0);
        names
    }

    #[test]
    fn some_processes_of_a_name_are_distinguished() {
        let mut names = names();
        let (one, two, kernel) = (4_000_001_u64, 4_000_002_u64, 4_000_003_u64);
        let mut counts = Counts::default();
        for who in [one << 1, two << 1, kernel << 1 | 1, 1] {
            counts.takers.add([5, who], [10]);
        }
        for pid in 4_000_010..4_000_060_u64 {
            names.note(pid as u32, comm(b"cc1"), false, 0);
            counts.takers.add([5, pid << 1], [10]);
        }
        counts.add_edge(5, 7, &[two << 32, 0, 1, 2, 3]);
        counts.add_edge(5, 7, &[one << 32, 0, 1, 2, 3]);
        names.fold(&mut counts, &[7, 8], |_| true);
        let takers = counts.takers.rows().to_vec();
        assert_eq!(takers.len(), 2 + OF_A_NAME);
        assert!(takers.contains(&([5, one << 1], [10])));
        assert!(takers.contains(&([5, kernel << 1 | 1], [10])));
        // 52 of them, of which the last that is distinguished stands for the others.
        let most = 10 * (52 - OF_A_NAME as u64 + 1);
        assert_eq!(takers.iter().map(|row| row.1[0]).max(), Some(most));
        assert_eq!(counts.edges.rows().len(), 2);
        let many = |who: &u64| names.describe((who >> 1) as u32).is_many;
        assert_eq!(takers.iter().map(|row| row.0[1]).filter(many).count(), 1);
        let kworker = names.describe(4_000_003);
        assert_eq!((kworker.name, kworker.kernel), (comm(b"kworker"), true));
    }

    #[test]
    fn a_process_goes_by_the_name_of_the_program_that_it_executed() {
        let mut names = names();
        let shells: Vec<u64> = (4_000_100..4_000_100 + OF_A_NAME as u64 + 4).collect();
        let mut counts = Counts::default();
        for &pid in &shells {
            names.note(pid as u32, comm(b"bash"), false, 0);
            counts.takers.add([5, pid << 1], [10]);
        }
        names.fold(&mut counts, &[7, 8], |_| true);
        let (alone, many) = (shells[0] as u32, shells[OF_A_NAME - 1] as u32);
        names.note(alone, comm(b"make"), false, 0);
        names.note(many, comm(b"gcc"), false, 0);
        assert_eq!(names.describe(alone).name, comm(b"make"));
        assert_eq!(names.describe(many).name, comm(b"bash"), "it stands for other shells");
        // No row moves to another process: sums never fall.
        let rows = counts.takers.rows().to_vec();
        names.fold(&mut counts, &[7, 8], |_| true);
        assert_eq!(counts.takers.rows(), rows);
        // A further process of the new name is one of its own.
        names.note(4_000_200, comm(b"make"), false, 0);
        counts.takers.add([5, 4_000_200 << 1], [10]);
        names.fold(&mut counts, &[7, 8], |_| true);
        assert_eq!(counts.takers.rows().len(), rows.len() + 1);
    }

    #[test]
    fn a_used_id_is_of_another_process() {
        let mut names = names();
        let (first, second) = (4_000_005 | 3 << PID_BITS, 4_000_005 | 9 << PID_BITS);
        names.note(first, comm(b"make"), false, 1_230_000_000);
        names.note(second, comm(b"sh"), false, 7_890_000_000);
        let mut counts = Counts::default();
        for key in [first, second] {
            counts.takers.add([5, u64::from(key) << 1], [10]);
            counts.add_edge(5, 7, &[u64::from(key) << 32 | 6, 0, 1, 2, 3]);
        }
        names.fold(&mut counts, &[7, 8], |_| true);
        let rows = [first, second].map(|key| ([5, u64::from(key) << 1], [10]));
        assert_eq!(counts.takers.rows(), rows);
        assert_eq!(counts.edges.rows().len(), 2);
        assert_eq!(names.describe(first).start_ticks * ns_per_tick(), 1_230_000_000);
        assert_eq!(names.describe(second).name, comm(b"sh"));
        assert_eq!(names.describe(4_000_005).name, comm(b"sh"), "the last one with the id");
        // Members are identified by their IDs alone.
        names.fold(&mut counts, &[8, 4_000_005], |_| true);
        assert_eq!(counts.edges.rows().len(), 1);
        assert_eq!(counts.edges.rows()[0].0, [5, 4_000_005 << 32, 0, 0]);
    }

    #[test]
    fn members_of_a_target_stay_members() {
        let mut names = names();
        let (one, two) = (4_000_001_u64, 4_000_002_u64);
        // The target's own processes wake as they are, while they live.
        let mut own = Counts::default();
        own.add_edge(5, 7, &[two << 32 | 9, 0, 1, 2, 3]);
        let members = [4_000_002];
        names.fold(&mut own, &members, |_| true);
        assert_eq!(own.edges.rows()[0].0, [5, two << 32 | 9, 0, 0]);
        own.takers.add([5, two << 1], [4]);
        names.fold(&mut own, &members, |_| false);
        assert_eq!(own.edges.rows()[0].0, [5, two << 32, 0, 0]);
        assert_eq!(own.takers.rows(), [([5, two << 1], [4])]);
        // One stands for all of a name, and never one of another target.
        let mut group = Counts::default();
        for who in [one << 1, two << 1] {
            group.takers.add([5, who], [4]);
        }
        names.fold(&mut group, &[4_000_001, 4_000_002], |_| true);
        let [([5, who], [8])] = group.takers.rows() else { panic!("one row") };
        assert!([one << 1, two << 1].contains(who));
        let mut other = Counts::default();
        other.takers.add([5, two << 1], [4]);
        names.fold(&mut other, &[8, 4_000_002], |_| true);
        assert_eq!(other.takers.rows(), [([5, two << 1], [4])]);
    }

    #[test]
    fn names_are_bounded_and_read_from_living_processes() {
        let mut names = names();
        let own = std::process::id();
        let read = fs::read(format!("/proc/{own}/comm")).unwrap();
        let described = names.describe(own);
        let start = crate::procfs::start_ticks(Path::new("/proc"), own).unwrap();
        assert_eq!(described.name, comm(read.strip_suffix(b"\n").unwrap()));
        assert_eq!(Some(described.start_ticks), start);
        assert_eq!(names.describe(4_000_009), Described::default());
        // A key of the same id that is of another moment is of a process that has ended.
        let birth = ((described.start_ticks * ns_per_tick()) >> 24) % 1024;
        let other = own | (((birth as u32 + 500) % 1023 + 1) << PID_BITS);
        assert_eq!(names.describe(other), Described::default());
        let mut counts = Counts::default();
        for pid in 4_100_000..4_102_000_u64 {
            names.note(pid as u32, comm(format!("n{pid}").as_bytes()), false, 0);
            counts.takers.add([5, pid << 1], [1]);
            counts.add_edge(5, 7, &[pid << 32, 0, 1, 0, 0]);
        }
        names.fold(&mut counts, &[7, 8], |_| true);
        assert_eq!(counts.takers.rows().len(), MAX_NAMES);
        assert_eq!(counts.edges.rows().len(), 2000, "wakers are bounded elsewhere");
    }
}
