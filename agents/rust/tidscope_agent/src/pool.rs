//! A worker pool whose size can change while it runs.

use crate::figures::Figures;
use crate::registry::{add, end, Counted};
use std::collections::VecDeque;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::thread;
use std::time::Instant;

/// Error of a failed job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Failed;

type Work = Box<dyn FnOnce() -> Result<(), Failed> + Send>;

struct Job {
    run: Work,
    queued: Instant,
}

struct State {
    jobs: VecDeque<Job>,
    limit: usize,
    workers: usize,
    started: usize,
    closed: bool,
    did: Figures,
}

pub(crate) struct Workers {
    name: String,
    state: Mutex<State>,
    changed: Condvar,
}

/// A pool of worker threads with an unbounded queue. Clones share the pool.
///
/// Shrinking interrupts and drops no job: surplus workers end after their current job. `close` ends
/// all workers.
#[derive(Clone)]
pub struct Pool(pub(crate) Arc<Workers>);

impl Pool {
    /// Create a pool of 1 or more workers with a name; pools of one name are summed.
    pub fn new(name: &str, size: usize) -> Self {
        let state = State {
            jobs: VecDeque::new(),
            limit: size.max(1),
            workers: 0,
            started: 0,
            closed: false,
            did: Figures::new(),
        };
        let workers =
            Workers { name: name.to_string(), state: Mutex::new(state), changed: Condvar::new() };
        let made = Arc::new(workers);
        add(name, "threads", made.clone());
        Pool(made)
    }

    /// Queue a job for a worker. A job that returns an error or panics counts as failed. Return false
    /// if the pool is closed and the job was dropped.
    pub fn submit<F>(&self, job: F) -> bool
    where
        F: FnOnce() -> Result<(), Failed> + Send + 'static,
    {
        let mut state = self.0.lock();
        if state.closed {
            return false;
        }
        state.did.submitted += 1;
        state.jobs.push_back(Job { run: Box::new(job), queued: Instant::now() });
        self.start_missing(&mut state);
        self.0.changed.notify_one();
        true
    }

    /// Change the size; returns at once.
    pub fn resize(&self, size: usize) {
        let mut state = self.0.lock();
        state.limit = size.max(1);
        self.start_missing(&mut state);
        self.0.changed.notify_all();
    }

    /// Size that was set last.
    pub fn wanted(&self) -> usize {
        self.0.lock().limit
    }

    /// Effective size: the wanted one, or the number of workers while it is higher.
    pub fn size(&self) -> usize {
        self.0.lock().size()
    }

    /// Wait until no job is queued or running.
    pub fn drain(&self) {
        let mut state = self.0.lock();
        while !state.jobs.is_empty() || state.busy() > 0 {
            state = self.0.wait(state);
        }
    }

    /// Refuse further jobs, and wait until all are done. The counters stay reported.
    pub fn close(&self) {
        let mut state = self.0.lock();
        state.closed = true;
        self.0.changed.notify_all();
        while state.workers > 0 {
            state = self.0.wait(state);
        }
        drop(state);
        let pool: Arc<dyn Counted> = self.0.clone();
        end(&pool);
    }

    /// Return finished jobs, summed queue wait in nanoseconds, and started jobs.
    pub(crate) fn counts(&self) -> (u64, u64, u64) {
        let state = self.0.lock();
        (state.did.finished, state.did.queue_wait_ns, state.did.started)
    }

    fn start_missing(&self, state: &mut State) {
        while state.jobs.len() as i64 > state.did.idle() && state.workers < state.limit {
            let workers = self.0.clone();
            let name = format!("{}-{}", self.0.name, state.started);
            if thread::Builder::new().name(name).spawn(move || workers.work()).is_err() {
                return; // No thread is available; the existing workers run the job.
            }
            state.started += 1;
            state.workers += 1;
            state.count_idle(1);
        }
    }
}

impl State {
    fn size(&self) -> usize {
        self.limit.max(self.workers)
    }

    fn busy(&self) -> i64 {
        self.workers as i64 - self.did.idle()
    }

    fn count_idle(&mut self, change: i64) -> Instant {
        let now = Instant::now();
        self.did.set_idle(self.did.idle() + change, now);
        now
    }
}

impl Workers {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Jobs run without the lock, so a panic leaves the state consistent.
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn work(&self) {
        let mut state = self.lock();
        loop {
            while state.jobs.is_empty() && !state.closed && state.workers <= state.limit {
                state = self.wait(state);
            }
            if state.workers > state.limit {
                break;
            }
            let job = match state.jobs.pop_front() {
                Some(job) => job,
                None => break,
            };
            let started = state.count_idle(-1);
            state.did.start(job.queued, started);
            drop(state);
            let done = catch_unwind(AssertUnwindSafe(job.run));
            state = self.lock();
            let now = state.count_idle(1);
            state.did.finish(job.queued, started, now, !matches!(done, Ok(Ok(()))));
            if state.jobs.is_empty() {
                self.changed.notify_all();
            }
        }
        state.count_idle(-1);
        state.workers -= 1;
        self.changed.notify_all();
    }
}

impl Counted for Workers {
    fn report(&self) -> (u64, u64, u64, Figures) {
        let mut state = self.lock();
        state.count_idle(0);
        let size = if state.closed && state.workers == 0 { 0 } else { state.size() as u64 };
        (size, state.busy().max(0) as u64, state.jobs.len() as u64, state.did.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{Counted, Failed, Pool};

    #[test]
    fn each_job_is_counted_once() {
        let pool = Pool::new("counted", 3);
        for i in 0..1000 {
            assert!(pool.submit(move || if i % 10 == 0 { Err(Failed) } else { Ok(()) }));
        }
        pool.close();
        assert!(!pool.submit(|| Ok(())));
        let (size, busy, queue, did) = pool.0.report();
        assert_eq!((size, busy, queue), (0, 0, 0));
        assert_eq!((did.submitted, did.started, did.finished, did.failed), (1000, 1000, 1000, 100));
        assert_eq!(did.response_ns, did.queue_wait_ns + did.run_ns);
        assert_eq!(did.response.iter().sum::<u64>(), 1000);
    }

    #[test]
    fn a_job_that_panics_has_failed_and_its_worker_goes_on() {
        let pool = Pool::new("panicking", 1);
        pool.submit(|| panic!("on purpose"));
        pool.submit(|| Ok(()));
        pool.close();
        let did = pool.0.report().3;
        assert_eq!((did.finished, did.failed), (2, 1));
    }
}
