//! One target: the sequence of every sample: list, read, join, validate, compare, encode.

use std::collections::BTreeSet;

use crate::columns::{text, Exits, Rows};
use crate::compare::{Check, Ended, ProcessNotes, RoleNames, RoleSums, Thread, Tracker};
use crate::encode::division::most_threads;
use crate::encode::events::Event;
use crate::encode::frame::{Body, Common, Frame, FrameMaker, Sample};
use crate::encode::header::{GroupCounts, Health, ProcessGauges};
use crate::encode::json::Fragment;
use crate::encode::rows::Identities;
use crate::encode::table_changes::TableChanges;
use crate::fields::Fields;
use crate::ids::IdMap;
use crate::os::clock::monotonic_ns;
use crate::source::{Join, Origin, ReadError, Source};
use crate::validate::{Inexact, Validation};

/// Description of a target.
pub struct Spec {
    /// Id on the wire.
    pub id: String,
    /// Columns of the source, then those of the joins.
    pub fields: Fields,
    /// CLOCK_MONOTONIC of the attachment, nanoseconds.
    pub attach_ns: i64,
    /// True if frames say which process a thread is of.
    pub is_group: bool,
    /// True if exit records may be of other processes' threads (taskstats before version 12).
    pub has_other_exits: bool,
    /// Rule of roles.
    pub role_names: RoleNames,
    /// Roles with totals of their own.
    pub max_roles: usize,
}

/// Sources of a target's columns.
pub struct Sources {
    /// How counters are read.
    pub source: Box<dyn Source>,
    /// How they are read once the source, or a check of it, has failed; None: then samples fail.
    pub fallback: Option<Box<dyn Source>>,
    /// Further columns, in the order of the fields.
    pub joins: Vec<Box<dyn Join>>,
}

/// Contents of frames besides threads.
pub struct Surroundings {
    /// Gauges of the process.
    pub process: ProcessGauges,
    /// Counters of the machine.
    pub machine: Fragment,
    /// Health of sampling.
    pub health: Health,
    /// Numbers of processes; None: the target is one process.
    pub group: Option<GroupCounts>,
}

/// When a sample is taken, and what came with it.
#[derive(Clone, Copy, Debug, Default)]
pub struct When {
    /// CLOCK_MONOTONIC before the sample, nanoseconds.
    pub started_ns: i64,
    /// How long after its deadline it began, nanoseconds.
    pub late_ns: i64,
    /// CPU time of the process, if it was read, nanoseconds.
    pub cpu_ns: Option<u64>,
    /// True if no frame follows.
    pub last: bool,
}

/// One target.
pub struct Target {
    sources: Sources,
    validation: Validation,
    tracker: Tracker,
    frames: FrameMaker,
    /// Tables that frames carry.
    pub tables: TableChanges,
    /// Contents of frames besides threads.
    pub surroundings: Surroundings,
    attach_ns: i64,
    rows: Rows,
    end_ns: i64,
    exits: Exits,
    origin: Option<Origin>,
    disagreement: Option<String>,
    pending: Vec<Event>,
    exits_folded: u64,
    named: BTreeSet<u32>,
}

impl Target {
    /// Makes a target of no thread.
    pub fn new(
        spec: Spec,
        sources: Sources,
        tables: TableChanges,
        notes: Box<dyn ProcessNotes>,
        surroundings: Surroundings,
    ) -> Self {
        let width = spec.fields.len();
        let roles = RoleSums::new(spec.role_names, spec.max_roles, spec.fields.summed);
        let ended = Ended::new(spec.fields.summed, roles, notes);
        Self {
            sources,
            validation: Validation::new(&spec.fields, spec.attach_ns),
            frames: FrameMaker::new(&spec.id, &spec.fields, spec.is_group, spec.attach_ns),
            tracker: Tracker::new(spec.fields, spec.attach_ns, spec.has_other_exits, ended),
            tables,
            surroundings,
            attach_ns: spec.attach_ns,
            rows: Rows::new(width),
            end_ns: 0,
            exits: Exits::new(width),
            origin: None,
            disagreement: None,
            pending: Vec::new(),
            exits_folded: 0,
            named: BTreeSet::new(),
        }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.rows.width()
    }

    /// Number of the last frame; 0: there is none yet.
    pub fn seq(&self) -> u64 {
        self.frames.seq()
    }

    /// First disagreement of a walk and taskstats, or None.
    pub fn disagreement(&self) -> Option<&str> {
        self.disagreement.as_deref()
    }

    /// How the counters of the last sample were read.
    pub fn origin(&self) -> Option<Origin> {
        self.origin
    }

