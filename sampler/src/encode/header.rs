//! The header of frames: JSON of `FrameHeader` in shared/schemas/frames.schema.json.

use super::events::{write_events, Event};
use super::json::{
    boolean, float, float_or_null, list, number, number_or_null, signed, string, string_or_null,
    Fragment, Keys,
};
use crate::columns::{Mask, Totals};
use crate::fields::{columns_of, Fields};
use crate::source::Origin;

/// Sums over the threads that have ended since attach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExitedTotals {
    /// Number of threads.
    pub threads: u64,
    /// Threads without an exit record, for which the last sample counts.
    pub inexact: u64,
    /// Sums of last values.
    pub totals: Totals,
}

/// Sums over the threads of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RoleTotals {
    /// Role; None: all beyond the limit.
    pub role: Option<String>,
    /// Live threads.
    pub live: u64,
    /// Threads that ended since attach.
    pub exited: u64,
    /// Sums.
    pub totals: Totals,
}

/// Numbers of processes of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupCounts {
    /// Processes in it now.
    pub live: u64,
    /// Processes that joined it since attach.
    pub started: u64,
    /// Processes that ended or left it since attach.
    pub ended: u64,
    /// Ended ones that no sample saw alive.
    pub unseen: u64,
    /// Processes that may have been missed; None: it cannot be known.
    pub missed: Option<u64>,
    /// `GroupCheck`: sums of threads beside an account of the kernel; None: there is none yet.
    pub check: Option<Fragment>,
}

/// A table behind the rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableHeader {
    /// Name.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Length of its stream.
    pub bytes: usize,
    /// Rows that no frame carries.
    pub omitted: usize,
    /// When the rows were read, nanoseconds since attach.
    pub read_ns: i64,
}

/// `CollectorHealth`, without what is of one sample: its duration and its delay.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The schema says what the members are.
pub struct Health {
    pub sample_mean_us: u64,
    pub sample_max_us: u64,
    pub missed_deadlines: u64,
    pub effective_hz: f64,
    pub requested_hz: f64,
    pub exit_records_received: u64,
    pub exit_records_lost: u64,
    pub cpu_percent: Option<f64>,
    pub overhead_percent: Option<f64>,
    pub budget_percent: f64,
    pub replay_bytes: u64,
    pub replay_frames: u64,
    pub unsent_frames: u64,
    pub sent_frames: u64,
    pub sent_bytes: u64,
    pub slowed_by_backlog: bool,
    pub undelivered_bytes: u64,
    pub frames_dropped: u64,
    pub exits_without_event: u64,
    pub network_calls_uncounted: u64,
    pub counters_disagreement: Option<String>,
    pub locks_reason: Option<String>,
    pub ledger_threads_uncounted: u64,
}

/// `GroupLimits` of the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The schema says what the members are.
pub struct GroupLimits {
    pub memory_bytes: Option<u64>,
    pub memory_hits: Option<u64>,
    pub disk_bytes: Option<u64>,
    pub disk_ios: Option<u64>,
    pub reads_limited_us: Option<u64>,
    pub writes_limited_us: Option<u64>,
}

impl GroupLimits {
    fn write(&self, out: &mut Vec<u8>) {
        let mut whole = |name: &str, value: Option<u64>| {
            member(out, name, |out| number_or_null(out, value));
        };
        whole("{\"memory_bytes\":", self.memory_bytes);
        whole(",\"memory_hits\":", self.memory_hits);
        whole(",\"disk_bytes\":", self.disk_bytes);
        whole(",\"disk_ios\":", self.disk_ios);
        whole(",\"reads_limited_us\":", self.reads_limited_us);
        whole(",\"writes_limited_us\":", self.writes_limited_us);
        out.push(b'}');
    }
}

/// `ProcessGauges`, without the CPU time, which is reported with the sample that it was read with.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // The schema says what the members are.
pub struct ProcessGauges {
    pub gomaxprocs: Option<u64>,
    pub gomaxprocs_missed: Option<u64>,
    pub rss_bytes: Option<u64>,
    pub delay_accounting: Option<bool>,
    pub cpu_limit: Option<f64>,
    pub cgroup_periods: Option<u64>,
    pub cgroup_throttled: Option<u64>,
    pub cgroup_throttled_us: Option<u64>,
    pub limits: Option<GroupLimits>,
}

