use std::collections::BTreeSet;

use proptest::prelude::*;
use tungstenite::Bytes;

use super::*;

const A: &str = "t-1-0000000a";
const B: &str = "t-2-0000000b";

fn frame(seq: u64, size: usize, key: bool) -> Frame {
    Frame { seq, data: Bytes::from(vec![seq as u8; size]), key, baseline: false }
}

/// Frames of 10 bytes; 1, 1 + key_every, … are key frames.
fn fill_by(replay: &mut Replay, target: &str, first: u64, last: u64, key_every: u64) {
    for seq in first..=last {
        replay.add(target, frame(seq, 10, seq % key_every == 1));
    }
}

fn fill(replay: &mut Replay, target: &str, first: u64, last: u64) {
    fill_by(replay, target, first, last, 5);
}

/// Frames for a reader that has all up to a number: reported losses, and frame numbers.
fn read(replay: &Replay, target: &str, after: u64) -> (Vec<(u64, u64)>, Vec<u64>) {
    let (mut losses, mut frames, mut at) = (Vec::new(), Vec::new(), after);
    loop {
        if let Some(lost) = replay.lost(target, at) {
            losses.push(lost);
            at = lost.1;
        } else if let Some(kept) = replay.after(target, at) {
            assert_eq!(kept.data.first(), Some(&(kept.seq as u8)));
            frames.push(kept.seq);
            at = kept.seq;
        } else {
            return (losses, frames);
        }
    }
}

fn numbers(first: u64, last: u64) -> Vec<u64> {
    (first..=last).collect()
}

fn reached(seq: u64) -> Reached {
    Reached::from([(A.to_owned(), seq)])
}

#[test]
fn what_fits_is_kept_and_read_in_order_from_anywhere() {
    let mut replay = Replay::new(1000, 1000);
    fill(&mut replay, A, 1, 12);
    assert_eq!(read(&replay, A, 0), (vec![], numbers(1, 12)));
    assert_eq!(read(&replay, A, 7), (vec![], numbers(8, 12)));
    assert_eq!(read(&replay, A, 12), (vec![], vec![]));
    assert_eq!((replay.size(), replay.count(), replay.unsent()), (120, 12, 12));
}

#[test]
fn a_whole_group_goes_and_what_is_left_starts_with_a_key_frame() {
    let mut replay = Replay::new(120, 120);
    fill(&mut replay, A, 1, 13);
    assert_eq!(replay.size(), 80);
    assert_eq!(read(&replay, A, 0), (vec![(1, 5)], numbers(6, 13)));
    assert!(replay.after(A, 5).unwrap().key);
    assert_eq!(read(&replay, A, 3).0, [(4, 5)]);
    assert_eq!(read(&replay, A, 8), (vec![], numbers(9, 13)));
    assert_eq!(replay.dropped(A), 5);
}

#[test]
fn the_largest_stream_gives_way_and_a_newest_group_stays() {
    let mut replay = Replay::new(200, 200);
    fill(&mut replay, A, 1, 16);
    fill(&mut replay, B, 1, 5);
    assert_eq!(read(&replay, A, 0).0, [(1, 5)]);
    assert!(read(&replay, B, 0).0.is_empty());
    let mut replay = Replay::new(200, 200);
    fill_by(&mut replay, A, 1, 14, 100);
    fill(&mut replay, B, 1, 7);
    assert_eq!(read(&replay, A, 0), (vec![], numbers(1, 14)));
    assert_eq!(read(&replay, B, 0), (vec![(1, 5)], vec![6, 7]));
}

#[test]
fn a_newest_group_goes_where_there_is_no_older_one() {
    let mut replay = Replay::new(100, 100);
    fill_by(&mut replay, A, 1, 11, 100);
    assert_eq!(replay.size(), 0);
    assert_eq!(read(&replay, A, 0), (vec![(1, 11)], vec![]));
    assert_eq!(read(&replay, A, 8), (vec![(9, 11)], vec![]));
    fill_by(&mut replay, A, 12, 13, 100);
    assert_eq!(read(&replay, A, 0), (vec![(1, 11)], vec![12, 13]));
    replay.add(A, frame(14, 10, true));
    replay.add(A, frame(15, 80, false));
    assert_eq!(read(&replay, A, 0), (vec![(1, 13)], vec![14, 15]));
}

#[test]
fn a_frame_beyond_the_bound_is_lost_alone() {
    let mut replay = Replay::new(100, 100);
    replay.add(A, frame(1, 101, true));
    replay.add(A, frame(2, 10, true));
    assert_eq!(read(&replay, A, 0), (vec![(1, 1)], vec![2]));
}

#[test]
fn unknown_and_forgotten_targets_take_no_room() {
    let mut replay = Replay::new(100, 100);
    assert_eq!(read(&replay, A, 0), (vec![], vec![]));
    replay.forget(A);
    fill(&mut replay, A, 1, 6);
    assert_eq!(read(&replay, A, 7), (vec![], vec![]));
    fill(&mut replay, B, 1, 4);
    replay.forget(A);
    assert_eq!((replay.size(), replay.last_seq(A)), (40, 0));
    assert_eq!(replay.targets().collect::<Vec<_>>(), [B]);
}

