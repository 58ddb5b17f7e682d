// Generated from shared/schemas by tools/generate.py. Do not edit.

/**
 * Language runtime a process runs on, as far as it can be told from outside.
 */
export type Runtime = "go" | "python" | "java" | "node" | "native" | "unknown";
/**
 * What an agent turns: GOMAXPROCS of a Go program, or the number of workers of a pool.
 */
export type AgentKnob = "gomaxprocs" | "pool";
/**
 * Where the runs' times are laid over one another: start: their first instants; policy: the first time that a policy began; mark: a mark of the given text.
 */
export type AlignKind = "start" | "policy" | "mark";
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
 * What it is about.
 */
export type FieldGroup =
  "cpu" | "wait" | "switches" | "memory" | "io" | "disk" | "network" | "pool";
/**
 * exact; quantised: rounded by the kernel; tick: moves in scheduler ticks.
 */
export type Exactness = "exact" | "quantised" | "tick";
/**
 * ok; limited: works, with something missing; failed: does not work; unknown: could not be told.
 */
export type CheckState = "ok" | "limited" | "failed" | "unknown";
/**
 * Backend to collector.
 */
export type CollectorCommand =
  | CollectorWelcome
  | AttachCommand
  | DetachCommand
  | SetRateCommand
  | ListProcessesCommand
  | DoctorCommand
  | SetDelayAccountingCommand
  | SteerCommand
  | RestartSearchCommand
  | ReleaseCommand
  | SteeringOptionsCommand;
/**
 * What a policy turns.
 */
export type KnobKind = "go-agent" | "pool-agent" | "go-affinity";
/**
 * What a policy steers on.
 */
export type SignalKind =
  "agent-ops" | "queue-wait" | "prometheus" | "network-calls" | "network-bytes";
/**
 * Where samples come from: genetlink taskstats, or /proc when taskstats is not to be had.
 */
export type SampleSource = "taskstats" | "procfs";
/**
 * attached: being sampled. exited: the process has ended; the stream is complete. detached: someone asked to stop.
 */
export type TargetState = "attached" | "exited" | "detached";
/**
 * core and uncore are parts of their package; dram is beside it; psys is the whole platform, packages included.
 */
export type EnergyKind = "package" | "core" | "uncore" | "dram" | "psys" | "other";
/**
 * Collector to backend, as text; frames travel as binary messages.
 */
export type CollectorMessage =
  | CollectorHello
  | TargetReply
  | ProcessesReply
  | DoctorReply
  | RefusedReply
  | TargetChanged
  | TargetForgotten
  | FramesLost
  | SteeringOptionsReply;
/**
 * Which way is an improvement.
 */
export type Better = "less" | "more" | "neither";
/**
 * How the interval was found: Welch's t, for groups of different spread; none: there is no interval.
 */
export type IntervalMethod = "welch" | "none";
export type FrameKind = "snapshot" | "delta";
/**
 * Something that happened to a target at one instant.
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
  | ExitsLost
  | Gap
  | GomaxprocsChanged
  | SampleFailed
  | SteeringBegan
  | SteeringDecided
  | SearchRestarted
  | SteeringReleased
  | SteeringTroubled;
/**
 * degraded: no collector is connected.
 */
export type HealthStatus = "ok" | "degraded";
/**
 * Page to backend.
 */
export type LiveCommand = Subscribe | Unsubscribe | Taken;
/**
 * Backend to page, as text; frames travel as binary messages.
 */
export type LiveMessage = LiveState | StreamStats | FramesLost | LiveProblem;
/**
 * Kinds of refusal. As a problem document's `type` it stands behind urn:tidscope:problem:.
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
  | "not-found"
  | "method-not-allowed"
  | "internal";
/**
 * What a session may do: watch, or also change something.
 */
export type Role = "operator" | "viewer";
/**
 * Why a run ended.
 */
export type RunEnd =
  | "stopped"
  | "duration"
  | "kept"
  | "target-ended"
  | "collector-lost"
  | "backend-lost"
  | "disk-full";
/**
 * recording: frames are added. complete: ended as intended. interrupted: a crash, a full disk or a lost collector cut it short; what was written is there.
 */
export type RunState = "recording" | "complete" | "interrupted";

