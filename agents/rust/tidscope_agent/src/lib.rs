//! Lets tidscope steer a worker pool of this program, and reports the pools that it has.
//!
//! ```no_run
//! let pool = tidscope_agent::Pool::new("requests", 8);
//! let _agent = tidscope_agent::start(&pool, 1, 64); // the program works without it
//! pool.submit(|| Ok(()));
//! ```
//!
//! Nothing is steered until a collector on the same host, of root or of the same user, requests it.
//! The original size is restored when the collector stops renewing its request.

mod agent;
mod failure;
mod figures;
mod json;
mod lease;
mod pool;
mod protocol;
#[cfg(feature = "rayon")]
pub mod rayon;
mod registry;
mod server;
mod socket_folder;
mod system;
#[cfg(feature = "tokio")]
pub mod tokio;

pub use agent::{report_pools, start, Agent};
pub use pool::{Failed, Pool};
pub use registry::{watch, PoolReading, Watched};

/// Version of this library; the same as in Cargo.toml.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");
