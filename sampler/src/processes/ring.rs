//! Births, executions and ends of processes, as groups.bpf.c puts them into its ring.
//!
//! How the ring is mapped: Documentation/bpf/ringbuf.rst of the kernel.

use std::io;
use std::os::fd::BorrowedFd;

use crate::columns::Comm;
use crate::os::memory::Ring;

/// Bytes of struct event.
const EVENT_BYTES: usize = 72;
/// Bytes of a record: its header and the event.
const RECORD_BYTES: usize = 8 + EVENT_BYTES;
/// Bit of a record's length: the program is still writing it.
const BUSY: u32 = 1 << 31;
/// Bit of a record's length: the program has given it up.
const DISCARDED: u32 = 1 << 30;

/// Kind of a process event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A process was born.
    Born,
    /// A process executed a program.
    Executed,
    /// A thread has run for the last time.
    Done,
    /// A process was moved into another control group.
    Moved,
}

/// An event of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Kind of the event.
    pub kind: Kind,
    /// Id of the process.
    pub pid: u32,
    /// Born: the process that forked; done: the thread.
    pub other: u32,
    /// Done: how many threads are left (0 several times, if they are not counted); else the real user id.
    pub value: u32,
    /// Bits of groups, before the end, or from now on.
    pub groups: u64,
    /// CLOCK_MONOTONIC, nanoseconds.
    pub at_ns: i64,
    /// Start of the thread that does it, or is born, CLOCK_MONOTONIC, nanoseconds.
    pub start_ns: i64,
    /// Start of the process on CLOCK_BOOTTIME, nanoseconds.
    pub start_boot_ns: i64,
    /// Done: how long the thread was on a CPU, nanoseconds.
    pub run_ns: u64,
    /// Name.
    pub comm: Comm,
}

impl Event {
    /// Reads struct event; None if its kind is not known.
    fn parse(bytes: &[u8; EVENT_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_ne_bytes(bytes[at..at + 4].try_into().unwrap_or_default());
        let long = |at: usize| u64::from_ne_bytes(bytes[at..at + 8].try_into().unwrap_or_default());
        let kind = match word(0) {
            1 => Kind::Born,
            2 => Kind::Executed,
            3 => Kind::Done,
            4 => Kind::Moved,
            _ => return None,
        };
        let mut comm = [0; 16];
        comm.copy_from_slice(&bytes[56..72]);
        Some(Self {
            kind,
            pid: word(4),
            other: word(8),
            value: word(12),
            groups: long(16),
            at_ns: long(24).cast_signed(),
            start_ns: long(32).cast_signed(),
            start_boot_ns: long(40).cast_signed(),
            run_ns: long(48),
            comm,
        })
    }
}

/// The reader of the ring.
pub struct EventRing {
    ring: Ring,
}

impl EventRing {
    /// Maps a ring of `len` bytes, a power of two.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn new(map: BorrowedFd<'_>, len: usize) -> io::Result<Self> {
        Ok(Self { ring: Ring::new(map, len)? })
    }

    /// Appends all events that are there; others than struct event are passed over.
    pub fn drain(&mut self, events: &mut Vec<Event>) {
        let mut bytes = [0; EVENT_BYTES];
        let (mut taken, written) = (self.ring.taken(), self.ring.written());
        let mut left = written.wrapping_sub(taken);
        if left > self.ring.len() as u64 {
            return; // the kernel never writes so far ahead
        }
        while left >= 8 {
            let header = self.ring.length_at(taken);
            if header & BUSY != 0 {
                break;
            }
            let length = (header & !(BUSY | DISCARDED)) as usize;
            let whole = (length + 8).next_multiple_of(8);
            if whole as u64 > left {
                break; // no record of ours: the kernel never writes one
            }
            if header & DISCARDED == 0 && whole == RECORD_BYTES {
                self.ring.copy(taken.wrapping_add(8), &mut bytes);
                events.extend(Event::parse(&bytes));
            }
            taken = taken.wrapping_add(whole as u64);
            left -= whole as u64;
        }
        self.ring.take(taken);
    }
}

/// Makes a ring of memory, for tests.
#[cfg(test)]
pub(super) fn ring_of(records: &[(u32, Vec<u8>)]) -> EventRing {
    let mut data = Vec::new();
    for (length, bytes) in records {
        data.extend_from_slice(&length.to_ne_bytes());
        data.extend_from_slice(&[0; 4]);
        data.extend_from_slice(bytes);
        data.resize(data.len().next_multiple_of(8), 0);
    }
    EventRing { ring: Ring::of_bytes(&data) }
}

#[cfg(test)]
#[path = "ring_fuzz_tests.rs"]
mod fuzz_tests;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn event(kind: u32, pid: u32) -> Vec<u8> {
        let mut bytes = vec![0; EVENT_BYTES];
        bytes[..4].copy_from_slice(&kind.to_ne_bytes());
        bytes[4..8].copy_from_slice(&pid.to_ne_bytes());
        bytes[48..56].copy_from_slice(&77u64.to_ne_bytes());
        bytes[56..60].copy_from_slice(b"bash");
        bytes
    }

    #[test]
    fn events_come_in_order_up_to_the_first_that_is_being_written() {
        let length = EVENT_BYTES as u32;
        let mut ring = ring_of(&[
            (length, event(1, 10)),
            (length | DISCARDED, event(1, 11)),
            (length, event(9, 12)),
            (length, event(3, 13)),
            (length | BUSY, event(1, 14)),
        ]);
        let mut events = Vec::new();
        ring.drain(&mut events);
        let found: Vec<(Kind, u32)> = events.iter().map(|one| (one.kind, one.pid)).collect();
        assert_eq!(found, [(Kind::Born, 10), (Kind::Done, 13)]);
        assert_eq!((events[1].run_ns, &events[1].comm[..5]), (77, &b"bash\0"[..]));
        events.clear();
        ring.drain(&mut events);
        assert!(events.is_empty());
    }

    proptest! {
        #[test]
        fn whatever_stands_in_the_ring_is_read_without_a_panic(
            records in proptest::collection::vec(
                (any::<u32>(), proptest::collection::vec(any::<u8>(), 0..120)), 0..20)
        ) {
            let mut events = Vec::new();
            ring_of(&records).drain(&mut events);
            prop_assert!(events.len() <= records.len() * 12);
        }
    }
}
