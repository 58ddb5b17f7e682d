//! Makes the frames of one target: numbers them, has key frames among them, joins their parts.

use tungstenite::Bytes;

use super::division::{divide, keep_one_part, Later};
use super::events::Event;
use super::header::{
    ExitedTotals, GroupCounts, Header, HeaderWriter, Health, ProcessGauges, RoleTotals,
};
use super::json::Fragment;
use super::rows::{EncodedRows, Identities, RowEncoder};
use super::table_changes::EncodedTables;
use crate::columns::Rows;
use crate::fields::Fields;
use crate::os::clock;
use crate::source::Origin;

/// Time between key frames, nanoseconds.
pub const KEY_FRAME_NS: i64 = 10_000_000_000;
/// Delta frames after which a key frame comes earlier, in bytes.
const KEY_FRAME_BYTES: usize = 4 * 1024 * 1024;
/// Time between totals of roles, nanoseconds: about a second, and never after the sample that is due
/// then.
const ROLES_NS: i64 = 950_000_000;

/// An encoded frame, with what the replay buffer has to know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Number in its target's stream, from 1.
    pub seq: u64,
    /// The whole binary message.
    pub data: Bytes,
    /// True for a key frame.
    pub key: bool,
    /// True for the frame with the counters at attach.
    pub baseline: bool,
}

/// Rows of a sample.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// None: nothing was read, or nothing changed.
    None,
    /// Rows that changed.
    Delta {
        /// Rows of the target.
        rows: &'a Rows,
        /// Rows that changed, ascending.
        chosen: &'a [usize],
    },
    /// All live threads.
    Key {
        /// Rows of the target.
        rows: &'a Rows,
        /// Rows of live threads, ascending.
        chosen: &'a [usize],
        /// Starts and names.
        threads: &'a dyn Identities,
    },
}

/// Optional parts that a frame must contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// True if it has to be a key frame, with all rows and all tables.
    pub key: bool,
    /// True if it has to have the totals of roles.
    pub roles: bool,
}

/// Values shared by all frames of one sample.
#[derive(Clone, Copy)]
pub struct Common<'a> {
    /// CLOCK_MONOTONIC before the sample, nanoseconds.
    pub started_ns: i64,
    /// Live threads after the sample.
    pub live: u64,
    /// Sums over ended threads, those of the sample included.
    pub exited: &'a ExitedTotals,
    /// Gauges of the process.
    pub process: &'a ProcessGauges,
    /// `MachineCounters`.
    pub machine: &'a Fragment,
    /// Health of sampling.
    pub health: &'a Health,
    /// How counters were read; None if they were not.
    pub counters_from: Option<Origin>,
    /// Numbers of processes; None: the target is one process.
    pub group: Option<&'a GroupCounts>,
}

/// Values that only the last frame of a sample carries.
#[derive(Clone, Copy)]
pub struct Sample<'a> {
    /// Rows.
    pub body: Body<'a>,
    /// How long after its deadline the sample began, nanoseconds.
    pub late_ns: i64,
    /// CPU time of the process, if it was read with this sample.
    pub cpu_ns: Option<u64>,
    /// Totals of roles, if they are due.
    pub roles: Option<&'a [RoleTotals]>,
    /// Tables, if any changed.
    pub tables: EncodedTables<'a>,
}

/// Makes the frames of one target.
pub struct FrameMaker {
    headers: HeaderWriter,
    rows: RowEncoder,
    header: Vec<u8>,
    attach_ns: i64,
    seq: u64,
    key_ns: i64,
    delta_bytes: usize,
    initial_threads: Option<u64>,
    threads_born: u64,
    roles_ns: i64,
    exits_without_event: u64,
    sample_us: u64,
}

impl FrameMaker {
    /// Makes frames of the target with this id, which was attached to at `attach_ns`,
    /// CLOCK_MONOTONIC.
    pub fn new(target: &str, fields: &Fields, is_group: bool, attach_ns: i64) -> Self {
        Self {
            headers: HeaderWriter::new(target, fields, is_group),
            rows: RowEncoder::new(fields, is_group),
            header: Vec::new(),
            attach_ns,
            seq: 0,
            key_ns: i64::MIN,
            delta_bytes: 0,
            initial_threads: None,
            threads_born: 0,
            roles_ns: i64::MIN,
            exits_without_event: 0,
            sample_us: 0,
        }
    }

    /// Number of the last frame; 0: there is none yet.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// CLOCK_MONOTONIC from which the next frame is a key frame, nanoseconds.
    pub fn key_due_ns(&self) -> i64 {
        self.key_ns.saturating_add(KEY_FRAME_NS)
    }

    /// Ended threads that are in the totals but in no event: more than the first frame holds.
    pub fn exits_without_event(&self) -> u64 {
        self.exits_without_event
    }

    /// Duration of the last sample from its start to its encoded rows, microseconds.
    pub fn sample_us(&self) -> u64 {
        self.sample_us
    }

    /// Optional parts of the frame of a sample that starts at `now_ns` with `live` threads. `last` is true if
    /// no frame follows.
    pub fn wants(&self, now_ns: i64, live: u64, last: bool) -> Wants {
        let key = self.is_baseline(live)
            || now_ns >= self.key_due_ns()
            || self.delta_bytes > KEY_FRAME_BYTES;
        let roles = key || last || now_ns >= self.roles_ns.saturating_add(ROLES_NS);
        Wants { key, roles }
    }

