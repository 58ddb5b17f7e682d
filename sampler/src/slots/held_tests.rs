//! Whom a program counts for: processes of one watcher and of several, and when slots are freed.

use std::os::fd::AsFd;

use proptest::prelude::*;

use super::held::{Followed, Layout, Maps, ThreadSlots};
use super::testing::{Fakes, Slot, TestSlots};
use crate::os::bpf::{self, testing};
use crate::os::memory::Mapped;

const SECOND: i64 = 1_000_000_000;

fn of(owners: &[u32]) -> Vec<Slot> {
    owners.iter().map(|&tgid| Slot { tgid, tid: tgid * 10, ..Slot::default() }).collect()
}

/// Number of targets with the last bits of an id, as the program counts them.
fn difference(made: &TestSlots, pid: u32) -> u32 {
    let at = (pid % 8192) as usize * 8;
    made.memory.watched.load::<u32>(at).wrapping_sub(made.memory.watched.load(at + 4))
}

fn targets(kernel: &Fakes) -> Vec<u32> {
    let mut targets: Vec<u32> = kernel.0.lock().unwrap().targets.iter().copied().collect();
    targets.sort_unstable();
    targets
}

#[test]
fn a_process_is_counted_for_while_anybody_watches_it() {
    let mut made = TestSlots::new(&of(&[7, 8]));
    assert!(!made.held.is_watched());
    let (one, two) = (made.held.enter(), made.held.enter());
    assert_eq!(made.held.follow(one, &[7]).unwrap().new, [7]);
    assert_eq!(made.held.follow(two, &[7]).unwrap().new, [] as [u32; 0]);
    assert_eq!((targets(&made.memory.kernel), difference(&made, 7)), (vec![7], 1));
    assert_eq!(made.held.leave(one), [] as [u32; 0]);
    assert_eq!((made.held.in_use(), made.held.is_watched()), (2, true));
    let gone = made.held.leave(two);
    assert_eq!(gone, [0]);
    made.held.free(&gone, 0);
    assert_eq!((targets(&made.memory.kernel), difference(&made, 7)), (vec![], 0));
    assert_eq!((made.held.tgid(0), made.held.tgid(1), made.held.in_use()), (0, 8, 1));
    assert!(!made.held.is_watched());
    assert_eq!(made.held.leave(two), [] as [u32; 0]);
}

#[test]
fn a_group_is_the_processes_that_it_has_now() {
    let mut made = TestSlots::new(&of(&[5, 6, 9]));
    let group = made.held.enter();
    let listed = made.held.listing();
    assert_eq!(made.held.follow(group, &[5, 6]).unwrap().new, [5, 6]);
    assert_ne!(made.held.listing(), listed);
    let listed = made.held.listing();
    assert_eq!(made.held.follow(group, &[5, 6]).unwrap(), Followed::default());
    assert_eq!(made.held.listing(), listed);
    // The kernel has made a child a target already: nothing of it is to be begun.
    made.memory.kernel.0.lock().unwrap().targets.insert(9);
    let followed = made.held.follow(group, &[6, 9]).unwrap();
    assert_eq!(followed, Followed { new: vec![], gone: vec![0] });
    assert_eq!(targets(&made.memory.kernel), [6, 9]);
    assert_eq!(made.held.leave(group), [1, 2]);
    assert_eq!(targets(&made.memory.kernel), [] as [u32; 0]);
    assert_eq!((difference(&made, 5), difference(&made, 6)), (0, 0));
}

#[test]
fn a_refused_process_is_tried_again_and_others_are_begun_meanwhile() {
    let mut made = TestSlots::new(&[]);
    let group = made.held.enter();
    made.memory.kernel.0.lock().unwrap().refused.insert(6);
    assert!(made.held.follow(group, &[5, 6, 7]).is_err());
    assert_eq!(targets(&made.memory.kernel), [5]);
    made.memory.kernel.0.lock().unwrap().refused.clear();
    assert_eq!(made.held.follow(group, &[5, 6, 7]).unwrap().new, [5, 6, 7]);
    assert_eq!(difference(&made, 6), 1);
}

#[test]
fn slots_are_freed_when_all_watchers_have_had_their_numbers() {
    let mut made = TestSlots::new(&of(&[5, 6]));
    let (one, two) = (made.held.enter(), made.held.enter());
    made.held.follow(one, &[5, 6]).unwrap();
    made.held.follow(two, &[5]).unwrap();
    assert_eq!(made.held.claim(&[1], two), [] as [u32; 0], "it does not watch that process");
    assert_eq!(made.held.claim(&[0, 1], one), [1]);
    assert_eq!(made.held.claim(&[0], one), [] as [u32; 0]);
    assert_eq!(made.held.claim(&[0], two), [0]);
    made.held.free(&[0, 1], 0);
    made.held.free(&[0, 1], 0);
    assert_eq!(made.held.in_use(), 0);
    assert_eq!((made.held.generation(0), made.held.generation(1)), (1, 1));
}

