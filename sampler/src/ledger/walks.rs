//! Walks of the threads of a process by programs of waits.bpf.c, outside of switches.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};

use crate::os::bpf;

/// Walks the threads that a process has; 0: those of all processes.
pub type Walk = Box<dyn FnMut(u32) -> io::Result<()> + Send>;

/// The walks of a keeper.
pub struct Walks {
    /// Begins ledgers.
    pub begin: Walk,
    /// Notes which throttled threads have been let go.
    pub let_go: Walk,
}

impl Walks {
    /// Walks by the programs `begin_ledgers` and `let_go_throttled`.
    pub fn of(begin: OwnedFd, let_go: OwnedFd) -> Self {
        Self { begin: walk_of(begin), let_go: walk_of(let_go) }
    }
}

fn walk_of(program: OwnedFd) -> Walk {
    Box::new(move |pid| {
        let link = bpf::link_tasks(program.as_fd(), pid)?;
        let mut walk = File::from(bpf::iterate(link.as_fd())?);
        walk.read(&mut [0]).map(drop)
    })
}
