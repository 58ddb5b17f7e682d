//! Runtimes of tokio, by its RuntimeMetrics.
//!
//! Built with `--cfg tokio_unstable` (RUSTFLAGS), tokio also reports tasks, steals, polls, the queues of
//! its workers, and its pool for blocking calls.

use crate::registry::{watch, PoolReading};
use ::tokio::runtime::{Handle, RuntimeMetrics};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Report a runtime and, if tokio reports it, its pool for blocking calls (`NAME-blocking`).
///
/// Tokio measures how long its workers were busy, and no times of single tasks.
pub fn watch_runtime(name: &str, handle: &Handle) {
    let own = handle.clone();
    let (since, before) = (Instant::now(), busy(&own.metrics()));
    let ended = AtomicU64::new(0);
    watch(name, "tokio", move || {
        let metrics = own.metrics();
        let there = since.elapsed() * metrics.num_workers() as u32;
        let worked = busy(&metrics).saturating_sub(before);
        let idle = there.saturating_sub(worked);
        let read = workers(&metrics);
        // A task spawned between two counter readings must not lower the number of finished tasks.
        let finished = read.finished.map(|now| ended.fetch_max(now, Relaxed).max(now));
        PoolReading { idle_ns: Some(idle.as_nanos() as u64), finished, ..read }
    });
    #[cfg(tokio_unstable)]
    {
        let blocking = handle.clone();
        watch(&format!("{}-blocking", name), "tokio-blocking", move || blocking_pool(&blocking));
    }
}

/// Busy time of all workers together.
fn busy(metrics: &RuntimeMetrics) -> Duration {
    (0..metrics.num_workers()).map(|worker| metrics.worker_total_busy_duration(worker)).sum()
}

fn workers(metrics: &RuntimeMetrics) -> PoolReading {
    let number = metrics.num_workers();
    let reading = PoolReading {
        size: Some(number as u64),
        parks: Some((0..number).map(|worker| metrics.worker_park_count(worker)).sum()),
        run_ns: Some(busy(metrics).as_nanos() as u64),
        ..PoolReading::default()
    };
    with_tasks(metrics, reading)
}

#[cfg(tokio_unstable)]
fn with_tasks(metrics: &RuntimeMetrics, reading: PoolReading) -> PoolReading {
    let number = metrics.num_workers();
    let local: usize = (0..number).map(|worker| metrics.worker_local_queue_depth(worker)).sum();
    // Read first, so that finished tasks never exceed started ones.
    let spawned = metrics.spawned_tasks_count();
    let alive = metrics.num_alive_tasks() as u64;
    PoolReading {
        queue: Some((metrics.global_queue_depth() + local) as u64),
        submitted: Some(spawned),
        finished: Some(spawned.saturating_sub(alive)),
        steals: Some((0..number).map(|worker| metrics.worker_steal_count(worker)).sum()),
        polls: Some((0..number).map(|worker| metrics.worker_poll_count(worker)).sum()),
        ..reading
    }
}

#[cfg(not(tokio_unstable))]
fn with_tasks(_: &RuntimeMetrics, reading: PoolReading) -> PoolReading {
    reading
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
