//! The lease of the steering client, and the pool that it steers.

use crate::failure::{Failure, BOUNDS, BUSY};
use crate::pool::Pool;
use crate::registry;
use std::time::{Duration, Instant};

/// Knob of an agent: a pool, or nothing.
pub enum Steered {
    Pool(Pool),
    /// No pool; the only size is 1.
    Nothing,
}

impl Steered {
    pub fn knob(&self) -> &'static str {
        match self {
            Steered::Pool(_) => "pool",
            Steered::Nothing => "none",
        }
    }

    pub fn wanted(&self) -> usize {
        match self {
            Steered::Pool(pool) => pool.wanted(),
            Steered::Nothing => 1,
        }
    }

    pub fn size(&self) -> usize {
        match self {
            Steered::Pool(pool) => pool.size(),
            Steered::Nothing => 1,
        }
    }

    /// Return finished jobs, summed queue wait in nanoseconds, and started jobs.
    pub fn counts(&self) -> (u64, u64, u64) {
        match self {
            Steered::Pool(pool) => pool.counts(),
            Steered::Nothing => (registry::finished(), 0, 0),
        }
    }

    fn resize(&self, size: usize) {
        if let Steered::Pool(pool) = self {
            pool.resize(size);
        }
    }
}

/// Lease of a size that a client set and must renew.
///
/// The lease outlives its client's connection, so that a restarted collector can continue. Until it
/// expires, another client may take it only if that connection is closed. Used by the agent's thread
/// alone.
pub struct Lease {
    pub steered: Steered,
    pub lower: usize,
    pub upper: usize,
    pub original: usize,
    /// Number of the client that holds the lease.
    holder: Option<u64>,
    deadline: Option<Instant>,
}

impl Lease {
    pub fn new(steered: Steered, lower: usize, upper: usize) -> Self {
        let original = steered.wanted();
        Lease { steered, lower, upper, original, holder: None, deadline: None }
    }

    pub fn set(&mut self, client: u64, size: usize, duration: Duration) -> Result<(), Failure> {
        if self.holder.map_or(false, |holder| holder != client) {
            let why = "another client steers; its lease must end first";
            return Err(Failure::new(BUSY, why));
        }
        if size < self.lower || size > self.upper {
            let bounds = (self.lower, self.upper);
            let why = format!("size {} is not within the bounds, {} to {}", size, bounds.0, bounds.1);
            return Err(Failure::new(BOUNDS, &why));
        }
        self.holder = Some(client);
        self.deadline = Some(Instant::now() + duration);
        self.steered.resize(size);
        Ok(())
    }

    /// Restore the original size, whichever client changed it.
    pub fn release(&mut self) {
        if self.deadline.take().is_some() {
            self.steered.resize(self.original);
        }
        self.holder = None;
    }

    /// Note that a client has disconnected; its lease continues.
    pub fn forget(&mut self, client: u64) {
        if self.holder == Some(client) {
            self.holder = None;
        }
    }

    /// Milliseconds until expiry, rounded up; -1 without a lease. Releases an expired one.
    pub fn left_ms(&mut self) -> i32 {
        let left = match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()),
            None => return -1,
        };
        if left.is_zero() {
            self.release();
            return -1;
        }
        left.as_millis() as i32 + 1
    }
}
