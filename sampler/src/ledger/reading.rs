//! The ledgers of the threads of some processes: what has not changed is not copied again.

use std::thread;
use std::time::Duration;

use super::slot::{head, Head, Whole, COLUMNS};
use crate::slots::{Listing, ThreadSlots};
use crate::source::ReadError;

/// Copies of a slot before its ledger is said not to add up.
const TRIES: u32 = 100;
/// Tries in a row; the rest are apart by `PAUSE`, for an update that its CPU is taken from.
const AT_ONCE: u32 = 50;
const PAUSE: Duration = Duration::from_micros(20);

/// Copies slots in between updates of each, and gives the copies in any order with their places.
///
/// # Errors
/// `ReadError::Disagreement` if slots were being written to at each of many tries. All others have been
/// given.
pub fn copy_whole(
    slots: &ThreadSlots,
    indices: &[u32],
    mut give: impl FnMut(usize, &Whole),
) -> Result<(), ReadError> {
    let mut torn = Vec::new();
    for (place, &index) in indices.iter().enumerate() {
        match Whole::copy(slots, index) {
            Some(copy) => give(place, &copy),
            None => torn.push(place),
        }
    }
    for attempt in 0..TRIES {
        if torn.is_empty() {
            return Ok(());
        }
        if attempt < AT_ONCE {
            std::hint::spin_loop();
        } else {
            thread::sleep(PAUSE);
        }
        torn.retain(|&place| match Whole::copy(slots, indices[place]) {
            Some(copy) => {
                give(place, &copy);
                false
            }
            None => true,
        });
    }
    if torn.is_empty() {
        return Ok(());
    }
    Err(ReadError::Disagreement(format!("the ledgers of {} threads do not add up", torn.len())))
}

/// Ledgers of n threads, ascending by IDs of process and thread; an ended thread precedes a live one with
/// its ID.
///
/// All vectors have n elements.
#[derive(Debug)]
pub struct Reading {
    listing: Option<Listing>,
    listed: u64,
    heads: Vec<Head>,
    /// Slots.
    pub indices: Vec<u32>,
    /// Thread ids.
    pub tid: Vec<u32>,
    /// Process ids.
    pub process: Vec<u32>,
    /// Starts, CLOCK_MONOTONIC, nanoseconds.
    pub start_ns: Vec<i64>,
    /// Nanoseconds of finished stays in each state that has a column.
    pub ns: [Vec<u64>; COLUMNS],
    /// Current states.
    pub state: Vec<u8>,
    /// CLOCK_MONOTONIC since when.
    pub since_ns: Vec<i64>,
}

impl Default for Reading {
    fn default() -> Self {
        Self {
            listing: None,
            listed: 0,
            heads: Vec::new(),
            indices: Vec::new(),
            tid: Vec::new(),
            process: Vec::new(),
            start_ns: Vec::new(),
            ns: [const { Vec::new() }; COLUMNS],
            state: Vec::new(),
            since_ns: Vec::new(),
        }
    }
}

impl Reading {
    /// Number of ledgers.
    pub fn len(&self) -> usize {
        self.tid.len()
    }

    /// True without ledgers.
    pub fn is_empty(&self) -> bool {
        self.tid.is_empty()
    }

    /// Raised when slots are listed again; rows belong to other threads afterwards.
    pub fn listed(&self) -> u64 {
        self.listed
    }

    /// True if no slot was given or freed since the last reading.
    pub fn is_current(&self, slots: &ThreadSlots) -> bool {
        self.listing == Some(slots.listing())
    }

    /// Reads the ledgers of processes, ids in ascending order, as they are now.
    ///
    /// # Errors
    /// The errors of `copy_whole` and mmap(2). A later call reads again what this one could not.
    pub fn read(&mut self, slots: &mut ThreadSlots, members: &[u32]) -> Result<(), ReadError> {
        // Read before the slots are: changes meanwhile make the next call list them again.
        let listing = slots.listing();
        if self.listing == Some(listing) {
            let changed: Vec<usize> = (0..self.len())
                .filter(|&row| head(slots, self.indices[row]) != self.heads[row])
                .collect();
            return self.copy(slots, &changed);
        }
        slots.reach()?;
        self.list(slots, members);
        self.listed += 1;
        let all: Vec<usize> = (0..self.len()).collect();
        self.copy(slots, &all)?;
        self.listing = Some(listing);
        Ok(())
    }

