//! Targets of the sampler: attaching them, and changes of what it knows of them.

use std::sync::{Arc, Mutex};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Sampler;
use crate::encode::events::Event;
use crate::encode::header::{GroupCounts, Health, ProcessGauges};
use crate::encode::table_changes::TableChanges;
use crate::encode::tables::Table;
use crate::engine::entry::{Entry, Following, Program};
use crate::engine::gauge::Gomaxprocs;
use crate::engine::kit::{Columns, Kit};
use crate::engine::schedule::Schedule;
use crate::engine::times::SampleTimes;
use crate::engine::CommonHealth;
use crate::fields::Fields;
use crate::os::clock::monotonic_ns;
use crate::os::wait::open_process;
use crate::processes::{LastSwitches, Processes};
use crate::python::convert::{
    column, ended, fragment, os_error, own, value_error, PyLimits, PyNewcomer, PyTarget,
};
use crate::slots::lock;
use crate::target::{Spec, Surroundings, Target};

#[pymethods]
impl Sampler {
    fn attach(&self, py: Python<'_>, target: PyTarget) -> PyResult<()> {
        let kit = Arc::clone(self.shared.as_ref().ok_or_else(ended)?);
        let (id, entry) = self.entry(&kit, target)?;
        self.ask(py, move |engine| {
            let mut entry = entry;
            if let Following::Reported { bit, boundary, .. } = &mut entry.following {
                let programs = engine.programs.as_mut().ok_or("no programs follow groups here")?;
                *bit = programs
                    .open(boundary)
                    .map_err(|error| error.to_string())?
                    .ok_or("too many groups")?;
                let pids = lock(&entry.processes).members.ids();
                for &pid in pids.iter() {
                    programs.add(*bit, pid).map_err(|error| error.to_string())?;
                }
            }
            let (_, believed) = entry.members();
            entry.target.follow(&believed).map_err(|error| error.to_string())?;
            engine.add(id, entry);
            Ok::<(), String>(())
        })?
        .map_err(pyo3::exceptions::PyOSError::new_err)
    }

    /// Adds processes to a group, or takes them out of it.
    fn change_members(
        &self,
        py: Python<'_>,
        target: String,
        come: Vec<PyNewcomer>,
        gone: Vec<(u32, i64)>,
    ) -> PyResult<()> {
        self.ask(py, move |engine| {
            let programs = engine.programs.take();
            if let Some(entry) = engine.entry(&target) {
                let mut processes = lock(&entry.processes);
                let bit = match entry.following {
                    Following::Reported { bit, .. } => Some(bit),
                    _ => None,
                };
                for (pid, at_ns) in gone {
                    processes.members.end(pid, at_ns, monotonic_ns());
                    if let (Some(bit), Some(programs)) = (bit, &programs) {
                        programs.remove(bit, pid);
                    }
                }
                for one in come {
                    let newcomer: crate::processes::Newcomer = one.into();
                    if let (Some(bit), Some(programs)) = (bit, &programs) {
                        // Whoever is not in the map is seen by samples, and its children are not.
                        let _ = programs.add(bit, newcomer.pid);
                    }
                    processes.members.add(newcomer);
                }
            }
            engine.programs = programs;
        })
    }

    /// Ends the sampling of a target; returns the number of its last frame.
    fn finish(&self, py: Python<'_>, target: String, exited: bool) -> PyResult<Option<u64>> {
        self.ask(py, move |engine| engine.finish(&target, exited))
    }

    /// Emits all of a target up to now; returns the last frame's number, and how many threads have exited.
    fn flush(&self, py: Python<'_>, target: String) -> PyResult<Option<(u64, u64)>> {
        self.ask(py, move |engine| engine.flush(&target))
    }

    /// Samples at another rate; `requested`: it is the one that was asked for. `event` tells of it.
    fn set_rate(
        &self,
        py: Python<'_>,
        target: String,
        rate_hz: f64,
        requested: bool,
        event: &str,
    ) -> PyResult<bool> {
        let event = Event::Made(fragment(event)?);
        self.ask_of(py, target, move |entry| {
            entry.schedule.change_rate(rate_hz, monotonic_ns());
            if requested {
                entry.requested_hz = rate_hz;
            }
            entry.target.report(event);
        })
        .map(|found| found.is_some())
    }

    /// Reports an event with the next frame.
    fn report(&self, py: Python<'_>, target: String, event: &str) -> PyResult<bool> {
        let event = Event::Made(fragment(event)?);
        self.ask_of(py, target, move |entry| entry.target.report(event)).map(|one| one.is_some())
    }

