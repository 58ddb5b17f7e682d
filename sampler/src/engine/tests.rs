use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::draining::MAX_WAITING_EXITS;
use super::entry::Program;
use super::schedule::Schedule;
use super::times::SampleTimes;
use super::*;
use crate::columns::{comm, Comm};
use crate::fields::CPU;
use crate::os::wait::readable;
use crate::processes::{Boundary, Kind, LastSwitches, SharedProcesses};
use crate::taskstats::testing::{kernel, Pad, Record};
use crate::taskstats::{Decoder, ExitListener};
use crate::testing::{self, events, exits, header, script, Shared};

/// Id of a process that there is not: the kernel may be asked about it.
const P: u32 = 4_194_299;
/// How long a test waits for what has to come.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Default)]
struct Taken {
    frames: Mutex<Vec<(String, Value)>>,
    came: Condvar,
    stalled: AtomicBool,
}

struct Taker(Arc<Taken>);

impl Sink for Taker {
    fn add(&mut self, target: &str, frame: Frame) {
        self.0.frames.lock().unwrap().push((target.to_owned(), header(&frame)));
        self.0.came.notify_all();
    }

    fn is_stalled(&self) -> bool {
        self.0.stalled.load(SeqCst)
    }
}

/// An engine, and the headers of its frames.
struct Scene {
    running: Running,
    taken: Arc<Taken>,
    board: Board,
    /// Exit records are sent here.
    far: UnixDatagram,
    kit: Arc<Kit>,
    /// Life line of each target's process, by target: the process lives while it is open.
    alive: Mutex<BTreeMap<String, UnixStream>>,
}

/// A target of one process for good, whose end the test tells.
struct Added {
    script: Shared,
    processes: SharedProcesses,
}

fn entry(id: &str, script: &Shared, rate_hz: f64, pids: &[u32], following: Following) -> Entry {
    let processes = testing::processes(pids);
    let checked = script.lock().unwrap().failure.is_none();
    let target = testing::target(id, script, checked, &processes);
    let kernel = kernel(16, Pad::None);
    Entry {
        target,
        schedule: Schedule::new(rate_hz, monotonic_ns()),
        requested_hz: rate_hz,
        processes,
        lead: 0,
        reported_cpu_ns: None,
        following,
        last_switches: None,
        decoder: Some(Decoder::new(&kernel.layout, ["cpu_run_real_total"], 0, 0).unwrap()),
        gomaxprocs: None,
        times: SampleTimes::default(),
        spent_ns: 0,
        bytes: 0,
        lost_reported: 0,
        exit_code: None,
        leaving: std::collections::VecDeque::new(),
        cpu_due_ns: 0,
        ending_until_ns: None,
        watcher: None,
        locks_reason: None,
        notified_empty: false,
        tell_sample: false,
    }
}

impl Scene {
    fn new() -> Self {
        let kit = Arc::new(Kit {
            procfs: PathBuf::from("/proc"),
            role_words: Vec::new(),
            max_roles: 63,
            max_names: 8,
            shapes: Vec::new(),
            taskstats: None,
            walker: None,
            keeper: None,
            wait_tables: None,
            accounts: None,
            disagreement: std::sync::OnceLock::new(),
        });
        let taken = Arc::new(Taken::default());
        let board = Board::new().unwrap();
        let (near, far) = UnixDatagram::pair().unwrap();
        let listener = ExitListener::new(kernel(16, Pad::None), vec![(0, near.into())]).unwrap();
        let exits = ExitRecords::new(listener);
        let sink = Box::new(Taker(Arc::clone(&taken)));
        let engine = Engine::new(Arc::clone(&kit), Some(exits), None, sink, board.clone());
        Self { running: engine.start().unwrap(), taken, board, far, kit, alive: Mutex::default() }
    }

