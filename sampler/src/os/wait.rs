//! Waiting for descriptors, and the descriptor by which other threads end a wait.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// A descriptor that becomes readable when somebody wakes it (eventfd(2)).
#[derive(Debug)]
pub struct Waker(File);

impl Waker {
    /// Makes it.
    ///
    /// # Errors
    /// The error of eventfd(2).
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no pointers.
        let made = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has made this descriptor for the caller.
        Ok(Self(unsafe { File::from_raw_fd(made) }))
    }

    /// Makes it readable.
    pub fn wake(&self) {
        // The write fails only if 2^64 - 2 calls are unread; the descriptor is readable then.
        let _ = (&self.0).write(&1u64.to_ne_bytes());
    }

    /// Makes it unreadable.
    pub fn rest(&self) {
        let _ = (&self.0).read(&mut [0; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Waits until one of the descriptors is readable or `timeout_ns` nanoseconds have passed; None: for ever.
/// Returns which of them are readable, or have failed.
pub fn wait(descriptors: &[BorrowedFd<'_>], timeout_ns: Option<i64>) -> Vec<bool> {
    let mut polled: Vec<libc::pollfd> =
        descriptors.iter().map(|&one| entry(one, libc::POLLIN)).collect();
    poll(&mut polled, timeout_ns);
    polled.iter().map(|one| one.revents != 0).collect()
}

/// Waits until the waker is used, which is unreadable afterwards, a peer is readable (or, if asked,
/// writable), or the time is over. Returns true if the peer is readable or has failed.
pub fn wait_for_peer(
    waker: &Waker,
    peer: Option<(BorrowedFd<'_>, bool)>,
    longest: Duration,
) -> bool {
    let mut polled = vec![entry(waker.as_fd(), libc::POLLIN)];
    if let Some((peer, writes)) = peer {
        polled.push(entry(peer, libc::POLLIN | if writes { libc::POLLOUT } else { 0 }));
    }
    poll(&mut polled, Some(i64::try_from(longest.as_nanos()).unwrap_or(i64::MAX)));
    if polled[0].revents != 0 {
        waker.rest();
    }
    polled.get(1).is_some_and(|peer| peer.revents & !libc::POLLOUT != 0)
}

fn entry(descriptor: BorrowedFd<'_>, events: libc::c_short) -> libc::pollfd {
    libc::pollfd { fd: descriptor.as_raw_fd(), events, revents: 0 }
}

/// Polls; entries have no events if time is over or a signal came.
fn poll(polled: &mut [libc::pollfd], timeout_ns: Option<i64>) {
    let timeout = timeout_ns.map(|ns| libc::timespec {
        tv_sec: ns.max(0) / 1_000_000_000,
        tv_nsec: ns.max(0) % 1_000_000_000,
    });
    let timeout = timeout.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    let count = polled.len() as libc::nfds_t;
    // SAFETY: the kernel reads and writes as many pollfd as the length says, and reads the timeout, which lives
    // until the call is over.
    let result = unsafe { libc::ppoll(polled.as_mut_ptr(), count, timeout, std::ptr::null()) };
    if result <= 0 {
        polled.iter_mut().for_each(|one| one.revents = 0);
    }
}

/// True if a descriptor is readable, or becomes so within `timeout_ms` milliseconds.
pub fn readable(descriptor: BorrowedFd<'_>, timeout_ms: i32) -> bool {
    wait(&[descriptor], Some(i64::from(timeout_ms) * 1_000_000))[0]
}

/// Receives bytes of a socket, without waiting.
///
/// # Errors
/// The error of recv(2).
pub fn receive(socket: BorrowedFd<'_>, into: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the kernel writes as many bytes as `into` has at most.
    let got = unsafe {
        libc::recv(socket.as_raw_fd(), into.as_mut_ptr().cast(), into.len(), libc::MSG_DONTWAIT)
    };
    usize::try_from(got).map_err(|_| io::Error::last_os_error())
}

/// Opens a descriptor that becomes readable when a process ends (pidfd_open(2)).
///
/// # Errors
/// The error of the call: ESRCH if there is no such process.
pub fn open_process(pid: u32) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers.
    let made = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
    let made = i32::try_from(made).unwrap_or(-1);
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has made this descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_ends_when_it_is_woken_or_over() {
        let waker = Waker::new().unwrap();
        assert_eq!(wait(&[waker.as_fd()], Some(1_000)), [false]);
        waker.wake();
        assert_eq!(wait(&[waker.as_fd()], None), [true]);
        waker.rest();
        assert!(!readable(waker.as_fd(), 0));
    }

    #[test]
    fn a_peer_is_waited_for_beside_the_waker() {
        const LONG: Duration = Duration::from_secs(20);
        let waker = Waker::new().unwrap();
        let (one, mut other) = std::os::unix::net::UnixStream::pair().unwrap();
        assert!(!wait_for_peer(&waker, Some((one.as_fd(), true)), LONG));
        other.write_all(b"x").unwrap();
        assert!(wait_for_peer(&waker, Some((one.as_fd(), false)), LONG));
        waker.wake();
        assert!(!wait_for_peer(&waker, None, LONG));
        assert!(!readable(waker.as_fd(), 0));
    }

    #[test]
    fn the_end_of_a_process_is_seen() {
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let process = open_process(child.id()).unwrap();
        assert!(!readable(process.as_fd(), 0));
        child.kill().unwrap();
        assert!(readable(process.as_fd(), 10_000));
        child.wait().unwrap();
    }
}
