//! The slots of waits.bpf.c: a copy of one, and what it says.

use crate::slots::{Layout, ThreadSlots};

/// States of a thread, the ended one included (enum state of ledgers.bpf.h).
pub const STATES: usize = 26;
/// Columns of states: all but that of ended threads.
pub const COLUMNS: usize = STATES - 1;
/// The thread has ended.
pub const ENDED: u8 = 0;
/// The thread runs.
pub const ON_CPU: u8 = 1;
/// The thread is in a run queue since it was switched away from.
pub const PREEMPTED: u8 = 2;
/// The thread is in a run queue since it was woken up.
pub const WOKEN: u8 = 3;
/// The thread waits in futex(2).
pub const FUTEX: u8 = 4;
/// The first state that lasts until a release, and is followed by time in a run queue.
pub const FIRST_WAIT: u8 = FUTEX;
/// A CPU limit holds the thread since it was switched away from.
pub const THROTTLED: u8 = 25;

/// Offsets and lengths of waits.bpf.c.
pub const LAYOUT: Layout = Layout { stride: 384, count: 16_384, generation: 24, changes: 16 };
/// Length of struct detail, bytes.
pub const DETAIL: usize = 2960;
/// Offset of the count of threads without a slot in struct control.
pub const WITHOUT_SLOT: usize = 8;

/// Words of struct slot up to the last state.
const WORDS: usize = NS + STATES;
const EXIT_NS: usize = 2;
/// First of the words that change with a ledger: generation, mark, woken_ns, arrived_ns.
const HEAD: usize = 3;
const MARK: usize = 4;
const WOKEN_NS: usize = 5;
const ARRIVED_NS: usize = 6;
const BEGAN_NS: usize = 7;
const RUN_NS: usize = 8;
const ADDRESS: usize = 10;
const NS: usize = 17;
pub(crate) const STATE_BITS: u32 = 5;

/// Words of a slot by the order of their names: mark, woken_ns, arrived_ns, began_ns, run_ns, ns.
#[cfg(test)]
pub(crate) const PLACES: [usize; 6] = [MARK, WOKEN_NS, ARRIVED_NS, BEGAN_NS, RUN_NS, NS];

/// The words of a slot that differ after every change of its ledger.
pub type Head = [u64; 4];

/// A copy of a slot that was taken in between updates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    words: [u64; WORDS],
}

/// Times and current state of a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// Nanoseconds of finished stays in each state, also those of the round under way.
    pub ns: [u64; STATES],
    /// The current state.
    pub state: u8,
    /// CLOCK_MONOTONIC since when; the states add up to the time from the ledger's beginning to it.
    pub since_ns: i64,
}

/// Copies the head of a slot.
pub fn head(slots: &ThreadSlots, index: u32) -> Head {
    let mut head = Head::default();
    slots.slots().copy_to(index, HEAD * 8, &mut head);
    head
}

/// The address of the futex that a thread in the state FUTEX waits for.
pub fn address(slots: &ThreadSlots, index: u32) -> u64 {
    slots.slots().load(index, ADDRESS * 8)
}

impl Whole {
    /// Copies a slot; None if the copy was torn by an update.
    pub fn copy(slots: &ThreadSlots, index: u32) -> Option<Self> {
        let mut words = [0; WORDS];
        slots.slots().copy_to(index, 0, &mut words);
        Self::new(words)
    }

    /// None unless all states add up to the time from the ledger's beginning to the last switch away:
    /// in the middle of an update they do not.
    fn new(words: [u64; WORDS]) -> Option<Self> {
        let sum: u128 = words[NS..].iter().map(|&ns| u128::from(ns)).sum();
        let left = words[MARK] >> STATE_BITS;
        let state = words[MARK] & ((1 << STATE_BITS) - 1);
        let spent = left.checked_sub(words[BEGAN_NS])?;
        (sum == u128::from(spent) && state < STATES as u64).then_some(Self { words })
    }

    /// The words that differ after every change.
    pub fn head(&self) -> Head {
        [self.words[HEAD], self.words[MARK], self.words[WOKEN_NS], self.words[ARRIVED_NS]]
    }

    /// True if the thread has made its last switch.
    pub fn has_ended(&self) -> bool {
        self.words[EXIT_NS] != 0
    }

    /// The kernel's count of the thread's time on CPUs at its last switch, nanoseconds.
    pub fn run_ns(&self) -> u64 {
        self.words[RUN_NS]
    }

