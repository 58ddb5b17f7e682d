//! The listener for exit records, and the exact number of records that were lost.
//!
//! The kernel sends a record for each exiting thread to whoever registered for its CPU, and counts those
//! that it drops because the socket is full (net/netlink/af_netlink.c: netlink_overrun). One socket a CPU
//! shares the load, and makes the sequence numbers on each contiguous: a second account.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use super::exit_filter::exit_filter;
use super::exit_records::Records;
use super::layout::Kernel;
use super::messages::{kind, parse, sequence, Message, Refused};
use super::numbering::Numbering;
use super::refusals::{Refusal, Refusals};
use crate::os::clock::monotonic_ns;
use crate::os::poll::Poll;
use crate::os::socket::{dropped, set_filter, Datagram, Instruction, Slots, MAX_SLOTS};
use crate::source::ReadError;

/// Records of a CPU in one drain; a full socket of 64 MiB holds fewer.
const MAX_RECORDS: usize = 1 << 16;
/// Bytes of a slot beyond the headers and the struct of a record.
const SPARE_BYTES: usize = 64;

/// Tells how many datagrams the kernel dropped on a link, modulo 2^32; None if it does not tell.
type Drops = Box<dyn FnMut(usize, BorrowedFd<'_>) -> Option<u32> + Send>;

struct Link {
    cpu: u16,
    socket: OwnedFd,
    dropped: u32,
}

/// Sockets that are registered for the exit records of one CPU each.
pub struct ExitListener {
    kernel: Kernel,
    links: Vec<Link>,
    poll: Poll,
    slots: Slots,
    drops: Drops,
    drops_known: bool,
    filter: Option<Vec<Instruction>>,
    drained_ns: i64,
    /// Records so far.
    pub received: u64,
    /// Records lost so far.
    pub lost: u64,
    /// The account of the sequence numbers.
    pub numbering: Numbering,
    /// Messages that were no records, by reason.
    pub refused: Refusals,
}

impl ExitListener {
    /// Makes a listener over bound, non-blocking sockets that are registered for these CPUs. What was
    /// dropped before is not counted.
    ///
    /// # Errors
    /// The error of epoll_create1(2) or epoll_ctl(2).
    pub fn new(kernel: Kernel, sockets: Vec<(u16, OwnedFd)>) -> io::Result<Self> {
        Self::with_drops(kernel, sockets, Box::new(|_, socket| dropped(socket)))
    }

    fn with_drops(
        kernel: Kernel,
        sockets: Vec<(u16, OwnedFd)>,
        mut drops: Drops,
    ) -> io::Result<Self> {
        let mut poll = Poll::new()?;
        let mut links = Vec::with_capacity(sockets.len());
        let mut drops_known = true;
        for (number, (cpu, socket)) in sockets.into_iter().enumerate() {
            poll.add(socket.as_fd(), number)?;
            let count = drops(number, socket.as_fd());
            drops_known &= count.is_some();
            links.push(Link { cpu, socket, dropped: count.unwrap_or(0) });
        }
        // A message has one or two records, each with no more headers than a reply, or a pad more.
        let stride = 2 * (kernel.payload + kernel.layout.length + SPARE_BYTES);
        Ok(Self {
            links,
            poll,
            slots: Slots::new(MAX_SLOTS, stride),
            drops,
            drops_known,
            filter: None,
            drained_ns: 0,
            received: 0,
            lost: 0,
            numbering: Numbering::default(),
            refused: Refusals::default(),
            kernel,
        })
    }

    /// The taskstats whose records these are.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Lets the kernel leave out the records of other processes, as far as it can; None: of none.
    ///
    /// The kernel can if records tell their process, if the processes are not too many, and if lost
    /// records are not counted by their numbers, which skip those that are left out.
    ///
    /// # Errors
    /// The error of setsockopt(2); then some sockets may have the former filter.
    pub fn keep_only(&mut self, processes: Option<&[u32]>) -> io::Result<()> {
        let wanted = processes
            .filter(|_| self.drops_known)
            .and_then(|processes| exit_filter(&self.kernel, processes));
        let same = match (&wanted, &self.filter) {
            (Some(wanted), Some(filter)) => {
                wanted.len() == filter.len() && wanted.iter().zip(filter).all(|(a, b)| same(a, b))
            }
            (wanted, filter) => wanted.is_none() && filter.is_none(),
        };
        if !same {
            for link in &self.links {
                set_filter(link.socket.as_fd(), wanted.as_deref())?;
            }
            self.filter = wanted;
        }
        Ok(())
    }

    /// True if the kernel leaves out the records of other processes now.
    pub fn filters(&self) -> bool {
        self.filter.is_some()
    }

    /// Takes all records that are there into `records`, in place of those of an earlier drain.
    ///
    /// # Errors
    /// `Kernel` if a socket failed; `records` have what the others gave.
    pub fn drain(&mut self, records: &mut Records) -> Result<(), ReadError> {
        let since_ns = std::mem::replace(&mut self.drained_ns, monotonic_ns());
        records.begin(&self.kernel.layout, since_ns, self.drained_ns);
        // A socket that dropped a record is ready too: the kernel reports ENOBUFS on it.
        let mut ready: Vec<usize> = self.poll.ready()?.collect();
        ready.sort_unstable();
        let mut failure = None;
        for number in ready {
            if let Err(error) = self.empty(number, records) {
                failure.get_or_insert(error);
            }
            // After the socket is empty: while it is not, the kernel drops without a new report.
            let link = &mut self.links[number];
            if let Some(count) = (self.drops)(number, link.socket.as_fd()) {
                records.lost += u64::from(count.wrapping_sub(link.dropped));
                link.dropped = count;
            }
        }
        if !self.drops_known {
            records.lost = self.numbering.take_lost();
        }
        self.received += records.len() as u64;
        self.lost += records.lost;
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    fn empty(&mut self, number: usize, records: &mut Records) -> io::Result<()> {
        for _ in 0..MAX_RECORDS / MAX_SLOTS {
            let link = &self.links[number];
            let got = match self.slots.receive(link.socket.as_fd()) {
                Ok(got) => got,
                // The kernel tells elsewhere how many were lost.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => continue,
                Err(error) => return Err(error),
            };
            for slot in 0..got {
                let datagram = self.slots.datagram(slot);
                if datagram.port == 0
                    && !datagram.cut
                    && kind(datagram.bytes) == Some(self.kernel.family)
                {
                    // Refused or not: it took a number.
                    self.numbering.note(number, sequence(datagram.bytes).unwrap_or(0));
                }
                match judge(&datagram, &self.kernel) {
                    Ok(message) => {
                        let number = sequence(datagram.bytes).unwrap_or(0);
                        records.push(message.thread.stats, link.cpu, number);
                    }
                    Err(Refused(refusal, detail)) => self.refused.note(refusal, 1, detail),
                }
            }
            if got < MAX_SLOTS {
                break;
            }
        }
        Ok(())
    }
}

impl AsFd for ExitListener {
    /// A descriptor that is readable when records wait, or when some were dropped.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poll.as_fd()
    }
}

/// Judges a datagram that should be an exit record.
pub(super) fn judge<'a>(datagram: &Datagram<'a>, kernel: &Kernel) -> Result<Message<'a>, Refused> {
    if datagram.port != 0 || datagram.cut {
        let refusal = if datagram.port != 0 { Refusal::Sender } else { Refusal::Cut };
        let length = datagram.bytes.len();
        return Err(Refused(refusal, format!("port {}, {length} bytes received", datagram.port)));
    }
    let message = parse(datagram.bytes, kernel)?;
    if kernel.layout.thread_of(message.thread.stats) != message.thread.id {
        return Err(Refused(Refusal::Identity, "in an exit record".into()));
    }
    Ok(message)
}

fn same(one: &Instruction, other: &Instruction) -> bool {
    (one.code, one.jt, one.jf, one.k) == (other.code, other.jt, other.jf, other.k)
}

#[cfg(test)]
#[path = "exits_tests.rs"]
mod tests;
