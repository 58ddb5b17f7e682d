//! System calls of the sampler, and the only modules with `unsafe`.

pub mod bpf;
pub mod clock;
pub mod descriptors;
pub mod file_bytes;
pub mod files;
pub mod memory;
pub mod poll;
pub mod socket;
pub mod wait;
