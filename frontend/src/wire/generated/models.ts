// Generated from shared/schemas by tools/generate.py. Do not edit.

/**
 * Where runs are aligned in time: start: at their first frames; policy: at the first start of a policy; mark: at a mark with the given text.
 */
export type AlignKind = "start" | "policy" | "mark";
/**
 * What makes processes a group: tree: a process and all its descendants. cgroup: all in a cgroup and those below it. unit: those of a systemd unit. container: those of a container. pod: those of a Kubernetes pod. match: all that fit a match expression.
 */
export type GroupKind = "tree" | "cgroup" | "unit" | "container" | "pod" | "match";
/**
 * Unit on the wire.
 */
export type Unit = "ns" | "us" | "bytes" | "count";
/**
 * A counter only grows while the thread lives; a gauge is a value at an instant.
 */
export type FieldKind = "counter" | "gauge";
/**
 * Whether each thread has one, or the process as a whole.
 */
export type FieldScope = "thread" | "process";
/**
 * Subject.
 */
export type FieldGroup =
  "cpu" | "wait" | "state" | "switches" | "memory" | "io" | "disk" | "network" | "pool";
/**
 * exact: counted by the kernel without rounding; sampled: advances in scheduler ticks; estimated: derived from other values; quantised: rounded by the kernel.
 */
export type Provenance = "exact" | "sampled" | "estimated" | "quantised";
/**
 * ok; limited: works in part, or could not be checked; failed: does not work.
 */
export type CheckStatus = "ok" | "limited" | "failed";
/**
 * Source of samples: genetlink taskstats, or /proc where taskstats is unavailable.
 */
export type SampleSource = "taskstats" | "procfs";
/**
 * How a collector went away: it said goodbye (ended); its connection broke without a goodbye (lost); the same, and another process has taken its place since, or it is known to be gone (crashed).
 */
export type OutageKind = "ended" | "lost" | "crashed";
/**
 * What counters are compared as: rates: mean rates over each run, which do not depend on its length; totals: over the whole run.
 */
export type CompareBasis = "rates" | "totals";
/**
 * What a role is in a comparison: none: all threads of its name, whichever process they are of. process: those in processes of one name; it is called "PROCESS → ROLE".
 */
export type CompareSplit = "none" | "process";
/**
 * Which way is an improvement.
 */
export type Better = "less" | "more" | "neither";
/**
 * How the interval was computed: Welch's t-test, which allows unequal variances; paired: Student's t of the differences of values that belong together; slices: Welch's t of how each of two windows varied within itself; none: there is no interval.
 */
export type IntervalMethod = "welch" | "paired" | "slices" | "none";
/**
 * How the group did against the baseline. better, worse: where one way is an improvement, else more, less; unclear: the interval includes 0, or the measurement does not allow a verdict; unknown: a mean is missing.
 */
export type Verdict = "better" | "worse" | "more" | "less" | "equal" | "unclear" | "unknown";
/**
 * How the counters of living threads are read: one genetlink request a thread, one walk of the kernel over all threads (eBPF), or files in /proc.
 */
export type CountersSource = "genetlink" | "walk" | "procfs";
/**
 * Language runtime of a process, as detected from outside.
 */
export type Runtime = "go" | "python" | "java" | "node" | "native" | "unknown";
/**
 * What runs it.
 */
export type ContainerRuntime = "docker" | "containerd" | "podman" | "kubernetes" | "lxc" | "other";
/**
 * How processes are found that join it: ebpf: the kernel reports each fork, exec and exit. polling: lists are read with each sample, so a process that lives only between two of them may be missed.
 */
export type GroupDiscovery = "ebpf" | "polling";
/**
 * attached: being sampled. exited: the process ended; the stream is complete. detached: sampling was stopped on request.
 */
export type TargetState = "attached" | "exited" | "detached";
/**
 * core and uncore are parts of their package; dram is separate from it; psys is the whole platform, packages included.
 */
export type EnergyKind = "package" | "core" | "uncore" | "dram" | "psys" | "other";
/**
 * What a policy sets.
 */
export type KnobKind = "go-agent" | "pool-agent" | "go-affinity";
/**
 * What a policy optimises.
 */
export type SignalKind =
  "agent-ops" | "queue-wait" | "prometheus" | "network-calls" | "network-bytes";
/**
 * How a proof stands: open; better, worse or same are shown; harmful: stopped because too much work was lost; unsettled: ended without a result.
 */
export type ProofVerdict = "open" | "better" | "worse" | "same" | "harmful" | "unsettled";
/**
 * How a sweep stands: open; decided: the knee is known; harmful: stopped because too much work was lost; unsettled: ended without a knee that is sure.
 */
export type SweepVerdict = "open" | "decided" | "harmful" | "unsettled";
/**
 * running: a process carries it out. complete: nothing is left to do. interrupted: it can be resumed.
 */
export type ExperimentState = "running" | "complete" | "interrupted";
/**
 * open: more repeats follow. steady: the standard deviation of the repeats is within the bound. maximum: it is not, after the largest number of repeats. failed: repeats failed too often.
 */
export type CellStanding = "open" | "steady" | "maximum" | "failed";
/**
 * lines: x is a scale of sizes or targets. bars: x has names. curve: points stand at their `at`, and x has what was asked for there. stacked: shares of a whole, one above the other.
 */
export type ChartKind = "lines" | "bars" | "curve" | "stacked";
export type FrameKind = "key" | "delta";
/**
 * An event of a target.
 */
export type TargetEvent =
  | ThreadBorn
  | ThreadRenamed
  | ThreadExited
  | TargetExited
  | TargetDetached
  | RateChanged
  | RateAdapted
  | DeadlinesMissed
  | ExitRecordsLost
  | Gap
  | GomaxprocsChanged
  | ProgramExecuted
  | SampleFailed
  | CountersSourceChanged
  | SteeringStarted
  | SteeringDecided
  | SearchRestarted
  | SteeringReleased
  | SteeringProblem
  | SteeringProven
  | SteeringSwept;
/**
 * Which one; frame_tables.json has its columns.
 */
export type TableName =
  | "stays"
  | "wakes"
  | "locks"
  | "lock_names"
  | "takers"
  | "calls"
  | "call_stays"
  | "inexact"
  | "processes"
  | "pools"
  | "pool_times";
/**
 * Account of CPU time: of the control group (version 2, 1), or of each process and the children that it waited for (getrusage(2)).
 */
export type CpuAccount = "cpu.stat" | "cpuacct.usage" | "rusage";
/**
 * Account of bytes from and to block devices; null: there is none.
 */
export type IoAccount = "io.stat" | "blkio.throttle.io_service_bytes_recursive" | null;
/**
 * degraded: no collector is connected.
 */
export type HealthStatus = "ok" | "degraded";
/**
 * Page to backend.
 */
export type LiveCommand = Subscribe | Unsubscribe | FrameAck;
/**
 * Backend to page, as text; frames travel as binary messages.
 */
export type LiveMessage = LiveState | StreamStats | FramesLost | LiveProblem;
/**
 * Kinds of problem, as in problems.json. In a problem document the `type` is urn:tidscope:problem: followed by the kind.
 */
export type ProblemType =
  | "bad-request"
  | "unauthenticated"
  | "forbidden-origin"
  | "forbidden-host"
  | "unknown-process"
  | "process-id-reused"
  | "not-permitted"
  | "kernel-thread"
  | "empty-group"
  | "group-too-large"
  | "bad-group"
  | "target-exited"
  | "too-many-targets"
  | "unknown-target"
  | "unknown-host"
  | "no-collector"
  | "collector-timeout"
  | "demo-failed"
  | "too-large"
  | "too-many-attempts"
  | "view-only"
  | "unknown-session"
  | "not-steerable"
  | "not-steered"
  | "bad-parameter"
  | "too-many-actions"
  | "audit-failed"
  | "unknown-run"
  | "not-recording"
  | "already-recording"
  | "disk-full"
  | "bad-run"
  | "runs-unavailable"
  | "unknown-experiment"
  | "unknown-trace"
  | "not-found"
  | "method-not-allowed"
  | "internal"
  | "prediction-refused";
/**
 * What a session may do: viewers watch, operators also change things.
 */
export type Role = "operator" | "viewer";
/**
 * Why a run ended; flight-recorder: only the past was recorded.
 */
export type RunEnd =
  | "stopped"
  | "duration"
  | "flight-recorder"
  | "target-ended"
  | "collector-lost"
  | "backend-lost"
  | "disk-full"
  | "write-failed";
/**
 * recording: frames are being added. complete: ended as intended, and nothing is missing. incomplete: ended as intended, but frames, samples or exit records are missing; losses has how many. interrupted: cut short by a crash, a full disk or a lost collector; what was written is kept.
 */
export type RunState = "recording" | "complete" | "incomplete" | "interrupted";
/**
 * Whether the size of a pool fits the CPUs that its program may use.
 */
export type SizeVerdict = "fits" | "too-large" | "too-small" | "unknown";
/**
 * Group of states: running, runnable (in a run queue), locks, disk, network, ..., idle (no thread of the process was at anything: the request waited inside the program), or unknown.
 */
export type SpanReason =
  | "running"
  | "runnable"
  | "locks"
  | "disk"
  | "network"
  | "pipes"
  | "faults"
  | "other"
  | "polling"
  | "sleep"
  | "idle"
  | "unknown";
/**
 * thread: by thread.id; the parts are of that thread alone. process: by process.pid and time; the parts are those of all threads of the process that were busy, in proportion. null: not joined.
 */
export type SpanJoin = "thread" | "process" | null;
/**
 * unseen: a chain of calls that no other trace has. improbable: its times are unlike those of the others.
 */
export type AnomalyKind = "unseen" | "improbable";
/**
 * What it is in a call.
 */
export type SpanKind = "internal" | "server" | "client" | "producer" | "consumer";

/**
 * A field that this target does not have, and why.
 */
export interface AbsentField {
  /**
   * Name in the field catalogue.
   */
  field: string;
  /**
   * Why the kernel does not give it, and what would change that.
   */
  reason: string;
}
/**
 * Body of POST /api/v1/targets.
 */
export interface AttachRequest {
  /**
   * Host id; may be omitted if there is one host.
   */
  host?: string | null;
  /**
   * Process id (thread group id) as the collector's PID namespace counts. null: a group is asked for.
   */
  pid?: number | null;
  /**
   * Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
   */
  start_ticks?: number | null;
  /**
   * The group to attach to; either this or pid is given.
   */
  group?: GroupSelector | null;
  /**
   * Samples a second.
   */
  rate_hz?: number;
  /**
   * A person's own roles, which stand before those that the collector was started with, in their order; null or missing: none.
   *
   * @maxItems 32
   */
  role_rules?: RoleRule[] | null;
}
/**
 * Which processes are a group.
 */
export interface GroupSelector {
  kind: GroupKind;
  /**
   * Of a tree: the process id of its root; null for other kinds.
   */
  pid?: number | null;
  /**
   * Of a tree: start time of its root in clock ticks since boot, so that another process with its id is refused.
   */
  start_ticks?: number | null;
  /**
   * cgroup: its path below the cgroup mount. unit: its name, such as postgresql.service. container: its name or id, or the first 12 digits of its id. match: terms joined by blanks, all of which must hold: name:GLOB, user:NAME, port:NUMBER, command:TEXT; a bare word is command:. null for a tree.
   */
  value?: string | null;
}
/**
 * A person's own word on the role of threads.
 */
export interface RoleRule {
  /**
   * Of whole names of threads; * stands for any characters, ? for one.
   */
  pattern: string;
  /**
   * Role of threads with such names; *: each name is a role of its own.
   */
  role: string;
}
/**
 * One measured value.
 */
export interface CatalogueField {
  /**
   * Name on the wire, in files and in exports; the unit is in it.
   */
  name: string;
  /**
   * Display name.
   */
  label: string;
  unit: Unit;
  kind: FieldKind;
  scope: FieldScope;
  group: FieldGroup;
  /**
   * Member of struct taskstats; null if it does not come from there.
   */
  taskstats: string | null;
  /**
   * First taskstats version that has it; null if no upstream version has.
   */
  since_version: number | null;
  /**
   * File of /proc/PID/task/TID and the value in it, used when taskstats is unavailable; null if /proc does not have it.
   */
  procfs: string | null;
  provenance: Provenance;
  /**
   * One line.
   */
  meaning: string;
}
/**
 * A point of a chart of an experiment.
 */
export interface ChartPoint {
  /**
   * Place among the values of the x axis.
   */
  x: number;
  /**
   * Where it stands on an x axis of numbers, which a curve has; null: at x.
   */
  at: number | null;
  /**
   * Mean of the repeats.
   */
  mean: number;
  /**
   * Lower end of the 95 % confidence interval; null: there is none.
   */
  low: number | null;
  /**
   * Upper end.
   */
  high: number | null;
  /**
   * Each repeat; empty where the point is not a mean of them.
   *
   * Items: Of one repeat.
   */
  values: number[];
}
/**
 * A line, or bars of one colour.
 */
export interface ChartSeries {
  /**
   * In the legend; empty: the only one.
   */
  name: string;
  /**
   * By x.
   */
  points: ChartPoint[];
}
/**
 * The collector's own measurements, cumulative since it started unless noted. Of this sample are sample_us and late_us; the rest is at most a second old, and what tells of rates and losses is current.
 */
