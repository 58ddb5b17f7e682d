//! The slots of the threads of all watched processes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::array::SlotArray;
use super::kernel::{Kernel, KernelMaps};
use super::watching::{missing, Watcher, Watching};
use crate::os::memory::Mapped;

/// Offset of the process id in a slot, a u32; the thread id follows. 0: the slot is not in use.
const TGID: usize = 0;
/// Offset of the start, CLOCK_MONOTONIC.
const START_NS: usize = 8;
/// Offset of the end, CLOCK_MONOTONIC; 0 for a living thread.
const EXIT_NS: usize = 16;
/// Entries of the map `watched`.
pub(super) const WATCHED: u32 = 8192;
/// Time for which a freed slot is not used again: the program may still be writing into it.
const REST_NS: i64 = 50_000_000;
/// Time between two rounds of `tidy`.
const TIDY_NS: i64 = 1_000_000_000;
/// Rounds of `tidy` after which no exit record comes for the slot of an ended thread any more.
const UNCLAIMED_ROUNDS: u32 = 5;

/// Offsets and lengths in the maps of a program, in bytes.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    /// Length of a slot, a multiple of 8.
    pub stride: usize,
    /// Number of slots.
    pub count: usize,
    /// Offset of the generation in a slot.
    pub generation: usize,
    /// Offset of the count of changes in struct control.
    pub changes: usize,
}

/// Descriptors of the maps of ebpf/thread_slots.bpf.h.
pub struct Maps {
    /// Array `slots`.
    pub slots: OwnedFd,
    /// Array `control` of one entry.
    pub control: OwnedFd,
    /// Array `watched`.
    pub watched: OwnedFd,
    /// Hash map `targets`.
    pub targets: OwnedFd,
    /// Queue `vacant`.
    pub vacant: OwnedFd,
}

/// Differs from an earlier one if slots were given, freed, or got another owner since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Listing {
    changes: u64,
    freed: u64,
    followed: u64,
}

/// Changes of the processes of a watcher.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Processes of which nothing was counted before.
    pub new: Vec<u32>,
    /// Slots that nobody waits for any more; they are to be freed.
    pub gone: Vec<u32>,
}

/// The slots of a program, which has to run while `is_watched`.
pub struct ThreadSlots {
    layout: Layout,
    slots: SlotArray,
    beside: Option<SlotArray>,
    control: Mapped,
    watched: Mapped,
    kernel: Box<dyn Kernel>,
    watching: Watching,
    /// New processes that no call of `follow` has returned yet, because it failed.
    unbegun: Vec<u32>,
    /// Watchers that have taken the final numbers of an ended thread, by slot; only while further watchers
    /// have not taken them.
    claims: HashMap<u32, HashSet<Watcher>>,
    /// Freed slots, and when they were.
    resting: VecDeque<(i64, u32)>,
    /// Rounds of `tidy` since the thread ended, by slot.
    rounds: HashMap<u32, u32>,
    tidied_ns: i64,
    freed: u64,
    followed: u64,
}