export interface Wire {
  AbsentField?: AbsentField;
  AgentAnswer?: AgentAnswer;
  AgentCall?: AgentCall;
  AgentError?: AgentError;
  AgentFailure?: AgentFailure;
  AgentHello?: AgentHello;
  AgentKnob?: AgentKnob;
  AgentNotice?: AgentNotice;
  AgentReading?: AgentReading;
  AgentSetCall?: AgentSetCall;
  AgentSetParams?: AgentSetParams;
  AgentSize?: AgentSize;
  AlignKind?: AlignKind;
  AttachCommand?: AttachCommand;
  AttachRequest?: AttachRequest;
  CatalogueField?: CatalogueField;
  CheckState?: CheckState;
  CollectorCommand?: CollectorCommand;
  CollectorHealth?: CollectorHealth;
  CollectorHello?: CollectorHello;
  CollectorInfo?: CollectorInfo;
  CollectorMessage?: CollectorMessage;
  CollectorWelcome?: CollectorWelcome;
  ComparedGroup?: ComparedGroup;
  ComparedMetric?: ComparedMetric;
  ComparedRun?: ComparedRun;
  ComparedSeries?: ComparedSeries;
  Comparison?: Comparison;
  DamagedRun?: DamagedRun;
  DeadlinesMissed?: DeadlinesMissed;
  DelayAccountingRequest?: DelayAccountingRequest;
  DemoResponse?: DemoResponse;
  DetachCommand?: DetachCommand;
  DoctorCheck?: DoctorCheck;
  DoctorCommand?: DoctorCommand;
  DoctorReply?: DoctorReply;
  DoctorReport?: DoctorReport;
  EnergyDomain?: EnergyDomain;
  EnergySource?: EnergySource;
  ExitedTotals?: ExitedTotals;
  ExitsLost?: ExitsLost;
  FieldCatalogue?: FieldCatalogue;
  FigureDifference?: FigureDifference;
  FrameHeader?: FrameHeader;
  FramesLost?: FramesLost;
  Gap?: Gap;
  GomaxprocsChanged?: GomaxprocsChanged;
  GroupFigure?: GroupFigure;
  HealthResponse?: HealthResponse;
  Host?: Host;
  HostsResponse?: HostsResponse;
  KnobKind?: KnobKind;
  KnobOption?: KnobOption;
  ListProcessesCommand?: ListProcessesCommand;
  LiveCommand?: LiveCommand;
  LiveMessage?: LiveMessage;
  LiveProblem?: LiveProblem;
  LiveState?: LiveState;
  MachineCounters?: MachineCounters;
  MatchedRole?: MatchedRole;
  PoliciesResponse?: PoliciesResponse;
  PolicyInfo?: PolicyInfo;
  PolicyParameter?: PolicyParameter;
  Problem?: Problem;
  ProblemType?: ProblemType;
  Process?: Process;
  ProcessGauges?: ProcessGauges;
  ProcessesReply?: ProcessesReply;
  ProcessesResponse?: ProcessesResponse;
  PrometheusCounter?: PrometheusCounter;
  RateAdapted?: RateAdapted;
  RateChanged?: RateChanged;
  RateRequest?: RateRequest;
  RecordRequest?: RecordRequest;
  Recording?: Recording;
  RefusedReply?: RefusedReply;
  ReleaseCommand?: ReleaseCommand;
  RestartSearchCommand?: RestartSearchCommand;
  Retention?: Retention;
  Role?: Role;
  RoleTotals?: RoleTotals;
  RunCounts?: RunCounts;
  RunEnd?: RunEnd;
  RunEvent?: RunEvent;
  RunEventsResponse?: RunEventsResponse;
  RunLosses?: RunLosses;
  RunManifest?: RunManifest;
  RunMark?: RunMark;
  RunOutcome?: RunOutcome;
  RunPatch?: RunPatch;
  RunPolicy?: RunPolicy;
  RunState?: RunState;
  RunSummary?: RunSummary;
  RunsResponse?: RunsResponse;
  Runtime?: Runtime;
  SampleFailed?: SampleFailed;
  SampleSource?: SampleSource;
  SearchRestarted?: SearchRestarted;
  SessionRequest?: SessionRequest;
  SessionResponse?: SessionResponse;
  SetDelayAccountingCommand?: SetDelayAccountingCommand;
  SetRateCommand?: SetRateCommand;
  SetupDifference?: SetupDifference;
  SignalKind?: SignalKind;
  SignalOption?: SignalOption;
  Source?: Source;
  SteerCommand?: SteerCommand;
  SteerRequest?: SteerRequest;
  Steering?: Steering;
  SteeringBegan?: SteeringBegan;
  SteeringDecided?: SteeringDecided;
  SteeringOptions?: SteeringOptions;
  SteeringOptionsCommand?: SteeringOptionsCommand;
  SteeringOptionsReply?: SteeringOptionsReply;
  SteeringReleased?: SteeringReleased;
  SteeringTroubled?: SteeringTroubled;
  StreamStats?: StreamStats;
  Subscribe?: Subscribe;
  Taken?: Taken;
  Target?: Target;
  TargetChanged?: TargetChanged;
  TargetDetached?: TargetDetached;
  TargetEvent?: TargetEvent;
  TargetExited?: TargetExited;
  TargetForgotten?: TargetForgotten;
  TargetReply?: TargetReply;
  TargetState?: TargetState;
  TargetsResponse?: TargetsResponse;
  ThreadBorn?: ThreadBorn;
  ThreadExited?: ThreadExited;
  ThreadRenamed?: ThreadRenamed;
  Unsubscribe?: Unsubscribe;
}
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
 * Agent to collector: a call succeeded.
 */
export interface AgentAnswer {
  jsonrpc: "2.0";
  /**
   * Chosen by the asker, repeated in the answer.
   */
  id: number;
  /**
   * Of hello, of read, of set and release.
   */
  result: AgentHello | AgentReading | AgentSize;
}
/**
 * Who an agent is, and what it lets be steered.
 */
export interface AgentHello {
  /**
   * Process id as the agent's own PID namespace counts.
   */
  pid: number;
  runtime: Runtime;
  /**
   * Of the agent.
   */
  version: string;
  /**
   * Version of this protocol; 1.
   */
  protocol: number;
  knob: AgentKnob;
  /**
   * Smallest size that it takes.
   */
  lower: number;
  /**
   * Largest size that it takes.
   */
  upper: number;
  /**
   * Size in force.
   */
  size: number;
  /**
   * Size that it goes back to.
   */
  original: number;
}
/**
 * Counters of an agent, cumulative since the program started.
 */
export interface AgentReading {
  /**
   * Operations that the program has done.
   */
  ops: number;
  /**
   * Size in force: of a pool that shrinks, with the workers that still finish their last job.
   */
  size: number;
  /**
   * Sum of the nanoseconds that jobs waited before they began; null when there is no queue.
   */
  queue_wait_ns: number | null;
  /**
   * Jobs in that sum; null when there is no queue.
   */
  queue_waits: number | null;
  /**
   * When this was read, by a clock that never steps; its origin is the program's own.
   */
  monotonic_ns: number;
}
/**
 * Answer to set and release.
 */
export interface AgentSize {
  /**
   * Size in force.
   */
  size: number;
  /**
   * Size that it is on its way to; the same as size once it is there.
   */
  wanted: number;
}
/**
 * Collector to agent: a call without parameters.
 */
export interface AgentCall {
  jsonrpc: "2.0";
  /**
   * Chosen by the asker, repeated in the answer.
   */
  id: number;
  /**
   * hello: who are you; read: the counters; release: back to the original size, now.
   */
  method: "hello" | "read" | "release";
}
/**
 * Why a call failed.
 */
export interface AgentError {
  /**
   * JSON-RPC's own, or -32001: out of bounds, -32002: the program is ending, -32003: another client steers, -32004: too many clients.
   */
  code: number;
  /**
   * A sentence.
   */
  message: string;
}
/**
 * Agent to collector: a call failed.
 */
export interface AgentFailure {
  jsonrpc: "2.0";
  /**
   * Of the call; null when it could not be read.
   */
  id: number | null;
  error: AgentError;
}
/**
 * Agent to collector, unasked: the program entered another phase, what was learnt of it is void.
 */
export interface AgentNotice {
  jsonrpc: "2.0";
  method: "restart_search";
}
/**
 * Collector to agent: set the size, or renew the lease of one that is set.
 */
