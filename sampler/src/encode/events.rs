//! Events of a target, as frames report them.

use super::json::{
    boolean, float, list, number, number_or_null, signed, string, string_or_null, Fragment, Keys,
};
use crate::columns::{Mask, Totals};
use crate::source::Origin;

/// The end of a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exited {
    /// Thread id.
    pub tid: u32,
    /// Process id.
    pub process: u32,
    /// Start, nanoseconds since attach.
    pub start_ns: i64,
    /// Last name.
    pub name: String,
    /// Last values of the counters that have a valid one.
    pub totals: Totals,
    /// Columns whose value is not exact although the totals are.
    pub inexact: Mask,
    /// True if the totals are those of an exit record.
    pub exact: bool,
    /// False if the thread lived between two samples only.
    pub seen_alive: bool,
    /// Lifetime from the exit record, nanoseconds; None without one.
    pub lifetime_ns: Option<i64>,
}

/// An event of a target.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// A thread was seen for the first time.
    Born {
        /// Thread id.
        tid: u32,
        /// Process id.
        process: u32,
        /// Start, nanoseconds since attach.
        start_ns: i64,
        /// Name.
        name: String,
    },
    /// A thread has another name.
    Renamed {
        /// Thread id.
        tid: u32,
        /// Process id.
        process: u32,
        /// Name from now on.
        name: String,
        /// Name before.
        previous: String,
    },
    /// A thread has ended.
    Exited(Box<Exited>),
    /// The last process of the target has ended.
    TargetExited {
        /// Status as from wait(2); None if no exit record had it.
        exit_code: Option<i32>,
    },
    /// Sampling was stopped on request.
    TargetDetached,
    /// Another rate was requested.
    RateChanged {
        /// New rate.
        rate_hz: f64,
        /// Rate before.
        previous_hz: f64,
    },
    /// The rate was changed to stay within the CPU budget, or because frames wait.
    RateAdapted {
        /// New rate.
        rate_hz: f64,
        /// Rate before.
        previous_hz: f64,
        /// Requested rate.
        requested_hz: f64,
        /// CPU that caused the change, 100 = one core.
        overhead_percent: f64,
        /// CPU budget, 100 = one core.
        budget_percent: f64,
        /// Bytes of frames that wait; None if the budget is the cause.
        undelivered_bytes: Option<u64>,
    },
    /// Samples were skipped because their deadline had passed.
    DeadlinesMissed {
        /// Number since the frame before.
        count: u64,
    },
    /// The kernel dropped exit records.
    ExitRecordsLost {
        /// Number, host-wide.
        count: u64,
    },
    /// A Go program's GOMAXPROCS changed.
    GomaxprocsChanged {
        /// Process id.
        process: u32,
        /// Value from now on.
        size: u64,
        /// Value before.
        previous: u64,
    },
    /// A process executed another program.
    ProgramExecuted {
        /// Process id.
        process: u32,
        /// Name of the main thread now.
        name: String,
        /// Path of the executable; None if it may not be seen.
        executable: Option<String>,
        /// Path of the one before; None if it could not be seen.
        previous: Option<String>,
    },
    /// A sample failed.
    SampleFailed {
        /// The kernel's error.
        reason: String,
    },
    /// Counters are read another way from this frame on.
    CountersSourceChanged {
        /// The way from now on.
        source: Origin,
        /// The way before.
        previous: Origin,
        /// Why, in one sentence.
        reason: String,
        /// True if the two ways gave other values.
        disagreed: bool,
    },
    /// An event that Python made, as JSON.
    Made(Fragment),
}

