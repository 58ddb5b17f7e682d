//! TODO
pub mod reading;
pub mod slot;
