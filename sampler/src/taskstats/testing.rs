//! Hand-made messages of the kernel's taskstats, of every version: right ones and wrong ones.
//!
//! The struct is written down after the headers of each version (include/uapi/linux/taskstats.h), the
//! messages after kernel/taskstats.c.

use std::sync::OnceLock;

use super::layout::{Kernel, Layout};
use super::refusals::Refusal;

pub const FAMILY: u16 = 25;
pub const PADS: [Pad; 3] = [Pad::None, Pad::Before, Pad::Inside];
const PORT: u32 = 4711;
const AGGR_PID: u16 = 4;
const AGGR_TGID: u16 = 5;
const NULL: u16 = 6;
const DELAYS: [&str; 8] =
    ["cpu", "blkio", "swapin", "freepages", "thrashing", "compact", "wpcopy", "irq"];

/// Place of the empty attribute: none, before the record, or before the struct.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    None,
    Before,
    Inside,
}

/// Offsets of the members, and the length, of a version.
fn members(version: u16) -> (Vec<(String, usize)>, usize) {
    let mut found = Vec::new();
    let mut end = 0_usize;
    let mut put = |name: &str, size: usize, align: usize| {
        end = end.next_multiple_of(align);
        found.push((name.to_string(), end));
        end += size;
        // Version 15 has maximum and minimum behind each delay.
        if version == 15 && name.ends_with("_delay_total") {
            end += 16;
        }
    };
    for (name, size) in [("version", 2), ("ac_exitcode", 4), ("ac_flag", 1), ("ac_nice", 1)] {
        put(name, size, size);
    }
    for name in &DELAYS[..3] {
        put(&format!("{name}_count"), 8, 8);
        put(&format!("{name}_delay_total"), 8, 8);
    }
    put("cpu_run_real_total", 8, 8);
    put("cpu_run_virtual_total", 8, 8);
    put("ac_comm", 32, 8);
    put("ac_sched", 8, 8);
    for name in ["ac_uid", "ac_gid", "ac_pid", "ac_ppid", "ac_btime"] {
        put(name, 4, 4);
    }
    let words = "ac_etime ac_utime ac_stime ac_minflt ac_majflt coremem virtmem hiwater_rss \
        hiwater_vm read_char write_char read_syscalls write_syscalls read_bytes write_bytes \
        cancelled_write_bytes nvcsw nivcsw ac_utimescaled ac_stimescaled cpu_scaled_run_real_total \
        freepages_count freepages_delay_total";
    words.split_whitespace().for_each(|name| put(name, 8, 8));
    for (since, names) in [
        (9, "thrashing_count thrashing_delay_total"),
        (10, "ac_btime64"),
        (11, "compact_count compact_delay_total"),
        (12, "ac_tgid ac_tgetime ac_exe_dev ac_exe_inode"),
        (13, "wpcopy_count wpcopy_delay_total"),
        (14, "irq_count irq_delay_total"),
    ] {
        for name in names.split_whitespace().filter(|_| since <= version) {
            let size = if name == "ac_tgid" { 4 } else { 8 };
            put(name, size, size);
        }
    }
    let extremes = if version == 16 { DELAYS.len() * 16 } else { 0 };
    (found, end + extremes)
}

/// Offset of a member of a version.
pub fn offset_of(version: u16, member: &str) -> usize {
    static ALL: OnceLock<Vec<Vec<(String, usize)>>> = OnceLock::new();
    let all = ALL.get_or_init(|| (8..=16).map(|version| members(version).0).collect());
    all[usize::from(version) - 8].iter().find(|(name, _)| name == member).unwrap().1
}

pub fn layout(version: u16) -> Layout {
    let (members, length) = members(version);
    Layout::new(version, length, "", members).unwrap()
}

pub fn kernel(version: u16, pad: Pad) -> Kernel {
    let payload = if pad == Pad::None { 36 } else { 40 };
    Kernel { family: FAMILY, payload, layout: layout(version) }
}

/// Value of a member of 64 bits, if nothing else was asked for: another one in each, above 2^32.
pub fn value_of(member: &str, tid: u32) -> u64 {
    let hash = member.bytes().fold(1_u64, |hash, byte| (hash * 31 + u64::from(byte)) % 1_000_003);
    ((hash + 5000) << 24) + u64::from(tid)
}

