//! Waiting for descriptors, and waking a thread that waits.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// Wakes a thread that waits in `wait`.
pub struct Waker {
    event: OwnedFd,
}

impl Waker {
    /// Makes a waker.
    ///
    /// # Errors
    /// The error of eventfd(2).
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes two numbers and returns a descriptor or an error.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor was opened right above, and nothing else has it.
        Ok(Self { event: unsafe { OwnedFd::from_raw_fd(event) } })
    }

    /// Wakes the thread, or lets it not wait next time. Never blocks.
    pub fn wake(&self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes of this stack are read. A counter that is full wakes as well.
        unsafe { libc::write(self.event.as_raw_fd(), one.as_ptr().cast(), one.len()) };
    }

    /// Forgets what it was woken for.
    fn clear(&self) {
        let mut count = [0u8; 8];
        // SAFETY: eight bytes of this stack are written. Without a wake the call fails at once.
        unsafe { libc::read(self.event.as_raw_fd(), count.as_mut_ptr().cast(), count.len()) };
    }
}

/// Waits until a descriptor can be read (or, if asked, written), the waker is used or time is over;
/// returns whether the descriptor may be read.
///
/// Returns at once for a descriptor with an error: reading it tells what it is.
pub fn wait(waker: &Waker, peer: Option<(BorrowedFd<'_>, bool)>, longest: Duration) -> bool {
    let of = |fd: BorrowedFd<'_>, events| libc::pollfd { fd: fd.as_raw_fd(), events, revents: 0 };
    let mut polled = [of(waker.event.as_fd(), libc::POLLIN), of(waker.event.as_fd(), 0)];
    let mut count = 1;
    if let Some((peer, writes)) = peer {
        polled[1] = of(peer, libc::POLLIN | if writes { libc::POLLOUT } else { 0 });
        count = 2;
    }
    // Rounded up, so that who waits for a moment does not come before it.
    let longest = longest.as_micros().div_ceil(1000).min(60_000) as libc::c_int;
    // SAFETY: the kernel reads and writes `count` of the two entries, which live on this stack.
    unsafe { libc::poll(polled.as_mut_ptr(), count, longest) };
    if polled[0].revents != 0 {
        waker.clear();
    }
    count > 1 && polled[1].revents & !libc::POLLOUT != 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::os::unix::net::UnixStream;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn a_wake_is_seen_once() {
        let waker = Waker::new().unwrap();
        waker.wake();
        waker.wake();
        let before = Instant::now();
        wait(&waker, None, LONG);
        assert!(before.elapsed() < LONG / 2);
        wait(&waker, None, Duration::from_millis(20));
        assert!(before.elapsed() >= Duration::from_millis(20));
    }

    #[test]
    fn descriptors_are_waited_for() {
        let waker = Waker::new().unwrap();
        let (one, mut other) = UnixStream::pair().unwrap();
        let before = Instant::now();
        assert!(!wait(&waker, Some((one.as_fd(), true)), LONG));
        other.write_all(b"x").unwrap();
        assert!(wait(&waker, Some((one.as_fd(), false)), LONG));
        drop(other);
        assert!(wait(&waker, Some((one.as_fd(), false)), LONG));
        assert!(before.elapsed() < LONG / 2);
    }
}
