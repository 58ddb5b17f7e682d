//! Cumulative figures of a pool, in the form that collectors read.

use std::time::{Duration, Instant};

pub const BUCKETS: usize = 32;
const LOWEST_BITS: u32 = 10;

/// Figures of a pool; its lock guards them.
#[derive(Clone)]
pub struct Figures {
    pub submitted: u64,
    pub started: u64,
    pub finished: u64,
    pub failed: u64,
    pub response_ns: u64,
    pub run_ns: u64,
    pub queue_wait_ns: u64,
    pub idle_ns: u64,
    pub response: [u64; BUCKETS],
    pub queue_wait: [u64; BUCKETS],
    idle: i64,
    idle_since: Instant,
}

impl Figures {
    pub fn new() -> Self {
        Figures {
            submitted: 0,
            started: 0,
            finished: 0,
            failed: 0,
            response_ns: 0,
            run_ns: 0,
            queue_wait_ns: 0,
            idle_ns: 0,
            response: [0; BUCKETS],
            queue_wait: [0; BUCKETS],
            idle: 0,
            idle_since: Instant::now(),
        }
    }

    /// Number of idle workers.
    pub fn idle(&self) -> i64 {
        self.idle
    }

    /// Set the number of idle workers from now on.
    pub fn set_idle(&mut self, idle: i64, now: Instant) {
        self.idle_ns += self.idle.max(0) as u64 * nanos(now.saturating_duration_since(self.idle_since));
        self.idle_since = now;
        self.idle = idle;
    }

    pub fn start(&mut self, queued: Instant, now: Instant) {
        let wait_ns = nanos(now - queued);
        self.started += 1;
        self.queue_wait_ns += wait_ns;
        self.queue_wait[bucket_of(wait_ns)] += 1;
    }

    pub fn finish(&mut self, queued: Instant, started: Instant, now: Instant, failed: bool) {
        let response_ns = nanos(now - queued);
        self.finished += 1;
        self.failed += u64::from(failed);
        self.response_ns += response_ns;
        self.run_ns += nanos(now - started);
        self.response[bucket_of(response_ns)] += 1;
    }

    pub fn add(&mut self, other: &Figures) {
        self.submitted += other.submitted;
        self.started += other.started;
        self.finished += other.finished;
        self.failed += other.failed;
        self.response_ns += other.response_ns;
        self.run_ns += other.run_ns;
        self.queue_wait_ns += other.queue_wait_ns;
        self.idle_ns += other.idle_ns;
        for b in 0..BUCKETS {
            self.response[b] += other.response[b];
            self.queue_wait[b] += other.queue_wait[b];
        }
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Bucket b counts times below 2^(b+10) ns.
pub fn bucket_of(ns: u64) -> usize {
    let bits = 64 - (ns >> LOWEST_BITS).leading_zeros();
    (bits as usize).min(BUCKETS - 1)
}

#[cfg(test)]
mod tests {
    use super::bucket_of;

    #[test]
    fn buckets_are_powers_of_two() {
        let places = [(0, 0), (1023, 0), (1024, 1), (2047, 1), (2048, 2), (u64::MAX, 31)];
        for (ns, bucket) in places {
            assert_eq!(bucket_of(ns), bucket, "{} ns", ns);
        }
    }
}
