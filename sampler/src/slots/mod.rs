//! The slots that a program of eBPF keeps for threads: whom it counts for, and when slots are freed.
//! Hooks: those of the program that owns the maps (ebpf/thread_slots.bpf.h is the other side).
//! Produces: the slots of processes, and those of exit records.

pub mod array;
pub mod exited;
pub mod held;
#[cfg(test)]
mod held_tests;
pub mod kernel;
#[cfg(test)]
pub mod testing;
pub mod watching;

pub use held::{Layout, Listing, Maps, ThreadSlots};
pub use watching::Watcher;
