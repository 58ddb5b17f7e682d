use tungstenite::Bytes;

use super::super::backend::{Backend, Got};
use super::super::messages::{frames_lost, Reached};
use super::super::sender::{Out, State};
use super::*;

const A: &str = "t-1-0000000a";
const B: &str = "t-2-0000000b";
const LONG: Duration = Duration::from_secs(20);

/// Says hello to everybody; `accepts` says whether a peer has proven itself.
struct Known {
    accepts: bool,
}

impl Session for Known {
    fn headers(&mut self) -> Result<Vec<(String, String)>, String> {
        let of = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        Ok(vec![of("Origin", "http://x.test"), of("Authorization", "Tidscope-Proof abc")])
    }

    fn accept(&mut self, header: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        assert_eq!(header("Tidscope-Proof").as_deref(), Some("accepted"));
        self.accepts.then_some(()).ok_or_else(|| "it has no proof".into())
    }

    fn hello(&mut self) -> String {
        "hello".into()
    }
}

fn uplink(backend: &Backend, replay: Replay) -> Uplink {
    started(backend.place(), true, replay)
}

fn started(place: Place, accepts: bool, replay: Replay) -> Uplink {
    let uplink = Uplink::start(place, Box::new(Known { accepts }), replay).unwrap();
    uplink.connect();
    uplink
}

fn frame(seq: u64, size: usize) -> Frame {
    let mut data = seq.to_le_bytes().to_vec();
    data.resize(size.max(8), seq as u8);
    Frame { seq, data: Bytes::from(data), key: seq % 5 == 1, baseline: false }
}

fn seq(data: &[u8]) -> u64 {
    u64::from_le_bytes(data[..8].try_into().unwrap())
}

fn reached(target: &str, seq: u64) -> Reached {
    Reached::from([(target.to_owned(), seq)])
}

fn wait_for(mut what: impl FnMut() -> bool) {
    let until = Instant::now() + LONG;
    while !what() {
        assert!(Instant::now() < until, "it did not come");
        thread::sleep(Duration::from_millis(2));
    }
}

fn frames_arrive_in_order_and_are_confirmed(backend: &Backend) {
    let uplink = uplink(backend, Replay::new(10_000, 10_000));
    uplink.add(A, frame(1, 10));
    let mut accepted = backend.welcome(&Reached::new());
    assert_eq!(
        accepted.asked,
        ["/ws/data", "tidscope.test", "http://x.test", "Tidscope-Proof abc"]
    );
    assert_eq!(seq(&accepted.frame()), 1);
    for seq in 2..=50 {
        uplink.add(A, frame(seq, 10));
    }
    let numbers: Vec<_> = (2..=50).map(|_| seq(&accepted.frame())).collect();
    assert_eq!(numbers, (2..=50).collect::<Vec<_>>());
    let load = uplink.load();
    assert_eq!((load.undelivered_bytes, load.sent_frames, load.unsent_frames), (500, 50, 0));
    assert!(load.connected && uplink.is_sent(A));
    accepted.confirm(A, 49);
    wait_for(|| uplink.load().undelivered_bytes == 10);
    assert_eq!(uplink.deliver(Duration::from_millis(10)), 10);
    accepted.confirm(A, 50);
    assert_eq!(uplink.deliver(LONG), 0);
    assert_eq!(uplink.notice().as_deref(), Some("connected to the backend"));
    assert_eq!(uplink.notice(), None);
    assert!(uplink.say("{\"type\":\"x\"}".into()));
    assert_eq!(accepted.read(), Some(Got::Text("{\"type\":\"x\"}".into())));
    drop(uplink);
    assert_eq!(accepted.read(), None);
}

#[test]
fn frames_arrive_over_tcp() {
    frames_arrive_in_order_and_are_confirmed(&Backend::tcp());
}

#[test]
fn frames_arrive_over_a_unix_socket() {
    frames_arrive_in_order_and_are_confirmed(&Backend::unix("uplink"));
}