export interface CollectorHealth {
  /**
   * Wall time of this sample, microseconds.
   */
  sample_us: number;
  /**
   * Mean wall time of this target's samples over the last five to ten seconds, microseconds.
   */
  sample_mean_us: number;
  /**
   * Longest of those samples, microseconds.
   */
  sample_max_us: number;
  /**
   * How long after its deadline this sample started, microseconds.
   */
  late_us: number;
  /**
   * Missed deadlines of this target since attach.
   */
  missed_deadlines: number;
  /**
   * Effective sampling rate of this target.
   */
  effective_hz: number;
  /**
   * Requested sampling rate; above effective_hz when the CPU budget is spent or frames cannot be sent as fast as they are made.
   */
  requested_hz: number;
  /**
   * Exit records received; from Linux 5.19 on those of attached processes only.
   */
  exit_records_received: number;
  /**
   * Exit records lost, exact; of those that exit_records_received counts.
   */
  exit_records_lost: number;
  /**
   * CPU of the collector process over the last second, 100 = one core.
   */
  cpu_percent: number | null;
  /**
   * CPU spent sampling and sending, all targets together, and that of the eBPF program that keeps ledgers, estimated by the switches of their threads: what the budget limits. The rest of cpu_percent answers requests, such as listing processes; the eBPF program's part is not in cpu_percent.
   */
  overhead_percent: number | null;
  /**
   * CPU budget for sampling and sending, 100 = one core; above it sampling rates are lowered. 0 = no limit.
   */
  budget_percent: number;
  /**
   * Bytes of the frames that are kept: those that the backend has not received, and delivered ones for a backend that starts later.
   */
  replay_bytes: number;
  /**
   * Frames held for replay.
   */
  replay_frames: number;
  /**
   * Frames kept that have not been sent yet.
   */
  unsent_frames: number;
  /**
   * Frames sent, replayed ones included.
   */
  sent_frames: number;
  /**
   * Bytes of messages and frames sent to the backend.
   */
  sent_bytes: number;
  /**
   * Whether effective_hz is below requested_hz because frames wait that the backend has not received, and not because the CPU budget is spent.
   */
  slowed_by_backlog?: boolean;
  /**
   * Bytes of the frames that the backend has not confirmed with FramesReceived.
   */
  undelivered_bytes?: number;
  /**
   * Frames of this target that the collector dropped before the backend received them, since attach.
   */
  frames_dropped?: number;
  /**
   * Threads of this target, since attach, that exited and are counted in `exited` and `roles` but have no ThreadExited event, because more exits were waiting than the collector keeps one by one.
   */
  exits_without_event?: number;
  /**
   * Socket calls of attached processes that the eBPF program could not count because all its slots were in use, host-wide.
   */
  network_calls_uncounted?: number;
  /**
   * Where a walk and taskstats disagreed: thread, field and values. Since then counters are read by genetlink. Null: they never did.
   */
  counters_disagreement?: string | null;
  /**
   * Why locks of the target cannot be read or named, in words. Null: they can, or there are none.
   */
  locks_reason?: string | null;
  /**
   * Threads of attached processes that have no ledger because all slots of the eBPF program were in use, host-wide.
   */
  ledger_threads_uncounted?: number;
}
/**
 * The collector of a host.
 */
export interface CollectorInfo {
  /**
   * Process id (thread group id) as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Version of tidscope.
   */
  version: string;
  /**
   * Whether it may use taskstats (CAP_NET_ADMIN).
   */
  privileged: boolean;
  source: SampleSource;
  /**
   * Why this source.
   */
  reason: string;
  /**
   * Maximum number of targets at once.
   */
  max_targets: number;
}
/**
 * The last time that a host's collector went away.
 */
export interface CollectorOutage {
  kind: OutageKind;
  /**
   * When it went, Unix microseconds.
   */
  at_unix_us: number;
  /**
   * When a collector was back, Unix microseconds; null: it is still away.
   */
  back_unix_us: number | null;
  /**
   * Names of the targets that were attached again.
   *
   * @maxItems 64
   */
  attached: string[];
  /**
   * Programs whose policies were started again.
   *
   * @maxItems 64
   */
  steered?: string[];
  /**
   * Targets that could not be attached again, and policies that could not be started again, each with the reason.
   *
   * @maxItems 64
   */
  failed: string[];
  /**
   * Programs that the new collector restored at its start.
   *
   * @maxItems 64
   */
  restored: RestoredProgram[];
  /**
   * Programs that were steered through an agent: it restores the size by itself when its lease ends.
   *
   * @maxItems 64
   */
  leases: string[];
}
/**
 * A program that an earlier collector left changed, and that this one restored at its start.
 */
export interface RestoredProgram {
  /**
   * Process id, as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Name of the process.
   */
  name: string;
  /**
   * Threads whose CPU affinity was restored.
   */
  threads: number;
  /**
   * What kept it from being restored, one sentence; empty if nothing did.
   */
  problem: string;
}
/**
 * Runs that are repeats of one another, or a single run or window.
 */
export interface ComparedGroup {
  /**
   * Its name.
   */
  label: string;
  /**
   * Its runs.
   *
   * Items: Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
   */
  runs: string[];
}
/**
 * One row of the table of differences.
 */
export interface ComparedMetric {
  /**
   * Name of a catalogue field, or of a metric derived from fields; of a pool of workers pool:NAME:FIGURE.
   */
  metric: string;
  /**
   * Display name.
   */
  label: string;
  /**
   * Such as s, bytes or count; that of a rate ends with /s, such as ns/s.
   */
  unit: string;
  /**
   * Label of the matched role; null: the whole process.
   */
  role: string | null;
  provenance: Provenance;
  better: Better;
  /**
   * One per group.
   */
  groups: GroupFigure[];
  /**
   * One for each group but the first.
   */
  differences: FigureDifference[];
}
/**
 * A metric of one group.
 */
export interface GroupFigure {
  /**
   * One value per run, in the order of the group's runs.
   *
   * Items: Of one run; null if the run does not have it.
   */
  values: (number | null)[];
  /**
   * Number of runs that have a value.
   */
  n: number;
  /**
   * Mean of the values; null without any.
   */
  mean: number | null;
  /**
   * Sample standard deviation; null with fewer than two values.
   */
  std_dev: number | null;
  /**
   * Lower end of the 95 % confidence interval of the mean (Student's t); null with fewer than two values, unless it is a window that was cut into slices.
   */
  low: number | null;
  /**
   * Upper end of that interval.
   */
  high: number | null;
}
/**
 * A group compared with the baseline.
 */
export interface FigureDifference {
  /**
   * Difference of the means, this group's minus the baseline's; null if either is unknown.
   */
  absolute: number | null;
  /**
   * The difference in percent of the baseline's mean; null if that is 0 or unknown.
   */
  percent: number | null;
  /**
   * Lower end of the 95 % confidence interval of the difference; null if a group has fewer than two runs, and is no window.
   */
  low: number | null;
  /**
   * Upper end of that interval.
   */
  high: number | null;
  method: IntervalMethod;
  verdict: Verdict;
  /**
   * What to know about the verdict, in one sentence; null if nothing.
   */
  caveat: string | null;
}
/**
 * A run, or a window of one, in a comparison.
 */
export interface ComparedRun {
  /**
   * Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
   */
  run: string;
  /**
   * Display name; of a window with what it is of the run.
   */
  name: string;
  /**
   * Number of its group in the comparison, from 0.
   */
  group: number;
  /**
   * The run's zero on the comparison's time axis. Nanoseconds since attach, as in the target's frames.
   */
  zero_ns: number;
  /**
   * Wall clock at its first frame, microseconds.
   */
  started_unix_us: number;
  /**
   * Why it could not be aligned as requested and is aligned at its start instead; null if it could.
   */
  align_problem: string | null;
  /**
   * From its first frame to its last (of the window), nanoseconds.
   */
  duration_ns: number;
  losses: RunLosses;
  /**
   * CPU time of children that the recorded command waited for, microseconds; a run of one process does not show it. Null: not known, or the run is not of a command.
   */
  children_cpu_us?: number | null;
}
/**
 * What is missing in a run or was measured late. All 0: no known losses.
 */
export interface RunLosses {
  /**
   * Frames that never arrived, or arrived when they could not be written.
   */
  frames: number;
  /**
   * Number of gaps they leave.
   */
  gaps: number;
  /**
   * Time in these gaps, nanoseconds.
   */
  missing_ns: number;
  /**
   * Bytes of an incomplete frame that recovery cut off.
   */
  truncated_bytes: number;
  /**
   * Frames merged into a later one before they were written; totals are complete.
   */
  coalesced: number;
  /**
   * Samples skipped because their deadline had passed.
   */
  deadlines_missed: number;
  /**
   * Samples that failed.
   */
  samples_failed: number;
  /**
   * Exit records that the kernel dropped.
   */
  exit_records_lost: number;
  /**
   * Threads that exited, are counted in totals, and have no event of their own: more exited at once than the collector keeps one by one.
   */
  exits_without_event?: number;
  /**
   * Socket calls that the eBPF program could not count, host-wide: network numbers are too low.
   */
  network_calls_uncounted?: number;
  /**
   * Times that the wall clock was set by more than half a second; times since attach are not affected.
   */
  clock_jumps: number;
}
/**
 * A curve of one run.
 */
export interface ComparedSeries {
  /**
   * Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
   */
  run: string;
  /**
   * Name of a metric.
   */
  metric: string;
  /**
   * Label of the matched role; null: the whole process.
   */
  role: string | null;
  /**
   * Times.
   *
   * Items: Seconds from the run's zero on, ascending.
   */
  time_s: number[];
  /**
   * One value per time.
   *
   * Items: Cumulative for a counter since the run's start, in the metric's unit; null where it is not known.
   */
  value: (number | null)[];
}
/**
 * GET /api/v1/compare.
 */
export interface Comparison {
  align: AlignKind;
  /**
   * Text of the mark that runs are aligned at; null with another alignment.
   */
  mark: string | null;
  basis: CompareBasis;
  split: CompareSplit;
  /**
   * Whether a run is of a group of processes, so that roles can be split by process.
   */
  several_processes: boolean;
  /**
   * Whether the runs' durations differ by at most 5 % of the longest; totals get a verdict only then.
   */
  same_length: boolean;
  /**
   * In the requested order.
   */
  runs: ComparedRun[];
  /**
   * The first is the baseline.
   */
  groups: ComparedGroup[];
  /**
   * Differences in set-up, most important first.
   */
  setup: SetupDifference[];
  /**
   * The busiest first.
   */
  roles: MatchedRole[];
  /**
   * Of the whole process first, then of pools of workers, then by role.
   */
  metrics: ComparedMetric[];
  /**
   * By metric, role and run.
   */
  series: ComparedSeries[];
  /**
   * How the intervals were computed, one sentence.
   */
  confidence: string;
}
/**
 * A part of the set-up that differs between runs.
 */
export interface SetupDifference {
  /**
   * Such as kernel, command or policy.
   */
  what: string;
  /**
   * One value per run, in the runs' order.
   *
   * Items: In words.
   */
  values: string[];
}
/**
 * Roles that are compared with one another.
 */
export interface MatchedRole {
  /**
   * Display name.
   */
  label: string;
  /**
   * One per run, in the runs' order.
   *
   * Items: The run's role; null if it has none that matches.
   */
  roles: (string | null)[];
  /**
   * Matched by a person.
   */
  manual: boolean;
}
/**
 * TCP connections of the backend: now, and since it started.
 */
export interface ConnectionsHealth {
  /**
   * Open now.
   */
  open: number;
  /**
   * Of them, those that have shown a credential.
   */
  authenticated: number;
  /**
   * Ended without a credential, to make room for others.
   */
  evicted: number;
  /**
   * Not accepted, because there was no room.
   */
  refused: number;
  /**
   * Ended because the peer took too long.
   */
  timed_out: number;
  /**
   * Times that none was accepted for want of a file descriptor.
   */
  descriptor_shortages: number;
}
/**
 * What the arbiter gives a program of the cores that it divides, and why.
 */
export interface CoreDivision {
  /**
   * Weight of its throughput, compared with the other programs.
   */
  share: number;
  /**
   * Cores that it has at least; 0: its smallest size.
   */
  floor: number;
  /**
   * Programs of a higher one get what they can use before others get more than their floors.
   */
  priority: number;
  /**
   * Cores that it has now; 0 while it does not answer.
   */
  cores: number;
  /**
   * Cores that are divided.
   */
  total: number;
  /**
   * Programs among which they are divided.
   */
  programs: number;
  /**
   * settled; trying: another division is tried; idle: no progress, it has its smallest size; absent: it does not answer.
   */
  state: "settled" | "trying" | "idle" | "absent";
  /**
   * Of the last change of its cores: members (one joined, left, stopped or went on), a try, or an estimate.
   */
  cause: "members" | "try" | "estimate";
  /**
   * Why it has so many, one sentence.
   */
  reason: string;
  /**
   * When the number of its cores changed last, Unix microseconds.
   */
  changed_unix_us: number;
  /**
   * Throughput that one core more is expected to bring, percent; null: it can have none.
   */
  more_percent: number | null;
  /**
   * Throughput that one core less is expected to cost, percent; null: it can have none.
   */
  less_percent: number | null;
}
/**
 * From this frame on the counters of living threads are read another way. They mean the same.
 */
export interface CountersSourceChanged {
  type: "counters_source_changed";
  source: CountersSource;
  previous: CountersSource;
  /**
   * Why, in one sentence.
   */
  reason: string;
  /**
   * The two ways disagreed: reason names the field and its values. False: one has become cheaper than the other.
   */
  disagreed: boolean;
}
/**
 * How much CPU a program may use.
 */
