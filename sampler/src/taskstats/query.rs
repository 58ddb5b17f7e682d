//! Questions for many threads: 128 with one system call, and their answers with another.
//!
//! The kernel answers while the questions are being sent, so all answers are there afterwards. Every
//! answer is checked against the question whose number it has; an answer that is not exactly right is
//! refused and counted.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use super::layout::Kernel;
use super::messages::{error_code, parse, request, sequence, Refused, REQUEST_BYTES};
use super::refusals::{Refusal, Refusals};
use super::structs::Structs;
use crate::os::clock::monotonic_ns;
use crate::os::socket::{send, Datagram, Slots, MAX_SLOTS};
use crate::source::ReadError;

/// Maximum questions in a batch.
pub const BATCH: usize = 128;
/// Bytes of a slot beyond an answer: a longer message is cut, and refused.
const SPARE_BYTES: usize = 64;
/// Maximum datagrams that are received after a batch. With more of them the query fails: another sender
/// floods the socket.
const MAX_DATAGRAMS: usize = 1 << 16;

/// Answers to a batch of questions.
#[derive(Debug)]
pub(super) struct Answers {
    /// Structs of the threads that answered, in the order of the answers.
    pub structs: Structs,
    /// Places of the answering threads among the requested ones.
    pub places: Vec<usize>,
    /// CLOCK_MONOTONIC before the batch was sent, nanoseconds.
    pub before_ns: i64,
}

/// A generic netlink socket for questions, shared by all targets.
pub struct Query {
    kernel: Kernel,
    socket: OwnedFd,
    sequence: u32,
    requests: Vec<u8>,
    slots: Slots,
    answers: Answers,
    answered: [bool; BATCH],
    /// Answers that were not what the kernel sends, and questions without any.
    pub refused: Refusals,
}

impl Query {
    /// Makes a query over a bound, non-blocking generic netlink socket, which nobody else reads from.
    pub fn new(kernel: Kernel, socket: OwnedFd) -> Self {
        let stride = kernel.payload + kernel.layout.length + SPARE_BYTES;
        let answers = Answers { structs: Structs::default(), places: Vec::new(), before_ns: 0 };
        Self {
            socket,
            sequence: 1,
            requests: Vec::with_capacity(BATCH * REQUEST_BYTES),
            slots: Slots::new(MAX_SLOTS, stride),
            answers,
            answered: [false; BATCH],
            refused: Refusals::default(),
            kernel,
        }
    }

    /// The taskstats that it asks.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// Asks for threads, and calls `take` with the answers to each batch. Threads that have gone do not
    /// answer.
    ///
    /// # Errors
    /// `Kernel` if the socket fails, or the kernel answers with another error than that a thread has gone;
    /// then only some of the batches were taken.
    pub(super) fn ask(
        &mut self,
        tids: &[u32],
        mut take: impl FnMut(&Answers),
    ) -> Result<(), ReadError> {
        for (number, batch) in tids.chunks(BATCH).enumerate() {
            self.ask_batch(batch, number * BATCH)?;
            take(&self.answers);
        }
        Ok(())
    }

    fn ask_batch(&mut self, tids: &[u32], place: usize) -> Result<(), ReadError> {
        let first = self.number(tids.len());
        self.requests.clear();
        for (number, &tid) in (first..).zip(tids) {
            self.requests.extend_from_slice(&request(self.kernel.family, number, tid));
        }
        self.answers.structs.begin(&self.kernel.layout);
        self.answers.places.clear();
        self.answers.before_ns = monotonic_ns();
        self.answered.fill(false);
        send(self.socket.as_fd(), &self.requests)?;
        let failure = self.receive(tids, first, place)?;
        let silent = self.answered[..tids.len()].iter().filter(|&&answered| !answered).count();
        self.refused.note(
            Refusal::Silence,
            silent as u64,
            format_args!("to {silent} of {} questions", tids.len()),
        );
        match failure {
            None => Ok(()),
            Some((tid, code)) => {
                let error = io::Error::from_raw_os_error(code);
                Err(ReadError::Kernel(format!("taskstats answered for thread {tid}: {error}")))
            }
        }
    }

