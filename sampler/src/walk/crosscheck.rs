//! The check of walks against taskstats: a walk says no more, and the next walk no less.
//!
//! Counters only grow, so of a thread that lives through a walk, a question to taskstats and the next
//! walk, every field lies between. Threads at random are asked about, 16 for each walk, and all new ones.
//! They are asked about together after every eighth walk: one question costs as much as a hundred threads
//! in it.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};

use crate::columns::Rows;
use crate::ids::{IdMap, IdSet};
use crate::source::ReadError;

/// Walks between cross-checks; the first walk is checked.
const EVERY: u64 = 8;
/// Number of threads sampled for each cross-check.
const SHARE: usize = 16 * EVERY as usize;
/// Maximum new threads in a cross-check; further ones wait.
const MAX_NEW: usize = 512;

/// Second source of single threads: taskstats.
pub trait Ask: Send {
    /// Reads these threads into `rows`, which are empty; threads that have gone are left out.
    ///
    /// # Errors
    /// `ReadError` if the kernel refused or answered nonsense.
    fn ask(&mut self, tids: &[u32], rows: &mut Rows) -> Result<(), ReadError>;
}

/// The check of the walks of one target.
pub struct CrossCheck {
    asker: Box<dyn Ask>,
    names: Vec<String>,
    walks: u64,
    /// Threads of the walk that was asked about, and what taskstats said, in the same order.
    open: Option<(Rows, Rows)>,
    known: (Vec<u32>, Vec<i64>),
    new: Vec<u32>,
    random: u64,
}

impl CrossCheck {
    /// Makes a check of the columns `names`, which are those of the asker and the first ones of walks.
    pub fn new(asker: Box<dyn Ask>, names: Vec<String>) -> Self {
        let random = RandomState::new().build_hasher().finish() | 1;
        Self {
            asker,
            names,
            walks: 0,
            open: None,
            known: (Vec::new(), Vec::new()),
            new: Vec::new(),
            random,
        }
    }

    /// Compares a walk with the question before it, and asks about its threads if that is due.
    ///
    /// # Errors
    /// `Disagreement` where a walk and taskstats disagree; errors of the asker.
    pub fn check(&mut self, walked: &Rows) -> Result<(), ReadError> {
        let same = self.meet(walked);
        if let Some((before, asked)) = self.open.take() {
            if let Some(found) = self.compare(&before, &asked, walked, same) {
                return Err(ReadError::Disagreement(found));
            }
        }
        if self.walks.is_multiple_of(EVERY) && !walked.is_empty() {
            self.ask(walked)?;
        }
        self.walks += 1;
        Ok(())
    }

    /// Notes who is new and who is gone; true if the threads are those of the walk before.
    fn meet(&mut self, walked: &Rows) -> bool {
        if self.known.0 == walked.tid && self.known.1 == walked.start_ns {
            return true;
        }
        if !self.new.is_empty() {
            let walked: IdSet = walked.tid.iter().copied().collect();
            self.new.retain(|tid| walked.contains(tid));
        }
        // Mostly a few began or ended: whoever stands before and behind them is known.
        let (tids, starts) = (&self.known.0, &self.known.1);
        let same = |old: usize, new: usize| {
            (tids[old], starts[old]) == (walked.tid[new], walked.start_ns[new])
        };
        let (before, now) = (tids.len(), walked.len());
        let first = (0..before.min(now)).take_while(|&row| same(row, row)).count();
        let rest = before.min(now) - first;
        let last = (1..=rest).take_while(|&back| same(before - back, now - back)).count();
        let known: IdMap<i64> =
            (first..before - last).map(|row| (tids[row], starts[row])).collect();
        self.new.extend(
            (first..now - last)
                .filter(|&row| known.get(&walked.tid[row]) != Some(&walked.start_ns[row]))
                .map(|row| walked.tid[row]),
        );
        self.known = (walked.tid.clone(), walked.start_ns.clone());
        false
    }

