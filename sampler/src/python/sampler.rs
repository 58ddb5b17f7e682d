//! The class `Sampler`: targets at work in a thread of their own.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, AsRawFd};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::convert::{
    column, ended, fragment, notice, os_error, own, shape, value_error, PyLimits, PyNewcomer,
    PyTarget, TableShape,
};
use super::link::Link;
use crate::columns::{text, Totals};
use crate::encode::events::Event;
use crate::encode::frame::Frame;
use crate::encode::header::{GroupCounts, Health, ProcessGauges};
use crate::encode::table_changes::TableChanges;
use crate::encode::tables::{Shape, Table};
use crate::engine::entry::{Entry, Following, Program};
use crate::engine::gauge::Gomaxprocs;
use crate::engine::kit::{Columns, Kit};
use crate::engine::notices::Board;
use crate::engine::schedule::Schedule;
use crate::engine::times::SampleTimes;
use crate::engine::{CommonHealth, Engine, ExitRecords, Handle, Running, Sink};
use crate::fields::Fields;
use crate::ledger::tables::{Column as WaitColumn, Counting, WaitMaps, WaitTables};
use crate::ledger::{self, Keeper};
use crate::network::Accounts;
use crate::os::clock::monotonic_ns;
use crate::os::wait::open_process;
use crate::processes::{GroupMaps, GroupPrograms, LastSwitches, Processes};
use crate::slots::{lock, Maps};
use crate::target::{Spec, Surroundings, Target};
use crate::taskstats::{ExitListener, Kernel, Layout, Query};
use crate::validate::Instead;
use crate::walk::{Block, Program as WalkProgram, Visits, Walker};

/// Nanoseconds of CPU and bytes of frames, by target.
type SpentByTarget = BTreeMap<String, (i64, u64)>;

/// Parts that the engine is made of when it starts.
struct Setup {
    /// None: the engine was made.
    kit: Option<Kit>,
    exits: Option<ExitListener>,
    programs: Option<GroupPrograms>,
    /// None: frames are discarded.
    sink: Option<Box<dyn Sink>>,
}

/// Takes frames that nobody wants.
struct Nowhere;

impl Sink for Nowhere {
    fn add(&mut self, _: &str, _: Frame) {}

    fn is_stalled(&self) -> bool {
        false
    }
}

/// Samples targets in a thread of its own.
#[pyclass]
pub struct Sampler {
    setup: Mutex<Setup>,
    shared: Option<Arc<Kit>>,
    running: Option<Running>,
    board: Board,
}

impl Sampler {
    fn set_up<T>(&self, change: impl FnOnce(&mut Kit) -> PyResult<T>) -> PyResult<T> {
        let mut setup = lock(&self.setup);
        change(setup.kit.as_mut().ok_or_else(|| value_error("the sampler has started"))?)
    }

    fn handle(&self) -> PyResult<Handle> {
        self.running.as_ref().map(|running| running.handle().clone()).ok_or_else(ended)
    }

    /// Runs something in the thread of the sampler, and waits for it without Python's lock.
    fn ask<T: Send + 'static>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&mut Engine) -> T + Send + 'static,
    ) -> PyResult<T> {
        let handle = self.handle()?;
        py.detach(|| handle.ask(action)).ok_or_else(ended)
    }

    /// Runs an action on one target in the sampler's thread, and waits; None if the target is not sampled.
    fn ask_of<T: Send + 'static>(
        &self,
        py: Python<'_>,
        target: String,
        action: impl FnOnce(&mut Entry) -> T + Send + 'static,
    ) -> PyResult<Option<T>> {
        self.ask(py, move |engine| engine.entry(&target).map(action))
    }

    /// Lets the sampler do something before its next sample, without waiting for it.
    fn tell(&self, action: impl FnOnce(&mut Engine) + Send + 'static) -> PyResult<()> {
        self.handle()?.tell(action).then_some(()).ok_or_else(ended)
    }

    /// Queues an action on one target, if the target is sampled.
    fn tell_of(
        &self,
        target: String,
        action: impl FnOnce(&mut Entry) + Send + 'static,
    ) -> PyResult<()> {
        self.tell(move |engine| engine.entry(&target).map_or((), action))
    }
}

fn maps(slots: i32, control: i32, watched: i32, targets: i32, vacant: i32) -> PyResult<Maps> {
    Ok(Maps {
        slots: own(slots)?,
        control: own(control)?,
        watched: own(watched)?,
        targets: own(targets)?,
        vacant: own(vacant)?,
    })
}

