//! Descriptors that another part of the process owns.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// Makes a descriptor of one's own of what another one refers to.
///
/// # Errors
/// The error of fcntl(2): EBADF if the descriptor is not open.
pub fn duplicate(descriptor: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: the call takes no pointers; of a number that is no open descriptor it makes none.
    let made = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 3) };
    if made < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has made this descriptor for the caller.
    Ok(unsafe { OwnedFd::from_raw_fd(made) })
}
