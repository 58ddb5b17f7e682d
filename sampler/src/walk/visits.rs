//! Walks over many processes, block after block.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::block::{Block, ROWS};
use crate::columns::Rows;
use crate::os::bpf;
use crate::os::memory::Mapped;

/// Processes that one call walks.
const MEMBERS: usize = 4096;
const PID: usize = 0;
const END: usize = 4 * MEMBERS;
const COUNT: usize = 8 * MEMBERS;
const BYTES: usize = 12 * MEMBERS;

/// The processes that `walk_members` walks: struct visits of task_iterator.bpf.c, mapped.
pub struct Visits {
    memory: Mapped,
    pids: Vec<u32>,
}

impl Visits {
    /// Maps the processes.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Self { memory: Mapped::new(map, BYTES, true)?, pids: Vec::new() })
    }

    /// Appends the threads of all processes to `rows`; false if some were missed.
    pub(super) fn walk(
        &mut self,
        program: &OwnedFd,
        members: &[u32],
        block: &mut Block,
        width: usize,
        rows: &mut Rows,
    ) -> io::Result<bool> {
        let mut complete = true;
        for part in members.chunks(MEMBERS) {
            if self.pids != part {
                for (place, &pid) in part.iter().enumerate() {
                    self.memory.store(PID + 4 * place, pid);
                }
                self.pids.clear();
                self.pids.extend_from_slice(part);
            }
            complete &= self.walk_part(program, part, block, width, rows)?;
        }
        Ok(complete)
    }

    fn walk_part(
        &mut self,
        program: &OwnedFd,
        part: &[u32],
        block: &mut Block,
        width: usize,
        rows: &mut Rows,
    ) -> io::Result<bool> {
        let (mut first, mut behind, mut complete) = (0, 0, true);
        // Rows of the process that the blocks before ended in.
        let mut earlier = 0;
        while first < part.len() {
            // struct stretch: the program writes to its first word where the next call goes on.
            let mut stretch = [first as u32, part.len() as u32, behind, 0];
            bpf::run(program.as_fd(), &mut stretch)?;
            let next = (stretch[0] as usize).clamp(first, part.len());
            let begin = rows.len();
            block.copy_to(width, rows);
            let mut row = begin;
            for (place, &pid) in part.iter().enumerate().take(next + 1).skip(first) {
                let end = begin + (self.memory.load::<u32>(END + 4 * place) as usize).min(ROWS);
                let end = end.clamp(row, rows.len());
                rows.process[row..end].fill(pid);
                let count = end - row + std::mem::take(&mut earlier);
                if place < next {
                    complete &= count >= self.memory.load::<u32>(COUNT + 4 * place) as usize;
                } else {
                    earlier = count;
                }
                row = end;
            }
            rows.resize(row);
            if next < part.len() && (next == first && rows.len() == begin) {
                // The thread that the block before ended at is gone, and so is the rest of the process.
                first = next + 1;
                behind = 0;
                earlier = 0;
                complete = false;
            } else {
                first = next;
                behind = if next < part.len() { block.tid(ROWS - 1) } else { 0 };
            }
        }
        Ok(complete)
    }
}

/// Appends the threads of all processes to `rows`, with an iterator for each process; false if some were
/// missed. A process that has ended has no iterator.
pub(super) fn walk_by_iterators(
    program: &OwnedFd,
    links: &mut Vec<(u32, OwnedFd)>,
    members: &[u32],
    block: &mut Block,
    width: usize,
    rows: &mut Rows,
) -> io::Result<bool> {
    links.retain(|(pid, _)| members.binary_search(pid).is_ok());
    let mut complete = true;
    for &pid in members {
        let place = match links.binary_search_by_key(&pid, |(known, _)| *known) {
            Ok(place) => place,
            Err(place) => match bpf::link_tasks(program.as_fd(), pid) {
                Ok(link) => {
                    links.insert(place, (pid, link));
                    place
                }
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => continue,
                Err(error) => return Err(error),
            },
        };
        let mut walk = File::from(bpf::iterate(links[place].1.as_fd())?);
        let begin = rows.len();
        loop {
            block.empty();
            // A read gives one byte when the block is full, and none after the last thread.
            let more = walk.read(&mut [0])?;
            block.copy_to(width, rows);
            if more == 0 {
                break;
            }
        }
        rows.process[begin..].fill(pid);
        complete &= rows.len() == begin || rows.len() - begin >= block.threads();
    }
    Ok(complete)
}