    /// Gives threads the names that their program has for them; `process`: those of this process only.
    #[pyo3(signature = (target, names, process=None, by_span=false))]
    fn rename(
        &self,
        target: String,
        mut names: Vec<(u32, String)>,
        process: Option<u32>,
        by_span: bool,
    ) -> PyResult<()> {
        self.tell_of(target, move |entry| {
            if let Some(process) = process {
                let threads = entry.target.tracker().threads();
                names.retain(|(tid, _)| threads.get(tid).is_some_and(|one| one.process == process));
            }
            for event in entry.target.tracker_mut().rename(&names, by_span) {
                entry.target.report(event);
            }
        })
    }

    /// Says which program the process runs now, so that another one is noticed.
    fn set_program(
        &self,
        target: String,
        now_executable: Option<String>,
        now_name: String,
    ) -> PyResult<()> {
        self.tell_of(target, move |entry| {
            if let Following::Process { program, .. } = &mut entry.following {
                program.executable = now_executable.map(Into::into);
                program.name = now_name;
                program.notified = false;
            }
        })
    }

    /// Reads GOMAXPROCS over another connection; None: not any more.
    #[pyo3(signature = (target, connection, size=None))]
    fn set_gomaxprocs(
        &self,
        target: String,
        connection: Option<i32>,
        size: Option<u64>,
    ) -> PyResult<()> {
        let connection = connection.map(own).transpose()?;
        self.tell_of(target, move |entry| {
            entry.gomaxprocs = connection.map(|one| Gomaxprocs::new(one, size));
            let process = &mut entry.target.surroundings.process;
            (process.gomaxprocs, process.gomaxprocs_missed) = (size, None);
        })
    }

    /// Gives what frames say of the process and the machine.
    #[allow(clippy::too_many_arguments)]
    fn set_gauges(
        &self,
        target: String,
        rss_bytes: Option<u64>,
        delay_accounting: Option<bool>,
        cpu_limit: Option<f64>,
        cgroup: (Option<u64>, Option<u64>, Option<u64>),
        limits: PyLimits,
        machine: &str,
        locks_reason: Option<String>,
    ) -> PyResult<()> {
        let machine = fragment(machine)?;
        self.tell_of(target, move |entry| {
            let surroundings = &mut entry.target.surroundings;
            let process = &mut surroundings.process;
            (process.rss_bytes, process.delay_accounting) = (rss_bytes, delay_accounting);
            process.cpu_limit = cpu_limit;
            (process.cgroup_periods, process.cgroup_throttled, process.cgroup_throttled_us) =
                cgroup;
            process.limits = limits.into();
            surroundings.machine = machine;
            entry.locks_reason = locks_reason;
        })
    }

    /// Gives what frames say of a group besides its threads.
    fn set_group(
        &self,
        target: String,
        missed: Option<u64>,
        check: Option<String>,
        cpu_ns: Option<u64>,
    ) -> PyResult<()> {
        let check = check.as_deref().map(fragment).transpose()?;
        self.tell_of(target, move |entry| {
            if let Some(group) = &mut entry.target.surroundings.group {
                (group.missed, group.check) = (missed, check);
            }
            entry.reported_cpu_ns = cpu_ns.or(entry.reported_cpu_ns);
        })
    }

    /// Gives the health of the whole collector: members of `CommonHealth` by name.
    fn set_health(&self, health: &Bound<'_, PyDict>) -> PyResult<()> {
        let get = |name: &str| {
            health.get_item(name)?.ok_or_else(|| value_error(format!("health without {name}")))
        };
        let health = CommonHealth {
            cpu_percent: get("cpu_percent")?.extract()?,
            overhead_percent: get("overhead_percent")?.extract()?,
            budget_percent: get("budget_percent")?.extract()?,
            replay_bytes: get("replay_bytes")?.extract()?,
            replay_frames: get("replay_frames")?.extract()?,
            unsent_frames: get("unsent_frames")?.extract()?,
            sent_frames: get("sent_frames")?.extract()?,
            sent_bytes: get("sent_bytes")?.extract()?,
            slowed_by_backlog: get("slowed_by_backlog")?.extract()?,
            undelivered_bytes: get("undelivered_bytes")?.extract()?,
            frames_dropped: get("frames_dropped")?.extract()?,
        };
        self.tell(move |engine| engine.health = health)
    }

