"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from tidscope_wire.message import Message
from pydantic import ConfigDict, Field
from typing import Annotated, Literal
from typing_extensions import TypeAliasType


class AbsentField(Message):
    """
    A field that this target does not have, and why.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    field: str
    """
    Name in the field catalogue.
    """
    reason: str
    """
    Why the kernel does not give it, and what would change that.
    """


AlignKind = TypeAliasType(
    "AlignKind", Annotated[Literal["start", "policy", "mark"], Field(title="AlignKind")]
)
"""
Alignment of runs in time: start: at their first frames; policy: at the first start of a policy; mark: at a mark with the given text.
"""


AuditAction = TypeAliasType(
    "AuditAction",
    Annotated[
        Literal[
            "start",
            "attach",
            "detach",
            "set-rate",
            "set-delay-accounting",
            "sample-stacks",
            "steer",
            "restart-search",
            "release",
            "divide",
            "sign-in",
            "sign-out",
            "end-session",
            "add-secret",
            "rotate-secret",
            "revoke-secret",
            "record",
            "stop",
            "patch",
            "delete",
            "restore",
            "import",
            "cut",
            "import-traces",
            "start-demo",
            "stop-demo",
            "start-experiment",
            "end-experiment",
            "reset-predictions",
        ],
        Field(title="AuditAction"),
    ],
)
"""
Actions that change something, and the start of the process that keeps the log.
"""


AuditOutcome = TypeAliasType(
    "AuditOutcome",
    Annotated[
        Literal["started", "done", "refused", "failed"], Field(title="AuditOutcome")
    ],
)
"""
started: logged before it is done; a second line has the outcome.
"""


AuditDetails = TypeAliasType(
    "AuditDetails", Annotated[dict[str, str], Field(title="AuditDetails")]
)
"""
Details of the request, and the reason of a refusal.
"""


Better = TypeAliasType(
    "Better", Annotated[Literal["more", "less", "neither"], Field(title="Better")]
)
"""
Direction of an improvement.
"""


Unit = TypeAliasType(
    "Unit", Annotated[Literal["ns", "us", "bytes", "count"], Field(title="Unit")]
)
"""
Unit on the wire.
"""


FieldKind = TypeAliasType(
    "FieldKind", Annotated[Literal["counter", "gauge"], Field(title="FieldKind")]
)
"""
A counter only grows while the thread lives; a gauge is a value at an instant.
"""


FieldScope = TypeAliasType(
    "FieldScope", Annotated[Literal["thread", "process"], Field(title="FieldScope")]
)
"""
Whether each thread has one, or the process as a whole.
"""


FieldGroup = TypeAliasType(
    "FieldGroup",
    Annotated[
        Literal[
            "cpu",
            "wait",
            "state",
            "switches",
            "memory",
            "io",
            "disk",
            "network",
            "pool",
        ],
        Field(title="FieldGroup"),
    ],
)
"""
Subject.
"""


class ChartPoint(Message):
    """
    A point of a chart of an experiment.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    x: Annotated[int, Field(ge=0)]
    """
    Place among the values of the x axis.
    """
    at: float | None
    """
    Place on a numeric x axis, which a curve has; null: at x.
    """
    mean: float
    """
    Mean of the repeats.
    """
    low: float | None
    """
    Lower end of the 95 % confidence interval; null: there is none.
    """
    high: float | None
    """
    Upper end.
    """
    values: list[float]
    """
    Each repeat; empty where the point is not a mean of them.
    """


class ChartSeries(Message):
    """
    A line, or bars of one colour.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    In the legend; empty: the only one.
    """
    points: list[ChartPoint]
    """
    Points in ascending order of x.
    """


CheckStatus = TypeAliasType(
    "CheckStatus",
    Annotated[Literal["ok", "limited", "failed"], Field(title="CheckStatus")],
)
"""
ok; limited: works in part, or could not be checked; failed: does not work.
"""


class ClientProof(Message):
    """
    A client's proof that it knows a secret. Body of POST /api/v1/proof/session; in the upgrade request of a collector as base64 in the Authorization header of scheme Tidscope-Proof.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    subject: Annotated[
        str,
        Field(
            pattern="^(operator|viewer|collector:[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?)$"
        ),
    ]
    """
    Owner of the secret: operator, viewer, or collector:NAME.
    """
    client_nonce: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """
    32 random bytes of the client, hexadecimal.
    """
    backend_nonce: Annotated[str, Field(pattern="^[0-9a-f]{80}$")]
    """
    Nonce of the backend, hexadecimal; good for one proof within 10 s.
    """
    port: Annotated[int | None, Field(ge=1, le=65535)]
    """
    Port that the client has dialled; null where TLS says whom it has reached.
    """
    proof: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """
    HMAC-SHA256, hexadecimal.
    """


class CollectorFrames(Message):
    """
    Collector to backend, first message of the data connection.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["collector_frames"] = "collector_frames"
    protocol: Annotated[int, Field(ge=0)]
    """
    Version of this protocol.
    """
    host: Annotated[str, Field(max_length=256)]
    """
    Host id of the control connection.
    """
    ticket: Annotated[str, Field(pattern="^[0-9a-f]{32}$")]
    """
    Ticket in the welcome of the control connection.
    """


LastAdditionalProperty = TypeAliasType(
    "LastAdditionalProperty", Annotated[int, Field(ge=0)]
)


class CollectorGoodbye(Message):
    """
    The collector ends because it was asked to: a connection that breaks without this is an outage. It has made the last frames of its targets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["collector_goodbye"] = "collector_goodbye"
    last: Annotated[dict[str, LastAdditionalProperty], Field(max_length=64)] = {}
    """
    Number of the last frame by target; that frame has everything up to the end of sampling.
    """


class CollectorHealth(Message):
    """
    The collector's own measurements, cumulative since it started unless noted. Of this sample are sample_us and late_us; the rest is at most a second old, and what tells of rates and losses is current.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    sample_us: Annotated[int, Field(ge=0)]
    """
    Wall time of this sample, microseconds.
    """
    sample_mean_us: Annotated[int, Field(ge=0)]
    """
    Mean wall time of this target's samples over the last five to ten seconds, microseconds.
    """
    sample_max_us: Annotated[int, Field(ge=0)]
    """
    Longest of those samples, microseconds.
    """
    late_us: Annotated[int, Field(ge=0)]
    """
    How long after its deadline this sample started, microseconds.
    """
    missed_deadlines: Annotated[int, Field(ge=0)]
    """
    Missed deadlines of this target since attach.
    """
    effective_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Effective sampling rate of this target.
    """
    requested_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Requested sampling rate; above effective_hz when the CPU budget is spent or frames cannot be sent as fast as they are made.
    """
    exit_records_received: Annotated[int, Field(ge=0)]
    """
    Exit records received; from Linux 5.19 on those of attached processes only.
    """
    exit_records_lost: Annotated[int, Field(ge=0)]
    """
    Exit records lost, exact; of those that exit_records_received counts.
    """
    cpu_percent: float | None
    """
    CPU of the collector process over the last second, 100 = one core.
    """
    overhead_percent: Annotated[float | None, Field(ge=0.0)]
    """
    CPU spent sampling and sending, all targets together, and that of the eBPF program that keeps ledgers, estimated by the switches of their threads: what the budget limits. The rest of cpu_percent answers requests, such as listing processes; the eBPF program's part is not in cpu_percent.
    """
    budget_percent: Annotated[float, Field(ge=0.0)]
    """
    CPU budget for sampling and sending, 100 = one core; above it sampling rates are lowered. 0 = no limit.
    """
    replay_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of the frames that are kept: those that the backend has not received, and delivered ones for a backend that starts later.
    """
    replay_frames: Annotated[int, Field(ge=0)]
    """
    Frames held for replay.
    """
    unsent_frames: Annotated[int, Field(ge=0)]
    """
    Frames kept that have not been sent yet.
    """
    sent_frames: Annotated[int, Field(ge=0)]
    """
    Frames sent, replayed ones included.
    """
    sent_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of messages and frames sent to the backend.
    """
    slowed_by_backlog: bool = False
    """
    Whether effective_hz is below requested_hz because frames wait that the backend has not received, and not because the CPU budget is spent.
    """
    undelivered_bytes: Annotated[int, Field(ge=0)] = 0
    """
    Bytes of the frames that the backend has not confirmed with FramesReceived.
    """
    frames_dropped: Annotated[int, Field(ge=0)] = 0
    """
    Frames of this target that the collector dropped before the backend received them, since attach.
    """
    exits_without_event: Annotated[int, Field(ge=0)] = 0
    """
    Threads of this target, since attach, that exited and are counted in `exited` and `roles` but have no ThreadExited event, because more exits were waiting than the collector keeps one by one.
    """
    network_calls_uncounted: Annotated[int, Field(ge=0)] = 0
    """
    Socket calls of attached processes that the eBPF program could not count because all its slots were in use, host-wide.
    """
    counters_disagreement: str | None = None
    """
    First disagreement of a walk and taskstats: thread, field and values. Since then counters are read by genetlink. Null: they never disagreed.
    """
    locks_reason: str | None = None
    """
    Why locks of the target cannot be read or named, in words. Null: they can, or there are none.
    """
    ledger_threads_uncounted: Annotated[int, Field(ge=0)] = 0
    """
    Threads of attached processes that have no ledger because all slots of the eBPF program were in use, host-wide.
    """


AttachedItem = TypeAliasType("AttachedItem", Annotated[str, Field(max_length=256)])


SteeredItem = TypeAliasType("SteeredItem", Annotated[str, Field(max_length=256)])


FailedItem = TypeAliasType("FailedItem", Annotated[str, Field(max_length=1024)])


Lease = TypeAliasType("Lease", Annotated[str, Field(max_length=256)])


ResumeAdditionalProperty = TypeAliasType(
    "ResumeAdditionalProperty", Annotated[int, Field(ge=0)]
)


class CollectorWelcome(Message):
    """
    Backend to collector, answer to the first message of a connection.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["collector_welcome"] = "collector_welcome"
    protocol: Annotated[int, Field(ge=0)]
    """
    Version of this protocol.
    """
    resume: dict[str, ResumeAdditionalProperty]
    """
    On the data connection: target id to the last seq that the backend has; replay starts after it. Other targets are replayed from the oldest kept frame. Empty on the control connection.
    """
    frames: Annotated[str | None, Field(pattern="^[0-9a-f]{32}$")] = None
    """
    On the control connection: ticket of its data connection. null on the data connection.
    """


CompareBasis = TypeAliasType(
    "CompareBasis", Annotated[Literal["rates", "totals"], Field(title="CompareBasis")]
)
"""
Form in which counters are compared: rates: mean rates over each run, which do not depend on its length; totals: over the whole run.
"""


CompareSplit = TypeAliasType(
    "CompareSplit", Annotated[Literal["none", "process"], Field(title="CompareSplit")]
)
"""
Meaning of a role in a comparison: none: all threads of its name, whichever process they are of. process: those in processes of one name; it is called "PROCESS → ROLE".
"""


Run = TypeAliasType(
    "Run",
    Annotated[
        str,
        Field(
            pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(@[0-9]{1,7}(\\.[0-9]{1,3})?-[0-9]{1,7}(\\.[0-9]{1,3})?)?$"
        ),
    ],
)
"""
Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
"""


class ComparedGroup(Message):
    """
    Runs that are repeats of one another, or a single run or window.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    label: str
    """
    Name of the group.
    """
    runs: list[Run]
    """
    Runs of the group.
    """


class ComparedSeries(Message):
    """
    A curve of one run.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[
        str,
        Field(
            pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(@[0-9]{1,7}(\\.[0-9]{1,3})?-[0-9]{1,7}(\\.[0-9]{1,3})?)?$"
        ),
    ]
    """
    Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
    """
    metric: str
    """
    Name of a metric.
    """
    role: str | None
    """
    Label of the matched role; null: the whole process.
    """
    time_s: list[float]
    """
    Times.
    """
    value: list[float | None]
    """
    One value per time.
    """


class ConnectionsHealth(Message):
    """
    TCP connections of the backend: now, and since it started.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    open: Annotated[int, Field(ge=0)]
    """
    Open now.
    """
    authenticated: Annotated[int, Field(ge=0)]
    """
    Open connections that have shown a credential.
    """
    evicted: Annotated[int, Field(ge=0)]
    """
    Ended without a credential, to make room for others.
    """
    refused: Annotated[int, Field(ge=0)]
    """
    Not accepted, because there was no room.
    """
    timed_out: Annotated[int, Field(ge=0)]
    """
    Ended because the peer took too long.
    """
    descriptor_shortages: Annotated[int, Field(ge=0)]
    """
    Times that none was accepted for want of a file descriptor.
    """


class CoreDivision(Message):
    """
    Cores that the arbiter gives a program of those that it divides, and why.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    share: Annotated[float, Field(ge=0.01, le=1000.0)]
    """
    Weight of its throughput, compared with the other programs.
    """
    floor: Annotated[int, Field(ge=0, le=4096)]
    """
    Cores that it has at least; 0: its smallest size.
    """
    priority: Annotated[int, Field(ge=-100, le=100)]
    """
    Programs of a higher one get what they can use before others get more than their floors.
    """
    cores: Annotated[int, Field(ge=0, le=1048576)]
    """
    Cores that it has now; 0 while it does not answer.
    """
    total: Annotated[int, Field(ge=0, le=1048576)]
    """
    Cores that are divided.
    """
    programs: Annotated[int, Field(ge=0, le=65536)]
    """
    Programs among which they are divided.
    """
    state: Literal["settled", "trying", "idle", "absent"]
    """
    settled; trying: another division is tried; idle: no progress, it has its smallest size; absent: it does not answer.
    """
    cause: Literal["members", "try", "estimate"]
    """
    Cause of the last change of its cores: members (one joined, left, stopped or went on), a try, or an estimate.
    """
    reason: Annotated[str, Field(max_length=1024)]
    """
    Why it has so many, one sentence.
    """
    changed_unix_us: Annotated[int, Field(ge=0)]
    """
    When the number of its cores changed last, Unix microseconds.
    """
    more_percent: float | None
    """
    Throughput that one core more is expected to bring, percent; null: it can have none.
    """
    less_percent: float | None
    """
    Throughput that one core less is expected to cost, percent; null: it can have none.
    """


CountersSource = TypeAliasType(
    "CountersSource",
    Annotated[Literal["genetlink", "walk", "procfs"], Field(title="CountersSource")],
)
"""
How the counters of living threads are read: one genetlink request a thread, one walk of the kernel over all threads (eBPF), or files in /proc.
"""


class CountersSourceChanged(Message):
    """
    From this frame on the counters of living threads are read another way. They mean the same.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["counters_source_changed"] = "counters_source_changed"
    source: CountersSource
    previous: CountersSource
    reason: str
    """
    Why, in one sentence.
    """
    disagreed: bool
    """
    The two ways disagreed: reason names the field and its values. False: one has become cheaper than the other.
    """


class CpuAllowance(Message):
    """
    How much CPU a program may use.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    cpus: Annotated[int, Field(ge=0)]
    """
    CPUs of its affinity.
    """
    limit_cores: Annotated[float | None, Field(ge=0.0)]
    """
    Cores that it may use on average: the tightest cpu.max of its control group and those above; null: no limit.
    """
    limit_group: Annotated[str | None, Field(max_length=4096)]
    """
    The control group that has this limit.
    """
    weight: Annotated[int | None, Field(ge=0)]
    """
    cpu.weight of its control group, 100 by default; null: not known.
    """
    request_cores: Annotated[float | None, Field(ge=0.0)]
    """
    Cores that its pod asked for, as the weight says; null outside of Kubernetes.
    """
    periods: Annotated[int | None, Field(ge=0)]
    """
    Periods of the limit so far in which the group ran; null without a limit.
    """
    throttled: Annotated[int | None, Field(ge=0)]
    """
    How many of them ended throttled.
    """


class CutRingReply(Message):
    """
    Answer to a CutRingCommand: the archive can be read for ten minutes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["cut_ring_reply"] = "cut_ring_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    cut: Annotated[str, Field(pattern="^c-[0-9a-f]{16}$")]
    """
    Identity of the cut on its host.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of the archive.
    """


TrendDirection = TypeAliasType(
    "TrendDirection",
    Annotated[Literal["up", "down", "none"], Field(title="TrendDirection")],
)
"""
up or down: a trend at the 5 % level, corrected for the number of series in the report.
"""


class DailyTrend(Message):
    """
    Change of a figure from one day to the next.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    slope: float
    """
    Median of the slopes between any two days.
    """
    low: float
    """
    Lower end of its 95 % confidence interval.
    """
    high: float
    """
    Upper end of it.
    """
    p: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Probability of such an order of days without a trend, not corrected.
    """


class DamagedRun(Message):
    """
    A folder in the runs directory that cannot be read.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    folder: str
    """
    Name of the folder.
    """
    reason: str
    """
    Reason why the folder is no readable run.
    """


class DeadlinesMissed(Message):
    """
    Samples were skipped because their deadline had passed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["deadlines_missed"] = "deadlines_missed"
    count: Annotated[int, Field(ge=1)]
    """
    Number since the previous frame.
    """


BuildId = TypeAliasType(
    "BuildId", Annotated[str, Field(pattern="^([0-9a-f]{2}){2,64}$")]
)


class DebugFilesCommand(Message):
    """
    Debug files with these build IDs have been put into the folder that the collector was started with: ask again for names of frames. Answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["debug_files_command"] = "debug_files_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    build_ids: Annotated[list[BuildId], Field(max_length=256)]
    """
    Build IDs, hexadecimal.
    """


class DelayAccountingRequest(Message):
    """
    Body of PUT /api/v1/doctor/delay-accounting.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    on: bool
    """
    New value of kernel.task_delayacct. It affects only threads started afterwards.
    """


ParentItem = TypeAliasType("ParentItem", Annotated[int, Field(ge=-1)])
"""
Row; -1: a root.
"""


