//! The slots that a program of eBPF keeps for threads: whom it counts for, and when slots are freed.
//! Hooks: those of the program that owns the maps (thread_slots.bpf.h is the other side).
//! Produces: the slots of processes, and those of exit records.

pub mod array;
pub mod exited;
#[cfg(test)]
mod fuzz_tests;
pub mod held;
#[cfg(test)]
mod held_tests;
pub mod kernel;
#[cfg(test)]
mod layout_tests;
#[cfg(test)]
pub mod testing;
pub mod watching;

use std::sync::{Mutex, MutexGuard, PoisonError};

pub use held::{Layout, Listing, Maps, ThreadSlots};
pub use watching::Watcher;

/// Locks slots that several targets share. A holder that panicked has left them whole: every method
/// changes one thing at a time.
pub fn lock<T: ?Sized>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
