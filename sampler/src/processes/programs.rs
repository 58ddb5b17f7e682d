//! The eBPF programs that follow groups of processes: what they are given, and the events that they send.
//!
//! Each group has a bit. The programs have to be attached while there is a group.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::matching::Match;
use super::ring::{Event, EventRing};
use crate::os::bpf;
use crate::os::memory::Mapped;

/// Bytes of the ring.
const RING_BYTES: usize = 4 << 20;
/// Members of struct control of groups.bpf.c.
const INHERITED: usize = 0;
const MATCHED: usize = 8;
const OF_CGROUPS: usize = 16;
const V1_HIERARCHY: usize = 24;
const LENT: usize = 28;
const LOST_EVENTS: usize = 32;
const LOST_MEMBERS: usize = 40;

/// A control group: its id, and the number of its hierarchy (0: version 2).
pub type Cgroup = [u64; 2];

/// Maps of groups.bpf.c.
pub struct GroupMaps {
    /// Ring `events`.
    pub events: OwnedFd,
    /// Hash map `members`.
    pub members: OwnedFd,
    /// Hash map `unfinished`.
    pub unfinished: OwnedFd,
    /// Hash map `cgroups`.
    pub cgroups: OwnedFd,
    /// Array `control` of one entry.
    pub control: OwnedFd,
}

/// Rule for further members of a group, besides the added processes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boundary {
    /// True if the children of members are members.
    pub inherited: bool,
    /// True if the group wants to know of all executions.
    pub matched: bool,
    /// Control groups whose processes are members.
    pub cgroups: Vec<Cgroup>,
    /// Match that decides membership at each execution; None: Python decides.
    pub exact: Option<Match>,
}

/// The loaded programs.
pub struct GroupPrograms {
    ring: EventRing,
    members: OwnedFd,
    unfinished: OwnedFd,
    cgroups: OwnedFd,
    control: Mapped,
    used: u64,
}

impl GroupPrograms {
    /// Maps the programs' memory. `v1_hierarchy` is the number of the hierarchy of version 1 with cpuacct
    /// (0: there is none), `lent` tells who counts for members: bit 0 ledgers, bit 1 the network.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(maps: GroupMaps, v1_hierarchy: u32, lent: u32) -> io::Result<Self> {
        let mut control = Mapped::new(maps.control.as_fd(), 4096, true)?;
        control.store(V1_HIERARCHY, v1_hierarchy);
        control.store(LENT, lent);
        let ring = EventRing::new(maps.events.as_fd(), RING_BYTES)?;
        let GroupMaps { members, unfinished, cgroups, .. } = maps;
        Ok(Self { ring, members, unfinished, cgroups, control, used: 0 })
    }

    /// Events and members that were lost because there was no room for them.
    pub fn lost(&self) -> u64 {
        self.control.load::<u64>(LOST_EVENTS) + self.control.load::<u64>(LOST_MEMBERS)
    }

    /// Makes a group without members, and returns its bit; None: all bits are in use.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn open(&mut self, boundary: &Boundary) -> io::Result<Option<u64>> {
        let free = (!self.used).trailing_zeros();
        if free == u64::BITS {
            return Ok(None);
        }
        let bit = 1 << free;
        self.used |= bit;
        let of_cgroups = !boundary.cgroups.is_empty();
        let wanted = [
            (INHERITED, boundary.inherited),
            (MATCHED, boundary.matched),
            (OF_CGROUPS, of_cgroups),
        ];
        for (offset, wanted) in wanted {
            if wanted {
                self.control.store(offset, self.control.load::<u64>(offset) | bit);
            }
        }
        for cgroup in &boundary.cgroups {
            if let Err(error) = change(&self.cgroups, cgroup, bit, 0) {
                self.release(bit, boundary, std::iter::empty());
                return Err(error);
            }
        }
        Ok(Some(bit))
    }

    /// Lets a group end, of which these are the members.
    pub fn release(&mut self, bit: u64, boundary: &Boundary, pids: impl Iterator<Item = u32>) {
        for offset in [INHERITED, MATCHED, OF_CGROUPS] {
            self.control.store(offset, self.control.load::<u64>(offset) & !bit);
        }
        for cgroup in &boundary.cgroups {
            let _ = change(&self.cgroups, cgroup, 0, bit);
        }
        for pid in pids {
            self.remove(bit, pid);
        }
        self.used &= !bit;
    }

    /// Makes a process a member.
    ///
    /// # Errors
    /// The error of bpf(2).
    pub fn add(&self, bit: u64, pid: u32) -> io::Result<()> {
        change(&self.members, &pid, bit, 0).map(drop)
    }

    /// Makes a process a member no more.
    pub fn remove(&self, bit: u64, pid: u32) {
        if !change(&self.members, &pid, 0, bit).unwrap_or(false) {
            bpf::remove(self.unfinished.as_fd(), &pid);
        }
    }

    /// Appends the events that there are.
    pub fn drain(&mut self, events: &mut Vec<Event>) {
        self.ring.drain(events);
    }
}

