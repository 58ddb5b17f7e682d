//! An example: a service with a pool that tidscope reads and steers.
//!
//! Each line of its input is a number of requests to serve; it logs what it measured itself. Start it
//! with `cargo run`, attach to it, and type numbers.

use std::io::{self, BufRead};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::{Duration, Instant};
use tidscope_agent::{start, Failed, Pool};

/// Cumulative measurements that the service makes itself.
#[derive(Default)]
struct Totals {
    finished: u64,
    failed: u64,
    response: Duration,
    queue_wait: Duration,
    run: Duration,
}

impl Totals {
    fn note(&mut self, queued: Instant, started: Instant, failed: bool) {
        let now = Instant::now();
        self.finished += 1;
        self.failed += u64::from(failed);
        self.response += now - queued;
        self.queue_wait += started - queued;
        self.run += now - started;
    }

    fn line(&self) -> String {
        format!(
            "{{\"finished\":{},\"failed\":{},\"response_ns\":{},\"queue_wait_ns\":{},\"run_ns\":{}}}",
            self.finished,
            self.failed,
            self.response.as_nanos(),
            self.queue_wait.as_nanos(),
            self.run.as_nanos()
        )
    }
}

/// Serve a request; every fiftieth fails.
fn serve(number: u64, queued: Instant, seen: &Mutex<Totals>) -> Result<(), Failed> {
    let started = Instant::now();
    sleep(Duration::from_millis(1 + number % 3));
    let fails = number % 50 == 0;
    seen.lock().unwrap().note(queued, started, fails);
    if fails {
        Err(Failed)
    } else {
        Ok(())
    }
}

fn main() -> io::Result<()> {
    let pool = Pool::new("requests", 4);
    let agent = start(&pool, 1, 16)?;
    println!("ready {}", agent.path().display());
    let seen = Arc::new(Mutex::new(Totals::default()));
    for line in io::stdin().lock().lines() {
        for number in 0..line?.parse().unwrap_or(0) {
            let (queued, seen) = (Instant::now(), seen.clone());
            pool.submit(move || serve(number, queued, &seen));
        }
        pool.drain();
        println!("{}", seen.lock().unwrap().line());
    }
    Ok(())
}