export interface AgentSetCall {
  jsonrpc: "2.0";
  /**
   * Chosen by the asker, repeated in the answer.
   */
  id: number;
  method: "set";
  params: AgentSetParams;
}
/**
 * What a pool is set to, and for how long.
 */
export interface AgentSetParams {
  /**
   * Wanted size, within the bounds of the hello.
   */
  size: number;
  /**
   * Seconds until the agent goes back to the original size, unless it is set again.
   */
  lease_s: number;
}
/**
 * Attach to a process.
 */
export interface AttachCommand {
  type: "attach_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Process id (thread group id) as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
   */
  start_ticks: number | null;
  /**
   * Samples a second.
   */
  rate_hz: number;
}
/**
 * Body of POST /api/v1/targets.
 */
export interface AttachRequest {
  /**
   * Host id; may be left out when there is one host.
   */
  host?: string | null;
  /**
   * Process id (thread group id) as the collector's PID namespace counts.
   */
  pid: number;
  /**
   * Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
   */
  start_ticks?: number | null;
  /**
   * Samples a second.
   */
  rate_hz?: number;
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
   * For people.
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
   * File of /proc/PID/task/TID and the value in it, when taskstats is not to be had; null if not there.
   */
  procfs: string | null;
  exactness: Exactness;
  /**
   * One line.
   */
  meaning: string;
}
/**
 * Backend to collector, answer to the hello.
 */
export interface CollectorWelcome {
  type: "collector_welcome";
  /**
   * Version of this protocol.
   */
  protocol: number;
  /**
   * Target id to the last seq that the backend has; replay starts behind it. A target not named is replayed from the oldest kept frame.
   */
  resume: {
    [k: string]: number;
  };
}
/**
 * Stop sampling a target.
 */
export interface DetachCommand {
  type: "detach_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
}
/**
 * Change a target's rate.
 */
export interface SetRateCommand {
  type: "set_rate_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Samples a second.
   */
  rate_hz: number;
}
/**
 * List the processes of the host.
 */
export interface ListProcessesCommand {
  type: "list_processes_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
}
/**
 * Check the host's capabilities.
 */
export interface DoctorCommand {
  type: "doctor_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
}
/**
 * Switch the kernel's delay accounting on or off; answered with a DoctorReply.
 */
export interface SetDelayAccountingCommand {
  type: "set_delay_accounting_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Value of kernel.task_delayacct to set. Only threads that start afterwards are affected.
   */
  on: boolean;
}
/**
 * Steer a target; answered with a TargetReply.
 */
export interface SteerCommand {
  type: "steer_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  request: SteerRequest;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * Body of PUT /api/v1/targets/{target_id}/steering: steer a target, or steer it otherwise.
 */
export interface SteerRequest {
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Parameters that differ from their defaults, by name; null: none.
   */
  parameters?: {
    [k: string]: number;
  } | null;
  /**
   * Decide, but do not act; null: act.
   */
  shadow?: boolean | null;
  /**
   * What to turn; null: the best there is.
   */
  knob?: KnobKind | null;
  /**
   * What to steer on; null: the best there is.
   */
  signal?: SignalKind | null;
  /**
   * Smallest size allowed; null: the knob's.
   */
  lower?: number | null;
  /**
   * Largest size allowed; null: the knob's.
   */
  upper?: number | null;
  /**
   * Which counter, where the signal is prometheus.
   */
  prometheus?: PrometheusCounter | null;
}
/**
 * A counter that the target itself serves in the Prometheus text format.
 */
export interface PrometheusCounter {
  /**
   * Where it listens on loopback.
   */
  port: number;
  /**
   * Of its metrics.
   */
  path: string;
  /**
   * Name of a counter; samples with this name are added up.
   */
  metric: string;
}
/**
 * Let the policy search anew; answered with a TargetReply.
 */
export interface RestartSearchCommand {
  type: "restart_search_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * Steer no more and go back to the original size; answered with a TargetReply.
 */
export interface ReleaseCommand {
  type: "release_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * Ask how a target could be steered.
 */
export interface SteeringOptionsCommand {
  type: "steering_options_command";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
}
/**
 * The collector on itself, cumulative since it started unless said otherwise.
 */
export interface CollectorHealth {
  /**
   * Wall time of this sample, microseconds.
   */
  sample_us: number;
  /**
   * Mean wall time of this target's samples of the last five to ten seconds, microseconds.
   */
  sample_mean_us: number;
  /**
   * The longest of them, microseconds.
   */
  sample_max_us: number;
  /**
   * How long after its deadline this sample started, microseconds.
   */
  late_us: number;
  /**
   * Of this target, since attach.
   */
  missed_deadlines: number;
  /**
   * Samples a second of this target, in force.
   */
  rate_hz: number;
  /**
   * Samples a second that were asked for; more than those in force if the budget is spent.
   */
  asked_hz: number;
  /**
   * Exit records received, host-wide.
   */
  exits_received: number;
  /**
   * Exit records lost, host-wide, exact.
   */
  exits_lost: number;
  /**
   * CPU of the collector process over the last second, 100 = one core.
   */
  cpu_percent: number | null;
  /**
   * Of it sampling and sending, all targets together: what the budget is for. The rest answers questions, such as for the list of processes.
   */
  measuring_percent: number | null;
  /**
   * What sampling and sending may take before rates are lowered, 100 = one core; 0 = no limit.
   */
  budget_percent: number;
  /**
   * Bytes held for replay.
   */
  replay_bytes: number;
  /**
   * Frames held for replay.
   */
  replay_frames: number;
  /**
   * Of them those that the backend was not sent yet.
   */
  unsent_frames: number;
  /**
   * Frames sent, repeated ones too.
   */
  sent_frames: number;
  /**
   * Bytes of messages and frames sent to the backend.
   */
  sent_bytes: number;
}
/**
 * Collector to backend, first message.
 */
export interface CollectorHello {
  type: "collector_hello";
  /**
   * Version of this protocol.
   */
  protocol: number;
  host: Host;
  /**
   * Targets it holds, ended ones included while their frames are kept for replay.
   */
  targets: Target[];
  /**
   * Policies that it can steer with.
   */
  policies: PolicyInfo[];
}
/**
 * A machine with a collector.
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
   * Whether its collector is connected now.
   */
  connected: boolean;
  collector: CollectorInfo;
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
   * How many targets it takes at once.
   */
  max_targets: number;
}
/**
 * A process attached to.
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
  state: TargetState;
  /**
   * Samples a second that were asked for; a frame's health tells the rate in force.
   */
  rate_hz: number;
  /**
   * Moment of attachment, Unix microseconds: the zero of the stream's time.
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
   * Fields of the catalogue that they do not carry.
   */
  absent: AbsentField[];
  /**
   * Size in force when attached; null if unknown.
   */
  gomaxprocs: number | null;
  /**
   * How GOMAXPROCS is read, or why it is not.
   */
  gomaxprocs_reason: string;
  /**
   * The policy at work on it; null: it is not steered.
   */
  steering: Steering | null;
}
/**
 * A process that could be attached to.
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
   * Its command line, arguments joined by blanks; its comm in brackets where there is none.
   */
  command: string;
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
   * CPU since the last listing, 100 = one core; null in the first.
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
}
/**
 * A refusal (RFC 9457 problem details): what was wrong and what to do about it.
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
   * What was wrong here, naming the value.
   */
  detail: string;
  /**
   * What to do about it.
   */
  hint: string;
}
/**
 * Where a target's numbers come from.
 */