    /// The live threads, and what has ended.
    pub fn tracker(&self) -> &Tracker {
        &self.tracker
    }

    /// Tracker, to give names and late totals.
    pub fn tracker_mut(&mut self) -> &mut Tracker {
        &mut self.tracker
    }

    /// Counters of the kernel that cannot be.
    pub fn inexact(&self) -> Vec<Inexact> {
        self.validation.inexact()
    }

    /// Duration of the last sample, microseconds.
    pub fn sample_us(&self) -> u64 {
        self.frames.sample_us()
    }

    /// Exit records that wait for the next sample.
    pub fn waiting_exits(&self) -> usize {
        self.exits.rows.len()
    }

    /// Ended threads that are in the totals but in no event.
    pub fn exits_without_event(&self) -> u64 {
        self.frames.exits_without_event() + self.exits_folded
    }

    /// Reports an event with the next frame.
    pub fn report(&mut self, event: Event) {
        self.pending.push(event);
    }

    /// Counts for these processes only: live ones, and ended ones whose exit records may still come. IDs are
    /// in ascending order.
    ///
    /// # Errors
    /// `ReadError` if the kernel refuses.
    pub fn follow(&mut self, believed: &[u32]) -> Result<(), ReadError> {
        self.sources.joins.iter_mut().try_for_each(|join| join.follow(believed))
    }

    /// True if exit records get the whole time on a CPU from a join.
    pub fn settles_cpu(&self) -> bool {
        self.sources.joins.iter().any(|join| join.settles_cpu())
    }

    /// Reads all threads of the processes `members`, and returns their number. `believed` are the members and
    /// ended processes whose exit records may still come. IDs are in ascending order.
    ///
    /// # Errors
    /// `ReadError` if the kernel refused or answered nonsense.
    pub fn read(&mut self, members: &[u32], believed: &[u32]) -> Result<usize, ReadError> {
        for join in &mut self.sources.joins {
            join.begin(believed)?;
        }
        self.rows.clear();
        if let Err(error) = self.sources.source.read(members, &mut self.rows) {
            if self.sources.fallback.is_none() {
                return Err(error);
            }
            self.fall_back(&error);
            self.rows.clear();
            self.sources.source.read(members, &mut self.rows)?;
        }
        for join in &mut self.sources.joins {
            join.join(&mut self.rows)?;
        }
        self.end_ns = monotonic_ns();
        self.validation.check(&mut self.rows, self.end_ns);
        let (count, most) = (self.rows.len(), most_threads(self.rows.width()));
        if count > most {
            return Err(ReadError::Kernel(format!("{count} threads; a frame holds {most}")));
        }
        self.origin = Some(self.sources.source.origin());
        Ok(count)
    }

    /// Reads counters by the fallback from now on, if there is one: the source has failed, or that of
    /// another target.
    pub fn fall_back(&mut self, error: &ReadError) {
        let Some(fallback) = self.sources.fallback.take() else { return };
        let (reason, disagreed) = match error {
            ReadError::Disagreement(text) => {
                self.disagreement = Some(text.clone());
                (format!("walk and taskstats disagreed: {text}"), true)
            }
            ReadError::Kernel(text) => (format!("the walk failed: {text}"), false),
        };
        if let Some(previous) = self.origin {
            let source = fallback.origin();
            self.pending.push(Event::CountersSourceChanged { source, previous, reason, disagreed });
        }
        self.sources.source = fallback;
    }

    /// Takes exit records that were drained after the last reading, for the next sample. `whole_cpu` is true
    /// if their time on a CPU is, or will be, completed up to the last switch.
    ///
    /// # Errors
    /// `ReadError` if further columns could not be read; the records are taken without them.
    pub fn take_exits(&mut self, mut exits: Exits, whole_cpu: bool) -> Result<(), ReadError> {
        let mut result = Ok(());
        for join in &mut self.sources.joins {
            if let Err(error) = join.join_exits(&mut exits) {
                result = Err(error);
            }
        }
        self.validation.check_exits(&mut exits, whole_cpu);
        self.exits.append(&exits);
        result
    }

    /// Counts the oldest waiting exits in the totals without an event for each, because too many wait.
    /// Threads that readers know still get theirs with the next frame.
    pub fn fold_exits(&mut self, count: usize) {
        let exits = self.exits.take_front(count);
        for event in self.tracker.take_exits(&exits, Some(monotonic_ns())) {
            match event {
                Event::Exited(exited) if !exited.seen_alive => self.exits_folded += 1,
                event => self.pending.push(event),
            }
        }
    }

