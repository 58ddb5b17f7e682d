//! Readiness of many descriptors, by epoll(7).

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};

/// Descriptors that are asked together whether they are readable, or have an error.
pub struct Poll {
    poll: OwnedFd,
    events: Vec<libc::epoll_event>,
}

impl Poll {
    /// Makes a poll of no descriptor.
    ///
    /// # Errors
    /// The error of epoll_create1(2).
    pub fn new() -> io::Result<Self> {
        // SAFETY: the call takes no memory.
        let made = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if made < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel has made this descriptor for the caller.
        Ok(Self { poll: unsafe { OwnedFd::from_raw_fd(made) }, events: Vec::new() })
    }

    /// Adds a descriptor, which `ready` gives by this number.
    ///
    /// # Errors
    /// The error of epoll_ctl(2).
    pub fn add(&mut self, descriptor: BorrowedFd<'_>, number: usize) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: number as u64 };
        // SAFETY: the kernel reads one event.
        let result = unsafe {
            libc::epoll_ctl(
                self.poll.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                descriptor.as_raw_fd(),
                &mut event,
            )
        };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        self.events.push(libc::epoll_event { events: 0, u64: 0 });
        Ok(())
    }

    /// Numbers of the descriptors that are ready now, without waiting.
    ///
    /// # Errors
    /// The error of epoll_wait(2).
    pub fn ready(&mut self) -> io::Result<impl Iterator<Item = usize> + '_> {
        let room = self.events.len();
        let got = if room == 0 {
            0
        } else {
            // SAFETY: the kernel writes at most `room` events to `events`, which has as many.
            unsafe {
                libc::epoll_wait(
                    self.poll.as_raw_fd(),
                    self.events.as_mut_ptr(),
                    i32::try_from(room).unwrap_or(i32::MAX),
                    0,
                )
            }
        };
        let Ok(got) = usize::try_from(got) else {
            return Err(io::Error::last_os_error());
        };
        Ok(self.events[..got.min(room)].iter().map(|event| event.u64 as usize))
    }
}

impl AsFd for Poll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poll.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixDatagram;

    #[test]
    fn readable_descriptors_are_given_by_their_numbers() {
        let pairs: Vec<_> = (0..3).map(|_| UnixDatagram::pair().unwrap()).collect();
        let mut poll = Poll::new().unwrap();
        assert_eq!(poll.ready().unwrap().count(), 0);
        for (number, (near, _)) in pairs.iter().enumerate() {
            poll.add(near.as_fd(), number).unwrap();
        }
        assert_eq!(poll.ready().unwrap().count(), 0);
        pairs[2].1.send(b"x").unwrap();
        pairs[0].1.send(b"x").unwrap();
        let mut ready: Vec<_> = poll.ready().unwrap().collect();
        ready.sort_unstable();
        assert_eq!(ready, [0, 2]);
    }
}
