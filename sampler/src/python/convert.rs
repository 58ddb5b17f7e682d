//! From Python's objects to the sampler's, and back.

use std::os::fd::OwnedFd;

use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::encode::arrow::Kind;
use crate::encode::header::GroupLimits;
use crate::encode::json::Fragment;
use crate::encode::tables::{Column, RowKind, Shape, Texts};
use crate::os::descriptors::duplicate;
use crate::processes::{Boundary, Match, Newcomer};

/// The error of a value that cannot be.
pub fn value_error(text: impl Into<String>) -> PyErr {
    PyValueError::new_err(text.into())
}

/// The error of a call that came too late: the sampler has ended.
pub fn ended() -> PyErr {
    PyRuntimeError::new_err("the sampler has ended")
}

/// An error of the kernel.
pub fn os_error(error: &std::io::Error) -> PyErr {
    match error.raw_os_error() {
        Some(number) => PyOSError::new_err((number, error.to_string())),
        None => PyOSError::new_err(error.to_string()),
    }
}

/// A descriptor of the sampler's own of what Python has opened.
pub fn own(descriptor: i32) -> PyResult<OwnedFd> {
    duplicate(descriptor).map_err(|error| os_error(&error))
}

/// JSON of an object.
pub fn fragment(text: &str) -> PyResult<Fragment> {
    Fragment::new(text).map_err(value_error)
}

/// Shapes of tables: name, columns and their kinds, number of keys, what rows are.
pub type TableShape = (String, Vec<(String, String)>, usize, String);

/// Makes the shape of a table.
pub fn shape((name, columns, keys, rows): TableShape) -> PyResult<Shape> {
    let kind = |kind: &str| match kind {
        "uint32" => Ok(Kind::U32),
        "uint64" => Ok(Kind::U64),
        "utf8" => Ok(Kind::Text),
        _ => Err(value_error(format!("column of kind {kind}"))),
    };
    let columns = columns
        .into_iter()
        .map(|(column, name)| Ok((column, kind(&name)?)))
        .collect::<PyResult<Vec<_>>>()?;
    let rows = match rows.as_str() {
        "figures" => RowKind::Figures,
        "names" => RowKind::Names,
        "log" => RowKind::Log,
        _ => return Err(value_error(format!("table {name} of {rows}"))),
    };
    Ok(Shape { name, columns, keys, rows })
}

/// Makes a column of a table: numbers of their bytes in the machine's order, texts of a list.
pub fn column(kind: Kind, values: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(bytes) = values.cast::<PyBytes>() {
        return match kind {
            Kind::U32 => words(bytes.as_bytes(), u32::from_ne_bytes).map(Column::U32),
            Kind::U64 | Kind::I64 => words(bytes.as_bytes(), u64::from_ne_bytes).map(Column::U64),
            Kind::Text => Err(value_error("texts as bytes")),
        };
    }
    Ok(match kind {
        Kind::U32 => Column::U32(values.extract()?),
        Kind::U64 | Kind::I64 => Column::U64(values.extract()?),
        Kind::Text => {
            let mut texts = Texts::default();
            for text in values.try_iter()? {
                texts.push(&text?.extract::<String>()?);
            }
            Column::Text(texts)
        }
    })
}

fn words<T, const N: usize>(bytes: &[u8], of: impl Fn([u8; N]) -> T) -> PyResult<Vec<T>> {
    let (words, rest) = bytes.as_chunks::<N>();
    if rest.is_empty() {
        Ok(words.iter().map(|&word| of(word)).collect())
    } else {
        Err(value_error("a column of broken numbers"))
    }
}

/// A process that comes into a target: members of `Newcomer` by name.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyNewcomer {
    pid: u32,
    parent: u32,
    start_ns: i64,
    start_ticks: u64,
    name: String,
    uid: Option<u32>,
    at_attach: bool,
    before: bool,
}

impl From<PyNewcomer> for Newcomer {
    fn from(one: PyNewcomer) -> Self {
        let PyNewcomer { pid, parent, start_ns, start_ticks, name, uid, at_attach, before } = one;
        let moved_ns = None;
        Self { pid, parent, start_ns, start_ticks, name, uid, at_attach, before, moved_ns }
    }
}

/// How the processes of a target are followed.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyBoundary {
    inherited: bool,
    matched: bool,
    cgroups: Vec<(u64, u64)>,
    exact: Option<(Vec<String>, Vec<u32>)>,
}