#[test]
fn after_a_break_a_backend_gets_what_it_does_not_have() {
    let backend = Backend::tcp();
    let uplink = uplink(&backend, Replay::new(10_000, 10_000));
    let mut accepted = backend.welcome(&Reached::new());
    for seq in 1..=9 {
        uplink.add(A, frame(seq, 10));
    }
    (1..=5).for_each(|expected| assert_eq!(seq(&accepted.frame()), expected));
    accepted.confirm(A, 3);
    wait_for(|| uplink.load().undelivered_bytes == 60);
    drop(accepted);
    wait_for(|| !uplink.load().connected);
    // Without a backend frames wait.
    uplink.add(A, frame(10, 10));
    let mut accepted = backend.welcome(&reached(A, 5));
    (6..=10).for_each(|expected| assert_eq!(seq(&accepted.frame()), expected));
    drop(accepted);
    // Another backend has nothing.
    let mut accepted = backend.welcome(&Reached::new());
    (1..=10).for_each(|expected| assert_eq!(seq(&accepted.frame()), expected));
    assert_eq!(uplink.dropped(A), 0);
}

#[test]
fn targets_take_turns() {
    let backend = Backend::tcp();
    let uplink = uplink(&backend, Replay::new(10_000, 10_000));
    for seq in 1..=3 {
        uplink.add(A, frame(seq, 10));
        uplink.add(B, frame(100 + seq, 10));
    }
    let mut accepted = backend.welcome(&reached(B, 100));
    let numbers: Vec<_> = (0..6).map(|_| seq(&accepted.frame())).collect();
    let expected = [[1, 101], [2, 102], [3, 103]].concat();
    assert_eq!(numbers, expected);
    uplink.forget(A);
    assert_eq!((uplink.last_seq(A), uplink.load().replay_frames), (0, 3));
}

#[test]
fn frames_that_nobody_waits_for_are_sent_together() {
    let backend = Backend::tcp();
    let uplink = uplink(&backend, Replay::new(10_000, 10_000));
    let mut accepted = backend.welcome(&Reached::new());
    uplink.add(A, frame(1, 10));
    assert_eq!(seq(&accepted.frame()), 1);
    accepted.send(&format!("{{\"type\":\"frames_watched\",\"targets\":[{B:?}]}}"));
    // Frames wait as soon as the message has been read.
    let mut next = 2;
    wait_for(|| {
        uplink.add(A, frame(next, 10));
        next += 1;
        thread::sleep(Duration::from_millis(20));
        !uplink.is_sent(A)
    });
    // A large frame goes at once, and takes the waiting frame along.
    uplink.add(B, frame(1000, 10));
    wait_for(|| uplink.is_sent(A) && uplink.is_sent(B));
    uplink.add(A, frame(1000, 10));
    uplink.hurry();
    wait_for(|| uplink.is_sent(A));
    // Without anybody they are late by the hold time at most.
    accepted.send("{\"type\":\"frames_watched\",\"targets\":[]}");
    let before = Instant::now();
    let mut next = 1001;
    wait_for(|| {
        uplink.add(A, frame(next, 10));
        next += 1;
        thread::sleep(Duration::from_millis(20));
        uplink.is_sent(A) && before.elapsed() > Duration::from_millis(100)
    });
}

#[test]
fn connections_are_made_only_while_they_are_allowed() {
    let backend = Backend::tcp();
    let uplink = uplink(&backend, Replay::new(10_000, 10_000));
    let mut accepted = backend.welcome(&Reached::new());
    uplink.add(A, frame(1, 10));
    assert_eq!(seq(&accepted.frame()), 1);
    uplink.disconnect();
    assert_eq!(accepted.read(), None);
    wait_for(|| !uplink.load().connected);
    uplink.add(A, frame(2, 10));
    assert_eq!(uplink.deliver(LONG), 20);
    assert_eq!(uplink.last(), Reached::from([(A.to_owned(), 2)]));
    uplink.connect();
    let mut accepted = backend.welcome(&reached(A, 1));
    assert_eq!(seq(&accepted.frame()), 2);
    uplink.stop();
    assert_eq!(accepted.read(), None);
}

