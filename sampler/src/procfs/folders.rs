//! The threads of processes, listed by /proc/PID/task, which works on every kernel.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::has_gone;
use crate::os::files::{list, open_folder};
use crate::source::ReadError;

/// Folders that stay open from listing to listing; those of further processes are opened each time.
const MAX_OPEN: usize = 8;
/// Bytes of names that are read together: about a thousand threads.
const LIST_BYTES: usize = 32 * 1024;

/// The task folders of processes.
///
/// An open folder stays bound to its process, so that a later process of the same id is not mistaken for
/// it. Once a process has gone, the next visit opens the folder of its id again: a caller takes a process
/// that has gone out of the members, or means the later process of that id.
pub struct TaskFolders {
    proc: PathBuf,
    open: HashMap<u32, File>,
    members: Vec<u32>,
    buffer: Vec<u8>,
    tids: Vec<u32>,
}

impl TaskFolders {
    /// Makes a lister below a root of /proc.
    pub fn new(proc: &Path) -> Self {
        Self {
            proc: proc.into(),
            open: HashMap::new(),
            members: Vec::new(),
            buffer: vec![0; LIST_BYTES],
            tids: Vec::new(),
        }
    }

    /// Calls `each` with every process that has threads, its folder, and its threads in the kernel's
    /// order. Processes that have gone, or may not be listed, are left out.
    ///
    /// # Errors
    /// `Kernel` if no process could be listed and one of them has not gone; errors of `each`.
    pub fn visit(
        &mut self,
        members: &[u32],
        mut each: impl FnMut(u32, &File, &[u32]) -> Result<(), ReadError>,
    ) -> Result<(), ReadError> {
        if self.members != members {
            self.open.retain(|process, _| members.contains(process));
            self.members.clear();
            self.members.extend_from_slice(members);
        }
        let (mut listed, mut trouble) = (false, None);
        for &process in members {
            match self.list(process) {
                Ok(Some(folder)) => {
                    each(process, &folder, &self.tids)?;
                    listed = true;
                    if self.open.len() < MAX_OPEN {
                        self.open.insert(process, folder);
                    }
                }
                Ok(None) => {}
                Err(error) if has_gone(&error) => {}
                Err(error) => {
                    trouble.get_or_insert((process, error));
                }
            }
        }
        match trouble {
            Some((process, error)) if !listed => Err(ReadError::Kernel(format!(
                "the threads of process {process} could not be listed: {error}"
            ))),
            _ => Ok(()),
        }
    }

    /// Lists the threads of a process into `tids`, and returns its folder; None if it has none.
    fn list(&mut self, process: u32) -> io::Result<Option<File>> {
        let folder = match self.open.remove(&process) {
            Some(folder) => folder,
            None => open_folder(&self.proc.join(format!("{process}/task")))?,
        };
        self.tids.clear();
        list(&folder, &mut self.buffer, |name| {
            let text = std::str::from_utf8(name).ok();
            self.tids.extend(text.and_then(|text| text.parse::<u32>().ok()));
        })?;
        Ok((!self.tids.is_empty()).then_some(folder))
    }
}