    fn ask<T: Send + 'static>(&self, action: impl FnOnce(&mut Engine) -> T + Send + 'static) -> T {
        self.running.handle().ask(action).unwrap()
    }

    fn add(&self, id: &str, script: &Shared, rate_hz: f64) -> Added {
        let (alive, other) = UnixStream::pair().unwrap();
        let program = Program {
            link: "/proc/self/exe".into(),
            executable: std::fs::read_link("/proc/self/exe").ok().map(PathBuf::into_os_string),
            name: "work".into(),
            executed: None,
            notified: false,
        };
        let following = Following::Process { pid: P, alive: other.into(), program };
        let entry = entry(id, script, rate_hz, &[P], following);
        let processes = Arc::clone(&entry.processes);
        let name = id.to_owned();
        self.ask(move |engine| engine.add(name, entry));
        self.alive.lock().unwrap().insert(id.to_owned(), alive);
        Added { script: Arc::clone(script), processes }
    }

    /// Waits for a frame of a target for which `holds` is true; returns all frames of it up to that one.
    fn until(&self, id: &str, holds: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut frames = self.taken.frames.lock().unwrap();
        let began = Instant::now();
        loop {
            let own: Vec<&Value> =
                frames.iter().filter(|(name, _)| name == id).map(|(_, header)| header).collect();
            if let Some(place) = own.iter().position(|header| holds(header)) {
                return own[..=place].iter().map(|&header| header.clone()).collect();
            }
            assert!(began.elapsed() < PATIENCE, "it does not come");
            frames = self.taken.came.wait_timeout(frames, PATIENCE).unwrap().0;
        }
    }

    fn last(&self, id: &str, holds: impl Fn(&Value) -> bool) -> Value {
        self.until(id, holds).pop().unwrap()
    }

    /// Waits until there is a notice of a target for which `holds` is true.
    fn notice(&self, id: &str, holds: impl Fn(&notices::Notice) -> bool) -> notices::Notice {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "no notice");
            readable(self.board.waker().as_fd(), 1000);
            if let Some(notice) = self.board.take().remove(id).filter(|notice| holds(notice)) {
                return notice;
            }
        }
    }

    /// Threads of the process end: thread, time on a CPU.
    fn exit(&self, ended: &[(u32, u64)]) {
        for part in ended.chunks(8) {
            for &(tid, cpu_ns) in part {
                let record = Record::of(tid)
                    .with("ac_tgid", P.into())
                    .with("cpu_run_real_total", cpu_ns)
                    .with("ac_tgetime", 1 << 60);
                self.far.send(&record.exit(0, None)).unwrap();
            }
            // A socket of this kind holds ten datagrams.
            self.ask(Engine::drain);
        }
    }
}

fn seq(header: &Value) -> u64 {
    header["seq"].as_u64().unwrap()
}

fn ended_threads(header: &Value) -> u64 {
    header["exited"]["threads"].as_u64().unwrap()
}

#[test]
fn a_source_that_fails_tells_so_and_stops_no_other() {
    let scene = Scene::new();
    let bad = script(&[(P, P, 1)]);
    bad.lock().unwrap().failure = Some(("nonsense", false));
    let good = script(&[(P, P, 1)]);
    scene.add("bad", &bad, 100.0);
    scene.add("good", &good, 100.0);
    let header = scene.last("good", |header| seq(header) == 3);
    assert_eq!(header["live_threads"], 1);
    let header = scene.last("bad", |header| seq(header) == 3);
    assert_eq!(events(&header, "sample_failed")[0]["reason"], "OSError: nonsense");
}

#[test]
fn a_disagreement_of_one_target_is_that_of_all() {
    let scene = Scene::new();
    let (one, other) = (script(&[(P, P, 1)]), script(&[(P, P, 1)]));
    scene.add("one", &one, 100.0);
    scene.add("other", &other, 100.0);
    scene.until("other", |header| seq(header) == 2);
    one.lock().unwrap().failure = Some(("x is 1 and 2", true));
    let changed = |header: &Value| !events(header, "counters_source_changed").is_empty();
    scene.until("one", changed);
    let header = scene.last("other", changed);
    assert_eq!(header["counters_from"], "genetlink");
    assert_eq!(header["health"]["counters_disagreement"], "x is 1 and 2");
    assert_eq!(scene.kit.disagreement.get().map(String::as_str), Some("x is 1 and 2"));
}