impl ThreadSlots {
    /// Maps the slots of a loaded program.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(maps: Maps, layout: Layout) -> io::Result<Self> {
        let kernel = KernelMaps { targets: maps.targets, vacant: maps.vacant };
        Self::with_kernel(maps.slots, &maps.control, &maps.watched, Box::new(kernel), layout)
    }

    /// Maps the slots, with a kernel of the caller's choice; otherwise like `new`.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn with_kernel(
        slots: OwnedFd,
        control: &OwnedFd,
        watched: &OwnedFd,
        kernel: Box<dyn Kernel>,
        layout: Layout,
    ) -> io::Result<Self> {
        Ok(Self {
            layout,
            slots: SlotArray::new(slots, layout.stride, layout.count)?,
            beside: None,
            control: Mapped::new(control.as_fd(), 4096, false)?,
            watched: Mapped::new(watched.as_fd(), WATCHED as usize * 8, true)?,
            kernel,
            watching: Watching::default(),
            unbegun: Vec::new(),
            claims: HashMap::new(),
            resting: VecDeque::new(),
            rounds: HashMap::new(),
            tidied_ns: 0,
            freed: 0,
            followed: 0,
        })
    }

    /// Maps a further map with a row of `stride` bytes for each slot; a row is emptied with its slot.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn map_beside(&mut self, map: OwnedFd, stride: usize) -> io::Result<()> {
        self.beside = Some(SlotArray::new(map, stride, self.layout.count)?);
        Ok(())
    }

    /// Rows of the further map, mapped as far as the slots are; None if there is no such map.
    pub fn beside(&mut self) -> Option<&mut SlotArray> {
        self.beside.as_mut()
    }

    /// True while any watcher has not left: the program has to be attached, even if no process is
    /// watched.
    pub fn is_watched(&self) -> bool {
        !self.watching.is_empty()
    }

    /// Watchers and their processes.
    pub fn watching(&self) -> &Watching {
        &self.watching
    }

    /// Adds a watcher. The program has to be attached before.
    pub fn enter(&mut self) -> Watcher {
        self.watching.enter()
    }

    /// Counts for these processes, ids in ascending order, and no more for others of the watcher.
    ///
    /// Children that a program in the kernel made targets at their birth are not new.
    ///
    /// # Errors
    /// The error of bpf(2); a later call goes on where this one ended.
    pub fn follow(&mut self, watcher: Watcher, members: &[u32]) -> io::Result<Followed> {
        let before = self.watching.members(watcher);
        if before == members {
            return Ok(Followed { new: std::mem::take(&mut self.unbegun), gone: Vec::new() });
        }
        let (came, left) = (missing(members, before), missing(before, members));
        self.followed += 1;
        for pid in came {
            if self.watching.watchers_of(pid) == 0 && self.kernel.add_target(pid)? {
                self.raise_gone(pid, u32::MAX);
                self.unbegun.push(pid);
            }
            self.watching.add(watcher, pid);
        }
        let gone = self.remove(watcher, &left);
        Ok(Followed { new: std::mem::take(&mut self.unbegun), gone })
    }

    /// Counts no more for the processes of a watcher. Idempotent.
    ///
    /// Returns slots of processes that nobody watches any more; they are to be freed. The program may
    /// be detached once nobody watches.
    pub fn leave(&mut self, watcher: Watcher) -> Vec<u32> {
        let members = self.watching.members(watcher).to_vec();
        let gone = self.remove(watcher, &members);
        self.watching.leave(watcher);
        self.followed += 1;
        gone
    }

    fn remove(&mut self, watcher: Watcher, pids: &[u32]) -> Vec<u32> {
        let mut unwatched = Vec::new();
        for &pid in pids {
            if self.watching.remove(watcher, pid) {
                unwatched.push(pid);
                if self.kernel.remove_target(pid) {
                    self.raise_gone(pid, 1);
                }
            }
        }
        let mut gone = self.claimed_by_all_but(watcher, pids);
        if !unwatched.is_empty() {
            unwatched.sort_unstable();
            gone.extend(self.slots_of(&unwatched));
            gone.sort_unstable();
            gone.dedup();
        }
        gone
    }

    /// Slots whose threads' ends all other watchers of these processes have had.
    fn claimed_by_all_but(&mut self, watcher: Watcher, pids: &[u32]) -> Vec<u32> {
        let mut done = Vec::new();
        for (&index, claims) in &mut self.claims {
            let pid = self.slots.load::<u32>(index, TGID);
            if pids.contains(&pid) {
                claims.remove(&watcher);
                let watchers = self.watching.watchers_of(pid);
                if watchers > 0 && claims.len() >= watchers {
                    done.push(index);
                }
            }
        }
        done
    }

    /// Adds to the count of processes that are no target any more, modulo 2^32.
    fn raise_gone(&mut self, pid: u32, by: u32) {
        let at = (pid % WATCHED) as usize * 8 + 4;
        let gone: u32 = self.watched.load(at);
        self.watched.store(at, gone.wrapping_add(by));
    }

    /// Notes that a watcher has had the ends of the threads of these slots.
    ///
    /// Returns the slots that nobody waits for any more; they are to be freed.
    pub fn claim(&mut self, indices: &[u32], watcher: Watcher) -> Vec<u32> {
        let mut done = Vec::new();
        for &index in indices {
            let pid = self.tgid(index);
            if pid == 0 {
                continue;
            }
            let watchers = self.watching.watchers_of(pid);
            let mine = self.watching.watches(watcher, pid);
            if watchers > usize::from(mine) {
                let claims = self.claims.entry(index).or_default();
                if mine {
                    claims.insert(watcher);
                }
                if claims.len() < watchers {
                    continue;
                }
            }
            done.push(index);
        }
        done
    }

    /// Takes slots from their threads; `recycle` gives them to others. Idempotent.
    pub fn free(&mut self, indices: &[u32], now_ns: i64) {
        for &index in indices {
            if self.tgid(index) == 0 {
                continue;
            }
            self.freed += 1;
            self.claims.remove(&index);
            self.rounds.remove(&index);
            self.slots.store(index, TGID, 0_u32);
            let generation: u64 = self.slots.load(index, self.layout.generation);
            self.slots.store(index, self.layout.generation, generation.wrapping_add(1));
            self.resting.push_back((now_ns, index));
        }
    }

    /// Empties slots that have rested, and gives them back to the program.
    pub fn recycle(&mut self, now_ns: i64) {
        while let Some(&(freed_ns, index)) = self.resting.front() {
            if now_ns - freed_ns <= REST_NS {
                return;
            }
            self.slots.clear(index, Some(self.layout.generation));
            if let Some(beside) = &mut self.beside {
                beside.clear(index, None);
            }
            if self.kernel.give_back(index).is_err() {
                return; // the next call tries it again
            }
            self.resting.pop_front();
        }
    }

    /// Recycles slots; once a second also unclaimed slots of ended threads.
    ///
    /// Returns slots that are to be freed: their threads ended long ago; from `many` ended threads on,
    /// at least one round ago.
    pub fn tidy(&mut self, many: usize, now_ns: i64) -> Vec<u32> {
        self.recycle(now_ns);
        if now_ns - self.tidied_ns < TIDY_NS {
            return Vec::new();
        }
        self.tidied_ns = now_ns;
        let ended: Vec<u32> = (0..self.used())
            .filter(|&index| self.tgid(index) != 0 && self.has_ended(index))
            .collect();
        let patience = if ended.len() >= many { 1 } else { UNCLAIMED_ROUNDS };
        let rounds = std::mem::take(&mut self.rounds);
        for &index in &ended {
            self.rounds.insert(index, rounds.get(&index).map_or(1, |round| round + 1));
        }
        ended.into_iter().filter(|index| self.rounds[index] > patience).collect()
    }

    /// Maps slots that have been used since the last call. To be called before slots are listed.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn reach(&mut self) -> io::Result<()> {
        let used = self.control.load::<u32>(0) as usize;
        self.slots.reach(used)?;
        self.beside.as_mut().map_or(Ok(()), |beside| beside.reach(used))
    }

    /// Number of slots from the first on that have been used and are mapped, freed ones included.
    pub fn used(&self) -> u32 {
        let beside = self.beside.as_ref().map_or(usize::MAX, SlotArray::reached);
        self.control.load::<u32>(0).min(self.slots.reached().min(beside) as u32)
    }

    /// Number of slots in use.
    pub fn in_use(&self) -> usize {
        (0..self.used()).filter(|&index| self.tgid(index) != 0).count()
    }

    /// Tells slots apart that were given, freed or moved. To be asked before slots are listed: changes
    /// meanwhile make the next listing differ.
    pub fn listing(&self) -> Listing {
        let changes = self.control.load(self.layout.changes);
        Listing { changes, freed: self.freed, followed: self.followed }
    }

    /// A word of struct control.
    pub fn control(&self, offset: usize) -> u64 {
        self.control.load(offset)
    }

    /// Slots of processes, ids in ascending order.
    pub fn slots_of(&self, pids: &[u32]) -> Vec<u32> {
        let mut found = Vec::new();
        for index in 0..self.used() {
            let pid = self.tgid(index);
            if pid != 0 && pids.binary_search(&pid).is_ok() {
                found.push(index);
            }
        }
        found
    }

    /// All slots.
    pub fn slots(&self) -> &SlotArray {
        &self.slots
    }

    /// Process and thread id of a slot's owner, of one moment; the process is 0 for a vacant slot.
    pub fn owner(&self, index: u32) -> (u32, u32) {
        let word: u64 = self.slots.load(index, TGID);
        (word as u32, (word >> 32) as u32)
    }

    /// Process id of a slot's owner, or 0.
    pub fn tgid(&self, index: u32) -> u32 {
        self.slots.load(index, TGID)
    }

    /// Start of a slot's thread, CLOCK_MONOTONIC, nanoseconds.
    pub fn start_ns(&self, index: u32) -> i64 {
        self.slots.load(index, START_NS)
    }

    /// End of a slot's thread, CLOCK_MONOTONIC, nanoseconds, or 0.
    pub fn exit_ns(&self, index: u32) -> i64 {
        self.slots.load(index, EXIT_NS)
    }

    /// True if a slot's thread has ended.
    pub fn has_ended(&self, index: u32) -> bool {
        self.exit_ns(index) != 0
    }

    /// Number of times that a slot was freed.
    pub fn generation(&self, index: u32) -> u64 {
        self.slots.load(index, self.layout.generation)
    }
}