    /// Counts all waiting exits, with events in the next frame: nothing more is sampled.
    pub fn take_in_exits(&mut self) {
        self.settle();
        let exits = self.exits.take_front(usize::MAX);
        let events = self.tracker.take_exits(&exits, Some(monotonic_ns()));
        self.pending.extend(events);
    }

    /// Processes of the threads that were read last, each once or more often.
    pub fn processes_read(&self) -> &[u32] {
        &self.rows.process
    }

    /// See `Source::executed`; of a target of one process it is that of this process.
    pub fn executed(&self) -> Option<u64> {
        self.sources.source.executed()
    }

    /// Processes in which threads began or have other names since this was asked last.
    pub fn take_named(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.named)
    }

    /// Counts what ended threads had more than was said with their exits.
    fn settle(&mut self) {
        for join in &mut self.sources.joins {
            for late in join.take_late() {
                let ended = self.tracker.ended_mut();
                ended.add_late(&text(&late.comm), late.process, &late.totals);
            }
        }
    }

    /// Takes in what `read` has read, and makes frames of it.
    pub fn sample(&mut self, when: When, check: Check<'_>) -> Vec<Frame> {
        self.settle();
        let listed = self.sources.source.listed();
        let changes = self.tracker.update(&mut self.rows, self.end_ns, &self.exits, listed, check);
        self.exits.clear();
        self.named.extend(changes.events.iter().filter_map(|event| match event {
            Event::Born { process, .. } | Event::Renamed { process, .. } => Some(*process),
            _ => None,
        }));
        let mut events = std::mem::take(&mut self.pending);
        events.extend(changes.events);
        self.frames_of(events, Some(&changes.changed), when)
    }

    /// Makes the frames of a sample that failed.
    pub fn failure(&mut self, reason: String, when: When) -> Vec<Frame> {
        let mut events = std::mem::take(&mut self.pending);
        events.push(Event::SampleFailed { reason });
        self.frames_of(events, None, when)
    }

    /// Makes the last frames: the target has ended (`exited`), or somebody asked to stop. `end` is the last
    /// event.
    pub fn finish(&mut self, exited: bool, end: Event, when: When) -> Vec<Frame> {
        self.settle();
        let mut events = std::mem::take(&mut self.pending);
        events.extend(self.tracker.finish(&self.exits, exited));
        self.exits.clear();
        events.push(end);
        self.frames_of(events, None, when)
    }

    fn frames_of(
        &mut self,
        events: Vec<Event>,
        changed: Option<&[usize]>,
        when: When,
    ) -> Vec<Frame> {
        let live = self.tracker.threads().len() as u64;
        let wants = self.frames.wants(when.started_ns, live, when.last);
        let roles = wants.roles.then(|| self.tracker.roles(when.started_ns));
        let (rows, threads) = (self.tracker.rows(), self.tracker.threads());
        let living: Vec<usize> = if wants.key {
            (0..rows.len()).filter(|&row| threads.contains_key(&rows.tid[row])).collect()
        } else {
            Vec::new()
        };
        let known = Known { rows, threads };
        let body = match changed {
            _ if wants.key => Body::Key { rows, chosen: &living, threads: &known },
            Some(chosen) => Body::Delta { rows, chosen },
            None => Body::None,
        };
        let common = Common {
            started_ns: when.started_ns,
            live,
            exited: &self.tracker.ended().sums,
            process: &self.surroundings.process,
            machine: &self.surroundings.machine,
            health: &self.surroundings.health,
            counters_from: self.origin,
            group: self.surroundings.group.as_ref(),
        };
        let sample = Sample {
            body,
            late_ns: when.late_ns,
            cpu_ns: when.cpu_ns,
            roles: roles.as_deref(),
            tables: self.tables.next(wants.key),
        };
        self.frames.sample(events, &common, &sample)
    }

    /// CLOCK_MONOTONIC of the attachment, nanoseconds.
    pub fn attach_ns(&self) -> i64 {
        self.attach_ns
    }
}

/// Starts and names of the threads of rows.
struct Known<'a> {
    rows: &'a Rows,
    threads: &'a IdMap<Thread>,
}

impl Identities for Known<'_> {
    fn start_ns(&self, row: usize) -> i64 {
        self.threads.get(&self.rows.tid[row]).map_or(0, |thread| thread.start_ns)
    }

    fn name(&self, row: usize) -> &str {
        self.threads.get(&self.rows.tid[row]).map_or("", |thread| &thread.name)
    }
}

#[cfg(test)]
#[path = "target_tests.rs"]
mod tests;
