//! Presence of a thread ID in given processes, asked of /proc one ID at a time.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use super::{has_gone, parse_stat, parse_thread_group};
use crate::os::files::{open_folder, read_at};

/// Meaning of a thread ID.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A thread that runs or may run.
    Alive,
    /// A thread that has begun to end, or a zombie: a main thread waits for the others.
    Exiting,
    /// No thread of these processes.
    Gone,
}

/// Looks at a thread of any of these processes, ids in ascending order; `proc` is the root of /proc.
pub fn presence(proc: &Path, tid: u32, processes: &[u32]) -> Presence {
    // The folder stays bound to its thread, whoever gets the id meanwhile.
    let found = open_folder(&proc.join(tid.to_string())).and_then(|folder| read_stat(&folder, tid));
    match found {
        Ok(Some((process, found))) if processes.binary_search(&process).is_ok() => found,
        Ok(_) => Presence::Gone,
        Err(error) if has_gone(&error) => Presence::Gone,
        // No descriptor left, say: that is nothing against the thread.
        Err(_) => Presence::Alive,
    }
}

/// The process of a thread, and what it stands for; None if its files are not understood.
fn read_stat(folder: &File, tid: u32) -> io::Result<Option<(u32, Presence)>> {
    let mut buffer = Vec::new();
    let process = parse_thread_group(read_at(folder.as_fd(), c"status", &mut buffer)?);
    let name = CString::new(format!("task/{tid}/stat")).map_err(io::Error::other)?;
    let stat = parse_stat(read_at(folder.as_fd(), &name, &mut buffer)?);
    Ok(process.zip(stat).map(|(process, stat)| {
        let found = if stat.is_exiting() { Presence::Exiting } else { Presence::Alive };
        (process, found)
    }))
}