    fn ask(&mut self, walked: &Rows) -> Result<(), ReadError> {
        let count = walked.len();
        let mut chosen: Vec<usize> = (0..SHARE).map(|_| self.choose(count)).collect();
        if !self.new.is_empty() {
            let now: IdSet = self.new.drain(..self.new.len().min(MAX_NEW)).collect();
            chosen.extend((0..count).filter(|&row| now.contains(&walked.tid[row])));
        }
        chosen.sort_unstable();
        chosen.dedup();
        let tids: Vec<u32> = chosen.iter().map(|&row| walked.tid[row]).collect();
        let mut asked = Rows::new(self.names.len());
        self.asker.ask(&tids, &mut asked)?;
        let row_of: IdMap<usize> = chosen.iter().map(|&row| (walked.tid[row], row)).collect();
        let mut before = Rows::new(walked.width());
        let mut answered = Rows::new(self.names.len());
        for (row, tid) in asked.tid.iter().enumerate() {
            if let Some(&there) = row_of.get(tid) {
                before.push_row(walked, there);
                answered.push_row(&asked, row);
            }
        }
        self.open = Some((before, answered));
        Ok(())
    }

    /// A number at random below `count`, which is not 0 (xorshift; nobody has to be unable to guess it).
    fn choose(&mut self, count: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random % count as u64) as usize
    }

    /// The first disagreement in words.
    ///
    /// Threads that are gone are left out: whose counters taskstats gave is known only of those that the
    /// id stood for in both walks. A thread that executes a program takes over id and start of its main
    /// thread, so main threads are left out where threads differ.
    fn compare(&self, before: &Rows, asked: &Rows, after: &Rows, same: bool) -> Option<String> {
        let row_of: IdMap<usize> =
            after.tid.iter().enumerate().map(|(row, &tid)| (tid, row)).collect();
        for row in 0..before.len() {
            let tid = before.tid[row];
            let Some(&then) = row_of.get(&tid) else { continue };
            if before.start_ns[row] != after.start_ns[then] || (!same && tid == before.process[row])
            {
                continue;
            }
            for (column, name) in self.names.iter().enumerate() {
                let low = before.get(row, column);
                let said = asked.get(row, column);
                let high = after.get(then, column);
                if low > said {
                    return Some(format!(
                        "{name} of thread {tid} is {low} by the walk and {said} by taskstats after it"
                    ));
                }
                if said > high {
                    return Some(format!(
                        "{name} of thread {tid} is {said} by taskstats and {high} by the walk after it"
                    ));
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::Identity;
    use std::sync::{Arc, Mutex};

    struct Answers(Arc<Mutex<u64>>, usize);

    impl Ask for Answers {
        fn ask(&mut self, tids: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
            for &tid in tids {
                let row = rows.push(Identity { tid, ..Identity::default() });
                rows.set(row, 0, *self.0.lock().unwrap());
            }
            self.1 += tids.len();
            Ok(())
        }
    }

    fn walk(tids: &[u32], start_ns: i64, value: u64) -> Rows {
        let mut rows = Rows::new(1);
        for &tid in tids {
            let row = rows.push(Identity { tid, process: 1, start_ns, ..Identity::default() });
            rows.set(row, 0, value);
        }
        rows
    }

    fn check(answer: u64) -> (CrossCheck, Arc<Mutex<u64>>) {
        let answer = Arc::new(Mutex::new(answer));
        let asker = Box::new(Answers(Arc::clone(&answer), 0));
        (CrossCheck::new(asker, vec!["switches".into()]), answer)
    }

    #[test]
    fn values_between_two_walks_agree() {
        let (mut check, _) = check(5);
        check.check(&walk(&[1, 2], 10, 5)).unwrap();
        check.check(&walk(&[1, 2], 10, 6)).unwrap();
    }

    #[test]
    fn a_walk_that_says_more_disagrees() {
        let (mut check, _) = check(5);
        check.check(&walk(&[1, 2], 10, 6)).unwrap();
        let error = check.check(&walk(&[1, 2], 10, 7)).unwrap_err().to_string();
        assert!(error.contains("switches of thread") && error.contains("is 6 by the walk and 5"));
    }

    #[test]
    fn a_walk_after_it_that_says_less_disagrees() {
        let (mut check, _) = check(9);
        check.check(&walk(&[1], 10, 5)).unwrap();
        let error = check.check(&walk(&[1], 10, 8)).unwrap_err().to_string();
        assert!(error.contains("is 9 by taskstats and 8 by the walk after it"));
    }

    #[test]
    fn another_thread_under_the_id_and_a_main_thread_that_may_have_executed_are_left_out() {
        let (mut one, _) = check(9);
        one.check(&walk(&[2], 10, 5)).unwrap();
        one.check(&walk(&[2], 11, 1)).unwrap();
        let (mut two, _) = check(9);
        two.check(&walk(&[1, 2], 10, 5)).unwrap();
        two.check(&walk(&[1], 10, 1)).unwrap();
    }

    #[test]
    fn all_new_threads_are_asked_about_in_turn() {
        let (mut check, _) = check(5);
        let many: Vec<u32> = (10..10 + 3 * MAX_NEW as u32).collect();
        for _ in 0..3 * EVERY {
            check.check(&walk(&many, 10, 5)).unwrap();
        }
        assert!(check.new.is_empty());
    }

    /// Answers so of every thread, and notes whom it was asked about.
    struct Asked(Arc<Mutex<Vec<Vec<u32>>>>);

    impl Ask for Asked {
        fn ask(&mut self, tids: &[u32], rows: &mut Rows) -> Result<(), ReadError> {
            self.0.lock().unwrap().push(tids.to_vec());
            for &tid in tids {
                rows.push(Identity { tid, ..Identity::default() });
            }
            Ok(())
        }
    }

    #[test]
    fn new_threads_are_all_asked_about_and_others_by_share() {
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asker = Box::new(Asked(Arc::clone(&questions)));
        let mut check = CrossCheck::new(asker, vec!["switches".into()]);
        let mut take = |walked: &Rows| {
            check.check(walked).unwrap();
            std::mem::take(&mut *questions.lock().unwrap())
        };
        let many: Vec<u32> = (10..200).collect();
        assert_eq!(take(&walk(&many, 1, 0)).concat(), many);
        for _ in 1..EVERY {
            assert!(take(&walk(&many, 1, 0)).is_empty());
        }
        let question = take(&walk(&many, 1, 0)).remove(0);
        assert!(question.len() <= SHARE && question.is_sorted());
        // A further one, and another one under a known id.
        let mut more = walk(&[&many[..], &[300]].concat(), 1, 0);
        more.start_ns[40] = 2;
        for _ in 1..EVERY {
            assert!(take(&more).is_empty());
        }
        let question = take(&more).remove(0);
        assert!(question.contains(&50) && question.contains(&300));
        assert!(question.len() <= SHARE + 2);
    }

    #[test]
    fn more_new_threads_than_may_be_asked_about_wait() {
        let questions = Arc::new(Mutex::new(Vec::new()));
        let asker = Box::new(Asked(Arc::clone(&questions)));
        let mut check = CrossCheck::new(asker, vec!["switches".into()]);
        let many: Vec<u32> = (10..10 + 2 * MAX_NEW as u32 + 50).collect();
        for _ in 0..=2 * EVERY {
            check.check(&walk(&many, 1, 0)).unwrap();
        }
        let questions = questions.lock().unwrap();
        let all: IdSet = questions.iter().flatten().copied().collect();
        assert_eq!(all.len(), many.len());
        assert!(questions.iter().all(|question| question.len() <= MAX_NEW + SHARE));
    }
}
