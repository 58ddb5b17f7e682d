//! Watchers and the processes that they watch. Pure.

use std::collections::HashMap;

/// A target that watches processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Watcher(u64);

/// The processes of all watchers.
#[derive(Debug, Default)]
pub struct Watching {
    members: HashMap<Watcher, Vec<u32>>,
    /// Number of watchers of each process.
    count: HashMap<u32, usize>,
    next: u64,
}

impl Watching {
    /// Adds a watcher without processes.
    pub fn enter(&mut self) -> Watcher {
        self.next += 1;
        let watcher = Watcher(self.next);
        self.members.insert(watcher, Vec::new());
        watcher
    }

    /// True without watchers.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// Processes of a watcher, ascending.
    pub fn members(&self, watcher: Watcher) -> &[u32] {
        self.members.get(&watcher).map_or(&[], Vec::as_slice)
    }

    /// True if the watcher watches the process.
    pub fn watches(&self, watcher: Watcher, pid: u32) -> bool {
        self.members(watcher).binary_search(&pid).is_ok()
    }

    /// Number of watchers of a process.
    pub fn watchers_of(&self, pid: u32) -> usize {
        self.count.get(&pid).copied().unwrap_or(0)
    }

    /// Adds a process to those of a watcher; true if nobody watched it before.
    pub fn add(&mut self, watcher: Watcher, pid: u32) -> bool {
        let Some(members) = self.members.get_mut(&watcher) else {
            return false;
        };
        let Err(place) = members.binary_search(&pid) else {
            return false;
        };
        members.insert(place, pid);
        let count = self.count.entry(pid).or_insert(0);
        *count += 1;
        *count == 1
    }

    /// Removes a process from those of a watcher; true if nobody watches it any more.
    pub fn remove(&mut self, watcher: Watcher, pid: u32) -> bool {
        let Some(members) = self.members.get_mut(&watcher) else {
            return false;
        };
        let Ok(place) = members.binary_search(&pid) else {
            return false;
        };
        members.remove(place);
        let Some(count) = self.count.get_mut(&pid) else {
            return false;
        };
        *count -= 1;
        let last = *count == 0;
        if last {
            self.count.remove(&pid);
        }
        last
    }

    /// Removes a watcher that watches nothing any more.
    pub fn leave(&mut self, watcher: Watcher) {
        self.members.remove(&watcher);
    }
}

/// Elements of `one` that are not in `other`; both ascend.
pub fn missing(one: &[u32], other: &[u32]) -> Vec<u32> {
    one.iter().copied().filter(|pid| other.binary_search(pid).is_err()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_watched_until_its_last_watcher_leaves_it() {
        let mut watching = Watching::default();
        let (one, two) = (watching.enter(), watching.enter());
        assert!(watching.add(one, 7));
        assert!(!watching.add(one, 7));
        assert!(!watching.add(two, 7));
        assert_eq!(watching.watchers_of(7), 2);
        assert!(!watching.remove(one, 7));
        assert!(!watching.remove(one, 7));
        assert!(watching.remove(two, 7));
        assert_eq!(watching.watchers_of(7), 0);
        watching.leave(one);
        watching.leave(two);
        assert!(watching.is_empty());
        assert!(!watching.add(one, 8));
    }
}
