//! Divides the events of one instant among frames. Pure.
//!
//! Counts of a frame (`exited`, `live_threads`) cover reports up to this frame, so frames before the last
//! one do not count the exits that follow.

use super::events::Event;
use super::header::ExitedTotals;
use crate::columns::Totals;

/// Rows of a key frame, in bytes: a key frame is never divided, as it says who is alive.
pub const KEY_ROWS_BYTES: usize = 46 * 1024 * 1024;
/// Bytes of a row of a key frame besides counters: id, start, name, bits of absent values.
const IDENTITY_BYTES: usize = 48;
/// Events in a frame, in bytes.
const EVENTS_BYTES: usize = 16 * 1024 * 1024;
/// Bytes of the longest exit event, which has every field, with up to 20 digits.
const EXIT_EVENT_BYTES: usize = 3072;
/// Bytes of another event, as a rule.
const EVENT_BYTES: usize = 128;
/// Exits in a frame: less than a megabyte.
pub const FRAME_EXITS: usize = 1_000;

/// Number of threads that fit into a key frame, with room for its header.
pub fn most_threads(fields: usize) -> usize {
    KEY_ROWS_BYTES / (8 * fields + IDENTITY_BYTES)
}

/// Divides events among frames, in order; at least one part, and more only because of exits.
pub fn divide(events: &[Event]) -> Vec<&[Event]> {
    let (mut parts, mut start, mut size, mut exits) = (Vec::new(), 0, 0, 0);
    for (place, event) in events.iter().enumerate() {
        let is_exit = matches!(event, Event::Exited(_));
        let event_size = if is_exit { EXIT_EVENT_BYTES } else { EVENT_BYTES };
        size += event_size;
        exits += usize::from(is_exit);
        if place > start && (size > EVENTS_BYTES || exits > FRAME_EXITS) {
            parts.push(&events[start..place]);
            (start, size, exits) = (place, event_size, usize::from(is_exit));
        }
    }
    parts.push(&events[start..]);
    parts
}

/// Keeps as many exits without a life before them as one frame has, and returns how many it removed.
pub fn keep_one_part(events: &mut Vec<Event>) -> u64 {
    let before = events.len();
    let mut kept = 0;
    events.retain(|event| match event {
        Event::Exited(exited) if !exited.seen_alive => {
            kept += 1;
            kept <= FRAME_EXITS
        }
        _ => true,
    });
    (before - events.len()) as u64
}

/// Exits that are counted already, and that frames report which follow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Later {
    /// Number of threads.
    pub threads: u64,
    /// Threads among them that readers know as alive.
    pub seen_alive: u64,
    /// Threads among them without an exit record.
    pub inexact: u64,
    /// Sums of their last values.
    pub totals: Totals,
}

impl Later {
    /// Sums over the exits of some events, for `summed` columns.
    pub fn of(events: &[Event], summed: usize) -> Self {
        let mut later = Self { totals: Totals::new(summed), ..Self::default() };
        for event in events {
            if let Event::Exited(exited) = event {
                later.threads += 1;
                later.seen_alive += u64::from(exited.seen_alive);
                later.inexact += u64::from(!exited.exact);
                later.totals.add(&exited.totals);
            }
        }
        later
    }

    /// Leaves out the exits of some events, which are reported now.
    pub fn report(&mut self, events: &[Event]) {
        let now = Self::of(events, self.totals.values.len());
        self.threads -= now.threads.min(self.threads);
        self.seen_alive -= now.seen_alive.min(self.seen_alive);
        self.inexact -= now.inexact.min(self.inexact);
        self.totals.subtract(&now.totals);
    }

    /// Totals without these exits.
    pub fn before(&self, exited: &ExitedTotals) -> ExitedTotals {
        let mut before = exited.clone();
        before.threads = before.threads.saturating_sub(self.threads);
        before.inexact = before.inexact.saturating_sub(self.inexact);
        before.totals.subtract(&self.totals);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::super::events::Exited;
    use super::*;

    pub fn exit(tid: u32, value: u64) -> Event {
        Event::Exited(Box::new(Exited {
            tid,
            process: 1,
            start_ns: 0,
            name: "t".into(),
            totals: Totals { values: vec![value], given: 1 },
            inexact: 0,
            exact: tid.is_multiple_of(2),
            seen_alive: tid.is_multiple_of(3),
            lifetime_ns: None,
        }))
    }

    #[test]
    fn events_are_divided_because_of_exits_and_in_order() {
        assert_eq!(divide(&[]), [&[] as &[Event]]);
        let missed = Event::DeadlinesMissed { count: 1 };
        let mut events: Vec<_> = (0..2 * FRAME_EXITS as u32).map(|tid| exit(tid, 1)).collect();
        events.push(missed.clone());
        events.push(exit(9, 1));
        let parts = divide(&events);
        assert_eq!(parts.iter().map(|part| part.len()).collect::<Vec<_>>(), [1000, 1001, 1]);
        assert_eq!(parts.concat(), events);
        assert_eq!(divide(&vec![missed; 100_000]).len(), 1);
    }

    #[test]
    fn earlier_parts_do_not_count_later_exits() {
        let events: Vec<_> = (0..6).map(|tid| exit(tid, 10)).collect();
        let mut later = Later::of(&events, 1);
        assert_eq!((later.threads, later.seen_alive, later.inexact), (6, 2, 3));
        later.report(&events[..2]);
        assert_eq!((later.threads, later.seen_alive, later.inexact), (4, 1, 2));
        let all =
            ExitedTotals { threads: 7, inexact: 4, totals: Totals { values: vec![100], given: 1 } };
        let before = later.before(&all);
        assert_eq!((before.threads, before.inexact, before.totals.values[0]), (3, 2, 60));
        later.report(&events[2..]);
        assert_eq!(later.before(&all), all);
    }

    #[test]
    fn a_first_frame_has_one_part() {
        let mut events: Vec<_> = (0..3000).map(|_| exit(1, 1)).collect();
        events.push(exit(3, 1));
        assert_eq!(keep_one_part(&mut events), 2000);
        assert_eq!(events.len(), 1001);
    }
}
