use super::super::structs::Decoder;
use super::super::testing::{error, hostile, kernel, patched, value_of, Pad, Record, PADS};
use super::*;
use crate::columns::{text, Rows};
use proptest::prelude::*;
use std::os::unix::net::UnixDatagram;

const TIDS: [u32; 3] = [101, 102, 103];
const MEMBERS: [&str; 4] = ["cpu_run_virtual_total", "nvcsw", "blkio_count", "freepages_count"];
const DELAYS: u64 = 0b1100;

/// A query, and the far end of its socket. Answers are put there before the questions are sent.
struct Scene {
    version: u16,
    query: Query,
    far: UnixDatagram,
}

fn scene(version: u16, pad: Pad) -> Scene {
    let (near, far) = UnixDatagram::pair().unwrap();
    near.set_nonblocking(true).unwrap();
    // A message that does not fit is an error, not a test that hangs.
    far.set_nonblocking(true).unwrap();
    Scene { version, query: Query::new(kernel(version, pad), near.into()), far }
}

impl Scene {
    fn put(&self, datagrams: &[Vec<u8>]) {
        for datagram in datagrams {
            self.far.send(datagram).unwrap();
        }
    }

    fn record(&self, tid: u32) -> Record {
        Record { version: self.version, ..Record::of(tid) }
    }

    /// Right answers to the next questions.
    fn right(&self, tids: &[u32]) -> Vec<Vec<u8>> {
        (self.query.sequence..).zip(tids).map(|(n, &tid)| self.record(tid).reply(n)).collect()
    }

    fn ask(&mut self, tids: &[u32]) -> Result<Rows, ReadError> {
        let layout = self.query.kernel().layout.clone();
        let decoder = Decoder::new(&layout, MEMBERS, DELAYS, 0).unwrap();
        let mut rows = Rows::new(MEMBERS.len());
        self.query.ask(tids, |answers| {
            let chosen: Vec<_> =
                answers.places.iter().map(|&place| tids[place]).enumerate().collect();
            decoder.append(&answers.structs, &chosen, answers.before_ns, &mut rows);
        })?;
        let mut request = [0; 4096];
        while self.far.recv(&mut request).is_ok() {}
        Ok(rows)
    }
}

/// Every column has, for every thread, the value that its member was given.
fn check_numbers(rows: &Rows, tids: &[u32]) {
    assert_eq!(rows.tid, tids);
    assert_eq!(rows.process, tids);
    for row in 0..rows.len() {
        for (column, member) in MEMBERS.iter().enumerate() {
            assert_eq!(rows.get(row, column), value_of(member, rows.tid[row]), "{member}");
        }
        assert_eq!((rows.absent[row], rows.invalid[row]), (0, 0));
        assert_eq!(text(&rows.comm[row]), "worker");
        assert_eq!(rows.seen_ns[row] - rows.start_ns[row], 5_000_000_000);
    }
}

#[test]
fn each_version_gives_the_right_numbers() {
    for version in 8..=16 {
        for pad in PADS {
            let mut scene = scene(version, pad);
            for _ in 0..2 {
                let records = scene.right(&TIDS);
                let first = scene.query.sequence;
                let answers: Vec<_> = (first..)
                    .zip(TIDS)
                    .map(|(n, tid)| Record { version, pad, ..Record::of(tid) }.reply(n))
                    .collect();
                assert_eq!(records.len(), answers.len());
                scene.put(&answers);
                check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
            }
            assert_eq!(scene.query.refused.total(), 0);
        }
    }
}

#[test]
fn each_wrong_answer_is_refused_alone_and_by_name() {
    for version in [8, 12, 15, 16] {
        for (what, refusal, wrong) in hostile(version, 102, 2) {
            let mut scene = scene(version, Pad::None);
            let mut answers = scene.right(&TIDS);
            let short = wrong.len() < 16;
            let slot = scene.query.kernel.payload + scene.query.kernel.layout.length + SPARE_BYTES;
            let refusal = if wrong.len() > slot { Refusal::Cut } else { refusal };
            answers[1] = wrong;
            scene.put(&answers);
            check_numbers(&scene.ask(&TIDS).unwrap(), &[101, 103]);
            assert_eq!(scene.query.refused.count(refusal), 1, "{what}");
            // A message without a whole header has no number, so its question stays unanswered.
            assert_eq!(scene.query.refused.count(Refusal::Silence), u64::from(short), "{what}");
            assert_eq!(scene.query.refused.total(), 1 + u64::from(short), "{what}");
        }
    }
}