BaseInclusiveN = TypeAliasType("BaseInclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds for each trace.
"""


OtherInclusiveN = TypeAliasType("OtherInclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds for each trace.
"""


BaseExclusiveN = TypeAliasType("BaseExclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds for each trace.
"""


OtherExclusiveN = TypeAliasType("OtherExclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds for each trace.
"""


Exemplar = TypeAliasType(
    "Exemplar", Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
)
"""
32 hex digits, or text of another form.
"""


class DoctorCheck(Message):
    """
    The result of one check.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Stable id, such as taskstats-layout.
    """
    title: str
    """
    Subject of the check.
    """
    status: CheckStatus
    finding: str
    """
    Result, with values.
    """
    impact: str
    """
    Features that do not work as a result; empty if none.
    """
    fix: str
    """
    The command or setting that fixes it; empty if none is needed or known.
    """
    enabled: bool | None = None
    """
    State of the kernel switch behind it, if tidscope can set that switch; null or omitted otherwise.
    """


class DoctorCommand(Message):
    """
    Check the host's capabilities.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["doctor_command"] = "doctor_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """


class DoctorReport(Message):
    """
    Measurements that tidscope can make on this host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: str
    """
    Host name.
    """
    kernel: str
    """
    Kernel release.
    """
    checked_unix_ms: Annotated[int, Field(ge=0)]
    """
    When it was checked.
    """
    status: CheckStatus
    checks: list[DoctorCheck]
    """
    Most important first.
    """


EnergyKind = TypeAliasType(
    "EnergyKind",
    Annotated[
        Literal["package", "core", "uncore", "dram", "psys", "other"],
        Field(title="EnergyKind"),
    ],
)
"""
core and uncore are parts of their package; dram is separate from it; psys is the whole platform, packages included.
"""


class EnergyDomain(Message):
    """
    A part of the machine that has an energy counter (RAPL).
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    zone: str
    """
    Name of the zone in /sys/class/powercap, such as intel-rapl:0:1.
    """
    name: str
    """
    The kernel's name for it, prefixed with its package where it is part of one: package-0, package-0/dram, psys.
    """
    kind: Annotated[EnergyKind, Field(title="EnergyKind")]
    """
    core and uncore are parts of their package; dram is separate from it; psys is the whole platform, packages included.
    """
    summed: bool
    """
    Whether it counts towards package_uj. Parts, platforms and duplicate views of a package do not.
    """


class EnergySource(Message):
    """
    Source of the machine's energy.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    domains: list[EnergyDomain]
    """
    In the order of the counters in frames; empty without energy.
    """
    reason: str
    """
    Source of the energy, or why it is unavailable.
    """


class ExitRecordsLost(Message):
    """
    The kernel dropped exit records because the collector's socket buffer was full.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["exit_records_lost"] = "exit_records_lost"
    count: Annotated[int, Field(ge=1)]
    """
    Exact number, host-wide, as counted by the kernel on the per-CPU sockets.
    """


TotalsAdditionalProperty = TypeAliasType(
    "TotalsAdditionalProperty", Annotated[int, Field(ge=0)]
)


class ExitedTotals(Message):
    """
    Totals of the exited threads since attach.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    threads: Annotated[int, Field(ge=0)]
    """
    Number of exited threads.
    """
    inexact: Annotated[int, Field(ge=0)]
    """
    How many of them lack an exit record; for these the last sample counts.
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its last cumulative value, in the field's unit. Unavailable fields are omitted.
    """


CellStanding = TypeAliasType(
    "CellStanding",
    Annotated[
        Literal["open", "steady", "maximum", "failed"], Field(title="CellStanding")
    ],
)
"""
open: more repeats follow. steady: the standard deviation of the repeats is within the bound. maximum: it is not, after the largest number of repeats. failed: repeats failed too often.
"""


Run1 = TypeAliasType(
    "Run1", Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
)
"""
Run id.
"""


ChartKind = TypeAliasType(
    "ChartKind",
    Annotated[Literal["lines", "bars", "curve", "stacked"], Field(title="ChartKind")],
)
"""
lines: x is a scale of sizes or targets. bars: x has names. curve: points stand at their `at`, and x has what was asked for there. stacked: shares of a whole, one above the other.
"""


class ExperimentChart(Message):
    """
    A chart of an experiment.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """
    Short name, unique within the experiment.
    """
    title: str
    """
    Title.
    """
    kind: Annotated[ChartKind, Field(title="ChartKind")]
    """
    lines: x is a scale of sizes or targets. bars: x has names. curve: points stand at their `at`, and x has what was asked for there. stacked: shares of a whole, one above the other.
    """
    x_label: str
    """
    Meaning of x.
    """
    x: list[str]
    """
    Values of the x axis, in order.
    """
    y_label: str
    """
    Meaning of y.
    """
    unit: str
    """
    Unit of y; empty: it has none.
    """
    reference: float | None
    """
    Place of a reference line for no difference or an ideal; null: no line.
    """
    series: list[ChartSeries]
    """
    Lines, or bars of one colour.
    """
    note: str
    """
    Hint for readers; empty if none.
    """


ExperimentPreset = TypeAliasType(
    "ExperimentPreset",
    Annotated[Literal["full", "short", "quick"], Field(title="ExperimentPreset")],
)
"""
How much of a file is carried out. short: fewer and shorter repeats than those of the file. quick: numbers do not stand.
"""


ExperimentState = TypeAliasType(
    "ExperimentState",
    Annotated[
        Literal["running", "complete", "interrupted"], Field(title="ExperimentState")
    ],
)
"""
running: a process carries it out. complete: nothing is left to do. interrupted: it can be resumed.
"""


class ExperimentSummary(Message):
    """
    An experiment in the list, and how far it is.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^x-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Start time in UTC and six random hex digits.
    """
    name: str
    """
    Short name, of its file.
    """
    title: str
    """
    Title, of its file.
    """
    preset: ExperimentPreset
    state: Annotated[ExperimentState, Field(title="ExperimentState")]
    """
    running: a process carries it out. complete: nothing is left to do. interrupted: it can be resumed.
    """
    started_unix_us: int
    """
    When it was begun, Unix microseconds.
    """
    workloads: list[str]
    """
    The programs that run at the same time.
    """
    cells: Annotated[int, Field(ge=0)]
    """
    Combinations of the matrix.
    """
    cells_done: Annotated[int, Field(ge=0)]
    """
    Cells that need no more repeats.
    """
    repeats: Annotated[int, Field(ge=0)]
    """
    Repeats that are done.
    """
    least_left: Annotated[int, Field(ge=0)]
    """
    Repeats that are left, at least.
    """
    most_left: Annotated[int, Field(ge=0)]
    """
    Repeats that are left, at most.
    """
    left_s: float | None
    """
    Seconds that are left if each open cell needs no more than the least number of repeats; null: not known, or it does not run.
    """
    cell: str | None
    """
    Cell whose repeat runs; null: none does.
    """
    targets: list[str]
    """
    Targets of that repeat, which can be watched.
    """


VerdictDirection = TypeAliasType(
    "VerdictDirection",
    Annotated[Literal["less", "more"], Field(title="VerdictDirection")],
)
"""
Direction of an improvement.
"""


VariantVerdict = TypeAliasType(
    "VariantVerdict",
    Annotated[
        Literal["better", "worse", "same", "undecided", "open"],
        Field(title="VariantVerdict"),
    ],
)
"""
better, worse: the interval excludes 0. same: it lies within the margin. undecided: neither, and the time is up or runs failed. open: it is being measured.
"""


class ExperimentVerdict(Message):
    """
    Whether a variant is better than the first one.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    cell: str
    """
    Key of the variant's cell.
    """
    variant: str
    """
    Name of the variant.
    """
    baseline: str
    """
    Name of the first variant.
    """
    figure: str
    """
    Name of the figure that decides.
    """
    label: str
    """
    The figure in words.
    """
    unit: str
    """
    Unit of the figure; empty: it has none.
    """
    better: Annotated[VerdictDirection, Field(title="VerdictDirection")]
    """
    Direction of an improvement.
    """
    verdict: Annotated[VariantVerdict, Field(title="VariantVerdict")]
    """
    better, worse: the interval excludes 0. same: it lies within the margin. undecided: neither, and the time is up or runs failed. open: it is being measured.
    """
    difference_percent: float | None
    """
    Difference of the figure from the first variant's, in percent of that; null: unknown.
    """
    interval: Annotated[list[float] | None, Field(max_length=2, min_length=2)]
    """
    Lower and upper end of the 95 % interval of the difference, in percent, which holds whenever the experiment stops; null: fewer than four pairs, or unknown.
    """
    margin_percent: float
    """
    Greatest difference of variants that count as the same.
    """
    pairs: Annotated[int, Field(ge=0)]
    """
    Rounds in which both have the figure.
    """
    reason: str
    """
    Why it is undecided or open; empty for the other verdicts.
    """
    text: str
    """
    The verdict in words, for people.
    """


IntervalMethod = TypeAliasType(
    "IntervalMethod",
    Annotated[
        Literal["welch", "paired", "slices", "none"], Field(title="IntervalMethod")
    ],
)
"""
How the interval was computed: Welch's t-test, which allows unequal variances; paired: Student's t of the differences of values that belong together; slices: Welch's t of how each of two windows varied within itself; none: there is no interval.
"""


Verdict = TypeAliasType(
    "Verdict",
    Annotated[
        Literal["better", "worse", "more", "less", "equal", "unclear", "unknown"],
        Field(title="Verdict"),
    ],
)
"""
How the group did against the baseline. better, worse: where one way is an improvement, else more, less; unclear: the interval includes 0, or the measurement does not allow a verdict; unknown: a mean is missing.
"""


class FigureDifference(Message):
    """
    A group compared with the baseline.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    absolute: float | None
    """
    Difference of the means, this group's minus the baseline's; null if either is unknown.
    """
    percent: float | None
    """
    The difference in percent of the baseline's mean; null if that is 0 or unknown.
    """
    low: float | None
    """
    Lower end of the 95 % confidence interval of the difference; null if a group has fewer than two runs, and is no window.
    """
    high: float | None
    """
    Upper end of that interval.
    """
    method: Annotated[IntervalMethod, Field(title="IntervalMethod")]
    """
    How the interval was computed: Welch's t-test, which allows unequal variances; paired: Student's t of the differences of values that belong together; slices: Welch's t of how each of two windows varied within itself; none: there is no interval.
    """
    verdict: Annotated[Verdict, Field(title="Verdict")]
    """
    How the group did against the baseline. better, worse: where one way is an improvement, else more, less; unclear: the interval includes 0, or the measurement does not allow a verdict; unknown: a mean is missing.
    """
    caveat: str | None
    """
    Reservation about the verdict, in one sentence; null if none.
    """


FirstItem = TypeAliasType("FirstItem", Annotated[str, Field(max_length=256)])
"""
Host name.
"""


OtherItem = TypeAliasType("OtherItem", Annotated[str, Field(max_length=256)])
"""
Host name.
"""


class FleetCurve(Message):
    """
    A counter of a role on one host over time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: Annotated[str, Field(max_length=64)]
    """
    Identity of a host.
    """
    values: list[float | None]
    """
    Value by step.
    """


class FleetFigure(Message):
    """
    A counter of one set of hosts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    n: Annotated[int, Field(ge=0)]
    """
    Hosts that have a value.
    """
    mean: float | None
    """
    Mean of the hosts; null without any.
    """
    low: float | None
    """
    Lower end of the 95 % confidence interval of the mean; null with fewer than two hosts.
    """
    high: float | None
    """
    Upper end of that interval.
    """


LabelsAdditionalProperty = TypeAliasType(
    "LabelsAdditionalProperty", Annotated[str, Field(max_length=128)]
)


State = TypeAliasType("State", Annotated[float, Field(ge=0.0)])
"""
Threads.
"""


Role1 = TypeAliasType("Role1", Annotated[int, Field(ge=0)])
"""
Place, from 0.
"""


class FleetHost(Message):
    """
    What a host did in a window.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: Annotated[str, Field(max_length=64)]
    """
    Identity of a host, as in Host; a reboot makes another host.
    """
    name: Annotated[str, Field(max_length=256)]
    """
    Host name.
    """
    labels: dict[str, LabelsAdditionalProperty]
    """
    Labels of the host: what it and its operators know of it.
    """
    connected: bool
    """
    Whether its collector is connected to this backend.
    """
    targets: list[str]
    """
    Attached targets of the host, if it is connected.
    """
    threads: Annotated[float, Field(ge=0.0)]
    """
    Live threads of its targets, on average.
    """
    states: Annotated[list[State], Field(max_length=5)]
    """
    Threads on average that were running, waiting for a CPU, blocked, idle, and in a state that is not known, in this order; empty without rows.
    """
    cores: list[float | None]
    """
    CPU cores used, by step.
    """
    roles: list[Role1]
    """
    Its roles, as places in the answer's roles.
    """


class FleetMetric(Message):
    """
    A counter of two sets of hosts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    counter: str
    """
    Name of a counter in the field catalogue.
    """
    label: str
    """
    Display name.
    """
    unit: str
    """
    Unit of a value: that of the counter per second.
    """
    first: FleetFigure
    other: FleetFigure
    difference: FigureDifference


class FleetRole(Message):
    """
    A role of a program.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    program: Annotated[str, Field(max_length=256)]
    """
    Name of the process.
    """
    role: str | None
    """
    Thread name without its number; null: all roles beyond the first 63.
    """
    hosts: Annotated[int, Field(ge=0)]
    """
    Hosts that have it.
    """


class FleetValue(Message):
    """
    A counter of a role on one host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: Annotated[str, Field(max_length=64)]
    """
    Identity of a host, as in Host; a reboot makes another host.
    """
    name: Annotated[str, Field(max_length=256)]
    """
    Host name.
    """
    labels: dict[str, LabelsAdditionalProperty]
    """
    Labels of the host: what it and its operators know of it.
    """
    value: float
    """
    Mean rate over the host's rows in the window, summed over its threads of the role.
    """
    threads: Annotated[float, Field(ge=0.0)]
    """
    Live threads of the role, on average.
    """


class FlushCommand(Message):
    """
    Take what the kernel has of a target now, sample it once more with all tables, and send it; answered with a FlushReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["flush_command"] = "flush_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class FlushReply(Message):
    """
    Answer to a FlushCommand: which frame has everything up to the command.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["flush_reply"] = "flush_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    seq: Annotated[int, Field(ge=0)]
    """
    Number of the newest frame of the target; 0: it has none. The target is whole up to this frame.
    """
    exited: Annotated[int | None, Field(ge=0)]
    """
    Threads of the target that have exited since attach, up to that frame; null: the target has ended.
    """


class FrameAck(Message):
    """
    Page to backend: how many frames of this connection have been processed. The backend keeps at most a second's worth of unacknowledged frames in flight to such a client and coalesces the rest. Acknowledging 0 turns flow control on; a client that never acknowledges receives frames as they come.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["frame_ack"] = "frame_ack"
    frames: Annotated[int, Field(ge=0)]
    """
    Frames processed since the connection started, of all targets.
    """


FrameKind = TypeAliasType(
    "FrameKind", Annotated[Literal["key", "delta"], Field(title="FrameKind")]
)


FieldModel = TypeAliasType(
    "FieldModel", Annotated[str, Field(max_length=64, min_length=1)]
)


Column = TypeAliasType("Column", Annotated[int, Field(ge=0, le=255)])


TableName = TypeAliasType(
    "TableName",
    Annotated[
        Literal[
            "stays",
            "wakes",
            "locks",
            "holders",
            "lock_names",
            "takers",
            "parties",
            "calls",
            "call_stays",
            "inexact",
            "processes",
            "pools",
            "pool_times",
            "goroutines",
            "goroutine_stacks",
            "accept_queues",
            "peers",
            "file_locks",
            "devices",
            "stack_frames",
            "stack_nodes",
            "stack_samples",
            "stack_periods",
            "stack_counts",
        ],
        Field(title="TableName"),
    ],
)
"""
Name of the table; frame_tables.json has its columns.
"""


class FrameTable(Message):
    """
    A table that a frame carries behind its rows: facts with other keys than threads.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[TableName, Field(title="TableName")]
    """
    Name of the table; frame_tables.json has its columns.
    """
    rows: Annotated[int, Field(ge=0, le=65536)]
    """
    Rows of the table.
    """
    bytes: Annotated[int, Field(ge=8, le=67108864)]
    """
    Length of its Arrow stream, a multiple of 8.
    """
    omitted: Annotated[int, Field(ge=0)] = 0
    """
    Rows that the target has and that no frame carries, because the table has a bound (MAX_TABLE_ROWS): those with the smallest figures.
    """
    read_ns: Annotated[int | None, Field(ge=0)] = None
    """
    When the rows were read, nanoseconds since attach: a key frame repeats what was read before it. null: in frames of older versions; then at the frame's time.
    """


class FramesLost(Message):
    """
    Frames that cannot be replayed because the collector's bounded replay buffer no longer has them.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["frames_lost"] = "frames_lost"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    from_seq: Annotated[int, Field(ge=1)]
    """
    Number of the frame in its target's stream, contiguous from 1.
    """
    to_seq: Annotated[int, Field(ge=1)]
    """
    Number of the frame in its target's stream, contiguous from 1.
    """
    reason: str
    """
    Exceeded bound.
    """


TargetsAdditionalProperty = TypeAliasType(
    "TargetsAdditionalProperty", Annotated[int, Field(ge=0)]
)


class FramesReceived(Message):
    """
    The backend has taken in the frames up to these. Sent at most a few times a second while frames come. The collector keeps what is not confirmed before what is.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["frames_received"] = "frames_received"
    targets: dict[str, TargetsAdditionalProperty]
    """
    Target id to the last seq that the backend has.
    """


Target1 = TypeAliasType(
    "Target1", Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
)


RecordedItem = TypeAliasType(
    "RecordedItem", Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
)


class FramesWatched(Message):
    """
    Targets whose frames somebody waits for, on the data connection: sent after the welcome, and when it changes. Frames of other targets may come half a second late, several at a time. The targets need not be known.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["frames_watched"] = "frames_watched"
    targets: list[Target1]
    recorded: list[RecordedItem] = []
    """
    Targets whose frames are kept although nobody may wait for them: over NATS they travel, and nothing else changes.
    """


class Gap(Message):
    """
    Frames were lost between collector and backend, or backend and page.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["gap"] = "gap"
    from_seq: Annotated[int, Field(ge=1)]
    """
    Number of the frame in its target's stream, contiguous from 1.
    """
    to_seq: Annotated[int, Field(ge=1)]
    """
    Number of the frame in its target's stream, contiguous from 1.
    """
    reason: str
    """
    Exceeded bound.
    """


class GomaxprocsChanged(Message):
    """
    A Go program's GOMAXPROCS changed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["gomaxprocs_changed"] = "gomaxprocs_changed"
    size: Annotated[int, Field(ge=1)]
    """
    Current value.
    """
    previous: Annotated[int, Field(ge=1)]
    """
    Previous value.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a group: process in which it happened; null: the target is one process.
    """


GroupDiscovery = TypeAliasType(
    "GroupDiscovery",
    Annotated[Literal["ebpf", "polling"], Field(title="GroupDiscovery")],
)
"""
How processes are found that join it: ebpf: the kernel reports each fork, exec and exit. polling: lists are read with each sample, so a process that lives only between two of them may be missed.
"""


CpuAccount = TypeAliasType(
    "CpuAccount",
    Annotated[
        Literal["cpu.stat", "cpuacct.usage", "rusage"], Field(title="CpuAccount")
    ],
)
"""
Account of CPU time: of the control group (version 2, 1), or of each process and the children that it waited for (getrusage(2)).
"""


IoAccount = TypeAliasType(
    "IoAccount",
    Annotated[
        Literal["io.stat", "blkio.throttle.io_service_bytes_recursive"] | None,
        Field(title="IoAccount"),
    ],
)
"""
Account of bytes from and to block devices; null: there is none.
"""


class GroupCheck(Message):
    """
    Sums of a group's threads, ended ones included, beside another account of the kernel. Both count from the first sample on, and are read right after each other about once a second.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    cpu_by: Annotated[CpuAccount, Field(title="CpuAccount")]
    """
    Account of CPU time: of the control group (version 2, 1), or of each process and the children that it waited for (getrusage(2)).
    """
    threads_cpu_ns: Annotated[int, Field(ge=0)]
    """
    CPU time of the threads, nanoseconds.
    """
    kernel_cpu_ns: Annotated[int, Field(ge=0)]
    """
    CPU time by the account, nanoseconds.
    """
    io_by: Annotated[IoAccount, Field(title="IoAccount")]
    """
    Account of bytes from and to block devices; null: there is none.
    """
    threads_read_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes that the threads had read from block devices; null without an account.
    """
    kernel_read_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes read by the account, over all devices.
    """
    threads_write_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes that the threads had written to block devices, or to pages that are written later; null without an account.
    """
    kernel_write_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes written by the account; version 1 counts pages that are written later for no group.
    """


class GroupCounts(Message):
    """
    How many processes a group has and had.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    live: Annotated[int, Field(ge=0)]
    """
    Processes in it now.
    """
    started: Annotated[int, Field(ge=0)]
    """
    Processes that joined it since attach, those that were in it at attach not counted.
    """
    ended: Annotated[int, Field(ge=0)]
    """
    Processes that ended or left it since attach.
    """
    unseen: Annotated[int, Field(ge=0)]
    """
    Ended ones that no sample saw alive; their totals come from exit records.
    """
    missed: Annotated[int | None, Field(ge=0)]
    """
    Processes that may have been missed; null: it cannot be known.
    """
    check: GroupCheck | None = None
    """
    Sums of the group's threads beside the kernel's own account; null if there is no such account, or none yet.
    """


class GroupFigure(Message):
    """
    A metric of one group.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    values: list[float | None]
    """
    One value per run, in the order of the group's runs.
    """
    n: Annotated[int, Field(ge=0)]
    """
    Number of runs that have a value.
    """
    mean: float | None
    """
    Mean of the values; null without any.
    """
    std_dev: float | None
    """
    Sample standard deviation; null with fewer than two values.
    """
    low: float | None
    """
    Lower end of the 95 % confidence interval of the mean (Student's t); null with fewer than two values, unless it is a window that was cut into slices.
    """
    high: float | None
    """
    Upper end of that interval.
    """


GroupKind = TypeAliasType(
    "GroupKind",
    Annotated[
        Literal["tree", "cgroup", "unit", "container", "pod", "match"],
        Field(title="GroupKind"),
    ],
)
"""
Kind of group: tree: a process and all its descendants. cgroup: all in a cgroup and those below it. unit: those of a systemd unit. container: those of a container. pod: those of a Kubernetes pod. match: all that fit a match expression.
"""


class GroupLimits(Message):
    """
    Limits of memory and disk of a process' control group and those above it. Members are null where there is no such limit.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    memory_bytes: Annotated[int | None, Field(ge=0)]
    """
    Smallest memory limit (memory.max, memory.high), bytes.
    """
    memory_hits: Annotated[int | None, Field(ge=0)]
    """
    How often memory was reclaimed, or a process had to wait, at a memory limit, since attach.
    """
    disk_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes a second of the disk limit (io.max) that is nearest to being used up, if it is one of bytes.
    """
    disk_ios: Annotated[int | None, Field(ge=0)]
    """
    Operations a second of that limit, if it is one of operations.
    """
    reads_limited_us: Annotated[int | None, Field(ge=0)]
    """
    Time since attach in which at least 90 % of a limit of reads was used, microseconds; null without a disk limit.
    """
    writes_limited_us: Annotated[int | None, Field(ge=0)]
    """
    Time since attach in which at least 90 % of a limit of writes was used, microseconds; null without a disk limit.
    """


class GroupSelector(Message):
    """
    Selector of a group of processes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: GroupKind
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a tree: process ID of its root; null for other kinds.
    """
    start_ticks: Annotated[int | None, Field(ge=0)] = None
    """
    For a tree: start time of its root in clock ticks since boot, so that another process with its ID is refused.
    """
    value: Annotated[str | None, Field(max_length=1024, min_length=1)] = None
    """
    cgroup: its path below the cgroup mount. unit: its name, such as postgresql.service. container: its name or id, or the first 12 digits of its id. match: terms joined by blanks, all of which must hold: name:GLOB, user:NAME, port:NUMBER, command:TEXT; a bare word is command:. null for a tree.
    """


HealthStatus = TypeAliasType(
    "HealthStatus", Annotated[Literal["ok", "degraded"], Field(title="HealthStatus")]
)
"""
degraded: no collector is connected.
"""


class HealthResponse(Message):
    """
    GET /api/v1/health.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    status: Annotated[HealthStatus, Field(title="HealthStatus")]
    """
    degraded: no collector is connected.
    """
    version: str
    """
    Version of tidscope.
    """
    uptime_s: float
    """
    Uptime of the backend, seconds.
    """
    uid: Annotated[int | None, Field(ge=0)] = None
    """
    User id of the backend: whose processes "mine" means; null if unknown.
    """
    collectors: Annotated[int, Field(ge=0)]
    """
    Connected collectors.
    """
    clients: Annotated[int, Field(ge=0)]
    """
    Connected pages.
    """
    targets: Annotated[int, Field(ge=0)]
    """
    Known targets.
    """
    frames: Annotated[int, Field(ge=0)]
    """
    Frames received.
    """
    frame_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of received frames.
    """
    coalesced: Annotated[int, Field(ge=0)]
    """
    Frames merged for slow pages.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Frames that never reached a page in any form.
    """
    lost: Annotated[int, Field(ge=0)]
    """
    Frames lost between collector and backend.
    """
    history_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of history kept for pages that connect later.
    """
    rss_bytes: Annotated[int, Field(ge=0)]
    """
    Resident memory of the backend.
    """
    connections: ConnectionsHealth


class JaegerRequest(Message):
    """
    Body of POST /api/v1/traces/jaeger: bring in traces of a Jaeger on this machine.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    port: Annotated[int, Field(ge=1, le=65535)]
    """
    Port of its query service, on 127.0.0.1.
    """
    service: Annotated[str, Field(max_length=256, min_length=1)]
    """
    Service whose traces are wanted.
    """
    limit: Annotated[int, Field(ge=1, le=1500)] = 100
    """
    Traces at most.
    """
    lookback_s: Annotated[float, Field(ge=1.0, le=31536000.0)] = 3600
    """
    Only those that began so many seconds ago or later.
    """


KnobKind = TypeAliasType(
    "KnobKind",
    Annotated[
        Literal["go-agent", "pool-agent", "go-affinity"], Field(title="KnobKind")
    ],
)
"""
Knob that a policy sets.
"""


class KnobOption(Message):
    """
    A way to set the size of a target's pool.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: KnobKind
    refusal: Annotated[str, Field(max_length=1024)]
    """
    Why it is unavailable, one sentence; empty if available.
    """
    lower: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Smallest size; null if unavailable.
    """
    upper: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Largest size; null if unavailable.
    """
    size: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Current size; null if unavailable.
    """


class ListProcessesCommand(Message):
    """
    List the processes of the host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["list_processes_command"] = "list_processes_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """


class ListRingCommand(Message):
    """
    Ask what the ring of the host has; answered with a ListRingReply, or refused by a host that keeps no minutes or has no relay to a fleet.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["list_ring_command"] = "list_ring_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """


DomainsUjItem = TypeAliasType("DomainsUjItem", Annotated[int | None, Field(ge=0)])


class MachineCounters(Message):
    """
    Machine-wide counters, cumulative since attach, read about once a second; frames in between repeat the last reading.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Monotonic time of the reading since attach, nanoseconds: the time base for rates of these counters.
    """
    cpu_busy_us: Annotated[int | None, Field(ge=0)]
    """
    Busy CPU time of the machine, microseconds: user, nice, system, irq and softirq of /proc/stat, without idle and steal. Advances in scheduler ticks. Null if it cannot be read.
    """
    cpu_steal_us: Annotated[int | None, Field(ge=0)] = None
    """
    CPU time that the hypervisor gave to others while something here was runnable, all CPUs together, microseconds: steal of /proc/stat. Null if it cannot be read.
    """
    package_uj: Annotated[int | None, Field(ge=0)]
    """
    Energy of all packages, microjoules, with counter wraps unwrapped. Null without energy; the target gives the reason.
    """
    domains_uj: list[DomainsUjItem]
    """
    Energy of each domain of the target's energy source, microjoules; null where this reading failed.
    """
    gaps: Annotated[int, Field(ge=0)]
    """
    Times that a domain's counter was reset, or went unread for so long that it could have wrapped twice: energy of that time is missing from the totals.
    """


class MatchedRole(Message):
    """
    Roles that are compared with one another.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    label: str
    """
    Display name.
    """
    roles: list[str | None]
    """
    One per run, in the runs' order.
    """
    manual: bool
    """
    Matched by a person.
    """


class MeasuredChange(Message):
    """
    A relative change that was measured, with its interval (95 %, at all times together).
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    percent: float
    """
    Measured change, percent.
    """
    low_percent: Annotated[float | None, Field(ge=-100.0)]
    """
    Lower end of the interval; null while there is none.
    """
    high_percent: float | None
    """
    Upper end of the interval.
    """


class NamedText(Message):
    """
    A name and its value.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Name.
    """
    value: str
    """
    Value.
    """


class OperationEverywhere(Message):
    """
    An operation in the ranking over all endpoints.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    mean_share: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Share of the time of an endpoint's critical paths, averaged over all endpoints, 0 to 1: each endpoint counts alike.
    """
    exclusive_ns: Annotated[int, Field(ge=0)]
    """
    Own time on all critical paths, nanoseconds.
    """
    endpoints: Annotated[int, Field(ge=0)]
    """
    Endpoints on whose critical paths it is.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces on whose critical path it is.
    """


class OperationRank(Message):
    """
    An operation in the ranking of what critical paths consist of.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    p50_exclusive_ns: Annotated[int, Field(ge=0)]
    """
    Median of its own time on the critical path, over all traces, nanoseconds.
    """
    p95_exclusive_ns: Annotated[int, Field(ge=0)]
    """
    95th percentile of it.
    """
    share: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Share of the time of all critical paths, 0 to 1.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces on whose critical path it is.
    """
    saving_ns: Annotated[int, Field(ge=0)]
    """
    Mean gain of a trace if the operation took no time, nanoseconds.
    """
    drag_ns: Annotated[int, Field(ge=0)]
    """
    How much shorter a request were in the mean if it were not called, nanoseconds.
    """
    slack_ns: Annotated[int, Field(ge=0)]
    """
    Slack of the operation: how much slower it could be before a request takes longer (median of the requests with it), nanoseconds.
    """
    error_share: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Share of failed requests among those with the operation on the critical path, 0 to 1.
    """


OutageKind = TypeAliasType(
    "OutageKind",
    Annotated[Literal["ended", "lost", "crashed"], Field(title="OutageKind")],
)
"""
How a collector went away: it said goodbye (ended); its connection broke without a goodbye (lost); the same, and another process has taken its place since, or it is known to be gone (crashed).
"""


class PolicyParameter(Message):
    """
    A parameter of a policy.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name in requests.
    """
    unit: Annotated[str, Field(max_length=32)]
    """
    Empty for a plain number.
    """
    integer: bool
    """
    Whether only integers are accepted.
    """
    default: float
    """
    Default value.
    """
    low: float
    """
    Smallest accepted value.
    """
    high: float
    """
    Largest accepted value.
    """
    meaning: Annotated[str, Field(max_length=256)]
    """
    One line.
    """


class PredictionUser(Message):
    """
    A process that has a model of the prediction service open.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=0)]
    """
    Process id.
    """
    uid: Annotated[int, Field(ge=0)]
    """
    User id.
    """
    updates: Annotated[int, Field(ge=0)]
    """
    Answers that it taught.
    """


