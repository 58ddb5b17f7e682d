//! Stand-ins for takers and wakers, so that their number is bounded: some processes of a name stand for
//! themselves, and the last of these for all others of that name.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::hash::Hash;
use std::path::PathBuf;

use super::counts::Counts;
use crate::columns::{comm, Comm};

/// Names that are distinguished; takers under further names are not known.
const MAX_NAMES: usize = 1024;
/// Processes of one name that are distinguished. The page takes those of a name of which there are as many
/// together (ALONE in frontend/src/stream/facts/parties.ts, which is less).
const OF_A_NAME: usize = 8;
/// Members of a target that stand for others of their names, of all targets.
const MAX_MEMBERS: usize = 1024;
/// Processes whose stand-in is kept at hand.
const MAX_KNOWN: usize = 4096;
/// Processes whose name is kept.
const MAX_PROCESSES: usize = 8192;

/// Name of a process, and whether it is a kernel thread. The name is zeros if it is not known.
pub type Name = (Comm, bool);

/// A map of at most so many entries; the oldest ones leave first.
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

/// Which process stands for each: itself, or one of those that were seen first with its name.
pub struct Names {
    procfs: PathBuf,
    processes: Bounded<u32, Name>,
    first: HashMap<Name, Vec<u64>>,
    /// Members of targets that stand for members of one name.
    members: HashMap<Name, Vec<u64>>,
    stand_ins: Bounded<u64, u64>,
    /// Names of the processes that stand for others.
    described: HashMap<u32, Name>,
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

    /// Notes the name of a process.
    pub fn note(&mut self, pid: u32, name: Comm, kernel: bool) {
        self.processes.insert(pid, (name, kernel));
    }

    /// The name of a process that stands for all that have it.
    pub fn describe(&mut self, pid: u32) -> Name {
        match self.described.get(&pid) {
            Some(&name) if name.0[0] != 0 => name,
            _ => self.name(pid),
        }
    }

    fn name(&mut self, pid: u32) -> Name {
        if let Some(&known) = self.processes.values.get(&pid) {
            return known;
        }
        let Ok(name) = fs::read(self.procfs.join(format!("{pid}/comm"))) else {
            return (Comm::default(), false);
        };
        let name = comm(name.strip_suffix(b"\n").unwrap_or(&name));
        self.note(pid, name, false);
        (name, false)
    }

    /// The stand-in of a process (its id << 1 | 1 for a kernel thread), or None if there are too many names.
    fn stand_in(&mut self, who: u64) -> Option<u64> {
        let pid = (who >> 1) as u32;
        if pid == 0 {
            return Some(who);
        }
        if let Some(&known) = self.stand_ins.values.get(&who) {
            return Some(known);
        }
        let name = (self.name(pid).0, who & 1 != 0);
        if !self.first.contains_key(&name) && self.first.len() >= MAX_NAMES {
            return None;
        }
        let first = self.first.entry(name).or_default();
        if first.len() < OF_A_NAME && !first.contains(&who) {
            first.push(who);
        }
        let found = if first.contains(&who) { who } else { first[first.len() - 1] };
        self.described.entry((found >> 1) as u32).or_insert(name);
        self.stand_ins.insert(who, found);
        Some(found)
    }

    /// The member of a target that stands for its members of a name.
    fn member(&mut self, who: u64, members: &[u32]) -> u64 {
        let pid = (who >> 1) as u32;
        let name = self.name(pid);
        if self.members.values().map(Vec::len).sum::<usize>() >= MAX_MEMBERS {
            self.members.clear();
        }
        let known = self.members.entry(name).or_default();
        let is_own = |one: &&u64| members.binary_search(&((**one >> 1) as u32)).is_ok();
        if let Some(&found) = known.iter().find(is_own) {
            return found;
        }
        known.push(who);
        self.described.entry(pid).or_insert(name);
        who
    }