    /// Gives the tables of a target, by the name of the table, by columns: all rows as they are now; of
    /// logs those that are new or completed.
    fn give_tables(
        &self,
        target: String,
        tables: &Bound<'_, PyDict>,
        read_ns: i64,
    ) -> PyResult<()> {
        let kit = self.shared.as_ref().ok_or_else(ended)?;
        let mut given = Vec::new();
        for (name, columns) in tables {
            let name: String = name.extract()?;
            let place = kit
                .shapes
                .iter()
                .position(|shape| shape.name == name)
                .ok_or_else(|| value_error(format!("no table {name}")))?;
            let shape = &kit.shapes[place];
            let columns: Vec<Bound<'_, PyAny>> = columns.extract()?;
            if columns.len() != shape.columns.len() {
                return Err(value_error(format!("table {name} has other columns")));
            }
            let columns = shape
                .columns
                .iter()
                .zip(&columns)
                .map(|((_, kind), values)| column(*kind, values))
                .collect::<PyResult<Vec<_>>>()?;
            given.push((place, Table::of(shape, columns).map_err(value_error)?));
        }
        self.tell_of(target, move |entry| entry.target.tables.take(given, read_ns))
    }
}

impl Sampler {
    fn entry(&self, kit: &Kit, target: PyTarget) -> PyResult<(String, Entry)> {
        let fields = Fields::new(target.fields).map_err(value_error)?;
        let columns = Columns {
            base: target.base,
            fields: fields.clone(),
            delays_from_ns: target.delays_from_ns,
            network: target.network,
            walk: target.walk,
        };
        let (sources, watcher) = kit.sources(&columns, target.attach_ns).map_err(value_error)?;
        let mut processes = Processes::new(kit.max_names);
        for member in target.members {
            processes.members.add(member.into());
        }
        let processes = Arc::new(Mutex::new(processes));
        let following = match (target.boundary, target.program) {
            (Some(boundary), _) => Following::Reported {
                bit: 0,
                boundary: boundary.into(),
                ends_empty: target.ends_empty,
            },
            (None, Some((link, executable, name))) => Following::Process {
                pid: target.lead,
                alive: open_process(target.lead).map_err(|error| os_error(&error))?,
                program: Program {
                    link: link.into(),
                    executable: executable.map(Into::into),
                    name,
                    executed: None,
                    notified: false,
                },
            },
            (None, None) => Following::Listed { ends_empty: target.ends_empty },
        };
        let spec = Spec {
            id: target.id.clone(),
            fields,
            attach_ns: target.attach_ns,
            is_group: target.is_group,
            has_other_exits: target.has_other_exits,
            role_names: kit.role_names(target.role_rules),
            max_roles: kit.max_roles,
        };
        let surroundings = Surroundings {
            process: ProcessGauges {
                gomaxprocs: target.size,
                rss_bytes: target.rss_bytes,
                delay_accounting: target.delay_accounting,
                cpu_limit: target.cpu_limit,
                cgroup_periods: target.cgroup.0,
                cgroup_throttled: target.cgroup.1,
                cgroup_throttled_us: target.cgroup.2,
                limits: target.limits.into(),
                ..ProcessGauges::default()
            },
            machine: fragment(&target.machine)?,
            health: Health::default(),
            group: target
                .is_group
                .then(|| GroupCounts { missed: target.missed, ..GroupCounts::default() }),
        };
        let tables = TableChanges::new(kit.shapes.clone()).map_err(value_error)?;
        let notes = Box::new(Arc::clone(&processes));
        let made = Target::new(spec, sources, tables, notes, surroundings);
        let switches = matches!(following, Following::Reported { .. }) && !made.settles_cpu();
        let gomaxprocs = match target.gomaxprocs {
            Some(connection) => Some(Gomaxprocs::new(own(connection)?, target.size)),
            None => None,
        };
        let entry = Entry {
            target: made,
            schedule: Schedule::new(target.rate_hz, monotonic_ns()),
            requested_hz: target.rate_hz,
            processes,
            lead: target.lead,
            reported_cpu_ns: None,
            following,
            last_switches: switches.then(LastSwitches::default),
            decoder: kit.decoder(&columns).map_err(value_error)?,
            gomaxprocs,
            times: SampleTimes::default(),
            spent_ns: 0,
            bytes: 0,
            lost_reported: 0,
            exit_code: None,
            leaving: std::collections::VecDeque::new(),
            cpu_due_ns: 0,
            ending_until_ns: None,
            watcher,
            locks_reason: target.locks_reason,
            notified_empty: false,
            tell_sample: false,
        };
        Ok((target.id, entry))
    }
}