#[test]
fn a_flush_has_everything_up_to_now() {
    let scene = Scene::new();
    let script = script(&[(P, P, 1)]);
    scene.add("a", &script, 1.0);
    scene.until("a", |header| seq(header) == 1);
    script.lock().unwrap().threads = vec![(P, P, 5), (8, P, 2)];
    scene.exit(&[(9, 4)]);
    let (number, exited) = scene.ask(|engine| engine.flush("a")).unwrap();
    assert_eq!(exited, 1);
    // The target's frames went out before the answer.
    let header = scene.last("a", |header| seq(header) == number);
    let sum: u64 = header["roles"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|role| role["totals"][CPU].as_u64())
        .sum();
    assert_eq!(sum, 5 + 2 + 4);
    assert_eq!(events(&header, "thread_born").len(), 1);
    assert_eq!(scene.ask(|engine| engine.flush("nobody")), None);
}

#[test]
fn a_target_that_is_detached_is_sampled_once_more() {
    let scene = Scene::new();
    let script = script(&[(P, P, 1)]);
    scene.add("a", &script, 1.0);
    scene.until("a", |header| seq(header) == 1);
    script.lock().unwrap().threads = vec![(P, P, 5), (8, P, 2)];
    let last = scene.ask(|engine| engine.finish("a", false)).unwrap();
    let frames = scene.until("a", |header| seq(header) == last);
    assert_eq!(events(&frames[frames.len() - 1], "target_detached").len(), 1);
    let whole = &frames[frames.len() - 2];
    assert_eq!((&whole["rows"], &whole["live_threads"]), (&json!(2), &json!(2)));
    assert!(whole["roles"].is_array());
    assert_eq!(scene.notice("a", |notice| notice.over.is_some()).over, Some((None, last)));
    assert_eq!(scene.ask(|engine| engine.finish("a", false)), None);
}

#[test]
fn what_was_taken_from_the_kernel_goes_out_when_the_engine_ends() {
    let mut scene = Scene::new();
    scene.add("a", &script(&[(P, P, 1)]), 1.0);
    scene.until("a", |header| seq(header) == 1);
    scene.exit(&[(8, 3), (9, 4)]);
    scene.running.stop();
    let frames = scene.taken.frames.lock().unwrap();
    assert_eq!(ended_threads(&frames.last().unwrap().1), 2);
    assert_eq!(scene.running.handle().ask(|_| ()), None);
}

#[test]
fn the_end_of_a_process_waits_for_tables_and_has_all_records() {
    let scene = Scene::new();
    let script = script(&[(P, P, 1), (8, P, 2)]);
    let added = scene.add("a", &script, 100.0);
    scene.until("a", |header| seq(header) == 1);
    let code = Record::of(P)
        .with("ac_tgid", P.into())
        .with("ac_flag", 0x20)
        .with("ac_exitcode", 9)
        .with("cpu_run_real_total", 6)
        .with("ac_tgetime", 1 << 60);
    scene.exit(&[(8, 5)]);
    scene.far.send(&code.exit(1, None)).unwrap();
    added.script.lock().unwrap().threads.clear();
    drop(scene.alive.lock().unwrap().remove("a"));
    scene.notice("a", |notice| notice.ending);
    // A reader of tables flushes once they are there.
    assert_eq!(scene.ask(|engine| engine.flush("a")), None);
    let notice = scene.notice("a", |notice| notice.over.is_some());
    let (status, last) = notice.over.unwrap();
    let header = scene.last("a", |header| seq(header) == last);
    assert_eq!((status, &events(&header, "target_exited")[0]["exit_code"]), (Some(9), &json!(9)));
    assert_eq!(
        (&header["exited"]["inexact"], &header["exited"]["totals"][CPU]),
        (&json!(0), &json!(11))
    );
}

#[test]
fn an_end_that_nobody_flushes_comes_by_itself() {
    let scene = Scene::new();
    scene.add("a", &script(&[(P, P, 1)]), 100.0);
    scene.until("a", |header| seq(header) == 1);
    drop(scene.alive.lock().unwrap().remove("a"));
    scene.until("a", |header| !events(header, "target_exited").is_empty());
}