    /// Processes that have threads in a state, ids in ascending order.
    pub fn processes_in(&self, state: u8) -> Vec<u32> {
        let rows = self.state.iter().zip(&self.process);
        let mut found: Vec<u32> = rows.filter(|row| *row.0 == state).map(|row| *row.1).collect();
        found.dedup();
        found
    }

    /// Finds the slots of processes.
    fn list(&mut self, slots: &ThreadSlots, members: &[u32]) {
        self.listing = None;
        let mut threads: Vec<(u32, u32, bool, i64, u32)> = Vec::with_capacity(self.len());
        for index in 0..slots.used() {
            let (pid, tid) = slots.owner(index);
            if pid != 0 && members.binary_search(&pid).is_ok() {
                let start_ns = slots.start_ns(index);
                threads.push((pid, tid, !slots.has_ended(index), start_ns, index));
            }
        }
        threads.sort_unstable();
        self.tid.clear();
        self.start_ns.clear();
        self.indices.clear();
        self.process.clear();
        for (pid, tid, _, start_ns, index) in threads {
            self.tid.push(tid);
            self.start_ns.push(start_ns);
            self.indices.push(index);
            self.process.push(pid);
        }
        let count = self.tid.len();
        self.heads.resize(count, Head::default());
        self.state.resize(count, 0);
        self.since_ns.resize(count, 0);
        for column in &mut self.ns {
            column.resize(count, 0);
        }
    }

    /// Copies the ledgers of some rows.
    fn copy(&mut self, slots: &ThreadSlots, rows: &[usize]) -> Result<(), ReadError> {
        let indices: Vec<u32> = rows.iter().map(|&row| self.indices[row]).collect();
        copy_whole(slots, &indices, |place, copy| {
            let row = rows[place];
            let settled = copy.settle();
            self.heads[row] = copy.head();
            self.state[row] = settled.state;
            self.since_ns[row] = settled.since_ns;
            for (column, ns) in self.ns.iter_mut().zip(settled.columns()) {
                column[row] = ns;
            }
        })
    }

