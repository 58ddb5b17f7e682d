//! All pools of the program, by name; pools of one name are added up.

use crate::figures::Figures;
use crate::json::quote;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

const MAX_NAMES: usize = 32;
const LONGEST_NAME: usize = 64;

/// Figures of a pool; `None` if unknown. Counters count from the pool's beginning.
#[derive(Clone, Debug, Default)]
pub struct PoolReading {
    pub size: Option<u64>,
    pub busy: Option<u64>,
    pub queue: Option<u64>,
    pub submitted: Option<u64>,
    pub started: Option<u64>,
    pub finished: Option<u64>,
    pub failed: Option<u64>,
    pub response_ns: Option<u64>,
    pub run_ns: Option<u64>,
    pub queue_wait_ns: Option<u64>,
    pub idle_ns: Option<u64>,
    pub parks: Option<u64>,
    pub steals: Option<u64>,
    pub polls: Option<u64>,
    pub response: Option<Vec<u64>>,
    pub queue_wait: Option<Vec<u64>>,
}

impl PoolReading {
    /// Figures of a pool whose jobs are counted individually.
    pub(crate) fn of(size: u64, busy: u64, queue: u64, did: &Figures) -> Self {
        PoolReading {
            size: Some(size),
            busy: Some(busy),
            queue: Some(queue),
            submitted: Some(did.submitted),
            started: Some(did.started),
            finished: Some(did.finished),
            failed: Some(did.failed),
            response_ns: Some(did.response_ns),
            run_ns: Some(did.run_ns),
            queue_wait_ns: Some(did.queue_wait_ns),
            idle_ns: Some(did.idle_ns),
            response: Some(did.response.to_vec()),
            queue_wait: Some(did.queue_wait.to_vec()),
            ..PoolReading::default()
        }
    }

    /// An element of `read_pools`.
    fn element(&self, name: &str, kind: &str) -> String {
        let numbers = [
            ("size", self.size),
            ("busy", self.busy),
            ("queue", self.queue),
            ("submitted", self.submitted),
            ("started", self.started),
            ("finished", self.finished),
            ("failed", self.failed),
            ("response_ns", self.response_ns),
            ("run_ns", self.run_ns),
            ("queue_wait_ns", self.queue_wait_ns),
            ("idle_ns", self.idle_ns),
            ("parks", self.parks),
            ("steals", self.steals),
            ("polls", self.polls),
        ];
        let mut text = format!("{{\"name\":{},\"kind\":{}", quote(name), quote(kind));
        for (member, value) in numbers {
            let value = value.map_or("null".to_string(), |number| number.to_string());
            text += &format!(",\"{}\":{}", member, value);
        }
        for (member, counts) in [("response", &self.response), ("queue_wait", &self.queue_wait)] {
            text += &format!(",\"{}\":{}", member, histogram(counts.as_deref()));
        }
        text + "}"
    }
}

/// Return a histogram without trailing zeros.
fn histogram(counts: Option<&[u64]>) -> String {
    let counts = match counts {
        Some(counts) => counts,
        None => return "null".to_string(),
    };
    let end = counts.iter().rposition(|&count| count > 0).map_or(0, |last| last + 1);
    let texts: Vec<String> = counts[..end].iter().map(u64::to_string).collect();
    format!("[{}]", texts.join(","))
}

type Read = Box<dyn Fn() -> PoolReading + Send>;

/// A pool that counts its jobs: size, busy workers, queued jobs and counters.
pub(crate) trait Counted: Send + Sync {
    fn report(&self) -> (u64, u64, u64, Figures);
}

enum Entry {
    /// Pools of one name: the live ones, and the counters of ended ones.
    Counted { kind: String, pools: Vec<Arc<dyn Counted>>, past: Box<Figures> },
    /// Function that returns all figures of a pool.
    Watched { kind: String, read: Read },
}

impl Entry {
    fn element(&self, name: &str) -> String {
        match self {
            Entry::Watched { kind, read } => read().element(name, kind),
            Entry::Counted { kind, pools, past } => {
                let (mut size, mut busy, mut queue) = (0, 0, 0);
                let mut total = (**past).clone();
                for pool in pools {
                    let (own_size, own_busy, own_queue, did) = pool.report();
                    size += own_size;
                    busy += own_busy;
                    queue += own_queue;
                    total.add(&did);
                }
                PoolReading::of(size, busy, queue, &total).element(name, kind)
            }
        }
    }
}

struct Registry {
    entries: Vec<(String, Entry)>,
    omitted: Vec<String>,
}

static REGISTRY: Mutex<Registry> = Mutex::new(Registry { entries: Vec::new(), omitted: Vec::new() });

fn registry() -> MutexGuard<'static, Registry> {
    // A panicking reader leaves the list unchanged.
    REGISTRY.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Report a pool by a function that returns all its figures, called once a second.
