//! Encodes samples as frames: a header in JSON, rows and tables in Arrow.
//!
//! `frame` numbers frames and joins their parts; `rows`, `tables` and `header` make the parts;
//! `arrow` writes the messages. All bytes are those that `shared/tidscope_wire` describes and reads.

pub mod arrow;
pub mod division;
pub mod events;
pub mod frame;
#[cfg(test)]
mod fuzz_tests;
pub mod header;
pub mod json;
mod row_choice;
pub mod rows;
pub mod table_changes;
pub mod tables;
