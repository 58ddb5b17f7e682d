//! An echo server: a thread a connection, tokio, or tokio over io_uring.

#[path = "../../driver/lines.rs"]
mod lines;

use lines::{done, serve};
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

const LARGEST: usize = 64 * 1024;

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (name, size) = (arguments.next().unwrap_or_default(), arguments.next());
    let size: usize = size.and_then(|text| text.parse().ok()).unwrap_or(1);
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?.to_string();
    let _agent = tidscope_agent::report_pools()?;
    match name.as_str() {
        "threads" => {
            thread::spawn(move || a_thread_each(&listener));
            serve(&address, || None)
        }
        "tokio" => with_tokio(listener, size, &address),
        "io_uring" => {
            with_rings(listener, size);
            serve(&address, || None)
        }
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, format!("no runtime {name:?}"))),
    }
}

fn a_thread_each(listener: &TcpListener) {
    for mut connection in listener.incoming().flatten() {
        thread::spawn(move || -> io::Result<()> {
            connection.set_nodelay(true)?;
            let mut buffer = vec![0; LARGEST];
            loop {
                let length = connection.read(&mut buffer)?;
                if length == 0 {
                    return Ok(());
                }
                connection.write_all(&buffer[..length])?;
                done();
            }
        });
    }
}

fn with_tokio(listener: TcpListener, size: usize, address: &str) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(size)
        .enable_io()
        .build()?;
    tidscope_agent::tokio::watch_runtime("echo", runtime.handle());
    listener.set_nonblocking(true)?;
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let (connection, _) = listener.accept().await?;
            tokio::spawn(echo_with_tokio(connection));
        }
        #[allow(unreachable_code)]
        io::Result::Ok(())
    });
    let handle = runtime.handle().clone();
    serve(address, move || futile_wakeups(&handle))
}

async fn echo_with_tokio(mut connection: tokio::net::TcpStream) -> io::Result<()> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    connection.set_nodelay(true)?;
    let mut buffer = vec![0; LARGEST];
    loop {
        let length = connection.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        connection.write_all(&buffer[..length]).await?;
        done();
    }
}

/// Number of futile wake-ups: a worker parked again without doing any work.
#[cfg(tokio_unstable)]
fn futile_wakeups(handle: &tokio::runtime::Handle) -> Option<u64> {
    let metrics = handle.metrics();
    Some((0..metrics.num_workers()).map(|worker| metrics.worker_noop_count(worker)).sum())
}

#[cfg(not(tokio_unstable))]
fn futile_wakeups(_: &tokio::runtime::Handle) -> Option<u64> {
    None
}

/// Start `size` threads, each with a ring; connections are assigned to them in turn.
fn with_rings(listener: TcpListener, size: usize) {
    let rings: Vec<_> = (0..size.max(1)).map(ring).collect();
    thread::spawn(move || {
        for (number, connection) in listener.incoming().flatten().enumerate() {
            let _ = rings[number % rings.len()].send(connection);
        }
    });
}

fn ring(number: usize) -> tokio::sync::mpsc::UnboundedSender<TcpStream> {
    let (sender, mut connections) = tokio::sync::mpsc::unbounded_channel::<TcpStream>();
    thread::Builder::new()
        .name(format!("ring-{number}"))
        .spawn(move || {
            tokio_uring::start(async move {
                while let Some(connection) = connections.recv().await {
                    tokio_uring::spawn(echo_with_a_ring(connection));
                }
            })
        })
        .expect("a thread starts");
    sender
}

async fn echo_with_a_ring(connection: TcpStream) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let connection = tokio_uring::net::TcpStream::from_std(connection);
    let mut buffer = vec![0; LARGEST];
    loop {
        let (length, read) = connection.read(buffer).await;
        let length = length?;
        if length == 0 {
            return Ok(());
        }
        let (written, same) = connection.write_all(tokio_uring::buf::BoundedBuf::slice(read, ..length)).await;
        written?;
        buffer = tokio_uring::buf::Slice::into_inner(same);
        done();
    }
}
