//! The agent: a thread that answers collectors at a socket.

use crate::lease::{Lease, Steered};
use crate::pool::Pool;
use crate::protocol::LARGEST_SIZE;
use crate::server::Server;
use crate::socket_folder::listen;
use std::fs;
use std::io::{self, Error, ErrorKind, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};

static RUNNING: AtomicBool = AtomicBool::new(false);

/// A running agent; it listens until it is closed or dropped.
pub struct Agent {
    path: PathBuf,
    wake: UnixStream,
    thread: Option<JoinHandle<()>>,
}

/// Let collectors read all pools and steer one. A program has one agent at most.
///
/// Collectors restore the current size of the pool; `lower` and `upper` bound the sizes that they set.
///
/// # Errors
///
/// No usable folder for the socket exists (README.md lists the folders), an agent is already running,
/// or the bounds exclude the pool's size.
pub fn start(pool: &Pool, lower: usize, upper: usize) -> io::Result<Agent> {
    let size = pool.wanted();
    if lower < 1 || lower > size || upper < size || upper > LARGEST_SIZE {
        let why = format!("bounds {} to {} do not hold the pool's size, {}", lower, upper, size);
        return Err(Error::new(ErrorKind::InvalidInput, why));
    }
    start_with(Steered::Pool(pool.clone()), lower, upper)
}

/// Let collectors read all pools without steering any; same errors as `start`.
pub fn report_pools() -> io::Result<Agent> {
    start_with(Steered::Nothing, 1, 1)
}

fn start_with(steered: Steered, lower: usize, upper: usize) -> io::Result<Agent> {
    if RUNNING.swap(true, Ordering::SeqCst) {
        let why = "the agent of this program is already running";
        return Err(Error::new(ErrorKind::AlreadyExists, why));
    }
    let made = serve(Lease::new(steered, lower, upper));
    if made.is_err() {
        RUNNING.store(false, Ordering::SeqCst);
    }
    made
}

fn serve(lease: Lease) -> io::Result<Agent> {
    let (wake, woken) = UnixStream::pair()?;
    wake.set_nonblocking(true)?;
    woken.set_nonblocking(true)?;
    let (listener, path) = listen()?;
    let server = Server::new(listener, woken, lease);
    let thread = thread::Builder::new().name("tidscope-agent".to_string());
    let thread = Some(thread.spawn(move || server.run())?);
    Ok(Agent { path, wake, thread })
}

impl Agent {
    /// Path of the agent's socket.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Make collectors discard what they learnt: the program entered a new phase.
    pub fn restart_search(&self) {
        // A full pipe already holds notifications, so one more is redundant.
        let _ = (&self.wake).write(b"r");
    }

    /// Restore the size and remove the socket. Idempotent.
    pub fn close(&mut self) {
        if let Some(thread) = self.thread.take() {
            let _ = self.wake.shutdown(std::net::Shutdown::Write);
            let _ = thread.join();
            let _ = fs::remove_file(&self.path);
            RUNNING.store(false, Ordering::SeqCst);
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.close();
    }
}
