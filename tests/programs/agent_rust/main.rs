//! A program with the Rust agent, driven by lines at its standard input; each gets an answer.
//!
//! ops N      do N jobs                  -> ops N
//! busy N     how many can work at once  -> busy M
//! restart    ask for a new search       -> restart
//! close      end the agent              -> close

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;
use tidscope_agent::{start, Pool};

/// Barrier that releases a number of threads together.
struct Barrier {
    waiting: Mutex<(usize, usize)>,
    changed: Condvar,
    number: usize,
}

impl Barrier {
    /// Return true if all other threads arrived in time.
    fn wait(&self) -> bool {
        let mut waiting = self.waiting.lock().unwrap();
        let round = waiting.1;
        waiting.0 += 1;
        if waiting.0 == self.number {
            *waiting = (0, round + 1);
            self.changed.notify_all();
            return true;
        }
        let patience = Duration::from_secs(120);
        let same = |waiting: &mut (usize, usize)| waiting.1 == round;
        let waited = self.changed.wait_timeout_while(waiting, patience, same).unwrap();
        !waited.1.timed_out()
    }
}

/// The most jobs that ran at once; 0 if never this many did.
fn busy(pool: &Pool, number: usize) -> usize {
    let together = Arc::new(Barrier {
        waiting: Mutex::new((0, 0)),
        changed: Condvar::new(),
        number,
    });
    let counts = Arc::new((AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0)));
    for _ in 0..4 * number {
        let (together, counts) = (together.clone(), counts.clone());
        pool.submit(move || {
            let (running, most, late) = &*counts;
            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(now, Ordering::SeqCst);
            if !together.wait() {
                late.fetch_add(1, Ordering::SeqCst);
            }
            running.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        });
    }
    pool.drain();
    if counts.2.load(Ordering::SeqCst) > 0 {
        return 0;
    }
    counts.1.load(Ordering::SeqCst)
}

fn main() {
    let pool = Pool::new("pool", 3);
    let mut agent = match start(&pool, 1, 8) {
        Ok(agent) => agent,
        Err(error) => return println!("failed: {}", error),
    };
    println!("ready {}", agent.path().display());
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let (word, argument) = line.split_once(' ').unwrap_or((line.as_str(), "0"));
        let number = argument.parse().unwrap();
        match word {
            "ops" => {
                for _ in 0..number {
                    pool.submit(|| Ok(()));
                }
                pool.drain();
                println!("ops {}", number);
            }
            "busy" => println!("busy {}", busy(&pool, number)),
            "restart" => {
                agent.restart_search();
                println!("restart");
            }
            "close" => {
                agent.close();
                println!("close");
            }
            _ => println!("what?"),
        }
    }
}
