//! An echo server of tokio with two workers, whose handlers block for 60 ms; the twin's await that.

use std::io::{Read, Write};
use std::net::TcpStream as Blocking;
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Builder;

const WORK: Duration = Duration::from_millis(60);

async fn answer(mut stream: TcpStream, fault: bool) -> std::io::Result<()> {
    let mut line = [0u8; 64];
    while stream.read(&mut line).await? > 0 {
        if fault {
            thread::sleep(WORK);
        } else {
            tokio::time::sleep(WORK).await;
        }
        stream.write_all(b"done").await?;
    }
    Ok(())
}

fn ask(port: u16) -> std::io::Result<()> {
    let mut stream = Blocking::connect(("127.0.0.1", port))?;
    let mut answer = [0u8; 64];
    loop {
        stream.write_all(b"hello")?;
        stream.read(&mut answer)?;
        thread::sleep(Duration::from_millis(20));
    }
}

/// Serve clients that are threads of this program.
pub fn serve(fault: bool) -> std::io::Result<()> {
    let runtime = Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async move {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        for number in 0..12 {
            thread::Builder::new()
                .name(format!("client-{number}"))
                .spawn(move || ask(port))?;
        }
        println!("ready");
        loop {
            let (stream, _) = listener.accept().await?;
            tokio::spawn(answer(stream, fault));
        }
    })
}