#[test]
fn a_group_without_processes_ends_or_is_reported() {
    let scene = Scene::new();
    for (id, ends_empty) in [("ends", true), ("stays", false)] {
        let entry = entry(id, &script(&[(P, P, 1)]), 100.0, &[P], Following::Listed { ends_empty });
        let processes = Arc::clone(&entry.processes);
        scene.ask(move |engine| engine.add(id.into(), entry));
        scene.until(id, |header| seq(header) == 2);
        let now_ns = monotonic_ns();
        processes.lock().unwrap().members.end(P, now_ns, now_ns);
    }
    scene.until("ends", |header| !events(header, "target_exited").is_empty());
    let before = scene.last("stays", |header| header["live_threads"] == 0);
    assert_eq!(ended_threads(&before), 1);
    assert!(scene.ask(|engine| engine.entry("stays").is_some()));
}

#[test]
fn what_cannot_be_done_in_time_is_counted_and_reported() {
    let scene = Scene::new();
    let script = script(&[(P, P, 1)]);
    script.lock().unwrap().takes = Duration::from_millis(30);
    scene.add("slow", &script, 100.0);
    let mut reported = 0;
    for header in scene.until("slow", |header| seq(header) == 10) {
        reported += events(&header, "deadlines_missed")
            .iter()
            .filter_map(|event| event["count"].as_u64())
            .sum::<u64>();
        assert_eq!(header["health"]["missed_deadlines"], reported);
    }
    // Each sample takes three periods, so two of three deadlines are missed.
    assert!(reported >= 18);
}

#[test]
fn while_a_backend_takes_nothing_exits_wait_and_then_all_of_them_come() {
    let scene = Scene::new();
    let added = scene.add("a", &script(&[(P, P, 1)]), 100.0);
    scene.until("a", |header| seq(header) == 1);
    scene.taken.stalled.store(true, SeqCst);
    scene.ask(|_| ());
    let before = scene.taken.frames.lock().unwrap().len();
    let ended: Vec<(u32, u64)> = (100..300).map(|tid| (tid, 10)).collect();
    scene.exit(&ended);
    std::thread::sleep(Duration::from_millis(100));
    let frames = scene.taken.frames.lock().unwrap().len();
    assert!(frames <= before + 1);
    scene.taken.stalled.store(false, SeqCst);
    let frames = scene.until("a", |header| ended_threads(header) == 200);
    let exits: usize = frames.iter().map(|header| events(header, "thread_exited").len()).sum();
    assert_eq!(exits, 200);
    assert!(frames.iter().any(|header| !events(header, "deadlines_missed").is_empty()));
    assert_eq!(added.processes.lock().unwrap().rows(std::iter::empty(), 0)[0].threads_ended, 200);
}

#[test]
fn exits_beyond_what_is_kept_are_folded_while_frames_wait() {
    let scene = Scene::new();
    scene.add("a", &script(&[(P, P, 1)]), 1.0);
    scene.until("a", |header| seq(header) == 1);
    scene.taken.stalled.store(true, SeqCst);
    let many = MAX_WAITING_EXITS as u32 + 500;
    scene.ask(move |engine| {
        let ended: Vec<(u32, u32, u64)> = (0..many).map(|tid| (100 + tid, P, 10)).collect();
        let entry = engine.entry("a").unwrap();
        entry.target.take_exits(exits(&ended), false).unwrap();
    });
    scene.ask(Engine::drain);
    let (waiting, without) = scene.ask(|engine| {
        let target = &engine.entry("a").unwrap().target;
        (target.waiting_exits(), target.exits_without_event())
    });
    assert_eq!((waiting, without), (MAX_WAITING_EXITS, 500));
    scene.taken.stalled.store(false, SeqCst);
    let header = scene.last("a", |header| ended_threads(header) == u64::from(many));
    assert_eq!(header["exited"]["totals"][CPU], u64::from(many) * 10);
}

#[test]
fn another_program_or_name_is_reported_once() {
    let scene = Scene::new();
    scene.add("a", &script(&[(P, P, 1)]), 100.0);
    scene.until("a", |header| seq(header) == 2);
    assert!(!scene.board.take().values().any(|notice| notice.program));
    scene.ask(|engine| {
        let Following::Process { program, .. } = &mut engine.entry("a").unwrap().following else {
            panic!()
        };
        program.executable = Some("/bin/other".into());
    });
    scene.notice("a", |notice| notice.program);
    let last = seq(&scene.taken.frames.lock().unwrap().last().unwrap().1);
    scene.until("a", |header| seq(header) == last + 3);
    assert!(!scene.board.take().values().any(|notice| notice.program));
}

