//! Threads that wait, named after what they wait for, until the standard input ends.

use std::io::Read;
use std::sync::{Arc, Mutex};
use std::thread;

use parking_lot::{Condvar, Mutex as ParkingMutex, RwLock};

mod shop {
    pub static TILL: std::sync::Mutex<u64> = std::sync::Mutex::new(0);
}

struct Shared {
    mutex: ParkingMutex<u64>,
    table: RwLock<u64>,
    closed: ParkingMutex<bool>,
    changed: Condvar,
    heap: Mutex<u64>,
}

fn start(name: &str, shared: &Arc<Shared>, wait: fn(&Shared)) {
    let shared = Arc::clone(shared);
    let thread = thread::Builder::new().name(name.to_string());
    thread.spawn(move || wait(&shared)).expect("a thread");
}

fn main() {
    let shared = Arc::new(Shared {
        mutex: ParkingMutex::new(0),
        table: RwLock::new(0),
        closed: ParkingMutex::new(false),
        changed: Condvar::new(),
        heap: Mutex::new(0),
    });
    let _held = (shared.mutex.lock(), shared.table.write(), shared.heap.lock(), shop::TILL.lock());
    start("mutex", &shared, |shared| *shared.mutex.lock() += 1);
    start("table", &shared, |shared| drop(shared.table.read()));
    start("changed", &shared, |shared| {
        let mut closed = shared.closed.lock();
        shared.changed.wait_while(&mut closed, |closed| !*closed);
    });
    start("heap", &shared, |shared| *shared.heap.lock().expect("a lock") += 1);
    start("static", &shared, |_| *shop::TILL.lock().expect("a lock") += 1);
    std::io::stdin().read_to_end(&mut Vec::new()).expect("an input");
    std::process::exit(0);
}
