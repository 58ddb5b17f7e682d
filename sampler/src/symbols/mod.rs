//! Names of native code: build IDs, symbol tables and DWARF of ELF files.
//!
//! Files come from other users and may be hostile. Limited children read them; the limits of such a
//! process bound what a file costs. Addresses are those of the file's own headers.

pub mod elf;
#[cfg(test)]
mod fuzz_tests;
pub mod lines;
pub mod tables;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

/// Why a file cannot be read.
#[derive(Debug)]
pub struct Damaged(pub String);

impl<E: std::error::Error> From<E> for Damaged {
    fn from(error: E) -> Self {
        Self(error.to_string())
    }
}