///
/// `kind` consists of lower-case letters, digits and hyphens. A pool of the same name is replaced.
pub fn watch<F>(name: &str, kind: &str, read: F)
where
    F: Fn() -> PoolReading + Send + 'static,
{
    put(name, Entry::Watched { kind: kind.to_string(), read: Box::new(read) });
}

pub(crate) fn add(name: &str, kind: &str, pool: Arc<dyn Counted>) {
    let name = shortened(name);
    {
        let mut held = registry();
        for (known, entry) in &mut held.entries {
            if let Entry::Counted { pools, .. } = entry {
                if *known == name {
                    pools.push(pool);
                    return;
                }
            }
        }
    }
    let past = Box::new(Figures::new());
    put(&name, Entry::Counted { kind: kind.to_string(), pools: vec![pool], past });
}

/// Remove an ended pool and keep its counters.
pub(crate) fn end(pool: &Arc<dyn Counted>) {
    let data = Arc::as_ptr(pool) as *const u8;
    for (_, entry) in &mut registry().entries {
        if let Entry::Counted { pools, past, .. } = entry {
            if let Some(at) = pools.iter().position(|one| Arc::as_ptr(one) as *const u8 == data) {
                past.add(&pools.remove(at).report().3);
            }
        }
    }
}

/// Return the answer to `read_pools`, without the time.
pub(crate) fn answer() -> String {
    let held = registry();
    let elements: Vec<String> =
        held.entries.iter().map(|(name, entry)| entry.element(name)).collect();
    format!("\"pools\":[{}],\"omitted\":{}", elements.join(","), held.omitted.len())
}

/// Number of jobs finished by all pools that count them.
pub(crate) fn finished() -> u64 {
    let count = |entry: &Entry| match entry {
        Entry::Watched { .. } => 0,
        Entry::Counted { pools, past, .. } => {
            past.finished + pools.iter().map(|pool| pool.report().3.finished).sum::<u64>()
        }
    };
    registry().entries.iter().map(|(_, entry)| count(entry)).sum()
}

fn put(name: &str, entry: Entry) {
    let name = shortened(name);
    let mut held = registry();
    if let Some(known) = held.entries.iter_mut().find(|(known, _)| *known == name) {
        known.1 = entry;
    } else if held.entries.len() < MAX_NAMES {
        held.entries.push((name, entry));
    } else if !held.omitted.contains(&name) {
        held.omitted.push(name);
    }
}

/// Return a name cut to a maximum length, never empty.
fn shortened(name: &str) -> String {
    if name.is_empty() {
        return "pool".to_string();
    }
    name.chars().take(LONGEST_NAME).collect()
}

/// A pool of the program whose jobs are counted by `wrap`.
#[derive(Clone)]
pub struct Watched(Arc<WatchedPool>);

struct WatchedPool {
    size: Box<dyn Fn() -> usize + Send + Sync>,
    state: Mutex<(u64, Figures)>,
}

impl Watched {
    /// Report a pool under a name; `size` returns its current number of workers.
    pub fn new<F>(name: &str, kind: &str, size: F) -> Self
    where
        F: Fn() -> usize + Send + Sync + 'static,
    {
        let state = Mutex::new((0, Figures::new()));
        let made = Arc::new(WatchedPool { size: Box::new(size), state });
        add(name, kind, made.clone());
        Watched(made)
    }

    /// Count a submitted job and return the closure that a worker runs in its place. A job that
    /// panics counts as failed.
    pub fn wrap<F, T>(&self, job: F) -> impl FnOnce() -> T + Send
    where
        F: FnOnce() -> T + Send,
    {
        let pool = self.0.clone();
        let queued = Instant::now();
        pool.lock().1.submitted += 1;
        move || {
            let mut run = Run { pool, queued, started: Instant::now(), failed: true };
            run.begin();
            let result = job();
            run.failed = false;
            result
        }
    }
}

impl WatchedPool {
    fn lock(&self) -> MutexGuard<'_, (u64, Figures)> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Counted for WatchedPool {
    fn report(&self) -> (u64, u64, u64, Figures) {
        let size = (self.size)() as u64;
        let (busy, did) = &mut *self.lock();
        let idle = size as i64 - *busy as i64;
        did.set_idle(idle, Instant::now());
        (size, *busy, did.submitted - did.started, did.clone())
    }
}

/// A running job; dropping this guard ends it, also after a panic.
struct Run {
    pool: Arc<WatchedPool>,
    queued: Instant,
    started: Instant,
    failed: bool,
}

impl Run {
    fn begin(&self) {
        let size = (self.pool.size)() as i64;
        let (busy, did) = &mut *self.pool.lock();
        *busy += 1;
        did.set_idle(size - *busy as i64, self.started);
        did.start(self.queued, self.started);
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let size = (self.pool.size)() as i64;
        let now = Instant::now();
        let (busy, did) = &mut *self.pool.lock();
        *busy -= 1;
        did.set_idle(size - *busy as i64, now);
        did.finish(self.queued, self.started, now, self.failed);
    }
}
