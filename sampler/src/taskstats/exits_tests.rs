use super::super::testing::{hostile, kernel, message, Pad, Record, PADS};
use super::*;
use std::os::unix::net::UnixDatagram;
use std::sync::{Arc, Mutex};

/// A listener on two CPUs, and the hand-made kernel behind it.
struct Scene {
    version: u16,
    pad: Pad,
    listener: ExitListener,
    far: Vec<UnixDatagram>,
    drops: Arc<Mutex<[Option<u32>; 2]>>,
}

fn listening(version: u16, pad: Pad, drops: [Option<u32>; 2]) -> Scene {
    let (near, far): (Vec<_>, Vec<_>) = (0..2).map(|_| UnixDatagram::pair().unwrap()).unzip();
    // A message that does not fit is an error, not a test that hangs.
    far.iter().for_each(|far| far.set_nonblocking(true).unwrap());
    let drops = Arc::new(Mutex::new(drops));
    let counts = Arc::clone(&drops);
    let sockets = (0..).zip(near.into_iter().map(OwnedFd::from)).collect();
    let listener = ExitListener::with_drops(
        kernel(version, pad),
        sockets,
        Box::new(move |number, _| counts.lock().unwrap()[number]),
    );
    Scene { version, pad, listener: listener.unwrap(), far, drops }
}

const COUNTED: [Option<u32>; 2] = [Some(7), Some(9)];

impl Scene {
    fn record(&self, number: u32, tid: u32, process: Option<u32>) -> Vec<u8> {
        let made = Record { version: self.version, pad: self.pad, ..Record::of(tid) };
        made.exit(number, process)
    }

    fn put(&self, cpu: usize, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.far[cpu].send(datagram).unwrap();
        }
    }

    /// Threads exit; thread 1000 + number takes number.
    fn exit(&self, cpu: usize, numbers: &[u32]) {
        for &number in numbers {
            self.put(cpu, &[self.record(number, 1000 + number % (1 << 16), None)]);
        }
    }

    fn drop(&self, cpu: usize, count: u32) {
        let mut drops = self.drops.lock().unwrap();
        drops[cpu] = drops[cpu].map(|before| before.wrapping_add(count));
    }

    fn drain(&mut self) -> Records {
        let mut records = Records::default();
        self.listener.drain(&mut records).unwrap();
        records
    }

    fn lost(&mut self) -> u64 {
        self.drain().lost
    }

    fn tids(&self, records: &Records) -> Vec<u32> {
        let layout = &self.listener.kernel.layout;
        (0..records.len()).map(|row| records.tid(layout, row)).collect()
    }
}

#[test]
fn records_of_each_version_are_taken_whole() {
    for version in 8..=16 {
        for pad in PADS {
            let mut scene = listening(version, pad, COUNTED);
            for _ in 0..2 {
                let first = [(3, 51, None), (4, 52, Some(40)), (5, 53, None)];
                scene.put(0, &first.map(|(number, tid, last)| scene.record(number, tid, last)));
                scene.put(1, &[scene.record(90, 61, Some(60))]);
                let records = scene.drain();
                assert_eq!(scene.tids(&records), [51, 52, 53, 61]);
                assert_eq!(
                    (&records.cpu[..], &records.number[..]),
                    (&[0, 0, 0, 1][..], &[3, 4, 5, 90][..])
                );
                assert_eq!(records.lost, 0);
            }
            assert_eq!((scene.listener.received, scene.listener.refused.total()), (8, 0));
        }
    }
}

#[test]
fn nothing_is_nothing() {
    let mut scene = listening(16, Pad::None, COUNTED);
    scene.exit(0, &[1]);
    let mut records = scene.drain();
    let before = records.before_ns;
    scene.listener.drain(&mut records).unwrap();
    assert_eq!((records.len(), records.lost, records.since_ns), (0, 0, before));
}

#[test]
fn more_records_than_fit_a_batch_are_all_taken() {
    let mut scene = listening(8, Pad::None, COUNTED);
    let numbers: Vec<u32> = (0..140).collect();
    scene.exit(0, &numbers);
    assert_eq!(scene.drain().number, numbers);
    assert_eq!(scene.listener.numbering.missing(), 0);
}

#[test]
fn each_wrong_message_is_refused_alone_and_by_name() {
    for version in [8, 12, 15, 16] {
        for (what, refusal, wrong) in hostile(version, 50, 2) {
            let mut scene = listening(version, Pad::None, COUNTED);
            let around = [scene.record(1, 49, None), wrong, scene.record(3, 51, None)];
            scene.put(0, &around);
            let records = scene.drain();
            assert_eq!(scene.tids(&records), [49, 51], "{what}");
            assert_eq!(scene.listener.refused.count(refusal), 1, "{what}");
            assert_eq!((scene.listener.refused.total(), records.lost), (1, 0), "{what}");
        }
    }
}

