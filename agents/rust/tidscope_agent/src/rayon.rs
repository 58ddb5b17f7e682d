//! Pools of rayon: rayon reports the number of threads; `Watched::wrap` counts the submitted jobs.

use crate::registry::Watched;

/// Report the global pool: `rayon::spawn(pool.wrap(job))`.
pub fn watch_global(name: &str) -> Watched {
    Watched::new(name, "rayon", ::rayon::current_num_threads)
}

/// Report a pool: `threads.spawn(pool.wrap(job))`.
pub fn watch(name: &str, threads: &std::sync::Arc<::rayon::ThreadPool>) -> Watched {
    let threads = threads.clone();
    Watched::new(name, "rayon", move || threads.current_num_threads())
}
