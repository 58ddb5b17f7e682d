//! A program with a runtime of tokio of two workers and a pool of rayon of three, which its agent
//! reports. Each line of its input lets it do something, and gets an answer:
//!
//! tasks N   spawn N tasks, each of which waits once -> tasks, and what tokio itself counts by now
//! block N   run N blocking calls, one after the other -> block
//! jobs N    run N jobs of 1 ms on rayon; every tenth panics -> jobs, and nanoseconds that they ran

use std::io::{self, BufRead};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

fn main() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_time().build().unwrap();
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).panic_handler(|_| ());
    let threads = Arc::new(threads.build().unwrap());
    std::panic::set_hook(Box::new(|_| ()));
    tidscope_agent::tokio::watch_runtime("web", runtime.handle());
    let crunching = tidscope_agent::rayon::watch("crunching", &threads);
    let agent = tidscope_agent::report_pools().unwrap();
    println!("ready {}", agent.path().display());
    for line in io::stdin().lock().lines() {
        let line = line.unwrap();
        let (word, argument) = line.split_once(' ').unwrap_or((line.as_str(), "0"));
        let number: u64 = argument.parse().unwrap();
        match word {
            "tasks" => tasks(&runtime, number),
            "block" => {
                for _ in 0..number {
                    runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
                }
                println!("block");
            }
            "jobs" => {
                let (ran, ended) = (Arc::new(AtomicU64::new(0)), mpsc::channel::<()>());
                for job in 0..number {
                    let (ran, done) = (ran.clone(), ended.0.clone());
                    threads.spawn(crunching.wrap(move || {
                        let (begun, _ends) = (Instant::now(), done);
                        while begun.elapsed() < Duration::from_millis(1) {}
                        ran.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::SeqCst);
                        assert!(job % 10 != 9, "every tenth fails");
                    }));
                }
                drop(ended.0);
                assert!(ended.1.recv().is_err());
                println!("jobs {}", ran.load(Ordering::SeqCst));
            }
            _ => println!("what?"),
        }
    }
}

/// Spawn tasks and wait for them.
fn tasks(runtime: &Runtime, number: u64) {
    let spawned: Vec<_> = (0..number)
        .map(|_| runtime.spawn(async { tokio::time::sleep(Duration::from_millis(1)).await }))
        .collect();
    runtime.block_on(async {
        for task in spawned {
            task.await.unwrap();
        }
    });
    let metrics = runtime.metrics();
    let sum = |count: &dyn Fn(usize) -> u64| (0..metrics.num_workers()).map(count).sum::<u64>();
    let parks = sum(&|worker| metrics.worker_park_count(worker));
    #[cfg(tokio_unstable)]
    let (all, polls, steals) = (
        metrics.spawned_tasks_count(),
        sum(&|worker| metrics.worker_poll_count(worker)),
        sum(&|worker| metrics.worker_steal_count(worker)),
    );
    #[cfg(not(tokio_unstable))]
    let (all, polls, steals) = (0, 0, 0);
    println!("tasks {} {} {} {}", all, parks, polls, steals);
}