/// A thread's record, and how it is sent.
#[derive(Clone, Debug)]
pub struct Record {
    pub tid: u32,
    pub version: u16,
    pub pad: Pad,
    pub comm: Vec<u8>,
    pub port: u32,
    pub members: Vec<(&'static str, u64)>,
}

impl Record {
    pub fn of(tid: u32) -> Self {
        let (version, pad, comm) = (16, Pad::None, b"worker".to_vec());
        Self { tid, version, pad, comm, port: PORT, members: vec![("ac_tgid", 100)] }
    }

    /// With another value of a member.
    pub fn with(mut self, member: &'static str, value: u64) -> Self {
        self.members.retain(|(name, _)| *name != member);
        self.members.push((member, value));
        self
    }

    /// The struct taskstats.
    pub fn stats(&self) -> Vec<u8> {
        let (members, length) = members(self.version);
        let mut made = vec![0; length];
        for (name, offset) in &members {
            let value = match name.as_str() {
                "version" => self.version.into(),
                "ac_pid" => self.tid.into(),
                "ac_etime" => 5_000_000,
                name => value_of(name, self.tid),
            };
            let other = self.members.iter().find(|(member, _)| member == name);
            let value = other.map_or(value, |&(_, value)| value).to_ne_bytes();
            match name.as_str() {
                "ac_comm" => made[*offset..offset + self.comm.len()].copy_from_slice(&self.comm),
                "version" => made[*offset..offset + 2].copy_from_slice(&value[..2]),
                "ac_flag" => made[*offset] = other.map_or(0, |&(_, value)| value as u8),
                "ac_nice" => {}
                "ac_exitcode" | "ac_tgid" | "ac_pid" | "ac_uid" | "ac_gid" | "ac_ppid"
                | "ac_btime" => made[*offset..offset + 4].copy_from_slice(&value[..4]),
                _ => made[*offset..offset + 8].copy_from_slice(&value),
            }
        }
        made
    }

    /// The answer to a question.
    pub fn reply(&self, sequence: u32) -> Vec<u8> {
        let mut made = message(sequence, &record(AGGR_PID, self.tid, &self.stats(), self.pad, 20));
        made[12..16].copy_from_slice(&self.port.to_ne_bytes());
        made
    }

