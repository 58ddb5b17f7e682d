//! Members of a target: its live processes, and those that ended lately.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::ids::IdMap;

/// Ended processes that are found by their IDs: after many exits at once records come late.
const MAX_FOUND: usize = 65_536;
/// How long exit records may still come after the end of a process is known and they were drained,
/// nanoseconds.
pub const BELIEVED_NS: i64 = 2_000_000_000;

/// A process that comes into a target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Newcomer {
    /// Process ID.
    pub pid: u32,
    /// Id of its parent.
    pub parent: u32,
    /// Start, CLOCK_MONOTONIC, nanoseconds.
    pub start_ns: i64,
    /// From boot to its start, clock ticks.
    pub start_ticks: u64,
    /// Name.
    pub name: String,
    /// Real user id; None: not known.
    pub uid: Option<u32>,
    /// True if it is one of those that the target began with.
    pub at_attach: bool,
    /// True if it began before it came into the target.
    pub before: bool,
    /// CPU time of its main thread when it was moved into the target, nanoseconds; None: not known.
    pub moved_ns: Option<u64>,
}

/// A process of a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// Number of its row; from 1, never used again.
    pub number: u32,
    /// Number of its parent's row; 0: the parent is not in the target.
    pub parent: u32,
    /// Description of the process when it came. `before` is true if its counters had begun already.
    pub process: Newcomer,
    /// True if a sample has seen it alive.
    pub seen: bool,
    /// CLOCK_MONOTONIC of its end, nanoseconds; 0 while it lives.
    pub ended_ns: i64,
}

/// The processes of one target.
#[derive(Default)]
pub struct Members {
    alive: IdMap<Member>,
    /// Processes that ended lately, by ID.
    ended: IdMap<Member>,
    /// When the end of each was known, CLOCK_MONOTONIC, and its id and number.
    lately: VecDeque<(i64, u32, u32)>,
    /// Number of the ended process that an ID stood for, by ID.
    found: IdMap<u32>,
    found_order: VecDeque<(u32, u32)>,
    left: Vec<Member>,
    /// IDs of processes whose counters had begun before they came, and that no sample has read since.
    unread: Vec<u32>,
    last_number: u32,
    /// IDs of live processes, ascending; None: a process came or went since the last request.
    ids: Option<Arc<[u32]>>,
    /// IDs of live and lately ended processes, ascending; None: a process came or went since the last
    /// request.
    believed: Option<Arc<[u32]>>,
    /// CLOCK_MONOTONIC before the last drain of exit records; None: no exit records come.
    pub drained_ns: Option<i64>,
    /// How many came since attach.
    pub started: u64,
    /// How many ended, or left, since attach.
    pub ended_count: u64,
    /// Ended processes that no sample saw alive.
    pub unseen: u64,
}

impl Members {
    /// A process is in the target from now on; one that is already is left as it is. Returns its number.
    pub fn add(&mut self, newcomer: Newcomer) -> u32 {
        let pid = newcomer.pid;
        if let Some(known) = self.alive.get(&pid) {
            if known.process.start_ticks == newcomer.start_ticks {
                return known.number;
            }
            self.end(pid, newcomer.start_ns, newcomer.start_ns);
        }
        let number = self.next_number();
        let parent = self.alive.get(&newcomer.parent).map_or(0, |parent| parent.number);
        self.started += u64::from(!newcomer.at_attach);
        let process = Newcomer { before: newcomer.before || newcomer.at_attach, ..newcomer };
        if process.before {
            self.unread.push(pid);
        }
        let member = Member { number, parent, process, seen: false, ended_ns: 0 };
        self.alive.insert(pid, member);
        (self.ids, self.believed) = (None, None);
        number
    }

    /// A number for a further row.
    pub fn next_number(&mut self) -> u32 {
        self.last_number += 1;
        self.last_number
    }

    /// A process ended, or left the target, at `at_ns`; that is known at `now_ns`, both CLOCK_MONOTONIC.
    /// Returns true if it was in the target.
    pub fn end(&mut self, pid: u32, at_ns: i64, now_ns: i64) -> bool {
        let Some(mut member) = self.alive.remove(&pid) else { return false };
        member.ended_ns = at_ns;
        self.ended_count += 1;
        self.unseen += u64::from(!member.seen);
        self.lately.push_back((now_ns, pid, member.number));
        self.found.insert(pid, member.number);
        self.found_order.push_back((pid, member.number));
        while self.found_order.len() > MAX_FOUND {
            let Some((first, number)) = self.found_order.pop_front() else { break };
            if self.found.get(&first) == Some(&number) {
                self.found.remove(&first);
            }
        }
        self.ended.insert(pid, member.clone());
        self.left.push(member);
        self.ids = None;
        true
    }

    /// A process has another name, and maybe another user.
    pub fn rename(&mut self, pid: u32, name: &str, uid: Option<u32>) {
        if let Some(member) = self.alive.get_mut(&pid) {
            name.clone_into(&mut member.process.name);
            member.process.uid = uid.or(member.process.uid);
        }
    }

    /// A sample has seen a process.
    pub fn see(&mut self, pid: u32) {
        if let Some(member) = self.alive.get_mut(&pid) {
            member.seen = true;
        }
    }

