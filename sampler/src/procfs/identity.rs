//! Start times of processes and threads, which tell two processes of the same id apart.

use std::io;
use std::path::Path;

use super::{has_gone, parse_stat};
use crate::os::clock::{boottime_ns, monotonic_ns, ticks_per_second};

/// Nanoseconds by which two readings of how long the machine was suspended may differ by themselves.
const SLACK_NS: i64 = 1_000_000;

/// Start of a process in clock ticks on CLOCK_BOOTTIME (field 22 of stat); None if there is no such
/// process.
///
/// # Errors
/// The error of open(2) or read(2); InvalidData if the file is not understood.
pub fn start_ticks(proc: &Path, process: u32) -> io::Result<Option<u64>> {
    match std::fs::read(proc.join(format!("{process}/stat"))) {
        Ok(line) => {
            let stat = parse_stat(&line).ok_or(io::ErrorKind::InvalidData)?;
            Ok(Some(stat.start_ticks))
        }
        Err(error) if has_gone(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Converts start ticks to nanoseconds on CLOCK_MONOTONIC, which lacks the time that the machine was
/// suspended.
pub fn monotonic_ns_of(start_ticks: u64, suspended_ns: i64) -> i64 {
    let ns = start_ticks.saturating_mul(1_000_000_000 / ticks_per_second());
    i64::try_from(ns).unwrap_or(i64::MAX).saturating_sub(suspended_ns)
}

/// How long the machine was suspended since it was booted.
///
/// The difference of two clocks moves a little from reading to reading; starts must not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Suspended(Option<i64>);

impl Suspended {
    /// Nanoseconds up to now.
    pub fn nanoseconds(&mut self) -> i64 {
        let now = boottime_ns() - monotonic_ns();
        let kept = self.0.filter(|before| (now - before).abs() < SLACK_NS).unwrap_or(now);
        self.0 = Some(kept);
        kept
    }
}
