//! When the next sample is due: absolute deadlines, so that lateness never adds up to drift.

/// Deadlines of one target on CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Schedule {
    rate_hz: f64,
    /// The next deadline, nanoseconds.
    pub due_ns: i64,
    /// Deadlines since the start at which no sample was taken.
    pub missed: u64,
}

impl Schedule {
    /// Makes deadlines of `rate_hz` samples a second, 1 to 100, from `due_ns` on.
    pub fn new(rate_hz: f64, due_ns: i64) -> Self {
        Self { rate_hz, due_ns, missed: 0 }
    }

    /// Samples a second.
    pub fn rate_hz(&self) -> f64 {
        self.rate_hz
    }

    /// Time between two deadlines, nanoseconds.
    pub fn period_ns(&self) -> i64 {
        ((1e9 / self.rate_hz).round() as i64).max(1)
    }

    /// A sample starts now: moves to the first deadline that is still to come. Returns how late the sample
    /// is, nanoseconds, and how many deadlines were missed.
    pub fn advance(&mut self, now_ns: i64) -> (i64, u64) {
        let late_ns = (now_ns - self.due_ns).max(0);
        let missed = late_ns / self.period_ns();
        self.due_ns += (missed + 1) * self.period_ns();
        self.missed += missed.unsigned_abs();
        (late_ns, missed.unsigned_abs())
    }

    /// Takes no sample now: every deadline up to now is missed.
    pub fn skip(&mut self, now_ns: i64) {
        if now_ns >= self.due_ns {
            self.advance(now_ns);
            self.missed += 1; // `advance` counts the last deadline as met.
        }
    }

    /// Goes on at another rate, one period from now. Deadlines up to now are missed.
    pub fn change_rate(&mut self, rate_hz: f64, now_ns: i64) {
        self.skip(now_ns);
        self.rate_hz = rate_hz;
        self.due_ns = now_ns + self.period_ns();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lateness_does_not_add_up() {
        let mut schedule = Schedule::new(10.0, 1_000_000_000);
        assert_eq!(schedule.advance(1_030_000_000), (30_000_000, 0));
        assert_eq!(schedule.due_ns, 1_100_000_000);
        assert_eq!(schedule.advance(1_350_000_000), (250_000_000, 2));
        assert_eq!((schedule.due_ns, schedule.missed), (1_400_000_000, 2));
    }

    #[test]
    fn another_rate_begins_one_period_from_now() {
        let mut schedule = Schedule::new(10.0, 1_000_000_000);
        schedule.change_rate(2.0, 900_000_000);
        assert_eq!((schedule.due_ns, schedule.missed), (1_400_000_000, 0));
        schedule.skip(1_400_000_000);
        assert_eq!((schedule.due_ns, schedule.missed), (1_900_000_000, 1));
    }

    const MS: i64 = 1_000_000;

    #[test]
    fn a_sample_before_its_time_takes_nothing_from_the_next_one() {
        let mut schedule = Schedule::new(10.0, 500);
        assert_eq!((schedule.advance(500), schedule.due_ns), ((0, 0), 500 + 100 * MS));
        assert_eq!((schedule.advance(600), schedule.due_ns), ((0, 0), 500 + 200 * MS));
    }

    #[test]
    fn a_hole_that_a_change_of_rate_ends_is_counted_whole() {
        let mut schedule = Schedule::new(10.0, 0);
        schedule.advance(0);
        schedule.change_rate(2.0, 18_000 * MS);
        assert_eq!((schedule.missed, schedule.due_ns), (180, 18_500 * MS));
    }

    #[test]
    fn a_deadline_at_which_no_frame_may_be_made_is_missed() {
        let mut schedule = Schedule::new(10.0, 0);
        for (now_ms, missed, due_ms) in [(-1, 0, 0), (0, 1, 100), (350, 4, 400)] {
            schedule.skip(now_ms * MS);
            assert_eq!((schedule.missed, schedule.due_ns), (missed, due_ms * MS));
        }
    }

    proptest::proptest! {
        #[test]
        fn every_deadline_is_met_or_missed(
            steps in proptest::collection::vec((1.0_f64..100.0, 0_i64..2_000 * MS), 1..30)
        ) {
            let mut schedule = Schedule::new(steps[0].0, 0);
            let (mut now_ns, mut missed) = (0, 0);
            for (rate_hz, pause_ns) in steps {
                now_ns += pause_ns;
                if now_ns >= schedule.due_ns {
                    missed += (now_ns - schedule.due_ns) / schedule.period_ns() + 1;
                }
                schedule.change_rate(rate_hz, now_ns);
                assert_eq!(schedule.missed, missed.unsigned_abs());
                now_ns = schedule.due_ns;
                let (late_ns, skipped) = schedule.advance(now_ns + schedule.period_ns() / 2);
                assert_eq!((late_ns, skipped), (schedule.period_ns() / 2, 0));
                assert_eq!(schedule.due_ns, now_ns + schedule.period_ns());
            }
        }
    }
}
