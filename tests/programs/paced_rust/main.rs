//! A pool whose throughput at each size is known: paced_rust LARGEST BEST PENALTY SECONDS.
//!
//! Jobs only wait. Up to BEST of them at a time wait equally long (SECONDS); each one more makes all of
//! them wait for longer than it adds, by a share PENALTY. Works until its input ends.

use std::cell::Cell;
use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{mpsc, Arc};
use std::thread;
use std::time::{Duration, Instant};
use tidscope_agent::{start, Pool};

/// A worker that is later than this was not late: it had no job.
const LATE: Duration = Duration::from_millis(300);

static RUNNING: AtomicUsize = AtomicUsize::new(0);
thread_local!(static DUE: Cell<Option<Instant>> = Cell::new(None));

struct Pace {
    best: f64,
    penalty: f64,
    seconds: f64,
}

/// Waits as long as so many at a time have to; after a late wake-up for less.
fn job(pace: &Pace) {
    let running = (RUNNING.fetch_add(1, Ordering::SeqCst) + 1) as f64;
    let over = f64::max(0.0, running - pace.best);
    let wait = pace.seconds * f64::max(1.0, running / pace.best) * (1.0 + pace.penalty * over);
    let now = Instant::now();
    let from = DUE.with(Cell::get).filter(|&due| now < due + LATE).unwrap_or(now);
    let due = from + Duration::from_secs_f64(wait);
    DUE.with(|cell| cell.set(Some(due)));
    thread::sleep(due.saturating_duration_since(now));
    RUNNING.fetch_sub(1, Ordering::SeqCst);
}

/// Keeps the queue filled, but not without end.
fn feed(pool: &Pool, largest: usize, pace: Pace) {
    let pace = Arc::new(pace);
    let (done, ended) = mpsc::channel();
    for _ in 0..2 * largest {
        done.send(()).unwrap();
    }
    for () in ended {
        let (pace, done) = (pace.clone(), done.clone());
        pool.submit(move || {
            job(&pace);
            done.send(()).unwrap();
            Ok(())
        });
    }
}

fn main() {
    let given: Vec<f64> = std::env::args().skip(1).map(|one| one.parse().unwrap()).collect();
    let (largest, pace) = match given[..] {
        [largest, best, penalty, seconds] => (largest as usize, Pace { best, penalty, seconds }),
        _ => panic!("paced_rust LARGEST BEST PENALTY SECONDS"),
    };
    let pool = Pool::new("pool", 1);
    let agent = start(&pool, 1, largest).unwrap();
    let fed = pool.clone();
    thread::spawn(move || feed(&fed, largest, pace));
    println!("ready {}", agent.path().display());
    io::stdin().read_to_end(&mut Vec::new()).unwrap();
}
