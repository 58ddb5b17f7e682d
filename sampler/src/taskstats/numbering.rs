//! The sequence numbers of exit records: a second account of the records that were lost.
//!
//! The kernel numbers the exit records of each CPU without a gap (kernel/taskstats.c: prepare_reply). It
//! is not the first account, for three reasons: a loss at the end shows only when another thread has
//! exited on that CPU; a thread that is preempted after it took its number is overtaken by later ones;
//! and one that moves to another CPU meanwhile sends its record to the listeners of its former CPU. The
//! sum over all CPUs is right again as soon as the last record has come.

/// A number so far ahead of the expected one belongs to the counter of another CPU.
const FAR: u32 = 1 << 20;

/// Numbers seen on all CPUs.
#[derive(Clone, Debug, Default)]
pub struct Numbering {
    next: Vec<Option<u32>>,
    taken: i64,
    seen: i64,
    missing_before: i64,
    missing_reported: i64,
}

impl Numbering {
    /// Takes in a number that came on the socket of this place.
    pub fn note(&mut self, link: usize, number: u32) {
        if self.next.len() <= link {
            self.next.resize(link + 1, None);
        }
        let expected = self.next[link].unwrap_or(number);
        let ahead = number.wrapping_sub(expected);
        if ahead < FAR {
            self.next[link] = Some(number.wrapping_add(1));
            self.taken += i64::from(ahead) + 1;
        } else {
            self.next[link] = Some(expected);
        }
        self.seen += 1;
    }

    /// Records that were numbered between the first and the last seen, and not seen. Below 0 as long as
    /// more records moved to another CPU than are missing.
    pub fn missing(&self) -> i64 {
        self.taken - self.seen
    }

    /// Records that were missing at the last call, too, and were not reported by an earlier one: a record
    /// that was only overtaken has come by the next call.
    pub fn take_lost(&mut self) -> u64 {
        let missing = self.missing();
        let settled = missing.min(self.missing_before);
        self.missing_before = missing;
        let more = (settled - self.missing_reported).max(0);
        self.missing_reported += more;
        more.unsigned_abs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missing(batches: &[(usize, &[u32])]) -> i64 {
        let mut numbering = Numbering::default();
        for (link, numbers) in batches {
            numbers.iter().for_each(|&number| numbering.note(*link, number));
        }
        numbering.missing()
    }

    #[test]
    fn gaps_are_missing_and_overtaken_numbers_are_not() {
        assert_eq!(missing(&[]), 0);
        assert_eq!(missing(&[(0, &[5])]), 0);
        assert_eq!(missing(&[(0, &[5, 6, 7]), (0, &[8])]), 0);
        assert_eq!(missing(&[(0, &[5, 9])]), 3);
        assert_eq!(missing(&[(0, &[5]), (0, &[9])]), 3);
        assert_eq!(missing(&[(0, &[5, 7, 6, 8])]), 0);
        assert_eq!(missing(&[(0, &[5, 7]), (0, &[8])]), 1);
        assert_eq!(missing(&[(0, &[5, 6]), (1, &[900, 903])]), 2);
    }

    #[test]
    fn numbers_start_again_at_0() {
        assert_eq!(missing(&[(0, &[u32::MAX - 1, u32::MAX, 0, 1])]), 0);
        assert_eq!(missing(&[(0, &[u32::MAX - 1, 1])]), 2);
        assert_eq!(missing(&[(0, &[u32::MAX - 1, 0, u32::MAX])]), 0);
    }

    #[test]
    fn a_record_that_moved_to_another_cpu_is_not_missing_in_the_sum() {
        let (far, far_next) = (50_000_000, 50_000_001);
        assert_eq!(missing(&[(0, &[far, far_next]), (1, &[900]), (0, &[901]), (1, &[902])]), 0);
        let moved: [(usize, &[u32]); 4] =
            [(0, &[900]), (1, &[far]), (0, &[far_next]), (1, &[far_next + 1])];
        assert_eq!(missing(&moved), 0);
        assert_eq!(missing(&[&moved[..], &[(0, &[901])]].concat()), 0);
        let near: Vec<u32> = (901..930).collect();
        assert_eq!(missing(&[(0, &[900]), (1, &[920]), (0, &[921]), (1, &[922]), (0, &near)]), 0);
    }

    #[test]
    fn a_gap_is_lost_when_it_is_there_the_next_time() {
        let mut numbering = Numbering::default();
        [1, 2, 411].iter().for_each(|&number| numbering.note(0, number));
        [u32::MAX, 3].iter().for_each(|&number| numbering.note(1, number));
        assert_eq!([(); 3].map(|()| numbering.take_lost()), [0, 411, 0]);
        numbering.note(0, 413);
        assert_eq!([(); 3].map(|()| numbering.take_lost()), [0, 1, 0]);
    }
}