export interface CpuAllowance {
  /**
   * CPUs of its affinity.
   */
  cpus: number;
  /**
   * Cores that it may use on average: the tightest cpu.max of its control group and those above; null: no limit.
   */
  limit_cores: number | null;
  /**
   * The control group that has this limit.
   */
  limit_group: string | null;
  /**
   * cpu.weight of its control group, 100 being usual; null: not known.
   */
  weight: number | null;
  /**
   * Cores that its pod asked for, as the weight says; null outside of Kubernetes.
   */
  request_cores: number | null;
  /**
   * Periods of the limit so far in which the group ran; null without a limit.
   */
  periods: number | null;
  /**
   * How many of them ended throttled.
   */
  throttled: number | null;
}
/**
 * A folder in the runs directory that cannot be read.
 */
export interface DamagedRun {
  /**
   * Its name.
   */
  folder: string;
  /**
   * What is wrong with it.
   */
  reason: string;
}
/**
 * Samples were skipped because their deadline had passed.
 */
export interface DeadlinesMissed {
  type: "deadlines_missed";
  /**
   * Number since the previous frame.
   */
  count: number;
}
/**
 * Body of PUT /api/v1/doctor/delay-accounting.
 */
export interface DelayAccountingRequest {
  /**
   * New value of kernel.task_delayacct. It affects only threads started afterwards.
   */
  on: boolean;
}
/**
 * POST /api/v1/demo: the demo program was started and is being sampled.
 */
export interface DemoResponse {
  target: Target;
}
/**
 * An attached process, or group of processes.
 */
export interface Target {
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  id: string;
  /**
   * Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
   */
  host: string;
  process: Process;
  /**
   * The group that it is; null: one process.
   */
  group?: Group | null;
  state: TargetState;
  /**
   * Requested sampling rate; each frame's health has the effective rate.
   */
  rate_hz: number;
  /**
   * Time of attachment, Unix microseconds: the zero of the stream's time.
   */
  attached_unix_us: number;
  source: Source;
  energy: EnergySource;
  /**
   * Fields that frames carry, in column order.
   *
   * Items: Field name.
   */
  fields: string[];
  /**
   * Catalogue fields that frames do not carry.
   */
  absent: AbsentField[];
  /**
   * GOMAXPROCS at attachment, or when the process executed its present program; null if unknown.
   */
  gomaxprocs: number | null;
  /**
   * How GOMAXPROCS is read, or why it is not.
   */
  gomaxprocs_reason: string;
  /**
   * How its threads got names beyond the kernel's 15 bytes, or why they have none; null or missing: its runtime gives none, or is not asked.
   */
  thread_names?: string | null;
  /**
   * Rules by which threads have roles, before the general one, in their order; null or missing: none.
   *
   * @maxItems 64
   */
  role_rules?: RoleRule[] | null;
  /**
   * How it is steered; null: it is not.
   */
  steering: Steering | null;
  /**
   * Steered programs of a group; null: the target is one process.
   */
  programs?: SteeredProgram[] | null;
  /**
   * Whether new programs of the group are steered, too, as soon as they can be.
   */
  programs_join?: boolean;
  /**
   * The earlier target, of a collector that has gone, in whose place this one was attached.
   */
  continues?: string | null;
}
/**
 * The process; of a group its lead process: the root of a tree, else the one that is oldest at attach.
 */
export interface Process {
  /**
   * Process id (thread group id) as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
   */
  start_ticks: number;
  /**
   * When it started, Unix milliseconds.
   */
  started_unix_ms: number;
  /**
   * Its comm, at most 15 bytes.
   */
  name: string;
  /**
   * Command line, arguments joined by spaces, what looks like a secret left out; its comm in brackets if there is none; null: hidden, since arguments are not for viewers.
   */
  command: string | null;
  /**
   * Path of its executable; null if it cannot be read.
   */
  executable: string | null;
  /**
   * Real user id.
   */
  uid: number;
  /**
   * User name, or the uid as text.
   */
  user: string;
  /**
   * Number of threads.
   */
  threads: number;
  /**
   * CPU since the previous listing, 100 = one core; null in the first.
   */
  cpu_percent: number | null;
  /**
   * Resident memory.
   */
  rss_bytes: number | null;
  runtime: Runtime;
  /**
   * Such as go1.26.8; null if unknown.
   */
  runtime_version: string | null;
  /**
   * TCP ports it listens on.
   *
   * Items: TCP port.
   */
  ports: number[];
  /**
   * Why it cannot be attached to; null if it can.
   */
  refusal: Problem | null;
  /**
   * Process id of its parent; null if there is none that the collector sees.
   */
  parent?: number | null;
  /**
   * Path of its cgroup below the cgroup mount; null if it cannot be read.
   */
  cgroup?: string | null;
  /**
   * systemd unit that it belongs to; null: none.
   */
  unit?: string | null;
  /**
   * Container that it runs in; null: none.
   */
  container?: ProcessContainer | null;
  /**
   * Its process id inside its own PID namespace; null if that is the collector's.
   */
  namespace_pid?: number | null;
  /**
   * Its real user id inside its own user namespace; null if that is the same.
   */
  namespace_uid?: number | null;
  /**
   * Name of its user by its own /etc/passwd, where that is another one than user; null otherwise.
   */
  namespace_user?: string | null;
  /**
   * Run-queue delay of its main thread since the previous listing, 100 = all the time; null in the first, or if it cannot be read.
   */
  wait_percent?: number | null;
  /**
   * How long its control group, or one above it, was throttled by its CPU limit since the previous listing, 100 = one CPU all the time; null in the first, or without a limit.
   */
  throttled_percent?: number | null;
}
/**
 * A rejected request or command (RFC 9457 problem details): what was wrong and how to fix it.
 */
export interface Problem {
  /**
   * urn:tidscope:problem: and a problem type.
   */
  type: string;
  /**
   * The kind of problem, in a few words.
   */
  title: string;
  /**
   * HTTP status.
   */
  status: number;
  /**
   * What was wrong in this case, with the value.
   */
  detail: string;
  /**
   * How to fix it.
   */
  hint: string;
}
/**
 * The container of a process, as far as the path of its cgroup tells, and what Docker, Podman and the kubelet wrote down.
 */
export interface ProcessContainer {
  /**
   * Its id.
   */
  id: string;
  /**
   * Its name; null if neither tells it.
   */
  name: string | null;
  runtime: ContainerRuntime;
  /**
   * Kubernetes: the uid of its pod; null otherwise.
   */
  pod: string | null;
  /**
   * Kubernetes: namespace and name of its pod, with a slash between; null if they are not known.
   */
  pod_name?: string | null;
}
/**
 * A group of processes that is a target.
 */
export interface Group {
  kind: GroupKind;
  /**
   * As in the selector; null for a tree.
   */
  value: string | null;
  /**
   * As shown, such as: make -j4 and its descendants.
   */
  name: string;
  /**
   * Path of its cgroup below the cgroup mount; null for a tree or a match.
   */
  cgroup: string | null;
  discovery: GroupDiscovery;
  /**
   * Why this way.
   */
  discovery_reason: string;
}
/**
 * Where a target's samples come from.
 */
export interface Source {
  kind: SampleSource;
  /**
   * Version of struct taskstats; null without taskstats.
   */
  taskstats_version: number | null;
  /**
   * Name of the layout table in use, such as v16; null without taskstats.
   */
  layout: string | null;
  /**
   * Length of struct taskstats in the kernel's replies.
   */
  reply_bytes: number | null;
  /**
   * Why this source, in one sentence.
   */
  reason: string;
  /**
   * Whether exit records are received.
   */
  exits: boolean;
  /**
   * Why, or why not.
   */
  exits_reason: string;
  /**
   * Where per-thread network counters come from, or 'none: …' and why.
   */
  network: string;
  /**
   * Whether a ledger of states is kept for each thread (the fields of group state).
   */
  ledger?: boolean;
  /**
   * Why there is none; null if there is.
   */
  ledger_reason?: string | null;
  /**
   * Whether system calls are counted.
   */
  calls?: boolean;
}
/**
 * Where the machine's energy is read from.
 */
export interface EnergySource {
  /**
   * In the order of the counters in frames; empty without energy.
   */
  domains: EnergyDomain[];
  /**
   * Where it comes from, or why it is unavailable.
   */
  reason: string;
}
/**
 * A part of the machine that has an energy counter (RAPL).
 */
export interface EnergyDomain {
  /**
   * Name of the zone in /sys/class/powercap, such as intel-rapl:0:1.
   */
  zone: string;
  /**
   * The kernel's name for it, prefixed with its package where it is part of one: package-0, package-0/dram, psys.
   */
  name: string;
  kind: EnergyKind;
  /**
   * Whether it counts towards package_uj. Parts, platforms and duplicate views of a package do not.
   */
  summed: boolean;
}
/**
 * How a target is being steered.
 */
export interface Steering {
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * All parameters.
   */
  parameters: {
    [k: string]: number;
  };
  /**
   * Shadow mode: decides without acting.
   */
  shadow: boolean;
  knob: KnobKind;
  signal: SignalKind;
  /**
   * The signal is a proxy: lower confidence.
   */
  proxy: boolean;
  /**
   * Smallest size allowed.
   */
  lower: number;
  /**
   * Largest size allowed.
   */
  upper: number;
  /**
   * Size that a release restores.
   */
  original: number;
  /**
   * Current size.
   */
  size: number;
  /**
   * What the policy is doing, in words.
   */
  state: string;
  /**
   * Reason of the last decision, one sentence.
   */
  reason: string;
  /**
   * Number of decisions.
   */
  decisions: number;
  /**
   * When steering started, Unix microseconds.
   */
  since_unix_us: number;
  /**
   * What keeps it from working, one sentence; null if nothing does.
   */
  problem: string | null;
  /**
   * The proof that is made of the policy; null: it simply steers.
   */
  proof?: ProofState | null;
  /**
   * Operations a second in the last interval, as counted by the signal; null before the first decision.
   */
  ops_per_s?: number | null;
  /**
   * Actual length of the last interval, seconds; null before the first decision.
   */
  interval_s?: number | null;
  /**
   * When the last decision was made, Unix microseconds; null before the first one.
   */
  decided_unix_us?: number | null;
  /**
   * When the policy first chose a size, neither deferring that nor trying sizes out, Unix microseconds; null before.
   */
  chosen_unix_us?: number | null;
  /**
   * What the arbiter gives it of the cores; null: another policy steers.
   */
  division?: CoreDivision | null;
  /**
   * The sweep that is made; null: a policy steers.
   */
  sweep?: SweepState | null;
}
/**
 * What a proof has shown so far.
 */
export interface ProofState {
  verdict: ProofVerdict;
  /**
   * Pairs of blocks that were measured.
   */
  pairs: number;
  /**
   * Pairs that do not count: the program did nothing in a block, or entered another phase.
   */
  discarded: number;
  /**
   * Gain of throughput by the policy; null before the first pair.
   */
  gain_percent: number | null;
  /**
   * Lower end of its interval (95 %, at all times together); null while there is none.
   */
  low_percent: number | null;
  /**
   * Upper end of its interval.
   */
  high_percent: number | null;
  /**
   * Change of the 99th percentile of response times by the policy; null: none is known.
   */
  p99?: MeasuredChange | null;
  /**
   * Why no response times are known; null: they are, or there was no pair yet.
   */
  p99_missing?: string | null;
  /**
   * Work lost while the policy steered, in seconds of what the program does without it; negative where it did more.
   */
  lost_s: number;
  /**
   * Seconds since it began.
   */
  elapsed_s: number;
  /**
   * Whether the policy steers at present; otherwise the program has its own size.
   */
  steers: boolean;
  /**
   * The same in words.
   */
  text: string;
}
/**
 * A relative change that was measured, with its interval (95 %, at all times together).
 */
export interface MeasuredChange {
  /**
   * As measured.
   */
  percent: number;
  /**
   * Lower end of the interval; null while there is none.
   */
  low_percent: number | null;
  /**
   * Upper end of the interval.
   */
  high_percent: number | null;
}
/**
 * What a sweep has shown so far.
 */
export interface SweepState {
  verdict: SweepVerdict;
  /**
   * Size before it, with which the others are compared.
   */
  start: number;
  /**
   * Rounds that count.
   */
  rounds: number;
  /**
   * Rounds that do not count: the program did nothing, entered another phase, or a size was not in effect.
   */
  discarded: number;
  /**
   * The curve, by size; empty before the second round.
   *
   * @maxItems 33
   */
  points: SweepPoint[];
  /**
   * The size that did the most; null before there is a curve.
   */
  best: number | null;
  /**
   * The smallest size within 3 % of the best.
   */
  knee: number | null;
  /**
   * No smaller size can be the knee, by the intervals.
   */
  knee_from: number | null;
  /**
   * No larger size can be the knee.
   */
  knee_to: number | null;
  /**
   * Of throughput at the knee against the size at the start; null before there is a curve.
   */
  gain: MeasuredChange | null;
  /**
   * Sizes that could not be brought into effect.
   *
   * @maxItems 33
   */
  refused: number[];
  /**
   * Line that sets the knee for good, where the runtime is known.
   */
  line: string | null;
  /**
   * Work lost at other sizes, in seconds of what the program does at the size at the start; negative where it did more.
   */
  lost_s: number;
  /**
   * Seconds since it began.
   */
  elapsed_s: number;
  /**
   * The same in words.
   */
  text: string;
}
/**
 * Operations a second at one size, at the mean level of a sweep.
 */