export interface Source {
  kind: SampleSource;
  /**
   * Version of struct taskstats; null without taskstats.
   */
  taskstats_version: number | null;
  /**
   * Name of the layout table in force, such as v16; null without taskstats.
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
   * Whether exit totals of threads are received.
   */
  exits: boolean;
  /**
   * Why, or why not.
   */
  exits_reason: string;
  /**
   * Where per-thread network numbers come from, or 'none: …' and why.
   */
  network: string;
}
/**
 * Where the machine's energy is read.
 */
export interface EnergySource {
  /**
   * What is read, in the order of the counters in frames; empty without energy.
   */
  domains: EnergyDomain[];
  /**
   * Where it comes from, or why there is none.
   */
  reason: string;
}
/**
 * A part of the machine whose energy RAPL counts.
 */
export interface EnergyDomain {
  /**
   * Name of the zone in /sys/class/powercap, such as intel-rapl:0:1.
   */
  zone: string;
  /**
   * What the kernel calls it; a part of a package with its package before it: package-0, package-0/dram, psys.
   */
  name: string;
  kind: EnergyKind;
  /**
   * Whether it is in the sum of packages. Parts, platforms and second views of the same package are not.
   */
  summed: boolean;
}
/**
 * A policy at work on a target.
 */
export interface Steering {
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * All of them.
   */
  parameters: {
    [k: string]: number;
  };
  /**
   * It decides, but does not act.
   */
  shadow: boolean;
  knob: KnobKind;
  signal: SignalKind;
  /**
   * The signal stands in for what matters: lower confidence.
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
   * Size that a release goes back to.
   */
  original: number;
  /**
   * Size in force.
   */
  size: number;
  /**
   * What the policy is doing, in words.
   */
  state: string;
  /**
   * Why it decided so, one sentence.
   */
  reason: string;
  /**
   * How many it has taken.
   */
  decisions: number;
  /**
   * When it began, Unix microseconds.
   */
  since_unix_us: number;
  /**
   * What keeps it from working, one sentence; empty if nothing does.
   */
  problem: string;
}
/**
 * A policy that a collector has.
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
   * Where it comes from.
   */
  source: string;
  /**
   * Whether it steers on the time that jobs wait, not on their number.
   */
  wait: boolean;
  /**
   * What can be set.
   */
  parameters: PolicyParameter[];
}
/**
 * One parameter of a policy, as a form shows it.
 */
export interface PolicyParameter {
  /**
   * As requests name it.
   */
  name: string;
  /**
   * Empty for a plain number.
   */
  unit: string;
  /**
   * Whether only whole numbers are taken.
   */
  integer: boolean;
  /**
   * Its value unless said otherwise.
   */
  default: number;
  /**
   * Lowest value taken.
   */
  low: number;
  /**
   * Highest value taken.
   */
  high: number;
  /**
   * One line.
   */
  meaning: string;
}
/**
 * A target's state, as asked for.
 */
export interface TargetReply {
  type: "target_reply";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  target: Target;
  /**
   * False if the process was attached to already.
   */
  created: boolean;
}
/**
 * The processes of the host.
 */
export interface ProcessesReply {
  type: "processes_reply";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  /**
   * All that can be seen.
   */
  processes: Process[];
}
/**
 * The host's report.
 */
export interface DoctorReply {
  type: "doctor_reply";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  report: DoctorReport;
}
/**
 * What this machine lets tidscope measure.
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
  state: CheckState;
  /**
   * In order of weight.
   */
  checks: DoctorCheck[];
}
/**
 * One capability that was checked.
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
  state: CheckState;
  /**
   * What was found, with the values.
   */
  found: string;
  /**
   * What is lost without it; empty if nothing.
   */
  lost: string;
  /**
   * The command or setting that mends it; empty if nothing has to be.
   */
  mend: string;
  /**
   * State of the kernel's switch behind it, where tidscope can set that switch; null or left out where there is none.
   */
  switched_on?: boolean | null;
}
/**
 * A command was refused.
 */
export interface RefusedReply {
  type: "refused_reply";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  problem: Problem;
}
/**
 * Collector to backend: a target was attached, changed its rate, or ended.
 */
export interface TargetChanged {
  type: "target_changed";
  target: Target;
}
/**
 * Collector to backend: an ended target whose frames are no longer kept.
 */
export interface TargetForgotten {
  type: "target_forgotten";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
}
/**
 * Frames that can not be replayed: they fell off the collector's bounded replay buffer.
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
   * Which bound.
   */
  reason: string;
}
/**
 * How a target could be steered.
 */
export interface SteeringOptionsReply {
  type: "steering_options_reply";
  /**
   * Chosen by the asker, repeated in the reply.
   */
  request_id: number;
  options: SteeringOptions;
}
/**
 * Body of GET /api/v1/targets/{target_id}/steering: how a target could be steered.
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
   * What is in force.
   */
  steering: Steering | null;
}
/**
 * A way to change the size of a target's pool.
 */