#[test]
fn a_slow_backend_costs_frames_but_no_time() {
    const SIZE: usize = 40_000;
    let backend = Backend::tcp();
    let bound = 50 * SIZE;
    let uplink = uplink(&backend, Replay::new(bound, bound));
    let mut accepted = backend.welcome(&Reached::new());
    wait_for(|| uplink.load().connected);
    // The kernel takes some megabytes; the backend reads nothing.
    let before = Instant::now();
    for seq in 1..=600 {
        uplink.add(A, frame(seq, SIZE));
        if seq % 50 == 0 {
            thread::sleep(Duration::from_millis(1));
        }
    }
    let added = before.elapsed();
    assert!(added < LONG / 4, "{added:?}");
    let load = uplink.load();
    assert!(load.undelivered_bytes <= bound && load.backlog && uplink.is_stalled());
    // The backend reads on: each number comes once, or is reported lost.
    let (mut next, mut lost) = (1, 0);
    while next <= 600 {
        match accepted.read() {
            Some(Got::Frame(data)) => {
                assert_eq!((seq(&data), data.len()), (next, SIZE));
                next += 1;
            }
            Some(Got::Text(text)) => {
                let message: serde_json::Value = serde_json::from_str(&text).unwrap();
                assert_eq!(message["type"], "frames_lost");
                assert_eq!(message["from_seq"].as_u64(), Some(next));
                let to = message["to_seq"].as_u64().unwrap();
                lost += to + 1 - next;
                next = to + 1;
            }
            None => panic!("it has gone"),
        }
    }
    accepted.confirm(A, 600);
    assert_eq!(uplink.deliver(LONG), 0);
    assert!(lost > 0);
    assert_eq!(uplink.dropped(A), lost);
    assert!(!uplink.is_stalled());
    assert!(before.elapsed() < LONG / 2);
}

#[test]
fn large_frames_arrive_whole() {
    let backend = Backend::tcp();
    let uplink = uplink(&backend, Replay::new(1 << 26, 1 << 26));
    let mut accepted = backend.welcome(&Reached::new());
    uplink.add(A, frame(1, 9 << 20));
    uplink.add(A, frame(2, 100));
    thread::sleep(Duration::from_millis(50));
    let before = Instant::now();
    let large = accepted.frame();
    assert!(large.len() == 9 << 20 && large[8..].iter().all(|&byte| byte == 1));
    assert_eq!(seq(&accepted.frame()), 2);
    assert!(before.elapsed() < LONG / 2);
}

#[test]
fn a_refusal_has_its_reason() {
    let backend = Backend::tcp();
    let place = backend.place();
    let replay = Replay::new(100, 100);
    let uplink = started(place, false, replay);
    let mut accepted = backend.accept();
    accepted.close(4401, "wrong secret");
    let mut notice = None;
    let until = Instant::now() + LONG;
    while notice.is_none() && Instant::now() < until {
        notice = uplink.notice();
    }
    let notice = notice.unwrap();
    assert!(notice.contains("4401: wrong secret") && notice.contains("SECRET"), "{notice}");
    assert!(!uplink.load().connected && !uplink.say("x".into()));
}

#[test]
fn without_a_backend_frames_wait_within_the_bound_and_the_thread_ends() {
    let place = Backend::tcp().place();
    let replay = Replay::new(100, 100);
    let uplink = started(place, true, replay);
    for seq in 1..=50 {
        uplink.add(A, frame(seq, 10));
    }
    assert!(uplink.load().undelivered_bytes <= 100);
    wait_for(|| uplink.notice().is_some_and(|text| text.starts_with("no backend at 127.0.0.1:")));
    uplink.disconnect();
    assert_eq!(uplink.deliver(LONG), uplink.load().undelivered_bytes);
    let before = Instant::now();
    drop(uplink);
    assert!(before.elapsed() < LONG / 2);
}

#[test]
fn a_refused_frame_is_reported_lost() {
    let mut state = State::new(Replay::new(1000, 1000));
    (1..=2).for_each(|seq| state.replay.add(A, frame(seq, 10)));
    state.refused.insert((A.into(), 1));
    let mut seen = Vec::new();
    while let Some(out) = state.next() {
        seen.push(match out {
            Out::Frame(data) => seq(&data).to_string(),
            Out::Text(text) => text,
        });
    }
    assert_eq!(seen, [frames_lost(A, 1, 1, "the backend rejected it"), "2".into()]);
}
