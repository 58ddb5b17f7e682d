//! How long the samples of a target took over the last five to ten seconds.

const STRETCH_NS: i64 = 5_000_000_000;

#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    count: u64,
    sum_us: u64,
    max_us: u64,
}

/// Durations of samples.
#[derive(Clone, Copy, Debug, Default)]
pub struct SampleTimes {
    now: Stretch,
    before: Stretch,
    began_ns: i64,
}

impl SampleTimes {
    /// Takes a duration in, at `now_ns`, CLOCK_MONOTONIC.
    pub fn note(&mut self, sample_us: u64, now_ns: i64) {
        let passed_ns = now_ns - self.began_ns;
        if passed_ns >= STRETCH_NS {
            self.before = if passed_ns < 2 * STRETCH_NS { self.now } else { Stretch::default() };
            (self.now, self.began_ns) = (Stretch::default(), now_ns);
        }
        self.now.count += 1;
        self.now.sum_us += sample_us;
        self.now.max_us = self.now.max_us.max(sample_us);
    }

    /// Mean, microseconds; 0 before the first sample.
    pub fn mean_us(&self) -> u64 {
        let count = self.now.count + self.before.count;
        (self.now.sum_us + self.before.sum_us).checked_div(count).unwrap_or(0)
    }

    /// The longest, microseconds.
    pub fn max_us(&self) -> u64 {
        self.now.max_us.max(self.before.max_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_durations_are_forgotten() {
        let mut times = SampleTimes::default();
        for (duration, second) in [(10, 10), (30, 11), (2, 16), (4, 22)] {
            times.note(duration, second * 1_000_000_000);
        }
        assert_eq!((times.mean_us(), times.max_us()), (3, 4));
    }
}
