//! Eight threads append to a file and hold a mutex of parking_lot while it is synced; the twin does
//! not sync in it: incident-rust fault|healthy.

use parking_lot::Mutex;
use std::fs::{remove_file, File};
use std::io::{Seek, Write};
use std::sync::Arc;
use std::thread::{sleep, Builder};
use std::time::Duration;

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

fn main() -> std::io::Result<()> {
    let fault = std::env::args().nth(1).as_deref() == Some("fault");
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
