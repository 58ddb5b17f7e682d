//! Programs with one fault each, and the same without it: incident-rust KIND fault|healthy.
//! benchmarks/incident_cases.py says what each is. They run until they are ended.

mod blocked;
mod channel;

use parking_lot::Mutex;
use std::fs::{remove_file, File};
use std::io::{Seek, Write};
use std::sync::Arc;
use std::thread::{sleep, Builder};
use std::time::Duration;

/// Threads append to a file and hold a mutex of parking_lot while it is synced; the twin's do not
/// sync in it.
fn append(journal: &Mutex<File>, fault: bool) -> std::io::Result<()> {
    let block = vec![0u8; 1 << 16];
    loop {
        {
            let mut file = journal.lock();
            if file.stream_position()? > 64 << 20 {
                file.rewind()?;
            }
            file.write_all(&block)?;
            if fault {
                file.sync_data()?;
            }
        }
        if !fault {
            sleep(Duration::from_millis(4));
        }
    }
}

fn held_over_sync(fault: bool) -> std::io::Result<()> {
    let path = format!("/var/tmp/tidscope-incident-{}", std::process::id());
    let journal = Arc::new(Mutex::new(File::create(&path)?));
    remove_file(&path)?;
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let journal = Arc::clone(&journal);
            Builder::new()
                .name(format!("writer-{number}"))
                .spawn(move || append(&journal, fault))
        })
        .collect::<Result<_, _>>()?;
    println!("ready");
    for writer in writers {
        writer.join().expect("a writer panicked")?;
    }
    Ok(())
}

fn main() -> std::io::Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let fault = words[2] == "fault";
    match words[1].as_str() {
        "held-over-sync" => held_over_sync(fault),
        "full-channel" => channel::fill(fault),
        "blocked-async" => blocked::serve(fault),
        other => panic!("{other} is none of the programs"),
    }
}
