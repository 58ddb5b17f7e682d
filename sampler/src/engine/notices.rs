//! Notices of targets for Python: collected until Python takes them, and announced by one descriptor.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::os::wait::Waker;
use crate::processes;

/// Executions that are kept for one target; more are counted as missed.
const MAX_EXECUTIONS: usize = 65_536;

/// Events of one target.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notice {
    /// Processes in which threads began or have other names, as far as they are known.
    pub named: BTreeSet<u32>,
    /// True if the process runs another program, or its main thread has another name.
    pub program: bool,
    /// GOMAXPROCS of the process, where it has changed.
    pub gomaxprocs: Option<u64>,
    /// Executions of members, and of all processes where the group matches an expression.
    pub executions: Vec<processes::Event>,
    /// Executions that were not kept.
    pub executions_missed: u64,
    /// Events of processes that the kernel had no room for.
    pub events_lost: u64,
    /// True if a sample was taken after Python asked for one.
    pub sampled: bool,
    /// True if no process is left: Python says whether the target is over.
    pub empty: bool,
    /// True if the target has ended, and its last sample waits for tables.
    pub ending: bool,
    /// The exit status of the process (as wait(2) gives it; None if unknown), and the number of the last
    /// frame, once the target is not sampled any more.
    pub over: Option<(Option<u32>, u64)>,
}

impl Notice {
    /// Adds an execution.
    pub fn execute(&mut self, event: processes::Event) {
        if self.executions.len() < MAX_EXECUTIONS {
            self.executions.push(event);
        } else {
            self.executions_missed += 1;
        }
    }
}

struct Shared {
    notices: Mutex<BTreeMap<String, Notice>>,
    waker: Waker,
}

/// The board on which notices are left; all copies are of one board.
#[derive(Clone)]
pub struct Board(Arc<Shared>);

impl Board {
    /// Makes a board without notices.
    ///
    /// # Errors
    /// The error of eventfd(2).
    pub fn new() -> io::Result<Self> {
        Ok(Self(Arc::new(Shared { notices: Mutex::default(), waker: Waker::new()? })))
    }

    /// Becomes readable when a notice is left.
    pub fn waker(&self) -> &Waker {
        &self.0.waker
    }

    /// Adds to the notice of a target.
    pub fn leave(&self, target: &str, change: impl FnOnce(&mut Notice)) {
        let mut all = self.0.notices.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(target) {
            Some(notice) => change(notice),
            None => change(all.entry(target.to_owned()).or_default()),
        }
        drop(all);
        self.0.waker.wake();
    }

    /// Takes all notices, by target.
    pub fn take(&self) -> BTreeMap<String, Notice> {
        self.0.waker.rest();
        std::mem::take(&mut *self.0.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::os::wait::readable;
    use std::os::fd::AsFd;

    #[test]
    fn notices_wait_until_they_are_taken() {
        let board = Board::new().unwrap();
        assert!(!readable(board.waker().as_fd(), 0));
        board.leave("a", |notice| notice.program = true);
        board.leave("a", |notice| notice.named.extend([7, 7, 3]));
        assert!(readable(board.waker().as_fd(), 0));
        let notices = board.take();
        assert!(notices["a"].program && notices["a"].named.iter().eq(&[3, 7]));
        assert!(!readable(board.waker().as_fd(), 0) && board.take().is_empty());
    }
}
