//! Slots of exit records.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

use super::held::ThreadSlots;
use crate::columns::Exits;

/// Ages in exit records are in microseconds, and taken a little before or after those of slots.
const SLACK_NS: i64 = 10_000;
/// Flag of a thread that exits (include/linux/sched.h).
const EXITING: u64 = 0x4;

/// Identity of an ended thread in an exit record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ended {
    /// Process id.
    pub process: u32,
    /// Thread id.
    pub tid: u32,
    /// Life of the thread, nanoseconds.
    pub age_ns: i64,
}

impl Ended {
    /// Identities of the threads of exit records, in order.
    pub fn of(exits: &Exits) -> impl Iterator<Item = Self> + '_ {
        exits.age_us.iter().enumerate().map(|(row, age_us)| Self {
            process: exits.rows.process[row],
            tid: exits.rows.tid[row],
            age_ns: i64::try_from(age_us.saturating_mul(1000)).unwrap_or(i64::MAX),
        })
    }
}

/// Slots that have the ids of exit records.
///
/// A record tells ids and the age of a thread, to the microsecond. The kernel writes it shortly before
/// the slot gets its time of exit (do_exit: taskstats_exit, then the tracepoint). Where an id was used by
/// several threads meanwhile, the ages tell which is which: a slot's age is the record's, or a little
/// more; the pairs that agree best are made first.
pub struct Candidates<'a> {
    records: &'a [Ended],
    /// Ids and places of the records, ascending.
    wanted: Vec<(u32, u32, usize)>,
    /// Slots.
    pub slots: Vec<u32>,
}

impl<'a> Candidates<'a> {
    /// Finds the slots.
    pub fn find(slots: &ThreadSlots, records: &'a [Ended]) -> Self {
        let mut wanted: Vec<(u32, u32, usize)> =
            records.iter().enumerate().map(|(row, one)| (one.tid, one.process, row)).collect();
        wanted.sort_unstable();
        // Most slots are of other threads: the last bits of an id tell that at once.
        let mut bits = [0_u64; 64];
        for one in records {
            bits[(one.tid >> 6 & 63) as usize] |= 1 << (one.tid & 63);
        }
        let mut made = Self { records, wanted, slots: Vec::new() };
        if records.is_empty() {
            return made;
        }
        for index in 0..slots.used() {
            let (pid, tid) = slots.owner(index);
            let may_be = pid != 0 && bits[(tid >> 6 & 63) as usize] >> (tid & 63) & 1 != 0;
            if may_be && made.records_of(pid, tid).next().is_some() {
                made.slots.push(index);
            }
        }
        made
    }

    /// Places of the records of a thread's ids.
    fn records_of(&self, pid: u32, tid: u32) -> impl Iterator<Item = usize> + '_ {
        let first = self.wanted.partition_point(|one| (one.0, one.1) < (tid, pid));
        let same = self.wanted[first..].iter().take_while(move |one| (one.0, one.1) == (tid, pid));
        same.map(|one| one.2)
    }

    /// The slot of each record, None for records without one; no slot twice.
    ///
    /// `exiting` tells by ids of process and thread whether the thread that has the id now exits, or is
    /// gone. It is asked about slots without a time of exit, which may be those of living threads under
    /// used ids.
    pub fn choose(
        &self,
        slots: &ThreadSlots,
        now_ns: i64,
        exiting: impl Fn(u32, u32) -> bool,
    ) -> Vec<Option<u32>> {
        let mut pairs = Vec::new();
        for &index in &self.slots {
            let (pid, tid) = slots.owner(index);
            let exit_ns = slots.exit_ns(index);
            if exit_ns == 0 && !exiting(pid, tid) {
                continue;
            }
            let end_ns = if exit_ns == 0 { now_ns } else { exit_ns };
            let life_ns = end_ns.saturating_sub(slots.start_ns(index));
            for record in self.records_of(pid, tid) {
                let excess = life_ns.saturating_sub(self.records[record].age_ns);
                if excess >= -SLACK_NS {
                    pairs.push((excess.unsigned_abs(), record, index));
                }
            }
        }
        pairs.sort_unstable();
        let mut found = vec![None; self.records.len()];
        let mut taken = HashSet::new();
        for (_, record, index) in pairs {
            if found[record].is_none() && taken.insert(index) {
                found[record] = Some(index);
            }
        }
        found
    }
}

/// True if a thread exits, or is gone. False if its file of /proc is none that is understood.
pub fn is_exiting(procfs: &Path, pid: u32, tid: u32) -> bool {
    match fs::read(procfs.join(format!("{pid}/task/{tid}/stat"))) {
        Ok(stat) => flags(&stat).is_some_and(|flags| flags & EXITING != 0),
        Err(_) => true,
    }
}

