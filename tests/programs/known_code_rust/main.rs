//! Threads whose time in each function is known: see known_code.py.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

const BRIEFLY: Duration = Duration::from_micros(400);
const LONGER: Duration = Duration::from_millis(4);

#[repr(C)]
struct Timespec {
    seconds: i64,
    nanoseconds: i64,
}

extern "C" {
    fn gettid() -> i32;
    fn clock_gettime(clock: i32, time: *mut Timespec) -> i32;
}

fn cpu_time() -> Duration {
    let mut now = Timespec { seconds: 0, nanoseconds: 0 };
    // CLOCK_THREAD_CPUTIME_ID
    unsafe { clock_gettime(3, &mut now) };
    Duration::new(now.seconds as u64, now.nanoseconds as u32)
}

#[derive(Default)]
struct Worker {
    ns: BTreeMap<&'static str, u128>,
    never: Condvar,
    mutex: Mutex<()>,
}

impl Worker {
    fn timed(&mut self, name: &'static str, what: impl FnOnce(&Worker)) {
        let begin = Instant::now();
        what(self);
        *self.ns.entry(name).or_default() += begin.elapsed().as_nanos();
    }

    fn wait(&self, time: Duration) {
        let guard = self.mutex.lock().unwrap();
        let _ = self.never.wait_timeout_while(guard, time, |_| true).unwrap();
    }

    #[inline(never)]
    fn wait_briefly(&mut self) {
        self.timed("wait_briefly", |worker| worker.wait(BRIEFLY));
    }

    #[inline(never)]
    fn wait_longer(&mut self) {
        self.timed("wait_longer", |worker| worker.wait(LONGER));
    }

    #[inline(never)]
    fn rest_briefly(&mut self) {
        self.timed("rest_briefly", |_| thread::sleep(BRIEFLY));
    }

    #[inline(never)]
    fn rest_longer(&mut self) {
        self.timed("rest_longer", |_| thread::sleep(LONGER));
    }

    #[inline(never)]
    fn compute_some(&mut self) {
        self.timed("compute_some", |_| compute(Duration::from_millis(1)));
    }

    #[inline(never)]
    fn compute_more(&mut self) {
        self.timed("compute_more", |_| compute(Duration::from_millis(3)));
    }

    fn work(&mut self, end: Instant) {
        let mut chance = unsafe { gettid() } as u32;
        while Instant::now() < end {
            chance = chance.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            for _ in 0..=(chance >> 16) % 15 {
                self.wait_briefly();
                self.rest_briefly();
            }
            self.wait_longer();
            self.rest_longer();
            self.compute_some();
            self.compute_more();
        }
    }
}

fn compute(time: Duration) {
    let until = cpu_time() + time;
    while cpu_time() < until {}
}

/// Turns: a waiting thread parks, a releasing one unparks it. Requests go over channels.
#[derive(Default)]
struct Turns {
    is_released: AtomicBool,
    releaser: AtomicUsize,
}

#[inline(never)]
fn post_soon(turns: &Turns, waiter: &thread::Thread) {
    turns.releaser.store(0, Ordering::Relaxed);
    turns.is_released.store(true, Ordering::Release);
    waiter.unpark();
    std::hint::black_box(turns);
}

#[inline(never)]
fn post_late(turns: &Turns, waiter: &thread::Thread) {
    turns.releaser.store(1, Ordering::Relaxed);
    turns.is_released.store(true, Ordering::Release);
    waiter.unpark();
    std::hint::black_box(turns);
}

#[inline(never)]
fn await_release(turns: &Turns, ns: &mut [u128; 2]) {
    let begin = Instant::now();
    while !turns.is_released.swap(false, Ordering::Acquire) {
        thread::park();
    }
    ns[turns.releaser.load(Ordering::Relaxed)] += begin.elapsed().as_nanos();
}

fn run(seconds: f64) {
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let workers: Vec<_> = (0..3)
        .map(|_| {
            thread::spawn(move || {
                let mut worker = Worker::default();
                worker.work(end);
                (unsafe { gettid() }, worker.ns)
            })
        })
        .collect();
    let turns = Arc::new(Turns::default());
    let shared = turns.clone();
    let waiter = thread::spawn(move || {
        let mut ns = [0; 2];
        let me = thread::current();
        let releasers: Vec<_> = (0..2)
            .map(|which| {
                let (ask, asked) = std::sync::mpsc::channel::<()>();
                let (turns, me) = (shared.clone(), me.clone());
                let releaser = thread::spawn(move || {
                    while asked.recv().is_ok() {
                        thread::sleep(Duration::from_millis([1, 4][which]));
                        [post_soon, post_late][which](&turns, &me);
                    }
                    unsafe { gettid() }
                });
                (ask, releaser)
            })
            .collect();
        for which in (0..2).cycle() {
            if Instant::now() >= end {
                break;
            }
            releasers[which].0.send(()).unwrap();
            await_release(&shared, &mut ns);
        }
        let tids: Vec<i32> = releasers
            .into_iter()
            .map(|(ask, releaser)| {
                drop(ask);
                releaser.join().unwrap()
            })
            .collect();
        (unsafe { gettid() }, ns, tids)
    });
    let (tid, ns, tids) = waiter.join().unwrap();
    let accounts: Vec<String> = workers
        .into_iter()
        .map(|one| one.join().unwrap())
        .map(|(tid, ns)| format!("\"{tid}\": {ns:?}"))
        .collect();
    println!(
        "{{\"workers\": {{{}}}, \"waiter\": {tid}, \"released_ns\": {{\"post_soon\": {}, \"post_late\": {}}}, \
         \"releasers\": {{\"post_soon\": {}, \"post_late\": {}}}}}",
        accounts.join(", "),
        ns[0],
        ns[1],
        tids[0],
        tids[1]
    );
}

fn main() {
    println!("ready");
    for line in std::io::stdin().lock().lines() {
        run(line.unwrap().trim().parse().unwrap());
    }
}
