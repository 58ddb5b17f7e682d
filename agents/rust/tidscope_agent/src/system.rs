//! Linux system calls that the standard library lacks.

use std::io;
use std::os::unix::io::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;

const SOL_SOCKET: i32 = 1;
const SO_PEERCRED: i32 = 17;
const POLLIN: i16 = 1;

#[repr(C)]
struct PollFd {
    fd: i32,
    events: i16,
    revents: i16,
}

#[repr(C)]
#[derive(Default)]
struct Credentials {
    pid: i32,
    uid: u32,
    gid: u32,
}

extern "C" {
    fn poll(fds: *mut PollFd, number: u64, timeout_ms: i32) -> i32;
    fn geteuid() -> u32;
    fn getsockopt(fd: i32, level: i32, name: i32, value: *mut Credentials, length: *mut u32) -> i32;
}

/// Effective user ID of this program.
pub fn effective_user() -> u32 {
    // SAFETY: geteuid(2) takes nothing and always succeeds.
    unsafe { geteuid() }
}

/// User of the peer process, as recorded by the kernel at connect(2).
pub fn peer_user(stream: &UnixStream) -> io::Result<u32> {
    let mut found = Credentials::default();
    let mut length = std::mem::size_of::<Credentials>() as u32;
    // SAFETY: the kernel writes at most `length` bytes to `found`, which has that length.
    let done = unsafe {
        getsockopt(stream.as_raw_fd(), SOL_SOCKET, SO_PEERCRED, &mut found, &mut length)
    };
    if done == 0 {
        Ok(found.uid)
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Wait until descriptors are readable and return them. A timeout of -1 waits for ever.
pub fn readable(fds: &[RawFd], timeout_ms: i32) -> io::Result<Vec<RawFd>> {
    let mut polled: Vec<PollFd> =
        fds.iter().map(|&fd| PollFd { fd, events: POLLIN, revents: 0 }).collect();
    // SAFETY: `polled` has `polled.len()` elements.
    let found = unsafe { poll(polled.as_mut_ptr(), polled.len() as u64, timeout_ms) };
    if found < 0 {
        let error = io::Error::last_os_error();
        return if error.kind() == io::ErrorKind::Interrupted { Ok(Vec::new()) } else { Err(error) };
    }
    Ok(polled.iter().filter(|one| one.revents != 0).map(|one| one.fd).collect())
}
