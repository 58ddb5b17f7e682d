//! Sources give the counters of threads; joins put further columns beside them.

use std::fmt;

use crate::columns::{Comm, Exits, Rows, Totals};

/// How counters were read, as frames tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// One walk of the kernel over all threads, by eBPF.
    Walk,
    /// A request for each thread, by genetlink.
    Genetlink,
    /// The files of /proc.
    Procfs,
}

impl Origin {
    /// Name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Walk => "walk",
            Self::Genetlink => "genetlink",
            Self::Procfs => "procfs",
        }
    }
}

/// Why a sample could not be read.
#[derive(Debug)]
pub enum ReadError {
    /// The kernel refused or answered nonsense; the text says what.
    Kernel(String),
    /// A walk and taskstats disagree; the text says about which thread, field and values.
    Disagreement(String),
}

impl fmt::Display for ReadError {
    fn fmt(&self, form: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kernel(text) | Self::Disagreement(text) => form.write_str(text),
        }
    }
}

impl std::error::Error for ReadError {}

impl From<std::io::Error> for ReadError {
    fn from(error: std::io::Error) -> Self {
        Self::Kernel(error.to_string())
    }
}

/// A source of the counters of all threads of processes.
pub trait Source: Send {
    /// How it reads.
    fn origin(&self) -> Origin;

    /// Reads all threads of the processes `members`, ids in ascending order. Processes and threads that
    /// have gone are left out.
    ///
    /// `rows` is empty, and wider than the source where joins follow: the source fills its first
    /// columns, and all vectors get the same length.
    ///
    /// # Errors
    /// `ReadError` if the kernel refused or answered nonsense, or if a check failed.
    fn read(&mut self, members: &[u32], rows: &mut Rows) -> Result<(), ReadError>;

    /// A number that every execution of a program changes, of the process that was read last; None: it
    /// is not known here.
    fn executed(&self) -> Option<u64> {
        None
    }

    /// Thread ids that were listed before the last reading; None: those that it gave.
    fn listed(&self) -> Option<&[u32]> {
        None
    }
}

/// Totals of an ended thread beyond what its exit reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Late {
    /// Name by its exit record.
    pub comm: Comm,
    /// Process id.
    pub process: u32,
    /// Further counters.
    pub totals: Totals,
}

/// A source of further columns for the threads of another source.
pub trait Join: Send {
    /// Counts for these processes only: live ones, and ended ones whose exit records may still come. IDs are
    /// in ascending order.
    ///
    /// # Errors
    /// `ReadError` if the kernel refuses.
    fn follow(&mut self, members: &[u32]) -> Result<(), ReadError>;

    /// Totals of ended threads beyond what their exits reported, found since the last call.
    fn take_late(&mut self) -> Vec<Late> {
        Vec::new()
    }

    /// True if exit records get the whole time on a CPU, now or by `take_late`.
    fn settles_cpu(&self) -> bool {
        false
    }

    /// Reads what has to be read before the counters of the same sample.
    ///
    /// # Errors
    /// `ReadError` if what was read does not add up.
    fn begin(&mut self, members: &[u32]) -> Result<(), ReadError>;

    /// Fills the columns of the join. Threads of which nothing is known lack them.
    ///
    /// # Errors
    /// Same as for `begin`.
    fn join(&mut self, rows: &mut Rows) -> Result<(), ReadError>;

    /// Fills the columns of threads that have ended; the join forgets these threads.
    ///
    /// # Errors
    /// Same as for `begin`.
    fn join_exits(&mut self, exits: &mut Exits) -> Result<(), ReadError>;
}