/// Changes bits of an entry, which is there while it has any; returns whether it is.
fn change<K: crate::os::memory::Word>(
    map: &OwnedFd,
    key: &K,
    added: u64,
    removed: u64,
) -> io::Result<bool> {
    let before: Option<u64> = bpf::get(map.as_fd(), key);
    let now = (before.unwrap_or(0) | added) & !removed;
    if now != 0 {
        bpf::set(map.as_fd(), Some(key), &now)?;
    } else if before.is_some() {
        bpf::remove(map.as_fd(), key);
    }
    Ok(now != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::bpf::testing::{create, ARRAY, HASH, MAPPABLE};

    /// BPF_MAP_TYPE_RINGBUF.
    const RINGBUF: u32 = 27;

    #[test]
    fn a_group_has_a_bit_in_all_maps_until_it_ends() {
        let made = || -> io::Result<GroupMaps> {
            Ok(GroupMaps {
                events: create([RINGBUF, 0, 0, RING_BYTES as u32, 0])?,
                members: create([HASH, 4, 8, 64, 0])?,
                unfinished: create([HASH, 4, 4, 64, 0])?,
                cgroups: create([HASH, 16, 8, 64, 0])?,
                control: create([ARRAY, 4, 48, 1, MAPPABLE])?,
            })
        };
        let Ok(maps) = made() else {
            return; // no right to make maps here
        };
        let mut programs = GroupPrograms::new(maps, 3, 1).unwrap();
        let tree = Boundary { inherited: true, ..Boundary::default() };
        let of_cgroup = Boundary { cgroups: vec![[77, 0]], ..Boundary::default() };
        assert_eq!(programs.open(&tree).unwrap(), Some(1));
        assert_eq!(programs.open(&of_cgroup).unwrap(), Some(2));
        programs.add(1, 10).unwrap();
        programs.add(2, 10).unwrap();
        let bits = |programs: &GroupPrograms| bpf::get::<u32, u64>(programs.members.as_fd(), &10);
        assert_eq!(bits(&programs), Some(3));
        assert_eq!(programs.control.load::<u64>(INHERITED), 1);
        assert_eq!(bpf::get::<Cgroup, u64>(programs.cgroups.as_fd(), &[77, 0]), Some(2));
        programs.release(2, &of_cgroup, [10].into_iter());
        assert_eq!(bits(&programs), Some(1));
        assert_eq!(bpf::get::<Cgroup, u64>(programs.cgroups.as_fd(), &[77, 0]), None);
        programs.release(1, &tree, [10].into_iter());
        assert_eq!((bits(&programs), programs.lost()), (None, 0));
        let mut events = Vec::new();
        programs.drain(&mut events);
        assert!(events.is_empty());
        assert_eq!(programs.open(&tree).unwrap(), Some(1));
    }
}