export interface SweepPoint {
  /**
   * The size.
   */
  size: number;
  /**
   * Operations a second.
   */
  ops_per_s: number;
  /**
   * Lower end of its interval (95 %, at all times together); null while there is none.
   */
  low: number | null;
  /**
   * Upper end of its interval.
   */
  high: number | null;
  /**
   * In so many rounds it was measured.
   */
  rounds: number;
}
/**
 * A program of a group, and how it is being steered.
 */
export interface SteeredProgram {
  /**
   * Process id, as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start of the process, clock ticks since boot.
   */
  start_ticks: number;
  /**
   * Name of the process.
   */
  name: string;
  steering: Steering;
}
/**
 * Critical paths of two sets of traces as one tree of calls; means over all traces of a set.
 */
export interface DifferenceTree {
  /**
   * Operation of each node.
   */
  name: TraceOperation[];
  /**
   * Row of its parent.
   *
   * Items: Row; -1: a root.
   */
  parent: number[];
  /**
   * With all below it.
   *
   * Items: Nanoseconds for each trace.
   */
  base_inclusive_ns: number[];
  /**
   * With all below it.
   *
   * Items: Nanoseconds for each trace.
   */
  other_inclusive_ns: number[];
  /**
   * Itself.
   *
   * Items: Nanoseconds for each trace.
   */
  base_exclusive_ns: number[];
  /**
   * Itself.
   *
   * Items: Nanoseconds for each trace.
   */
  other_exclusive_ns: number[];
  /**
   * The traces in which it took longest, up to three, the slowest first.
   */
  exemplars: string[][];
}
/**
 * An operation of a service.
 */
export interface TraceOperation {
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
}
/**
 * The result of one check.
 */
export interface DoctorCheck {
  /**
   * Stable id, such as taskstats-layout.
   */
  name: string;
  /**
   * What was checked.
   */
  title: string;
  status: CheckStatus;
  /**
   * What was found, with values.
   */
  finding: string;
  /**
   * What does not work as a result; empty if nothing.
   */
  impact: string;
  /**
   * The command or setting that fixes it; empty if none is needed or known.
   */
  fix: string;
  /**
   * State of the kernel switch behind it, if tidscope can set that switch; null or omitted otherwise.
   */
  enabled?: boolean | null;
}
/**
 * What tidscope can measure on this host.
 */
export interface DoctorReport {
  /**
   * Host name.
   */
  host: string;
  /**
   * Kernel release.
   */
  kernel: string;
  /**
   * When it was checked.
   */
  checked_unix_ms: number;
  status: CheckStatus;
  /**
   * Most important first.
   */
  checks: DoctorCheck[];
}
/**
 * Failing calls from the request down to the first that failed.
 */
export interface ErrorPath {
  /**
   * From the root on.
   */
  path: TraceOperation[];
  /**
   * Traces.
   */
  count: number;
  /**
   * A trace: 32 hex digits.
   */
  exemplar: string;
}
/**
 * The kernel dropped exit records because the collector's socket buffer was full.
 */
export interface ExitRecordsLost {
  type: "exit_records_lost";
  /**
   * Exact number, host-wide, as counted by the kernel on the per-CPU sockets.
   */
  count: number;
}
/**
 * Totals of the exited threads since attach.
 */
export interface ExitedTotals {
  /**
   * Number of exited threads.
   */
  threads: number;
  /**
   * How many of them lack an exit record; for these the last sample counts.
   */
  inexact: number;
  /**
   * Field name to its last cumulative value, in the field's unit. Unavailable fields are omitted.
   */
  totals: {
    [k: string]: number;
  };
}
/**
 * GET /api/v1/experiments/{experiment_id}: an experiment with its figures.
 */
export interface Experiment {
  summary: ExperimentSummary;
  /**
   * What an operation is, in the plural.
   */
  unit: string;
  /**
   * Repeats of a cell, at least.
   */
  least: number;
  /**
   * Repeats of a cell, at most.
   */
  most: number;
  /**
   * Bound of the standard deviation of the repeats, divided by their mean.
   */
  deviation: number;
  /**
   * Of the machine, when it was begun.
   */
  setup: NamedText[];
  /**
   * In the order of the file.
   */
  cells: ExperimentCell[];
  /**
   * Those for which there are numbers.
   */
  charts: ExperimentChart[];
  /**
   * About all of it.
   *
   * Items: One sentence.
   */
  warnings: string[];
  /**
   * How the intervals were computed, one sentence.
   */
  confidence: string;
}
/**
 * An experiment in the list, and how far it is.
 */
export interface ExperimentSummary {
  /**
   * Start time in UTC and six random hex digits.
   */
  id: string;
  /**
   * Short name, of its file.
   */
  name: string;
  /**
   * Title, of its file.
   */
  title: string;
  /**
   * Whether it is the quick variant, whose numbers do not stand.
   */
  quick: boolean;
  state: ExperimentState;
  /**
   * When it was begun, Unix microseconds.
   */
  started_unix_us: number;
  /**
   * The programs that run at the same time.
   *
   * Items: Name of a workload.
   */
  workloads: string[];
  /**
   * Combinations of the matrix.
   */
  cells: number;
  /**
   * Those that need no more repeats.
   */
  cells_done: number;
  /**
   * Repeats that are done.
   */
  repeats: number;
  /**
   * Repeats that are left, at least.
   */
  least_left: number;
  /**
   * Repeats that are left, at most.
   */
  most_left: number;
  /**
   * Seconds that are left if each open cell needs no more than the least number of repeats; null: not known, or it does not run.
   */
  left_s: number | null;
  /**
   * Cell whose repeat runs; null: none does.
   */
  cell: string | null;
  /**
   * What can be watched of that repeat.
   *
   * Items: Target id.
   */
  targets: string[];
}
/**
 * A name and its value.
 */
export interface NamedText {
  /**
   * Name.
   */
  name: string;
  /**
   * Value.
   */
  value: string;
}
/**
 * A combination of the matrix, and what was measured in it.
 */
export interface ExperimentCell {
  /**
   * Its name: axes and values.
   */
  key: string;
  /**
   * Axis and value.
   */
  values: NamedText[];
  standing: CellStanding;
  /**
   * Key of the cell that it is compared with; null: there is none.
   */
  baseline: string | null;
  /**
   * Of all repeats, in their order; of several programs one after the other.
   *
   * Items: Run id.
   */
  runs: string[];
  /**
   * Those that are known.
   */
  figures: ExperimentFigure[];
  /**
   * Repeats that failed.
   *
   * Items: Why, one sentence.
   */
  failures: string[];
  /**
   * What disturbed repeats.
   *
   * Items: One sentence, with the number of repeats.
   */
  warnings: string[];
}
/**
 * A figure of a cell, over its repeats.
 */
export interface ExperimentFigure {
  /**
   * Name.
   */
  name: string;
  /**
   * In words.
   */
  label: string;
  /**
   * Unit; empty: it has none.
   */
  unit: string;
  figure: GroupFigure;
  /**
   * Against the baseline of the cell; null: it has none, or the figure is unknown there.
   */
  gain: FigureDifference | null;
}
/**
 * A chart of an experiment.
 */
export interface ExperimentChart {
  /**
   * Short name, unique within the experiment.
   */
  id: string;
  /**
   * Title.
   */
  title: string;
  kind: ChartKind;
  /**
   * What x is.
   */
  x_label: string;
  /**
   * Values of the x axis, in order.
   *
   * Items: As shown.
   */
  x: string[];
  /**
   * What y is.
   */
  y_label: string;
  /**
   * Unit of y; empty: it has none.
   */
  unit: string;
  /**
   * Where a line is drawn: what no difference, or an ideal, would be; null: nowhere.
   */
  reference: number | null;
  /**
   * Lines, or bars of one colour.
   */
  series: ChartSeries[];
  /**
   * What to know about it; empty: nothing.
   */
  note: string;
}
/**
 * GET /api/v1/experiments.
 */
export interface ExperimentsResponse {
  /**
   * Newest first.
   */
  experiments: ExperimentSummary[];
  /**
   * Folders whose journal cannot be read.
   *
   * Items: Name of a folder, and why.
   */
  damaged: string[];
}
/**
 * All fields that tidscope measures; labels, run manifests, exports and docs are derived from it. Body of GET /api/v1/fields.
 */
export interface FieldCatalogue {
  /**
   * In column order.
   */
  fields: CatalogueField[];
}
/**
 * Page to backend: how many frames of this connection have been processed. The backend keeps at most a second's worth of unacknowledged frames in flight to such a client and coalesces the rest. Acknowledging 0 turns flow control on; a client that never acknowledges receives frames as they come.
 */
export interface FrameAck {
  type: "frame_ack";
  /**
   * Frames processed since the connection started, of all targets.
   */
  frames: number;
}
/**
 * First part of a binary frame: one sample of one target. It is followed by the rows in Arrow: tid (uint32) and one uint64 column per field, null = not available; a column that is 0 in all rows is left out; a key frame also has start_ns (int64) and name (utf8), one of a group also pid (uint32, after tid), the process of each thread. A key frame has an IPC stream of one record batch, a delta frame only the message of the batch, or nothing without rows. A key frame holds all live threads; a delta frame holds those whose counters changed since the previous frame. Events apply before rows. Behind the rows stand tables, each an Arrow stream, in the order of `tables`.
 */
export interface FrameHeader {
  type: "frame";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Number of the frame in its target's stream, contiguous from 1.
   */
  seq: number;
  /**
   * First frame that this one stands for; below seq if frames were coalesced.
   */
  first_seq: number;
  kind: FrameKind;
  /**
   * The first frame of the target with threads: their counters at attach. It is a key frame. A reader that starts later gets it before the kept history; that the frames in between are missing is not a loss.
   */
  baseline: boolean;
  /**
   * Rows of the record batch.
   */
  rows: number;
  /**
   * Of a key frame: names of all counter columns, in order, for it and for the delta frames behind it. null in delta frames; in a key frame, that its batch has all of them.
   *
   * @maxItems 256
   */
  fields?: string[] | null;
  /**
   * Positions in fields of the columns that the record batch has, ascending; null: all. A column that it does not have is 0 in all rows.
   *
   * @maxItems 256
   */
  columns?: number[] | null;
  /**
   * Monotonic time of the sample since attach, nanoseconds.
   */
  time_ns: number;
  /**
   * Wall clock of the sample, Unix microseconds.
   */
  unix_us: number;
  /**
   * Live threads at the time of the sample.
   */
  live_threads: number;
  /**
   * Threads that started since attach, those that were never seen alive included. Threads alive in the baseline + threads_born = live_threads + exited.threads.
   */
  threads_born: number;
  /**
   * What happened since the previous frame, in order.
   */
  events: TargetEvent[];
  process: ProcessGauges;
  machine: MachineCounters;
  health: CollectorHealth;
  exited: ExitedTotals;
  /**
   * Totals by role: in key frames, in the last frame, and about once a second; null in other frames, where the previous totals still hold. A coalesced frame has the last totals of its frames.
   *
   * @maxItems 64
   */
  roles?: RoleTotals[] | null;
  /**
   * How the counters of this sample were read; null if none were.
   */
  counters_from?: CountersSource | null;
  /**
   * Tables behind the rows, each name once: in key frames all rows, about once a second those that changed since the table was sent last; null if there are none. A row replaces an earlier one with the same key, and one whose figures are all 0 takes it away; in a key frame the table replaces the earlier table, and tables that it does not name are empty.
   *
   * @maxItems 11
   */
  tables?:
    | []
    | [FrameTable]
    | [FrameTable, FrameTable]
    | [FrameTable, FrameTable, FrameTable]
    | [FrameTable, FrameTable, FrameTable, FrameTable]
    | [FrameTable, FrameTable, FrameTable, FrameTable, FrameTable]
    | [FrameTable, FrameTable, FrameTable, FrameTable, FrameTable, FrameTable]
    | [FrameTable, FrameTable, FrameTable, FrameTable, FrameTable, FrameTable, FrameTable]
    | [
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable
      ]
    | [
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable
      ]
    | [
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable
      ]
    | [
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable,
        FrameTable
      ]
    | null;
  /**
   * Of a group: how many processes it has and had; null: the target is one process.
   */
  group?: GroupCounts | null;
}
/**
 * A thread was seen for the first time.
 */
export interface ThreadBorn {
  type: "thread_born";
  /**
   * Thread id.
   */
  tid: number;
  /**
   * Its start, nanoseconds since attach; negative if it started before.
   */
  start_ns: number;
  /**
   * Its name (comm).
   */
  name: string;
  /**
   * Of a group: the process that it happened in; null: the target is one process.
   */
  pid?: number | null;
}
/**
 * A thread changed its name.
 */
export interface ThreadRenamed {
  type: "thread_renamed";
  /**
   * Thread id.
   */
  tid: number;
  /**
   * New name.
   */
  name: string;
  /**
   * Previous name.
   */
  previous: string;
  /**
   * Of a group: the process that it happened in; null: the target is one process.
   */
  pid?: number | null;
}
/**
 * A thread exited.
 */
export interface ThreadExited {
  type: "thread_exited";
  /**
   * Thread id.
   */
  tid: number;
  /**
   * Its start, nanoseconds since attach.
   */
  start_ns: number;
  /**
   * Its last name (comm).
   */
  name: string;
  /**
   * Field name to its last cumulative value, in the field's unit. Unavailable fields are omitted.
   */
  totals: {
    [k: string]: number;
  };
  /**
   * True if the totals are the kernel's exit record; false if they are the last sample because no exit record arrived.
   */
  exact: boolean;
  /**
   * False if it lived only between two samples.
   */
  seen_alive: boolean;
  /**
   * Lifetime from its exit record, nanoseconds; null without one.
   */
  lifetime_ns?: number | null;
  /**
   * Of a group: the process that it happened in; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Fields whose value is not exact although the totals are: their value in the totals is the ledger's, a lower bound or (cpu_run_ns) an estimate, or they are left out because the kernel's is longer than the thread's life.
   *
   * @maxItems 64
   */
  inexact?: string[];
}
/**
 * The process exited.
 */