export interface KnobOption {
  kind: KnobKind;
  /**
   * Why it cannot be used, one sentence; empty if it can.
   */
  refusal: string;
  /**
   * Smallest size; null if it cannot be used.
   */
  lower: number | null;
  /**
   * Largest size; null if it cannot be used.
   */
  upper: number | null;
  /**
   * Size in force; null if it cannot be used.
   */
  size: number | null;
}
/**
 * Something that a target can be steered on.
 */
export interface SignalOption {
  kind: SignalKind;
  /**
   * It stands in for what matters: lower confidence.
   */
  proxy: boolean;
  /**
   * Why it cannot be used, one sentence; empty if it can.
   */
  refusal: string;
  /**
   * What it counts.
   */
  note: string;
}
/**
 * Runs that are repeats of one another, or one that stands alone.
 */
export interface ComparedGroup {
  /**
   * Its name.
   */
  label: string;
  /**
   * Its runs.
   *
   * Items: Identity of a run: when it was begun, in UTC, and six random hex digits.
   */
  runs: string[];
}
/**
 * One row of the table of differences.
 */
export interface ComparedMetric {
  /**
   * Name of a field of the catalogue, or of a figure derived from fields.
   */
  metric: string;
  /**
   * For people.
   */
  label: string;
  /**
   * Such as s, bytes or count.
   */
  unit: string;
  /**
   * Label of the matched role; null: the whole process.
   */
  role: string | null;
  better: Better;
  /**
   * One a group.
   */
  groups: GroupFigure[];
  /**
   * One for each group but the first.
   */
  differences: FigureDifference[];
}
/**
 * A figure of one group.
 */
export interface GroupFigure {
  /**
   * In the order of the group's runs.
   *
   * Items: Of one run; null if the run does not have it.
   */
  values: (number | null)[];
  /**
   * Runs that have it.
   */
  n: number;
  /**
   * Of those; null without any.
   */
  mean: number | null;
  /**
   * Sample standard deviation; null with fewer than two.
   */
  spread: number | null;
  /**
   * Lower end of the 95 % interval of the mean (Student's t); null with fewer than two.
   */
  low: number | null;
  /**
   * Its upper end.
   */
  high: number | null;
}
/**
 * A group held against the first one.
 */
export interface FigureDifference {
  /**
   * Difference of the means, this group's minus the first one's; null if one is not known.
   */
  absolute: number | null;
  /**
   * The same in percent of the first one's mean; null if that is 0 or not known.
   */
  percent: number | null;
  /**
   * Lower end of the 95 % interval of the difference; null if a group has fewer than two runs.
   */
  low: number | null;
  /**
   * Its upper end.
   */
  high: number | null;
  method: IntervalMethod;
}
/**
 * A run in a comparison.
 */
export interface ComparedRun {
  /**
   * Identity of a run: when it was begun, in UTC, and six random hex digits.
   */
  run: string;
  /**
   * What people call it.
   */
  name: string;
  /**
   * Number of its group in the comparison, from 0.
   */
  group: number;
  /**
   * Where its time is 0 in the comparison. Nanoseconds since attach: the time of the target's frames.
   */
  zero_ns: number;
  /**
   * Why it could not be aligned as asked, and stands at its start; null if it could.
   */
  align_problem: string | null;
  /**
   * From its first instant to its last, nanoseconds.
   */
  duration_ns: number;
  losses: RunLosses;
}
/**
 * What is missing in a run, or was measured late. All 0: nothing that tidscope knows of.
 */
export interface RunLosses {
  /**
   * Frames of the target that never came, or came when nothing could be written.
   */
  frames: number;
  /**
   * Holes that they make.
   */
  gaps: number;
  /**
   * Time in these holes, nanoseconds.
   */
  missing_ns: number;
  /**
   * Bytes of a frame that was not written to its end, cut off when the run was recovered.
   */
  cut_bytes: number;
  /**
   * Instants that were merged into a later one before they were written; totals are whole.
   */
  coalesced: number;
  /**
   * Samples that were due and not taken in time.
   */
  deadlines_missed: number;
  /**
   * Samples that could not be taken.
   */
  samples_failed: number;
  /**
   * Exit records of threads that the kernel dropped.
   */
  exits_lost: number;
  /**
   * Times that the machine's wall clock was set by more than half a second; times since attach are not touched by it.
   */
  clock_jumps: number;
}
/**
 * A curve of one run.
 */
export interface ComparedSeries {
  /**
   * Identity of a run: when it was begun, in UTC, and six random hex digits.
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
   * A value a time.
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
   * Text of the mark that runs are aligned at; null if they are not.
   */
  mark: string | null;
  /**
   * As asked for.
   */
  runs: ComparedRun[];
  /**
   * The first one is what the others are held against.
   */
  groups: ComparedGroup[];
  /**
   * What differs, the most important first.
   */
  setup: SetupDifference[];
  /**
   * The busiest first.
   */
  roles: MatchedRole[];
  /**
   * Of the whole process first, then by role.
   */
  metrics: ComparedMetric[];
  /**
   * By metric, role and run.
   */
  series: ComparedSeries[];
  /**
   * How intervals were found, in one sentence.
   */
  confidence: string;
}
/**
 * Something in the set-up that is not the same in all runs.
 */
export interface SetupDifference {
  /**
   * Such as kernel, command or policy.
   */
  what: string;
  /**
   * A value a run, in the runs' order.
   *
   * Items: In words.
   */
  values: string[];
}
/**
 * Roles of the runs that are compared with one another.
 */
export interface MatchedRole {
  /**
   * Its name in the comparison.
   */
  label: string;
  /**
   * One a run, in the runs' order.
   *
   * Items: The run's role; null if it has none that matches.
   */
  roles: (string | null)[];
  /**
   * A person said so.
   */
  by_hand: boolean;
}
/**
 * A folder among the runs that cannot be read.
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
 * Samples were due and could not be taken in time.
 */
export interface DeadlinesMissed {
  type: "deadlines_missed";
  /**
   * How many since the frame before.
   */
  count: number;
}
/**
 * Body of PUT /api/v1/doctor/delay-accounting.
 */
export interface DelayAccountingRequest {
  /**
   * Value of kernel.task_delayacct to set. Only threads that start afterwards are affected.
   */
  on: boolean;
}
/**
 * POST /api/v1/demo: the demo program was started and attached to.
 */
export interface DemoResponse {
  target: Target;
}
/**
 * What the threads that have ended add up to, since attach.
 */
