//! Bytes of generic netlink taskstats messages: requests, and the strict parsing of what comes.
//!
//! Source: include/uapi/linux/{netlink,genetlink,taskstats}.h and kernel/taskstats.c. Aligning kernels
//! put an empty attribute (TASKSTATS_TYPE_NULL) in front of a struct that would not be at a multiple of 8
//! otherwise; like all attributes that are not known it is passed over.

use super::layout::{Kernel, Layout};
use super::refusals::Refusal;

const NLMSG_ERROR: u16 = 2;
const NLMSG_OVERRUN: u16 = 4;
const NLM_F_REQUEST: u16 = 1;
const CMD_GET: u8 = 1;
const CMD_NEW: u8 = 2;
const CMD_ATTR_PID: u16 = 1;
const TYPE_PID: u16 = 1;
const TYPE_TGID: u16 = 2;
pub(super) const TYPE_STATS: u16 = 3;
const TYPE_AGGR_PID: u16 = 4;
const TYPE_AGGR_TGID: u16 = 5;
const NESTED_BITS: u16 = 0xC000;
const MAX_ERRNO: u32 = 4095;

/// Length of struct nlmsghdr.
pub const HEADER_BYTES: usize = 16;
/// Length of struct nlmsghdr and struct genlmsghdr.
const HEADERS_BYTES: usize = 20;
/// Length of the header of an attribute.
pub(super) const ATTRIBUTE_BYTES: usize = 4;
/// Length of a request for a thread.
pub const REQUEST_BYTES: usize = 28;

/// A message that is not what the kernel sends: why, and in which way.
#[derive(Debug, PartialEq, Eq)]
pub struct Refused(pub Refusal, pub String);

/// The records of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// Record of a thread.
    pub thread: Record<'a>,
    /// Record of its process, of which it was the last thread.
    pub process: Option<Record<'a>>,
}

/// One record: an id and a struct taskstats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// Thread id or process id.
    pub id: u32,
    /// The struct.
    pub stats: &'a [u8],
    /// Offset of the struct in the message, bytes.
    pub offset: usize,
}

/// A request for a thread.
pub fn request(family: u16, sequence: u32, tid: u32) -> [u8; REQUEST_BYTES] {
    let mut made = [0; REQUEST_BYTES];
    made[0..4].copy_from_slice(&(REQUEST_BYTES as u32).to_ne_bytes());
    made[4..6].copy_from_slice(&family.to_ne_bytes());
    made[6..8].copy_from_slice(&NLM_F_REQUEST.to_ne_bytes());
    made[8..12].copy_from_slice(&sequence.to_ne_bytes());
    made[16..18].copy_from_slice(&[CMD_GET, 1]);
    made[20..22].copy_from_slice(&8_u16.to_ne_bytes());
    made[22..24].copy_from_slice(&CMD_ATTR_PID.to_ne_bytes());
    made[24..28].copy_from_slice(&tid.to_ne_bytes());
    made
}

/// Sequence number of a message; None if it has no header.
pub fn sequence(datagram: &[u8]) -> Option<u32> {
    if datagram.len() < HEADER_BYTES {
        return None;
    }
    word(datagram, 8)
}

/// Type of a message; None if it has no header.
pub fn kind(datagram: &[u8]) -> Option<u16> {
    if datagram.len() < HEADER_BYTES {
        return None;
    }
    half(datagram, 4)
}

/// The errno of an NLMSG_ERROR, 0 for an acknowledgement; None if it is another message.
pub fn error_code(datagram: &[u8]) -> Option<i32> {
    let length = word(datagram, 0)? as usize;
    let code = word(datagram, HEADER_BYTES)?.wrapping_neg();
    let is_error = kind(datagram) == Some(NLMSG_ERROR)
        && (HEADER_BYTES + 4..=datagram.len()).contains(&length)
        && code <= MAX_ERRNO;
    is_error.then_some(code as i32)
}