    /// Message of the kernel at the thread's exit; with `process` if it was the last thread of that process.
    pub fn exit(&self, sequence: u32, process: Option<u32>) -> Vec<u8> {
        let mut body = record(AGGR_PID, self.tid, &self.stats(), self.pad, 20);
        if let Some(process) = process {
            let stats = Self { tid: 0, ..self.clone() }.stats();
            body.extend(record(AGGR_TGID, process, &stats, self.pad, 20 + body.len()));
        }
        message(sequence, &body)
    }
}

pub fn attribute(kind: u16, payload: &[u8]) -> Vec<u8> {
    let mut made = (4 + payload.len() as u16).to_ne_bytes().to_vec();
    made.extend(kind.to_ne_bytes());
    made.extend(payload);
    made.resize(made.len().next_multiple_of(4), 0);
    made
}

pub fn message(sequence: u32, body: &[u8]) -> Vec<u8> {
    let mut made = (20 + body.len() as u32).to_ne_bytes().to_vec();
    made.extend(FAMILY.to_ne_bytes());
    made.extend([0; 2]);
    made.extend(sequence.to_ne_bytes());
    made.extend([0, 0, 0, 0, 2, 1, 0, 0]);
    made.extend(body);
    made
}

pub fn with_type(datagram: Vec<u8>, kind: u16) -> Vec<u8> {
    patched(&datagram, 4, &kind.to_ne_bytes())
}

pub fn patched(datagram: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut made = datagram.to_vec();
    made[at..at + bytes.len()].copy_from_slice(bytes);
    made
}

/// An AGGR attribute, as mk_reply makes it, which begins at `at` in its message.
fn record(aggregate: u16, id: u32, stats: &[u8], pad: Pad, at: usize) -> Vec<u8> {
    let mut inner = attribute(if aggregate == AGGR_PID { 1 } else { 2 }, &id.to_ne_bytes());
    // A pad is there only where the struct would not be at a multiple of 8.
    if pad == Pad::Inside && (at + 4 + inner.len()).is_multiple_of(8) {
        inner.extend(attribute(NULL, b""));
    }
    inner.extend(attribute(3, stats));
    let whole = attribute(aggregate, &inner);
    if pad == Pad::Before {
        [attribute(NULL, b""), whole].concat()
    } else {
        whole
    }
}

/// NLMSG_ERROR with a negative errno, 0 for an acknowledgement, and the request behind it.
pub fn error(sequence: u32, code: i32) -> Vec<u8> {
    let mut made = 48_u32.to_ne_bytes().to_vec();
    made.extend([2_u16, 0].map(u16::to_ne_bytes).concat());
    made.extend([sequence, PORT, code.wrapping_neg() as u32].map(u32::to_ne_bytes).concat());
    made.resize(48, 0);
    made
}

/// Messages in place of the right answer for a thread: what is wrong, the refusal, the datagram.
pub fn hostile(version: u16, tid: u32, sequence: u32) -> Vec<(String, Refusal, Vec<u8>)> {
    use Refusal::{Attribute, Command, Content, Identity, Layout, Length, Overrun, Short, Type};
    let one = Record { version, ..Record::of(tid) };
    let (right, stats) = (one.reply(sequence), one.stats());
    let id = attribute(1, &tid.to_ne_bytes());
    let body = attribute(3, &stats);
    let aggregate = |inner: &[&[u8]]| message(sequence, &attribute(AGGR_PID, &inner.concat()));
    let lengthened = |stats: &[u8]| aggregate(&[&id, &attribute(3, stats)]);
    let whole = &right[20..];
    let mut made: Vec<(String, Refusal, Vec<u8>)> = Vec::new();
    let too_long = (right.len() as u16 - 20 + 1).to_ne_bytes();
    made.push(("an attribute too long by one".into(), Attribute, patched(&right, 20, &too_long)));
    for at in [20, 24, 32] {
        for length in [0_u16, 3, 65535] {
            let datagram = patched(&right, at, &length.to_ne_bytes());
            made.push((format!("the length at {at} is {length}"), Attribute, datagram));
        }
    }
    let other_thread = Record { tid: tid + 1, ..one.clone() };
    let stats_of_other = other_thread.stats();
    let of_process = message(sequence, &record(AGGR_TGID, tid, &stats, Pad::None, 20));
    let other_version = if version == 16 { 15_u16 } else { 16 };
    let request = &error(sequence, libc::ESRCH);
    for (what, refusal, datagram) in [
        ("the id has 3 bytes", Content, aggregate(&[&attribute(1, b"abc"), &body])),
        ("no struct", Content, aggregate(&[&id])),
        ("no id", Content, aggregate(&[&body])),
        ("two ids", Content, aggregate(&[&id, &id, &body])),
        ("two structs", Content, aggregate(&[&id, &body, &body])),
        ("no attribute", Content, message(sequence, b"")),
        ("only a pad", Content, message(sequence, &attribute(NULL, b""))),
        ("two records", Content, message(sequence, &[whole, whole].concat())),
        ("the record of a process", Content, of_process),
        ("stray bytes", Attribute, message(sequence, &[whole, &[1, 2]].concat())),
        ("padding that is counted", Attribute, message(sequence, &[whole, &[0; 8]].concat())),
        ("padding that is not counted", Length, [&right[..], &[0; 8]].concat()),
        ("two messages in one datagram", Length, [&right[..], &right].concat()),
        ("a length of 0", Length, patched(&right, 0, &[0; 4])),
        ("a length beyond the end", Length, patched(&right, 0, &[255; 4])),
        ("another family", Type, with_type(right.clone(), FAMILY + 1)),
        ("NLMSG_NOOP", Type, with_type(right.clone(), 1)),
        ("NLMSG_DONE", Type, with_type(right.clone(), 3)),
        ("NLMSG_OVERRUN", Overrun, with_type(right.clone(), 4)),
        ("an acknowledgement", Type, error(sequence, 0)),
        ("an error below 0", Type, error(sequence, -libc::ESRCH)),
        ("an error out of range", Type, error(sequence, 4096)),
        ("an error cut off", Type, request[..19].to_vec()),
        ("another command", Command, patched(&right, 16, &[1])),
        ("nothing", Short, vec![0]),
        ("only a header", Short, patched(&right[..16], 0, &16_u32.to_ne_bytes())),
        ("another version", Layout, patched(&right, 36, &other_version.to_ne_bytes())),
        ("version 0", Layout, patched(&right, 36, &[0; 2])),
        ("a struct longer by 8", Layout, lengthened(&[&stats[..], &[0; 8]].concat())),
        ("a struct shorter by 8", Layout, lengthened(&stats[..stats.len() - 8])),
        ("an empty struct", Layout, lengthened(b"")),
        ("another thread in the struct", Identity, lengthened(&stats_of_other)),
        (
            "another thread in the attribute",
            Identity,
            aggregate(&[&attribute(1, &(tid + 1).to_ne_bytes()), &body]),
        ),
    ] {
        made.push((what.into(), refusal, datagram));
    }
    made
}