export interface ExitedTotals {
  /**
   * How many.
   */
  threads: number;
  /**
   * How many of them without an exit record: their totals are their last sample.
   */
  inexact: number;
  /**
   * Field name to its last cumulative value, in the field's unit. A field that was not available is not in it.
   */
  totals: {
    [k: string]: number;
  };
}
/**
 * The kernel dropped exit records because our socket was full.
 */
export interface ExitsLost {
  type: "exits_lost";
  /**
   * Exact number, host-wide: what the kernel counted as dropped on the per-CPU sockets.
   */
  count: number;
}
/**
 * All fields that tidscope measures: labels, run manifests, exports and docs come from it. GET /api/v1/fields answers with it.
 */
export interface FieldCatalogue {
  /**
   * In column order.
   */
  fields: CatalogueField[];
}
/**
 * First part of a binary frame: one instant of one target. After it stands an Arrow IPC stream of one record batch: tid (uint32), one uint64 column a field, null = not available; a snapshot has start_ns (int64) and name (utf8) as well. A snapshot holds every live thread; a delta holds those whose counters changed since the frame before. Events apply before rows.
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
   * First frame that this one stands for; less than seq if frames were coalesced.
   */
  first_seq: number;
  kind: FrameKind;
  /**
   * Monotonic time of the sample since attach, nanoseconds.
   */
  time_ns: number;
  /**
   * Wall clock of the sample, Unix microseconds.
   */
  unix_us: number;
  /**
   * Threads alive at this instant.
   */
  live_threads: number;
  /**
   * What happened since the frame before, in order.
   */
  events: TargetEvent[];
  process: ProcessGauges;
  machine: MachineCounters;
  health: CollectorHealth;
  exited: ExitedTotals;
  /**
   * Totals by role: in snapshots, in the last frame, and about once a second; null in the others, where those told last stand. A coalesced frame has the last that its frames told.
   *
   * @maxItems 64
   */
  roles?: RoleTotals[] | null;
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
   * Its comm.
   */
  name: string;
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
   * The new one.
   */
  name: string;
  /**
   * The old one.
   */
  previous: string;
}
/**
 * A thread ended.
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
   * Its last comm.
   */
  name: string;
  /**
   * Field name to its last cumulative value, in the field's unit. A field that was not available is not in it.
   */
  totals: {
    [k: string]: number;
  };
  /**
   * True if the totals are the kernel's exit record; false if they are the last sample, because no exit record came.
   */
  exact: boolean;
  /**
   * False if it lived and died between two samples.
   */
  seen_alive: boolean;
  /**
   * How long it lived, from its exit record; null if there was none.
   */
  lifetime_ns?: number | null;
}
/**
 * The process ended.
 */
export interface TargetExited {
  type: "target_exited";
  /**
   * Exit status as wait(2) gives it, if an exit record told it.
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
 * Another sampling rate was asked for.
 */
export interface RateChanged {
  type: "rate_changed";
  /**
   * Samples a second.
   */
  rate_hz: number;
  /**
   * Samples a second.
   */
  previous_hz: number;
}
/**
 * The collector changed the rate to keep to its CPU budget; the rate asked for is not forgotten.
 */
export interface RateAdapted {
  type: "rate_adapted";
  /**
   * Samples a second from now on.
   */
  rate_hz: number;
  /**
   * Samples a second before.
   */
  previous_hz: number;
  /**
   * Samples a second that were asked for.
   */
  asked_hz: number;
  /**
   * CPU of sampling and sending that led to it, all targets together, 100 = one core.
   */
  measuring_percent: number;
  /**
   * What it may be.
   */
  budget_percent: number;
}
/**
 * Frames were lost between collector and backend or backend and page.
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
   * Now in force.
   */
  size: number;
  /**
   * Before.
   */
  previous: number;
}
/**
 * A sample could not be taken.
 */
export interface SampleFailed {
  type: "sample_failed";
  /**
   * What the kernel answered.
   */
  reason: string;
}
/**
 * A policy steers the target from now on.
 */