    /// The row of a thread, the latest that had its id.
    pub fn find(&self, process: u32, tid: u32) -> Option<usize> {
        let first = self.process.partition_point(|&one| one < process);
        let count = self.process[first..].partition_point(|&one| one == process);
        let after = self.tid[first..first + count].partition_point(|&one| one <= tid);
        let row = first + after.checked_sub(1)?;
        (self.tid[row] == tid).then_some(row)
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::testing::{tear, Entry};
    use super::super::slot::{ENDED, LAYOUT, ON_CPU, WOKEN};
    use super::*;
    use crate::slots::testing::Memory;

    const FUTEX: u8 = 4;
    const POLL: u8 = 5;

    fn entry(tid: u32, state: u8, ns: &[(u8, u64)]) -> Entry {
        Entry { owner: (1, tid), began_ns: 1_000, state, ns: ns.to_vec(), ..Entry::default() }
    }

    fn made(entries: &[Entry]) -> (Memory, ThreadSlots) {
        let (mut memory, held) = Memory::new(LAYOUT);
        for (index, entry) in entries.iter().enumerate() {
            entry.write(&mut memory, index as u32);
        }
        memory.use_slots(entries.len() as u32);
        (memory, held)
    }

    #[test]
    fn changes_are_read_again_and_slots_are_listed_when_they_were_given() {
        let mut poll = entry(7, POLL, &[(POLL, 500)]);
        let (mut memory, mut held) = made(&[poll.clone(), entry(5, FUTEX, &[(FUTEX, 600)])]);
        let mut reading = Reading::default();
        reading.read(&mut held, &[1]).unwrap();
        assert_eq!((reading.tid.as_slice(), reading.listed()), (&[5, 7][..], 1));
        assert!(reading.is_current(&held));
        // A change that leaves no trace in the head stays unseen.
        tear(&mut memory, 0, 5);
        reading.read(&mut held, &[1]).unwrap();
        tear(&mut memory, 0, 5_u64.wrapping_neg());
        poll.woken_ns = 1_650;
        poll.write(&mut memory, 0);
        reading.read(&mut held, &[1]).unwrap();
        assert_eq!(reading.state, [FUTEX, WOKEN]);
        assert_eq!(reading.since_ns, [1_600, 1_650]);
        assert_eq!((reading.ns[POLL as usize - 1][1], reading.listed()), (650, 1));
        entry(6, 6, &[(6, 700)]).write(&mut memory, 2);
        memory.use_slots(3);
        assert!(!reading.is_current(&held));
        reading.read(&mut held, &[1]).unwrap();
        assert_eq!((reading.tid.as_slice(), reading.listed()), (&[5, 6, 7][..], 2));
        assert_eq!(reading.find(1, 6), Some(1));
        assert_eq!(reading.find(1, 8), None);
        assert_eq!(reading.find(2, 6), None);
    }

    #[test]
    fn an_id_used_again_stands_for_the_later_thread() {
        let ended = Entry { exit_ns: 1_400, start_ns: 10, ..entry(2, ENDED, &[(FUTEX, 400)]) };
        let later = Entry { start_ns: 20, ..entry(2, POLL, &[(ON_CPU, 500)]) };
        let (_memory, mut held) = made(&[later, ended]);
        let mut reading = Reading::default();
        reading.read(&mut held, &[1]).unwrap();
        assert_eq!(reading.start_ns, [10, 20]);
        assert_eq!(reading.find(1, 2), Some(1));
        reading.read(&mut held, &[2]).unwrap(); // the listing is the same
        assert_eq!(reading.len(), 2);
    }

    #[test]
    fn a_slot_that_is_written_to_all_the_time_is_refused_and_read_later() {
        let (mut memory, mut held) =
            made(&[entry(2, FUTEX, &[(ON_CPU, 500)]), entry(3, FUTEX, &[(ON_CPU, 500)])]);
        tear(&mut memory, 0, 70);
        let mut reading = Reading::default();
        let error = reading.read(&mut held, &[1]).unwrap_err();
        assert!(error.to_string().contains("ledgers of 1 threads do not add up"), "{error}");
        tear(&mut memory, 0, 70_u64.wrapping_neg());
        reading.read(&mut held, &[1]).unwrap();
        assert_eq!(reading.ns[ON_CPU as usize - 1], [500, 500]);
    }

    /// A program enters rounds on another CPU meanwhile.
    #[test]
    fn no_torn_copy_is_believed_while_a_slot_is_written_to() {
        use std::sync::atomic::{AtomicBool, Ordering};
        let mut entry = entry(2, FUTEX, &[]);
        let (mut memory, mut held) = made(&[entry.clone()]);
        let ends = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                entry.ns = vec![(FUTEX, 0), (WOKEN, 0), (ON_CPU, 0)];
                while !ends.load(Ordering::Relaxed) {
                    for one in &mut entry.ns {
                        one.1 += 7;
                    }
                    let words = entry.words();
                    for word in [21, 20, 18, 4] {
                        memory.set(0, word, words[word]);
                    }
                    for _ in 0..200 {
                        std::hint::spin_loop();
                    }
                }
            });
            let mut reading = Reading::default();
            let (mut last, mut seen) = (0, 0);
            for _ in 0..20_000 {
                if reading.read(&mut held, &[1]).is_err() {
                    continue;
                }
                let sum: u64 = reading.ns.iter().map(|column| column[0]).sum();
                assert_eq!(sum as i64, reading.since_ns[0] - 1_000);
                assert_eq!(sum % 21, 0);
                assert!(sum >= last);
                seen += usize::from(sum > last);
                last = sum;
            }
            ends.store(true, Ordering::Relaxed);
            assert!(seen > 0);
        });
    }
}
