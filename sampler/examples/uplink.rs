//! Makes frames and sends them to a backend, for `tests/backend.py`, which signs in over the pipes.
//!
//! Lines from the program: `headers`, `accept VALUE`, then `done BYTES_NOT_CONFIRMED CPU_NS`. It reads
//! what to do first, and an answer to each question.

use std::io::{self, BufRead, Write};
use std::thread;
use std::time::Duration;

use serde_json::Value;
use tidscope_sampler::columns::{Identity, Rows, Totals};
use tidscope_sampler::encode::frame::{Body, Common, FrameMaker, Sample};
use tidscope_sampler::encode::header::{ExitedTotals, Health, ProcessGauges};
use tidscope_sampler::encode::json::Fragment;
use tidscope_sampler::encode::rows::Identities;
use tidscope_sampler::encode::table_changes::EncodedTables;
use tidscope_sampler::fields::Fields;
use tidscope_sampler::link::peer::Address;
use tidscope_sampler::link::replay::Replay;
use tidscope_sampler::link::uplink::{Session, Uplink};
use tidscope_sampler::link::websocket::Place;
use tidscope_sampler::os::clock;

fn line() -> Value {
    let mut text = String::new();
    if !io::stdin().lock().read_line(&mut text).is_ok_and(|count| count > 0) {
        // The parent process has gone.
        std::process::exit(1);
    }
    serde_json::from_str(&text).unwrap()
}

fn ask(question: &str) -> Value {
    println!("{question}");
    io::stdout().flush().unwrap();
    line()
}

struct Python {
    hello: String,
}

impl Session for Python {
    fn headers(&mut self) -> Result<Vec<(String, String)>, String> {
        let headers = ask("headers");
        let of = |(name, value): (&String, &Value)| (name.clone(), value.as_str().unwrap().into());
        Ok(headers.as_object().unwrap().iter().map(of).collect())
    }

    fn accept(&mut self, header: &dyn Fn(&str) -> Option<String>) -> Result<(), String> {
        let proof = header("Tidscope-Proof").unwrap_or_default();
        (ask(&format!("accept {proof}")) == true).then_some(()).ok_or_else(|| "no proof".into())
    }

    fn hello(&mut self) -> String {
        self.hello.clone()
    }
}

struct Numbered;

impl Identities for Numbered {
    fn start_ns(&self, row: usize) -> i64 {
        row as i64
    }
    fn name(&self, _: usize) -> &str {
        "worker"
    }
}

fn main() {
    let what = line();
    let text = |name: &str| what[name].as_str().unwrap().to_owned();
    let number = |name: &str| what[name].as_u64().unwrap();
    let address = Address::Tcp("127.0.0.1".into(), number("port") as u16);
    let place = Place { address, host: text("host"), path: text("path") };
    let session = Box::new(Python { hello: text("hello") });
    let uplink = Uplink::start(place, session, Replay::new(12 << 20, 96 << 20)).unwrap();
    uplink.connect();
    while !uplink.load().connected {
        if let Some(notice) = uplink.notice() {
            eprintln!("{notice}");
        }
        thread::sleep(Duration::from_millis(2));
    }
    let target = text("target");
    let fields =
        Fields::new(what["fields"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()));
    let fields = fields.unwrap();
    let attach_ns = clock::monotonic_ns();
    let mut maker = FrameMaker::new(&target, &fields, false, attach_ns);
    let mut rows = Rows::new(fields.len());
    for tid in 1..=number("threads") {
        rows.push(Identity { tid: tid as u32, ..Identity::default() });
    }
    let chosen: Vec<_> = (0..rows.len()).collect();
    let exited = ExitedTotals { totals: Totals::new(fields.summed), ..ExitedTotals::default() };
    let (process, machine) = (text("process"), text("machine"));
    let health = Health { effective_hz: 10.0, requested_hz: 10.0, ..Health::default() };
    let before = clock::process_cpu_ns(std::process::id()).unwrap();
    for n in 1..=number("frames") {
        for column in 0..fields.len() {
            rows.column_mut(column).fill(1000 * n);
        }
        let common = Common {
            started_ns: clock::monotonic_ns(),
            live: rows.len() as u64,
            exited: &exited,
            process: &gauges(&process),
            machine: &Fragment::new(machine.as_str()).unwrap(),
            health: &health,
            counters_from: None,
            group: None,
        };
        let wants = maker.wants(common.started_ns, common.live, false);
        let body = if wants.key {
            Body::Key { rows: &rows, chosen: &chosen, threads: &Numbered }
        } else {
            Body::Delta { rows: &rows, chosen: &chosen }
        };
        let roles = wants.roles.then_some(&[][..]);
        let tables = EncodedTables::NONE;
        let sample = Sample { body, late_ns: 0, cpu_ns: None, roles, tables };
        for frame in maker.sample(Vec::new(), &common, &sample) {
            uplink.add(&target, frame);
        }
        thread::sleep(Duration::from_micros(number("pause_us")));
    }
    let took = clock::process_cpu_ns(std::process::id()).unwrap() - before;
    println!("done {} {took}", uplink.deliver(Duration::from_secs(20)));
}

/// Gauges of the JSON that the models write.
fn gauges(text: &str) -> ProcessGauges {
    let read: serde_json::Value = serde_json::from_str(text).unwrap();
    let whole = |name: &str| read[name].as_u64();
    ProcessGauges {
        gomaxprocs: whole("gomaxprocs"),
        gomaxprocs_missed: whole("gomaxprocs_missed"),
        rss_bytes: whole("rss_bytes"),
        delay_accounting: read["delay_accounting"].as_bool(),
        cpu_limit: read["cpu_limit"].as_f64(),
        cgroup_periods: whole("cgroup_periods"),
        cgroup_throttled: whole("cgroup_throttled"),
        cgroup_throttled_us: whole("cgroup_throttled_us"),
        limits: None,
    }
}