#[pymethods]
impl Sampler {
    #[new]
    fn new(
        procfs: PathBuf,
        role_words: Vec<String>,
        max_roles: usize,
        max_names: usize,
        tables: Vec<TableShape>,
    ) -> PyResult<Self> {
        let shapes = tables.into_iter().map(shape).collect::<PyResult<Vec<Shape>>>()?;
        let kit = Kit {
            procfs,
            role_words,
            max_roles,
            max_names,
            shapes,
            taskstats: None,
            walker: None,
            keeper: None,
            wait_tables: None,
            accounts: None,
            disagreement: OnceLock::new(),
        };
        Ok(Self {
            setup: Mutex::new(Setup { kit: Some(kit), exits: None, programs: None, sink: None }),
            shared: None,
            running: None,
            board: Board::new().map_err(|error| os_error(&error))?,
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn use_taskstats(
        &self,
        socket: i32,
        family: u16,
        payload: usize,
        version: u16,
        length: usize,
        profile: &str,
        offsets: Vec<(String, usize)>,
    ) -> PyResult<()> {
        let layout = Layout::new(version, length, profile, offsets).map_err(value_error)?;
        let kernel = Kernel { family, payload, layout };
        let query = Arc::new(Mutex::new(Query::new(kernel.clone(), own(socket)?)));
        self.set_up(|kit| {
            kit.taskstats = Some((kernel, query));
            Ok(())
        })
    }

    fn use_exits(&self, links: Vec<(u16, i32)>) -> PyResult<()> {
        let (kernel, _) = self
            .set_up(|kit| kit.taskstats.clone().ok_or_else(|| value_error("without taskstats")))?;
        let sockets = links
            .into_iter()
            .map(|(cpu, socket)| Ok((cpu, own(socket)?)))
            .collect::<PyResult<Vec<_>>>()?;
        let listener = ExitListener::new(kernel, sockets).map_err(|error| os_error(&error))?;
        lock(&self.setup).exits = Some(listener);
        Ok(())
    }

    #[pyo3(signature = (blocks, program, visits=None))]
    fn use_walk(&self, blocks: i32, program: i32, visits: Option<i32>) -> PyResult<()> {
        let block = Block::new(own(blocks)?.as_fd()).map_err(|error| os_error(&error))?;
        let program = own(program)?;
        let program = match visits {
            Some(visits) => {
                let visits = Visits::new(own(visits)?.as_fd()).map_err(|error| os_error(&error))?;
                WalkProgram::Members { program, visits }
            }
            None => WalkProgram::Iterators { program, links: Vec::new() },
        };
        self.set_up(|kit| {
            kit.walker = Some(Arc::new(Mutex::new(Walker::new(block, program))));
            Ok(())
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn use_ledger(
        &self,
        slots: i32,
        control: i32,
        watched: i32,
        targets: i32,
        vacant: i32,
        details: i32,
        walks: (i32, i32),
        beside: (i32, i32, i32, i32),
        counts_calls: bool,
    ) -> PyResult<()> {
        let (edges, takers, calls, names) = beside;
        let beside = WaitMaps {
            edges: own(edges)?,
            takers: own(takers)?,
            calls: own(calls)?,
            names: own(names)?,
        };
        let maps = maps(slots, control, watched, targets, vacant)?;
        let (begin, let_go) = (own(walks.0)?, own(walks.1)?);
        let program = ledger::Program { maps, details: own(details)?, begin, let_go };
        self.set_up(|kit| {
            let keeper =
                Keeper::new(program, kit.procfs.clone()).map_err(|error| os_error(&error))?;
            let keeper = Arc::new(Mutex::new(keeper));
            let counting = Counting::new(beside, counts_calls, kit.procfs.clone());
            kit.wait_tables = Some(WaitTables::new(Arc::clone(&keeper), counting));
            kit.keeper = Some(keeper);
            Ok(())
        })
    }

    #[pyo3(signature = (slots, control, watched, targets, vacant, uncounted=None))]
    fn use_network(
        &self,
        slots: i32,
        control: i32,
        watched: i32,
        targets: i32,
        vacant: i32,
        uncounted: Option<i32>,
    ) -> PyResult<()> {
        let maps = maps(slots, control, watched, targets, vacant)?;
        let uncounted = uncounted.map(own).transpose()?;
        let accounts = Accounts::new(maps, uncounted).map_err(|error| os_error(&error))?;
        self.set_up(|kit| {
            kit.accounts = Some(Arc::new(Mutex::new(accounts)));
            Ok(())
        })
    }

    #[allow(clippy::too_many_arguments)]
    fn use_groups(
        &self,
        events: i32,
        members: i32,
        unfinished: i32,
        cgroups: i32,
        control: i32,
        v1_hierarchy: u32,
        lent: u32,
    ) -> PyResult<()> {
        let maps = GroupMaps {
            events: own(events)?,
            members: own(members)?,
            unfinished: own(unfinished)?,
            cgroups: own(cgroups)?,
            control: own(control)?,
        };
        let programs =
            GroupPrograms::new(maps, v1_hierarchy, lent).map_err(|error| os_error(&error))?;
        lock(&self.setup).programs = Some(programs);
        Ok(())
    }

    /// Sends frames over a link.
    fn use_link(&self, link: &Link) {
        lock(&self.setup).sink = Some(link.sink());
    }

    /// Walks a process, and compares with taskstats: why it cannot be walked; None if it can.
    fn check_walk(
        &self,
        py: Python<'_>,
        pid: u32,
        base: Vec<(String, String)>,
    ) -> PyResult<Option<String>> {
        let setup = lock(&self.setup);
        let kit = setup.kit.as_ref().ok_or_else(|| value_error("the sampler has started"))?;
        py.detach(|| kit.check_walk(pid, base)).map_err(value_error)
    }

    /// Gives walks up, before the start.
    fn leave_out_walk(&self) -> PyResult<()> {
        self.set_up(|kit| {
            kit.walker = None;
            Ok(())
        })
    }

    /// First disagreement of a walk and taskstats, or None.
    fn disagreement(&self) -> Option<String> {
        self.shared.as_ref()?.disagreement.get().cloned()
    }

    /// Notifies Python once its next sample was taken.
    fn tell_sample(&self, py: Python<'_>, target: String) -> PyResult<()> {
        self.ask_of(py, target, |entry| entry.tell_sample = true).map(drop)
    }

    fn start(&mut self) -> PyResult<()> {
        let mut setup = lock(&self.setup);
        let kit = Arc::new(setup.kit.take().ok_or_else(|| value_error("it has started"))?);
        self.shared = Some(Arc::clone(&kit));
        let exits = setup.exits.take().map(ExitRecords::new);
        let sink = setup.sink.take().unwrap_or_else(|| Box::new(Nowhere));
        let engine = Engine::new(kit, exits, setup.programs.take(), sink, self.board.clone());
        self.running = Some(engine.start().map_err(|error| os_error(&error))?);
        Ok(())
    }

    fn stop(&mut self, py: Python<'_>) {
        if let Some(mut running) = self.running.take() {
            py.detach(|| running.stop());
        }
    }

    /// Descriptor that is readable while there are notices.
    fn notices_fileno(&self) -> i32 {
        self.board.waker().as_fd().as_raw_fd()
    }

    fn take_notices<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let made = PyDict::new(py);
        for (target, one) in self.board.take() {
            made.set_item(target, notice(py, &one)?)?;
        }
        Ok(made)
    }

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

    /// CPU that sampling took since this was asked last: of the thread, and by target with bytes of frames.
    fn take_spent(&self, py: Python<'_>) -> PyResult<(i64, SpentByTarget)> {
        self.ask(py, Engine::take_spent).map(|spent| (spent.thread_ns, spent.targets))
    }

    /// Sum of columns over all threads of a target, the ended ones too.
    fn total(&self, py: Python<'_>, target: String, fields: Vec<String>) -> PyResult<Option<u64>> {
        self.ask_of(py, target, move |entry| {
            let tracker = entry.target.tracker();
            let columns: Vec<usize> =
                fields.iter().filter_map(|name| tracker.fields().find(name)).collect();
            tracker.total(&columns)
        })
    }

    /// Processes of a target that live or ended lately: number, parent's number, id, start, clock ticks from
    /// boot to the start, name, user, whether counters had begun before, whether a sample saw it, end.
    #[allow(clippy::type_complexity)]
    fn members(
        &self,
        py: Python<'_>,
        target: String,
    ) -> PyResult<Option<Vec<(u32, u32, u32, i64, u64, String, Option<u32>, bool, bool, i64)>>>
    {
        self.ask_of(py, target, |entry| {
            let processes = lock(&entry.processes);
            let members = processes.members.alive().chain(processes.members.ended_lately());
            members
                .map(|one| {
                    let process = &one.process;
                    (
                        one.number,
                        one.parent,
                        process.pid,
                        process.start_ns,
                        process.start_ticks,
                        process.name.clone(),
                        process.uid,
                        process.before,
                        one.seen,
                        one.ended_ns,
                    )
                })
                .collect()
        })
    }

    /// Sums of the processes of a target: number, id, name, whether it lives, live threads, ended threads,
    /// processes of the row, sums of the columns `fields`.
    #[allow(clippy::type_complexity)]
    fn process_rows(
        &self,
        py: Python<'_>,
        target: String,
        fields: Vec<String>,
    ) -> PyResult<Option<Vec<(u32, Option<u32>, String, bool, u64, u64, u64, Vec<u64>)>>> {
        let ending = target.clone();
        self.ask(py, move |engine| {
            // The rows of a target that has ended are its last ones.
            engine.take_in_last(&ending);
        })?;
        self.ask_of(py, target, move |entry| {
            let now_ns = monotonic_ns();
            let tracker = entry.target.tracker();
            let columns: Vec<Option<usize>> =
                fields.iter().map(|name| tracker.fields().find(name)).collect();
            let rows = lock(&entry.processes).rows(tracker.live_totals(now_ns), now_ns);
            let value = |totals: &Totals, column: Option<usize>| {
                column.and_then(|column| totals.get(column)).unwrap_or(0)
            };
            rows.into_iter()
                .map(|row| {
                    let sums = columns.iter().map(|&column| value(&row.totals, column)).collect();
                    let ended = row.threads_ended;
                    (row.number, row.pid, row.name, row.live, row.threads, ended, row.count, sums)
                })
                .collect()
        })
    }

    /// Counters of the kernel that cannot be: thread, name of the column, what the kernel says, life of the
    /// thread in nanoseconds, whether the ledger's value replaces it.
    #[allow(clippy::type_complexity)]
    fn inexact(
        &self,
        py: Python<'_>,
        target: String,
    ) -> PyResult<Option<Vec<(u32, String, u64, i64, bool)>>> {
        self.ask_of(py, target, |entry| {
            let names = entry.target.tracker().fields().names().to_vec();
            let of_ledger = |one: Instead| one == Instead::Ledger;
            entry
                .target
                .inexact()
                .into_iter()
                .map(|one| {
                    let name = names[one.column].clone();
                    (one.tid, name, one.kernel, one.life_ns, of_ledger(one.instead))
                })
                .collect()
        })
    }

    /// Threads of a target whose reads of TCP sockets were not counted: thread, number of reads, life in
    /// nanoseconds.
    fn uncounted_reads(
        &self,
        py: Python<'_>,
        target: String,
    ) -> PyResult<Option<Vec<(u32, u64, u64)>>> {
        let kit = Arc::clone(self.shared.as_ref().ok_or_else(ended)?);
        let found = self.ask_of(py, target, move |entry| {
            let Some(accounts) = &kit.accounts else { return Ok(Vec::new()) };
            let (_, believed) = entry.members();
            lock(accounts).uncounted_reads(&believed, entry.target.tracker().rows())
        })?;
        let found = found.transpose().map_err(|error| os_error(&error))?;
        Ok(found.map(|all| all.iter().map(|one| (one.tid, one.count, one.life_ns)).collect()))
    }

    /// Tables beside the ledgers of a target: by name of the table, by name of the column, whether values
    /// have 64 bits, and their bytes; and processes by key: name, start in clock ticks since boot, whether it
    /// is a kernel thread, and whether it stands for further ones of its name. None without ledgers.
    #[allow(clippy::type_complexity)]
    fn wait_tables<'py>(
        &self,
        py: Python<'py>,
        target: String,
    ) -> PyResult<Option<(Bound<'py, PyDict>, Vec<(u32, String, u64, bool, bool)>)>> {
        let kit = Arc::clone(self.shared.as_ref().ok_or_else(ended)?);
        let watcher = self.ask_of(py, target, |entry| entry.watcher)?.flatten();
        let (Some(watcher), Some(tables)) = (watcher, kit.wait_tables.clone()) else {
            return Ok(None);
        };
        let read = py
            .detach(|| tables.read(watcher))
            .map_err(|error| pyo3::exceptions::PyOSError::new_err(error.to_string()))?;
        let made = PyDict::new(py);
        for table in &read.tables {
            let columns = PyDict::new(py);
            for (name, column) in &table.columns {
                let value = match column {
                    WaitColumn::U32(values) => (false, bytes(py, values, u32::to_ne_bytes)),
                    WaitColumn::U64(values) => (true, bytes(py, values, u64::to_ne_bytes)),
                };
                columns.set_item(name, value)?;
            }
            made.set_item(table.name, columns)?;
        }
        let processes = read
            .processes
            .iter()
            .map(|(key, one)| (*key, text(&one.name), one.start_ticks, one.kernel, one.is_many));
        Ok(Some((made, processes.collect())))
    }

    /// Live threads of a target: id, process, start since attach, name, name in the kernel.
    #[allow(clippy::type_complexity)]
    fn threads(
        &self,
        py: Python<'_>,
        target: String,
    ) -> PyResult<Option<Vec<(u32, u32, i64, String, String)>>> {
        self.ask_of(py, target, |entry| {
            let threads = entry.target.tracker().threads();
            threads
                .iter()
                .map(|(&tid, one)| {
                    (tid, one.process, one.start_ns, one.name.clone(), one.comm().to_owned())
                })
                .collect()
        })
    }
}

/// Values as bytes of the machine's order.
fn bytes<'py, T: Copy, const N: usize>(
    py: Python<'py>,
    values: &[T],
    of: impl Fn(T) -> [u8; N],
) -> Bound<'py, PyBytes> {
    let all: Vec<u8> = values.iter().flat_map(|&value| of(value)).collect();
    PyBytes::new(py, &all)
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
