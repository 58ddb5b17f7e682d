//! Exit records and slots with hostile ids and ages: which belong together.

use super::exited::{Candidates, Ended};
use super::testing::{Slot, TestSlots};
use crate::fuzzing::{fuzz, Random};

const NOW: i64 = 10_000_000_000;
const SLACK_NS: i128 = 10_000;
const SLOTS: usize = 12;

fn moment(random: &mut Random) -> i64 {
    match random.below(4) {
        0 => random.number() as i64,
        1 => NOW.wrapping_sub(random.number() as i64),
        _ => NOW - random.below(60_000) as i64,
    }
}

/// Pairs in the order of their agreement, one by one.
fn expected(slots: &[Slot], records: &[Ended], exiting: bool) -> Vec<Option<u32>> {
    let mut found = vec![None; records.len()];
    loop {
        let mut best: Option<(i128, usize, u32)> = None;
        for (row, record) in records.iter().enumerate().filter(|one| found[one.0].is_none()) {
            for (index, slot) in (0..).zip(slots) {
                let same = (slot.tgid, slot.tid) == (record.process, record.tid);
                if !same || slot.tgid == 0 || found.contains(&Some(index)) {
                    continue;
                }
                if slot.exit_ns == 0 && !exiting {
                    continue;
                }
                let end_ns = if slot.exit_ns == 0 { NOW } else { slot.exit_ns };
                // Differences are cut off at 292 years.
                let whole = |value: i128| value.clamp(i64::MIN.into(), i64::MAX.into());
                let life = whole(i128::from(end_ns) - i128::from(slot.start_ns));
                let excess = whole(life - i128::from(record.age_ns));
                if excess >= -SLACK_NS && best.is_none_or(|one| (excess.abs(), row, index) < one) {
                    best = Some((excess.abs(), row, index));
                }
            }
        }
        let Some((_, row, index)) = best else { return found };
        found[row] = Some(index);
    }
}

#[test]
fn slots_of_exit_records() {
    let mut slots = vec![Slot::default(); SLOTS];
    let mut made = TestSlots::new(&slots);
    fuzz("slots of exit records", |random| {
        for _ in 0..=random.below(4) {
            let exit_ns = if random.one_in(4) { 0 } else { moment(random) };
            let (tgid, tid) = (random.below(3) as u32, random.below(4) as u32);
            let start_ns = moment(random);
            slots[random.below(SLOTS)] = Slot { tgid, tid, start_ns, exit_ns };
        }
        made.give(&slots);
        let records: Vec<Ended> = (0..random.below(8))
            .map(|_| {
                let (process, tid) = (random.below(3) as u32, random.below(4) as u32);
                let age_ns =
                    if random.one_in(2) { random.number() } else { random.next() % 60_000 };
                Ended { process, tid, age_ns: age_ns as i64 & i64::MAX }
            })
            .collect();
        let exiting = random.one_in(2);
        let found = Candidates::find(&made.held, &records).choose(&made.held, NOW, |_, _| exiting);
        assert_eq!(found, expected(&slots, &records, exiting));
        found.iter().any(Option::is_some)
    });
}