    /// First of `count` new sequence numbers. Answers are matched by number, so that an answer to an earlier
    /// question is not taken for a later one.
    fn number(&mut self, count: usize) -> u32 {
        let count = count as u32;
        if self.sequence.checked_add(count).is_none() {
            self.sequence = 1;
        }
        let first = self.sequence;
        self.sequence += count;
        first
    }

    /// Takes all that is there, so that nothing is left to stand in for a later answer; returns the first
    /// thread for which the kernel answered with an error, and this error.
    fn receive(
        &mut self,
        tids: &[u32],
        first: u32,
        place: usize,
    ) -> Result<Option<(u32, i32)>, ReadError> {
        let mut failure = None;
        for _ in 0..MAX_DATAGRAMS / MAX_SLOTS {
            let got = match self.slots.receive(self.socket.as_fd()) {
                Ok(0) => return Ok(failure),
                Ok(got) => got,
                // A dropped answer is noticed later as missing.
                Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => continue,
                Err(error) => return Err(error.into()),
            };
            for slot in 0..got {
                let datagram = self.slots.datagram(slot);
                let asked = asked(&datagram, tids, first);
                match judge(&datagram, asked.map(|asked| tids[asked]), &self.kernel) {
                    Ok(Answer::Stats(stats)) => {
                        // An answer that is right has a number of ours.
                        let Some(asked) = asked else { continue };
                        if std::mem::replace(&mut self.answered[asked], true) {
                            self.refused.note(Refusal::Twice, 1, "the first one is believed");
                        } else {
                            self.answers.structs.push(stats);
                            self.answers.places.push(place + asked);
                        }
                    }
                    Ok(Answer::Error(code)) => {
                        let Some(asked) = asked else { continue };
                        self.answered[asked] = true;
                        if code != libc::ESRCH && failure.is_none() {
                            failure = Some((tids[asked], code));
                        }
                    }
                    Err(Refused(refusal, detail)) => {
                        self.refused.note(refusal, 1, detail);
                        if let Some(asked) = asked.filter(|_| refusal != Refusal::Sender) {
                            self.answered[asked] = true;
                        }
                    }
                }
            }
        }
        Err(ReadError::Kernel(format!(
            "more than {MAX_DATAGRAMS} messages on the socket of taskstats that nobody asked for"
        )))
    }
}

/// Place of the thread that a datagram tells to be an answer for.
fn asked(datagram: &Datagram<'_>, tids: &[u32], first: u32) -> Option<usize> {
    let place = sequence(datagram.bytes)?.wrapping_sub(first) as usize;
    (place < tids.len()).then_some(place)
}

/// Answer of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Answer<'a> {
    Stats(&'a [u8]),
    /// An errno, which is not 0.
    Error(i32),
}

/// Judges a datagram that has the number of a question for this thread; None: of no question.
pub(super) fn judge<'a>(
    datagram: &Datagram<'a>,
    tid: Option<u32>,
    kernel: &Kernel,
) -> Result<Answer<'a>, Refused> {
    if datagram.port != 0 {
        return Err(Refused(Refusal::Sender, format!("but by port {}", datagram.port)));
    }
    if datagram.cut {
        return Err(Refused(Refusal::Cut, format!("{} bytes received", datagram.bytes.len())));
    }
    if let (Some(code), Some(_)) = (error_code(datagram.bytes).filter(|&code| code != 0), tid) {
        return Ok(Answer::Error(code));
    }
    let message = parse(datagram.bytes, kernel)?;
    let record = message.thread;
    if message.process.is_some() || record.offset != kernel.payload {
        return Err(Refused(Refusal::Content, "not the record of one thread".into()));
    }
    let Some(tid) = tid else {
        return Err(Refused(Refusal::Unasked, "its number is that of no question".into()));
    };
    if record.id != tid || kernel.layout.thread_of(record.stats) != tid {
        return Err(Refused(
            Refusal::Identity,
            format!("not of thread {tid}, which was asked for"),
        ));
    }
    Ok(Answer::Stats(record.stats))
}

#[cfg(test)]
#[path = "query_tests.rs"]
mod tests;