Weight = TypeAliasType("Weight", Annotated[int, Field(ge=-127, le=127)])


class PredictionWeights(Message):
    """
    GET /api/v1/predictions/{owner}/{name}: the weights of a model.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    weights: Annotated[list[Weight], Field(max_length=16384, min_length=16384)]
    """
    16 tables of 1024 weights, one after the other.
    """


class Problem(Message):
    """
    A rejected request or command (RFC 9457 problem details): what was wrong and how to fix it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Annotated[str, Field(pattern="^urn:tidscope:problem:[a-z-]+$")]
    """
    urn:tidscope:problem: and a problem type.
    """
    title: str
    """
    The kind of problem, in a few words.
    """
    status: Annotated[int, Field(ge=400, le=599)]
    """
    HTTP status.
    """
    detail: str
    """
    Cause of the problem in this case, with the value.
    """
    hint: str
    """
    How to fix it.
    """


ProblemType = TypeAliasType(
    "ProblemType",
    Annotated[
        Literal[
            "bad-request",
            "unauthenticated",
            "forbidden-origin",
            "forbidden-host",
            "unknown-process",
            "process-id-reused",
            "not-permitted",
            "kernel-thread",
            "empty-group",
            "group-too-large",
            "bad-group",
            "target-exited",
            "too-many-targets",
            "unknown-target",
            "unknown-host",
            "no-collector",
            "collector-timeout",
            "demo-failed",
            "experiment-running",
            "too-large",
            "too-many-attempts",
            "view-only",
            "unknown-session",
            "no-stacks",
            "no-ring",
            "not-steerable",
            "not-steered",
            "bad-parameter",
            "too-many-actions",
            "audit-failed",
            "unknown-run",
            "not-recording",
            "already-recording",
            "disk-full",
            "bad-run",
            "runs-unavailable",
            "roles-unavailable",
            "unknown-experiment",
            "unknown-trace",
            "not-found",
            "method-not-allowed",
            "internal",
            "prediction-refused",
        ],
        Field(title="ProblemType"),
    ],
)
"""
Kinds of problem, as in problems.json. In a problem document the `type` is urn:tidscope:problem: followed by the kind.
"""


Port = TypeAliasType("Port", Annotated[int, Field(ge=0)])
"""
TCP port.
"""


ContainerRuntime = TypeAliasType(
    "ContainerRuntime",
    Annotated[
        Literal["docker", "containerd", "podman", "kubernetes", "lxc", "other"],
        Field(title="ContainerRuntime"),
    ],
)
"""
Container engine.
"""


class ProcessContainer(Message):
    """
    The container of a process, as far as the path of its cgroup tells, and what Docker, Podman and the kubelet wrote down.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """
    Container ID.
    """
    name: str | None
    """
    Name of the container; null if neither source tells it.
    """
    runtime: Annotated[ContainerRuntime, Field(title="ContainerRuntime")]
    """
    Container engine.
    """
    pod: str | None
    """
    Kubernetes: the uid of its pod; null otherwise.
    """
    pod_name: str | None = None
    """
    Kubernetes: namespace and name of its pod, with a slash between; null if they are not known.
    """


class ProcessGauges(Message):
    """
    Process-level values of this sample.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    gomaxprocs: Annotated[int | None, Field(ge=0)]
    """
    Current GOMAXPROCS; null if not a Go program, not readable, or not read in time.
    """
    gomaxprocs_missed: Annotated[int | None, Field(ge=0)] = None
    """
    Samples since attachment in which GOMAXPROCS was not read in time: the page of memory that it is on did not come. Null if it is not read.
    """
    rss_bytes: Annotated[int | None, Field(ge=0)]
    """
    Resident memory, sampled about once a second.
    """
    cpu_ns: Annotated[int | None, Field(ge=0)] = None
    """
    CPU time of the process since it started, exited threads included, nanoseconds; read about once a second, right after the threads, to check their sum against it. null in other frames.
    """
    delay_accounting: bool | None = None
    """
    Whether kernel.task_delayacct is on, read about once a second; while it is off, block I/O and memory delays stand still. Null without such a switch.
    """
    cpu_limit: Annotated[float | None, Field(ge=0.0)] = None
    """
    Cores that the process may use on average: the smallest cpu.max of its control group and those above it. Null: no limit, or not readable.
    """
    cgroup_periods: Annotated[int | None, Field(ge=0)] = None
    """
    Periods in which the group ran that was throttled, since attach: from second to second the one of the chain that was throttled longest, else the one with that limit. Null without a limit.
    """
    cgroup_throttled: Annotated[int | None, Field(ge=0)] = None
    """
    How many of them ended throttled.
    """
    cgroup_throttled_us: Annotated[int | None, Field(ge=0)] = None
    """
    Time that the group was throttled, since attach, microseconds.
    """
    limits: GroupLimits | None = None
    """
    Memory and disk limits of the control groups, read about once a second; null without any.
    """


class ProgramExecuted(Message):
    """
    The process executed another program (execve): its threads but one are gone, its id and its start are the same. What is known of the new program is in the target's process soon after.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["program_executed"] = "program_executed"
    name: str
    """
    Name of the main thread now.
    """
    executable: str | None
    """
    Path of the executable now; null if it may not be seen.
    """
    previous: str | None
    """
    Path of the executable before; null if it could not be seen.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a group: process in which it happened; null: the target is one process.
    """


class PrometheusCounter(Message):
    """
    A counter that the target itself exposes in the Prometheus text format.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    port: Annotated[int, Field(ge=1, le=65535)]
    """
    Port on loopback.
    """
    path: Annotated[str, Field(pattern="^/[!-~]{0,255}$")]
    """
    Path of the metrics.
    """
    metric: Annotated[str, Field(pattern="^[a-zA-Z_:][a-zA-Z0-9_:]{0,127}$")]
    """
    Counter name; all samples with this name are added up.
    """


class ProofPlan(Message):
    """
    Prove a policy against the size that the program has by itself: blocks with the policy and without it, in pairs, in random order.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    block_s: Annotated[float | None, Field(ge=1.0, le=600.0)] = None
    """
    Measured seconds of a block; null: 20.
    """
    most_s: Annotated[float | None, Field(ge=10.0, le=86400.0)] = None
    """
    Seconds after which it ends at the latest; null: 900.
    """
    smallest_percent: Annotated[float | None, Field(ge=0.1, le=50.0)] = None
    """
    Differences below this are none; null: 1.
    """
    loss_percent: Annotated[float | None, Field(ge=0.1, le=100.0)] = None
    """
    It is stopped when this share of the work is lost; null: 5.
    """
    seed: Annotated[int | None, Field(ge=0, le=9007199254740991)] = None
    """
    Seed of the order of blocks; null: 1.
    """


class ProofRequest(Message):
    """
    Body of POST /api/v1/proof: the backend is to prove that it knows a secret.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    subject: Annotated[
        str,
        Field(
            pattern="^(operator|viewer|collector:[a-z0-9]([a-z0-9.-]{0,61}[a-z0-9])?)$"
        ),
    ]
    """
    Owner of the secret: operator, viewer, or collector:NAME.
    """
    nonce: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    """
    32 random bytes of the client, hexadecimal.
    """
    port: Annotated[int | None, Field(ge=1, le=65535)]
    """
    Port that the client has dialled; null where TLS says whom it has reached.
    """


Proof = TypeAliasType("Proof", Annotated[str, Field(pattern="^[0-9a-f]{64}$")])
"""
HMAC-SHA256, hexadecimal.
"""


class ProofResponse(Message):
    """
    POST /api/v1/proof.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    nonce: Annotated[str, Field(pattern="^[0-9a-f]{80}$")]
    """
    Nonce of the backend, hexadecimal; good for one proof within 10 s.
    """
    proofs: Annotated[list[Proof], Field(max_length=2, min_length=2)]
    """
    With the newest key of the subject and, while a rotation's grace lasts, the one before; with random ones where there is none.
    """


ProofVerdict = TypeAliasType(
    "ProofVerdict",
    Annotated[
        Literal["open", "better", "worse", "same", "harmful", "unsettled"],
        Field(title="ProofVerdict"),
    ],
)
"""
How a proof stands: open; better, worse or same are shown; harmful: stopped because too much work was lost; unsettled: ended without a result.
"""


Provenance = TypeAliasType(
    "Provenance",
    Annotated[
        Literal["exact", "sampled", "estimated", "quantised"], Field(title="Provenance")
    ],
)
"""
exact: counted by the kernel without rounding; sampled: advances in scheduler ticks; estimated: derived from other values; quantised: rounded by the kernel.
"""


class RateAdapted(Message):
    """
    The collector changed the sampling rate to stay within its CPU budget, or because frames could not be sent as fast as they were made; the requested rate is kept.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["rate_adapted"] = "rate_adapted"
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    New effective rate.
    """
    previous_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Previous effective rate.
    """
    requested_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Requested rate.
    """
    overhead_percent: Annotated[float, Field(ge=0.0)]
    """
    CPU of sampling and sending that caused the change, all targets together, 100 = one core.
    """
    budget_percent: Annotated[float, Field(ge=0.0)]
    """
    CPU budget.
    """
    undelivered_bytes: Annotated[int | None, Field(ge=0)] = None
    """
    If the change is due to frames that wait to be sent: how many bytes of them there are. Null if the CPU budget is the cause.
    """


class RateChanged(Message):
    """
    A different sampling rate was requested.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["rate_changed"] = "rate_changed"
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    New rate.
    """
    previous_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Previous rate.
    """


class RateRequest(Message):
    """
    Body of PATCH /api/v1/targets/{id}.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """


class ReadCutCommand(Message):
    """
    Read a piece of a cut; a piece that ends at the archive's end removes it from the host. Answered with a ReadCutReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["read_cut_command"] = "read_cut_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    cut: Annotated[str, Field(pattern="^c-[0-9a-f]{16}$")]
    """
    Identity of the cut on its host.
    """
    offset: Annotated[int, Field(ge=0)]
    """
    First byte.
    """


class ReadCutReply(Message):
    """
    Answer to a ReadCutCommand.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["read_cut_reply"] = "read_cut_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    data: Annotated[str, Field(max_length=1398104)]
    """
    Bytes of the archive in base64, up to 1 MiB; none beyond its end.
    """


Tag = TypeAliasType("Tag", Annotated[str, Field(max_length=40, min_length=1)])
"""
A tag.
"""


class RecordRequest(Message):
    """
    Body of POST /api/v1/runs: record a target.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    name: Annotated[str | None, Field(max_length=120)] = None
    """
    Display name.
    """
    tags: Annotated[list[Tag] | None, Field(max_length=32)] = None
    """
    Tags.
    """
    group: Annotated[str | None, Field(max_length=80)] = None
    """
    Runs of one group are repeats of one another; null: not in a group.
    """
    notes: Annotated[str | None, Field(max_length=20000)] = None
    """
    Free-text notes.
    """
    past_s: Annotated[float | None, Field(ge=0.0, le=86400.0)] = None
    """
    Seconds of the past to include, as far as the flight recorder has them.
    """
    duration_s: Annotated[float | None, Field(ge=0.0, le=31536000.0)] = None
    """
    Stop after this many seconds from now; null: until stopped; 0: only the past.
    """
    command: Annotated[str | None, Field(max_length=65536)] = None
    """
    Command line that the run stores for the process; null: the collector's.
    """
    stacks: bool = False
    """
    Take stacks while the recording runs.
    """


class Recording(Message):
    """
    A run being recorded.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Run id: start time in UTC and six random hex digits.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    Display name.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was requested, Unix microseconds.
    """


class RefusedReply(Message):
    """
    A command was rejected.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["refused_reply"] = "refused_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    problem: Problem


class RenewSteeringCommand(Message):
    """
    Renew the lease of steering; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["renew_steering_command"] = "renew_steering_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class RestoredProgram(Message):
    """
    A program that an earlier collector left changed, and that this one restored at its start.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id, as the collector's PID namespace counts.
    """
    name: Annotated[str, Field(max_length=64)]
    """
    Name of the process.
    """
    threads: Annotated[int, Field(ge=0)]
    """
    Threads whose CPU affinity was restored.
    """
    problem: Annotated[str, Field(max_length=1024)]
    """
    Obstacle to restoring, one sentence; empty if none.
    """


class Retention(Message):
    """
    When old runs are deleted automatically.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    max_age_s: Annotated[float | None, Field(ge=0.0)]
    """
    Delete runs that ended longer ago than this, seconds; null: no limit.
    """
    max_bytes: Annotated[int | None, Field(ge=0)]
    """
    Delete the oldest runs until the store is no larger than this; null: no limit.
    """