impl ProcessGauges {
    fn write(&self, out: &mut Vec<u8>, cpu_ns: Option<u64>) {
        let mut whole = |name: &str, value: Option<u64>| {
            member(out, name, |out| number_or_null(out, value));
        };
        whole("{\"gomaxprocs\":", self.gomaxprocs);
        whole(",\"gomaxprocs_missed\":", self.gomaxprocs_missed);
        whole(",\"rss_bytes\":", self.rss_bytes);
        whole(",\"cpu_ns\":", cpu_ns);
        member(out, ",\"delay_accounting\":", |out| match self.delay_accounting {
            Some(on) => boolean(out, on),
            None => number_or_null(out, None),
        });
        member(out, ",\"cpu_limit\":", |out| float_or_null(out, self.cpu_limit));
        let mut whole = |name: &str, value: Option<u64>| {
            member(out, name, |out| number_or_null(out, value));
        };
        whole(",\"cgroup_periods\":", self.cgroup_periods);
        whole(",\"cgroup_throttled\":", self.cgroup_throttled);
        whole(",\"cgroup_throttled_us\":", self.cgroup_throttled_us);
        member(out, ",\"limits\":", |out| match &self.limits {
            Some(limits) => limits.write(out),
            None => number_or_null(out, None),
        });
        out.push(b'}');
    }
}

/// Contents of one frame's header. Members are those of `FrameHeader`.
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)] // The schema says what the members are.
pub struct Header<'a> {
    pub seq: u64,
    pub is_key: bool,
    pub baseline: bool,
    pub rows: usize,
    pub columns: Option<Mask>,
    pub time_ns: i64,
    pub unix_us: i64,
    pub live_threads: u64,
    pub threads_born: u64,
    pub events: &'a [Event],
    pub process: &'a ProcessGauges,
    pub cpu_ns: Option<u64>,
    pub machine: &'a Fragment,
    pub health: &'a Health,
    pub sample_us: u64,
    pub late_us: u64,
    pub exited: &'a ExitedTotals,
    pub roles: Option<&'a [RoleTotals]>,
    pub counters_from: Option<Origin>,
    pub tables: &'a [TableHeader],
    pub group: Option<&'a GroupCounts>,
}

/// Writes the headers of one target's frames.
pub struct HeaderWriter {
    start: Vec<u8>,
    fields: Vec<u8>,
    keys: Keys,
    is_group: bool,
}

impl HeaderWriter {
    /// Makes a writer for a target with these columns.
    pub fn new(target: &str, fields: &Fields, is_group: bool) -> Self {
        let mut start = b"{\"type\":\"frame\",\"target\":".to_vec();
        string(&mut start, target);
        start.extend_from_slice(b",\"seq\":");
        let mut names = Vec::new();
        list(&mut names, fields.names(), |out, name| string(out, name));
        let keys = Keys::new(fields.names().iter().map(String::as_str));
        Self { start, fields: names, keys, is_group }
    }

    /// Appends the header of a frame.
    pub fn write(&self, out: &mut Vec<u8>, header: &Header<'_>) {
        out.extend_from_slice(&self.start);
        number(out, header.seq);
        member(out, ",\"first_seq\":", |out| number(out, header.seq));
        let kind = if header.is_key { "\"key\"" } else { "\"delta\"" };
        member(out, ",\"kind\":", |out| out.extend_from_slice(kind.as_bytes()));
        member(out, ",\"baseline\":", |out| boolean(out, header.baseline));
        member(out, ",\"rows\":", |out| number(out, header.rows as u64));
        let fields: &[u8] = if header.is_key { &self.fields } else { b"null" };
        member(out, ",\"fields\":", |out| out.extend_from_slice(fields));
        member(out, ",\"columns\":", |out| match header.columns {
            Some(columns) => list(out, columns_of(columns), |out, n| number(out, n as u64)),
            None => number_or_null(out, None),
        });
        member(out, ",\"time_ns\":", |out| signed(out, header.time_ns));
        member(out, ",\"unix_us\":", |out| signed(out, header.unix_us));
        member(out, ",\"live_threads\":", |out| number(out, header.live_threads));
        member(out, ",\"threads_born\":", |out| number(out, header.threads_born));
        member(out, ",\"events\":", |out| {
            write_events(out, header.events, &self.keys, self.is_group);
        });
        member(out, ",\"process\":", |out| header.process.write(out, header.cpu_ns));
        member(out, ",\"machine\":", |out| {
            out.extend_from_slice(header.machine.text().as_bytes());
        });
        member(out, ",\"health\":", |out| {
            write_health(out, header.health, header.sample_us, header.late_us);
        });
        member(out, ",\"exited\":", |out| {
            member(out, "{\"threads\":", |out| number(out, header.exited.threads));
            member(out, ",\"inexact\":", |out| number(out, header.exited.inexact));
            member(out, ",\"totals\":", |out| self.keys.totals(out, &header.exited.totals));
            out.push(b'}');
        });
        member(out, ",\"roles\":", |out| match header.roles {
            Some(roles) => list(out, roles, |out, role| self.write_role(out, role)),
            None => number_or_null(out, None),
        });
        member(out, ",\"counters_from\":", |out| {
            string_or_null(out, header.counters_from.map(Origin::name));
        });
        member(out, ",\"tables\":", |out| {
            if header.tables.is_empty() {
                number_or_null(out, None);
            } else {
                list(out, header.tables, write_table);
            }
        });
        member(out, ",\"group\":", |out| match header.group {
            Some(group) => write_group(out, group),
            None => number_or_null(out, None),
        });
        out.push(b'}');
    }

