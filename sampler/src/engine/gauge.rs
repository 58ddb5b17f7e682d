//! GOMAXPROCS of a running Go program, asked of a child that reads the program's memory.
//!
//! The child answers each request, a question mark, with an int32. A page of the program's memory may
//! never arrive (userfaultfd(2), a mapped file of a file system that does not respond): then only the
//! child waits, and a late answer is discarded when it comes.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use crate::os::wait::{readable, receive};

/// Bytes of an answer.
const WORD: usize = 4;
/// The most that runtime.GOMAXPROCS can be (runtime/runtime2.go), with room.
const MAX_PROCESSORS: i32 = 1 << 20;
/// How long a sample waits for the answer at most, milliseconds; not at all while one is late.
const PATIENCE_MS: i32 = 5;

/// The connection to the child, and the value that is known.
pub struct Gomaxprocs {
    connection: OwnedFd,
    pending: bool,
    late: bool,
    size: Option<u64>,
    /// The last value that was read, to tell of a change.
    known: Option<u64>,
    /// Number of late answers.
    pub missed: u64,
}

/// A change of the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Value from now on.
    pub size: u64,
    /// Value before.
    pub previous: u64,
}

impl Gomaxprocs {
    /// Takes the connection, and the value that was read over it last.
    pub fn new(connection: OwnedFd, size: Option<u64>) -> Self {
        Self { connection, pending: false, late: false, size, known: size, missed: 0 }
    }

    /// Value in effect; None: it is not known now.
    pub fn size(&self) -> Option<u64> {
        self.size
    }

    /// Asks for the value, without waiting.
    pub fn request(&mut self) {
        if self.pending && readable(self.connection.as_fd(), 0) {
            self.take(); // a stale answer
        }
        self.late = self.pending;
        if !self.pending {
            self.pending = crate::os::socket::send(self.connection.as_fd(), b"?").is_ok();
        }
    }

    /// Takes the answer, if it comes soon; returns the change, if it is one.
    pub fn collect(&mut self) -> Option<Changed> {
        self.size = self.answer();
        let size = self.size?;
        let previous = self.known.replace(size)?;
        (previous != size).then_some(Changed { size, previous })
    }

    fn answer(&mut self) -> Option<u64> {
        if !self.pending {
            return None;
        }
        if self.late || !readable(self.connection.as_fd(), PATIENCE_MS) {
            self.missed += 1;
            return None;
        }
        let value = self.take()?;
        (1..=MAX_PROCESSORS).contains(&value).then_some(u64::from(value.unsigned_abs()))
    }

    fn take(&mut self) -> Option<i32> {
        self.pending = false;
        let mut word = [0; WORD];
        let got: io::Result<usize> = receive(self.connection.as_fd(), &mut word);
        (got.ok()? == WORD).then(|| i32::from_ne_bytes(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_change_is_reported_and_a_late_answer_is_not_taken_for_a_later_one() {
        let (mut child, ours) = UnixStream::pair().unwrap();
        let mut gauge = Gomaxprocs::new(ours.into(), Some(4));
        let mut asked = [0];
        gauge.request();
        child.read_exact(&mut asked).unwrap();
        child.write_all(&8i32.to_ne_bytes()).unwrap();
        assert_eq!(gauge.collect(), Some(Changed { size: 8, previous: 4 }));
        gauge.request();
        assert_eq!((gauge.collect(), gauge.size(), gauge.missed), (None, None, 1));
        gauge.request();
        assert_eq!((gauge.collect(), gauge.missed), (None, 2));
        child.read_exact(&mut asked).unwrap();
        child.write_all(&9i32.to_ne_bytes()).unwrap();
        gauge.request();
        child.read_exact(&mut asked).unwrap();
        child.write_all(&8i32.to_ne_bytes()).unwrap();
        assert_eq!((gauge.collect(), gauge.size()), (None, Some(8)));
    }
}
