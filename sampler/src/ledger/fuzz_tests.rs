//! Slots with hostile contents, held to the rules of a ledger in wider numbers.

use super::reading::Reading;
use super::slot::testing::whole;
use super::slot::{
    ENDED, FIRST_WAIT, LAYOUT, ON_CPU, PLACES, PREEMPTED, STATES, STATE_BITS, WOKEN,
};
use crate::fuzzing::{fuzz, Random};
use crate::slots::testing::Memory;
use crate::slots::Layout;

const WORDS: usize = 43;
const SLOTS: usize = 24;
const MARK: usize = PLACES[0];
const WOKEN_NS: usize = PLACES[1];
const ARRIVED_NS: usize = PLACES[2];
const BEGAN_NS: usize = PLACES[3];
const NS: usize = PLACES[5];
const EXIT_NS: usize = 2;

/// The words of a slot, whole in about half of all.
fn slot(random: &mut Random) -> [u64; WORDS] {
    let mut words: [u64; WORDS] = std::array::from_fn(|_| random.number());
    if random.one_in(3) {
        return words;
    }
    let most = *random.pick(&[100, 1 << 30, 1 << 53]);
    for ns in &mut words[NS..] {
        *ns = if random.one_in(2) { 0 } else { random.next() % most };
    }
    let sum: u64 = words[NS..].iter().sum();
    let began = if random.one_in(2) { random.below(1 << 40) as u64 } else { words[BEGAN_NS] >> 6 };
    words[BEGAN_NS] = began;
    let left = began.wrapping_add(sum);
    let states = if random.one_in(10) { 32 } else { STATES };
    words[MARK] = left << STATE_BITS | random.below(states) as u64;
    for place in [WOKEN_NS, ARRIVED_NS] {
        if !random.one_in(4) {
            let away = random.below(2000) as u64;
            words[place] = left.wrapping_add(away).wrapping_sub(500);
        }
    }
    if random.one_in(10) {
        words[NS + random.below(STATES)] ^= 1 << random.below(64);
    }
    words
}

/// Times, state and its beginning of a slot by the story of a round: switched away from, woken up, switched
/// to. None if its times do not add up.
fn expected(words: &[u64; WORDS]) -> Option<([i128; STATES], u8, i128)> {
    let mut ns: [i128; STATES] = std::array::from_fn(|state| i128::from(words[NS + state]));
    let state = (words[MARK] % 32) as u8;
    let left = i128::from(words[MARK] >> STATE_BITS);
    let sum: i128 = ns.iter().sum();
    if sum != left - i128::from(words[BEGAN_NS]) || usize::from(state) >= STATES {
        return None;
    }
    // A moment before the last switch away is one of an earlier round.
    let of_round = |word: u64| Some(i128::from(word.cast_signed())).filter(|&at| at >= left);
    let (woken, arrived) = (of_round(words[WOKEN_NS]), of_round(words[ARRIVED_NS]));
    if state == ENDED || state == ON_CPU {
        return Some((ns, state, left));
    }
    let (queue, queued) = match state {
        PREEMPTED => (PREEMPTED, Some(left)),
        WOKEN => (WOKEN, Some(left)),
        _ => (WOKEN, [woken, arrived].into_iter().flatten().min()),
    };
    let Some(queued) = queued else { return Some((ns, state, left)) };
    if state >= FIRST_WAIT {
        ns[usize::from(state)] += queued - left;
    }
    let Some(arrived) = arrived else {
        let now = if state >= FIRST_WAIT { queue } else { state };
        return Some((ns, now, queued));
    };
    ns[usize::from(queue)] += arrived - queued;
    Some((ns, ON_CPU, arrived))
}

#[test]
fn copies_of_slots() {
    fuzz("slots of ledgers", |random| {
        let words = slot(random);
        let settled = whole(words).map(|copy| {
            assert_eq!(copy.has_ended(), words[EXIT_NS] != 0);
            copy.settle()
        });
        let wanted = expected(&words);
        assert_eq!(settled.is_some(), wanted.is_some());
        let (Some(settled), Some((ns, state, since))) = (settled, wanted) else {
            return false;
        };
        assert_eq!(settled.ns.map(i128::from), ns);
        assert_eq!((settled.state, i128::from(settled.since_ns)), (state, since));
        assert_eq!(settled.columns()[..], settled.ns[1..]);
        true
    });
}

#[test]
fn readings_of_slots() {
    let (mut memory, mut held) = Memory::new(Layout { count: 64, ..LAYOUT });
    let mut reading = Reading::default();
    let mut words = [[0; WORDS]; SLOTS];
    fuzz("readings of ledgers", |random| {
        // A few slots change in each input; what is in the others stays.
        for _ in 0..=random.below(3) {
            let index = random.below(SLOTS);
            let mut made = slot(random);
            // Slots that do not add up are waited for: milliseconds.
            while expected(&made).is_none() && !random.one_in(4000) {
                made = slot(random);
            }
            let owner = random.below(4) as u64 | (random.below(6) as u64) << 32;
            made[0] = if random.one_in(20) { random.next() } else { owner };
            for (word, &value) in made.iter().enumerate() {
                memory.set(index as u32, word, value);
            }
            words[index] = made;
        }
        let used = if random.one_in(50) { random.next() as u32 } else { SLOTS as u32 };
        let used = if random.one_in(10) { random.below(SLOTS) as u32 } else { used };
        memory.use_slots(used);
        let members: Vec<u32> = (0..5).filter(|_| random.one_in(2)).collect();

        let found = reading.read(&mut held, &members);
        let mut wanted: Vec<_> = (0..SLOTS.min(used as usize))
            .map(|index| (words[index][0] as u32, (words[index][0] >> 32) as u32, index))
            .filter(|&(pid, _, _)| pid != 0 && members.contains(&pid))
            .map(|(pid, tid, index)| {
                let [_, start, exit, ..] = words[index];
                (pid, tid, exit == 0, start.cast_signed(), index)
            })
            .collect();
        wanted.sort_unstable();
        let torn = wanted.iter().filter(|one| expected(&words[one.4]).is_none()).count();
        assert_eq!(found.is_err(), torn > 0);
        assert_eq!(reading.len(), wanted.len());
        for (row, &(pid, tid, _, start_ns, index)) in wanted.iter().enumerate() {
            assert_eq!((reading.process[row], reading.tid[row]), (pid, tid));
            assert_eq!((reading.start_ns[row], reading.indices[row]), (start_ns, index as u32));
            if let Some((ns, state, since_ns)) = expected(&words[index]) {
                let columns = ns[1..].iter().zip(&reading.ns);
                assert!(columns.into_iter().all(|(&ns, column)| ns == i128::from(column[row])));
                assert_eq!(
                    (reading.state[row], i128::from(reading.since_ns[row])),
                    (state, since_ns)
                );
            }
        }
        let latest =
            |pid: u32, tid: u32| wanted.iter().rposition(|one| (one.0, one.1) == (pid, tid));
        for (pid, tid) in (0..5).flat_map(|pid| (0..6).map(move |tid| (pid, tid))) {
            assert_eq!(reading.find(pid, tid), latest(pid, tid));
        }
        // Torn slots are not left to be waited for again.
        for (index, words) in words.iter_mut().enumerate() {
            if expected(words).is_none() {
                words[0] = 0;
                memory.set(index as u32, 0, 0);
            }
        }
        !wanted.is_empty() && torn == 0
    });
}