#[test]
fn a_record_cut_at_any_byte_is_refused() {
    let mut scene = listening(13, Pad::None, COUNTED);
    let whole = scene.record(2, 50, Some(40));
    for cut in 0..whole.len() {
        scene.put(0, &[whole[..cut].to_vec()]);
        assert!(scene.drain().is_empty());
        assert_eq!(scene.listener.refused.total(), cut as u64 + 1);
    }
    let long = [&whole[20..], &vec![0; 8192]].concat();
    scene.put(0, &[message(1, &long), scene.record(3, 51, None)]);
    assert_eq!(scene.drain().len(), 1);
    assert_eq!(scene.listener.refused.count(Refusal::Cut), 1);
}

#[test]
fn a_reply_is_no_exit_record_of_another_thread() {
    let mut scene = listening(16, Pad::None, COUNTED);
    let record = Record::of(50).with("ac_pid", 51);
    scene.put(0, &[record.exit(1, None)]);
    assert!(scene.drain().is_empty());
    assert_eq!(scene.listener.refused.count(Refusal::Identity), 1);
}

#[test]
fn what_the_kernel_dropped_is_lost_exactly() {
    let mut scene = listening(16, Pad::None, COUNTED);
    scene.exit(0, &[1, 2]);
    assert_eq!(scene.lost(), 0); // 7 and 9 were dropped before the listener was made
    scene.exit(0, &[411]);
    scene.drop(0, 408);
    scene.exit(1, &[5]);
    scene.drop(1, 1);
    assert_eq!(scene.lost(), 409);
    scene.exit(0, &[412]);
    assert_eq!(scene.lost(), 0);
    assert_eq!(scene.listener.lost, 409);
    assert_eq!(scene.listener.numbering.missing(), 408); // that of CPU 1 has no number behind it yet
}

#[test]
fn the_kernels_count_may_start_again_at_0() {
    let mut scene = listening(16, Pad::None, [Some(u32::MAX - 1), Some(0)]);
    scene.exit(0, &[1]);
    assert_eq!(scene.lost(), 0);
    scene.drop(0, 5);
    scene.exit(0, &[7]);
    assert_eq!(scene.drops.lock().unwrap()[0], Some(3));
    assert_eq!(scene.lost(), 5);
}

#[test]
fn a_record_that_was_overtaken_is_not_lost() {
    for drops in [COUNTED, [None; 2]] {
        let mut scene = listening(16, Pad::None, drops);
        scene.exit(0, &[1, 2, 4]);
        assert_eq!(scene.lost(), 0);
        scene.exit(0, &[3, 5]);
        assert_eq!((scene.lost(), scene.listener.numbering.missing()), (0, 0));
    }
}

#[test]
fn without_the_kernels_count_gaps_tell_what_is_lost() {
    let mut scene = listening(16, Pad::None, [Some(0), None]);
    scene.exit(0, &[1, 2, 411]);
    scene.exit(1, &[u32::MAX, 3]);
    assert_eq!([scene.lost(), scene.lost(), scene.lost()], [0, 408 + 3, 0]);
    scene.exit(0, &[413]);
    assert_eq!([scene.lost(), scene.lost(), scene.lost()], [0, 1, 0]);
    assert_eq!(scene.listener.lost, 412);
}

#[test]
fn records_are_filtered_where_losses_are_not_counted_by_numbers() {
    for (version, drops, filters) in
        [(16, COUNTED, true), (16, [None; 2], false), (11, COUNTED, false)]
    {
        let mut scene = listening(version, Pad::None, drops);
        scene.listener.keep_only(Some(&[100])).unwrap();
        scene.listener.keep_only(Some(&[100])).unwrap();
        assert_eq!(scene.listener.filters(), filters);
        let other = Record { version, ..Record::of(52) }.with("ac_tgid", 101);
        scene.put(1, &[scene.record(1, 51, None), other.exit(2, None)]);
        assert_eq!(scene.drain().len(), if filters { 1 } else { 2 });
        scene.listener.keep_only(None).unwrap();
        assert!(!scene.listener.filters());
        scene.put(1, &[other.exit(3, None)]);
        assert_eq!(scene.drain().len(), 1);
    }
}

#[test]
fn a_listener_is_readable_while_records_wait() {
    let mut scene = listening(16, Pad::None, COUNTED);
    let mut poll = Poll::new().unwrap();
    poll.add(scene.listener.as_fd(), 5).unwrap();
    assert_eq!(poll.ready().unwrap().count(), 0);
    scene.exit(1, &[1]);
    assert_eq!(poll.ready().unwrap().collect::<Vec<_>>(), [5]);
    scene.drain();
    assert_eq!(poll.ready().unwrap().count(), 0);
}
