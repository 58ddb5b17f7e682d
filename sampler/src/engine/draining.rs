//! Exit records and process events of all targets: taken from their sockets and ring, and handed out.

use std::sync::PoisonError;

use super::entry::{Entry, Following};
use super::{reason, Engine};
use crate::columns::Exits;
use crate::encode::events::Event;
use crate::fields::CPU;
use crate::os::clock::monotonic_ns;
use crate::taskstats::{ExitListener, Records};

/// Exit records are taken at least this often, so that the sockets do not fill, nanoseconds.
const DRAIN_NS: i64 = 100_000_000;
/// Interval between drains if the kernel filters records by process, nanoseconds.
const FILTERED_DRAIN_NS: i64 = 500_000_000;
/// Exit records of all targets that wait in memory; more are folded into totals.
pub(super) const MAX_WAITING_EXITS: usize = if cfg!(test) { 5_000 } else { 200_000 };

/// The exit records of all targets.
pub struct ExitRecords {
    /// Source of exit records.
    pub listener: ExitListener,
    records: Records,
}

impl ExitRecords {
    /// Makes it.
    pub fn new(listener: ExitListener) -> Self {
        Self { listener, records: Records::default() }
    }
}

impl Engine {
    /// Takes exit records in.
    pub fn drain(&mut self) {
        self.drain_with(None);
    }

    /// Takes exit records in, those of a target that is taken out of `entries` as well.
    pub(super) fn drain_with(&mut self, mut out: Option<(&str, &mut Entry)>) {
        let Some(mut exits) = self.exits.take() else { return };
        let filtered = exits.listener.filters();
        self.drain_due_ns = monotonic_ns() + if filtered { FILTERED_DRAIN_NS } else { DRAIN_NS };
        match exits.listener.drain(&mut exits.records) {
            Ok(()) => self.drain_trouble.clear(),
            Err(error) => self.drain_trouble = error.to_string(),
        }
        if !exits.records.is_empty() {
            // A birth is reported before the end's record is sent: whoever is in these is known now.
            self.take_ring(out.as_mut().map(|(id, entry)| (*id, &mut **entry)));
            let own = out.into_iter().map(|(_, entry)| entry);
            for entry in own.chain(self.entries.values_mut().map(|entry| &mut **entry)) {
                take_exits(&exits, entry);
            }
        }
        self.exits = Some(exits);
        self.fold_excess();
    }

    /// Takes the events of processes in.
    pub(super) fn take_ring(&mut self, mut out: Option<(&str, &mut Entry)>) {
        let Some(programs) = &mut self.programs else { return };
        let mut events = std::mem::take(&mut self.ring);
        programs.drain(&mut events);
        let lost = programs.lost();
        let more = lost - std::mem::replace(&mut self.programs_lost, lost);
        let now_ns = monotonic_ns();
        let (board, programs) = (&self.board, &*programs);
        let give = |id: &str, entry: &mut Entry| {
            if !matches!(entry.following, Following::Reported { .. }) {
                return;
            }
            for event in &events {
                entry.apply(id, event, Some(programs), board, now_ns);
            }
            if more > 0 {
                board.leave(id, |notice| notice.events_lost += more);
            }
        };
        if let Some((id, entry)) = &mut out {
            give(id, entry);
        }
        for (id, entry) in &mut self.entries {
            give(id, entry);
        }
        events.clear();
        self.ring = events;
    }

    /// Keeps what waits within its bound: the oldest exits of whoever has the most are folded.
    fn fold_excess(&mut self) {
        loop {
            let waiting = |entry: &Entry| entry.target.waiting_exits();
            let all: usize = self.entries.values().map(|entry| waiting(entry)).sum();
            if all <= MAX_WAITING_EXITS {
                return;
            }
            let Some(entry) = self.entries.values_mut().max_by_key(|entry| waiting(entry)) else {
                return;
            };
            let count = (all - MAX_WAITING_EXITS).min(waiting(entry));
            entry.target.fold_exits(count);
        }
    }

    /// Lets the kernel leave out the exit records of processes that belong to no target.
    pub(super) fn keep_exits(&mut self) {
        let wanted: Option<Vec<u32>> = self
            .entries
            .values()
            .map(|entry| match &entry.following {
                Following::Process { pid, .. } => Some(*pid),
                _ => None, // processes may begin and end between two readings
            })
            .collect();
        if let Some(exits) = &mut self.exits {
            // If it fails, the records of all processes come, as before.
            let _ = exits.listener.keep_only(wanted.as_deref());
        }
    }
}

/// Gives a target its exit records.
fn take_exits(exits: &ExitRecords, entry: &mut Entry) {
    let layout = &exits.listener.kernel().layout;
    let Some(decoder) = &entry.decoder else { return };
    let (mut found, mut codes) = (Exits::new(entry.target.width()), Vec::new());
    let processes = entry.processes.lock().unwrap_or_else(PoisonError::into_inner);
    exits.records.decode(
        layout,
        decoder,
        |pid| processes.members.is_believed(pid),
        |pid| processes.members.start_of(pid),
        &mut found,
        &mut codes,
    );
    drop(processes);
    entry.drained(found.drained_ns.max(exits.records.before_ns));
    let main = entry.main_process();
    if let Some(code) = codes.iter().find(|code| code.process == main) {
        entry.exit_code = Some(code.status);
    }
    if found.rows.is_empty() {
        return;
    }
    if let (Some(switches), Some(cpu)) =
        (&mut entry.last_switches, entry.target.tracker().fields().find(CPU))
    {
        entry.target.tracker_mut().raise_to_seen(&mut found, cpu);
        switches.raise(&mut found, cpu);
    }
    let (_, believed) = entry.members();
    let followed = entry.target.follow(&believed);
    let taken = entry.target.take_exits(found, entry.last_switches.is_some());
    if let Err(error) = followed.and(taken) {
        entry.target.report(Event::SampleFailed { reason: reason(&error) });
    }
}
