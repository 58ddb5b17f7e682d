//! A source and a join of whatever a test says, and targets that use them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

use crate::columns::{comm, Exits, Identity, Rows};
use crate::compare::RoleNames;
use crate::encode::frame::Frame;
use crate::encode::header::{Health, ProcessGauges};
use crate::encode::json::Fragment;
use crate::encode::table_changes::TableChanges;
use crate::fields::{Fields, CPU};
use crate::os::clock::monotonic_ns;
use crate::processes::{Newcomer, Processes, SharedProcesses};
use crate::source::{Join, Late, Origin, ReadError, Source};
use crate::target::{Sources, Spec, Surroundings, Target};

/// Columns of the targets: that of the source, and that of the join.
pub const NAMES: [&str; 2] = [CPU, "net_read_bytes"];

/// Answers of a scripted source and join.
#[derive(Default)]
pub struct Script {
    /// Thread, process, time on a CPU.
    pub threads: Vec<(u32, u32, u64)>,
    /// Ids that were listed; None: those of the threads.
    pub listed: Option<Vec<u32>>,
    /// Why the next readings fail: text, and whether a check failed.
    pub failure: Option<(&'static str, bool)>,
    /// How long a reading takes.
    pub takes: Duration,
    /// Late totals of the join.
    pub late: Vec<Late>,
    /// True if the join cannot read.
    pub join_fails: bool,
    /// Processes that the join follows.
    pub followed: Vec<u32>,
}

pub type Shared = Arc<Mutex<Script>>;

pub fn script(threads: &[(u32, u32, u64)]) -> Shared {
    Arc::new(Mutex::new(Script { threads: threads.to_vec(), ..Script::default() }))
}

struct Scripted {
    script: Shared,
    origin: Origin,
    listed: Option<Vec<u32>>,
}

impl Source for Scripted {
    fn origin(&self) -> Origin {
        self.origin
    }

    fn read(&mut self, members: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let script = self.script.lock().unwrap();
        let takes = script.takes;
        if self.origin == Origin::Walk {
            match script.failure {
                Some((text, true)) => return Err(ReadError::Disagreement(text.into())),
                Some((text, false)) => return Err(ReadError::Kernel(text.into())),
                None => {}
            }
        }
        for &(tid, process, cpu) in &script.threads {
            if members.contains(&process) {
                let seen_ns = monotonic_ns();
                let row =
                    rows.push(Identity { tid, process, start_ns: 5, seen_ns, comm: comm(b"work") });
                rows.set(row, 0, cpu);
            }
        }
        self.listed.clone_from(&script.listed);
        drop(script);
        std::thread::sleep(takes);
        Ok(())
    }

    fn listed(&self) -> Option<&[u32]> {
        self.listed.as_deref()
    }
}

/// Gives each thread ten times its id.
struct Beside(Shared);

impl Join for Beside {
    fn follow(&mut self, members: &[u32]) -> Result<(), ReadError> {
        self.0.lock().unwrap().followed = members.to_vec();
        Ok(())
    }

    fn take_late(&mut self) -> Vec<Late> {
        std::mem::take(&mut self.0.lock().unwrap().late)
    }

    fn begin(&mut self, _: &[u32]) -> Result<(), ReadError> {
        Ok(())
    }

    fn join(&mut self, rows: &mut Rows) -> Result<(), ReadError> {
        for row in 0..rows.len() {
            rows.set(row, 1, 10 * u64::from(rows.tid[row]));
        }
        Ok(())
    }

    fn join_exits(&mut self, exits: &mut Exits) -> Result<(), ReadError> {
        if self.0.lock().unwrap().join_fails {
            exits.rows.absent.iter_mut().for_each(|absent| *absent |= 0b10);
            return Err(ReadError::Kernel("no join".into()));
        }
        self.join(&mut exits.rows)
    }
}

/// A target of what the script says: walks, which taskstats stands in for if `checked`.
pub fn target(id: &str, script: &Shared, checked: bool, processes: &SharedProcesses) -> Target {
    let scripted = |origin| Box::new(Scripted { script: Arc::clone(script), origin, listed: None });
    let spec = Spec {
        id: id.into(),
        fields: Fields::new(NAMES).unwrap(),
        attach_ns: monotonic_ns(),
        is_group: true,
        has_other_exits: false,
        role_names: RoleNames::default(),
        max_roles: 63,
    };
    let sources = Sources {
        source: scripted(Origin::Walk),
        fallback: checked.then(|| scripted(Origin::Genetlink) as Box<dyn Source>),
        joins: vec![Box::new(Beside(Arc::clone(script)))],
    };
    let surroundings = Surroundings {
        process: ProcessGauges::default(),
        machine: Fragment::new("{}").unwrap(),
        health: Health::default(),
        group: None,
    };
    let tables = TableChanges::new(Vec::new()).unwrap();
    Target::new(spec, sources, tables, Box::new(Arc::clone(processes)), surroundings)
}

/// Processes of a target, of which these are there from the start.
pub fn processes(pids: &[u32]) -> SharedProcesses {
    let mut made = Processes::new(8);
    for &pid in pids {
        made.members.add(Newcomer { pid, name: "made".into(), ..Newcomer::default() });
    }
    Arc::new(Mutex::new(made))
}

/// Exit records of these threads: thread, process, time on a CPU.
pub fn exits(ended: &[(u32, u32, u64)]) -> Exits {
    let mut made = Exits { drained_ns: monotonic_ns(), ..Exits::new(NAMES.len()) };
    for &(tid, process, cpu) in ended {
        let row =
            made.rows.push(Identity { tid, process, start_ns: 5, seen_ns: 5, comm: comm(b"work") });
        made.rows.set(row, 0, cpu);
        made.age_us.push(1);
    }
    made
}

/// The header of a frame.
pub fn header(frame: &Frame) -> Value {
    let length = u32::from_le_bytes(frame.data[..4].try_into().unwrap()) as usize;
    serde_json::from_slice(&frame.data[4..4 + length]).unwrap()
}

/// Events of a kind in a header.
pub fn events<'a>(header: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = header["events"].as_array().map(Vec::as_slice).unwrap_or_default();
    all.iter().filter(|event| event["type"] == kind).collect()
}