export interface TargetExited {
  type: "target_exited";
  /**
   * Exit status as from wait(2), if an exit record had it.
   */
  exit_code: number | null;
}
/**
 * Sampling was stopped on request.
 */
export interface TargetDetached {
  type: "target_detached";
}
/**
 * A different sampling rate was requested.
 */
export interface RateChanged {
  type: "rate_changed";
  /**
   * New rate.
   */
  rate_hz: number;
  /**
   * Previous rate.
   */
  previous_hz: number;
}
/**
 * The collector changed the sampling rate to stay within its CPU budget, or because frames could not be sent as fast as they were made; the requested rate is kept.
 */
export interface RateAdapted {
  type: "rate_adapted";
  /**
   * New effective rate.
   */
  rate_hz: number;
  /**
   * Previous effective rate.
   */
  previous_hz: number;
  /**
   * Requested rate.
   */
  requested_hz: number;
  /**
   * CPU of sampling and sending that caused the change, all targets together, 100 = one core.
   */
  overhead_percent: number;
  /**
   * CPU budget.
   */
  budget_percent: number;
  /**
   * If the change is due to frames that wait to be sent: how many bytes of them there are. Null if the CPU budget is the cause.
   */
  undelivered_bytes?: number | null;
}
/**
 * Frames were lost between collector and backend, or backend and page.
 */
export interface Gap {
  type: "gap";
  /**
   * Number of the frame in its target's stream, contiguous from 1.
   */
  from_seq: number;
  /**
   * Number of the frame in its target's stream, contiguous from 1.
   */
  to_seq: number;
  /**
   * Which bound was exceeded.
   */
  reason: string;
}
/**
 * A Go program's GOMAXPROCS changed.
 */
export interface GomaxprocsChanged {
  type: "gomaxprocs_changed";
  /**
   * Current value.
   */
  size: number;
  /**
   * Previous value.
   */
  previous: number;
  /**
   * Of a group: the process that it happened in; null: the target is one process.
   */
  pid?: number | null;
}
/**
 * The process executed another program (execve): its threads but one are gone, its id and its start are the same. What is known of the new program is in the target's process soon after.
 */
export interface ProgramExecuted {
  type: "program_executed";
  /**
   * Name of the main thread now.
   */
  name: string;
  /**
   * Path of the executable now; null if it may not be seen.
   */
  executable: string | null;
  /**
   * Path of the executable before; null if it could not be seen.
   */
  previous: string | null;
  /**
   * Of a group: the process that it happened in; null: the target is one process.
   */
  pid?: number | null;
}
/**
 * A sample failed.
 */
export interface SampleFailed {
  type: "sample_failed";
  /**
   * The kernel's error.
   */
  reason: string;
}
/**
 * A policy started to steer the target.
 */
export interface SteeringStarted {
  type: "steering_started";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Shadow mode: decides without acting.
   */
  shadow: boolean;
  knob: KnobKind;
  signal: SignalKind;
  /**
   * The signal is a proxy.
   */
  proxy: boolean;
  /**
   * Smallest size allowed.
   */
  lower: number;
  /**
   * Largest size allowed.
   */
  upper: number;
  /**
   * Current size.
   */
  size: number;
  /**
   * Who requested it: page or command line, and its address.
   */
  actor: string;
  /**
   * Which program of a group; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Name of that program.
   */
  program?: string | null;
}
/**
 * A policy made a decision at the end of an interval.
 */
export interface SteeringDecided {
  type: "steering_decided";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Number of the decision, from 1 since steering started.
   */
  number: number;
  /**
   * End of the interval, nanoseconds since attach.
   */
  at_ns: number;
  /**
   * Actual length of the interval, seconds.
   */
  elapsed_s: number;
  /**
   * Operations in it, as counted by the signal.
   */
  ops: number;
  /**
   * Mean queue wait of jobs, seconds; null if the signal does not have it.
   */
  mean_wait_s: number | null;
  /**
   * Size during the interval.
   */
  size: number;
  /**
   * Size after the decision.
   */
  next_size: number;
  /**
   * In shadow mode, the size that would have been set.
   */
  proposed: number | null;
  /**
   * What the policy is doing, in words.
   */
  state: string;
  /**
   * Why, one sentence.
   */
  reason: string;
  /**
   * Whether the interval says anything about the size: false after someone else changed the knob, or while the target stood still.
   */
  counted: boolean;
  /**
   * It is exploring sizes.
   */
  probing: boolean;
  /**
   * It keeps the size because it cannot choose one yet: it warms up, begins, waits for its turn, or the interval says too little.
   */
  deferred?: boolean;
  /**
   * In a proof, whether the policy steered in the interval; null: it is none.
   */
  with_policy?: boolean | null;
  /**
   * In a proof, the gain of throughput so far; null: none is known, or it is no proof.
   */
  gain?: MeasuredChange | null;
  /**
   * Which program of a group; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Name of that program.
   */
  program?: string | null;
  /**
   * What the arbiter gives the program of the cores, after the decision; null: another policy decided.
   */
  division?: CoreDivision | null;
}
/**
 * The policy restarted its search.
 */
export interface SearchRestarted {
  type: "search_restarted";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * What caused it.
   */
  reason: string;
  /**
   * Who requested it: page or command line, and its address.
   */
  actor: string;
  /**
   * Which program of a group; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Name of that program.
   */
  program?: string | null;
}
/**
 * Steering stopped and the original size was restored.
 */
export interface SteeringReleased {
  type: "steering_released";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Current size.
   */
  size: number;
  /**
   * Who requested it: page or command line, and its address.
   */
  actor: string;
  /**
   * Which program of a group; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Name of that program.
   */
  program?: string | null;
}
/**
 * The policy cannot work at present, or works again.
 */
export interface SteeringProblem {
  type: "steering_problem";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * What is wrong, one sentence; null: resolved.
   */
  problem: string | null;
  /**
   * Which program of a group; null: the target is one process.
   */
  pid?: number | null;
  /**
   * Name of that program.
   */
  program?: string | null;
}
/**
 * A proof has ended.
 */
export interface SteeringProven {
  type: "steering_proven";
  /**
   * Name of a policy.
   */
  policy: string;
  proof: ProofState;
}
/**
 * A sweep has ended.
 */
export interface SteeringSwept {
  type: "steering_swept";
  /**
   * Always sweep.
   */
  policy: string;
  sweep: SweepState;
}
/**
 * Process-level values of this sample.
 */
export interface ProcessGauges {
  /**
   * Current GOMAXPROCS; null if not a Go program, not readable, or not read in time.
   */
  gomaxprocs: number | null;
  /**
   * Samples since attachment in which GOMAXPROCS was not read in time: the page of memory that it is on did not come. Null if it is not read.
   */
  gomaxprocs_missed?: number | null;
  /**
   * Resident memory, sampled about once a second.
   */
  rss_bytes: number | null;
  /**
   * CPU time of the process since it started, exited threads included, nanoseconds; read about once a second, right after the threads, to check their sum against it. null in other frames.
   */
  cpu_ns?: number | null;
  /**
   * Whether kernel.task_delayacct is on, read about once a second; while it is off, block I/O and memory delays stand still. Null without such a switch.
   */
  delay_accounting?: boolean | null;
  /**
   * Cores that the process may use on average: the smallest cpu.max of its control group and those above it. Null: no limit, or not readable.
   */
  cpu_limit?: number | null;
  /**
   * Periods in which the group ran that was throttled, since attach: from second to second the one of the chain that was throttled longest, else the one with that limit. Null without a limit.
   */
  cgroup_periods?: number | null;
  /**
   * How many of them ended throttled.
   */
  cgroup_throttled?: number | null;
  /**
   * Time that the group was throttled, since attach, microseconds.
   */
  cgroup_throttled_us?: number | null;
}
/**
 * Machine-wide counters, cumulative since attach, read about once a second; frames in between repeat the last reading.
 */
export interface MachineCounters {
  /**
   * Monotonic time of the reading since attach, nanoseconds: the time base for rates of these counters.
   */
  time_ns: number;
  /**
   * Busy CPU time of the machine, microseconds: user, nice, system, irq and softirq of /proc/stat, without idle and steal. Advances in scheduler ticks. Null if it cannot be read.
   */
  cpu_busy_us: number | null;
  /**
   * CPU time that the hypervisor gave to others while something here was runnable, all CPUs together, microseconds: steal of /proc/stat. Null if it cannot be read.
   */
  cpu_steal_us?: number | null;
  /**
   * Energy of all packages, microjoules, with counter wraps unwrapped. Null without energy; the target gives the reason.
   */
  package_uj: number | null;
  /**
   * Energy of each domain of the target's energy source, microjoules; null where this reading failed.
   */
  domains_uj: (number | null)[];
  /**
   * Times that a domain's counter was reset, or went unread for so long that it could have wrapped twice: energy of that time is missing from the totals.
   */
  gaps: number;
}
/**
 * Totals of the threads of one role, those that exited since attach included. A thread's counters count for the role it had when they were read: after a rename only later growth counts for the new role, so totals never fall.
 */
export interface RoleTotals {
  /**
   * Thread name without the number of the thread, or what the target's role_rules make of it; null: all roles beyond the limit.
   */
  role: string | null;
  /**
   * Live threads.
   */
  live: number;
  /**
   * Threads of this role that exited since attach.
   */
  exited: number;
  /**
   * Field name to its cumulative value over these threads, in the field's unit. Fields that no thread has are omitted.
   */
  totals: {
    [k: string]: number;
  };
}
/**
 * A table that a frame carries behind its rows: facts with other keys than threads.
 */
export interface FrameTable {
  name: TableName;
  /**
   * Rows of the table.
   */
  rows: number;
  /**
   * Length of its Arrow stream, a multiple of 8.
   */
  bytes: number;
  /**
   * Rows that the target has and that no frame carries, because the table has a bound (MAX_TABLE_ROWS): those with the smallest figures.
   */
  omitted?: number;
  /**
   * When the rows were read, nanoseconds since attach: a key frame repeats what was read before it. null: in frames of older versions; then at the frame's time.
   */
  read_ns?: number | null;
}
/**
 * How many processes a group has and had.
 */
export interface GroupCounts {
  /**
   * Processes in it now.
   */
  live: number;
  /**
   * Processes that joined it since attach, those that were in it at attach not counted.
   */
  started: number;
  /**
   * Processes that ended or left it since attach.
   */
  ended: number;
  /**
   * Ended ones that no sample saw alive; their totals come from exit records.
   */
  unseen: number;
  /**
   * Processes that may have been missed; null: it cannot be known.
   */
  missed: number | null;
  /**
   * What its threads add up to beside an account that the kernel keeps by itself; null: there is no such account, or none yet.
   */
  check?: GroupCheck | null;
}
/**
 * What the threads of a group add up to, those that ended included, beside what the kernel says of the same time by another account. Both count from the first sample on, and are read right after each other about once a second.
 */
export interface GroupCheck {
  cpu_by: CpuAccount;
  /**
   * CPU time of the threads, nanoseconds.
   */
  threads_cpu_ns: number;
  /**
   * The same by the account, nanoseconds.
   */
  kernel_cpu_ns: number;
  io_by: IoAccount;
  /**
   * Bytes that the threads had read from block devices; null without an account.
   */
  threads_read_bytes: number | null;
  /**
   * The same by the account, all devices added up.
   */
  kernel_read_bytes: number | null;
  /**
   * Bytes that the threads had written to block devices, or to pages that are written later; null without an account.
   */
  threads_write_bytes: number | null;
  /**
   * The same by the account; version 1 counts pages that are written later for no group.
   */
  kernel_write_bytes: number | null;
}
/**
 * Frames that cannot be replayed because the collector's bounded replay buffer no longer has them.
 */
export interface FramesLost {
  type: "frames_lost";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Number of the frame in its target's stream, contiguous from 1.
   */
  from_seq: number;
  /**
   * Number of the frame in its target's stream, contiguous from 1.
   */
  to_seq: number;
  /**
   * Which bound was exceeded.
   */
  reason: string;
}
/**
 * GET /api/v1/health.
 */
export interface HealthResponse {
  status: HealthStatus;
  /**
   * Version of tidscope.
   */
  version: string;
  /**
   * Uptime of the backend, seconds.
   */
  uptime_s: number;
  /**
   * User id of the backend: whose processes "mine" means; null if unknown.
   */
  uid?: number | null;
  /**
   * Connected collectors.
   */
  collectors: number;
  /**
   * Connected pages.
   */
  clients: number;
  /**
   * Known targets.
   */
  targets: number;
  /**
   * Frames received.
   */
  frames: number;
  /**
   * Bytes of received frames.
   */
  frame_bytes: number;
  /**
   * Frames merged for slow pages.
   */
  coalesced: number;
  /**
   * Frames that never reached a page in any form.
   */
  dropped: number;
  /**
   * Frames lost between collector and backend.
   */
  lost: number;
  /**
   * Bytes of history kept for pages that connect later.
   */
  history_bytes: number;
  /**
   * Resident memory of the backend.
   */
  rss_bytes: number;
  connections: ConnectionsHealth;
}
/**
 * A chain of calls in a cell of the heat map.
 */