class RingCut(Message):
    """
    Body of POST /api/v1/ring/cuts: make a run of a window of a ring.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    track: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of the track.
    """
    from_unix_us: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    First time of the window, Unix microseconds.
    """
    to_unix_us: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Last time of the window, Unix microseconds.
    """
    host: str | None = None
    """
    Identity of the host whose ring has the track; null: the backend's own.
    """
    name: Annotated[str | None, Field(max_length=120)] = None
    """
    Display name.
    """


Role = TypeAliasType(
    "Role", Annotated[Literal["operator", "viewer"], Field(title="Role")]
)
"""
Role of a session: viewers watch, operators also change things.
"""


class RoleRule(Message):
    """
    A person's own word on the role of threads.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pattern: Annotated[str, Field(max_length=256, min_length=1)]
    """
    Pattern of whole thread names; * stands for any characters, ? for one.
    """
    role: Annotated[str, Field(max_length=256, min_length=1)]
    """
    Role of threads with such names; *: each name is a role of its own.
    """


class RoleTotals(Message):
    """
    Totals of the threads of one role, those that exited since attach included. A thread's counters count for the role it had when they were read: after a rename only later growth counts for the new role, so totals never fall.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    role: str | None
    """
    Thread name without the number of the thread, or what the target's role_rules make of it; null: all roles beyond the limit.
    """
    live: Annotated[int, Field(ge=0)]
    """
    Live threads.
    """
    exited: Annotated[int, Field(ge=0)]
    """
    Threads of this role that exited since attach.
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its cumulative value over these threads, in the field's unit. Fields that no thread has are omitted.
    """


class RunCounts(Message):
    """
    Size of a run.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    frames: Annotated[int, Field(ge=0)]
    """
    Frames.
    """
    thread_samples: Annotated[int, Field(ge=0)]
    """
    Rows: the counters of one thread in one frame. A thread whose counters did not change has none.
    """
    threads: Annotated[int, Field(ge=0)]
    """
    Threads that were alive at some time.
    """
    events: Annotated[int, Field(ge=0)]
    """
    Events.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of all its files on disk; includes open_bytes.
    """
    open_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of raw frames in parts that are not sealed yet; sealing makes them about ten times smaller. 0 once the run is sealed.
    """


RunEnd = TypeAliasType(
    "RunEnd",
    Annotated[
        Literal[
            "stopped",
            "duration",
            "flight-recorder",
            "target-ended",
            "collector-lost",
            "backend-lost",
            "disk-full",
            "write-failed",
        ],
        Field(title="RunEnd"),
    ],
)
"""
Why a run ended; flight-recorder: only the past was recorded.
"""


class RunLosses(Message):
    """
    Losses of a run, and late measurements. All 0: no known losses.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    frames: Annotated[int, Field(ge=0)]
    """
    Frames that never arrived, or arrived when they could not be written.
    """
    gaps: Annotated[int, Field(ge=0)]
    """
    Number of gaps they leave.
    """
    missing_ns: Annotated[int, Field(ge=0)]
    """
    Time in these gaps, and at the end of the run (tail_ns), nanoseconds.
    """
    tail_ns: Annotated[int, Field(ge=0)] = 0
    """
    Time at the end of the run without frames, nanoseconds: from its last frame to the moment at which it was to end. 0: the collector confirmed that nothing is missing there, or the last frame said so itself.
    """
    tail_samples: Annotated[int, Field(ge=0)] = 0
    """
    Samples that were due in that time.
    """
    tail_exits: Annotated[int | None, Field(ge=0)] = 0
    """
    Threads that exited up to the end of the run, and are not in it; null: unknown, because the collector did not say.
    """
    truncated_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of an incomplete frame that recovery cut off.
    """
    coalesced: Annotated[int, Field(ge=0)]
    """
    Frames merged into a later one before they were written; totals are complete.
    """
    deadlines_missed: Annotated[int, Field(ge=0)]
    """
    Samples that were due and were not taken: the deadline had passed, or frames were withheld.
    """
    samples_failed: Annotated[int, Field(ge=0)]
    """
    Samples that failed.
    """
    exit_records_lost: Annotated[int, Field(ge=0)]
    """
    Exit records that the kernel dropped.
    """
    exits_without_event: Annotated[int, Field(ge=0)] = 0
    """
    Threads that exited, are counted in totals, and have no event of their own: more exited at once than the collector keeps one by one.
    """
    processes_missed: Annotated[int, Field(ge=0)] = 0
    """
    Processes of a group that may have been missed: the kernel dropped events about births.
    """
    network_calls_uncounted: Annotated[int, Field(ge=0)] = 0
    """
    Socket calls that the eBPF program could not count, host-wide: network numbers are too low.
    """
    clock_jumps: Annotated[int, Field(ge=0)]
    """
    Times that the wall clock was set by more than half a second; times since attach are not affected.
    """


class RunMark(Message):
    """
    A mark (annotation); runs can be aligned at it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach, as in the target's frames.
    """
    text: Annotated[str, Field(max_length=200, min_length=1)]
    """
    Text of the mark.
    """


class RunOutcome(Message):
    """
    How the recorded command ended.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    command: Annotated[list[str] | None, Field(max_length=1024)]
    """
    Program and arguments, as started, what looks like a secret left out; the program alone if the arguments are not stored; null: hidden, since arguments are not for viewers.
    """
    exit_code: int | None
    """
    Exit code; null if a signal ended the program.
    """
    signal: Annotated[str | None, Field(max_length=20)]
    """
    Name of the signal that ended it, such as SIGKILL; null if none did.
    """
    elapsed_us: Annotated[int, Field(ge=0)]
    """
    Wall time from start to end, microseconds.
    """
    user_cpu_us: Annotated[int, Field(ge=0)]
    """
    CPU time in user mode, waited-for children included, microseconds.
    """
    system_cpu_us: Annotated[int, Field(ge=0)]
    """
    CPU time in kernel mode, waited-for children included, microseconds.
    """
    children_cpu_us: Annotated[int | None, Field(ge=0)] = None
    """
    The part of both that the children used, microseconds; a run of one process does not show it. Null: not known, or the run is of a group, and shows it.
    """
    max_rss_bytes: Annotated[int, Field(ge=0)]
    """
    Peak resident memory.
    """
    major_faults: Annotated[int, Field(ge=0)]
    """
    Page faults that needed I/O.
    """
    minor_faults: Annotated[int, Field(ge=0)]
    """
    Page faults that did not.
    """
    voluntary_switches: Annotated[int, Field(ge=0)]
    """
    Voluntary context switches.
    """
    involuntary_switches: Annotated[int, Field(ge=0)]
    """
    Involuntary context switches.
    """
    output_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bytes written to standard output and standard error, as far as they went to no terminal; null: not counted.
    """
    output_tail: Annotated[str | None, Field(max_length=65536)]
    """
    The end of that output, as text, what looks like a secret left out; null: not stored, or hidden, since output is not for viewers.
    """


class RunResult(Message):
    """
    A figure of a whole run that was not measured by tidscope, such as operations or a response time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(pattern="^[A-Za-z][A-Za-z0-9_.-]{0,39}$")]
    """
    Name; ops: number of operations.
    """
    value: float
    """
    Value.
    """
    better: Better


RunState = TypeAliasType(
    "RunState",
    Annotated[
        Literal["recording", "complete", "incomplete", "interrupted"],
        Field(title="RunState"),
    ],
)
"""
recording: frames are being added. complete: ended as intended, and nothing is missing. incomplete: ended as intended, but frames, samples or exit records are missing; losses has how many. interrupted: cut short by a crash, a full disk or a lost collector; what was written is kept.
"""


Runtime = TypeAliasType(
    "Runtime",
    Annotated[
        Literal["go", "python", "java", "node", "native", "unknown"],
        Field(title="Runtime"),
    ],
)
"""
Language runtime of a process, as detected from outside.
"""


class SampleFailed(Message):
    """
    A sample failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["sample_failed"] = "sample_failed"
    reason: str
    """
    The kernel's error.
    """


SampleSource = TypeAliasType(
    "SampleSource",
    Annotated[Literal["taskstats", "procfs"], Field(title="SampleSource")],
)
"""
Source of samples: genetlink taskstats, or /proc where taskstats is unavailable.
"""


class SearchRestarted(Message):
    """
    The policy restarted its search.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["search_restarted"] = "search_restarted"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    reason: Annotated[str, Field(max_length=256)]
    """
    Cause.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Requester: page or command line, and its address.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: the target is one process.
    """
    program: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of that program.
    """


class SessionInfo(Message):
    """
    An open session.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """
    Names it; not secret.
    """
    role: Role
    label: str
    """
    Client that opened the session: the User-Agent of a browser, or the name of a program.
    """
    address: str
    """
    Address that opened the session.
    """
    opened_unix_us: Annotated[int, Field(ge=0)]
    """
    When it was opened, Unix microseconds.
    """
    used_unix_us: Annotated[int, Field(ge=0)]
    """
    When it was last used, Unix microseconds; an open page uses it.
    """
    expires_unix_us: Annotated[int, Field(ge=0)]
    """
    When it ends at the latest, Unix microseconds.
    """
    own: bool
    """
    Whether it is the session that asks.
    """


class SessionOpened(Message):
    """
    Answer of POST /api/v1/session.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: str
    """
    Names the session in lists and logs; not secret.
    """
    role: Role
    credential: str
    """
    Credential of the session, sent as Bearer or as the WebSocket subprotocol tidscope.session.CREDENTIAL. Given only here.
    """


class SessionRequest(Message):
    """
    Body of POST /api/v1/session: trades the printed token for a session.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    token: Annotated[str, Field(max_length=256, min_length=1)]
    """
    From the address that was printed at start.
    """


class SessionResponse(Message):
    """
    Body of GET /api/v1/session.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    role: Role
    id: str | None
    """
    ID of the session; null for a program that shows a token.
    """


class SessionsResponse(Message):
    """
    GET /api/v1/sessions.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    sessions: list[SessionInfo]
    """
    Last used first.
    """


class SetupDifference(Message):
    """
    A part of the set-up that differs between runs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    what: str
    """
    Such as kernel, command or policy.
    """
    values: list[str]
    """
    One value per run, in the runs' order.
    """


SignalKind = TypeAliasType(
    "SignalKind",
    Annotated[
        Literal[
            "agent-ops", "queue-wait", "prometheus", "network-calls", "network-bytes"
        ],
        Field(title="SignalKind"),
    ],
)
"""
Signal that a policy optimises.
"""


class SignalOption(Message):
    """
    A signal that a target can be steered on.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: SignalKind
    proxy: bool
    """
    A proxy signal, correlated with what matters: lower confidence.
    """
    refusal: Annotated[str, Field(max_length=1024)]
    """
    Why it is unavailable, one sentence; empty if available.
    """
    note: Annotated[str, Field(max_length=512)]
    """
    Meaning of the counter.
    """


class SizeAuditCommand(Message):
    """
    Hold the sizes of programs' pools against the CPUs that they may use.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["size_audit_command"] = "size_audit_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """


SizeVerdict = TypeAliasType(
    "SizeVerdict",
    Annotated[
        Literal["fits", "too-large", "too-small", "unknown"], Field(title="SizeVerdict")
    ],
)
"""
Whether the size of a pool fits the CPUs that its program may use.
"""


class Source(Message):
    """
    Sources of a target's samples.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: SampleSource
    taskstats_version: Annotated[int | None, Field(ge=0)]
    """
    Version of struct taskstats; null without taskstats.
    """
    layout: str | None
    """
    Name of the layout table in use, such as v16; null without taskstats.
    """
    reply_bytes: Annotated[int | None, Field(ge=0)]
    """
    Length of struct taskstats in the kernel's replies.
    """
    reason: str
    """
    Why this source, in one sentence.
    """
    exits: bool
    """
    Whether exit records are received.
    """
    exits_reason: str
    """
    Why, or why not.
    """
    network: str
    """
    Source of per-thread network counters, or 'none: …' and why.
    """
    ledger: bool = False
    """
    Whether a ledger of states is kept for each thread (the fields of group state).
    """
    ledger_reason: str | None = None
    """
    Why there is none; null if there is.
    """
    calls: bool = False
    """
    Whether system calls are counted.
    """


class SpanLock(Message):
    """
    A lock that was waited for around the time of a span: by its thread, or by its process.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Name of the lock; empty: it has none.
    """
    kind: str
    """
    Kind of lock, as in the table lock_names.
    """
    source: str
    """
    Source of its name, as in that table.
    """
    wait_ns: Annotated[int, Field(ge=0)]
    """
    Waits for it between two readings around the span, nanoseconds.
    """
    waits: Annotated[int, Field(ge=0)]
    """
    How many.
    """
    over_ns: Annotated[int, Field(ge=0)]
    """
    Between these readings: about a second or more, for what a program itself says ten.
    """
    woken_by: str | None
    """
    Thread that ended most waits for it, so likely the one that held it; null: not known.
    """


SpanReason = TypeAliasType(
    "SpanReason",
    Annotated[
        Literal[
            "running",
            "runnable",
            "throttled",
            "locks",
            "disk",
            "network",
            "pipes",
            "faults",
            "other",
            "polling",
            "sleep",
            "idle",
            "unknown",
        ],
        Field(title="SpanReason"),
    ],
)
"""
Group of states: running, runnable (in a run queue), throttled (by a CPU limit), locks, disk, network, ..., idle (no thread of the process was at anything: the request waited inside the program), or unknown.
"""


class SpanPart(Message):
    """
    Activities of threads during a part of a span's own time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    reason: Annotated[SpanReason, Field(title="SpanReason")]
    """
    Group of states: running, runnable (in a run queue), throttled (by a CPU limit), locks, disk, network, ..., idle (no thread of the process was at anything: the request waited inside the program), or unknown.
    """
    ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds; all parts of a span add up to its own time on the critical path.
    """


SpanJoin = TypeAliasType(
    "SpanJoin", Annotated[Literal["thread", "process"] | None, Field(title="SpanJoin")]
)
"""
thread: by thread.id; the parts are of that thread alone. process: by process.pid and time; the parts are those of all threads of the process that were busy, in proportion. null: not joined.
"""


class SpanThread(Message):
    """
    A span on the critical path, joined with what was measured of its thread or process.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    span_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    16 hex digits, or text of another form.
    """
    target_id: str | None
    """
    Target that is attached; null: none, or the numbers are a run's.
    """
    run_id: str | None
    """
    Run that was recorded at that time; null: none, or the numbers are live.
    """
    pid: Annotated[int | None, Field(ge=0)]
    """
    Process; null: not known.
    """
    tid: Annotated[int | None, Field(ge=0)]
    """
    Thread; null: not known, the parts are of the whole process.
    """
    thread_name: str | None
    """
    Name of the thread; null: not known.
    """
    joined_by: Annotated[SpanJoin, Field(title="SpanJoin")]
    """
    thread: by thread.id; the parts are of that thread alone. process: by process.pid and time; the parts are those of all threads of the process that were busy, in proportion. null: not joined.
    """
    own_ns: Annotated[int, Field(ge=0)]
    """
    Time of the span itself on the critical path, nanoseconds.
    """
    parts: list[SpanPart]
    """
    Greatest first; empty: not joined.
    """
    coverage: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Share of the span's own time that samples tell apart, 0 to 1: less where spans are shorter than samples, or where nothing was measured.
    """
    locks: list[SpanLock]
    """
    Locks that were waited for around that time, the longest first.
    """
    note: str
    """
    Why it is not joined, or what to know about it; empty: nothing.
    """


class SpanThreadName(Message):
    """
    Name that spans have for a thread (attribute thread.name).
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process ID.
    """
    tid: Annotated[int, Field(ge=1)]
    """
    Thread id.
    """
    name: Annotated[str, Field(max_length=128, min_length=1)]
    """
    The name.
    """


class StackCounts(Message):
    """
    Counts of stacks in the window by outcome, for all targets of the host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    taken: Annotated[int, Field(ge=0)]
    """
    Stacks taken.
    """
    without_stack: Annotated[int, Field(ge=0)]
    """
    The unwinder does not know the process yet, or gave up.
    """
    beyond_limit: Annotated[int, Field(ge=0)]
    """
    Stays beyond the limit a second.
    """
    no_room: Annotated[int, Field(ge=0)]
    """
    No room in a buffer.
    """
    beyond_bound: Annotated[int, Field(ge=0)]
    """
    Beyond the bound of frames or nodes; such stacks end early.
    """
    unasked: Annotated[int, Field(ge=0)]
    """
    Stacks that no sample asked for.
    """


class StackDifferenceNode(Message):
    """
    A node of a difference: time a second of window, of both sides.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    parent: Annotated[int, Field(ge=-1)]
    """
    Index of the caller in `nodes`; -1: there is none.
    """
    frame: Annotated[int, Field(ge=0)]
    """
    Index in `frames`.
    """
    before: Annotated[float, Field(ge=0.0)]
    """
    Time a second of the first window, s/s.
    """
    after: Annotated[float, Field(ge=0.0)]
    """
    Time a second of the second window, s/s.
    """
    before_low: Annotated[float, Field(ge=0.0)]
    """
    Lower end of the 95 % interval of before.
    """
    before_high: Annotated[float, Field(ge=0.0)]
    """
    Upper end.
    """
    after_low: Annotated[float, Field(ge=0.0)]
    """
    Lower end of the 95 % interval of after.
    """
    after_high: Annotated[float, Field(ge=0.0)]
    """
    Upper end.
    """
    low: float
    """
    Lower end of the 95 % interval of after - before.
    """
    high: float
    """
    Upper end.
    """


class StackFrame(Message):
    """
    A function in a flame graph.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: str
    """
    kernel, native, go, python, java, v8, ruby, php, perl, dotnet, beam, lua or unknown.
    """
    function: str
    """
    Demangled name; without one, module and address.
    """
    file: str
    """
    Source file; empty: unknown.
    """
    line: Annotated[int, Field(ge=0)]
    """
    Line in it; 0: unknown.
    """
    module: str
    """
    Base name of the executable or library; empty: none.
    """
    inlined: bool
    """
    Whether the compiler put it into its caller.
    """
    named: bool
    """
    Whether its name is known.
    """


class StackNode(Message):
    """
    A frame called by the frames of its ancestors.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    parent: Annotated[int, Field(ge=-1)]
    """
    Index of the caller in `nodes`, smaller than its own; -1: there is none.
    """
    frame: Annotated[int, Field(ge=0)]
    """
    Index in `frames`.
    """
    ns: Annotated[float, Field(ge=0.0)]
    """
    Time below it: exact time of the ledger, divided by sampled shares.
    """
    self_ns: Annotated[float, Field(ge=0.0)]
    """
    The part in which it is the innermost frame.
    """
    low_ns: Annotated[float, Field(ge=0.0)]
    """
    Lower end of the 95 % interval of `ns`.
    """
    high_ns: Annotated[float, Field(ge=0.0)]
    """
    Upper end.
    """
    samples: Annotated[int, Field(ge=0)]
    """
    Samples below it.
    """


class StackPlace(Message):
    """
    Place in the code: the most telling frame, and its share.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    function: str
    """
    Name of the innermost frame that is the program's own code.
    """
    file: str
    """
    Source file; empty: unknown.
    """
    line: Annotated[int, Field(ge=0)]
    """
    0: unknown.
    """
    module: str
    """
    Base name of the executable or library.
    """
    share: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Share of the time with a known stack.
    """
    low: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Lower end of its 95 % interval.
    """
    high: Annotated[float, Field(ge=0.0, le=1.0)]
    """
    Upper end.
    """
    samples: Annotated[int, Field(ge=0)]
    """
    Samples with a stack.
    """


class StackRequest(Message):
    """
    POST /api/v1/targets/{target}/stacks: take stacks for a while. The longest of several requests counts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)]
    """
    For how long from now on.
    """


class StackSelection(Message):
    """
    One side of a difference.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    label: str
    """
    Name of the side, for people.
    """
    seconds: Annotated[float, Field(ge=0.0)]
    """
    Length of the window.
    """
    exact_ns: Annotated[float, Field(ge=0.0)]
    """
    Time of the selection by the ledger.
    """
    unseen_ns: Annotated[float, Field(ge=0.0)]
    """
    The part without a known stack.
    """
    samples: Annotated[int, Field(ge=0)]
    """
    Samples with a stack.
    """


StackSide = TypeAliasType(
    "StackSide",
    Annotated[Literal["threads", "releasers", "holders"], Field(title="StackSide")],
)
"""
Side of the stacks: threads while they are in states, or the threads that ended their waits.
"""


StackTrigger = TypeAliasType(
    "StackTrigger",
    Annotated[
        Literal["tracepoint", "watchpoint", "context_switches", "none"],
        Field(title="StackTrigger"),
    ],
)
"""
Trigger that lets the unwinder look at a thread that leaves the CPU: a tracepoint that the ledger's program fires, context switches in windows of time, or nothing. Earlier collectors used a watchpoint.
"""


class StartExperimentRequest(Message):
    """
    POST /api/v1/experiments.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=128)]
    """
    Name of a startable file.
    """
    preset: ExperimentPreset