    /// The process of an id, if it lives.
    pub fn get(&self, pid: u32) -> Option<&Member> {
        self.alive.get(&pid)
    }

    /// Number of the process that an id stands for, or stood for lately.
    pub fn number_of(&self, pid: u32) -> Option<u32> {
        self.alive.get(&pid).map(|member| member.number).or_else(|| self.found.get(&pid).copied())
    }

    /// Start of the process that an id stands for, or stood for lately, CLOCK_MONOTONIC, nanoseconds; None
    /// if the id is unknown.
    pub fn start_of(&self, pid: u32) -> Option<i64> {
        self.alive.get(&pid).or_else(|| self.ended.get(&pid)).map(|member| member.process.start_ns)
    }

    /// Live processes.
    pub fn alive(&self) -> impl Iterator<Item = &Member> {
        self.alive.values()
    }

    /// Processes that ended lately and whose exit records may still come.
    pub fn ended_lately(&self) -> impl Iterator<Item = &Member> {
        self.ended.values()
    }

    /// Number of live processes.
    pub fn count(&self) -> usize {
        self.alive.len()
    }

    /// IDs of live processes, ascending.
    pub fn ids(&mut self) -> Arc<[u32]> {
        let alive = &self.alive;
        Arc::clone(self.ids.get_or_insert_with(|| ascending(alive.keys())))
    }

    /// True if a process lives, or ended so lately that its exit records may still come.
    pub fn is_believed(&self, pid: u32) -> bool {
        self.alive.contains_key(&pid) || self.ended.contains_key(&pid)
    }

    /// IDs of all processes for which `is_believed` is true, ascending.
    pub fn believed(&mut self) -> Arc<[u32]> {
        let (alive, ended) = (&self.alive, &self.ended);
        let made = || ascending(ended.keys().chain(alive.keys()));
        Arc::clone(self.believed.get_or_insert_with(made))
    }

    /// IDs of processes that came since the last call and whose counters had begun before.
    pub fn take_unread(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.unread)
    }

    /// Keeps a process for `take_unread`, since no sample has read it yet.
    pub fn keep_unread(&mut self, pid: u32) {
        self.unread.push(pid);
    }

    /// Processes that ended since the last call.
    pub fn take_ended(&mut self) -> Vec<Member> {
        std::mem::take(&mut self.left)
    }

    /// Forgets processes that ended so long before `now_ns`, CLOCK_MONOTONIC, that no exit record of theirs
    /// can come. Records wait in sockets until they are drained, so a late drain forgets no process.
    /// Returns the forgotten IDs that no live process has.
    pub fn forget(&mut self, now_ns: i64) -> Vec<u32> {
        let now_ns = self.drained_ns.map_or(now_ns, |drained_ns| drained_ns.min(now_ns));
        let mut gone = Vec::new();
        while self.lately.front().is_some_and(|(known_ns, _, _)| now_ns - known_ns > BELIEVED_NS) {
            let Some((_, pid, number)) = self.lately.pop_front() else { break };
            if self.ended.get(&pid).is_some_and(|member| member.number == number) {
                self.ended.remove(&pid);
                self.believed = None;
                if !self.alive.contains_key(&pid) {
                    gone.push(pid);
                }
            }
        }
        gone
    }
}

fn ascending<'a>(pids: impl Iterator<Item = &'a u32>) -> Arc<[u32]> {
    let mut pids: Vec<u32> = pids.copied().collect();
    pids.sort_unstable();
    pids.dedup();
    pids.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, start_ticks: u64) -> Newcomer {
        Newcomer { pid, start_ticks, parent: 10, ..Newcomer::default() }
    }

    #[test]
    fn processes_are_numbered_and_know_their_parent() {
        let mut members = Members::default();
        members.add(Newcomer { at_attach: true, ..process(10, 1) });
        assert_eq!(members.add(process(30, 2)), 2);
        assert_eq!(members.add(process(20, 3)), 3);
        assert_eq!(members.add(process(20, 3)), 3);
        assert_eq!((&members.ids()[..], members.started), (&[10, 20, 30][..], 2));
        assert_eq!(members.get(20).unwrap().parent, 1);
        assert!(members.get(10).unwrap().process.before);
    }

    #[test]
    fn a_reused_id_is_another_process() {
        let mut members = Members::default();
        members.add(process(20, 3));
        assert_eq!(members.add(process(20, 9)), 2);
        assert_eq!((members.ended_count, members.unseen), (1, 1));
        assert_eq!(members.take_ended()[0].number, 1);
        assert_eq!(members.number_of(20), Some(2));
    }

    #[test]
    fn ended_processes_are_believed_until_their_records_must_have_come() {
        let mut members = Members { drained_ns: Some(0), ..Members::default() };
        members.add(process(20, 3));
        members.see(20);
        assert!(members.end(20, 5, 10) && !members.end(20, 5, 10));
        assert_eq!((members.unseen, members.count()), (0, 0));
        assert!(members.forget(2 * BELIEVED_NS).is_empty() && members.is_believed(20));
        members.drained_ns = Some(2 * BELIEVED_NS);
        assert_eq!(members.forget(2 * BELIEVED_NS), [20]);
        assert!(!members.is_believed(20));
        assert_eq!(members.number_of(20), Some(1));
    }
}