#[test]
fn an_answer_cut_at_any_byte_is_refused() {
    let mut scene = scene(13, Pad::None);
    for cut in 0..scene.right(&TIDS)[1].len() {
        let mut answers = scene.right(&TIDS);
        answers[1].truncate(cut);
        scene.put(&answers);
        check_numbers(&scene.ask(&TIDS).unwrap(), &[101, 103]);
        assert!(scene.query.refused.total() > cut as u64);
    }
}

#[test]
fn a_thread_that_has_gone_is_left_out_and_nothing_is_refused() {
    let mut scene = scene(16, Pad::None);
    let mut answers = scene.right(&TIDS);
    answers[1] = error(2, libc::ESRCH);
    scene.put(&answers);
    check_numbers(&scene.ask(&TIDS).unwrap(), &[101, 103]);
    assert_eq!(scene.query.refused.total(), 0);
}

#[test]
fn another_error_is_not_taken_for_a_thread_that_has_gone() {
    for code in [libc::EPERM, libc::ENOMEM, libc::EINVAL] {
        let mut scene = scene(16, Pad::None);
        let mut answers = scene.right(&TIDS);
        answers[1] = error(2, code);
        scene.put(&answers);
        let message = scene.ask(&TIDS).unwrap_err().to_string();
        assert!(
            message.contains("thread 102") && message.contains(&format!("{code}")),
            "{message}"
        );
        scene.put(&scene.right(&TIDS));
        check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    }
}

#[test]
fn an_answer_that_does_not_come_is_counted() {
    let mut scene = scene(16, Pad::None);
    let mut answers = scene.right(&TIDS);
    answers.remove(1);
    scene.put(&answers);
    check_numbers(&scene.ask(&TIDS).unwrap(), &[101, 103]);
    assert_eq!((scene.query.refused.count(Refusal::Silence), scene.query.refused.total()), (1, 1));
}

#[test]
fn the_first_of_two_answers_is_believed() {
    let mut scene = scene(16, Pad::None);
    let second = scene.record(102).with("nvcsw", 1).reply(2);
    scene.put(&[scene.right(&TIDS), vec![second]].concat());
    check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    assert_eq!((scene.query.refused.count(Refusal::Twice), scene.query.refused.total()), (1, 1));
}

#[test]
fn an_answer_to_an_earlier_question_is_not_taken_for_this_one() {
    let mut scene = scene(16, Pad::None);
    scene.put(&scene.right(&TIDS));
    scene.ask(&TIDS).unwrap();
    let early: Vec<_> = (1..).zip(TIDS).map(|(n, tid)| scene.record(tid).reply(n)).collect();
    let late = scene.record(101).with("nvcsw", 1).reply(7);
    scene.put(&[&early[..], &[late, error(2, libc::ESRCH), error(3, libc::EPERM)]].concat());
    scene.put(&scene.right(&TIDS));
    check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    let refused = &scene.query.refused;
    assert_eq!((refused.count(Refusal::Unasked), refused.count(Refusal::Type)), (4, 2));
    // The late answers are gone and do not disturb the next query.
    scene.put(&scene.right(&TIDS));
    check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    assert_eq!(scene.query.refused.total(), 6);
}

#[test]
fn a_flood_that_nobody_asked_for_is_got_over() {
    let mut scene = scene(8, Pad::None);
    let flood: Vec<_> = (0..140).map(|tid| scene.record(1000 + tid).reply(1 << 31)).collect();
    scene.put(&[flood, scene.right(&TIDS)].concat());
    check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    assert_eq!(scene.query.refused.count(Refusal::Unasked), 140);
}

#[test]
fn answers_may_come_in_any_order() {
    let mut scene = scene(16, Pad::None);
    let mut answers = scene.right(&TIDS);
    answers.reverse();
    scene.put(&answers);
    check_numbers(&scene.ask(&TIDS).unwrap(), &[103, 102, 101]);
    assert_eq!(scene.query.refused.total(), 0);
}

#[test]
fn a_name_ends_at_its_first_zero_or_its_last_byte() {
    let long = vec![b'x'; 32];
    for (comm, name) in [
        (&b"worker\0"[..], "worker"),
        (b"fifteen-letters", "fifteen-letters"),
        (&long, "xxxxxxxxxxxxxxxx"),
        (b"", ""),
        (b"a\0rubbish", "a"),
        (b"w\xc3\xb6rk\xff", "w\u{f6}rk\u{fffd}"),
    ] {
        let mut scene = scene(16, Pad::None);
        scene.put(&[Record { comm: comm.to_vec(), ..Record::of(101) }.reply(1)]);
        let rows = scene.ask(&TIDS[..1]).unwrap();
        assert_eq!(text(&rows.comm[0]), name);
        assert!(rows.comm[0][name.len().min(16)..].iter().all(|&byte| byte == 0 || byte > 127));
        assert_eq!(rows.get(0, 0), value_of(MEMBERS[0], 101));
    }
}