impl From<PyBoundary> for Boundary {
    fn from(one: PyBoundary) -> Self {
        let cgroups = one.cgroups.into_iter().map(|(id, hierarchy)| [id, hierarchy]).collect();
        let exact = one.exact.map(|(names, users)| Match { names, users });
        Self { inherited: one.inherited, matched: one.matched, cgroups, exact }
    }
}

/// `GroupLimits`, in the order of its members.
#[derive(Clone, Copy, FromPyObject)]
pub struct PyLimits(Option<u64>, Option<u64>, Option<u64>, Option<u64>, Option<u64>, Option<u64>);

impl From<PyLimits> for Option<GroupLimits> {
    fn from(one: PyLimits) -> Self {
        let limits = GroupLimits {
            memory_bytes: one.0,
            memory_hits: one.1,
            disk_bytes: one.2,
            disk_ios: one.3,
            reads_limited_us: one.4,
            writes_limited_us: one.5,
        };
        (limits != GroupLimits::default()).then_some(limits)
    }
}

/// Description of a target.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct PyTarget {
    /// Id on the wire.
    pub id: String,
    /// CLOCK_MONOTONIC of the attachment.
    pub attach_ns: i64,
    /// Samples a second.
    pub rate_hz: f64,
    /// True if frames say which process a thread is of.
    pub is_group: bool,
    /// True if exit records do not tell whose threads they are of.
    pub has_other_exits: bool,
    /// Patterns and roles.
    pub role_rules: Vec<(String, String)>,
    /// Columns of the source, and of what they are made.
    pub base: Vec<(String, String)>,
    /// Names of all columns.
    pub fields: Vec<String>,
    /// CLOCK_MONOTONIC from which delays are counted.
    pub delays_from_ns: i64,
    /// True if the network is counted by eBPF.
    pub network: bool,
    /// True if threads may be walked.
    pub walk: bool,
    /// Processes of the target.
    pub members: Vec<PyNewcomer>,
    /// Id of the process that stands for all.
    pub lead: u32,
    /// Link of /proc to its executable, where that pointed to, and the name of its main thread; None for a
    /// group.
    pub program: Option<(String, Option<String>, String)>,
    /// How a group is followed by eBPF; None: somebody tells.
    pub boundary: Option<PyBoundary>,
    /// True if the target ends with its last process.
    pub ends_empty: bool,
    /// The connection by which GOMAXPROCS is asked for.
    pub gomaxprocs: Option<i32>,
    /// GOMAXPROCS as it is known.
    pub size: Option<u64>,
    /// `MachineCounters`.
    pub machine: String,
    /// Resident memory, bytes.
    pub rss_bytes: Option<u64>,
    /// True if delay accounting is on.
    pub delay_accounting: Option<bool>,
    /// CPU limit, cores.
    pub cpu_limit: Option<f64>,
    /// Periods of the CPU limit, those throttled, and time throttled in microseconds.
    pub cgroup: (Option<u64>, Option<u64>, Option<u64>),
    /// Memory and disk limits.
    pub limits: PyLimits,
    /// Why locks cannot be read or named.
    pub locks_reason: Option<String>,
    /// Processes that were missed before the attachment; None: that cannot be known.
    pub missed: Option<u64>,
}

/// Notice of a target as a dict.
pub fn notice<'py>(
    py: Python<'py>,
    notice: &crate::engine::notices::Notice,
) -> PyResult<Bound<'py, PyDict>> {
    let made = PyDict::new(py);
    made.set_item("named", notice.named.iter().copied().collect::<Vec<u32>>())?;
    made.set_item("program", notice.program)?;
    let executions: Vec<(u32, u32, String, i64, i64, i64, u64)> = notice
        .executions
        .iter()
        .map(|one| {
            let name = crate::columns::text(&one.comm);
            (one.pid, one.value, name, one.at_ns, one.start_ns, one.start_boot_ns, one.groups)
        })
        .collect();
    made.set_item("gomaxprocs", notice.gomaxprocs)?;
    made.set_item("executions", executions)?;
    made.set_item("executions_missed", notice.executions_missed)?;
    made.set_item("events_lost", notice.events_lost)?;
    made.set_item("sampled", notice.sampled)?;
    made.set_item("empty", notice.empty)?;
    made.set_item("ending", notice.ending)?;
    made.set_item("over", notice.over)?;
    Ok(made)
}
