//! The lease of the steering client, and the pool that it steers.

use crate::failure::{Failure, BOUNDS, BUSY};
use crate::pool::Pool;
use crate::registry;
use std::time::{Duration, Instant};

/// What an agent sets: a pool, or nothing.
pub enum Steered {
    Pool(Pool),
    /// There is one size, 1.
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

    /// Finished jobs, nanoseconds that started ones waited, and their number.
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

/// Holds the size that a client set, for as long as it renews it.
///
/// It outlives its client's connection, so that a collector that is restarted in time finds things as
/// they were; until it is over, another client may take it only if that connection is gone. Used by the
/// agent's thread alone.
pub struct Lease {
    pub steered: Steered,
    pub lower: usize,
    pub upper: usize,
    pub original: usize,
    /// Number of the client that holds it.
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

    /// Go back to the original size, whoever set another one.
    pub fn release(&mut self) {
        if self.deadline.take().is_some() {
            self.steered.resize(self.original);
        }
        self.holder = None;
    }

    /// A client is gone: its lease runs on without it.
    pub fn forget(&mut self, client: u64) {
        if self.holder == Some(client) {
            self.holder = None;
        }
    }

    /// Milliseconds until it is over, rounded up; -1 without one, and when it has just been ended.
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