class SteeringDecided(Message):
    """
    A policy made a decision at the end of an interval.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_decided"] = "steering_decided"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    number: Annotated[int, Field(ge=1)]
    """
    Number of the decision, from 1 since steering started.
    """
    at_ns: Annotated[int, Field(ge=0)]
    """
    End of the interval, nanoseconds since attach.
    """
    elapsed_s: Annotated[float, Field(ge=0.0)]
    """
    Actual length of the interval, seconds.
    """
    ops: Annotated[float, Field(ge=0.0)]
    """
    Operations in it, as counted by the signal.
    """
    mean_wait_s: Annotated[float | None, Field(ge=0.0)]
    """
    Mean queue wait of jobs, seconds; null if the signal does not have it.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size during the interval.
    """
    next_size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size after the decision.
    """
    proposed: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    In shadow mode, the size that would have been set.
    """
    state: Annotated[str, Field(max_length=256)]
    """
    Activity of the policy, in words.
    """
    reason: Annotated[str, Field(max_length=1024)]
    """
    Why, one sentence.
    """
    counted: bool
    """
    Whether the interval says anything about the size: false after someone else changed the knob, or while the target stood still.
    """
    probing: bool
    """
    It is exploring sizes.
    """
    deferred: bool = False
    """
    It keeps the size because it cannot choose one yet: it warms up, begins, waits for its turn, or the interval says too little.
    """
    with_policy: bool | None = None
    """
    In a proof, whether the policy steered in the interval; null: it is none.
    """
    gain: MeasuredChange | None = None
    """
    In a proof, the gain of throughput so far; null: none is known, or it is no proof.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: the target is one process.
    """
    program: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of that program.
    """
    division: CoreDivision | None = None
    """
    Cores that the arbiter gives the program after the decision; null: another policy decided.
    """


Target2 = TypeAliasType(
    "Target2", Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
)
"""
Identity of one attachment; a new one each time a process is attached to.
"""


class SteeringOptionsCommand(Message):
    """
    Ask how a target, a process or a group can be steered; one of them is named.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_options_command"] = "steering_options_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Target2 | None = None
    """
    An attached target; null: pid or group says who.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    A process, attached or not; nothing is attached to.
    """
    group: GroupSelector | None = None
    """
    A group, attached or not; nothing is attached to.
    """


class SteeringProblem(Message):
    """
    The policy cannot work at present, or works again.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_problem"] = "steering_problem"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    problem: Annotated[str | None, Field(max_length=1024)]
    """
    Problem, one sentence; null: resolved.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: the target is one process.
    """
    program: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of that program.
    """


class SteeringReleased(Message):
    """
    Steering stopped and the original size was restored.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_released"] = "steering_released"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Requester: page or command line, and its address.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: the target is one process.
    """
    program: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of that program.
    """


class SteeringStarted(Message):
    """
    A policy started to steer the target.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_started"] = "steering_started"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    shadow: bool
    """
    Shadow mode: decides without acting.
    """
    knob: KnobKind
    signal: SignalKind
    proxy: bool
    """
    The signal is a proxy.
    """
    lower: Annotated[int, Field(ge=1, le=1048576)]
    """
    Smallest size allowed.
    """
    upper: Annotated[int, Field(ge=1, le=1048576)]
    """
    Largest size allowed.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Requester: page or command line, and its address.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: the target is one process.
    """
    program: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of that program.
    """


class StreamStats(Message):
    """
    Backend to page, once a second: flow-control counters of this connection.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["stream_stats"] = "stream_stats"
    sent: Annotated[int, Field(ge=0)]
    """
    Frames sent to this page.
    """
    coalesced: Annotated[int, Field(ge=0)]
    """
    Frames merged into a later one because the page was slow; no totals are lost.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Frames that never reached this page in any form.
    """
    queue: Annotated[int, Field(ge=0)]
    """
    Frames waiting.
    """
    clients: Annotated[int, Field(ge=0)]
    """
    Pages connected to the backend.
    """


class Subscribe(Message):
    """
    Page to backend: start sending this target's frames.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["subscribe"] = "subscribe"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    after_seq: Annotated[int | None, Field(ge=0)]
    """
    Last frame the page has; null for the whole history.
    """


class SweepPlan(Message):
    """
    Measure operations a second against size on the live program: each size for a block in every round, in random order.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    block_s: Annotated[float | None, Field(ge=0.5, le=600.0)] = None
    """
    Measured seconds of a size in a round; null: 2.
    """
    most_s: Annotated[float | None, Field(ge=10.0, le=86400.0)] = None
    """
    Seconds after which it ends at the latest; null: 300.
    """
    loss_percent: Annotated[float | None, Field(ge=0.1, le=100.0)] = None
    """
    It is stopped when this share of the work of that time is lost; null: 20.
    """
    sizes: Annotated[int | None, Field(ge=2, le=32)] = None
    """
    How many sizes are measured, evenly spaced by their logarithm; the size at the start is one more if it is not among them; null: 8.
    """
    seed: Annotated[int | None, Field(ge=0, le=9007199254740991)] = None
    """
    Seed of the order of sizes; null: 1.
    """


class SweepPoint(Message):
    """
    Operations a second at one size, at the mean level of a sweep.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    The size.
    """
    ops_per_s: Annotated[float, Field(ge=0.0)]
    """
    Operations a second.
    """
    low: Annotated[float | None, Field(ge=0.0)]
    """
    Lower end of its interval (95 %, at all times together); null while there is none.
    """
    high: Annotated[float | None, Field(ge=0.0)]
    """
    Upper end of its interval.
    """
    rounds: Annotated[int, Field(ge=1)]
    """
    In so many rounds it was measured.
    """


RefusedItem = TypeAliasType("RefusedItem", Annotated[int, Field(ge=1, le=1048576)])


SweepVerdict = TypeAliasType(
    "SweepVerdict",
    Annotated[
        Literal["open", "decided", "harmful", "unsettled"], Field(title="SweepVerdict")
    ],
)
"""
How a sweep stands: open; decided: the knee is known; harmful: stopped because too much work was lost; unsettled: ended without a knee that is sure.
"""


class TargetDetached(Message):
    """
    Sampling was stopped on request.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_detached"] = "target_detached"


class TargetExited(Message):
    """
    The process exited.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_exited"] = "target_exited"
    exit_code: int | None
    """
    Exit status as from wait(2), if an exit record had it.
    """


class TargetForgotten(Message):
    """
    Collector to backend: an ended target whose frames are no longer kept was dropped.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_forgotten"] = "target_forgotten"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


TargetState = TypeAliasType(
    "TargetState",
    Annotated[Literal["attached", "exited", "detached"], Field(title="TargetState")],
)
"""
attached: being sampled. exited: the process ended; the stream is complete. detached: sampling was stopped on request.
"""


class ThreadBorn(Message):
    """
    A thread was seen for the first time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["thread_born"] = "thread_born"
    tid: Annotated[int, Field(ge=1)]
    """
    Thread id.
    """
    start_ns: int
    """
    Start, nanoseconds since attach; negative if it started before.
    """
    name: str
    """
    Name (comm).
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a group: process in which it happened; null: the target is one process.
    """


InexactItem = TypeAliasType(
    "InexactItem", Annotated[str, Field(max_length=64, min_length=1)]
)


class ThreadExited(Message):
    """
    A thread exited.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["thread_exited"] = "thread_exited"
    tid: Annotated[int, Field(ge=1)]
    """
    Thread id.
    """
    start_ns: int
    """
    Start, nanoseconds since attach.
    """
    name: str
    """
    Last name (comm).
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its last cumulative value, in the field's unit. Unavailable fields are omitted.
    """
    exact: bool
    """
    True if the totals are the kernel's exit record; false if they are the last sample because no exit record arrived.
    """
    seen_alive: bool
    """
    False if it lived only between two samples.
    """
    lifetime_ns: Annotated[int | None, Field(ge=0)] = None
    """
    Lifetime from its exit record, nanoseconds; null without one.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a group: process in which it happened; null: the target is one process.
    """
    inexact: Annotated[list[InexactItem], Field(max_length=64)] = []
    """
    Fields whose value is not exact although the totals are: their value in the totals is the ledger's, a lower bound or (cpu_run_ns) an estimate, or they are left out because the kernel's is longer than the thread's life.
    """


class ThreadNow(Message):
    """
    Activity of a thread, by its last stack.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    tid: Annotated[int, Field(ge=1)]
    """
    Thread.
    """
    state: str
    """
    State at the sample.
    """
    at_ns: Annotated[int, Field(ge=0)]
    """
    When the stack was taken, since attach.
    """
    ended: bool
    """
    Whether that stay is over.
    """
    frames: list[StackFrame]
    """
    Innermost first, at most 8, without the kernel's.
    """


class ThreadRenamed(Message):
    """
    A thread changed its name.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["thread_renamed"] = "thread_renamed"
    tid: Annotated[int, Field(ge=1)]
    """
    Thread id.
    """
    name: str
    """
    New name.
    """
    previous: str
    """
    Previous name.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    For a group: process in which it happened; null: the target is one process.
    """


class TicketRequest(Message):
    """
    Body of POST /api/v1/session/tickets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    path: Annotated[str, Field(max_length=400, min_length=1)]
    """
    Path and query of the download, such as /api/v1/runs/ID/export?format=csv.
    """


class TicketResponse(Message):
    """
    Answer of POST /api/v1/session/tickets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    ticket: str
    """
    Appended to the path as the last parameter of its query, ticket. Good once, for 10 seconds.
    """


AnomalyKind = TypeAliasType(
    "AnomalyKind",
    Annotated[
        Literal["unseen", "missing", "failed", "repeated", "reordered", "improbable"],
        Field(title="AnomalyKind"),
    ],
)
"""
unseen: a call that hardly any reference trace makes. missing: none of a call that nearly all make. failed, repeated, reordered: a call that hardly ever fails, is made so often, or comes so. improbable: its times, or all its calls together, are unlike those of the reference.
"""


class TraceAttribute(Message):
    """
    An attribute of an operation's spans.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    key: str
    """
    Name of the attribute.
    """
    spans: Annotated[int, Field(ge=1)]
    """
    Spans that have it.
    """
    values: Annotated[int, Field(ge=1)]
    """
    Different values.
    """


class TraceDay(Message):
    """
    Requests that began on a day.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    begin_ns: Annotated[int, Field(ge=0)]
    """
    Unix nanoseconds.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces that were analysed.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Traces beyond the bound of a day.
    """


class TraceEndpoint(Message):
    """
    An operation at which requests enter: that of root spans.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces.
    """
    errors: Annotated[int, Field(ge=0)]
    """
    Traces whose root span failed.
    """
    p50_ns: Annotated[int, Field(ge=0)]
    """
    Median duration, nanoseconds.
    """
    p95_ns: Annotated[int, Field(ge=0)]
    """
    95th percentile.
    """
    p99_ns: Annotated[int, Field(ge=0)]
    """
    99th percentile.
    """
    last_ns: Annotated[int, Field(ge=0)]
    """
    Start of the newest, Unix nanoseconds.
    """


TimesN = TypeAliasType("TimesN", Annotated[int, Field(ge=0)])
"""
Time on the critical path, nanoseconds.
"""


BoundsN = TypeAliasType("BoundsN", Annotated[int, Field(ge=0)])
"""
Nanoseconds.
"""


Count = TypeAliasType("Count", Annotated[int, Field(ge=0)])
"""
Traces.
"""


class TraceHistogram(Message):
    """
    How long traces took.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    bounds_ns: list[BoundsN]
    """
    Edges, ascending, one more than counts.
    """
    counts: list[Count]
    """
    Traces between two edges.
    """


class TraceOperation(Message):
    """
    An operation of a service.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """


class TracePathPart(Message):
    """
    A stretch of a critical path: while it lasts, the trace waits for this span itself.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    span_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    16 hex digits, or text of another form.
    """
    start_ns: Annotated[int, Field(ge=0)]
    """
    Unix nanoseconds.
    """
    end_ns: Annotated[int, Field(ge=0)]
    """
    Unix nanoseconds.
    """


class TraceQuantiles(Message):
    """
    Quantiles of how long traces took.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    p50_ns: Annotated[int, Field(ge=0)]
    """
    Median, nanoseconds.
    """
    p95_ns: Annotated[int, Field(ge=0)]
    """
    95th percentile, nanoseconds.
    """
    p99_ns: Annotated[int, Field(ge=0)]
    """
    99th percentile, nanoseconds.
    """


class TraceSet(Message):
    """
    One of two sets of traces that are compared.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    traces: Annotated[int, Field(ge=0)]
    """
    Traces.
    """
    quantiles: TraceQuantiles


TraceShapeName = TypeAliasType(
    "TraceShapeName",
    Annotated[
        Literal[
            "spans",
            "operations",
            "duration_ns",
            "depth",
            "path_spans",
            "concurrency",
            "path_operations",
            "callers",
        ],
        Field(title="TraceShapeName"),
    ],
)
"""
Property. spans, operations, depth: of a request. duration_ns: its latency. concurrency: calls without calls of their own that ran at once. path_spans, path_operations: on its critical path. callers: operations that call an operation.
"""


Bound = TypeAliasType("Bound", Annotated[int, Field(ge=0)])
"""
Value.
"""


Count1 = TypeAliasType("Count1", Annotated[int, Field(ge=0)])
"""
Number.
"""


class TraceShape(Message):
    """
    Distribution of one property.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[TraceShapeName, Field(title="TraceShapeName")]
    """
    Property. spans, operations, depth: of a request. duration_ns: its latency. concurrency: calls without calls of their own that ran at once. path_spans, path_operations: on its critical path. callers: operations that call an operation.
    """
    mean: Annotated[float, Field(ge=0.0)]
    """
    Mean.
    """
    p50: Annotated[int, Field(ge=0)]
    """
    Median.
    """
    p95: Annotated[int, Field(ge=0)]
    """
    95th percentile.
    """
    most: Annotated[int, Field(ge=0)]
    """
    Greatest value.
    """
    bounds: list[Bound]
    """
    Edges, ascending, one more than counts.
    """
    counts: list[Count1]
    """
    Requests, or operations, from an edge to below the next.
    """


class TraceSkew(Message):
    """
    Effects of disagreeing clocks on a trace.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    truncated: Annotated[int, Field(ge=0)]
    """
    Spans that reached beyond their parent, and were cut.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Spans that lay outside their parent, and were left out with those below them.
    """


SpanKind = TypeAliasType(
    "SpanKind",
    Annotated[
        Literal["internal", "server", "client", "producer", "consumer"],
        Field(title="SpanKind"),
    ],
)
"""
Part of the span in a call.
"""


class TraceSpan(Message):
    """
    A span of a trace.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    span_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    16 hex digits, or text of another form.
    """
    parent_id: Annotated[
        str, Field(pattern="^([0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63})?$")
    ]
    """
    16 hex digits, or text of another form; empty: a root.
    """
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    start_ns: Annotated[int, Field(ge=0)]
    """
    Unix nanoseconds.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds.
    """
    kind: Annotated[SpanKind, Field(title="SpanKind")]
    """
    Part of the span in a call.
    """
    error: bool
    """
    Whether it failed.
    """
    pid: Annotated[int | None, Field(ge=0)]
    """
    Process, of the resource attribute process.pid; null: not known.
    """
    thread_id: Annotated[int | None, Field(ge=0)]
    """
    Thread, of the attribute thread.id; null: not known.
    """
    attributes: dict[str, str]
    """
    Attributes of the span and of its resource, as text.
    """


class TraceSummary(Message):
    """
    A trace in a list.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    trace_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    32 hex digits, or text of another form.
    """
    service: str
    """
    Service of its root span.
    """
    operation: str
    """
    Operation of its root span.
    """
    start_ns: Annotated[int, Field(ge=0)]
    """
    Start of its root span, Unix nanoseconds.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    Duration of the root span, nanoseconds.
    """
    spans: Annotated[int, Field(ge=0)]
    """
    Spans.
    """
    services: Annotated[int, Field(ge=0)]
    """
    Services.
    """
    errors: Annotated[int, Field(ge=0)]
    """
    Spans that failed.
    """
    on_path_ns: Annotated[int | None, Field(ge=0)] = None
    """
    How long the request waited for the process or thread that was asked for, within the window: own time of its spans on the critical path, nanoseconds; null: none was asked for.
    """


InclusiveN = TypeAliasType("InclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds.
"""


ExclusiveN = TypeAliasType("ExclusiveN", Annotated[int, Field(ge=0)])
"""
Nanoseconds.
"""


CountItem = TypeAliasType("CountItem", Annotated[int, Field(ge=0)])
"""
Traces.
"""


class TraceTree(Message):
    """
    Critical paths of traces, summed as a tree of calls; a row for each node, parents before children.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: list[TraceOperation]
    """
    Operation of each node.
    """
    parent: list[ParentItem]
    """
    Row of its parent.
    """
    inclusive_ns: list[InclusiveN]
    """
    On critical paths with all below it, sum over the traces.
    """
    exclusive_ns: list[ExclusiveN]
    """
    On critical paths itself, sum over the traces.
    """
    count: list[CountItem]
    """
    Traces on whose critical path it is.
    """
    exemplars: list[list[Exemplar]]
    """
    The traces in which it took longest, up to three, the slowest first.
    """


TraceValueKind = TypeAliasType(
    "TraceValueKind",
    Annotated[Literal["value", "other", "absent"], Field(title="TraceValueKind")],
)
"""
other: all values that are not listed. absent: spans without the attribute.
"""


Count2 = TypeAliasType("Count2", Annotated[int, Field(ge=0)])
"""
Spans.
"""


class TraceValue(Message):
    """
    Own time of the spans with one value of an attribute.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: Annotated[TraceValueKind, Field(title="TraceValueKind")]
    """
    other: all values that are not listed. absent: spans without the attribute.
    """
    value: str
    """
    The value; empty for other kinds.
    """
    values: Annotated[int, Field(ge=0)]
    """
    Different values.
    """
    spans: Annotated[int, Field(ge=1)]
    """
    Spans on critical paths.
    """
    traces: Annotated[int, Field(ge=1)]
    """
    Traces with such a span.
    """
    own_ns: Annotated[int, Field(ge=0)]
    """
    Own time of all spans, nanoseconds.
    """
    mean_ns: Annotated[int, Field(ge=0)]
    """
    Mean of a span.
    """
    p50_ns: Annotated[int, Field(ge=0)]
    """
    Median of a span.
    """
    p95_ns: Annotated[int, Field(ge=0)]
    """
    95th percentile.
    """
    most_ns: Annotated[int, Field(ge=0)]
    """
    The longest.
    """
    counts: list[Count2]
    """
    Spans between two edges.
    """


class TraceValues(Message):
    """
    GET /api/v1/traces/values: an operation's own time on critical paths, by the value of an attribute.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    traces: Annotated[int, Field(ge=0)]
    """
    Traces that were analysed.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Traces in the window beyond the bound of one analysis.
    """
    key: str
    """
    The attribute: the one asked for, or the first of keys. Empty: the operation's spans have none.
    """
    keys: Annotated[list[TraceAttribute], Field(max_length=100)]
    """
    Attributes of the operation's spans on critical paths: first those with 2 to 12 values, then by spans.
    """
    bounds_ns: list[BoundsN]
    """
    Edges of the buckets, ascending, one more than counts; empty without spans.
    """
    rows: list[TraceValue]
    """
    Values by own time, up to 12; then the others together, and spans without the attribute.
    """


class TracesImported(Message):
    """
    POST /api/v1/traces/import, and spans received.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    traces: Annotated[int, Field(ge=0)]
    """
    Traces.
    """
    spans: Annotated[int, Field(ge=0)]
    """
    Spans that were stored.
    """
    rejected: Annotated[int, Field(ge=0)]
    """
    Spans that were malformed, or repeated one of the same trace.
    """
    reasons: list[str]
    """
    Why, a few of them.
    """