    /// Puts the processes that stand for others in place of takers and wakers.
    ///
    /// A target of one process stands for itself. Wakers of `members` that live are left as they are; of
    /// takers of `members` one stands for those of its name. `is_living` tells whether a process has threads
    /// that are counted for.
    pub fn fold(&mut self, counts: &mut Counts, members: &[u32], is_living: impl Fn(u32) -> bool) {
        let own = match members {
            [pid] => Some(*pid),
            _ => None,
        };
        let mut takers: HashMap<u64, Option<u64>> = HashMap::new();
        for &([_, who], _) in counts.takers.rows() {
            let stays = own.is_some_and(|pid| u64::from(pid) == who >> 1);
            let is_member = members.binary_search(&((who >> 1) as u32)).is_ok();
            takers.entry(who).or_insert_with(|| match (stays, is_member) {
                (true, _) => Some(who),
                (false, true) => Some(self.member(who, members)),
                (false, false) => self.stand_in(who),
            });
        }
        counts.takers.rekey(|[tid, who]| Some([tid, takers.get(&who).copied().flatten()?]));
        counts.takers.rows();
        let mut wakers: HashMap<u32, u64> = HashMap::new();
        for &([_, waker, _, _], _) in counts.edges.rows() {
            let pid = (waker >> 32) as u32;
            if pid != 0 && !(members.binary_search(&pid).is_ok() && is_living(pid)) {
                wakers.entry(pid).or_insert_with(|| {
                    let who = u64::from(pid) << 1 | u64::from(self.name(pid).1);
                    self.stand_in(who).map_or(u64::from(pid), |first| first >> 1)
                });
            }
        }
        counts.edges.rekey(|[tid, waker, address, process]| {
            let waker = wakers.get(&((waker >> 32) as u32)).map_or(waker, |first| first << 32);
            Some([tid, waker, address, process])
        });
        counts.edges.rows();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        let mut names = Names::new(PathBuf::from("/proc"));
        for pid in [100_000_001, 100_000_002, 100_000_003] {
            names.note(pid, comm(b"cc1"), false);
        }
        names.note(100_000_003, comm(b"kworker"), true);
        names
    }

    #[test]
    fn some_processes_of_a_name_are_distinguished() {
        let mut names = names();
        let (one, two, kernel) = (100_000_001_u64, 100_000_002_u64, 100_000_003_u64);
        let mut counts = Counts::default();
        for who in [one << 1, two << 1, kernel << 1 | 1, 1] {
            counts.takers.add([5, who], [10]);
        }
        for pid in 100_000_010..100_000_030_u64 {
            names.note(pid as u32, comm(b"cc1"), false);
            counts.takers.add([5, pid << 1], [10]);
        }
        counts.add_edge(5, 7, &[two << 32, 0, 1, 2, 3]);
        counts.add_edge(5, 7, &[one << 32, 0, 1, 2, 3]);
        names.fold(&mut counts, &[7, 8], |_| true);
        let takers = counts.takers.rows().to_vec();
        assert_eq!(takers.len(), 2 + OF_A_NAME);
        assert!(takers.contains(&([5, one << 1], [10])));
        assert!(takers.contains(&([5, kernel << 1 | 1], [10])));
        // 22 of them, of which the last that is distinguished stands for the others.
        let most = 10 * (22 - OF_A_NAME as u64 + 1);
        assert_eq!(takers.iter().map(|row| row.1[0]).max(), Some(most));
        assert_eq!(counts.edges.rows().len(), 2);
        assert_eq!(names.describe(100_000_003), (comm(b"kworker"), true));
    }

    #[test]
    fn members_of_a_target_stay_members() {
        let mut names = names();
        let (one, two) = (100_000_001_u64, 100_000_002_u64);
        // The target's own processes wake as they are, while they live.
        let mut own = Counts::default();
        own.add_edge(5, 7, &[two << 32 | 9, 0, 1, 2, 3]);
        let members = [100_000_002];
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
        names.fold(&mut group, &[100_000_001, 100_000_002], |_| true);
        let [([5, who], [8])] = group.takers.rows() else { panic!("one row") };
        assert!([one << 1, two << 1].contains(who));
        let mut other = Counts::default();
        other.takers.add([5, two << 1], [4]);
        names.fold(&mut other, &[8, 100_000_002], |_| true);
        assert_eq!(other.takers.rows(), [([5, two << 1], [4])]);
    }

    #[test]
    fn names_are_bounded_and_read_from_living_processes() {
        let mut names = names();
        let own = std::process::id();
        let read = fs::read(format!("/proc/{own}/comm")).unwrap();
        assert_eq!(names.describe(own), (comm(read.strip_suffix(b"\n").unwrap()), false));
        assert_eq!(names.describe(100_000_009), (Comm::default(), false));
        let mut counts = Counts::default();
        for pid in 200_000_000..200_002_000_u64 {
            names.note(pid as u32, comm(format!("n{pid}").as_bytes()), false);
            counts.takers.add([5, pid << 1], [1]);
            counts.add_edge(5, 7, &[pid << 32, 0, 1, 0, 0]);
        }
        names.fold(&mut counts, &[7, 8], |_| true);
        assert_eq!(counts.takers.rows().len(), MAX_NAMES);
        assert_eq!(counts.edges.rows().len(), 2000, "wakers are bounded elsewhere");
    }
}