impl Event {
    /// Writes the event; process ids where the target is a group.
    pub fn write(&self, out: &mut Vec<u8>, keys: &Keys, is_group: bool) {
        match self {
            Self::Born { tid, process, start_ns, name } => {
                begin(out, "thread_born");
                member(out, "tid", |out| number(out, (*tid).into()));
                member(out, "start_ns", |out| signed(out, *start_ns));
                member(out, "name", |out| string(out, name));
                pid(out, *process, is_group);
            }
            Self::Renamed { tid, process, name, previous } => {
                begin(out, "thread_renamed");
                member(out, "tid", |out| number(out, (*tid).into()));
                member(out, "name", |out| string(out, name));
                member(out, "previous", |out| string(out, previous));
                pid(out, *process, is_group);
            }
            Self::Exited(exited) => exited.write(out, keys, is_group),
            Self::TargetExited { exit_code } => {
                begin(out, "target_exited");
                member(out, "exit_code", |out| match exit_code {
                    Some(code) => signed(out, (*code).into()),
                    None => number_or_null(out, None),
                });
            }
            Self::TargetDetached => begin(out, "target_detached"),
            Self::RateChanged { rate_hz, previous_hz } => {
                begin(out, "rate_changed");
                member(out, "rate_hz", |out| float(out, *rate_hz));
                member(out, "previous_hz", |out| float(out, *previous_hz));
            }
            Self::RateAdapted {
                rate_hz,
                previous_hz,
                requested_hz,
                overhead_percent,
                budget_percent,
                undelivered_bytes,
            } => {
                begin(out, "rate_adapted");
                member(out, "rate_hz", |out| float(out, *rate_hz));
                member(out, "previous_hz", |out| float(out, *previous_hz));
                member(out, "requested_hz", |out| float(out, *requested_hz));
                member(out, "overhead_percent", |out| float(out, *overhead_percent));
                member(out, "budget_percent", |out| float(out, *budget_percent));
                member(out, "undelivered_bytes", |out| number_or_null(out, *undelivered_bytes));
            }
            Self::DeadlinesMissed { count } => {
                begin(out, "deadlines_missed");
                member(out, "count", |out| number(out, *count));
            }
            Self::ExitRecordsLost { count } => {
                begin(out, "exit_records_lost");
                member(out, "count", |out| number(out, *count));
            }
            Self::GomaxprocsChanged { process, size, previous } => {
                begin(out, "gomaxprocs_changed");
                member(out, "size", |out| number(out, *size));
                member(out, "previous", |out| number(out, *previous));
                pid(out, *process, is_group);
            }
            Self::ProgramExecuted { process, name, executable, previous } => {
                begin(out, "program_executed");
                member(out, "name", |out| string(out, name));
                member(out, "executable", |out| string_or_null(out, executable.as_deref()));
                member(out, "previous", |out| string_or_null(out, previous.as_deref()));
                pid(out, *process, is_group);
            }
            Self::SampleFailed { reason } => {
                begin(out, "sample_failed");
                member(out, "reason", |out| string(out, reason));
            }
            Self::CountersSourceChanged { source, previous, reason, disagreed } => {
                begin(out, "counters_source_changed");
                member(out, "source", |out| string(out, source.name()));
                member(out, "previous", |out| string(out, previous.name()));
                member(out, "reason", |out| string(out, reason));
                member(out, "disagreed", |out| boolean(out, *disagreed));
            }
            Self::Made(fragment) => {
                out.extend_from_slice(fragment.text().as_bytes());
                return;
            }
        }
        out.push(b'}');
    }
}

impl Exited {
    fn write(&self, out: &mut Vec<u8>, keys: &Keys, is_group: bool) {
        begin(out, "thread_exited");
        member(out, "tid", |out| number(out, self.tid.into()));
        member(out, "start_ns", |out| signed(out, self.start_ns));
        member(out, "name", |out| string(out, &self.name));
        member(out, "totals", |out| keys.totals(out, &self.totals));
        member(out, "exact", |out| boolean(out, self.exact));
        member(out, "seen_alive", |out| boolean(out, self.seen_alive));
        let lifetime_ns = self.lifetime_ns.map(|ns| u64::try_from(ns).unwrap_or(0));
        member(out, "lifetime_ns", |out| number_or_null(out, lifetime_ns));
        pid(out, self.process, is_group);
        member(out, "inexact", |out| keys.list(out, self.inexact));
    }
}

/// Writes events as a list.
pub fn write_events(out: &mut Vec<u8>, events: &[Event], keys: &Keys, is_group: bool) {
    list(out, events, |out, event| event.write(out, keys, is_group));
}

fn begin(out: &mut Vec<u8>, kind: &str) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.push(b'"');
}

fn member(out: &mut Vec<u8>, name: &str, write: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b"\":");
    write(out);
}

fn pid(out: &mut Vec<u8>, process: u32, is_group: bool) {
    let known = (is_group && process > 0).then_some(process.into());
    member(out, "pid", |out| number_or_null(out, known));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(event: &Event, is_group: bool) -> String {
        let mut out = Vec::new();
        event.write(&mut out, &Keys::new(["a", "b"].into_iter()), is_group);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_event_has_the_members_of_its_schema_in_order() {
        let exited = Event::Exited(Box::new(Exited {
            tid: 7,
            process: 5,
            start_ns: -3,
            name: "w\"1".into(),
            totals: Totals { values: vec![4, 9], given: 0b01 },
            inexact: 0b10,
            exact: true,
            seen_alive: false,
            lifetime_ns: Some(12),
        }));
        assert_eq!(
            text(&exited, false),
            r#"{"type":"thread_exited","tid":7,"start_ns":-3,"name":"w\"1","totals":{"a":4},"exact":true,"seen_alive":false,"lifetime_ns":12,"pid":null,"inexact":["b"]}"#
        );
        assert!(text(&exited, true).contains(r#""pid":5,"inexact""#));
        assert_eq!(
            text(&Event::TargetExited { exit_code: None }, true),
            r#"{"type":"target_exited","exit_code":null}"#
        );
        assert_eq!(text(&Event::TargetDetached, true), r#"{"type":"target_detached"}"#);
    }

    #[test]
    fn an_event_of_python_is_written_as_it_is() {
        let made = r#"{"type":"steering_decided","number":1}"#;
        assert_eq!(text(&Event::Made(Fragment::new(made).unwrap()), true), made);
    }
}