class TracesReceived(Message):
    """
    Spans received since the backend started.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    spans: Annotated[int, Field(ge=0)]
    """
    Spans that were stored.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces in the store at present.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Spans that were refused because queues were full, or lost because the disk was.
    """
    rejected: Annotated[int, Field(ge=0)]
    """
    Spans that were malformed, or repeated one of the same trace.
    """
    expired: Annotated[int, Field(ge=0)]
    """
    Spans that were deleted because of their age or because the store was full.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Size of the store on disk, bytes.
    """
    refused: Annotated[int, Field(ge=0)]
    """
    Requests of senders that were asked to come again later, because queues were full.
    """
    http_port: Annotated[int | None, Field(ge=0)]
    """
    Port of this machine at which OTLP/HTTP is received; null: it is not.
    """
    grpc_port: Annotated[int | None, Field(ge=0)]
    """
    Port of this machine at which OTLP/gRPC is received; null: it is not.
    """


class Unsubscribe(Message):
    """
    Page to backend: stop sending.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["unsubscribe"] = "unsubscribe"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class Actor(Message):
    """
    Actor who requested a change, for events and the audit logs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    session: Annotated[str | None, Field(max_length=64)]
    """
    Id of the session; null: none, a token was shown with the request, or a person used the command line of the machine.
    """
    role: Role | None
    """
    Role of the actor; null if none was granted.
    """
    label: Annotated[str, Field(max_length=128)]
    """
    Page, program or user, and its address.
    """


class AttachCommand(Message):
    """
    Attach to a process or a group of processes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["attach_command"] = "attach_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    pid: Annotated[int | None, Field(ge=1)]
    """
    Process id (thread group id) as the collector's PID namespace counts. null: a group is asked for.
    """
    start_ticks: Annotated[int | None, Field(ge=0)]
    """
    Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
    """
    group: GroupSelector | None = None
    """
    The group to attach to; either this or pid is given.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """
    role_rules: Annotated[list[RoleRule] | None, Field(max_length=32)] = None
    """
    A person's own roles, which stand before those that the collector was started with, in their order; null or missing: none.
    """
    actor: Actor
    continues: Annotated[str | None, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")] = None
    """
    The earlier target, of a collector that has gone, in whose place this one is attached.
    """


class AttachRequest(Message):
    """
    Body of POST /api/v1/targets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: str | None = None
    """
    Host id; may be omitted if there is one host.
    """
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Process id (thread group id) as the collector's PID namespace counts. null: a group is asked for.
    """
    start_ticks: Annotated[int | None, Field(ge=0)] = None
    """
    Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
    """
    group: GroupSelector | None = None
    """
    The group to attach to; either this or pid is given.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)] = 10
    """
    Samples a second.
    """
    role_rules: Annotated[list[RoleRule] | None, Field(max_length=32)] = None
    """
    A person's own roles, which stand before those that the collector was started with, in their order; null or missing: none.
    """


class AuditRecord(Message):
    """
    A line of an audit log.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    unix_us: Annotated[int, Field(ge=0)]
    """
    When, microseconds since 1970.
    """
    action: AuditAction
    outcome: Annotated[AuditOutcome, Field(title="AuditOutcome")]
    """
    started: logged before it is done; a second line has the outcome.
    """
    actor: Actor
    object: Annotated[str | None, Field(max_length=256)]
    """
    Object of the action: ID of a target, run or session, a process, or a host; null: the whole process.
    """
    details: Annotated[AuditDetails, Field(title="AuditDetails")]
    """
    Details of the request, and the reason of a refusal.
    """
    lost: Annotated[int, Field(ge=0)]
    """
    Lines before this one that could not be written, or were left out because too many came at once.
    """


class CatalogueField(Message):
    """
    One measured value.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(pattern="^[a-z][a-z0-9_]*$")]
    """
    Name on the wire, in files and in exports; the unit is in it.
    """
    label: str
    """
    Display name.
    """
    unit: Annotated[Unit, Field(title="Unit")]
    """
    Unit on the wire.
    """
    kind: Annotated[FieldKind, Field(title="FieldKind")]
    """
    A counter only grows while the thread lives; a gauge is a value at an instant.
    """
    scope: Annotated[FieldScope, Field(title="FieldScope")]
    """
    Whether each thread has one, or the process as a whole.
    """
    group: Annotated[FieldGroup, Field(title="FieldGroup")]
    """
    Subject.
    """
    taskstats: str | None
    """
    Member of struct taskstats; null if it does not come from there.
    """
    since_version: Annotated[int | None, Field(ge=0)]
    """
    First taskstats version that has it; null if no upstream version has.
    """
    procfs: str | None
    """
    File of /proc/PID/task/TID and the value in it, used when taskstats is unavailable; null if /proc does not have it.
    """
    provenance: Provenance
    meaning: str
    """
    One line.
    """


class CollectorInfo(Message):
    """
    The collector of a host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id (thread group id) as the collector's PID namespace counts.
    """
    version: str
    """
    Version of tidscope.
    """
    privileged: bool
    """
    Whether it may use taskstats (CAP_NET_ADMIN).
    """
    source: SampleSource
    reason: str
    """
    Why this source.
    """
    max_targets: Annotated[int, Field(ge=0)]
    """
    Maximum number of targets at once.
    """


class CollectorOutage(Message):
    """
    The last time that a host's collector went away.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: OutageKind
    at_unix_us: Annotated[int, Field(ge=0)]
    """
    When it went, Unix microseconds.
    """
    back_unix_us: Annotated[int | None, Field(ge=0)]
    """
    When a collector was back, Unix microseconds; null: it is still away.
    """
    attached: Annotated[list[AttachedItem], Field(max_length=64)]
    """
    Names of the targets that were attached again.
    """
    steered: Annotated[list[SteeredItem], Field(max_length=64)] = []
    """
    Programs whose policies were started again.
    """
    failed: Annotated[list[FailedItem], Field(max_length=64)]
    """
    Targets that could not be attached again, and policies that could not be started again, each with the reason.
    """
    restored: Annotated[list[RestoredProgram], Field(max_length=64)]
    """
    Programs that the new collector restored at its start.
    """
    leases: Annotated[list[Lease], Field(max_length=64)]
    """
    Programs that were steered through an agent: it restores the size by itself when its lease ends.
    """


class ComparedMetric(Message):
    """
    One row of the table of differences.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    metric: str
    """
    Name of a catalogue field, or of a metric derived from fields; of a pool of workers pool:NAME:FIGURE.
    """
    label: str
    """
    Display name.
    """
    unit: str
    """
    Such as s, bytes or count; that of a rate ends with /s, such as ns/s.
    """
    role: str | None
    """
    Label of the matched role; null: the whole process.
    """
    provenance: Provenance
    better: Better
    groups: list[GroupFigure]
    """
    One per group.
    """
    differences: list[FigureDifference]
    """
    One for each group but the first.
    """


class ComparedRun(Message):
    """
    A run, or a window of one, in a comparison.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[
        str,
        Field(
            pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}(@[0-9]{1,7}(\\.[0-9]{1,3})?-[0-9]{1,7}(\\.[0-9]{1,3})?)?$"
        ),
    ]
    """
    Id of a run; of a window of it RUN@FROM-TO, seconds from its start.
    """
    name: Annotated[str, Field(max_length=160)]
    """
    Display name; of a window with what it is of the run.
    """
    group: Annotated[int, Field(ge=0)]
    """
    Number of its group in the comparison, from 0.
    """
    zero_ns: Annotated[int, Field(ge=0)]
    """
    The run's zero on the comparison's time axis. Nanoseconds since attach, as in the target's frames.
    """
    started_unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock at its first frame, microseconds.
    """
    align_problem: str | None
    """
    Why it could not be aligned as requested and is aligned at its start instead; null if it could.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    From its first frame to its last (of the window), nanoseconds.
    """
    losses: RunLosses
    children_cpu_us: Annotated[int | None, Field(ge=0)] = None
    """
    CPU time of children that the recorded command waited for, microseconds; a run of one process does not show it. Null: not known, or the run is not of a command.
    """


class Comparison(Message):
    """
    GET /api/v1/compare.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    align: AlignKind
    mark: Annotated[str | None, Field(max_length=200)]
    """
    Text of the mark that runs are aligned at; null with another alignment.
    """
    basis: CompareBasis
    split: CompareSplit
    several_processes: bool
    """
    Whether a run is of a group of processes, so that roles can be split by process.
    """
    same_length: bool
    """
    Whether the runs' durations differ by at most 5 % of the longest; totals get a verdict only then.
    """
    runs: list[ComparedRun]
    """
    In the requested order.
    """
    groups: list[ComparedGroup]
    """
    The first is the baseline.
    """
    setup: list[SetupDifference]
    """
    Differences in set-up, most important first.
    """
    roles: list[MatchedRole]
    """
    The busiest first.
    """
    metrics: list[ComparedMetric]
    """
    Metrics of the whole process first, then of pools of workers, then by role.
    """
    series: list[ComparedSeries]
    """
    Series by metric, role and run.
    """
    confidence: str
    """
    How the intervals were computed, one sentence.
    """


class CutRingCommand(Message):
    """
    Cut a run out of the ring of the host, and pack it; answered with a CutRingReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["cut_ring_command"] = "cut_ring_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    cut: RingCut


class DailySeries(Message):
    """
    A figure day by day.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    values: list[float | None]
    """
    One for each day.
    """
    trend: DailyTrend | None
    """
    Null: fewer than five days have traces.
    """
    direction: Annotated[TrendDirection, Field(title="TrendDirection")]
    """
    up or down: a trend at the 5 % level, corrected for the number of series in the report.
    """


class DetachCommand(Message):
    """
    Stop sampling a target.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["detach_command"] = "detach_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    actor: Actor


class DifferenceTree(Message):
    """
    Critical paths of two sets of traces as one tree of calls; means over all traces of a set.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: list[TraceOperation]
    """
    Operation of each node.
    """
    parent: list[ParentItem]
    """
    Row of its parent.
    """
    base_inclusive_ns: list[BaseInclusiveN]
    """
    With all below it.
    """
    other_inclusive_ns: list[OtherInclusiveN]
    """
    With all below it.
    """
    base_exclusive_ns: list[BaseExclusiveN]
    """
    Itself.
    """
    other_exclusive_ns: list[OtherExclusiveN]
    """
    Itself.
    """
    exemplars: list[list[Exemplar]]
    """
    The traces in which it took longest, up to three, the slowest first.
    """


class DoctorReply(Message):
    """
    The host's report.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["doctor_reply"] = "doctor_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    report: DoctorReport


class ErrorPath(Message):
    """
    Failing calls from the request down to the first that failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    path: list[TraceOperation]
    """
    From the root on.
    """
    count: Annotated[int, Field(ge=0)]
    """
    Traces.
    """
    exemplar: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    A trace: 32 hex digits, or text of another form.
    """


class ExperimentChild(Message):
    """
    An experiment that the backend carries out.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Name of the file, without .toml.
    """
    preset: ExperimentPreset
    exit_code: int | None
    """
    How it ended, as tidscope experiment ends; null: it runs.
    """
    started_unix_us: int
    """
    Unix microseconds.
    """
    messages: list[str]
    """
    The last lines that it said; empty for viewers.
    """


class ExperimentFigure(Message):
    """
    A figure of a cell, over its repeats.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Name.
    """
    label: str
    """
    In words.
    """
    unit: str
    """
    Unit; empty: it has none.
    """
    figure: GroupFigure
    gain: FigureDifference | None
    """
    Against the baseline of the cell; null: it has none, or the figure is unknown there.
    """
    adjusted_p: Annotated[float | None, Field(ge=0.0, le=1.0)]
    """
    p-value of the gain by the paired t test, with Holm's correction for all comparisons of this figure; null: there is none.
    """
    comparisons: Annotated[int, Field(ge=0)]
    """
    Number of comparisons of this figure in the experiment.
    """


class ExperimentLength(Message):
    """
    A preset of a file, and how long it takes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    preset: ExperimentPreset
    least_s: float | None
    """
    Seconds that it takes at least, builds excluded; null: unknown.
    """


class FieldCatalogue(Message):
    """
    All fields that tidscope measures; labels, run manifests, exports and docs are derived from it. Body of GET /api/v1/fields.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    fields: list[CatalogueField]
    """
    In column order.
    """


class FleetAcross(Message):
    """
    GET /api/v1/fleet/across: a role on all hosts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_us: Annotated[int, Field(ge=0)]
    """
    Start of the window, Unix microseconds.
    """
    to_us: Annotated[int, Field(ge=0)]
    """
    End of the window, Unix microseconds.
    """
    step_us: Annotated[int, Field(ge=1)]
    """
    Length of a step of the window, microseconds.
    """
    counter: str
    """
    Name of a counter in the field catalogue.
    """
    label: str
    """
    Display name of the counter.
    """
    unit: str
    """
    Unit of a value: that of the counter per second.
    """
    note: str | None
    """
    Why rows are absent from the answer, one sentence; null if none are.
    """
    p10: list[float | None]
    """
    Value below which a tenth of the hosts is, by step.
    """
    median: list[float | None]
    """
    Median of the hosts, by step.
    """
    p90: list[float | None]
    """
    Value below which nine tenths of the hosts are, by step.
    """
    hosts: list[FleetValue]
    """
    Hosts with the role and the counter, greatest value first.
    """
    curves: list[FleetCurve]
    """
    Curves of the hosts farthest from the median.
    """


class FleetComparison(Message):
    """
    GET /api/v1/fleet/compare: two sets of hosts, each host a repeat.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_us: Annotated[int, Field(ge=0)]
    """
    Start of the window, Unix microseconds.
    """
    to_us: Annotated[int, Field(ge=0)]
    """
    End of the window, Unix microseconds.
    """
    step_us: Annotated[int, Field(ge=1)]
    """
    Length of a step of the window, microseconds.
    """
    note: str | None
    """
    Why rows are absent from the answer, one sentence; null if none are.
    """
    first: list[FirstItem]
    """
    Names of the hosts of the baseline.
    """
    other: list[OtherItem]
    """
    Names of the hosts of the other set.
    """
    metrics: list[FleetMetric]
    """
    Counters that a host of each set has.
    """
    confidence: str
    """
    How the intervals were computed, one sentence.
    """


class FleetHosts(Message):
    """
    GET /api/v1/fleet/hosts: what each host did in a window.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_us: Annotated[int, Field(ge=0)]
    """
    Start of the window, Unix microseconds.
    """
    to_us: Annotated[int, Field(ge=0)]
    """
    End of the window, Unix microseconds.
    """
    step_us: Annotated[int, Field(ge=1)]
    """
    Length of a step of the window, microseconds.
    """
    kept: bool
    """
    Whether totals by role are kept on disk; if not, only the last minutes are known.
    """
    note: str | None
    """
    Why rows are absent from the answer, one sentence; null if none are.
    """
    hosts: list[FleetHost]
    """
    Hosts with rows in the window, and connected ones.
    """
    roles: list[FleetRole]
    """
    Roles in the window, on most hosts first.
    """


class Group(Message):
    """
    A group of processes that is a target.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: GroupKind
    value: str | None
    """
    Value as in the selector; null for a tree.
    """
    name: str
    """
    Name as shown, such as: make -j4 and its descendants.
    """
    cgroup: str | None
    """
    Path of its cgroup below the cgroup mount; null for a tree or a match.
    """
    discovery: Annotated[GroupDiscovery, Field(title="GroupDiscovery")]
    """
    How processes are found that join it: ebpf: the kernel reports each fork, exec and exit. polling: lists are read with each sample, so a process that lives only between two of them may be missed.
    """
    discovery_reason: str
    """
    Why this way.
    """


class HeatChain(Message):
    """
    A chain of calls in a cell of the heat map.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    chain: list[TraceOperation]
    """
    From the root on.
    """
    ns: Annotated[int, Field(ge=0)]
    """
    Own time of the operation on the critical path, nanoseconds.
    """


class Host(Message):
    """
    A machine running a collector.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^h-[0-9a-f]{12}$")]
    """
    Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
    """
    name: str
    """
    Host name.
    """
    kernel: str
    """
    Kernel release.
    """
    cpus: Annotated[int, Field(ge=1)]
    """
    CPUs online.
    """
    cpu_model: str
    """
    CPU model name.
    """
    memory_bytes: Annotated[int, Field(ge=0)]
    """
    Total memory.
    """
    connected: bool
    """
    Whether its collector is connected.
    """
    labels: Annotated[dict[str, LabelsAdditionalProperty], Field(max_length=32)] = {}
    """
    Labels of the host: what it and its operators know of it, such as a region.
    """
    collector: CollectorInfo
    outage: CollectorOutage | None = None
    """
    The last time that its collector went away without a restart of the backend; null: it never did. Set by the backend.
    """
    clock_ahead_us: int | None = None
    """
    Wall clock of the host minus that of the backend when the collector connected, microseconds; null: unknown. Set by the backend.
    """


class HostsResponse(Message):
    """
    GET /api/v1/hosts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    hosts: list[Host]
    """
    Known hosts.
    """


LiveCommand = TypeAliasType(
    "LiveCommand",
    Annotated[
        Subscribe | Unsubscribe | FrameAck,
        Field(discriminator="type", title="LiveCommand"),
    ],
)
"""
Page to backend.
"""


class LiveProblem(Message):
    """
    Backend to page: a command was rejected.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["live_problem"] = "live_problem"
    problem: Problem


class LockPlaces(Message):
    """
    Code in which a lock is waited for, released and held.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    lock: Annotated[int, Field(ge=1)]
    """
    Number of the lock.
    """
    waits: StackPlace | None
    releases: StackPlace | None
    holds: StackPlace | None
    """
    Code of the threads that ended the waits, while the waits lasted.
    """


class NameThreadsCommand(Message):
    """
    Names for threads of a target that have the name of their process; others keep theirs. Answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["name_threads_command"] = "name_threads_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    names: Annotated[list[SpanThreadName], Field(max_length=256)]
    """
    Names by thread; the first of several for one thread counts.
    """


class OperationDays(Message):
    """
    An operation's own time as a share of the time of all critical paths, 0 to 1, day by day.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    shares: DailySeries


class PolicyInfo(Message):
    """
    An available steering policy.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    meaning: Annotated[str, Field(max_length=256)]
    """
    One sentence.
    """
    source: Annotated[str, Field(max_length=256)]
    """
    Origin: the paper or program.
    """
    wait: bool
    """
    Whether it steers on queue wait instead of throughput.
    """
    parameters: list[PolicyParameter]
    """
    Parameters of the policy.
    """


class PredictionModel(Message):
    """
    A model of the prediction service, as the daemon describes it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64)]
    """
    Unique among those of its owner.
    """
    owner: Annotated[int, Field(ge=0)]
    """
    User id that it belongs to.
    """
    sharing: Literal["off", "read", "write"]
    """
    Rights of other users on the model.
    """
    threshold: Annotated[int, Field(ge=0)]
    """
    A sum of weights this far from 0 is sure.
    """
    limit: Annotated[int, Field(ge=0)]
    """
    Largest weight.
    """
    updates: Annotated[int, Field(ge=0)]
    """
    Answers that it learnt from.
    """
    hits: Annotated[int, Field(ge=0)]
    """
    Answers that the model had predicted.
    """
    undecided: Annotated[int, Field(ge=0)]
    """
    Answers that the model had no prediction for.
    """
    resets: Annotated[int, Field(ge=0)]
    """
    Resets of parts or of all of it.
    """
    used_weights: Annotated[int, Field(ge=0)]
    """
    Weights that are not 0, of 16384.
    """
    users: Annotated[int, Field(ge=0)]
    """
    Connections that have it open.
    """
    shown_users: Annotated[list[PredictionUser], Field(max_length=16)]
    """
    The first of them.
    """
    administered: bool
    """
    Whether the backend's user may reset it.
    """


class PredictionService(Message):
    """
    GET /api/v1/predictions: the prediction service of the backend's host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    reason: str | None
    """
    Why there is none; null: it answers.
    """
    models: Annotated[list[PredictionModel], Field(max_length=256)]
    """
    Models that the backend's user may see.
    """


class Process(Message):
    """
    A process that can be attached to.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id (thread group id) as the collector's PID namespace counts.
    """
    start_ticks: Annotated[int, Field(ge=0)]
    """
    Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
    """
    started_unix_ms: Annotated[int, Field(ge=0)]
    """
    When it started, Unix milliseconds.
    """
    name: str
    """
    Name (comm), at most 15 bytes.
    """
    command: str | None
    """
    Command line, arguments joined by spaces, what looks like a secret left out; its comm in brackets if there is none; null: hidden, since arguments are not for viewers.
    """
    executable: str | None
    """
    Path of its executable; null if it cannot be read.
    """
    uid: Annotated[int, Field(ge=0)]
    """
    Real user id.
    """
    user: str
    """
    User name, or the uid as text.
    """
    threads: Annotated[int, Field(ge=0)]
    """
    Number of threads.
    """
    cpu_percent: float | None
    """
    CPU since the previous listing, 100 = one core; null in the first.
    """
    rss_bytes: Annotated[int | None, Field(ge=0)]
    """
    Resident memory.
    """
    runtime: Runtime
    runtime_version: str | None
    """
    Such as go1.26.8; null if unknown.
    """
    ports: list[Port]
    """
    TCP ports it listens on.
    """
    refusal: Problem | None
    """
    Why it cannot be attached to; null if it can.
    """
    parent: Annotated[int | None, Field(ge=1)] = None
    """
    Process id of its parent; null if there is none that the collector sees.
    """
    cgroup: str | None = None
    """
    Path of its cgroup below the cgroup mount; null if it cannot be read.
    """
    unit: str | None = None
    """
    systemd unit that it belongs to; null: none.
    """
    container: ProcessContainer | None = None
    """
    Container that it runs in; null: none.
    """
    namespace_pid: Annotated[int | None, Field(ge=1)] = None
    """
    Process ID inside the process's own PID namespace; null if that is the collector's.
    """
    namespace_uid: Annotated[int | None, Field(ge=0)] = None
    """
    Real user ID inside the process's own user namespace; null if that is the same.
    """
    namespace_user: Annotated[str | None, Field(max_length=64)] = None
    """
    Name of its user by its own /etc/passwd, where that is another one than user; null otherwise.
    """
    wait_percent: float | None = None
    """
    Run-queue delay of its main thread since the previous listing, 100 = all the time; null in the first, or if it cannot be read.
    """
    throttled_percent: float | None = None
    """
    How long its control group, or one above it, was throttled by its CPU limit since the previous listing, 100 = one CPU all the time; null in the first, or without a limit.
    """


class ProcessesReply(Message):
    """
    The processes of the host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["processes_reply"] = "processes_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    processes: list[Process]
    """
    Visible processes; `note` says if some are left out.
    """
    note: str = ""
    """
    Processes left out because the list is too long for a message, such as `1,200 of 40,000 processes are listed`; empty if none.
    """


