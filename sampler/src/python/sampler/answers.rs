//! What the sampler knows of its targets, as Python asks for it.

use std::collections::BTreeMap;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use super::Sampler;
use crate::columns::{text, Totals};
use crate::engine::Engine;
use crate::ledger::tables::Column as WaitColumn;
use crate::os::clock::monotonic_ns;
use crate::python::convert::{ended, os_error};
use crate::slots::lock;
use crate::validate::Instead;

/// Nanoseconds of CPU and bytes of frames, by target.
type SpentByTarget = BTreeMap<String, (i64, u64)>;

#[pymethods]
impl Sampler {
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
