//! Procfs: counters of threads from the files of /proc, for kernels without taskstats.
//!
//! Hooks: none; /proc/PID/task/TID/{schedstat,stat,status,io} are read for each thread, which costs ten
//! to fifty times as much as taskstats. Produces those columns of taskstats that /proc has. I/O counters
//! are exact here, not rounded as in taskstats.

mod folders;
#[cfg(test)]
mod fuzz_tests;
mod identity;
mod parse;
mod presence;
#[cfg(test)]
mod tests;

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

pub use folders::TaskFolders;
pub use identity::{monotonic_ns_of, start_ticks, Suspended};
pub use parse::{parse_io, parse_schedstat, parse_stat, parse_status, parse_thread_group, Stat};
pub use presence::{presence, Presence};

use crate::columns::{comm, Identity, Mask, Rows};
use crate::os::clock::{monotonic_ns, ticks_per_second};
use crate::os::files::read_at;
use crate::source::{Origin, ReadError, Source};

/// Files in the order in which they are read, with their keys in the field catalogue.
const FILES: [(&str, &[&str]); 4] = [
    ("stat", &["minflt", "majflt", "utime", "stime"]),
    ("schedstat", &["0", "1", "2"]),
    ("status", &["voluntary_ctxt_switches", "nonvoluntary_ctxt_switches"]),
    (
        "io",
        &["rchar", "wchar", "syscr", "syscw", "read_bytes", "write_bytes", "cancelled_write_bytes"],
    ),
];
const VALUES: usize = 16;

/// A `Source` over the files of /proc.
pub struct Procfs {
    folders: TaskFolders,
    columns: Columns,
    suspended: Suspended,
    listed: Vec<u32>,
    buffer: Vec<u8>,
}

/// A thread to read.
struct Thread<'a> {
    folder: &'a File,
    process: u32,
    tid: u32,
    suspended_ns: i64,
}

/// Assignment of values in files to columns.
#[derive(Clone, Debug)]
struct Columns {
    /// Place among the values of all files, by column.
    places: Vec<usize>,
    /// Columns of each file; a file without columns is not read, except for stat.
    masks: [Mask; 4],
    us_per_tick: u64,
}

impl Procfs {
    /// Makes a source whose column n is `columns[n]`: a key as the field catalogue writes it, such as
    /// `schedstat[0]` or `io[rchar]`. `proc` is the root of /proc.
    ///
    /// A file that the kernel does not have must not be named: a thread without it counts as gone. A file
    /// that may not be read leaves its columns absent.
    ///
    /// # Errors
    /// Tells which key is unknown.
    pub fn new<S: AsRef<str>>(
        proc: &Path,
        columns: impl IntoIterator<Item = S>,
    ) -> Result<Self, String> {
        Ok(Self {
            folders: TaskFolders::new(proc),
            columns: Columns::new(columns)?,
            suspended: Suspended::default(),
            listed: Vec::new(),
            buffer: Vec::new(),
        })
    }
}

impl Source for Procfs {
    fn origin(&self) -> Origin {
        Origin::Procfs
    }

    fn read(&mut self, members: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
        let Self { folders, columns, suspended, listed, buffer } = self;
        let suspended_ns = suspended.nanoseconds();
        listed.clear();
        folders.visit(members, |process, folder, tids| {
            listed.extend_from_slice(tids);
            for &tid in tids {
                let thread = Thread { folder, process, tid, suspended_ns };
                columns.read_thread(&thread, buffer, rows)?;
            }
            Ok(())
        })
    }

    fn listed(&self) -> Option<&[u32]> {
        Some(&self.listed)
    }
}

impl Columns {
    fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = S>) -> Result<Self, String> {
        let mut masks = [0; 4];
        let mut places = Vec::new();
        for column in columns {
            let (file, place) = find(column.as_ref())
                .ok_or_else(|| format!("/proc has no {} of threads", column.as_ref()))?;
            masks[file] |= 1 << places.len();
            places.push(place);
        }
        Ok(Self { places, masks, us_per_tick: 1_000_000 / ticks_per_second() })
    }

    /// Appends a thread, unless it has gone, or is what is left of a process that has ended.
    fn read_thread(
        &self,
        thread: &Thread<'_>,
        buffer: &mut Vec<u8>,
        rows: &mut Rows,
    ) -> Result<(), ReadError> {
        let &Thread { folder, process, tid, suspended_ns } = thread;
        let seen_ns = monotonic_ns();
        let stat = match read(folder, tid, "stat", buffer) {
            Ok(text) => parse_stat(text).ok_or_else(|| malformed(tid, "stat", text))?,
            Err(error) if has_gone(&error) => return Ok(()),
            Err(error) => return Err(error.into()),
        };
        if stat.has_ended() && tid == process {
            return Ok(());
        }
        let start_ns = monotonic_ns_of(stat.start_ticks, suspended_ns);
        // An id stood for its thread when this was read: not before it began.
        let identity = Identity {
            tid,
            process,
            start_ns,
            seen_ns: seen_ns.max(start_ns),
            comm: comm(stat.name),
        };
        let mut values = [0; VALUES];
        stat.write(self.us_per_tick, &mut values[..4]);
        let mut absent = 0;
        let mut from = 4;
        for ((file, keys), &columns) in FILES.iter().zip(&self.masks).skip(1) {
            let into = &mut values[from..from + keys.len()];
            from += keys.len();
            if columns == 0 {
                continue;
            }
            match read(folder, tid, file, buffer) {
                Ok(text) => {
                    parse(file, text, into).ok_or_else(|| malformed(tid, file, text))?;
                }
                Err(error) if has_gone(&error) => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::PermissionDenied => absent |= columns,
                Err(error) => return Err(error.into()),
            }
        }
        let row = rows.push(identity);
        rows.absent[row] = absent;
        for (column, &place) in self.places.iter().enumerate() {
            rows.set(row, column, values[place]);
        }
        Ok(())
    }
}

/// File and place among all values of a key such as `schedstat[0]`.
fn find(key: &str) -> Option<(usize, usize)> {
    let (name, key) = key.strip_suffix(']')?.split_once('[')?;
    let mut place = 0;
    for (number, (file, keys)) in FILES.iter().enumerate() {
        if *file == name {
            return Some((number, place + keys.iter().position(|one| *one == key)?));
        }
        place += keys.len();
    }
    None
}

fn parse(file: &str, text: &[u8], into: &mut [u64]) -> Option<()> {
    match file {
        "schedstat" => into.copy_from_slice(&parse_schedstat(text)?),
        "status" => into.copy_from_slice(&parse_status(text)?),
        _ => into.copy_from_slice(&parse_io(text)?),
    }
    Some(())
}

fn read<'a>(folder: &File, tid: u32, file: &str, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
    let name = CString::new(format!("{tid}/{file}")).map_err(io::Error::other)?;
    read_at(folder.as_fd(), &name, buffer)
}

fn malformed(tid: u32, file: &str, text: &[u8]) -> ReadError {
    let start = String::from_utf8_lossy(&text[..text.len().min(80)]);
    ReadError::Kernel(format!("file {file} of thread {tid} in /proc is not understood: {start:?}"))
}

/// True if a file could not be read because its thread or process has gone.
fn has_gone(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ESRCH))
}