export interface HeatChain {
  /**
   * From the root on.
   */
  chain: TraceOperation[];
  /**
   * Of the operation's own time on the critical path, nanoseconds.
   */
  ns: number;
}
/**
 * A machine running a collector.
 */
export interface Host {
  /**
   * Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
   */
  id: string;
  /**
   * Host name.
   */
  name: string;
  /**
   * Kernel release.
   */
  kernel: string;
  /**
   * CPUs online.
   */
  cpus: number;
  /**
   * CPU model name.
   */
  cpu_model: string;
  /**
   * Total memory.
   */
  memory_bytes: number;
  /**
   * Whether its collector is connected.
   */
  connected: boolean;
  collector: CollectorInfo;
  /**
   * The last time that its collector went away without a restart of the backend; null: it never did. Set by the backend.
   */
  outage?: CollectorOutage | null;
}
/**
 * A way to set the size of a target's pool.
 */
export interface KnobOption {
  kind: KnobKind;
  /**
   * Why it is unavailable, one sentence; empty if available.
   */
  refusal: string;
  /**
   * Smallest size; null if unavailable.
   */
  lower: number | null;
  /**
   * Largest size; null if unavailable.
   */
  upper: number | null;
  /**
   * Current size; null if unavailable.
   */
  size: number | null;
}
/**
 * Page to backend: start sending this target's frames.
 */
export interface Subscribe {
  type: "subscribe";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Last frame the page has; null for the whole history.
   */
  after_seq: number | null;
}
/**
 * Page to backend: stop sending.
 */
export interface Unsubscribe {
  type: "unsubscribe";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
}
/**
 * Backend to page: hosts and targets, on connect and whenever one changes. Decisions of a policy are no such change: they come in frames (SteeringDecided), and a page that connects finds the newest one in the target's steering.
 */
export interface LiveState {
  type: "live_state";
  /**
   * Known hosts.
   */
  hosts: Host[];
  /**
   * Known targets, ended ones included.
   */
  targets: Target[];
  /**
   * Runs being recorded.
   */
  recordings?: Recording[];
}
/**
 * A run being recorded.
 */
export interface Recording {
  /**
   * Run id: start time in UTC and six random hex digits.
   */
  run: string;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Display name.
   */
  name: string;
  /**
   * When recording was requested, Unix microseconds.
   */
  created_unix_us: number;
}
/**
 * Backend to page, once a second: flow-control counters of this connection.
 */
export interface StreamStats {
  type: "stream_stats";
  /**
   * Frames sent to this page.
   */
  sent: number;
  /**
   * Frames merged into a later one because the page was slow; no totals are lost.
   */
  coalesced: number;
  /**
   * Frames that never reached this page in any form.
   */
  dropped: number;
  /**
   * Frames waiting.
   */
  queue: number;
  /**
   * Pages connected to the backend.
   */
  clients: number;
}
/**
 * Backend to page: a command was rejected.
 */
export interface LiveProblem {
  type: "live_problem";
  problem: Problem;
}
/**
 * An operation in the ranking over all endpoints.
 */
export interface OperationEverywhere {
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
  /**
   * Of the time of an endpoint's critical paths, averaged over all endpoints, 0 to 1: each endpoint counts the same.
   */
  mean_share: number;
  /**
   * Its own time on all critical paths, nanoseconds.
   */
  exclusive_ns: number;
  /**
   * Endpoints on whose critical paths it is.
   */
  endpoints: number;
  /**
   * Traces on whose critical path it is.
   */
  traces: number;
}
/**
 * An operation in the ranking of what critical paths consist of.
 */
export interface OperationRank {
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
  /**
   * Median of its own time on the critical path, over all traces, nanoseconds.
   */
  p50_exclusive_ns: number;
  /**
   * 95th percentile of it.
   */
  p95_exclusive_ns: number;
  /**
   * Of the time of all critical paths, 0 to 1.
   */
  share: number;
  /**
   * Traces on whose critical path it is.
   */
  traces: number;
  /**
   * What a trace would gain in the mean if the operation took no time, nanoseconds.
   */
  saving_ns: number;
  /**
   * How much shorter a request were in the mean if it were not called, nanoseconds.
   */
  drag_ns: number;
  /**
   * By how much it could be slower without a request taking longer (median of the requests with it), nanoseconds.
   */
  slack_ns: number;
  /**
   * Of the requests with it on the critical path, the share that failed, 0 to 1.
   */
  error_share: number;
}
/**
 * Body of GET /api/v1/policies.
 */
export interface PoliciesResponse {
  /**
   * In display order.
   */
  policies: PolicyInfo[];
}
/**
 * An available steering policy.
 */
export interface PolicyInfo {
  /**
   * Name of a policy.
   */
  name: string;
  /**
   * One sentence.
   */
  meaning: string;
  /**
   * Where it comes from: the paper or program.
   */
  source: string;
  /**
   * Whether it steers on queue wait instead of throughput.
   */
  wait: boolean;
  /**
   * Its parameters.
   */
  parameters: PolicyParameter[];
}
/**
 * A parameter of a policy.
 */
export interface PolicyParameter {
  /**
   * Name in requests.
   */
  name: string;
  /**
   * Empty for a plain number.
   */
  unit: string;
  /**
   * Whether only integers are accepted.
   */
  integer: boolean;
  /**
   * Default value.
   */
  default: number;
  /**
   * Smallest accepted value.
   */
  low: number;
  /**
   * Largest accepted value.
   */
  high: number;
  /**
   * One line.
   */
  meaning: string;
}
/**
 * A model of the prediction service, as the daemon describes it.
 */
export interface PredictionModel {
  /**
   * Unique among those of its owner.
   */
  name: string;
  /**
   * User id that it belongs to.
   */
  owner: number;
  /**
   * What other users may do with it.
   */
  sharing: "off" | "read" | "write";
  /**
   * A sum of weights this far from 0 is sure.
   */
  threshold: number;
  /**
   * Largest weight.
   */
  limit: number;
  /**
   * Answers that it learnt from.
   */
  updates: number;
  /**
   * Those of them that it had predicted.
   */
  hits: number;
  /**
   * Those that it had no prediction for.
   */
  undecided: number;
  /**
   * Resets of parts or of all of it.
   */
  resets: number;
  /**
   * Weights that are not 0, of 16384.
   */
  used_weights: number;
  /**
   * Connections that have it open.
   */
  users: number;
  /**
   * The first of them.
   *
   * @maxItems 16
   */
  shown_users:
    | []
    | [PredictionUser]
    | [PredictionUser, PredictionUser]
    | [PredictionUser, PredictionUser, PredictionUser]
    | [PredictionUser, PredictionUser, PredictionUser, PredictionUser]
    | [PredictionUser, PredictionUser, PredictionUser, PredictionUser, PredictionUser]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ]
    | [
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser,
        PredictionUser
      ];
  /**
   * Whether the backend's user may reset it.
   */
  administered: boolean;
}
/**
 * A process that has a model of the prediction service open.
 */
export interface PredictionUser {
  /**
   * Process id.
   */
  pid: number;
  /**
   * User id.
   */
  uid: number;
  /**
   * Answers that it taught.
   */
  updates: number;
}
/**
 * GET /api/v1/predictions: the prediction service of the backend's host.
 */
export interface PredictionService {
  /**
   * Why there is none; null: it answers.
   */
  reason: string | null;
  /**
   * Those that the backend's user may see.
   *
   * @maxItems 256
   */
  models: PredictionModel[];
}
/**
 * GET /api/v1/predictions/{owner}/{name}: the weights of a model.
 */
export interface PredictionWeights {
  /**
   * 16 tables of 1024 weights, one after the other.
   *
   * @minItems 16384
   * @maxItems 16384
   */
  weights: [
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number,
    number
  ];
}
/**
 * A process that can be attached to.
 */
export interface Process1 {
  /**
   * Process id (thread group id) as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
   */
  start_ticks: number;
  /**
   * When it started, Unix milliseconds.
   */
  started_unix_ms: number;
  /**
   * Its comm, at most 15 bytes.
   */
  name: string;
  /**
   * Command line, arguments joined by spaces, what looks like a secret left out; its comm in brackets if there is none; null: hidden, since arguments are not for viewers.
   */
  command: string | null;
  /**
   * Path of its executable; null if it cannot be read.
   */
  executable: string | null;
  /**
   * Real user id.
   */
  uid: number;
  /**
   * User name, or the uid as text.
   */
  user: string;
  /**
   * Number of threads.
   */
  threads: number;
  /**
   * CPU since the previous listing, 100 = one core; null in the first.
   */
  cpu_percent: number | null;
  /**
   * Resident memory.
   */
  rss_bytes: number | null;
  runtime: Runtime;
  /**
   * Such as go1.26.8; null if unknown.
   */
  runtime_version: string | null;
  /**
   * TCP ports it listens on.
   *
   * Items: TCP port.
   */
  ports: number[];
  /**
   * Why it cannot be attached to; null if it can.
   */
  refusal: Problem | null;
  /**
   * Process id of its parent; null if there is none that the collector sees.
   */
  parent?: number | null;
  /**
   * Path of its cgroup below the cgroup mount; null if it cannot be read.
   */
  cgroup?: string | null;
  /**
   * systemd unit that it belongs to; null: none.
   */
  unit?: string | null;
  /**
   * Container that it runs in; null: none.
   */
  container?: ProcessContainer | null;
  /**
   * Its process id inside its own PID namespace; null if that is the collector's.
   */
  namespace_pid?: number | null;
  /**
   * Its real user id inside its own user namespace; null if that is the same.
   */
  namespace_uid?: number | null;
  /**
   * Name of its user by its own /etc/passwd, where that is another one than user; null otherwise.
   */
  namespace_user?: string | null;
  /**
   * Run-queue delay of its main thread since the previous listing, 100 = all the time; null in the first, or if it cannot be read.
   */
  wait_percent?: number | null;
  /**
   * How long its control group, or one above it, was throttled by its CPU limit since the previous listing, 100 = one CPU all the time; null in the first, or without a limit.
   */
  throttled_percent?: number | null;
}
/**
 * GET /api/v1/processes.
 */
export interface ProcessesResponse {
  /**
   * Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
   */
  host: string;
  /**
   * Visible processes; `note` says if some are left out.
   */
  processes: Process1[];
  /**
   * What was left out because the list is too long for a message, such as `1,200 of 40,000 processes are listed`; empty if nothing.
   */
  note?: string;
}
/**
 * A program of a group that is to be steered, and what is its own.
 */
export interface ProgramChoice {
  /**
   * Process id, as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Knob to set; null: the best available.
   */
  knob?: KnobKind | null;
  /**
   * Signal to steer on; null: the best available.
   */
  signal?: SignalKind | null;
  /**
   * Smallest allowed size; null: the knob's.
   */
  lower?: number | null;
  /**
   * Largest allowed size; null: the knob's.
   */
  upper?: number | null;
  /**
   * Which counter, if the signal is prometheus.
   */
  prometheus?: PrometheusCounter | null;
  /**
   * Policy arbiter: weight of its throughput, compared with the other programs; null: 1.
   */
  share?: number | null;
  /**
   * Policy arbiter: cores that it has at least; null: its smallest size.
   */
  floor?: number | null;
  /**
   * Policy arbiter: programs of a higher one get what they can use before others get more than their floors; null: 0.
   */
  priority?: number | null;
}
/**
 * A counter that the target itself exposes in the Prometheus text format.
 */
export interface PrometheusCounter {
  /**
   * Port on loopback.
   */
  port: number;
  /**
   * Path of the metrics.
   */
  path: string;
  /**
   * Counter name; all samples with this name are added up.
   */
  metric: string;
}
/**
 * How a program of a group can be steered.
 */
export interface ProgramOptions {
  /**
   * Process id, as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start of the process, clock ticks since boot.
   */
  start_ticks: number;
  /**
   * Name of the process.
   */
  name: string;
  /**
   * Why it cannot be steered, one sentence; empty if it can.
   */
  refusal: string;
  /**
   * Best first; empty if it cannot be steered.
   */
  knobs: KnobOption[];
  /**
   * Best first; empty if it cannot be steered.
   */
  signals: SignalOption[];
  /**
   * Current steering; null: it is not steered.
   */
  steering: Steering | null;
}
/**
 * A signal that a target can be steered on.
 */
export interface SignalOption {
  kind: SignalKind;
  /**
   * A proxy signal, correlated with what matters: lower confidence.
   */
  proxy: boolean;
  /**
   * Why it is unavailable, one sentence; empty if available.
   */
  refusal: string;
  /**
   * What it counts.
   */
  note: string;
}
/**
 * Prove a policy against the size that the program has by itself: blocks with the policy and without it, in pairs, in random order.
 */
export interface ProofPlan {
  /**
   * Measured seconds of a block; null: 20.
   */
  block_s?: number | null;
  /**
   * Seconds after which it ends at the latest; null: 900.
   */
  most_s?: number | null;
  /**
   * Differences below this are none; null: 1.
   */
  smallest_percent?: number | null;
  /**
   * It is stopped when this share of the work is lost; null: 5.
   */
  loss_percent?: number | null;
  /**
   * Of the order of blocks; null: 1.
   */
  seed?: number | null;
}
/**
 * Body of PATCH /api/v1/targets/{id}.
 */
export interface RateRequest {
  /**
   * Samples a second.
   */
  rate_hz: number;
}
/**
 * Body of POST /api/v1/runs: record a target.
 */