class ProcessesResponse(Message):
    """
    GET /api/v1/processes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: Annotated[str, Field(pattern="^h-[0-9a-f]{12}$")]
    """
    Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
    """
    processes: list[Process]
    """
    Visible processes; `note` says if some are left out.
    """
    note: str = ""
    """
    Processes left out because the list is too long for a message, such as `1,200 of 40,000 processes are listed`; empty if none.
    """


class ProgramChoice(Message):
    """
    A program of a group that is to be steered, and what is its own.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id, as the collector's PID namespace counts.
    """
    knob: KnobKind | None = None
    """
    Knob to set; null: the best available.
    """
    signal: SignalKind | None = None
    """
    Signal to steer on; null: the best available.
    """
    lower: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Smallest allowed size; null: the knob's.
    """
    upper: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Largest allowed size; null: the knob's.
    """
    prometheus: PrometheusCounter | None = None
    """
    Counter, if the signal is prometheus.
    """
    share: Annotated[float | None, Field(ge=0.01, le=1000.0)] = None
    """
    Policy arbiter: weight of its throughput, compared with the other programs; null: 1.
    """
    floor: Annotated[int | None, Field(ge=0, le=4096)] = None
    """
    Policy arbiter: cores that it has at least; null: its smallest size.
    """
    priority: Annotated[int | None, Field(ge=-100, le=100)] = None
    """
    Policy arbiter: programs of a higher one get what they can use before others get more than their floors; null: 0.
    """


class ProofState(Message):
    """
    Results of a proof so far.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    verdict: ProofVerdict
    pairs: Annotated[int, Field(ge=0)]
    """
    Pairs of blocks that were measured.
    """
    discarded: Annotated[int, Field(ge=0)]
    """
    Pairs that do not count: the program did nothing in a block, or entered another phase.
    """
    gain_percent: float | None
    """
    Gain of throughput by the policy; null before the first pair.
    """
    low_percent: Annotated[float | None, Field(ge=-100.0)]
    """
    Lower end of its interval (95 %, at all times together); null while there is none.
    """
    high_percent: float | None
    """
    Upper end of its interval.
    """
    p99: MeasuredChange | None = None
    """
    Change of the 99th percentile of response times by the policy; null: none is known.
    """
    p99_missing: Annotated[str | None, Field(max_length=256)] = None
    """
    Why no response times are known; null: they are, or there was no pair yet.
    """
    lost_s: float
    """
    Work lost while the policy steered, in seconds of what the program does without it; negative where it did more.
    """
    elapsed_s: Annotated[float, Field(ge=0.0)]
    """
    Seconds since it began.
    """
    steers: bool
    """
    Whether the policy steers at present; otherwise the program has its own size.
    """
    text: Annotated[str, Field(max_length=1024)]
    """
    Result in words.
    """


class ReleaseCommand(Message):
    """
    Stop steering and restore the original size; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["release_command"] = "release_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    actor: Actor
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: all of them, or the one process that the target is.
    """


class RestartSearchCommand(Message):
    """
    Restart the policy's search; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["restart_search_command"] = "restart_search_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    actor: Actor
    pid: Annotated[int | None, Field(ge=1)] = None
    """
    Program of a group; null: all of them, or the one process that the target is.
    """


class RunPatch(Message):
    """
    Body of PATCH /api/v1/runs/{id}; omitted members stay unchanged.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=120)] = None
    """
    Display name.
    """
    tags: Annotated[list[Tag] | None, Field(max_length=32)] = None
    """
    Tags.
    """
    group: Annotated[str | None, Field(max_length=80)] = None
    """
    Runs of one group are repeats of one another; null: not in a group.
    """
    notes: Annotated[str | None, Field(max_length=20000)] = None
    """
    Free-text notes.
    """
    marks: Annotated[list[RunMark] | None, Field(max_length=256)] = None
    """
    All marks.
    """
    outcome: RunOutcome | None = None
    """
    How the command ended.
    """
    results: Annotated[list[RunResult] | None, Field(max_length=16)] = None
    """
    All results.
    """


class RunPolicy(Message):
    """
    A policy that started to steer the target during a run, or was already steering when it began.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach, as in the target's frames.
    """
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    shadow: bool
    """
    Shadow mode: decides without acting.
    """
    knob: KnobKind
    signal: SignalKind
    lower: Annotated[int, Field(ge=1)]
    """
    Smallest size allowed.
    """
    upper: Annotated[int, Field(ge=1)]
    """
    Largest size allowed.
    """


class RunSummary(Message):
    """
    A run in the list of runs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Run id: start time in UTC and six random hex digits.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    Display name.
    """
    tags: Annotated[list[Tag], Field(max_length=32)]
    """
    Tags.
    """
    group: Annotated[str | None, Field(max_length=80)]
    """
    Runs of one group are repeats of one another; null: not in a group.
    """
    notes: Annotated[str, Field(max_length=20000)]
    """
    Free-text notes.
    """
    state: RunState
    end: RunEnd | None
    """
    Why it ended; null while it is being recorded.
    """
    end_detail: str
    """
    End of the run in a sentence, with what is missing.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was requested, Unix microseconds.
    """
    started_unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock of its first frame, Unix microseconds.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    From its first frame to its last, nanoseconds.
    """
    host_name: str
    """
    Name of the host.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    pid: Annotated[int, Field(ge=1)]
    """
    Process id.
    """
    process: str
    """
    Comm of the process.
    """
    command: str | None
    """
    Command line of the process; null: hidden, since arguments are not for viewers.
    """
    target_group: Group | None = None
    """
    The group of processes that was recorded; null: one process.
    """
    policies: list[str]
    """
    Policies that steered the target, in order.
    """
    losses: RunLosses
    children_cpu_us: Annotated[int | None, Field(ge=0)] = None
    """
    CPU time of children that the recorded command waited for, microseconds; a run of one process does not show it. Null: not known, or the run is not of a command.
    """
    counts: RunCounts
    exit_code: int | None
    """
    Exit code of the command that was recorded; null if a signal ended it, or if the run is not of a command.
    """
    signal: Annotated[str | None, Field(max_length=20)]
    """
    Name of the signal that ended the command, such as SIGKILL; null if none did.
    """
    imported: bool
    """
    It was imported.
    """


class RunsResponse(Message):
    """
    GET /api/v1/runs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    runs: list[RunSummary]
    """
    Newest first.
    """
    deleted: list[RunSummary]
    """
    Runs in the trash, which can be restored.
    """
    damaged: list[DamagedRun]
    """
    Folders that cannot be read.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of all runs, the trash included.
    """
    free_bytes: Annotated[int, Field(ge=0)]
    """
    Free space on the disk.
    """
    retention: Retention


class SampleStacksCommand(Message):
    """
    Take stacks of a target for a while; the latest end of several leases counts. Answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["sample_stacks_command"] = "sample_stacks_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    seconds: Annotated[float, Field(gt=0.0, le=3600.0)]
    """
    Length of the lease, from now on.
    """
    actor: Actor


class SetDelayAccountingCommand(Message):
    """
    Switch the kernel's delay accounting; answered with a DoctorReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["set_delay_accounting_command"] = "set_delay_accounting_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    on: bool
    """
    New value of kernel.task_delayacct. It affects only threads started afterwards.
    """
    actor: Actor


class SetRateCommand(Message):
    """
    Change a target's rate.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["set_rate_command"] = "set_rate_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """
    actor: Actor


class SizedProgram(Message):
    """
    A pool of a program, its size, and whether that fits.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    process: Process
    allowance: CpuAllowance
    pool: Annotated[str, Field(max_length=64)]
    """
    GOMAXPROCS of a Go program, active processors of a Java virtual machine, or the name of a pool that an agent reports.
    """
    kind: Annotated[str, Field(max_length=32)]
    """
    gomaxprocs, processors, or the kind that the agent says.
    """
    size: Annotated[int | None, Field(ge=1)]
    """
    In effect; null: cannot be read.
    """
    source: Literal["memory", "hsperfdata", "agent"]
    """
    Source of the size: memory of the program, counters and arguments of the Java virtual machine, or an agent.
    """
    chosen: Literal["environment", "program", "runtime", "unknown"]
    """
    Origin of the choice: environment or arguments at the start, a call of the program, the runtime; or unknown.
    """
    verdict: SizeVerdict
    why: Annotated[str, Field(max_length=1024)]
    """
    Why, one or two sentences.
    """
    change: Annotated[str | None, Field(max_length=256)]
    """
    The line that makes it fit; null: none is needed, or known.
    """


class StackDifference(Message):
    """
    GET /api/v1/stacks/difference: two selections of windows, runs or roles.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    before: StackSelection
    after: StackSelection
    frames: list[StackFrame]
    nodes: list[StackDifferenceNode]
    """
    Parents first.
    """
    omitted_nodes: Annotated[int, Field(ge=0)]
    """
    Nodes left out because they are too narrow.
    """
    reason: str
    """
    Why there is no graph; empty: there is one.
    """


class StackPlaces(Message):
    """
    GET /api/v1/targets/{target}/stacks/places and /api/v1/runs/{run}/stacks/places: code of locks and threads in a window.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_ns: Annotated[int, Field(ge=0)]
    """
    Begin of the window.
    """
    to_ns: Annotated[int, Field(ge=0)]
    """
    End of the window.
    """
    locks: list[LockPlaces]
    threads: list[ThreadNow]


class StackSampling(Message):
    """
    Whether stacks of a target are taken, and how.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    until_unix_us: Annotated[int | None, Field(ge=0)]
    """
    Until when they are taken, Unix microseconds; null: they are not.
    """
    trigger: StackTrigger
    cpu_hz: Annotated[float, Field(ge=0.0)]
    """
    How often each CPU is looked at; 0: never.
    """
    reason: str
    """
    Why no stacks are taken, or what is missing, one sentence with what to do; empty: nothing is.
    """


class StartableExperiment(Message):
    """
    A file in a configured folder.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: str
    """
    Name of the file, without .toml.
    """
    title: str
    """
    Its title; empty if it is wrong.
    """
    lengths: list[ExperimentLength]
    """
    Presets that it has.
    """
    problem: str
    """
    Why it cannot be started; empty if it can.
    """


Programs = TypeAliasType(
    "Programs", Annotated[list[ProgramChoice], Field(max_length=64)]
)
"""
For a group: selection of programs, with settings of their own; null: all that can be steered. Knob, signal, bounds, counter and claim (share, floor, priority) above hold for those that name none.
"""


class SteerRequest(Message):
    """
    Body of PUT /api/v1/targets/{target_id}/steering: start steering a target, or change how it is steered. Of a group all chosen programs are steered, or, if one of them cannot be, nothing changes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy; of a sweep: sweep.
    """
    parameters: dict[str, float] | None = None
    """
    Parameters that differ from their defaults, by name; null: none.
    """
    shadow: bool | None = None
    """
    Shadow mode: decide without acting; null: act.
    """
    knob: KnobKind | None = None
    """
    Knob to set; null: the best available.
    """
    signal: SignalKind | None = None
    """
    Signal to steer on; null: the best available.
    """
    lower: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Smallest allowed size; null: the knob's.
    """
    upper: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Largest allowed size; null: the knob's.
    """
    prometheus: PrometheusCounter | None = None
    """
    Counter, if the signal is prometheus.
    """
    share: Annotated[float | None, Field(ge=0.01, le=1000.0)] = None
    """
    Policy arbiter: weight of its throughput, compared with the other programs; null: 1.
    """
    floor: Annotated[int | None, Field(ge=0, le=4096)] = None
    """
    Policy arbiter: cores that it has at least; null: its smallest size.
    """
    priority: Annotated[int | None, Field(ge=-100, le=100)] = None
    """
    Policy arbiter: programs of a higher one get what they can use before others get more than their floors; null: 0.
    """
    proof: ProofPlan | None = None
    """
    Prove the policy first; null: let it steer.
    """
    sweep: SweepPlan | None = None
    """
    Measure a size curve instead: the policy is then sweep, without parameters; null: no.
    """
    programs: Programs | None = None
    """
    For a group: selection of programs, with settings of their own; null: all that can be steered. Knob, signal, bounds, counter and claim (share, floor, priority) above hold for those that name none.
    """
    join: bool | None = None
    """
    For a group: true if new programs are steered, too; null: no.
    """
    lease_s: Annotated[float | None, Field(ge=2.0, le=300.0)] = None
    """
    Steering ends unless it is renewed within so many seconds (POST …/steering/renew); null: it lasts until it is released.
    """


class SteeringProven(Message):
    """
    A proof has ended.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_proven"] = "steering_proven"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    proof: ProofState


class SweepState(Message):
    """
    Results of a sweep so far.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    verdict: SweepVerdict
    start: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size before it, with which the others are compared.
    """
    rounds: Annotated[int, Field(ge=0)]
    """
    Rounds that count.
    """
    discarded: Annotated[int, Field(ge=0)]
    """
    Rounds that do not count: the program did nothing, entered another phase, or a size was not in effect.
    """
    points: Annotated[list[SweepPoint], Field(max_length=33)]
    """
    The curve, by size; empty before the second round.
    """
    best: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    The size that did the most; null before there is a curve.
    """
    knee: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    The smallest size within 3 % of the best.
    """
    knee_from: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    No smaller size can be the knee, by the intervals.
    """
    knee_to: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    No larger size can be the knee.
    """
    gain: MeasuredChange | None
    """
    Change of throughput at the knee against the size at the start; null before there is a curve.
    """
    refused: Annotated[list[RefusedItem], Field(max_length=33)]
    """
    Sizes that could not be brought into effect.
    """
    line: Annotated[str | None, Field(max_length=256)]
    """
    Line that sets the knee for good, where the runtime is known.
    """
    lost_s: float
    """
    Work lost at other sizes, in seconds of what the program does at the size at the start; negative where it did more.
    """
    elapsed_s: Annotated[float, Field(ge=0.0)]
    """
    Seconds since it began.
    """
    text: Annotated[str, Field(max_length=1024)]
    """
    Result in words.
    """


class TraceAnomaly(Message):
    """
    A trace whose calls are unlike those of its endpoint.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    trace_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    32 hex digits, or text of another form.
    """
    start_ns: Annotated[int, Field(ge=0)]
    """
    Unix nanoseconds.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds.
    """
    kind: Annotated[AnomalyKind, Field(title="AnomalyKind")]
    """
    unseen: a call that hardly any reference trace makes. missing: none of a call that nearly all make. failed, repeated, reordered: a call that hardly ever fails, is made so often, or comes so. improbable: its times, or all its calls together, are unlike those of the reference.
    """
    score: float
    """
    How unlike; comparable within an endpoint.
    """
    chain: list[TraceOperation]
    """
    The chain of calls that stands out, from the root on.
    """


class TraceDays(Message):
    """
    GET /api/v1/traces/days: an endpoint's requests day by day (UTC), up to the day of the latest.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    days: list[TraceDay]
    """
    Consecutive days, earliest first; empty without traces.
    """
    p50_ns: DailySeries
    p95_ns: DailySeries
    operations: Annotated[list[OperationDays], Field(max_length=50)]
    """
    Greatest mean share first.
    """


class TraceDetail(Message):
    """
    GET /api/v1/traces/{trace_id}: a trace, its critical path, and what threads did on it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    trace_id: Annotated[str, Field(pattern="^[0-9A-Za-z_][0-9A-Za-z_.:~+=@-]{0,63}$")]
    """
    32 hex digits, or text of another form.
    """
    spans: list[TraceSpan]
    """
    Spans in order of their start.
    """
    path: list[TracePathPart]
    """
    Segments in order of time, without gaps from the start of the root span to its end.
    """
    skew: TraceSkew
    threads: list[SpanThread]
    """
    Spans of the path, most own time first.
    """


class TraceDifference(Message):
    """
    GET /api/v1/traces/difference: two sets of traces of an endpoint.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    base: TraceSet
    other: TraceSet
    tree: DifferenceTree


class TraceDurations(Message):
    """
    How long traces took.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    p50_ns: Annotated[int, Field(ge=0)]
    """
    Median, nanoseconds.
    """
    p95_ns: Annotated[int, Field(ge=0)]
    """
    95th percentile.
    """
    p99_ns: Annotated[int, Field(ge=0)]
    """
    99th percentile.
    """
    histogram: TraceHistogram


class TraceEndpoints(Message):
    """
    GET /api/v1/traces/endpoints.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoints: list[TraceEndpoint]
    """
    Most traces first.
    """
    received: TracesReceived


class TraceHeat(Message):
    """
    GET /api/v1/traces/heat: operations by traces.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    operations: list[TraceOperation]
    """
    Rows, greatest percentile of their times first.
    """
    traces: list[TraceSummary]
    """
    Columns, by start.
    """
    times_ns: list[list[TimesN]]
    """
    Rows of own or inclusive times, as asked.
    """
    chains: list[list[list[HeatChain]]]
    """
    Rows of chains.
    """


class TraceList(Message):
    """
    GET /api/v1/traces.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    traces: list[TraceSummary]
    """
    In the order that was asked for.
    """


class TraceOperations(Message):
    """
    GET /api/v1/traces/operations: what critical paths of all endpoints consist of.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    endpoints: Annotated[int, Field(ge=0)]
    """
    Endpoints.
    """
    traces: Annotated[int, Field(ge=0)]
    """
    Traces that were analysed.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Traces in the window beyond the bound of one analysis.
    """
    operations: list[OperationEverywhere]
    """
    Greatest mean share first.
    """
    shapes: list[TraceShape]
    """
    Distributions of properties of the requests, and of callers of operations; empty without requests.
    """


class TraceProjection(Message):
    """
    How long traces would take if an operation took less.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    service: str
    """
    Service, of the resource attribute service.name.
    """
    operation: str
    """
    Operation: name of the span.
    """
    less_ns: Annotated[int, Field(ge=0)]
    """
    Time by which each span of the operation is shorter, nanoseconds.
    """
    quantiles: TraceQuantiles


class ExperimentCell(Message):
    """
    A combination of the matrix, and what was measured in it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    key: str
    """
    Name of the cell: axes and values.
    """
    values: list[NamedText]
    """
    Axis and value.
    """
    standing: Annotated[CellStanding, Field(title="CellStanding")]
    """
    open: more repeats follow. steady: the standard deviation of the repeats is within the bound. maximum: it is not, after the largest number of repeats. failed: repeats failed too often.
    """
    baseline: str | None
    """
    Key of the cell that it is compared with; null: there is none.
    """
    runs: list[Run1]
    """
    Runs of all repeats, in their order; several programs of a repeat one after the other.
    """
    figures: list[ExperimentFigure]
    """
    Figures that are known.
    """
    failures: list[str]
    """
    Repeats that failed.
    """
    warnings: list[str]
    """
    Disturbances of repeats.
    """


class ExperimentsResponse(Message):
    """
    GET /api/v1/experiments.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    experiments: list[ExperimentSummary]
    """
    Newest first.
    """
    damaged: list[str]
    """
    Folders whose journal cannot be read.
    """
    files: list[StartableExperiment]
    """
    Files that operators may start here; empty if no folder is configured.
    """
    child: ExperimentChild | None
    """
    The experiment that was started here last; null: none was.
    """


class PoliciesResponse(Message):
    """
    Body of GET /api/v1/policies.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    policies: list[PolicyInfo]
    """
    In display order.
    """


