//! What a tick takes without its source: joins, validation, comparison, frames, and the engine around them.
//!
//! Usage: `tick THREADS RUNNING`. Rows come from memory. Prints microseconds of CPU for each tick: of the
//! target alone, and of the engine's thread with its wake-ups.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use tidscope_sampler::columns::{comm, Identity, Rows};
use tidscope_sampler::compare::RoleNames;
use tidscope_sampler::encode::frame::Frame;
use tidscope_sampler::encode::header::{Health, ProcessGauges};
use tidscope_sampler::encode::json::Fragment;
use tidscope_sampler::encode::table_changes::TableChanges;
use tidscope_sampler::engine::entry::{Entry, Following, Program};
use tidscope_sampler::engine::kit::Kit;
use tidscope_sampler::engine::news::Board;
use tidscope_sampler::engine::schedule::Schedule;
use tidscope_sampler::engine::times::SampleTimes;
use tidscope_sampler::engine::{Engine, Sink};
use tidscope_sampler::fields::Fields;
use tidscope_sampler::os::clock::{monotonic_ns, thread_cpu_ns};
use tidscope_sampler::os::wait::open_process;
use tidscope_sampler::processes::{Newcomer, Processes};
use tidscope_sampler::procfs::Presence;
use tidscope_sampler::source::{Origin, ReadError, Source};
use tidscope_sampler::target::{Sources, Spec, Surroundings, Target, When};

const COLUMNS: [&str; 29] = [
    "cpu_run_ns",
    "cpu_delay_ns",
    "cpu_count",
    "user_cpu_us",
    "system_cpu_us",
    "blkio_delay_ns",
    "blkio_count",
    "swapin_delay_ns",
    "swapin_count",
    "freepages_delay_ns",
    "freepages_count",
    "thrashing_delay_ns",
    "thrashing_count",
    "compact_delay_ns",
    "compact_count",
    "wpcopy_delay_ns",
    "wpcopy_count",
    "irq_delay_ns",
    "irq_count",
    "minor_faults",
    "major_faults",
    "voluntary_switches",
    "involuntary_switches",
    "read_char_bytes",
    "write_char_bytes",
    "read_calls",
    "write_calls",
    "read_bytes",
    "write_bytes",
];

struct Made {
    rows: Rows,
    running: usize,
}

impl Source for Made {
    fn origin(&self) -> Origin {
        Origin::Walk
    }

    fn read(&mut self, _: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let now_ns = monotonic_ns();
        self.rows.seen_ns.fill(now_ns);
        for column in [0, 3, 21] {
            let step = column as u64 + 7;
            self.rows.column_mut(column)[..self.running].iter_mut().for_each(|one| *one += step);
        }
        rows.append(&self.rows);
        Ok(())
    }
}

#[derive(Clone, Default)]
struct Count(Arc<AtomicU64>);

impl Sink for Count {
    fn add(&mut self, _: &str, _: Frame) {
        self.0.fetch_add(1, Relaxed);
    }

    fn is_stalled(&self) -> bool {
        false
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|one| one.parse().expect("a number"));
    let threads: usize = arguments.next().unwrap_or(30);
    let running: usize = arguments.next().unwrap_or(threads).min(threads);
    let processes = Arc::new(Mutex::new(Processes::new(8)));
    let pid = std::process::id();
    let newcomer = Newcomer { pid, at_attach: true, ..Newcomer::default() };
    processes.lock().unwrap().members.add(newcomer);
    let make = || {
        let mut rows = Rows::new(COLUMNS.len());
        for tid in 0..threads as u32 {
            let name = comm(format!("worker-{tid}").as_bytes());
            rows.push(Identity {
                tid: pid + tid,
                process: pid,
                start_ns: 5,
                seen_ns: 5,
                comm: name,
            });
        }
        let spec = Spec {
            id: "t-1-0000abcd".into(),
            fields: Fields::new(COLUMNS).unwrap(),
            attach_ns: monotonic_ns(),
            is_group: false,
            foreign_exits: false,
            role_names: RoleNames::default(),
            max_roles: 63,
        };
        let source = Box::new(Made { rows, running });
        let sources = Sources { source, fallback: None, joins: Vec::new() };
        let surroundings = Surroundings {
            process: ProcessGauges::default(),
            machine: Fragment::new("{\"time_ns\":0}").unwrap(),
            health: Health::default(),
            group: None,
        };
        let tables = TableChanges::new(Vec::new()).unwrap();
        Target::new(spec, sources, tables, Box::new(Arc::clone(&processes)), surroundings)
    };

    let (mut target, count) = (make(), 200_000 / (threads + 20) + 50);
    let mut started_ns = target.attach_ns();
    let mut tick = || {
        started_ns += 100_000_000;
        target.read(&[pid], &[pid]).unwrap();
        let when = When { started_ns, ..When::default() };
        target.sample(when, &mut |_, _| Presence::Alive).len()
    };
    (0..20).for_each(|_| assert_eq!(tick(), 1));
    let cpu_ns = thread_cpu_ns();
    (0..count).for_each(|_| assert_eq!(tick(), 1));
    let alone = (thread_cpu_ns() - cpu_ns) as f64 / count as f64 / 1000.0;
    println!("target alone: {alone:.1} us");

    let kit = Kit {
        procfs: "/proc".into(),
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
    };
    let sink = Count::default();
    let board = Board::new().unwrap();
    let engine = Engine::new(Arc::new(kit), None, None, Box::new(sink.clone()), board);
    let running = engine.start().unwrap();
    let link = format!("/proc/{pid}/exe").into();
    let program = Program {
        executable: std::fs::read_link(&link).ok().map(Into::into),
        link,
        name: "worker-0".into(),
        executed: None,
        told: false,
    };
    let entry = Entry {
        target: make(),
        schedule: Schedule::new(100.0, monotonic_ns()),
        requested_hz: 100.0,
        processes: Arc::clone(&processes),
        lead: pid,
        told_cpu_ns: None,
        following: Following::Process { pid, alive: open_process(pid).unwrap(), program },
        last_switches: None,
        decoder: None,
        gomaxprocs: None,
        times: SampleTimes::default(),
        spent_ns: 0,
        bytes: 0,
        lost_told: 0,
        exit_code: None,
        leaving: std::collections::VecDeque::new(),
        cpu_due_ns: 0,
        ending_until_ns: None,
        watcher: None,
        locks_reason: None,
        told_empty: false,
        tell_sample: false,
    };
    running.handle().ask(|engine| engine.add("a".into(), entry)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(300));
    running.handle().ask(|engine| engine.take_spent()).unwrap();
    let before = sink.0.load(Relaxed);
    std::thread::sleep(std::time::Duration::from_secs(3));
    let spent = running.handle().ask(|engine| engine.take_spent()).unwrap();
    let ticks = (sink.0.load(Relaxed) - before) as f64;
    let own = spent.targets["a"].0 as f64 / ticks / 1000.0;
    let all = spent.thread_ns as f64 / ticks / 1000.0;
    println!("engine: {own:.1} us a tick, {all:.1} us with wake-ups, {ticks} ticks");
}