#[test]
fn the_baseline_stays_when_its_group_goes() {
    let mut replay = Replay::new(130, 130);
    replay.add(A, Frame { baseline: true, ..frame(1, 10, true) });
    fill(&mut replay, A, 2, 14);
    // A backend without any of it gets the baseline, then what is left.
    let expected: Vec<_> = [1].into_iter().chain(6..15).collect();
    assert_eq!(read(&replay, A, 0), (vec![(2, 5)], expected));
    assert_eq!((replay.size(), replay.count()), (100, 10));
    assert_eq!(read(&replay, A, 3), (vec![(4, 5)], numbers(6, 14)));
}

#[test]
fn a_baseline_goes_before_the_newest_groups() {
    let mut replay = Replay::new(100, 100);
    replay.add(A, Frame { baseline: true, ..frame(1, 10, true) });
    fill(&mut replay, A, 2, 6);
    replay.confirm(A, 6);
    replay.add(A, frame(7, 60, false));
    replay.confirm(A, 7);
    assert_eq!(read(&replay, A, 0), (vec![(2, 5)], vec![1, 6, 7]));
    replay.add(A, frame(8, 25, false));
    replay.confirm(A, 8);
    assert_eq!(read(&replay, A, 0), (vec![(1, 5)], vec![6, 7, 8]));
    assert_eq!(replay.size(), 95);
    // One beyond a quarter of the bound is not pinned.
    let mut replay = Replay::new(100, 100);
    replay.add(A, Frame { baseline: true, ..frame(1, 26, true) });
    replay.add(A, frame(2, 80, true));
    assert_eq!(read(&replay, A, 0), (vec![(1, 1)], vec![2]));
}

#[test]
fn what_is_not_confirmed_is_kept_before_what_is() {
    let mut replay = Replay::new(100, 1000);
    fill(&mut replay, A, 1, 20);
    replay.confirm(A, 20);
    assert_eq!(read(&replay, A, 0).1, numbers(11, 20));
    fill(&mut replay, B, 1, 90);
    assert_eq!(read(&replay, B, 0), (vec![], numbers(1, 90)));
    assert_eq!(read(&replay, A, 0).1, numbers(11, 20));
    replay.confirm(B, 90);
    assert!(replay.size() <= 100);
    assert_eq!((replay.waiting_bytes(), replay.dropped(A), replay.dropped(B)), (0, 0, 0));
}

#[test]
fn another_backend_that_has_less_gets_what_is_kept() {
    let mut replay = Replay::new(100, 1000);
    fill(&mut replay, A, 1, 10);
    replay.note_sent(A, 10);
    replay.confirm(A, 10);
    replay.connected(&reached(3));
    assert_eq!((replay.waiting_bytes(), replay.sent(A)), (70, 3));
    replay.connected(&Reached::new());
    assert_eq!((replay.waiting_bytes(), replay.sent(A)), (100, 0));
    assert_eq!(read(&replay, A, 0), (vec![], numbers(1, 10)));
}

#[test]
fn what_left_on_its_way_is_dropped_only_if_it_does_not_arrive() {
    let mut replay = Replay::new(1000, 100);
    fill(&mut replay, A, 1, 10);
    replay.note_sent(A, 10);
    fill(&mut replay, A, 11, 20);
    assert_eq!(replay.dropped(A), 0);
    replay.confirm(A, 7);
    assert_eq!(replay.dropped(A), 0);
    replay.connected(&reached(7));
    assert_eq!(replay.dropped(A), 3);
    assert_eq!(read(&replay, A, 7), (vec![(8, 10)], numbers(11, 20)));
    fill(&mut replay, A, 21, 21);
    assert_eq!(replay.dropped(A), 8);
}

#[test]
fn what_was_dropped_between_two_sent_frames_is_counted_once() {
    let mut replay = Replay::new(120, 200);
    replay.add(A, frame(1, 2, true));
    replay.note_sent(A, 1);
    for seq in 2..10 {
        replay.add(A, frame(seq, 28, seq == 6));
    }
    assert_eq!(replay.dropped(A), 4);
    replay.note_sent(A, 6);
    for seq in 10..20 {
        replay.add(A, frame(seq, 9, seq == 11));
    }
    assert_eq!(replay.dropped(A), 8);
    replay.connected(&Reached::new());
    assert_eq!(replay.dropped(A), 10);
}

#[test]
fn a_hole_takes_the_place_of_what_was_before_it() {
    let mut replay = Replay::new(1000, 1000);
    fill(&mut replay, A, 1, 5);
    replay.add(A, frame(8, 10, true));
    assert_eq!(read(&replay, A, 0), (vec![(1, 7)], vec![8]));
    assert_eq!(replay.dropped(A), 7);
    replay.add(A, frame(8, 10, true));
    assert_eq!((replay.count(), replay.last_seq(A)), (1, 8));
}

/// A step in the life of a target's frames.
#[derive(Clone, Debug)]
enum Step {
    Offer { count: u64, size: usize, key: bool },
    Send { count: u64 },
    Arrive { count: usize, tells: bool },
    Reconnect,
}

