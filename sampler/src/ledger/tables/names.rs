//! Stand-ins for takers and wakers: processes of one name become one process, so that their number is
//! bounded.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::hash::Hash;
use std::path::PathBuf;

use super::counts::Counts;
use crate::columns::{comm, Comm};

/// Names that are distinguished; takers under further names are not known.
const MAX_NAMES: usize = 1024;
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

/// Which process stands for each: the first one that was seen with its name.
pub struct Names {
    procfs: PathBuf,
    processes: Bounded<u32, Name>,
    first: HashMap<Name, u64>,
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
        let first = *self.first.entry(name).or_insert(who);
        self.described.entry((first >> 1) as u32).or_insert(name);
        self.stand_ins.insert(who, first);
        Some(first)
    }

    /// Puts the processes that stand for others in place of takers and wakers.
    ///
    /// A target of one process stands for itself. Of a target wakers of `members` that live are left as
    /// they are; takers are not. `is_living` tells whether a process has threads that are counted for.
    pub fn fold(&mut self, counts: &mut Counts, members: &[u32], is_living: impl Fn(u32) -> bool) {
        let own = match members {
            [pid] => Some(*pid),
            _ => None,
        };
        let mut takers: HashMap<u64, Option<u64>> = HashMap::new();
        for &([_, who], _) in counts.takers.rows() {
            let stays = own.is_some_and(|pid| u64::from(pid) == who >> 1);
            takers.entry(who).or_insert_with(|| if stays { Some(who) } else { self.stand_in(who) });
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
    fn processes_of_one_name_are_one() {
        let mut names = names();
        let (one, two, kernel) = (100_000_001_u64, 100_000_002_u64, 100_000_003_u64);
        let mut counts = Counts::default();
        for who in [one << 1, two << 1, kernel << 1 | 1, 1] {
            counts.takers.add([5, who], [10]);
        }
        counts.add_edge(5, 7, &[two << 32, 0, 1, 2, 3]);
        counts.add_edge(5, 7, &[one << 32, 0, 1, 2, 3]);
        names.fold(&mut counts, &[7, 8], |_| true);
        let expected = [([5, 1], [10]), ([5, one << 1], [20]), ([5, kernel << 1 | 1], [10])];
        assert_eq!(counts.takers.rows(), expected);
        assert_eq!(counts.edges.rows(), [([5, one << 32, 0, 0], [2, 4, 6])]);
        assert_eq!(names.describe(100_000_003), (comm(b"kworker"), true));
        // The target's own processes wake as they are, while they live.
        let mut own = Counts::default();
        own.add_edge(5, 7, &[two << 32 | 9, 0, 1, 2, 3]);
        let members = [100_000_002];
        names.fold(&mut own, &members, |_| true);
        assert_eq!(own.edges.rows()[0].0, [5, two << 32 | 9, 0, 0]);
        own.takers.add([5, two << 1], [4]);
        names.fold(&mut own, &members, |_| false);
        assert_eq!(own.edges.rows()[0].0, [5, one << 32, 0, 0]);
        assert_eq!(own.takers.rows(), [([5, two << 1], [4])]);
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
