//! Encodes what lines of JSON say, for `tests/encoded.py`: each line is answered by a line.

use std::io::{self, BufRead, Write};

use serde_json::{json, Value};
use tidscope_sampler::columns::{Identity, Rows, Totals};
use tidscope_sampler::encode::arrow::Kind;
use tidscope_sampler::encode::events::{Event, Exited};
use tidscope_sampler::encode::frame::{Body, Common, Frame, FrameMaker, Sample};
use tidscope_sampler::encode::header::{
    ExitedTotals, GroupCounts, GroupLimits, Health, ProcessGauges, RoleTotals,
};
use tidscope_sampler::encode::json::{Fragment, Keys};
use tidscope_sampler::encode::rows::{Identities, RowEncoder};
use tidscope_sampler::encode::table_changes::{EncodedTables, TableChanges};
use tidscope_sampler::encode::tables::{Column, RowKind, Shape, Table, Texts};
use tidscope_sampler::fields::{columns_of, Fields};
use tidscope_sampler::os::clock;
use tidscope_sampler::source::Origin;

struct Named {
    start_ns: Vec<i64>,
    names: Vec<String>,
}

impl Identities for Named {
    fn start_ns(&self, row: usize) -> i64 {
        self.start_ns[row]
    }
    fn name(&self, row: usize) -> &str {
        &self.names[row]
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn longs(value: &Value) -> Vec<u64> {
    list(value).iter().map(long).collect()
}

fn long(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

fn small(value: &Value) -> u32 {
    value.as_u64().unwrap() as u32
}

fn string(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn fields(case: &Value) -> Fields {
    Fields::new(list(&case["fields"]).iter().map(string)).unwrap()
}

fn rows_of(case: &Value, width: usize) -> (Rows, Named) {
    let mut rows = Rows::new(width);
    for (n, tid) in longs(&case["tid"]).into_iter().enumerate() {
        let process = small(&case["process"][n]);
        let row = rows.push(Identity { tid: tid as u32, process, ..Identity::default() });
        rows.absent[row] = long(&case["absent"][n]);
        for column in 0..width {
            rows.set(row, column, long(&case["counters"][column][n]));
        }
    }
    let names = list(&case["names"]).iter().map(string).collect();
    let start_ns = list(&case["start_ns"]).iter().map(|one| one.as_i64().unwrap()).collect();
    (rows, Named { start_ns, names })
}

fn chosen(case: &Value) -> Vec<usize> {
    longs(&case["chosen"]).into_iter().map(|row| row as usize).collect()
}

fn rows(case: &Value) -> Value {
    let fields = fields(case);
    let (rows, named) = rows_of(case, fields.len());
    let mut encoder = RowEncoder::new(&fields, case["group"] == true);
    let chosen = chosen(case);
    // A first call leaves bytes behind, which must not show.
    encoder.key(&rows, &chosen, &named);
    let made = if case["key"] == true {
        encoder.key(&rows, &chosen, &named)
    } else {
        encoder.delta(&rows, &chosen)
    };
    let columns = made.columns.map(|mask| columns_of(mask).collect::<Vec<_>>());
    json!({"bytes": hex(made.bytes), "columns": columns})
}

fn table_of(case: &Value) -> (Shape, Table) {
    let columns = list(&case["columns"]);
    let kind = |column: &Value| match column["kind"].as_str().unwrap() {
        "uint32" => Kind::U32,
        "uint64" => Kind::U64,
        _ => Kind::Text,
    };
    let shape = Shape {
        name: string(&case["name"]),
        columns: columns.iter().map(|column| (string(&column["name"]), kind(column))).collect(),
        keys: 1,
        rows: RowKind::Figures,
    };
    let values = columns.iter().map(|column| match kind(column) {
        Kind::U32 => Column::U32(longs(&column["values"]).iter().map(|&one| one as u32).collect()),
        Kind::Text => {
            let mut texts = Texts::default();
            list(&column["values"]).iter().for_each(|one| texts.push(one.as_str().unwrap()));
            Column::Text(texts)
        }
        _ => Column::U64(longs(&column["values"])),
    });
    let table = Table::of(&shape, values.collect()).unwrap();
    (shape, table)
}

fn totals(value: &Value) -> Totals {
    Totals { values: longs(&value["values"]), given: long(&value["given"]) }
}

fn origin(value: &Value) -> Origin {
    match value.as_str().unwrap() {
        "walk" => Origin::Walk,
        "genetlink" => Origin::Genetlink,
        _ => Origin::Procfs,
    }
}

fn event(given: &Value) -> Event {
    let process = given["pid"].as_u64().unwrap_or(0) as u32;
    let start_ns = given["start_ns"].as_i64().unwrap_or(0);
    match given["type"].as_str().unwrap() {
        "thread_born" => Event::Born {
            tid: small(&given["tid"]),
            process,
            start_ns,
            name: string(&given["name"]),
        },
        "thread_renamed" => Event::Renamed {
            tid: small(&given["tid"]),
            process,
            name: string(&given["name"]),
            previous: string(&given["previous"]),
        },
        "thread_exited" => Event::Exited(Box::new(Exited {
            tid: small(&given["tid"]),
            process,
            start_ns,
            name: string(&given["name"]),
            totals: totals(&given["totals"]),
            inexact: long(&given["inexact"]),
            exact: given["exact"] == true,
            seen_alive: given["seen_alive"] == true,
            lifetime_ns: given["lifetime_ns"].as_i64(),
        })),
        "target_exited" => {
            Event::TargetExited { exit_code: given["exit_code"].as_i64().map(|one| one as i32) }
        }
        "target_detached" => Event::TargetDetached,
        "rate_changed" => Event::RateChanged {
            rate_hz: given["rate_hz"].as_f64().unwrap(),
            previous_hz: given["previous_hz"].as_f64().unwrap(),
        },
        "rate_adapted" => Event::RateAdapted {
            rate_hz: given["rate_hz"].as_f64().unwrap(),
            previous_hz: given["previous_hz"].as_f64().unwrap(),
            requested_hz: given["requested_hz"].as_f64().unwrap(),
            overhead_percent: given["overhead_percent"].as_f64().unwrap(),
            budget_percent: given["budget_percent"].as_f64().unwrap(),
            undelivered_bytes: given["undelivered_bytes"].as_u64(),
        },
        "deadlines_missed" => Event::DeadlinesMissed { count: long(&given["count"]) },
        "exit_records_lost" => Event::ExitRecordsLost { count: long(&given["count"]) },
        "gomaxprocs_changed" => Event::GomaxprocsChanged {
            process,
            size: long(&given["size"]),
            previous: long(&given["previous"]),
        },
        "program_executed" => Event::ProgramExecuted {
            process,
            name: string(&given["name"]),
            executable: text(&given["executable"]),
            previous: text(&given["previous"]),
        },
        "sample_failed" => Event::SampleFailed { reason: string(&given["reason"]) },
        "counters_source_changed" => Event::CountersSourceChanged {
            source: origin(&given["source"]),
            previous: origin(&given["previous"]),
            reason: string(&given["reason"]),
            disagreed: given["disagreed"] == true,
        },
        _ => Event::Made(Fragment::new(given.to_string()).unwrap()),
    }
}

fn events(case: &Value) -> Value {
    let names: Vec<String> = list(&case["fields"]).iter().map(string).collect();
    let keys = Keys::new(names.iter().map(String::as_str));
    let mut out = Vec::new();
    event(&case["event"]).write(&mut out, &keys, case["group"] == true);
    json!(String::from_utf8(out).unwrap())
}

fn health(given: &Value) -> Health {
    Health {
        sample_mean_us: long(&given["sample_mean_us"]),
        effective_hz: given["effective_hz"].as_f64().unwrap(),
        requested_hz: given["requested_hz"].as_f64().unwrap(),
        cpu_percent: given["cpu_percent"].as_f64(),
        overhead_percent: given["overhead_percent"].as_f64(),
        slowed_by_backlog: given["slowed_by_backlog"] == true,
        counters_disagreement: text(&given["counters_disagreement"]),
        ledger_threads_uncounted: 3,
        ..Health::default()
    }
}

fn encoded(frame: &Frame) -> Value {
    json!({"seq": frame.seq, "data": hex(&frame.data), "key": frame.key, "baseline": frame.baseline})
}

/// Makes the frames of two samples: a key frame, and one with the events and changed rows.
fn frames(case: &Value) -> Value {
    let fields = fields(case);
    let is_group = case["group"] == true;
    let (rows, named) = rows_of(case, fields.len());
    let all: Vec<_> = (0..rows.len()).collect();
    let attach_ns = clock::monotonic_ns();
    let mut maker = FrameMaker::new("t-7-0000000a", &fields, is_group, attach_ns);
    let (shape, table) = table_of(&case["table"]);
    let mut tables = TableChanges::new(vec![shape]).unwrap();
    tables.take([(0, table)], 5);
    let exited = ExitedTotals {
        threads: long(&case["exited"]["threads"]),
        inexact: long(&case["exited"]["inexact"]),
        totals: totals(&case["exited"]["totals"]),
    };
    let group = is_group.then(|| GroupCounts {
        live: 2,
        missed: Some(0),
        check: Some(Fragment::new(string(&case["check"])).unwrap()),
        ..GroupCounts::default()
    });
    let (process, machine) = (string(&case["process_gauges"]), string(&case["machine"]));
    let health = health(&case["health"]);
    let common = Common {
        started_ns: attach_ns,
        live: rows.len() as u64,
        exited: &ExitedTotals::default(),
        process: &gauges(&process),
        machine: &Fragment::new(machine).unwrap(),
        health: &health,
        counters_from: None,
        group: group.as_ref(),
    };
    let roles = [
        RoleTotals { role: Some("w#".into()), live: 1, exited: 2, totals: exited.totals.clone() },
        RoleTotals::default(),
    ];
    let first = Sample {
        body: Body::Key { rows: &rows, chosen: &all, threads: &named },
        late_ns: 0,
        cpu_ns: None,
        roles: Some(&roles),
        tables: tables.next(true),
    };
    let mut made = maker.sample(Vec::new(), &common, &first);
    let common = Common {
        exited: &exited,
        counters_from: Some(Origin::Walk),
        live: long(&case["live"]),
        started_ns: attach_ns + 7,
        ..common
    };
    let second = Sample {
        body: Body::Delta { rows: &rows, chosen: &chosen(case) },
        late_ns: 5000,
        cpu_ns: Some(17),
        roles: None,
        tables: EncodedTables::NONE,
    };
    made.extend(maker.sample(list(&case["events"]).iter().map(event).collect(), &common, &second));
    made.iter().map(encoded).collect()
}

/// Nanoseconds that a frame of changed rows takes.
fn speed(case: &Value) -> Value {
    let fields = fields(case);
    let count = long(&case["rows"]) as usize;
    let mut rows = Rows::new(fields.len());
    for tid in 0..count {
        let row = rows.push(Identity { tid: tid as u32, ..Identity::default() });
        for column in 0..fields.len() {
            rows.set(row, column, (tid * 977 + column) as u64);
        }
    }
    let chosen: Vec<_> = (0..count).collect();
    let mut maker = FrameMaker::new("t-7-0000000a", &fields, false, 0);
    let given = (1 << fields.summed) - 1;
    let exited = ExitedTotals {
        totals: Totals { values: vec![1 << 40; fields.summed], given },
        ..ExitedTotals::default()
    };
    let (process, machine) = (string(&case["process_gauges"]), string(&case["machine"]));
    let common = Common {
        started_ns: clock::monotonic_ns(),
        live: count as u64,
        exited: &exited,
        process: &gauges(&process),
        machine: &Fragment::new(machine).unwrap(),
        health: &health(&case["health"]),
        counters_from: Some(Origin::Walk),
        group: None,
    };
    let sample = Sample {
        body: Body::Delta { rows: &rows, chosen: &chosen },
        late_ns: 0,
        cpu_ns: None,
        roles: None,
        tables: EncodedTables::NONE,
    };
    let times = long(&case["times"]);
    let before = clock::thread_cpu_ns();
    let mut bytes = 0;
    for _ in 0..times {
        bytes += maker
            .sample(Vec::new(), &common, &sample)
            .iter()
            .map(|one| one.data.len())
            .sum::<usize>();
    }
    let took = clock::thread_cpu_ns() - before;
    json!({"ns": took as f64 / times as f64, "bytes": bytes as u64 / times})
}

fn main() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for line in io::stdin().lock().lines() {
        let case: Value = serde_json::from_str(&line?)?;
        let made = match case["kind"].as_str() {
            Some("rows") => rows(&case),
            Some("table") => {
                let (shape, table) = table_of(&case);
                let mut tables = TableChanges::new(vec![shape]).unwrap();
                tables.take([(0, table)], 5);
                let encoded = tables.next(true);
                json!({"bytes": hex(encoded.bytes), "tables": encoded.described.len()})
            }
            Some("event") => events(&case),
            Some("frames") => frames(&case),
            _ => speed(&case),
        };
        writeln!(out, "{made}")?;
        out.flush()?;
    }
    Ok(())
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
        limits: limits(&read["limits"]),
    }
}

/// `GroupLimits` of the JSON that the models write.
fn limits(read: &serde_json::Value) -> Option<GroupLimits> {
    let whole = |name: &str| read[name].as_u64();
    read.is_object().then(|| GroupLimits {
        memory_bytes: whole("memory_bytes"),
        memory_hits: whole("memory_hits"),
        disk_bytes: whole("disk_bytes"),
        disk_ios: whole("disk_ios"),
        reads_limited_us: whole("reads_limited_us"),
        writes_limited_us: whole("writes_limited_us"),
    })
}