    fn is_baseline(&self, live: u64) -> bool {
        self.initial_threads.is_none() && live > 0
    }

    /// Makes the frames of one instant: the last one has the rows, those before it exits only.
    ///
    /// A frame is a key frame where `sample` has all rows, as `wants` demands.
    pub fn sample(
        &mut self,
        mut events: Vec<Event>,
        common: &Common<'_>,
        sample: &Sample<'_>,
    ) -> Vec<Frame> {
        let mut later = Later::of(&events, common.exited.totals.values.len());
        if self.seq == 0 {
            // A reader starts at a key frame, so that the first frame is not divided.
            self.exits_without_event += keep_one_part(&mut events);
        }
        let mut parts = if self.seq == 0 { vec![&events[..]] } else { divide(&events) };
        let last = parts.pop().unwrap_or_default();
        let mut frames = Vec::with_capacity(parts.len() + 1);
        for part in parts {
            later.report(part);
            frames.push(self.exits(part, common, &later));
        }
        frames.push(self.last(last, common, sample));
        frames
    }

    /// Makes a frame without rows, of the instant of the one that follows.
    fn exits(&mut self, events: &[Event], common: &Common<'_>, later: &Later) -> Frame {
        let before = later.before(common.exited);
        let common = Common { exited: &before, live: common.live + later.seen_alive, ..*common };
        self.begin();
        let header = self.common_header(events, &common);
        self.headers.write(&mut self.header, &header);
        let data = joined(&mut self.header, &[], &[]);
        self.delta_bytes += data.len();
        Frame { seq: self.seq, data, key: false, baseline: false }
    }

    fn last(&mut self, events: &[Event], common: &Common<'_>, sample: &Sample<'_>) -> Frame {
        let key = matches!(sample.body, Body::Key { .. });
        let baseline = key && self.is_baseline(common.live);
        if baseline {
            self.initial_threads = Some(common.live);
        }
        if key {
            (self.key_ns, self.delta_bytes) = (common.started_ns, 0);
        }
        if sample.roles.is_some() {
            self.roles_ns = common.started_ns;
        }
        self.begin();
        let header = self.common_header(events, common);
        let none = EncodedRows { bytes: &[], columns: None };
        let (rows, body) = match sample.body {
            Body::None => (0, none),
            Body::Delta { rows, chosen } => (chosen.len(), self.rows.delta(rows, chosen)),
            Body::Key { rows, chosen, threads } => {
                (chosen.len(), self.rows.key(rows, chosen, threads))
            }
        };
        let took_ns = clock::monotonic_ns().saturating_sub(common.started_ns);
        self.sample_us = u64::try_from(took_ns / 1000).unwrap_or(0);
        let header = Header {
            is_key: key,
            baseline,
            rows,
            columns: body.columns,
            cpu_ns: sample.cpu_ns,
            sample_us: self.sample_us,
            late_us: u64::try_from(sample.late_ns / 1000).unwrap_or(0),
            roles: sample.roles,
            tables: sample.tables.described,
            ..header
        };
        self.headers.write(&mut self.header, &header);
        let data = joined(&mut self.header, body.bytes, sample.tables.bytes);
        if !key {
            self.delta_bytes += data.len();
        }
        Frame { seq: self.seq, data, key, baseline }
    }

    fn begin(&mut self) {
        self.seq += 1;
        self.header.clear();
        self.header.extend_from_slice(&[0; LENGTH]);
    }

    /// The header of a delta frame without rows.
    fn common_header<'a>(&mut self, events: &'a [Event], common: &Common<'a>) -> Header<'a> {
        // An exit without a record may be withdrawn in the next sample; the count never falls.
        let ever = common.live + common.exited.threads;
        let born = ever.saturating_sub(self.initial_threads.unwrap_or(0));
        self.threads_born = self.threads_born.max(born);
        let ago_us = clock::monotonic_ns().saturating_sub(common.started_ns) / 1000;
        Header {
            seq: self.seq,
            is_key: false,
            baseline: false,
            rows: 0,
            columns: None,
            time_ns: common.started_ns.saturating_sub(self.attach_ns).max(0),
            unix_us: clock::unix_us().saturating_sub(ago_us),
            live_threads: common.live,
            threads_born: self.threads_born,
            events,
            process: common.process,
            cpu_ns: None,
            machine: common.machine,
            health: common.health,
            sample_us: 0,
            late_us: 0,
            exited: common.exited,
            roles: None,
            counters_from: common.counters_from,
            tables: &[],
            group: common.group,
        }
    }
}

/// Bytes of the length in front of a header.
const LENGTH: usize = 4;

/// Joins a header, in front of which is room for its length, with rows and tables: the header is
/// padded with blanks, so that the rest stands at a multiple of 8.
fn joined(header: &mut Vec<u8>, rows: &[u8], tables: &[u8]) -> Bytes {
    header.resize(header.len().next_multiple_of(8), b' ');
    let length = (header.len() - LENGTH) as u32;
    header[..LENGTH].copy_from_slice(&length.to_le_bytes());
    let mut data = Vec::with_capacity(header.len() + rows.len() + tables.len());
    for part in [header.as_slice(), rows, tables] {
        data.extend_from_slice(part);
    }
    Bytes::from(data)
}

#[cfg(test)]
#[path = "frame_tests.rs"]
mod tests;