/// An event of the ring that concerns a group.
fn event(kind: Kind, pid: u32, other: u32, run_ns: u64) -> processes::Event {
    let comm: Comm = comm(b"forked");
    processes::Event {
        kind,
        pid,
        other,
        value: 0,
        groups: 1,
        at_ns: monotonic_ns(),
        start_ns: 5,
        start_boot_ns: 50_000_000 * i64::from(pid),
        run_ns,
        comm,
    }
}

#[test]
fn processes_of_a_storm_are_counted_with_all_their_time() {
    let scene = Scene::new();
    let boundary = Boundary { inherited: true, ..Boundary::default() };
    let following = Following::Reported { bit: 1, boundary, ends_empty: true };
    let mut entry = entry("g", &script(&[(P, P, 1)]), 20.0, &[P], following);
    entry.last_switches = Some(LastSwitches::default());
    let processes = Arc::clone(&entry.processes);
    scene.ask(move |engine| engine.add("g".into(), entry));
    // Each child has run for 100 us by its record, and for 150 us by its last switch, which is known
    // before the record is drained, or after.
    for pid in 1_000..1_400_u32 {
        let board = scene.board.clone();
        scene.ask(move |engine| {
            let entry = engine.entry("g").unwrap();
            entry.apply("g", &event(Kind::Born, pid, P, 0), None, &board, monotonic_ns());
        });
        let record = Record::of(pid)
            .with("ac_tgid", pid.into())
            .with("cpu_run_real_total", 100_000)
            .with("ac_tgetime", 1 << 60);
        let done = move |engine: &mut Engine| {
            let board = Board::new().unwrap();
            let entry = engine.entry("g").unwrap();
            entry.apply("g", &event(Kind::Done, pid, pid, 150_000), None, &board, monotonic_ns());
        };
        if pid % 2 == 0 {
            scene.ask(done);
            scene.far.send(&record.exit(0, None)).unwrap();
            scene.ask(Engine::drain);
        } else {
            scene.far.send(&record.exit(0, None)).unwrap();
            scene.ask(Engine::drain);
            scene.ask(done);
        }
    }
    let all = 400 * 150_000;
    let header = scene
        .last("g", |header| ended_threads(header) == 400 && header["exited"]["totals"][CPU] == all);
    assert_eq!(header["exited"]["inexact"], 0);
    let mut processes = processes.lock().unwrap();
    let members = &processes.members;
    assert_eq!((members.started, members.ended_count, members.unseen), (401, 400, 400));
    let rows = processes.rows(std::iter::empty(), monotonic_ns());
    let sum: u64 =
        rows.iter().filter(|row| row.pid != Some(P)).map(|row| row.totals.values[0]).sum();
    assert_eq!(sum, all);
    assert!(!scene.board.take().values().any(|notice| notice.empty));
}

#[test]
fn what_a_deleted_executable_is_called_is_no_other_program() {
    let folder = std::env::temp_dir().join(format!("tidscope-deleted-{}", std::process::id()));
    let _ = std::fs::remove_file(&folder);
    std::os::unix::fs::symlink("/bin/made (deleted)", &folder).unwrap();
    let scene = Scene::new();
    let (_alive, other) = UnixStream::pair().unwrap();
    let program = Program {
        link: folder.clone(),
        executable: Some("/bin/made".into()),
        name: "work".into(),
        executed: None,
        notified: false,
    };
    let following = Following::Process { pid: P, alive: other.into(), program };
    let entry = entry("a", &script(&[(P, P, 1)]), 100.0, &[P], following);
    scene.ask(move |engine| engine.add("a".into(), entry));
    scene.until("a", |header| seq(header) == 3);
    assert!(!scene.board.take().values().any(|notice| notice.program));
    std::fs::remove_file(folder).unwrap();
}
