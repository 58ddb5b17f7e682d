//! Socket filter that drops exit records of processes outside all targets.
//!
//! The kernel sends the records of all threads of the machine. A classic BPF program on the socket looks
//! at the process of each record and keeps only those that are wanted; whatever is not such a record, or
//! is of another form, comes through and is judged by the parser.

use super::layout::Kernel;
use super::messages::{ATTRIBUTE_BYTES, TYPE_STATS};
use crate::os::socket::Instruction;

/// Maximum processes in a filter; with more, all records come. Each process costs every exiting thread of
/// the machine two steps.
pub const MAX_PROCESSES: usize = 256;

// Source: include/uapi/linux/bpf_common.h
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_LENGTH: u16 = 0x80;
const EQUAL: u16 = 0x15;
const AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;
const TYPE_AT: usize = 4;
const KEEP: Instruction = step(RETURN, 0, 0, u32::MAX);
const LEAVE_OUT: Instruction = step(RETURN, 0, 0, 0);

/// The program that keeps the records of some processes; None if the kernel does not tell which process a
/// thread belongs to, or if there are too many processes.
pub fn exit_filter(kernel: &Kernel, processes: &[u32]) -> Option<Vec<Instruction>> {
    let layout = &kernel.layout;
    let process_at = kernel.payload + layout.process?.id;
    let header_at = kernel.payload.checked_sub(ATTRIBUTE_BYTES)?;
    if processes.len() > MAX_PROCESSES {
        return None;
    }
    let length = u16::try_from(ATTRIBUTE_BYTES + layout.length).ok()?.to_ne_bytes();
    let kind = TYPE_STATS.to_ne_bytes();
    let header = u32::from_ne_bytes([length[0], length[1], kind[0], kind[1]]);
    let mut steps =
        vec![step(LOAD_LENGTH, 0, 0, 0), step(AT_LEAST, 1, 0, number(process_at + 4)), KEEP];
    // The program loads numbers in the order of networks.
    steps.extend([load(LOAD_HALF, TYPE_AT), step(EQUAL, 1, 0, kernel.family.to_be().into()), KEEP]);
    steps.extend([load(LOAD_WORD, header_at), step(EQUAL, 1, 0, header.to_be()), KEEP]);
    let version = layout.version.to_be().into();
    steps.extend([load(LOAD_HALF, kernel.payload), step(EQUAL, 1, 0, version), KEEP]);
    steps.push(load(LOAD_WORD, process_at));
    for process in processes {
        steps.extend([step(EQUAL, 0, 1, process.to_be()), KEEP]);
    }
    steps.push(LEAVE_OUT);
    Some(steps)
}

/// `jt` steps are skipped if the comparison holds, and `jf` if not.
const fn step(code: u16, jt: u8, jf: u8, k: u32) -> Instruction {
    Instruction { code, jt, jf, k }
}

fn load(code: u16, at: usize) -> Instruction {
    step(code, 0, 0, number(at))
}

fn number(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{error, kernel, message, with_type, Pad, Record, FAMILY, PADS};
    use super::*;
    use crate::os::socket::{set_filter, Slots};
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixDatagram;

    const OWN: u32 = 300;
    const OTHER: u32 = 70_000;

    /// Messages that pass a filter.
    fn passed(program: Option<Vec<Instruction>>, sent: &[Vec<u8>]) -> Vec<Vec<u8>> {
        let (near, far) = UnixDatagram::pair().unwrap();
        set_filter(near.as_fd(), Some(&program.unwrap())).unwrap();
        sent.iter().for_each(|datagram| {
            far.send(datagram).unwrap();
        });
        let mut slots = Slots::new(100, 4096);
        let got = slots.receive(near.as_fd()).unwrap();
        (0..got).map(|slot| slots.datagram(slot).bytes.to_vec()).collect()
    }

    fn ended(process: u32, version: u16, pad: Pad, last: bool) -> Vec<u8> {
        let record =
            Record { version, pad, ..Record::of(process + 1) }.with("ac_tgid", process.into());
        record.exit(1, last.then_some(process))
    }

    #[test]
    fn records_of_other_processes_do_not_come() {
        for version in 12..=16 {
            for pad in PADS {
                let program = exit_filter(&kernel(version, pad), &[5, 6, OWN]);
                let own = [ended(OWN, version, pad, false), ended(OWN, version, pad, true)];
                let other = [ended(OTHER, version, pad, false), ended(OTHER, version, pad, true)];
                let sent = [&other[0], &own[0], &other[1], &own[1]].map(Clone::clone);
                assert_eq!(passed(program, &sent), own, "version {version}, {pad:?}");
            }
        }
        let none = exit_filter(&kernel(16, Pad::None), &[]);
        assert!(passed(none, &[ended(OTHER, 16, Pad::None, false)]).is_empty());
    }

    #[test]
    fn whatever_is_no_such_record_comes_through() {
        let record = ended(OTHER, 16, Pad::None, false);
        let odd = [
            error(1, 0),
            b"short".to_vec(),
            record[..100].to_vec(),
            with_type(message(1, &record[20..]), FAMILY + 1),
            ended(OTHER, 15, Pad::None, false),
            ended(OTHER, 16, Pad::Before, false),
        ];
        assert_eq!(passed(exit_filter(&kernel(16, Pad::None), &[OWN]), &odd), odd);
    }

    #[test]
    fn the_most_processes_fit_and_more_are_not_filtered() {
        let most: Vec<u32> = (1..=MAX_PROCESSES as u32).collect();
        let last = ended(MAX_PROCESSES as u32, 16, Pad::None, false);
        let sent = [last.clone(), ended(OTHER, 16, Pad::None, false)];
        assert_eq!(passed(exit_filter(&kernel(16, Pad::None), &most), &sent), [last]);
        let more = [&most[..], &[OTHER]].concat();
        assert!(exit_filter(&kernel(16, Pad::None), &more).is_none());
    }

    #[test]
    fn a_kernel_that_does_not_tell_whose_threads_ended_is_not_filtered() {
        assert!(exit_filter(&kernel(11, Pad::None), &[OWN]).is_none());
    }
}