fn step() -> impl Strategy<Value = (usize, Step)> {
    let step = prop_oneof![
        (1..12u64, 2..60usize, any::<bool>()).prop_map(|(count, size, key)| Step::Offer {
            count,
            size,
            key
        }),
        (1..12u64).prop_map(|count| Step::Send { count }),
        (0..30usize, any::<bool>()).prop_map(|(count, tells)| Step::Arrive { count, tells }),
        Just(Step::Reconnect),
    ];
    (0..3usize, step)
}

/// One backend, connections that break, a bound that is too small.
struct Deliveries {
    replay: Replay,
    offered: BTreeMap<String, u64>,
    arrived: BTreeSet<(String, u64)>,
    reported: BTreeSet<(String, u64)>,
    has: Reached,
    on_the_way: VecDeque<(String, u64, u64)>,
}

impl Deliveries {
    fn take(&mut self, target: &str, step: &Step) {
        match *step {
            Step::Offer { count, size, key } => {
                for _ in 0..count {
                    let seq = self.offered.entry(target.into()).or_default();
                    *seq += 1;
                    self.replay.add(target, frame(*seq, size, key || *seq % 5 == 1));
                }
            }
            Step::Send { count } => (0..count).for_each(|_| self.send(target)),
            Step::Arrive { count, tells } => self.arrive(count, tells),
            Step::Reconnect => {
                self.on_the_way.clear();
                self.replay.connected(&self.has);
            }
        }
    }

    fn send(&mut self, target: &str) {
        let sent = self.replay.sent(target);
        if let Some((first, last)) = self.replay.lost(target, sent) {
            self.on_the_way.push_back((target.into(), first, last));
            self.replay.note_sent(target, last);
        } else if let Some(kept) = self.replay.after(target, sent) {
            let seq = kept.seq;
            self.on_the_way.push_back((target.into(), 0, seq));
            self.replay.note_sent(target, seq);
        }
    }

    fn arrive(&mut self, count: usize, tells: bool) {
        let count = count.min(self.on_the_way.len());
        for (target, first, last) in self.on_the_way.drain(..count) {
            if first > 0 {
                self.reported.extend((first..=last).map(|seq| (target.clone(), seq)));
            } else {
                assert!(self.arrived.insert((target.clone(), last)));
            }
            self.has.insert(target, last);
        }
        if tells {
            for (target, &seq) in &self.has {
                self.replay.confirm(target, seq);
            }
        }
    }
}

proptest! {
    #[test]
    fn the_account_adds_up(steps in proptest::collection::vec(step(), 0..40)) {
        let mut all = Deliveries {
            replay: Replay::new(120, 200),
            offered: BTreeMap::new(),
            arrived: BTreeSet::new(),
            reported: BTreeSet::new(),
            has: Reached::new(),
            on_the_way: VecDeque::new(),
        };
        for (target, step) in &steps {
            all.take([A, B, "t-3-0000000c"][*target], step);
            prop_assert!(all.replay.waiting_bytes() <= 200);
            prop_assert!(all.replay.size() <= 320);
        }
        // All that is left is delivered: offered = delivered + dropped, and each number once.
        all.take(A, &Step::Reconnect);
        for (target, count) in all.offered.clone() {
            (0..count + 2).for_each(|_| all.send(&target));
        }
        all.arrive(usize::MAX, true);
        for (target, count) in &all.offered {
            let of = |set: &BTreeSet<(String, u64)>| -> BTreeSet<u64> {
                set.iter().filter(|one| one.0 == *target).map(|one| one.1).collect()
            };
            let (arrived, reported) = (of(&all.arrived), of(&all.reported));
            prop_assert!(arrived.is_disjoint(&reported));
            prop_assert_eq!(all.replay.dropped(target), reported.len() as u64);
            prop_assert_eq!(arrived.len() + reported.len(), *count as usize);
        }
        prop_assert_eq!(all.replay.waiting_bytes(), 0);
    }

    #[test]
    fn one_stream_keeps_as_many_whole_groups_as_fit(
        most in 0..400usize,
        sizes in proptest::collection::vec(2..60usize, 1..60),
        key_every in 1..20usize,
    ) {
        let mut replay = Replay::new(most, most);
        let mut kept: VecDeque<Vec<usize>> = VecDeque::new();
        for (place, &size) in sizes.iter().enumerate() {
            let key = place % key_every == 0;
            replay.add(A, frame(place as u64 + 1, size, key));
            if key || kept.is_empty() {
                kept.push_back(Vec::new());
            }
            if let Some(group) = kept.back_mut() {
                group.push(size);
            }
            while kept.iter().flatten().sum::<usize>() > most {
                kept.pop_front();
            }
        }
        let (count, all) = (kept.iter().flatten().count() as u64, sizes.len() as u64);
        let (losses, frames) = read(&replay, A, 0);
        prop_assert_eq!(frames, numbers(all - count + 1, all));
        prop_assert_eq!(losses, if count < all { vec![(1, all - count)] } else { vec![] });
    }
}