#[test]
fn sequence_numbers_start_again_before_they_run_out() {
    let mut scene = scene(16, Pad::None);
    scene.query.sequence = u32::MAX - 4;
    for wanted in [u32::MAX - 4, 1, 4] {
        let first = if scene.query.sequence > u32::MAX - 3 { 1 } else { scene.query.sequence };
        assert_eq!(first, wanted);
        let answers: Vec<_> =
            (first..).zip(TIDS).map(|(n, tid)| scene.record(tid).reply(n)).collect();
        scene.put(&answers);
        check_numbers(&scene.ask(&TIDS).unwrap(), &TIDS);
    }
    assert_eq!(scene.query.refused.total(), 0);
}

#[test]
fn a_message_of_another_form_is_not_read_at_the_wrong_place() {
    for wrong in [
        |n, tid| Record::of(tid).exit(n, Some(1)),
        |n, tid| Record { pad: Pad::Inside, ..Record::of(tid) }.reply(n),
    ] {
        let mut scene = scene(16, Pad::None);
        let answers: Vec<Vec<u8>> = (1..).zip(TIDS).map(|(n, tid)| wrong(n, tid)).collect();
        scene.put(&answers);
        assert!(scene.ask(&TIDS).unwrap().is_empty());
        let refused = &scene.query.refused;
        assert_eq!(refused.count(Refusal::Content) + refused.count(Refusal::Cut), 3);
        assert_eq!(refused.total(), 3);
    }
}

#[test]
fn early_threads_lack_delays_that_are_0() {
    let kernel = kernel(16, Pad::None);
    let mut structs = Structs::default();
    structs.begin(&kernel.layout);
    for tid in TIDS {
        let ages = [9_000_000, 1_000_000, 9_000_000];
        let record = Record::of(tid).with("ac_etime", ages[tid as usize - 101]).with("nvcsw", 0);
        let record = if tid == 103 { record } else { record.with("blkio_count", 0) };
        structs.push(&record.stats());
    }
    let now = 20_000_000_000;
    let decoder = Decoder::new(&kernel.layout, MEMBERS, DELAYS, 15_000_000_000).unwrap();
    let mut rows = Rows::new(MEMBERS.len() + 2);
    decoder.append(&structs, &[(0, 7), (1, 7), (2, 8)], now, &mut rows);
    assert_eq!(rows.absent, [0b100, 0, 0]);
    assert_eq!(rows.process, [7, 7, 8]);
    assert_eq!(rows.column(4), [0, 0, 0]);
    assert!(Decoder::new(&kernel.layout, ["nothing"], 0, 0).is_err());
}

#[test]
fn an_age_that_cannot_be_does_no_harm() {
    let mut scene = scene(16, Pad::None);
    scene.put(&[scene.record(101).with("ac_etime", u64::MAX).reply(1)]);
    assert!(scene.ask(&TIDS[..1]).unwrap().start_ns[0] < 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever stands for the answer to a question: no struct is believed but one of the thread that
    /// was asked for, and the answers to other questions are.
    #[test]
    fn a_changed_answer_is_that_of_its_thread_or_none(
        changes in proptest::collection::vec((0_usize..180, any::<u8>()), 1..4),
        port in 0_u32..2,
        cut in any::<bool>(),
    ) {
        let kernel = kernel(16, Pad::None);
        let mut bytes = Record::of(102).reply(2);
        for (at, byte) in changes {
            bytes = patched(&bytes, at, &[byte]);
        }
        let datagram = Datagram { bytes: &bytes, port, cut };
        let asked = asked(&datagram, &TIDS, 1);
        if let Ok(Answer::Stats(stats)) = judge(&datagram, asked.map(|asked| TIDS[asked]), &kernel) {
            prop_assert_eq!((port, cut), (0, false));
            prop_assert_eq!(asked, Some(1));
            prop_assert_eq!(kernel.layout.thread_of(stats), 102);
            prop_assert_eq!(stats.len(), kernel.layout.length);
        }
    }

    #[test]
    fn any_bytes_are_judged(bytes in proptest::collection::vec(any::<u8>(), 0..100), known in any::<bool>()) {
        let datagram = Datagram { bytes: &bytes, port: 0, cut: false };
        let judged = judge(&datagram, known.then_some(7), &kernel(16, Pad::None));
        prop_assert!(!matches!(judged, Ok(Answer::Stats(_))));
    }
}
