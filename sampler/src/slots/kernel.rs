//! Maps that slots reach by bpf(2), not by memory.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::os::bpf;

/// The maps `targets` and `vacant` of a program.
pub trait Kernel: Send {
    /// Makes a process a target; false if it was one.
    ///
    /// # Errors
    /// The error of bpf(2), for example of a full map.
    fn add_target(&self, pid: u32) -> io::Result<bool>;

    /// Makes a process no target any more; false if it was none.
    fn remove_target(&self, pid: u32) -> bool;

    /// Gives an empty slot back to the program.
    ///
    /// # Errors
    /// The error of bpf(2).
    fn give_back(&self, index: u32) -> io::Result<()>;
}

/// The maps of a loaded program.
pub struct KernelMaps {
    /// Hash map `targets`: ids of watched processes.
    pub targets: OwnedFd,
    /// Queue `vacant`: slots that were freed.
    pub vacant: OwnedFd,
}

impl Kernel for KernelMaps {
    fn add_target(&self, pid: u32) -> io::Result<bool> {
        bpf::add(self.targets.as_fd(), &pid, &1_u32)
    }

    fn remove_target(&self, pid: u32) -> bool {
        bpf::remove(self.targets.as_fd(), &pid)
    }

    fn give_back(&self, index: u32) -> io::Result<()> {
        bpf::set::<u32, u32>(self.vacant.as_fd(), None, &index)
    }
}