export interface SteeringBegan {
  type: "steering_began";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * It decides, but does not act.
   */
  shadow: boolean;
  knob: KnobKind;
  signal: SignalKind;
  /**
   * The signal stands in for what matters.
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
   * Size in force.
   */
  size: number;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * A policy took a decision at the end of an interval.
 */
export interface SteeringDecided {
  type: "steering_decided";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * End of the interval, nanoseconds since attach.
   */
  at_ns: number;
  /**
   * Real length of the interval.
   */
  elapsed_s: number;
  /**
   * Operations in it, by the signal.
   */
  ops: number;
  /**
   * Mean time that jobs waited; null where the signal does not tell.
   */
  mean_wait_s: number | null;
  /**
   * Size that was in force during the interval.
   */
  size: number;
  /**
   * Size in force after the decision.
   */
  next_size: number;
  /**
   * In shadow mode the size that would have been set.
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
   * Whether the interval said anything about the size: false after another hand moved the knob, or while the target stood still.
   */
  counted: boolean;
  /**
   * It is trying sizes out.
   */
  probing: boolean;
}
/**
 * The policy searches anew.
 */
export interface SearchRestarted {
  type: "search_restarted";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Who or what asked for it.
   */
  reason: string;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * No policy steers the target any more; it has its original size back.
 */
export interface SteeringReleased {
  type: "steering_released";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * Size in force.
   */
  size: number;
  /**
   * Who asked: page or command line, and from where.
   */
  actor: string;
}
/**
 * The policy cannot work at present, or works again.
 */
export interface SteeringTroubled {
  type: "steering_troubled";
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * What is wrong, one sentence; empty: it works again.
   */
  problem: string;
}
/**
 * Values of the process as a whole at this instant.
 */
export interface ProcessGauges {
  /**
   * GOMAXPROCS in force; null if not a Go program or not readable.
   */
  gomaxprocs: number | null;
  /**
   * Resident memory, sampled about once a second.
   */
  rss_bytes: number | null;
  /**
   * CPU time of the process, its ended threads included, since its start, nanoseconds; read right after the threads. What the threads add up to is held against it.
   */
  cpu_ns?: number | null;
  /**
   * Whether kernel.task_delayacct is on, looked at about once a second: while it is off, delays of I/O and memory stand still. Null where there is no such switch.
   */
  delay_accounting?: boolean | null;
}
/**
 * Counters of the whole machine, cumulative since attach, read about once a second; frames in between repeat the last reading.
 */
export interface MachineCounters {
  /**
   * Monotonic time of the reading since attach, nanoseconds: rates are taken over differences of it.
   */
  time_ns: number;
  /**
   * CPU time of all that ran on the machine: user, nice, system, irq and softirq of /proc/stat, neither idle nor stolen time, microseconds. Moves in scheduler ticks. Null if it cannot be read.
   */
  cpu_busy_us: number | null;
  /**
   * Energy of all packages together, microjoules; counters that wrapped around are unwrapped. Null without energy; the target says why.
   */
  package_uj: number | null;
  /**
   * Energy of each domain of the target's energy source, microjoules; null if it could not be read this time.
   */
  domains_uj: (number | null)[];
  /**
   * Times that a counter of a domain started anew, or was not read for so long that it could have wrapped twice: energy of then is missing in the sums.
   */
  holes: number;
}
/**
 * What the threads of one role add up to, those that ended since attach included. What a thread did counts for the role it had when its counters were read: a new name takes along only what comes after it. So totals never fall.
 */
export interface RoleTotals {
  /**
   * A thread's name with each run of digits as one #; null: all roles beyond the bound on their number together.
   */
  role: string | null;
  /**
   * Threads alive.
   */
  live: number;
  /**
   * Threads that ended in this role since attach.
   */
  exited: number;
  /**
   * Field name to its cumulative value over these threads, in the field's unit. A field that was available for none of them is not in it.
   */
  totals: {
    [k: string]: number;
  };
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
   * Of the backend.
   */
  uptime_s: number;
  /**
   * User id that the backend runs as: whose processes "mine" means; null if it does not tell.
   */
  uid?: number | null;
  /**
   * Connected.
   */
  collectors: number;
  /**
   * Pages connected.
   */
  clients: number;
  /**
   * Targets known.
   */
  targets: number;
  /**
   * Frames taken in.
   */
  frames: number;
  /**
   * Bytes of the frames taken in.
   */
  frame_bytes: number;
  /**
   * Frames merged for slow pages.
   */
  coalesced: number;
  /**
   * Frames that a page never got in any form.
   */
  dropped: number;
  /**
   * Frames lost between collector and backend.
   */
  lost: number;
  /**
   * Bytes held so that a page that opens sees the recent past.
   */
  history_bytes: number;
  /**
   * Resident memory of the backend.
   */
  rss_bytes: number;
}
/**
 * GET /api/v1/hosts.
 */
export interface HostsResponse {
  /**
   * Hosts known.
   */
  hosts: Host[];
}
/**
 * Page to backend: send me this target's frames.
 */
export interface Subscribe {
  type: "subscribe";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * Last frame the page has; null for all that is kept.
   */
  after_seq: number | null;
}
/**
 * Page to backend: stop.
 */
export interface Unsubscribe {
  type: "unsubscribe";
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
}
/**
 * Page to backend: so many frames of this connection are dealt with. A client that says so is never more than a second's worth behind what it was sent: the backend holds frames back and coalesces them instead. It says 0 when it begins. One that never says so gets all at once.
 */
export interface Taken {
  type: "taken";
  /**
   * Frames received and dealt with since the connection began, of all targets.
   */
  frames: number;
}
/**
 * Backend to page: hosts and targets, at connect and whenever one changes.
 */
export interface LiveState {
  type: "live_state";
  /**
   * Hosts known.
   */
  hosts: Host[];
  /**
   * Targets known, ended ones included.
   */
  targets: Target[];
  /**
   * Runs that are being recorded.
   */
  recordings?: Recording[];
}
/**
 * A run that is being recorded.
 */
export interface Recording {
  /**
   * Identity of a run: when it was begun, in UTC, and six random hex digits.
   */
  run: string;
  /**
   * Identity of one attachment; a new one each time a process is attached to.
   */
  target: string;
  /**
   * What people call it.
   */
  name: string;
  /**
   * When recording was asked for, Unix microseconds.
   */
  created_unix_us: number;
}
/**
 * Backend to page, once a second: how this page keeps up.
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
   * Frames waiting now.
   */
  queue: number;
  /**
   * Pages connected to this backend.
   */
  clients: number;
}
/**
 * Backend to page: a command was refused.
 */
export interface LiveProblem {
  type: "live_problem";
  problem: Problem;
}
/**
 * Body of GET /api/v1/policies.
 */
export interface PoliciesResponse {
  /**
   * In the order in which they are shown.
   */
  policies: PolicyInfo[];
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
   * All that can be seen.
   */
  processes: Process[];
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
   * What people call it.
   */
  name?: string;
  /**
   * Labels that people gave.
   *
   * @maxItems 32
   *
   * Items: A label that people gave.
   */
  tags?: string[];
  /**
   * Runs of one group are repeats of one another; null: it stands alone.
   */
  group?: string | null;
  /**
   * What people wrote about it.
   */
  notes?: string;
  /**
   * Keep so much of what has been, as far as the flight recorder has it, seconds.
   */
  past_s?: number;
  /**
   * End by itself after so long, seconds from now on; null: not; 0: keep the past alone.
   */
  duration_s?: number | null;
}
/**
 * When old runs are deleted by themselves.
 */
export interface Retention {
  /**
   * Runs that ended longer ago go, seconds; null: none goes by age.
   */
  max_age_s: number | null;
  /**
   * The oldest go until all take no more than that; null: none goes by size.
   */
  max_bytes: number | null;
}
/**
 * How much a run holds.
 */
export interface RunCounts {
  /**
   * Frames: instants at which the target was sampled.
   */
  instants: number;
  /**
   * Rows: counters of one thread at one instant. A thread whose counters did not change has none.
   */
  thread_samples: number;
  /**
   * Threads that were alive at some time in it.
   */
  threads: number;
  /**
   * Events.
   */
  events: number;
  /**
   * Of all its files.
   */
  bytes: number;
}
/**
 * An event of a run; a line of its events files.
 */
export interface RunEvent {
  /**
   * Frame that told of it.
   */
  seq: number;
  /**
   * Nanoseconds since attach: the time of the target's frames.
   */
  time_ns: number;
  /**
   * Wall clock, Unix microseconds.
   */
  unix_us: number;
  event: TargetEvent;
}
/**
 * GET /api/v1/runs/{id}/events.
 */
export interface RunEventsResponse {
  /**
   * By time.
   */
  events: RunEvent[];
  /**
   * Events beyond the bound of what is sent.
   */
  left_out: number;
}
/**
 * What is needed to understand a run without the machine that it was recorded on; manifest.json in its folder.
 */
export interface RunManifest {
  /**
   * Version of the folder's format.
   */
  format: 1;
  /**
   * Identity of a run: when it was begun, in UTC, and six random hex digits.
   */
  id: string;
  /**
   * What people call it.
   */
  name: string;
  /**
   * Labels that people gave.
   *
   * @maxItems 32
   *
   * Items: A label that people gave.
   */
  tags: string[];
  /**
   * Runs of one group are repeats of one another; null: it stands alone.
   */
  group: string | null;
  /**
   * What people wrote about it.
   */
  notes: string;
  state: RunState;
  /**
   * Why it ended; null while it is being recorded.
   */
  end: RunEnd | null;
  /**
   * The same in words, with what is missing; empty while it is being recorded.
   */
  end_detail: string;
  /**
   * When recording was asked for, Unix microseconds.
   */
  created_unix_us: number;
  /**
   * Wall clock of its first instant, Unix microseconds.
   */
  started_unix_us: number;
  /**
   * Its first instant. Nanoseconds since attach: the time of the target's frames.
   */
  from_ns: number;
  /**
   * Its last instant. Nanoseconds since attach: the time of the target's frames.
   */
  to_ns: number;
  /**
   * When recording ends by itself; nanoseconds since attach. null: it does not.
   */
  until_ns?: number | null;
  /**
   * Version of tidscope that recorded it.
   */
  tidscope: string;
  host: Host;
  target: Target;
  /**
   * The catalogue of fields, as it was in force.
   */
  fields: CatalogueField[];
  /**
   * What steered the target, in order.
   */
  policies: RunPolicy[];
  /**
   * Moments that somebody marked, by time.
   *
   * @maxItems 256
   */
  marks: RunMark[];
  losses: RunLosses;
  counts: RunCounts;
  /**
   * How the command ended, if the run was made of one.
   */
  outcome: RunOutcome | null;
  /**
   * It was brought from another place.
   */
  imported: boolean;
}
/**
 * A policy that began to steer the target during a run, or did before it.
 */
export interface RunPolicy {
  /**
   * Nanoseconds since attach: the time of the target's frames.
   */
  time_ns: number;
  /**
   * Name of a policy.
   */
  policy: string;
  /**
   * It decides, but does not act.
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
 * A moment that somebody marked; runs can be aligned at it.
 */
export interface RunMark {
  /**
   * Nanoseconds since attach: the time of the target's frames.
   */
  time_ns: number;
  /**
   * What is to be seen there.
   */
  text: string;
}
/**
 * How the command ended that a run was made of.
 */
export interface RunOutcome {
  /**
   * Program and arguments, as started.
   *
   * @maxItems 1024
   *
   * Items: An argument.
   */
  command: string[];
  /**
   * Its exit code; null if a signal ended it.
   */
  exit_code: number | null;
  /**
   * Name of the signal that ended it, such as SIGKILL; null if none did.
   */
  signal: string | null;
  /**
   * From its first instruction to its end, wall time, microseconds.
   */
  elapsed_us: number;
  /**
   * CPU time in user mode, its children that it waited for included, microseconds.
   */
  user_cpu_us: number;
  /**
   * CPU time in the kernel, likewise.
   */
  system_cpu_us: number;
  /**
   * Most memory that was resident at once.
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
   * Context switches because it waited.
   */
  voluntary_switches: number;
  /**
   * Context switches because its time was over.
   */
  involuntary_switches: number;
  /**
   * What it wrote to standard output and standard error.
   */
  output_bytes: number;
  /**
   * The last of that, as text.
   */
  output_tail: string;
}
/**
 * Body of PATCH /api/v1/runs/{id}: what is left out stays.
 */
export interface RunPatch {
  /**
   * What people call it.
   */
  name?: string;
  /**
   * Labels that people gave.
   *
   * @maxItems 32
   *
   * Items: A label that people gave.
   */
  tags?: string[];
  /**
   * Runs of one group are repeats of one another; null: it stands alone.
   */
  group?: string | null;
  /**
   * What people wrote about it.
   */
  notes?: string;
  /**
   * All of them.
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
   * Identity of a run: when it was begun, in UTC, and six random hex digits.
   */
  id: string;
  /**
   * What people call it.
   */
  name: string;
  /**
   * Labels that people gave.
   *
   * @maxItems 32
   *
   * Items: A label that people gave.
   */
  tags: string[];
  /**
   * Runs of one group are repeats of one another; null: it stands alone.
   */
  group: string | null;
  /**
   * What people wrote about it.
   */
  notes: string;
  state: RunState;
  /**
   * Why it ended; null while it is being recorded.
   */
  end: RunEnd | null;
  /**
   * The same in words, with what is missing.
   */
  end_detail: string;
  /**
   * When recording was asked for, Unix microseconds.
   */
  created_unix_us: number;
  /**
   * Wall clock of its first instant, Unix microseconds.
   */
  started_unix_us: number;
  /**
   * From its first instant to its last, nanoseconds.
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
   * Its command line.
   */
  command: string;
  /**
   * Those that steered the target, in order.
   *
   * Items: Name of a policy.
   */
  policies: string[];
  losses: RunLosses;
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
   * It was brought from another place.
   */
  imported: boolean;
}
/**
 * GET /api/v1/runs.
 */
export interface RunsResponse {
  /**
   * The newest first.
   */
  runs: RunSummary[];
  /**
   * Those that can still be restored.
   */
  deleted: RunSummary[];
  /**
   * What lies there and cannot be read.
   */
  damaged: DamagedRun[];
  /**
   * Of all runs together, the deleted ones included.
   */
  bytes: number;
  /**
   * Room on the disk.
   */
  free_bytes: number;
  retention: Retention;
}
/**
 * Body of POST /api/v1/session: trades the printed token for a cookie.
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
}
/**
 * GET /api/v1/targets.
 */
export interface TargetsResponse {
  /**
   * Targets known.
   */
  targets: Target[];
}
