//! Shared code of the Rust workloads: operations, and the lines by which an experiment begins and ends a
//! measurement. docs/experiments.md describes the lines.

use std::io::{self, BufRead, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Number of finished operations.
pub static OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// Count an operation.
pub fn done() {
    OPERATIONS.fetch_add(1, Ordering::Relaxed);
}

/// Report readiness, and answer the lines of the input until its end.
///
/// `futile` counts wake-ups of workers that found nothing to do, where the runtime knows them.
pub fn serve(address: &str, futile: impl Fn() -> Option<u64>) -> io::Result<()> {
    println!("{{\"ready\": \"{address}\"}}");
    let (mut began, mut ops_at, mut futile_at) = (Instant::now(), 0, None);
    for line in io::stdin().lock().lines() {
        match line?.as_str() {
            "begin" => {
                (began, futile_at) = (Instant::now(), futile());
                ops_at = OPERATIONS.load(Ordering::Relaxed);
                println!("{{}}");
            }
            "end" => {
                let elapsed_s = began.elapsed().as_secs_f64();
                let ops = OPERATIONS.load(Ordering::Relaxed) - ops_at;
                let wakeups = match (futile(), futile_at) {
                    (Some(now), Some(before)) => {
                        format!(", \"idle_wakeups\": {}", (now - before) as f64 / elapsed_s)
                    }
                    _ => String::new(),
                };
                println!("{{\"ops\": {ops}, \"elapsed_s\": {elapsed_s}{wakeups}}}");
            }
            other => {
                eprintln!("{other:?} is neither begin nor end");
                std::process::exit(1);
            }
        }
        io::stdout().flush()?;
    }
    Ok(())
}