/// The field `flags` of proc_pid_stat(5), the ninth; a name may have any bytes.
fn flags(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    std::str::from_utf8(&stat[end + 1..]).ok()?.split_ascii_whitespace().nth(6)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::testing::{Slot, TestSlots};
    use super::*;

    const PID: u32 = 100;
    const NOW: i64 = 10_000_000_000;
    const MS: i64 = 1_000_000;

    fn exited(slots: &[Slot], records: &[(u32, i64)], exiting: bool) -> Vec<Option<u32>> {
        let made = TestSlots::new(slots);
        let records: Vec<Ended> =
            records.iter().map(|&(tid, age_ns)| Ended { process: PID, tid, age_ns }).collect();
        Candidates::find(&made.held, &records).choose(&made.held, NOW, |_, _| exiting)
    }

    fn slot(tid: u32, start_ns: i64, exit_ns: i64) -> Slot {
        Slot { tgid: PID, tid, start_ns, exit_ns }
    }

    #[test]
    fn an_ended_thread_is_found_by_its_id_and_age() {
        let slots = [slot(5, NOW - 9 * MS, NOW - 4 * MS)];
        assert_eq!(exited(&slots, &[(5, 5 * MS)], false), [Some(0)]);
        // The record is written a little earlier.
        assert_eq!(exited(&slots, &[(5, 5 * MS - 100_000)], false), [Some(0)]);
        assert_eq!(exited(&slots, &[(6, 5 * MS)], false), [None]);
        assert_eq!(exited(&slots, &[(5, 6 * MS)], false), [None]);
        let other = [Slot { tgid: 7, ..slots[0] }];
        assert_eq!(exited(&other, &[(5, 5 * MS)], false), [None]);
    }

    #[test]
    fn ages_tell_threads_with_one_id_apart() {
        let slots = [slot(5, NOW - 50 * MS, NOW - 20 * MS), slot(5, NOW - 19 * MS, NOW - 18 * MS)];
        assert_eq!(exited(&slots, &[(5, MS), (5, 30 * MS)], false), [Some(1), Some(0)]);
        assert_eq!(exited(&slots, &[(5, 30 * MS), (5, MS)], false), [Some(0), Some(1)]);
        // The first of three has no slot, and takes nobody else's.
        assert_eq!(
            exited(&slots, &[(5, 500_000), (5, 30 * MS), (5, MS - 1000)], false),
            [None, Some(0), Some(1)]
        );
    }

    #[test]
    fn a_slot_is_not_given_twice() {
        let found =
            exited(&[slot(5, NOW - 9 * MS, NOW - 4 * MS)], &[(5, 5 * MS), (5, 5 * MS)], false);
        assert_eq!(found.iter().filter(|one| one.is_some()).count(), 1);
    }

    #[test]
    fn a_slot_without_an_end_is_an_ended_threads_only_if_that_is_exiting() {
        let slots = [slot(5, NOW - 9 * MS, 0)];
        assert_eq!(exited(&slots, &[(5, 2 * MS)], true), [Some(0)]);
        assert_eq!(exited(&slots, &[(5, 2 * MS)], false), [None]);
    }

    #[test]
    fn an_exiting_thread_is_known_by_its_flags() {
        assert_eq!(flags(b"1 (a) b) R 1 1 1 0 -1 4194308 1"), Some(4_194_308));
        assert_eq!(flags(b"1 (a"), None);
        let (proc, id) = (Path::new("/proc"), std::process::id());
        assert!(!is_exiting(proc, id, id));
        assert!(is_exiting(proc, id, 4_194_305));
    }

    proptest! {
        #[test]
        fn whatever_stands_in_slots_and_records_no_slot_is_given_twice(
            slots in prop::collection::vec((0_u32..3, 0_u32..4, any::<i64>(), any::<i64>()), 0..20),
            records in prop::collection::vec((0_u32..3, 0_u32..4, any::<i64>()), 0..20),
            exiting: bool,
        ) {
            let slots: Vec<Slot> = slots
                .into_iter()
                .map(|(tgid, tid, start_ns, exit_ns)| Slot { tgid, tid, start_ns, exit_ns })
                .collect();
            let records: Vec<Ended> = records
                .into_iter()
                .map(|(process, tid, age_ns)| Ended { process, tid, age_ns })
                .collect();
            let made = TestSlots::new(&slots);
            let found = Candidates::find(&made.held, &records).choose(&made.held, NOW, |_, _| exiting);
            let given: Vec<u32> = found.iter().flatten().copied().collect();
            prop_assert_eq!(given.iter().collect::<HashSet<_>>().len(), given.len());
            for (record, index) in records.iter().zip(found) {
                if let Some(index) = index {
                    let slot = slots[index as usize];
                    prop_assert_eq!((slot.tgid, slot.tid), (record.process, record.tid));
                    prop_assert_ne!(slot.tgid, 0);
                }
            }
        }

        #[test]
        fn a_hostile_stat_is_no_panic(stat in prop::collection::vec(any::<u8>(), 0..80)) {
            flags(&stat);
        }
    }
}