    /// Settles the round under way.
    pub fn settle(&self) -> Settled {
        let mut ns: [u64; STATES] = std::array::from_fn(|state| self.words[NS + state]);
        let state = (self.words[MARK] & ((1 << STATE_BITS) - 1)) as u8;
        let left = (self.words[MARK] >> STATE_BITS) as i64;
        let [woken, arrived] = [self.words[WOKEN_NS] as i64, self.words[ARRIVED_NS] as i64];
        let waits = state >= FIRST_WAIT;
        let runs = arrived >= left && state > ON_CPU;
        // If no wake-up was seen, the switch to the thread implies one.
        let queued = match (waits, woken >= left, runs) {
            (false, _, _) => Some(left),
            (true, true, true) => Some(woken.min(arrived)),
            (true, true, false) => Some(woken),
            (true, false, true) => Some(arrived),
            (true, false, false) => None,
        };
        let queue = if state == PREEMPTED { PREEMPTED } else { WOKEN };
        let (mut now, mut since) = (state, left);
        if let Some(queued) = queued {
            if waits {
                ns[state as usize] += (queued - left) as u64;
                (now, since) = (queue, queued);
            }
            if runs {
                ns[queue as usize] += (arrived - queued) as u64;
                (now, since) = (ON_CPU, arrived);
            }
        }
        Settled { ns, state: now, since_ns: since }
    }
}

impl Settled {
    /// Nanoseconds in the states that have columns.
    pub fn columns(&self) -> [u64; COLUMNS] {
        std::array::from_fn(|column| self.ns[column + 1])
    }
}

/// Slots with ledgers for tests.
#[cfg(test)]
pub mod testing {
    use super::*;
    use crate::slots::testing::Memory;

    /// A slot as a test describes it.
    #[derive(Clone, Debug, Default)]
    pub struct Entry {
        /// Process and thread id.
        pub owner: (u32, u32),
        /// Start.
        pub start_ns: i64,
        /// Beginning of the ledger.
        pub began_ns: i64,
        /// State since the last switch away.
        pub state: u8,
        /// Last wake-up.
        pub woken_ns: i64,
        /// Last switch to the thread.
        pub arrived_ns: i64,
        /// End, or 0.
        pub exit_ns: i64,
        /// Time on CPUs.
        pub run_ns: u64,
        /// States and their nanoseconds.
        pub ns: Vec<(u8, u64)>,
    }

    impl Entry {
        /// Last switch away from the thread.
        pub fn left_ns(&self) -> i64 {
            self.began_ns + self.ns.iter().map(|one| one.1 as i64).sum::<i64>()
        }

        /// The words of the slot.
        pub fn words(&self) -> [u64; WORDS] {
            let mut words = [0; WORDS];
            words[0] = u64::from(self.owner.0) | u64::from(self.owner.1) << 32;
            words[1] = self.start_ns as u64;
            words[EXIT_NS] = self.exit_ns as u64;
            words[MARK] = (self.left_ns() as u64) << STATE_BITS | u64::from(self.state);
            words[WOKEN_NS] = self.woken_ns as u64;
            words[ARRIVED_NS] = self.arrived_ns as u64;
            words[BEGAN_NS] = self.began_ns as u64;
            words[RUN_NS] = self.run_ns;
            for &(state, ns) in &self.ns {
                words[NS + state as usize] += ns;
            }
            words
        }

        /// Writes the slot, but for its generation.
        pub fn write(&self, memory: &mut Memory, index: u32) {
            for (word, value) in self.words().into_iter().enumerate() {
                if word != HEAD {
                    memory.set(index, word, value);
                }
            }
        }
    }

    /// Makes a slot that is halfway through an update, or whole again.
    pub fn tear(memory: &mut Memory, index: u32, by: u64) {
        let at = NS + 5;
        memory.set(index, at, memory.get(index, at).wrapping_add(by));
    }