export interface RecordRequest {
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Display name.
   */
  name?: string;
  /**
   * Tags.
   *
   * @maxItems 32
   *
   * Items: A tag.
   */
  tags?: string[];
  /**
   * Runs of one group are repeats of one another; null: not in a group.
   */
  group?: string | null;
  /**
   * Free-text notes.
   */
  notes?: string;
  /**
   * Seconds of the past to include, as far as the flight recorder has them.
   */
  past_s?: number;
  /**
   * Stop after this many seconds from now; null: until stopped; 0: only the past.
   */
  duration_s?: number | null;
  /**
   * What the run stores as the process's command line; null: what the collector reports.
   */
  command?: string | null;
}
/**
 * When old runs are deleted automatically.
 */
export interface Retention {
  /**
   * Delete runs that ended longer ago than this, seconds; null: no limit.
   */
  max_age_s: number | null;
  /**
   * Delete the oldest runs until the store is no larger than this; null: no limit.
   */
  max_bytes: number | null;
}
/**
 * Size of a run.
 */
export interface RunCounts {
  /**
   * Frames.
   */
  frames: number;
  /**
   * Rows: the counters of one thread in one frame. A thread whose counters did not change has none.
   */
  thread_samples: number;
  /**
   * Threads that were alive at some time.
   */
  threads: number;
  /**
   * Events.
   */
  events: number;
  /**
   * Bytes of all its files on disk; includes open_bytes.
   */
  bytes: number;
  /**
   * Bytes of raw frames in parts that are not sealed yet; sealing makes them about ten times smaller. 0 once the run is sealed.
   */
  open_bytes: number;
}
/**
 * All that is needed to understand a run without the machine that it was recorded on; manifest.json in its folder.
 */
export interface RunManifest {
  /**
   * Version of the folder format.
   */
  format: 1;
  /**
   * Run id: start time in UTC and six random hex digits.
   */
  id: string;
  /**
   * Display name.
   */
  name: string;
  /**
   * Tags.
   *
   * @maxItems 32
   *
   * Items: A tag.
   */
  tags: string[];
  /**
   * Runs of one group are repeats of one another; null: not in a group.
   */
  group: string | null;
  /**
   * Free-text notes.
   */
  notes: string;
  state: RunState;
  /**
   * Why it ended; null while it is being recorded.
   */
  end: RunEnd | null;
  /**
   * The same as a sentence, with what is missing; empty while it is being recorded.
   */
  end_detail: string;
  /**
   * When recording was requested, Unix microseconds.
   */
  created_unix_us: number;
  /**
   * Wall clock of its first frame, Unix microseconds.
   */
  started_unix_us: number;
  /**
   * Time of its first frame. Nanoseconds since attach, as in the target's frames.
   */
  from_ns: number;
  /**
   * Time of its last frame. Nanoseconds since attach, as in the target's frames.
   */
  to_ns: number;
  /**
   * When recording stops automatically, nanoseconds since attach; null: it does not.
   */
  until_ns?: number | null;
  /**
   * Version of tidscope that recorded it.
   */
  tidscope: string;
  host: Host;
  target: Target;
  /**
   * The field catalogue at the time of recording.
   */
  fields: CatalogueField[];
  /**
   * Policies that steered the target, in order.
   */
  policies: RunPolicy[];
  /**
   * Marks (annotations), by time.
   *
   * @maxItems 256
   */
  marks: RunMark[];
  losses: RunLosses;
  counts: RunCounts;
  /**
   * How counters of living threads were read, in the order in which the run has them.
   *
   * @maxItems 3
   */
  counters_from?:
    | []
    | [CountersSource]
    | [CountersSource, CountersSource]
    | [CountersSource, CountersSource, CountersSource];
  /**
   * How the command ended, for a run of one command.
   */
  outcome: RunOutcome | null;
  /**
   * It was imported.
   */
  imported: boolean;
}
/**
 * A policy that started to steer the target during a run, or was already steering when it began.
 */
export interface RunPolicy {
  /**
   * Nanoseconds since attach, as in the target's frames.
   */
  time_ns: number;
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Shadow mode: decides without acting.
   */
  shadow: boolean;
  knob: KnobKind;
  signal: SignalKind;
  /**
   * Smallest size allowed.
   */
  lower: number;
  /**
   * Largest size allowed.
   */
  upper: number;
}
/**
 * A mark (annotation); runs can be aligned at it.
 */
export interface RunMark {
  /**
   * Nanoseconds since attach, as in the target's frames.
   */
  time_ns: number;
  /**
   * What the mark says.
   */
  text: string;
}
/**
 * How the recorded command ended.
 */
export interface RunOutcome {
  /**
   * Program and arguments, as started, what looks like a secret left out; the program alone if the arguments are not stored; null: hidden, since arguments are not for viewers.
   *
   * @maxItems 1024
   */
  command: string[] | null;
  /**
   * Its exit code; null if a signal ended it.
   */
  exit_code: number | null;
  /**
   * Name of the signal that ended it, such as SIGKILL; null if none did.
   */
  signal: string | null;
  /**
   * Wall time from start to end, microseconds.
   */
  elapsed_us: number;
  /**
   * CPU time in user mode, waited-for children included, microseconds.
   */
  user_cpu_us: number;
  /**
   * CPU time in kernel mode, waited-for children included, microseconds.
   */
  system_cpu_us: number;
  /**
   * The part of both that the children used, microseconds; a run of one process does not show it. Null: not known, or the run is of a group, and shows it.
   */
  children_cpu_us?: number | null;
  /**
   * Peak resident memory.
   */
  max_rss_bytes: number;
  /**
   * Page faults that needed I/O.
   */
  major_faults: number;
  /**
   * Page faults that did not.
   */
  minor_faults: number;
  /**
   * Voluntary context switches.
   */
  voluntary_switches: number;
  /**
   * Involuntary context switches.
   */
  involuntary_switches: number;
  /**
   * Bytes written to standard output and standard error, as far as they went to no terminal; null: not counted.
   */
  output_bytes: number | null;
  /**
   * The end of that output, as text, what looks like a secret left out; null: not stored, or hidden, since output is not for viewers.
   */
  output_tail: string | null;
}
/**
 * Body of PATCH /api/v1/runs/{id}; omitted members stay unchanged.
 */
export interface RunPatch {
  /**
   * Display name.
   */
  name?: string;
  /**
   * Tags.
   *
   * @maxItems 32
   *
   * Items: A tag.
   */
  tags?: string[];
  /**
   * Runs of one group are repeats of one another; null: not in a group.
   */
  group?: string | null;
  /**
   * Free-text notes.
   */
  notes?: string;
  /**
   * All marks.
   *
   * @maxItems 256
   */
  marks?: RunMark[];
  /**
   * How the command ended.
   */
  outcome?: RunOutcome | null;
}
/**
 * A run in the list of runs.
 */
export interface RunSummary {
  /**
   * Run id: start time in UTC and six random hex digits.
   */
  id: string;
  /**
   * Display name.
   */
  name: string;
  /**
   * Tags.
   *
   * @maxItems 32
   *
   * Items: A tag.
   */
  tags: string[];
  /**
   * Runs of one group are repeats of one another; null: not in a group.
   */
  group: string | null;
  /**
   * Free-text notes.
   */
  notes: string;
  state: RunState;
  /**
   * Why it ended; null while it is being recorded.
   */
  end: RunEnd | null;
  /**
   * The same as a sentence, with what is missing.
   */
  end_detail: string;
  /**
   * When recording was requested, Unix microseconds.
   */
  created_unix_us: number;
  /**
   * Wall clock of its first frame, Unix microseconds.
   */
  started_unix_us: number;
  /**
   * From its first frame to its last, nanoseconds.
   */
  duration_ns: number;
  /**
   * Name of the host.
   */
  host_name: string;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Process id.
   */
  pid: number;
  /**
   * Comm of the process.
   */
  process: string;
  /**
   * Command line of the process; null: hidden, since arguments are not for viewers.
   */
  command: string | null;
  /**
   * The group of processes that was recorded; null: one process.
   */
  target_group?: Group | null;
  /**
   * Policies that steered the target, in order.
   *
   * Items: Name of a policy.
   */
  policies: string[];
  losses: RunLosses;
  /**
   * CPU time of children that the recorded command waited for, microseconds; a run of one process does not show it. Null: not known, or the run is not of a command.
   */
  children_cpu_us?: number | null;
  counts: RunCounts;
  /**
   * Exit code of the command that was recorded; null if a signal ended it, or if the run is not of a command.
   */
  exit_code: number | null;
  /**
   * Name of the signal that ended the command, such as SIGKILL; null if none did.
   */
  signal: string | null;
  /**
   * It was imported.
   */
  imported: boolean;
}
/**
 * GET /api/v1/runs.
 */
export interface RunsResponse {
  /**
   * Newest first.
   */
  runs: RunSummary[];
  /**
   * Runs in the trash, which can be restored.
   */
  deleted: RunSummary[];
  /**
   * Folders that cannot be read.
   */
  damaged: DamagedRun[];
  /**
   * Bytes of all runs, the trash included.
   */
  bytes: number;
  /**
   * Free space on the disk.
   */
  free_bytes: number;
  retention: Retention;
}
/**
 * An open session.
 */
export interface SessionInfo {
  /**
   * Names it; not secret.
   */
  id: string;
  role: Role;
  /**
   * What opened it: the User-Agent of a browser, or the name of a program.
   */
  label: string;
  /**
   * Where it was opened from.
   */
  address: string;
  /**
   * When it was opened, Unix microseconds.
   */
  opened_unix_us: number;
  /**
   * When it was last used, Unix microseconds; an open page uses it.
   */
  used_unix_us: number;
  /**
   * When it ends at the latest, Unix microseconds.
   */
  expires_unix_us: number;
  /**
   * Whether it is the session that asks.
   */
  own: boolean;
}
/**
 * Answer of POST /api/v1/session.
 */
export interface SessionOpened {
  /**
   * Names the session in lists and logs; not secret.
   */
  id: string;
  role: Role;
  /**
   * What stands for the session: sent as Bearer, or as the WebSocket subprotocol tidscope.session.CREDENTIAL. It is given here only.
   */
  credential: string;
}
/**
 * Body of POST /api/v1/session: trades the printed token for a session.
 */
export interface SessionRequest {
  /**
   * From the address that was printed at start.
   */
  token: string;
}
/**
 * Body of GET /api/v1/session.
 */
export interface SessionResponse {
  role: Role;
  /**
   * Of the session; null for a program that shows a token.
   */
  id: string | null;
}
/**
 * GET /api/v1/sessions.
 */
export interface SessionsResponse {
  /**
   * Last used first.
   */
  sessions: SessionInfo[];
}
/**
 * GET /api/v1/sizes: pools of the programs of a host, and whether their sizes fit what the programs may use.
 */
export interface SizeAudit {
  /**
   * Those that do not fit come first.
   *
   * @maxItems 256
   */
  programs: SizedProgram[];
  /**
   * Programs that were not looked at and pools that are left out, since there are too many.
   */
  omitted: number;
}
/**
 * A pool of a program, its size, and whether that fits.
 */
export interface SizedProgram {
  process: Process1;
  allowance: CpuAllowance;
  /**
   * GOMAXPROCS of a Go program, active processors of a Java virtual machine, or the name of a pool that an agent reports.
   */
  pool: string;
  /**
   * gomaxprocs, processors, or the kind that the agent says.
   */
  kind: string;
  /**
   * In effect; null: cannot be read.
   */
  size: number | null;
  /**
   * Where the size comes from: memory of the program, counters and arguments of the Java virtual machine, or an agent.
   */
  source: "memory" | "hsperfdata" | "agent";
  /**
   * Who chose it: the environment or the arguments that it was started with, the program by a call, the runtime; or not known.
   */
  chosen: "environment" | "program" | "runtime" | "unknown";
  verdict: SizeVerdict;
  /**
   * Why, one or two sentences.
   */
  why: string;
  /**
   * The line that makes it fit; null: none is needed, or known.
   */
  change: string | null;
}
/**
 * A lock that was waited for around the time of a span: by its thread, or by its process.
 */
export interface SpanLock {
  /**
   * Name of the lock; empty: it has none.
   */
  name: string;
  /**
   * What it is, as in the table lock_names.
   */
  kind: string;
  /**
   * Where its name is from, as in that table.
   */
  source: string;
  /**
   * Waits for it between two readings around the span, nanoseconds.
   */
  wait_ns: number;
  /**
   * How many.
   */
  waits: number;
  /**
   * Between these readings: about a second or more, for what a program itself says ten.
   */
  over_ns: number;
  /**
   * Thread that ended most waits for it, so likely the one that held it; null: not known.
   */
  woken_by: string | null;
}
/**
 * What threads did during a part of a span's own time.
 */
export interface SpanPart {
  reason: SpanReason;
  /**
   * Nanoseconds; all parts of a span add up to its own time on the critical path.
   */
  ns: number;
}
/**
 * A span on the critical path, joined with what was measured of its thread or process.
 */
