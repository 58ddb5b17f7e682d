//! Six threads send into a channel with two places, whose receiver takes 10 ms for each; or 0.1 ms.

use std::sync::mpsc::sync_channel;
use std::thread::{sleep, Builder};
use std::time::Duration;

/// Send and receive, for ever.
pub fn fill(fault: bool) -> std::io::Result<()> {
    let (sender, receiver) = sync_channel::<u64>(2);
    for number in 0..6 {
        let sender = sender.clone();
        Builder::new()
            .name(format!("scan-{number}"))
            .spawn(move || loop {
                sleep(Duration::from_micros(if fault { 500 } else { 100_000 }));
                if sender.send(number).is_err() {
                    return;
                }
            })?;
    }
    println!("ready");
    Builder::new()
        .name("indexer".to_string())
        .spawn(move || {
            for _ in receiver {
                sleep(Duration::from_micros(if fault { 10_000 } else { 100 }));
            }
        })?
        .join()
        .expect("the indexer panicked");
    Ok(())
}