class SizeAudit(Message):
    """
    GET /api/v1/sizes: pools of the programs of a host, and whether their sizes fit what the programs may use.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    programs: Annotated[list[SizedProgram], Field(max_length=256)]
    """
    Programs; those with sizes that do not fit come first.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Programs that were not looked at and pools that are left out, since there are too many.
    """


class SizeAuditReply(Message):
    """
    Answer to a SizeAuditCommand.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["size_audit_reply"] = "size_audit_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    audit: SizeAudit


class StackGraph(Message):
    """
    GET /api/v1/targets/{target}/stacks and /api/v1/runs/{run}/stacks: the flame graph of a selection.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    from_ns: Annotated[int, Field(ge=0)]
    """
    Begin of the window, since attach, or since the begin of the run.
    """
    to_ns: Annotated[int, Field(ge=0)]
    """
    End of the window.
    """
    side: StackSide
    exact_ns: Annotated[float, Field(ge=0.0)]
    """
    Time of the selection by the ledger: threads, states, window. With a lock: waits for it.
    """
    unseen_ns: Annotated[float, Field(ge=0.0)]
    """
    The part of it without a known stack, in no node: stays that began while no stacks were taken, threads and states without a sample, and samples without a stack.
    """
    samples: Annotated[int, Field(ge=0)]
    """
    Samples with a stack.
    """
    frames: list[StackFrame]
    nodes: list[StackNode]
    """
    Parents first, then by time.
    """
    omitted_nodes: Annotated[int, Field(ge=0)]
    """
    Nodes left out because they are too narrow; their time is in their parents.
    """
    counts: StackCounts
    sampling: StackSampling | None
    """
    Sampling of a live target; null for a run.
    """
    reason: str
    """
    Why there is no graph, one sentence with what to do; empty: there is one.
    """
    note: str = ""
    """
    Limits of the graph, and where to find what it lacks, one sentence; empty if none.
    """


class SteerCommand(Message):
    """
    Steer a target; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steer_command"] = "steer_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    request: SteerRequest
    actor: Actor
    restarts: Annotated[str | None, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")] = None
    """
    The target of an earlier collector whose policy is started again; null: somebody asks.
    """


class Steering(Message):
    """
    How a target is being steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    parameters: Annotated[dict[str, float], Field(max_length=64)]
    """
    All parameters.
    """
    shadow: bool
    """
    Shadow mode: decides without acting.
    """
    knob: KnobKind
    signal: SignalKind
    proxy: bool
    """
    The signal is a proxy: lower confidence.
    """
    lower: Annotated[int, Field(ge=1, le=1048576)]
    """
    Smallest size allowed.
    """
    upper: Annotated[int, Field(ge=1, le=1048576)]
    """
    Largest size allowed.
    """
    original: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size that a release restores.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size.
    """
    state: Annotated[str, Field(max_length=256)]
    """
    Activity of the policy, in words.
    """
    reason: Annotated[str, Field(max_length=1024)]
    """
    Reason of the last decision, one sentence.
    """
    decisions: Annotated[int, Field(ge=0)]
    """
    Number of decisions.
    """
    since_unix_us: Annotated[int, Field(ge=0)]
    """
    When steering started, Unix microseconds.
    """
    problem: Annotated[str | None, Field(max_length=1024)]
    """
    Obstacle to its work, one sentence; null if none.
    """
    proof: ProofState | None = None
    """
    The proof that is made of the policy; null: it simply steers.
    """
    ops_per_s: Annotated[float | None, Field(ge=0.0)] = None
    """
    Operations a second in the last interval, as counted by the signal; null before the first decision.
    """
    interval_s: Annotated[float | None, Field(ge=0.0)] = None
    """
    Actual length of the last interval, seconds; null before the first decision.
    """
    decided_unix_us: Annotated[int | None, Field(ge=0)] = None
    """
    When the last decision was made, Unix microseconds; null before the first one.
    """
    chosen_unix_us: Annotated[int | None, Field(ge=0)] = None
    """
    When the policy first chose a size, neither deferring that nor trying sizes out, Unix microseconds; null before.
    """
    division: CoreDivision | None = None
    """
    Cores that the arbiter gives it; null: another policy steers.
    """
    sweep: SweepState | None = None
    """
    The sweep that is made; null: a policy steers.
    """


class SteeringSwept(Message):
    """
    A sweep has ended.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_swept"] = "steering_swept"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Always sweep.
    """
    sweep: SweepState


TargetEvent = TypeAliasType(
    "TargetEvent",
    Annotated[
        ThreadBorn
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
        | SteeringSwept,
        Field(discriminator="type", title="TargetEvent"),
    ],
)
"""
An event of a target.
"""


class TraceAnalysis(Message):
    """
    GET /api/v1/traces/analysis: critical paths of an endpoint.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    traces: Annotated[int, Field(ge=0)]
    """
    Traces that were analysed.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Traces in the window beyond the bound of one analysis.
    """
    skewed: Annotated[int, Field(ge=0)]
    """
    Traces in which clocks disagree.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Traces with spans that were left out because they lay outside their parent.
    """
    duration: TraceDurations
    tree: TraceTree
    ranking: list[OperationRank]
    """
    Greatest share first.
    """
    errors: list[ErrorPath]
    """
    Most frequent first.
    """
    anomalies: list[TraceAnomaly]
    """
    Traces that are unlike the reference traces, greatest score first.
    """
    reference: Annotated[int, Field(ge=0)]
    """
    Number of reference traces; 0 if there are too few, so anomalies are withheld.
    """
    projection: TraceProjection | None
    """
    Null: none was asked for.
    """


CollectorCommand = TypeAliasType(
    "CollectorCommand",
    Annotated[
        CollectorWelcome
        | FramesReceived
        | FramesWatched
        | AttachCommand
        | DetachCommand
        | SetRateCommand
        | ListProcessesCommand
        | DoctorCommand
        | SizeAuditCommand
        | SetDelayAccountingCommand
        | SteerCommand
        | RestartSearchCommand
        | RenewSteeringCommand
        | ReleaseCommand
        | SteeringOptionsCommand
        | SampleStacksCommand
        | NameThreadsCommand
        | DebugFilesCommand
        | FlushCommand
        | ListRingCommand
        | CutRingCommand
        | ReadCutCommand,
        Field(discriminator="type", title="CollectorCommand"),
    ],
)
"""
Backend to collector.
"""


class Experiment(Message):
    """
    GET /api/v1/experiments/{experiment_id}: an experiment with its figures.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    summary: ExperimentSummary
    unit: str
    """
    Name of an operation, in the plural.
    """
    least: Annotated[int, Field(ge=1)]
    """
    Repeats of a cell, at least.
    """
    most: Annotated[int, Field(ge=1)]
    """
    Repeats of a cell, at most.
    """
    deviation: float
    """
    Bound of the standard deviation of the repeats, divided by their mean.
    """
    setup: list[NamedText]
    """
    Properties of the machine when the experiment began.
    """
    cells: list[ExperimentCell]
    """
    In the order of the file.
    """
    verdicts: list[ExperimentVerdict]
    """
    Verdict of each variant but the first; empty for a matrix of settings.
    """
    charts: list[ExperimentChart]
    """
    Charts for which there are numbers.
    """
    warnings: list[str]
    """
    About all of it.
    """
    confidence: str
    """
    How the intervals were computed, one sentence.
    """


class FrameHeader(Message):
    """
    First part of a binary frame: one sample of one target. It is followed by the rows in Arrow: tid (uint32) and one uint64 column per field, null = not available; a column that is 0 in all rows is left out; a key frame also has start_ns (int64) and name (utf8), one of a group also pid (uint32, after tid), the process of each thread. A key frame has an IPC stream of one record batch, a delta frame only the message of the batch, or nothing without rows. A key frame holds all live threads; a delta frame holds those whose counters changed since the previous frame. Events apply before rows. Behind the rows stand tables, each an Arrow stream, in the order of `tables`.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["frame"] = "frame"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    seq: Annotated[int, Field(ge=1)]
    """
    Number of the frame in its target's stream, contiguous from 1.
    """
    first_seq: Annotated[int, Field(ge=1)]
    """
    First frame that this one stands for; below seq if frames were coalesced.
    """
    kind: Annotated[FrameKind, Field(title="FrameKind")]
    baseline: bool
    """
    The first frame of the target with threads: their counters at attach. It is a key frame. A reader that starts later gets it before the kept history; that the frames in between are missing is not a loss.
    """
    rows: Annotated[int, Field(ge=0)]
    """
    Rows of the record batch.
    """
    fields: Annotated[list[FieldModel] | None, Field(max_length=256)] = None
    """
    For a key frame: names of all counter columns, in order, for it and for the delta frames behind it. null in delta frames; in a key frame, that its batch has all of them.
    """
    columns: Annotated[list[Column] | None, Field(max_length=256)] = None
    """
    Positions in fields of the columns that the record batch has, ascending; null: all. A column that it does not have is 0 in all rows.
    """
    time_ns: Annotated[int, Field(ge=0)]
    """
    Monotonic time of the sample since attach, nanoseconds.
    """
    unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock of the sample, Unix microseconds.
    """
    live_threads: Annotated[int, Field(ge=0)]
    """
    Live threads at the time of the sample.
    """
    threads_born: Annotated[int, Field(ge=0)]
    """
    Threads that started since attach, those that were never seen alive included. Threads alive in the baseline + threads_born = live_threads + exited.threads.
    """
    events: list[TargetEvent]
    """
    Events since the previous frame, in order.
    """
    process: ProcessGauges
    machine: MachineCounters
    health: CollectorHealth
    exited: ExitedTotals
    roles: Annotated[list[RoleTotals] | None, Field(max_length=64)] = None
    """
    Totals by role: in key frames, in the last frame, and about once a second; null in other frames, where the previous totals still hold. A coalesced frame has the last totals of its frames.
    """
    counters_from: CountersSource | None = None
    """
    How the counters of this sample were read; null if none were.
    """
    tables: Annotated[list[FrameTable] | None, Field(max_length=24)] = None
    """
    Tables behind the rows, each name once: in key frames all rows, about once a second those that changed since the table was sent last; null if there are none. A row replaces an earlier one with the same key, and one whose figures are all 0 takes it away; in a key frame the table replaces the earlier table, and tables that it does not name are empty.
    """
    group: GroupCounts | None = None
    """
    For a group: number of its processes, live and ended; null: the target is one process.
    """


class ProgramOptions(Message):
    """
    How a program of a group can be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id, as the collector's PID namespace counts.
    """
    start_ticks: Annotated[int, Field(ge=0)]
    """
    Start of the process, clock ticks since boot.
    """
    name: Annotated[str, Field(max_length=64)]
    """
    Name of the process.
    """
    refusal: Annotated[str, Field(max_length=1024)]
    """
    Why it cannot be steered, one sentence; empty if it can.
    """
    knobs: list[KnobOption]
    """
    Best first; empty if it cannot be steered.
    """
    signals: list[SignalOption]
    """
    Best first; empty if it cannot be steered.
    """
    steering: Steering | None
    """
    Current steering; null: it is not steered.
    """


class RunEvent(Message):
    """
    An event of a run; one line of its events files.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    seq: Annotated[int, Field(ge=1)]
    """
    Frame that carried it.
    """
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach, as in the target's frames.
    """
    unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock, Unix microseconds.
    """
    event: TargetEvent


class RunEventsResponse(Message):
    """
    GET /api/v1/runs/{id}/events.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    events: list[RunEvent]
    """
    In order of time.
    """
    omitted: Annotated[int, Field(ge=0)]
    """
    Events beyond the limit of the response.
    """


class SteeredProgram(Message):
    """
    A program of a group, and how it is being steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id, as the collector's PID namespace counts.
    """
    start_ticks: Annotated[int, Field(ge=0)]
    """
    Start of the process, clock ticks since boot.
    """
    name: Annotated[str, Field(max_length=64)]
    """
    Name of the process.
    """
    steering: Steering


class SteeringOptions(Message):
    """
    How a process, or the programs of a group, can be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    knobs: list[KnobOption]
    """
    Best first.
    """
    signals: list[SignalOption]
    """
    Best first.
    """
    steering: Steering | None
    """
    Current steering; null: the target is not steered.
    """
    programs: list[ProgramOptions] | None = None
    """
    For a group: its programs, those that can be steered first; null: the target is one process.
    """
    unexamined: Annotated[int, Field(ge=0)] = 0
    """
    For a group: processes that were not examined, because there are too many.
    """


class SteeringOptionsReply(Message):
    """
    How a target can be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_options_reply"] = "steering_options_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    options: SteeringOptions


class Target(Message):
    """
    An attached process, or group of processes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    host: Annotated[str, Field(pattern="^h-[0-9a-f]{12}$")]
    """
    Identity of a host: the first 12 hex digits of its boot id, so that a reboot is another host.
    """
    process: Process
    """
    The process; of a group its lead process: the root of a tree, else the one that is oldest at attach.
    """
    group: Group | None = None
    """
    The group that it is; null: one process.
    """
    state: TargetState
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Requested sampling rate; each frame's health has the effective rate.
    """
    attached_unix_us: Annotated[int, Field(ge=0)]
    """
    Time of attachment, Unix microseconds: the zero of the stream's time.
    """
    source: Source
    energy: EnergySource
    fields: list[str]
    """
    Fields that frames carry, in column order.
    """
    absent: list[AbsentField]
    """
    Catalogue fields that frames do not carry.
    """
    gomaxprocs: Annotated[int | None, Field(ge=0)]
    """
    GOMAXPROCS at attachment, or when the process executed its present program; null if unknown.
    """
    gomaxprocs_reason: str
    """
    How GOMAXPROCS is read, or why it is not.
    """
    thread_names: str | None = None
    """
    How its threads got names beyond the kernel's 15 bytes, or why they have none; null or missing: its runtime gives none, or is not asked.
    """
    role_rules: Annotated[list[RoleRule] | None, Field(max_length=64)] = None
    """
    Rules by which threads have roles, before the general one, in their order; null or missing: none.
    """
    steering: Steering | None
    """
    How it is steered; null: it is not.
    """
    programs: list[SteeredProgram] | None = None
    """
    Steered programs of a group; null: the target is one process.
    """
    programs_join: bool = False
    """
    Whether new programs of the group are steered, too, as soon as they can be.
    """
    stacks: StackSampling | None = None
    """
    How its stacks are taken; null: its collector takes none.
    """
    continues: Annotated[str | None, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")] = None
    """
    The earlier target, of a collector that has gone, in whose place this one was attached.
    """


class TargetChanged(Message):
    """
    Collector to backend: a target was attached, changed its rate or its steering, or ended. Decisions alone are reported by frames.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_changed"] = "target_changed"
    target: Target


class TargetReply(Message):
    """
    A target's state, in reply to a command.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_reply"] = "target_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    target: Target
    created: bool
    """
    False if the process was already attached.
    """


class TargetsResponse(Message):
    """
    GET /api/v1/targets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    targets: list[Target]
    """
    Known targets.
    """


class CollectorHello(Message):
    """
    Collector to backend, first message.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["collector_hello"] = "collector_hello"
    protocol: Annotated[int, Field(ge=0)]
    """
    Version of this protocol.
    """
    host: Host
    targets: list[Target]
    """
    Targets, ended ones included while their frames are kept for replay.
    """
    policies: list[PolicyInfo]
    """
    Available steering policies.
    """
    restored: Annotated[
        list[RestoredProgram], Field(max_length=64, validate_default=True)
    ] = []
    """
    Programs that an earlier collector left changed, and that this one restored at its start.
    """
    unix_us: Annotated[int | None, Field(ge=0)] = None
    """
    Wall clock of the host when this was sent, Unix microseconds; null: a collector of an older version.
    """


class DemoResponse(Message):
    """
    POST /api/v1/demo: the demo program was started and is being sampled.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    target: Target


class LiveState(Message):
    """
    Backend to page: hosts and targets, on connect and whenever one changes. Decisions of a policy are no such change: they come in frames (SteeringDecided), and a page that connects finds the newest one in the target's steering.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["live_state"] = "live_state"
    hosts: list[Host]
    """
    Known hosts.
    """
    targets: list[Target]
    """
    Known targets, ended ones included.
    """
    recordings: Annotated[list[Recording], Field(validate_default=True)] = []
    """
    Runs being recorded.
    """


class RingTrack(Message):
    """
    The frames of one target in the ring.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of the track.
    """
    target: Target
    host_name: Annotated[str, Field(max_length=256)]
    """
    Name of the host.
    """
    from_unix_us: Annotated[int, Field(ge=0)]
    """
    Time of its first frame, Unix microseconds.
    """
    to_unix_us: Annotated[int, Field(ge=0)]
    """
    Time of its last frame, Unix microseconds.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Bytes on disk.
    """


class RunManifest(Message):
    """
    All that is needed to understand a run without the machine that it was recorded on; manifest.json in its folder.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    format: Literal[1] = 1
    """
    Version of the folder format.
    """
    id: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Run id: start time in UTC and six random hex digits.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    Display name.
    """
    tags: Annotated[list[Tag], Field(max_length=32)]
    """
    Tags.
    """
    group: Annotated[str | None, Field(max_length=80)]
    """
    Runs of one group are repeats of one another; null: not in a group.
    """
    notes: Annotated[str, Field(max_length=20000)]
    """
    Free-text notes.
    """
    state: RunState
    end: RunEnd | None
    """
    Why it ended; null while it is being recorded.
    """
    end_detail: str
    """
    End of the run in a sentence, with what is missing; empty while it is being recorded.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was requested, Unix microseconds.
    """
    started_unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock of its first frame, Unix microseconds.
    """
    from_ns: Annotated[int, Field(ge=0)]
    """
    Time of its first frame. Nanoseconds since attach, as in the target's frames.
    """
    to_ns: Annotated[int, Field(ge=0)]
    """
    Time of its last frame. Nanoseconds since attach, as in the target's frames.
    """
    until_ns: Annotated[int | None, Field(ge=0)] = None
    """
    When recording stops automatically, nanoseconds since attach; null: it does not.
    """
    tidscope: str
    """
    Version of tidscope that recorded it.
    """
    host: Host
    target: Target
    fields: list[CatalogueField]
    """
    The field catalogue at the time of recording.
    """
    policies: list[RunPolicy]
    """
    Policies that steered the target, in order.
    """
    marks: Annotated[list[RunMark], Field(max_length=256)]
    """
    Marks (annotations), by time.
    """
    losses: RunLosses
    counts: RunCounts
    counters_from: Annotated[list[CountersSource], Field(max_length=3)] = []
    """
    How counters of living threads were read, in the order in which the run has them.
    """
    outcome: RunOutcome | None
    """
    How the command ended, for a run of one command.
    """
    results: Annotated[
        list[RunResult], Field(max_length=16, validate_default=True)
    ] = []
    """
    Results that a person states; a comparison begins with them.
    """
    stacks: bool = False
    """
    Whether stacks were asked for while it was recorded.
    """
    imported: bool
    """
    It was imported.
    """


LiveMessage = TypeAliasType(
    "LiveMessage",
    Annotated[
        LiveState | StreamStats | FramesLost | LiveProblem,
        Field(discriminator="type", title="LiveMessage"),
    ],
)
"""
Backend to page, as text; frames travel as binary messages.
"""


class RingResponse(Message):
    """
    Answer of GET /api/v1/ring: what the ring of a host has.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    on: bool
    """
    Whether frames are kept in a ring.
    """
    max_age_s: Annotated[float | None, Field(ge=0.0)]
    """
    Bound on the age of its frames, in seconds; null: not known.
    """
    max_bytes: Annotated[int | None, Field(ge=0)]
    """
    Bound on its bytes; null: not known.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Bytes on disk.
    """
    lost: Annotated[int, Field(ge=0)]
    """
    Frames that are missing in it since it was started.
    """
    disk_full: bool
    """
    Whether frames are lost now as they cannot be written.
    """
    tracks: list[RingTrack]
    """
    Targets with frames, newest first; ended ones included.
    """


class ListRingReply(Message):
    """
    Answer to a ListRingCommand. Titles and command lines are included: the backend leaves them out for viewers.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["list_ring_reply"] = "list_ring_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the sender, repeated in the reply.
    """
    ring: RingResponse


CollectorMessage = TypeAliasType(
    "CollectorMessage",
    Annotated[
        CollectorHello
        | CollectorFrames
        | TargetReply
        | ProcessesReply
        | DoctorReply
        | SizeAuditReply
        | RefusedReply
        | TargetChanged
        | TargetForgotten
        | FramesLost
        | SteeringOptionsReply
        | CollectorGoodbye
        | FlushReply
        | ListRingReply
        | CutRingReply
        | ReadCutReply,
        Field(discriminator="type", title="CollectorMessage"),
    ],
)
"""
Collector to backend, as text; frames travel as binary messages.
"""
