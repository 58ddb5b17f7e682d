//! Runtimes of tokio, by its RuntimeMetrics.
//!
//! Build with `--cfg tokio_unstable` (RUSTFLAGS), without which tokio gives no metrics to anybody: then
//! a runtime is reported with nothing known.

use crate::registry::{watch, PoolReading};
use ::tokio::runtime::Handle;

/// Report a runtime and its pool for blocking calls (`NAME-blocking`).
///
/// Tokio counts no tasks that ended and measures no times; it says how busy workers were, how often they
/// parked, stole and polled, and how many tasks wait.
pub fn watch_runtime(name: &str, handle: &Handle) {
    let (own, blocking) = (handle.clone(), handle.clone());
    watch(name, "tokio", move || workers(&own));
    watch(&format!("{}-blocking", name), "tokio-blocking", move || blocking_pool(&blocking));
}

#[cfg(tokio_unstable)]
fn workers(handle: &Handle) -> PoolReading {
    let metrics = handle.metrics();
    let number = metrics.num_workers();
    let sum = |count: &dyn Fn(usize) -> u64| Some((0..number).map(count).sum());
    let local: usize = (0..number).map(|worker| metrics.worker_local_queue_depth(worker)).sum();
    PoolReading {
        size: Some(number as u64),
        queue: Some((metrics.injection_queue_depth() + local) as u64),
        parks: sum(&|worker| metrics.worker_park_count(worker)),
        steals: sum(&|worker| metrics.worker_steal_count(worker)),
        polls: sum(&|worker| metrics.worker_poll_count(worker)),
        run_ns: sum(&|worker| metrics.worker_total_busy_duration(worker).as_nanos() as u64),
        ..PoolReading::default()
    }
}

#[cfg(tokio_unstable)]
fn blocking_pool(handle: &Handle) -> PoolReading {
    let metrics = handle.metrics();
    let (threads, idle) = (metrics.num_blocking_threads(), metrics.num_idle_blocking_threads());
    PoolReading {
        busy: Some(threads.saturating_sub(idle) as u64),
        queue: Some(metrics.blocking_queue_depth() as u64),
        ..PoolReading::default()
    }
}

#[cfg(not(tokio_unstable))]
fn workers(_: &Handle) -> PoolReading {
    PoolReading::default()
}

#[cfg(not(tokio_unstable))]
fn blocking_pool(_: &Handle) -> PoolReading {
    PoolReading::default()
}