    /// A copy of a test's words.
    pub fn whole(words: [u64; WORDS]) -> Option<Whole> {
        Whole::new(words)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::testing::{whole, Entry};
    use super::*;

    const POLL: u8 = 5;
    const BEGAN: i64 = 1_000;

    /// The state now, and all times with the stay under way.
    fn at(entry: &Entry, now_ns: i64) -> (u8, Vec<(u8, u64)>) {
        let mut found = whole(entry.words()).unwrap().settle();
        if found.state != ENDED {
            found.ns[found.state as usize] += (now_ns - found.since_ns).max(0) as u64;
        }
        let spent = (0..STATES as u8).map(|state| (state, found.ns[state as usize]));
        (found.state, spent.filter(|one| one.1 != 0).collect())
    }

    fn entry(state: u8, woken_ns: i64, arrived_ns: i64, ns: &[(u8, u64)]) -> Entry {
        Entry {
            owner: (1, 2),
            began_ns: BEGAN,
            state,
            woken_ns,
            arrived_ns,
            ns: ns.to_vec(),
            ..Entry::default()
        }
    }

    #[test]
    fn a_thread_that_waits_does_so_up_to_now() {
        let found = at(&entry(FUTEX, 0, 0, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (FUTEX, vec![(ON_CPU, 500), (FUTEX, 200)]));
    }

    #[test]
    fn a_thread_that_was_woken_up_is_in_the_queue_from_there() {
        let found = at(&entry(POLL, 1_600, 0, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (WOKEN, vec![(ON_CPU, 500), (WOKEN, 100), (POLL, 100)]));
    }

    #[test]
    fn a_thread_that_was_switched_to_runs_from_there() {
        let found = at(&entry(POLL, 1_600, 1_650, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (ON_CPU, vec![(ON_CPU, 550), (WOKEN, 50), (POLL, 100)]));
        let found = at(&entry(PREEMPTED, 1_400, 1_650, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (ON_CPU, vec![(ON_CPU, 550), (PREEMPTED, 150)]));
        // The wake-up was not seen.
        let found = at(&entry(POLL, 0, 1_650, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (ON_CPU, vec![(ON_CPU, 550), (POLL, 150)]));
    }

    #[test]
    fn a_thread_that_a_limit_holds_is_throttled_until_it_is_released_and_queued_from_there() {
        let held = at(&entry(THROTTLED, 1_400, 1_450, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(held, (THROTTLED, vec![(ON_CPU, 500), (THROTTLED, 200)]));
        let released = at(&entry(THROTTLED, 1_600, 1_450, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(released, (WOKEN, vec![(ON_CPU, 500), (WOKEN, 100), (THROTTLED, 100)]));
        let runs = at(&entry(THROTTLED, 1_600, 1_650, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(runs, (ON_CPU, vec![(ON_CPU, 550), (WOKEN, 50), (THROTTLED, 100)]));
    }

    #[test]
    fn wake_ups_of_earlier_rounds_do_not_count() {
        let found = at(&entry(POLL, 1_450, 1_460, &[(ON_CPU, 500)]), 1_700);
        assert_eq!(found, (POLL, vec![(ON_CPU, 500), (POLL, 200)]));
    }

    #[test]
    fn a_thread_that_ended_is_as_it_ended() {
        let ended = Entry { exit_ns: 1_500, ..entry(ENDED, 0, 0, &[(ON_CPU, 500)]) };
        assert_eq!(at(&ended, 9_000), (ENDED, vec![(ON_CPU, 500)]));
    }

    #[test]
    fn a_thread_that_ran_when_its_ledger_began_ran_since() {
        assert_eq!(at(&entry(ON_CPU, 0, 0, &[]), 1_300), (ON_CPU, vec![(ON_CPU, 300)]));
    }

    #[test]
    fn what_cannot_be_a_ledger_is_none() {
        let mut words = entry(FUTEX, 0, 0, &[(ON_CPU, 500)]).words();
        words[NS + 5] += 70;
        assert_eq!(whole(words), None);
        assert_eq!(whole(entry(STATES as u8, 0, 0, &[]).words()), None);
        let mut words = entry(FUTEX, 0, 0, &[]).words();
        words[BEGAN_NS] = u64::MAX;
        assert_eq!(whole(words), None);
    }

    proptest! {
        #[test]
        fn states_add_up_to_the_time_since_the_ledger_began(
            state in 0..STATES as u8,
            woken in 0_i64..4_000,
            arrived in 0_i64..4_000,
            spent in prop::collection::vec(0_u64..100, STATES),
        ) {
            let ns: Vec<(u8, u64)> = (0..).zip(spent).collect();
            let found = whole(entry(state, woken, arrived, &ns).words()).unwrap().settle();
            let sum: u64 = found.ns.iter().sum();
            prop_assert_eq!(sum as i64, found.since_ns - BEGAN);
        }

        #[test]
        fn hostile_slots_are_no_panic_and_add_up_or_are_refused(
            random in prop::collection::vec(any::<u64>(), WORDS),
            small in prop::collection::vec(0_u64..50, WORDS),
            mixed in prop::collection::vec(any::<bool>(), WORDS),
            fits: bool,
        ) {
            let mut words = [0; WORDS];
            for word in 0..WORDS {
                words[word] = if mixed[word] { small[word] } else { random[word] };
            }
            if fits {
                words[NS..].copy_from_slice(&small[NS..]);
                let sum: u64 = small[NS..].iter().sum();
                words[BEGAN_NS] = (words[MARK] >> STATE_BITS).wrapping_sub(sum);
            }
            if let Some(copy) = whole(words) {
                let settled = copy.settle();
                let sum: u128 = settled.ns.iter().map(|&ns| u128::from(ns)).sum();
                let began = i128::from(words[BEGAN_NS]);
                prop_assert_eq!(sum as i128, i128::from(settled.since_ns) - began);
                prop_assert!((settled.state as usize) < STATES);
            }
        }

        /// A round is entered in steps, as the program does it; a copy is taken in the middle.
        #[test]
        fn a_copy_between_two_words_of_an_update_is_never_believed(
            before in prop::collection::vec(0_u64..1_000, STATES),
            wait in 0_u64..1_000,
            queued in 0_u64..1_000,
            ran in 1_u64..1_000,
            step in 0_usize..4,
        ) {
            let ns: Vec<(u8, u64)> = (0..).zip(before).collect();
            let mut words = entry(FUTEX, 0, 0, &ns).words();
            let started = words;
            let adds = [(FUTEX, wait), (WOKEN, queued), (ON_CPU, ran)];
            for &(state, ns) in &adds[..step] {
                words[NS + state as usize] += ns;
            }
            let added: u64 = adds[..step].iter().map(|one| one.1).sum();
            prop_assert_eq!(whole(words).is_some(), added == 0);
            let mut ended = started;
            ended[MARK] += (wait + queued + ran) << STATE_BITS;
            prop_assert_eq!(whole(ended), None);
        }
    }
}