export interface SpanThread {
  /**
   * 16 hex digits.
   */
  span_id: string;
  /**
   * Target that is attached; null: none, or the numbers are a run's.
   */
  target_id: string | null;
  /**
   * Run that was recorded at that time; null: none, or the numbers are live.
   */
  run_id: string | null;
  /**
   * Process; null: not known.
   */
  pid: number | null;
  /**
   * Thread; null: not known, the parts are of the whole process.
   */
  tid: number | null;
  /**
   * Name of the thread; null: not known.
   */
  thread_name: string | null;
  joined_by: SpanJoin;
  /**
   * Of the span itself on the critical path, nanoseconds.
   */
  own_ns: number;
  /**
   * Greatest first; empty: not joined.
   */
  parts: SpanPart[];
  /**
   * Share of the span's own time that samples tell apart, 0 to 1: less where spans are shorter than samples, or where nothing was measured.
   */
  coverage: number;
  /**
   * Locks that were waited for around that time, the longest first.
   */
  locks: SpanLock[];
  /**
   * Why it is not joined, or what to know about it; empty: nothing.
   */
  note: string;
}
/**
 * Body of PUT /api/v1/targets/{target_id}/steering: start steering a target, or change how it is steered. Of a group all chosen programs are steered, or, if one of them cannot be, nothing changes.
 */
export interface SteerRequest {
  /**
   * Name of a policy; of a sweep: sweep.
   */
  policy: string;
  /**
   * Parameters that differ from their defaults, by name; null: none.
   */
  parameters?: {
    [k: string]: number;
  } | null;
  /**
   * Shadow mode: decide without acting; null: act.
   */
  shadow?: boolean | null;
  /**
   * Knob to set; null: the best available.
   */
  knob?: KnobKind | null;
  /**
   * Signal to steer on; null: the best available.
   */
  signal?: SignalKind | null;
  /**
   * Smallest allowed size; null: the knob's.
   */
  lower?: number | null;
  /**
   * Largest allowed size; null: the knob's.
   */
  upper?: number | null;
  /**
   * Which counter, if the signal is prometheus.
   */
  prometheus?: PrometheusCounter | null;
  /**
   * Policy arbiter: weight of its throughput, compared with the other programs; null: 1.
   */
  share?: number | null;
  /**
   * Policy arbiter: cores that it has at least; null: its smallest size.
   */
  floor?: number | null;
  /**
   * Policy arbiter: programs of a higher one get what they can use before others get more than their floors; null: 0.
   */
  priority?: number | null;
  /**
   * Prove the policy first; null: let it steer.
   */
  proof?: ProofPlan | null;
  /**
   * Measure a size curve instead: the policy is then sweep, without parameters; null: no.
   */
  sweep?: SweepPlan | null;
  /**
   * Of a group: which programs, and what is their own; null: all that can be steered. Knob, signal, bounds, counter and claim (share, floor, priority) above hold for those that name none.
   */
  programs?: ProgramChoice[] | null;
  /**
   * Of a group: whether new programs are steered, too; null: no.
   */
  join?: boolean | null;
}
/**
 * Measure operations a second against size on the live program: each size for a block in every round, in random order.
 */
export interface SweepPlan {
  /**
   * Measured seconds of a size in a round; null: 2.
   */
  block_s?: number | null;
  /**
   * Seconds after which it ends at the latest; null: 300.
   */
  most_s?: number | null;
  /**
   * It is stopped when this share of the work of that time is lost; null: 20.
   */
  loss_percent?: number | null;
  /**
   * How many sizes are measured, evenly spaced by their logarithm; the size at the start is one more if it is not among them; null: 8.
   */
  sizes?: number | null;
  /**
   * Of the order of sizes; null: 1.
   */
  seed?: number | null;
}
/**
 * How a process, or the programs of a group, can be steered.
 */
export interface SteeringOptions {
  /**
   * Best first.
   */
  knobs: KnobOption[];
  /**
   * Best first.
   */
  signals: SignalOption[];
  /**
   * Current steering; null: the target is not steered.
   */
  steering: Steering | null;
  /**
   * Of a group: its programs, those first that can be steered; null: the target is one process.
   */
  programs?: ProgramOptions[] | null;
  /**
   * Of a group: processes that were not examined, because there are too many.
   */
  unexamined?: number;
}
/**
 * Body of POST /api/v1/session/tickets.
 */
export interface TicketRequest {
  /**
   * Path and query of the download, such as /api/v1/runs/ID/export?format=csv.
   */
  path: string;
}
/**
 * Answer of POST /api/v1/session/tickets.
 */
export interface TicketResponse {
  /**
   * Appended to the path as the last parameter of its query, ticket. Good once, for 10 seconds.
   */
  ticket: string;
}
/**
 * GET /api/v1/traces/analysis: critical paths of an endpoint.
 */
export interface TraceAnalysis {
  /**
   * Traces that were analysed.
   */
  traces: number;
  /**
   * Traces in the window beyond the bound of one analysis.
   */
  omitted: number;
  /**
   * Those in which clocks disagree.
   */
  skewed: number;
  /**
   * Those of which spans were left out because they lay outside their parent.
   */
  dropped: number;
  duration: TraceDurations;
  tree: TraceTree;
  /**
   * Greatest share first.
   */
  ranking: OperationRank[];
  /**
   * Most frequent first.
   */
  errors: ErrorPath[];
  /**
   * Traces that are unlike the usual ones, greatest score first.
   */
  anomalies: TraceAnomaly[];
  /**
   * Traces that say what is usual; 0: too few do, so that there are no anomalies.
   */
  usual: number;
  /**
   * Null: none was asked for.
   */
  projection: TraceProjection | null;
}
/**
 * How long traces took.
 */
export interface TraceDurations {
  /**
   * Median, nanoseconds.
   */
  p50_ns: number;
  /**
   * 95th percentile.
   */
  p95_ns: number;
  /**
   * 99th percentile.
   */
  p99_ns: number;
  histogram: TraceHistogram;
}
/**
 * How long traces took.
 */
export interface TraceHistogram {
  /**
   * Edges, ascending, one more than counts.
   *
   * Items: Nanoseconds.
   */
  bounds_ns: number[];
  /**
   * Traces between two edges.
   *
   * Items: Traces.
   */
  counts: number[];
}
/**
 * Critical paths of traces, summed as a tree of calls; a row for each node, parents before children.
 */
export interface TraceTree {
  /**
   * Operation of each node.
   */
  name: TraceOperation[];
  /**
   * Row of its parent.
   *
   * Items: Row; -1: a root.
   */
  parent: number[];
  /**
   * On critical paths with all below it, sum over the traces.
   *
   * Items: Nanoseconds.
   */
  inclusive_ns: number[];
  /**
   * On critical paths itself, sum over the traces.
   *
   * Items: Nanoseconds.
   */
  exclusive_ns: number[];
  /**
   * Traces on whose critical path it is.
   *
   * Items: Traces.
   */
  count: number[];
  /**
   * The traces in which it took longest, up to three, the slowest first.
   */
  exemplars: string[][];
}
/**
 * A trace whose critical path is unlike those of its endpoint.
 */
export interface TraceAnomaly {
  /**
   * 32 hex digits.
   */
  trace_id: string;
  /**
   * Unix nanoseconds.
   */
  start_ns: number;
  /**
   * Nanoseconds.
   */
  duration_ns: number;
  kind: AnomalyKind;
  /**
   * How unlike; comparable within an endpoint.
   */
  score: number;
  /**
   * The chain of calls that stands out, from the root on.
   */
  chain: TraceOperation[];
}
/**
 * How long traces would take if an operation took less.
 */
export interface TraceProjection {
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
  /**
   * By how much each of its spans is shorter, nanoseconds.
   */
  less_ns: number;
  quantiles: TraceQuantiles;
}
/**
 * Quantiles of how long traces took.
 */
export interface TraceQuantiles {
  /**
   * Median, nanoseconds.
   */
  p50_ns: number;
  /**
   * 95th percentile, nanoseconds.
   */
  p95_ns: number;
  /**
   * 99th percentile, nanoseconds.
   */
  p99_ns: number;
}
/**
 * GET /api/v1/traces/{trace_id}: a trace, its critical path, and what threads did on it.
 */
export interface TraceDetail {
  /**
   * 32 hex digits.
   */
  trace_id: string;
  /**
   * By start.
   */
  spans: TraceSpan[];
  /**
   * By time; without gaps from the start of the root span to its end.
   */
  path: TracePathPart[];
  skew: TraceSkew;
  /**
   * Spans of the path, most own time first.
   */
  threads: SpanThread[];
}
/**
 * A span of a trace.
 */
export interface TraceSpan {
  /**
   * 16 hex digits.
   */
  span_id: string;
  /**
   * 16 hex digits; empty: a root.
   */
  parent_id: string;
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
  /**
   * Unix nanoseconds.
   */
  start_ns: number;
  /**
   * Nanoseconds.
   */
  duration_ns: number;
  kind: SpanKind;
  /**
   * Whether it failed.
   */
  error: boolean;
  /**
   * Process, of the resource attribute process.pid; null: not known.
   */
  pid: number | null;
  /**
   * Thread, of the attribute thread.id; null: not known.
   */
  thread_id: number | null;
  /**
   * Attributes of the span and of its resource, as text.
   */
  attributes: {
    [k: string]: string;
  };
}
/**
 * A stretch of a critical path: while it lasts, the trace waits for this span itself.
 */
export interface TracePathPart {
  /**
   * 16 hex digits.
   */
  span_id: string;
  /**
   * Unix nanoseconds.
   */
  start_ns: number;
  /**
   * Unix nanoseconds.
   */
  end_ns: number;
}
/**
 * What clocks that disagree did to a trace.
 */
export interface TraceSkew {
  /**
   * Spans that reached beyond their parent, and were cut.
   */
  truncated: number;
  /**
   * Spans that lay outside their parent, and were left out with those below them.
   */
  dropped: number;
}
/**
 * GET /api/v1/traces/difference: two sets of traces of an endpoint.
 */
export interface TraceDifference {
  base: TraceSet;
  other: TraceSet;
  tree: DifferenceTree;
}
/**
 * One of two sets of traces that are compared.
 */
export interface TraceSet {
  /**
   * Traces.
   */
  traces: number;
  quantiles: TraceQuantiles;
}
/**
 * An operation at which requests enter: that of root spans.
 */
export interface TraceEndpoint {
  /**
   * Service, of the resource attribute service.name.
   */
  service: string;
  /**
   * Operation: name of the span.
   */
  operation: string;
  /**
   * Traces.
   */
  traces: number;
  /**
   * Those whose root span failed.
   */
  errors: number;
  /**
   * Median duration, nanoseconds.
   */
  p50_ns: number;
  /**
   * 95th percentile.
   */
  p95_ns: number;
  /**
   * 99th percentile.
   */
  p99_ns: number;
  /**
   * Start of the newest, Unix nanoseconds.
   */
  last_ns: number;
}
/**
 * GET /api/v1/traces/endpoints.
 */
export interface TraceEndpoints {
  /**
   * Most traces first.
   */
  endpoints: TraceEndpoint[];
  received: TracesReceived;
}
/**
 * What came in as spans, since the backend started.
 */
export interface TracesReceived {
  /**
   * Spans that were stored.
   */
  spans: number;
  /**
   * Traces in the store at present.
   */
  traces: number;
  /**
   * Spans that were refused because queues were full, or lost because the disk was.
   */
  dropped: number;
  /**
   * Spans that were malformed, or repeated one of the same trace.
   */
  rejected: number;
  /**
   * Spans that were deleted because of their age or because the store was full.
   */
  expired: number;
  /**
   * Of the store on disk.
   */
  bytes: number;
  /**
   * Requests of senders that were asked to come again later, because queues were full.
   */
  refused: number;
  /**
   * Port of this machine at which OTLP/HTTP is received; null: it is not.
   */
  http_port: number | null;
  /**
   * The same of OTLP/gRPC.
   */
  grpc_port: number | null;
}
/**
 * GET /api/v1/traces/heat: operations by traces.
 */
export interface TraceHeat {
  /**
   * Rows, greatest median of their own time first.
   */
  operations: TraceOperation[];
  /**
   * Columns, by start.
   */
  traces: TraceSummary[];
  /**
   * By row.
   */
  exclusive_ns: number[][];
  /**
   * By row.
   */
  chains: HeatChain[][][];
}
/**
 * A trace in a list.
 */
export interface TraceSummary {
  /**
   * 32 hex digits.
   */
  trace_id: string;
  /**
   * Service of its root span.
   */
  service: string;
  /**
   * Operation of its root span.
   */
  operation: string;
  /**
   * Start of its root span, Unix nanoseconds.
   */
  start_ns: number;
  /**
   * Of its root span, nanoseconds.
   */
  duration_ns: number;
  /**
   * Spans.
   */
  spans: number;
  /**
   * Services.
   */
  services: number;
  /**
   * Spans that failed.
   */
  errors: number;
  /**
   * How long the request waited for the process or thread that was asked for, within the window: own time of its spans on the critical path, nanoseconds; null: none was asked for.
   */
  on_path_ns?: number | null;
}
/**
 * GET /api/v1/traces.
 */
export interface TraceList {
  /**
   * In the order that was asked for.
   */
  traces: TraceSummary[];
}
/**
 * GET /api/v1/traces/operations: what critical paths of all endpoints consist of.
 */
export interface TraceOperations {
  /**
   * Endpoints.
   */
  endpoints: number;
  /**
   * Traces that were analysed.
   */
  traces: number;
  /**
   * Traces in the window beyond the bound of one analysis.
   */
  omitted: number;
  /**
   * Greatest mean share first.
   */
  operations: OperationEverywhere[];
}
/**
 * POST /api/v1/traces/import, and spans received.
 */
export interface TracesImported {
  /**
   * Traces.
   */
  traces: number;
  /**
   * Spans that were stored.
   */
  spans: number;
  /**
   * Spans that were malformed, or repeated one of the same trace.
   */
  rejected: number;
  /**
   * Why, a few of them.
   *
   * Items: One sentence.
   */
  reasons: string[];
}