    fn write_role(&self, out: &mut Vec<u8>, role: &RoleTotals) {
        member(out, "{\"role\":", |out| string_or_null(out, role.role.as_deref()));
        member(out, ",\"live\":", |out| number(out, role.live));
        member(out, ",\"exited\":", |out| number(out, role.exited));
        member(out, ",\"totals\":", |out| self.keys.totals(out, &role.totals));
        out.push(b'}');
    }
}

fn write_health(out: &mut Vec<u8>, health: &Health, sample_us: u64, late_us: u64) {
    let mut whole = |name: &str, value: u64| member(out, name, |out| number(out, value));
    whole("{\"sample_us\":", sample_us);
    whole(",\"sample_mean_us\":", health.sample_mean_us);
    whole(",\"sample_max_us\":", health.sample_max_us);
    whole(",\"late_us\":", late_us);
    whole(",\"missed_deadlines\":", health.missed_deadlines);
    member(out, ",\"effective_hz\":", |out| float(out, health.effective_hz));
    member(out, ",\"requested_hz\":", |out| float(out, health.requested_hz));
    let mut whole = |name: &str, value: u64| member(out, name, |out| number(out, value));
    whole(",\"exit_records_received\":", health.exit_records_received);
    whole(",\"exit_records_lost\":", health.exit_records_lost);
    member(out, ",\"cpu_percent\":", |out| float_or_null(out, health.cpu_percent));
    member(out, ",\"overhead_percent\":", |out| float_or_null(out, health.overhead_percent));
    member(out, ",\"budget_percent\":", |out| float(out, health.budget_percent));
    let mut whole = |name: &str, value: u64| member(out, name, |out| number(out, value));
    whole(",\"replay_bytes\":", health.replay_bytes);
    whole(",\"replay_frames\":", health.replay_frames);
    whole(",\"unsent_frames\":", health.unsent_frames);
    whole(",\"sent_frames\":", health.sent_frames);
    whole(",\"sent_bytes\":", health.sent_bytes);
    member(out, ",\"slowed_by_backlog\":", |out| boolean(out, health.slowed_by_backlog));
    let mut whole = |name: &str, value: u64| member(out, name, |out| number(out, value));
    whole(",\"undelivered_bytes\":", health.undelivered_bytes);
    whole(",\"frames_dropped\":", health.frames_dropped);
    whole(",\"exits_without_event\":", health.exits_without_event);
    whole(",\"network_calls_uncounted\":", health.network_calls_uncounted);
    let mut text = |name: &str, text: &Option<String>| {
        member(out, name, |out| string_or_null(out, text.as_deref()));
    };
    text(",\"counters_disagreement\":", &health.counters_disagreement);
    text(",\"locks_reason\":", &health.locks_reason);
    member(out, ",\"ledger_threads_uncounted\":", |out| {
        number(out, health.ledger_threads_uncounted);
    });
    out.push(b'}');
}

fn write_group(out: &mut Vec<u8>, group: &GroupCounts) {
    member(out, "{\"live\":", |out| number(out, group.live));
    member(out, ",\"started\":", |out| number(out, group.started));
    member(out, ",\"ended\":", |out| number(out, group.ended));
    member(out, ",\"unseen\":", |out| number(out, group.unseen));
    member(out, ",\"missed\":", |out| number_or_null(out, group.missed));
    member(out, ",\"check\":", |out| {
        out.extend_from_slice(group.check.as_ref().map_or("null", Fragment::text).as_bytes());
    });
    out.push(b'}');
}

fn write_table(out: &mut Vec<u8>, table: &TableHeader) {
    member(out, "{\"name\":", |out| string(out, &table.name));
    member(out, ",\"rows\":", |out| number(out, table.rows as u64));
    member(out, ",\"bytes\":", |out| number(out, table.bytes as u64));
    member(out, ",\"omitted\":", |out| number(out, table.omitted as u64));
    member(out, ",\"read_ns\":", |out| signed(out, table.read_ns));
    out.push(b'}');
}

/// Writes a key with its punctuation, and a value.
fn member(out: &mut Vec<u8>, key: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(key.as_bytes());
    write(out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gauges_have_the_cpu_time_of_their_sample() {
        let gauges = ProcessGauges {
            gomaxprocs: Some(4),
            cpu_limit: Some(1.5),
            delay_accounting: Some(true),
            ..ProcessGauges::default()
        };
        let mut out = Vec::new();
        gauges.write(&mut out, Some(17));
        let read: serde_json::Value = serde_json::from_slice(&out).unwrap();
        assert_eq!((read["gomaxprocs"].as_u64(), read["cpu_ns"].as_u64()), (Some(4), Some(17)));
        assert_eq!(
            (read["cpu_limit"].as_f64(), &read["rss_bytes"]),
            (Some(1.5), &serde_json::Value::Null)
        );
        assert_eq!(read.as_object().unwrap().len(), 10);
    }
}
