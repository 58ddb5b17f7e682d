//! The sampler: reads the threads of processes at a rate, and hands over frames.
//!
//! One sequence makes every sample: list, read, join, validate, compare, encode, hand over. A target
//! is a set of processes. Python decides what is sampled; the thread of the sampler never waits for
//! Python. `unsafe` stands in the modules of `os` alone.

pub mod columns;
pub mod compare;
pub mod encode;
pub mod engine;
pub mod fields;
#[cfg(test)]
mod fuzzing;
pub mod ids;
pub mod ledger;
pub mod link;
pub mod network;
pub mod os;
pub mod processes;
pub mod procfs;
#[cfg(feature = "python")]
mod python;
pub mod slots;
pub mod source;
pub mod symbols;
pub mod target;
pub mod taskstats;
#[cfg(test)]
mod testing;
pub mod validate;
pub mod walk;