/// Finds the records of a reply or of an exit record.
///
/// # Errors
/// `Refused` unless the datagram is one whole TASKSTATS_CMD_NEW message with the record of a thread, or
/// that and the record of its process, in the kernel's layout, and nothing is left over.
pub fn parse<'a>(datagram: &'a [u8], kernel: &Kernel) -> Result<Message<'a>, Refused> {
    check_headers(datagram, kernel.family)?;
    let mut found: [Option<Record<'a>>; 2] = [None, None];
    let mut kinds = 0;
    let mut expected = true;
    for attribute in attributes(datagram, HEADERS_BYTES, datagram.len()) {
        let Attribute { kind, start, end } = attribute?;
        if kind != TYPE_AGGR_PID && kind != TYPE_AGGR_TGID {
            continue;
        }
        let record = record(datagram, kind, start, end)?;
        expected &= kinds < 2 && (kind == TYPE_AGGR_PID) == (kinds == 0);
        if kinds < 2 {
            found[kinds] = Some(record);
        }
        kinds += 1;
    }
    let [Some(thread), process] = found else {
        return Err(Refused(Refusal::Content, "no statistics".into()));
    };
    if !expected {
        return Err(Refused(Refusal::Content, format!("{kinds} records that do not fit together")));
    }
    check_layout(thread.stats, &kernel.layout)?;
    if let Some(process) = process {
        check_layout(process.stats, &kernel.layout)?;
    }
    Ok(Message { thread, process })
}

fn check_headers(datagram: &[u8], family: u16) -> Result<(), Refused> {
    let has = datagram.len();
    let (Some(length), Some(kind)) = (word(datagram, 0), kind(datagram)) else {
        return Err(Refused(Refusal::Short, format!("{has} bytes")));
    };
    if kind == NLMSG_OVERRUN {
        return Err(Refused(Refusal::Overrun, "the kernel reports that data was lost".into()));
    }
    if kind != family {
        return Err(Refused(Refusal::Type, format!("{kind} instead of {family}")));
    }
    if length as usize != has {
        return Err(Refused(Refusal::Length, format!("{length}, and it has {has}")));
    }
    if has < HEADERS_BYTES {
        return Err(Refused(Refusal::Short, format!("{has} bytes")));
    }
    let command = datagram[HEADER_BYTES];
    if command != CMD_NEW {
        return Err(Refused(Refusal::Command, command.to_string()));
    }
    Ok(())
}

fn check_layout(stats: &[u8], layout: &Layout) -> Result<(), Refused> {
    let version = half(stats, 0).unwrap_or(0);
    if version == layout.version && stats.len() == layout.length {
        return Ok(());
    }
    let detail = format!(
        "version {version} with {} bytes instead of {} with {}",
        stats.len(),
        layout.version,
        layout.length
    );
    Err(Refused(Refusal::Layout, detail))
}

fn record(
    datagram: &[u8],
    aggregate: u16,
    start: usize,
    end: usize,
) -> Result<Record<'_>, Refused> {
    let wanted = if aggregate == TYPE_AGGR_PID { TYPE_PID } else { TYPE_TGID };
    let (mut id, mut stats) = (None, None);
    for attribute in attributes(datagram, start, end) {
        let Attribute { kind, start, end } = attribute?;
        let place = match kind {
            TYPE_STATS => &mut stats,
            kind if kind == wanted => &mut id,
            _ => continue,
        };
        if place.replace(start..end).is_some() {
            return Err(Refused(Refusal::Content, format!("attribute {kind} twice in a record")));
        }
    }
    let number = id.filter(|id| id.len() == 4).and_then(|id| word(datagram, id.start));
    let (Some(id), Some(stats)) = (number, stats) else {
        return Err(Refused(Refusal::Content, "a record without id or statistics".into()));
    };
    Ok(Record { id, offset: stats.start, stats: &datagram[stats] })
}

struct Attribute {
    kind: u16,
    start: usize,
    end: usize,
}

/// Walks the attributes between `start` and `end`, which is not behind the end of the datagram.
fn attributes(
    datagram: &[u8],
    start: usize,
    end: usize,
) -> impl Iterator<Item = Result<Attribute, Refused>> + '_ {
    let mut at = start;
    std::iter::from_fn(move || {
        if at >= end {
            return None;
        }
        let header = half(datagram, at).zip(half(datagram, at + 2));
        let Some((length, kind)) = header.filter(|_| at + ATTRIBUTE_BYTES <= end) else {
            let detail = format!("{} stray bytes behind the last", end - at);
            at = end;
            return Some(Err(Refused(Refusal::Attribute, detail)));
        };
        let length = usize::from(length);
        if length < ATTRIBUTE_BYTES || at + length > end {
            let detail = format!("{length} bytes at {at}, the container ends at {end}");
            at = end;
            return Some(Err(Refused(Refusal::Attribute, detail)));
        }
        let found =
            Attribute { kind: kind & !NESTED_BITS, start: at + ATTRIBUTE_BYTES, end: at + length };
        at += length.next_multiple_of(4);
        Some(Ok(found))
    })
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