#[test]
fn a_watcher_that_leaves_is_not_waited_for() {
    let mut made = TestSlots::new(&of(&[5]));
    let (one, two, three) = (made.held.enter(), made.held.enter(), made.held.enter());
    for watcher in [one, two, three] {
        made.held.follow(watcher, &[5]).unwrap();
    }
    made.held.claim(&[0], one);
    made.held.claim(&[0], two);
    // Nor does what it had count for the others.
    assert_eq!(made.held.leave(one), [] as [u32; 0]);
    assert_eq!(made.held.leave(three), [0]);
}

#[test]
fn slots_whose_records_never_come_are_tidied_away() {
    let mut made = TestSlots::new(&of(&[5, 6]));
    made.memory.set(0, 2, 1);
    let late: Vec<Vec<u32>> =
        (1..=6).map(|second| made.held.tidy(usize::MAX, second * SECOND)).collect();
    assert_eq!(late, [vec![], vec![], vec![], vec![], vec![], vec![0]]);
    assert_eq!(made.held.tidy(1, 6 * SECOND + 1), [] as [u32; 0]);
    assert_eq!(made.held.tidy(1, 7 * SECOND), [0]);
    made.held.free(&[0], 7 * SECOND);
    made.held.recycle(7 * SECOND + 50_000_000);
    assert_eq!(made.memory.kernel.0.lock().unwrap().vacant, [] as [u32; 0]);
    made.held.recycle(7 * SECOND + 50_000_001);
    assert_eq!(made.memory.kernel.0.lock().unwrap().vacant, [0]);
    assert_eq!((made.held.exit_ns(0), made.held.generation(0)), (0, 1));
}

#[test]
fn slots_work_on_maps_of_the_kernel() {
    let layout = Layout { stride: 64, count: 65_536, generation: 56, changes: 24 };
    let array =
        |bytes, count| testing::create([testing::ARRAY, 4, bytes, count, testing::MAPPABLE]);
    let (Ok(slots), Ok(targets)) =
        (array(64, 65_536), testing::create([testing::HASH, 4, 4, 8, 0]))
    else {
        return; // no right to make maps here
    };
    let vacant = testing::create([testing::QUEUE, 0, 4, 65_536, 0]).unwrap();
    let (control, watched) = (array(32, 1).unwrap(), array(8, 8192).unwrap());
    let copy = |map: &std::os::fd::OwnedFd| map.try_clone().unwrap();
    let maps = Maps {
        slots: copy(&slots),
        control,
        watched,
        targets: copy(&targets),
        vacant: copy(&vacant),
    };
    let mut held = ThreadSlots::new(maps, layout).unwrap();
    let one = held.enter();
    assert_eq!(held.follow(one, &[3, 4]).unwrap().new, [3, 4]);
    assert_eq!(bpf::get::<u32, u32>(targets.as_fd(), &4), Some(1));
    let too_many: Vec<u32> = (3..40).collect();
    assert!(held.follow(one, &too_many).is_err());
    Mapped::new(slots.as_fd(), 4096, true).unwrap().store(64, 3_u32);
    held.free(&[1], 0);
    held.recycle(SECOND);
    assert_eq!(testing::pop(vacant.as_fd()), Some(1));
    assert_eq!(testing::pop(vacant.as_fd()), None);
    assert_eq!(held.leave(one), [] as [u32; 0]);
    assert_eq!(bpf::get::<u32, u32>(targets.as_fd(), &4), None);
}

proptest! {
    /// The kernel's targets follow from the watchers, in whichever order processes come and go.
    #[test]
    fn targets_are_the_processes_that_anybody_watches(
        steps in prop::collection::vec(
            (0_usize..3, prop::collection::btree_set(1_u32..9000, 0..6)), 1..30),
    ) {
        let mut made = TestSlots::new(&[]);
        let watchers = [made.held.enter(), made.held.enter(), made.held.enter()];
        let mut expected = [const { Vec::new() }; 3];
        for (who, members) in steps {
            let members: Vec<u32> = members.into_iter().collect();
            made.held.follow(watchers[who], &members).unwrap();
            expected[who] = members;
        }
        let mut all = expected.concat();
        all.sort_unstable();
        all.dedup();
        prop_assert_eq!(targets(&made.memory.kernel), all.clone());
        for bucket in 0..8192 {
            let count = all.iter().filter(|&&pid| pid % 8192 == bucket).count();
            prop_assert_eq!(difference(&made, bucket) as usize, count);
        }
        for watcher in watchers {
            made.held.leave(watcher);
        }
        prop_assert_eq!(targets(&made.memory.kernel), Vec::<u32>::new());
    }
}
