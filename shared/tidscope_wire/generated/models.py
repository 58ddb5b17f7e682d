"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field
from typing import Annotated, Literal
from typing_extensions import TypeAliasType


class AbsentField(BaseModel):
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


class AgentCall(BaseModel):
    """
    Collector to agent: a call without parameters.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the asker, repeated in the answer.
    """
    method: Literal["hello", "read", "release"]
    """
    hello: who are you; read: the counters; release: back to the original size, now.
    """


class AgentError(BaseModel):
    """
    Why a call failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    code: int
    """
    JSON-RPC's own, or -32001: out of bounds, -32002: the program is ending, -32003: another client steers, -32004: too many clients.
    """
    message: Annotated[str, Field(max_length=1000)]
    """
    A sentence.
    """


class AgentFailure(BaseModel):
    """
    Agent to collector: a call failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int | None, Field(ge=0, le=9007199254740991)]
    """
    Of the call; null when it could not be read.
    """
    error: AgentError


AgentKnob = TypeAliasType(
    "AgentKnob", Annotated[Literal["gomaxprocs", "pool"], Field(title="AgentKnob")]
)
"""
What an agent turns: GOMAXPROCS of a Go program, or the number of workers of a pool.
"""


class AgentNotice(BaseModel):
    """
    Agent to collector, unasked: the program entered another phase, what was learnt of it is void.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["restart_search"] = "restart_search"


class AgentReading(BaseModel):
    """
    Counters of an agent, cumulative since the program started.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    ops: Annotated[int, Field(ge=0)]
    """
    Operations that the program has done.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size in force: of a pool that shrinks, with the workers that still finish their last job.
    """
    queue_wait_ns: Annotated[int | None, Field(ge=0)]
    """
    Sum of the nanoseconds that jobs waited before they began; null when there is no queue.
    """
    queue_waits: Annotated[int | None, Field(ge=0)]
    """
    Jobs in that sum; null when there is no queue.
    """
    monotonic_ns: Annotated[int, Field(ge=0)]
    """
    When this was read, by a clock that never steps; its origin is the program's own.
    """


class AgentSetParams(BaseModel):
    """
    What a pool is set to, and for how long.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Wanted size, within the bounds of the hello.
    """
    lease_s: Annotated[float, Field(gt=0.0, le=60.0)]
    """
    Seconds until the agent goes back to the original size, unless it is set again.
    """


class AgentSize(BaseModel):
    """
    Answer to set and release.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size in force.
    """
    wanted: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size that it is on its way to; the same as size once it is there.
    """


AlignKind = TypeAliasType(
    "AlignKind", Annotated[Literal["start", "policy", "mark"], Field(title="AlignKind")]
)
"""
Where the runs' times are laid over one another: start: their first instants; policy: the first time that a policy began; mark: a mark of the given text.
"""


class AttachCommand(BaseModel):
    """
    Attach to a process.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["attach_command"] = "attach_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    pid: Annotated[int, Field(ge=1)]
    """
    Process id (thread group id) as the collector's PID namespace counts.
    """
    start_ticks: Annotated[int | None, Field(ge=0)]
    """
    Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """


class AttachRequest(BaseModel):
    """
    Body of POST /api/v1/targets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    host: str | None = None
    """
    Host id; may be left out when there is one host.
    """
    pid: Annotated[int, Field(ge=1)]
    """
    Process id (thread group id) as the collector's PID namespace counts.
    """
    start_ticks: Annotated[int | None, Field(ge=0)] = None
    """
    Start time of the process in clock ticks since boot (field 22 of /proc/PID/stat). Together with the pid it is the process' identity.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)] = 10
    """
    Samples a second.
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
        Literal["cpu", "wait", "switches", "memory", "io", "disk", "network", "pool"],
        Field(title="FieldGroup"),
    ],
)
"""
What it is about.
"""


Exactness = TypeAliasType(
    "Exactness",
    Annotated[Literal["exact", "quantised", "tick"], Field(title="Exactness")],
)
"""
exact; quantised: rounded by the kernel; tick: moves in scheduler ticks.
"""


class CatalogueField(BaseModel):
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
    For people.
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
    What it is about.
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
    File of /proc/PID/task/TID and the value in it, when taskstats is not to be had; null if not there.
    """
    exactness: Annotated[Exactness, Field(title="Exactness")]
    """
    exact; quantised: rounded by the kernel; tick: moves in scheduler ticks.
    """
    meaning: str
    """
    One line.
    """


CheckState = TypeAliasType(
    "CheckState",
    Annotated[Literal["ok", "limited", "failed", "unknown"], Field(title="CheckState")],
)
"""
ok; limited: works, with something missing; failed: does not work; unknown: could not be told.
"""


class CollectorHealth(BaseModel):
    """
    The collector on itself, cumulative since it started unless said otherwise.
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
    Mean wall time of this target's samples of the last five to ten seconds, microseconds.
    """
    sample_max_us: Annotated[int, Field(ge=0)]
    """
    The longest of them, microseconds.
    """
    late_us: Annotated[int, Field(ge=0)]
    """
    How long after its deadline this sample started, microseconds.
    """
    missed_deadlines: Annotated[int, Field(ge=0)]
    """
    Of this target, since attach.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second of this target, in force.
    """
    asked_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second that were asked for; more than those in force if the budget is spent.
    """
    exits_received: Annotated[int, Field(ge=0)]
    """
    Exit records received, host-wide.
    """
    exits_lost: Annotated[int, Field(ge=0)]
    """
    Exit records lost, host-wide, exact.
    """
    cpu_percent: float | None
    """
    CPU of the collector process over the last second, 100 = one core.
    """
    measuring_percent: Annotated[float | None, Field(ge=0.0)]
    """
    Of it sampling and sending, all targets together: what the budget is for. The rest answers questions, such as for the list of processes.
    """
    budget_percent: Annotated[float, Field(ge=0.0)]
    """
    What sampling and sending may take before rates are lowered, 100 = one core; 0 = no limit.
    """
    replay_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes held for replay.
    """
    replay_frames: Annotated[int, Field(ge=0)]
    """
    Frames held for replay.
    """
    unsent_frames: Annotated[int, Field(ge=0)]
    """
    Of them those that the backend was not sent yet.
    """
    sent_frames: Annotated[int, Field(ge=0)]
    """
    Frames sent, repeated ones too.
    """
    sent_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of messages and frames sent to the backend.
    """


ResumeAdditionalProperty = TypeAliasType(
    "ResumeAdditionalProperty", Annotated[int, Field(ge=0)]
)


class CollectorWelcome(BaseModel):
    """
    Backend to collector, answer to the hello.
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
    Target id to the last seq that the backend has; replay starts behind it. A target not named is replayed from the oldest kept frame.
    """


Run = TypeAliasType(
    "Run", Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
)
"""
Identity of a run: when it was begun, in UTC, and six random hex digits.
"""


class ComparedGroup(BaseModel):
    """
    Runs that are repeats of one another, or one that stands alone.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    label: str
    """
    Its name.
    """
    runs: list[Run]
    """
    Its runs.
    """


Better = TypeAliasType(
    "Better", Annotated[Literal["less", "more", "neither"], Field(title="Better")]
)
"""
Which way is an improvement.
"""


class ComparedSeries(BaseModel):
    """
    A curve of one run.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of a run: when it was begun, in UTC, and six random hex digits.
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
    A value a time.
    """


class DamagedRun(BaseModel):
    """
    A folder among the runs that cannot be read.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    folder: str
    """
    Its name.
    """
    reason: str
    """
    What is wrong with it.
    """


class DeadlinesMissed(BaseModel):
    """
    Samples were due and could not be taken in time.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["deadlines_missed"] = "deadlines_missed"
    count: Annotated[int, Field(ge=1)]
    """
    How many since the frame before.
    """


class DelayAccountingRequest(BaseModel):
    """
    Body of PUT /api/v1/doctor/delay-accounting.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    on: bool
    """
    Value of kernel.task_delayacct to set. Only threads that start afterwards are affected.
    """


class DetachCommand(BaseModel):
    """
    Stop sampling a target.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["detach_command"] = "detach_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class DoctorCheck(BaseModel):
    """
    One capability that was checked.
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
    What was checked.
    """
    state: CheckState
    found: str
    """
    What was found, with the values.
    """
    lost: str
    """
    What is lost without it; empty if nothing.
    """
    mend: str
    """
    The command or setting that mends it; empty if nothing has to be.
    """
    switched_on: bool | None = None
    """
    State of the kernel's switch behind it, where tidscope can set that switch; null or left out where there is none.
    """


class DoctorCommand(BaseModel):
    """
    Check the host's capabilities.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["doctor_command"] = "doctor_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """


class DoctorReport(BaseModel):
    """
    What this machine lets tidscope measure.
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
    state: CheckState
    checks: list[DoctorCheck]
    """
    In order of weight.
    """


EnergyKind = TypeAliasType(
    "EnergyKind",
    Annotated[
        Literal["package", "core", "uncore", "dram", "psys", "other"],
        Field(title="EnergyKind"),
    ],
)
"""
core and uncore are parts of their package; dram is beside it; psys is the whole platform, packages included.
"""


class EnergyDomain(BaseModel):
    """
    A part of the machine whose energy RAPL counts.
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
    What the kernel calls it; a part of a package with its package before it: package-0, package-0/dram, psys.
    """
    kind: Annotated[EnergyKind, Field(title="EnergyKind")]
    """
    core and uncore are parts of their package; dram is beside it; psys is the whole platform, packages included.
    """
    summed: bool
    """
    Whether it is in the sum of packages. Parts, platforms and second views of the same package are not.
    """


class EnergySource(BaseModel):
    """
    Where the machine's energy is read.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    domains: list[EnergyDomain]
    """
    What is read, in the order of the counters in frames; empty without energy.
    """
    reason: str
    """
    Where it comes from, or why there is none.
    """


TotalsAdditionalProperty = TypeAliasType(
    "TotalsAdditionalProperty", Annotated[int, Field(ge=0)]
)


class ExitedTotals(BaseModel):
    """
    What the threads that have ended add up to, since attach.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    threads: Annotated[int, Field(ge=0)]
    """
    How many.
    """
    inexact: Annotated[int, Field(ge=0)]
    """
    How many of them without an exit record: their totals are their last sample.
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its last cumulative value, in the field's unit. A field that was not available is not in it.
    """


class ExitsLost(BaseModel):
    """
    The kernel dropped exit records because our socket was full.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["exits_lost"] = "exits_lost"
    count: Annotated[int, Field(ge=1)]
    """
    Exact number, host-wide: what the kernel counted as dropped on the per-CPU sockets.
    """


class FieldCatalogue(BaseModel):
    """
    All fields that tidscope measures: labels, run manifests, exports and docs come from it. GET /api/v1/fields answers with it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    fields: list[CatalogueField]
    """
    In column order.
    """


IntervalMethod = TypeAliasType(
    "IntervalMethod", Annotated[Literal["welch", "none"], Field(title="IntervalMethod")]
)
"""
How the interval was found: Welch's t, for groups of different spread; none: there is no interval.
"""


class FigureDifference(BaseModel):
    """
    A group held against the first one.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    absolute: float | None
    """
    Difference of the means, this group's minus the first one's; null if one is not known.
    """
    percent: float | None
    """
    The same in percent of the first one's mean; null if that is 0 or not known.
    """
    low: float | None
    """
    Lower end of the 95 % interval of the difference; null if a group has fewer than two runs.
    """
    high: float | None
    """
    Its upper end.
    """
    method: Annotated[IntervalMethod, Field(title="IntervalMethod")]
    """
    How the interval was found: Welch's t, for groups of different spread; none: there is no interval.
    """


FrameKind = TypeAliasType(
    "FrameKind", Annotated[Literal["snapshot", "delta"], Field(title="FrameKind")]
)


class FramesLost(BaseModel):
    """
    Frames that can not be replayed: they fell off the collector's bounded replay buffer.
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
    Which bound.
    """


class Gap(BaseModel):
    """
    Frames were lost between collector and backend or backend and page.
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
    Which bound was exceeded.
    """


class GomaxprocsChanged(BaseModel):
    """
    A Go program's GOMAXPROCS changed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["gomaxprocs_changed"] = "gomaxprocs_changed"
    size: Annotated[int, Field(ge=1)]
    """
    Now in force.
    """
    previous: Annotated[int, Field(ge=1)]
    """
    Before.
    """


class GroupFigure(BaseModel):
    """
    A figure of one group.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    values: list[float | None]
    """
    In the order of the group's runs.
    """
    n: Annotated[int, Field(ge=0)]
    """
    Runs that have it.
    """
    mean: float | None
    """
    Of those; null without any.
    """
    spread: float | None
    """
    Sample standard deviation; null with fewer than two.
    """
    low: float | None
    """
    Lower end of the 95 % interval of the mean (Student's t); null with fewer than two.
    """
    high: float | None
    """
    Its upper end.
    """


HealthStatus = TypeAliasType(
    "HealthStatus", Annotated[Literal["ok", "degraded"], Field(title="HealthStatus")]
)
"""
degraded: no collector is connected.
"""


class HealthResponse(BaseModel):
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
    Of the backend.
    """
    uid: Annotated[int | None, Field(ge=0)] = None
    """
    User id that the backend runs as: whose processes "mine" means; null if it does not tell.
    """
    collectors: Annotated[int, Field(ge=0)]
    """
    Connected.
    """
    clients: Annotated[int, Field(ge=0)]
    """
    Pages connected.
    """
    targets: Annotated[int, Field(ge=0)]
    """
    Targets known.
    """
    frames: Annotated[int, Field(ge=0)]
    """
    Frames taken in.
    """
    frame_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of the frames taken in.
    """
    coalesced: Annotated[int, Field(ge=0)]
    """
    Frames merged for slow pages.
    """
    dropped: Annotated[int, Field(ge=0)]
    """
    Frames that a page never got in any form.
    """
    lost: Annotated[int, Field(ge=0)]
    """
    Frames lost between collector and backend.
    """
    history_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes held so that a page that opens sees the recent past.
    """
    rss_bytes: Annotated[int, Field(ge=0)]
    """
    Resident memory of the backend.
    """


KnobKind = TypeAliasType(
    "KnobKind",
    Annotated[
        Literal["go-agent", "pool-agent", "go-affinity"], Field(title="KnobKind")
    ],
)
"""
What a policy turns.
"""


class KnobOption(BaseModel):
    """
    A way to change the size of a target's pool.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: KnobKind
    refusal: Annotated[str, Field(max_length=1024)]
    """
    Why it cannot be used, one sentence; empty if it can.
    """
    lower: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Smallest size; null if it cannot be used.
    """
    upper: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Largest size; null if it cannot be used.
    """
    size: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    Size in force; null if it cannot be used.
    """


class ListProcessesCommand(BaseModel):
    """
    List the processes of the host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["list_processes_command"] = "list_processes_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """


DomainsUjItem = TypeAliasType("DomainsUjItem", Annotated[int | None, Field(ge=0)])


class MachineCounters(BaseModel):
    """
    Counters of the whole machine, cumulative since attach, read about once a second; frames in between repeat the last reading.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Monotonic time of the reading since attach, nanoseconds: rates are taken over differences of it.
    """
    cpu_busy_us: Annotated[int | None, Field(ge=0)]
    """
    CPU time of all that ran on the machine: user, nice, system, irq and softirq of /proc/stat, neither idle nor stolen time, microseconds. Moves in scheduler ticks. Null if it cannot be read.
    """
    package_uj: Annotated[int | None, Field(ge=0)]
    """
    Energy of all packages together, microjoules; counters that wrapped around are unwrapped. Null without energy; the target says why.
    """
    domains_uj: list[DomainsUjItem]
    """
    Energy of each domain of the target's energy source, microjoules; null if it could not be read this time.
    """
    holes: Annotated[int, Field(ge=0)]
    """
    Times that a counter of a domain started anew, or was not read for so long that it could have wrapped twice: energy of then is missing in the sums.
    """


class MatchedRole(BaseModel):
    """
    Roles of the runs that are compared with one another.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    label: str
    """
    Its name in the comparison.
    """
    roles: list[str | None]
    """
    One a run, in the runs' order.
    """
    by_hand: bool
    """
    A person said so.
    """


class PolicyParameter(BaseModel):
    """
    One parameter of a policy, as a form shows it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64, min_length=1)]
    """
    As requests name it.
    """
    unit: Annotated[str, Field(max_length=32)]
    """
    Empty for a plain number.
    """
    integer: bool
    """
    Whether only whole numbers are taken.
    """
    default: float
    """
    Its value unless said otherwise.
    """
    low: float
    """
    Lowest value taken.
    """
    high: float
    """
    Highest value taken.
    """
    meaning: Annotated[str, Field(max_length=256)]
    """
    One line.
    """


class Problem(BaseModel):
    """
    A refusal (RFC 9457 problem details): what was wrong and what to do about it.
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
    What was wrong here, naming the value.
    """
    hint: str
    """
    What to do about it.
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
            "target-exited",
            "too-many-targets",
            "unknown-target",
            "unknown-host",
            "no-collector",
            "collector-timeout",
            "demo-failed",
            "too-large",
            "too-many-attempts",
            "view-only",
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
            "not-found",
            "method-not-allowed",
            "internal",
        ],
        Field(title="ProblemType"),
    ],
)
"""
Kinds of refusal. As a problem document's `type` it stands behind urn:tidscope:problem:.
"""


Port = TypeAliasType("Port", Annotated[int, Field(ge=0)])
"""
TCP port.
"""


class ProcessGauges(BaseModel):
    """
    Values of the process as a whole at this instant.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    gomaxprocs: Annotated[int | None, Field(ge=0)]
    """
    GOMAXPROCS in force; null if not a Go program or not readable.
    """
    rss_bytes: Annotated[int | None, Field(ge=0)]
    """
    Resident memory, sampled about once a second.
    """
    cpu_ns: Annotated[int | None, Field(ge=0)] = None
    """
    CPU time of the process, its ended threads included, since its start, nanoseconds; read right after the threads. What the threads add up to is held against it.
    """
    delay_accounting: bool | None = None
    """
    Whether kernel.task_delayacct is on, looked at about once a second: while it is off, delays of I/O and memory stand still. Null where there is no such switch.
    """


class PrometheusCounter(BaseModel):
    """
    A counter that the target itself serves in the Prometheus text format.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    port: Annotated[int, Field(ge=1, le=65535)]
    """
    Where it listens on loopback.
    """
    path: Annotated[str, Field(pattern="^/[!-~]{0,255}$")]
    """
    Of its metrics.
    """
    metric: Annotated[str, Field(pattern="^[a-zA-Z_:][a-zA-Z0-9_:]{0,127}$")]
    """
    Name of a counter; samples with this name are added up.
    """


class RateAdapted(BaseModel):
    """
    The collector changed the rate to keep to its CPU budget; the rate asked for is not forgotten.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["rate_adapted"] = "rate_adapted"
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second from now on.
    """
    previous_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second before.
    """
    asked_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second that were asked for.
    """
    measuring_percent: Annotated[float, Field(ge=0.0)]
    """
    CPU of sampling and sending that led to it, all targets together, 100 = one core.
    """
    budget_percent: Annotated[float, Field(ge=0.0)]
    """
    What it may be.
    """


class RateChanged(BaseModel):
    """
    Another sampling rate was asked for.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["rate_changed"] = "rate_changed"
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """
    previous_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """


class RateRequest(BaseModel):
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


Tag = TypeAliasType("Tag", Annotated[str, Field(max_length=40, min_length=1)])
"""
A label that people gave.
"""


class RecordRequest(BaseModel):
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
    What people call it.
    """
    tags: Annotated[list[Tag] | None, Field(max_length=32)] = None
    """
    Labels that people gave.
    """
    group: Annotated[str | None, Field(max_length=80)] = None
    """
    Runs of one group are repeats of one another; null: it stands alone.
    """
    notes: Annotated[str | None, Field(max_length=20000)] = None
    """
    What people wrote about it.
    """
    past_s: Annotated[float | None, Field(ge=0.0, le=86400.0)] = None
    """
    Keep so much of what has been, as far as the flight recorder has it, seconds.
    """
    duration_s: Annotated[float | None, Field(ge=0.0, le=31536000.0)] = None
    """
    End by itself after so long, seconds from now on; null: not; 0: keep the past alone.
    """


class Recording(BaseModel):
    """
    A run that is being recorded.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of a run: when it was begun, in UTC, and six random hex digits.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    What people call it.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was asked for, Unix microseconds.
    """


class RefusedReply(BaseModel):
    """
    A command was refused.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["refused_reply"] = "refused_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    problem: Problem


class ReleaseCommand(BaseModel):
    """
    Steer no more and go back to the original size; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["release_command"] = "release_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class RestartSearchCommand(BaseModel):
    """
    Let the policy search anew; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["restart_search_command"] = "restart_search_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class Retention(BaseModel):
    """
    When old runs are deleted by themselves.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    max_age_s: Annotated[float | None, Field(ge=0.0)]
    """
    Runs that ended longer ago go, seconds; null: none goes by age.
    """
    max_bytes: Annotated[int | None, Field(ge=0)]
    """
    The oldest go until all take no more than that; null: none goes by size.
    """


Role = TypeAliasType(
    "Role", Annotated[Literal["operator", "viewer"], Field(title="Role")]
)
"""
What a session may do: watch, or also change something.
"""


class RoleTotals(BaseModel):
    """
    What the threads of one role add up to, those that ended since attach included. What a thread did counts for the role it had when its counters were read: a new name takes along only what comes after it. So totals never fall.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    role: str | None
    """
    A thread's name with each run of digits as one #; null: all roles beyond the bound on their number together.
    """
    live: Annotated[int, Field(ge=0)]
    """
    Threads alive.
    """
    exited: Annotated[int, Field(ge=0)]
    """
    Threads that ended in this role since attach.
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its cumulative value over these threads, in the field's unit. A field that was available for none of them is not in it.
    """


class RunCounts(BaseModel):
    """
    How much a run holds.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    instants: Annotated[int, Field(ge=0)]
    """
    Frames: instants at which the target was sampled.
    """
    thread_samples: Annotated[int, Field(ge=0)]
    """
    Rows: counters of one thread at one instant. A thread whose counters did not change has none.
    """
    threads: Annotated[int, Field(ge=0)]
    """
    Threads that were alive at some time in it.
    """
    events: Annotated[int, Field(ge=0)]
    """
    Events.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Of all its files.
    """


RunEnd = TypeAliasType(
    "RunEnd",
    Annotated[
        Literal[
            "stopped",
            "duration",
            "kept",
            "target-ended",
            "collector-lost",
            "backend-lost",
            "disk-full",
        ],
        Field(title="RunEnd"),
    ],
)
"""
Why a run ended.
"""


class RunLosses(BaseModel):
    """
    What is missing in a run, or was measured late. All 0: nothing that tidscope knows of.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    frames: Annotated[int, Field(ge=0)]
    """
    Frames of the target that never came, or came when nothing could be written.
    """
    gaps: Annotated[int, Field(ge=0)]
    """
    Holes that they make.
    """
    missing_ns: Annotated[int, Field(ge=0)]
    """
    Time in these holes, nanoseconds.
    """
    cut_bytes: Annotated[int, Field(ge=0)]
    """
    Bytes of a frame that was not written to its end, cut off when the run was recovered.
    """
    coalesced: Annotated[int, Field(ge=0)]
    """
    Instants that were merged into a later one before they were written; totals are whole.
    """
    deadlines_missed: Annotated[int, Field(ge=0)]
    """
    Samples that were due and not taken in time.
    """
    samples_failed: Annotated[int, Field(ge=0)]
    """
    Samples that could not be taken.
    """
    exits_lost: Annotated[int, Field(ge=0)]
    """
    Exit records of threads that the kernel dropped.
    """
    clock_jumps: Annotated[int, Field(ge=0)]
    """
    Times that the machine's wall clock was set by more than half a second; times since attach are not touched by it.
    """


class RunMark(BaseModel):
    """
    A moment that somebody marked; runs can be aligned at it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach: the time of the target's frames.
    """
    text: Annotated[str, Field(max_length=200, min_length=1)]
    """
    What is to be seen there.
    """


class RunOutcome(BaseModel):
    """
    How the command ended that a run was made of.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    command: Annotated[list[str], Field(max_length=1024)]
    """
    Program and arguments, as started.
    """
    exit_code: int | None
    """
    Its exit code; null if a signal ended it.
    """
    signal: Annotated[str | None, Field(max_length=20)]
    """
    Name of the signal that ended it, such as SIGKILL; null if none did.
    """
    elapsed_us: Annotated[int, Field(ge=0)]
    """
    From its first instruction to its end, wall time, microseconds.
    """
    user_cpu_us: Annotated[int, Field(ge=0)]
    """
    CPU time in user mode, its children that it waited for included, microseconds.
    """
    system_cpu_us: Annotated[int, Field(ge=0)]
    """
    CPU time in the kernel, likewise.
    """
    max_rss_bytes: Annotated[int, Field(ge=0)]
    """
    Most memory that was resident at once.
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
    Context switches because it waited.
    """
    involuntary_switches: Annotated[int, Field(ge=0)]
    """
    Context switches because its time was over.
    """
    output_bytes: Annotated[int, Field(ge=0)]
    """
    What it wrote to standard output and standard error.
    """
    output_tail: Annotated[str, Field(max_length=65536)]
    """
    The last of that, as text.
    """


class RunPatch(BaseModel):
    """
    Body of PATCH /api/v1/runs/{id}: what is left out stays.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str | None, Field(max_length=120)] = None
    """
    What people call it.
    """
    tags: Annotated[list[Tag] | None, Field(max_length=32)] = None
    """
    Labels that people gave.
    """
    group: Annotated[str | None, Field(max_length=80)] = None
    """
    Runs of one group are repeats of one another; null: it stands alone.
    """
    notes: Annotated[str | None, Field(max_length=20000)] = None
    """
    What people wrote about it.
    """
    marks: Annotated[list[RunMark] | None, Field(max_length=256)] = None
    """
    All of them.
    """
    outcome: RunOutcome | None = None
    """
    How the command ended.
    """


RunState = TypeAliasType(
    "RunState",
    Annotated[Literal["recording", "complete", "interrupted"], Field(title="RunState")],
)
"""
recording: frames are added. complete: ended as intended. interrupted: a crash, a full disk or a lost collector cut it short; what was written is there.
"""


class RunSummary(BaseModel):
    """
    A run in the list of runs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    id: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of a run: when it was begun, in UTC, and six random hex digits.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    What people call it.
    """
    tags: Annotated[list[Tag], Field(max_length=32)]
    """
    Labels that people gave.
    """
    group: Annotated[str | None, Field(max_length=80)]
    """
    Runs of one group are repeats of one another; null: it stands alone.
    """
    notes: Annotated[str, Field(max_length=20000)]
    """
    What people wrote about it.
    """
    state: RunState
    end: RunEnd | None
    """
    Why it ended; null while it is being recorded.
    """
    end_detail: str
    """
    The same in words, with what is missing.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was asked for, Unix microseconds.
    """
    started_unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock of its first instant, Unix microseconds.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    From its first instant to its last, nanoseconds.
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
    command: str
    """
    Its command line.
    """
    policies: list[str]
    """
    Those that steered the target, in order.
    """
    losses: RunLosses
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
    It was brought from another place.
    """


class RunsResponse(BaseModel):
    """
    GET /api/v1/runs.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    runs: list[RunSummary]
    """
    The newest first.
    """
    deleted: list[RunSummary]
    """
    Those that can still be restored.
    """
    damaged: list[DamagedRun]
    """
    What lies there and cannot be read.
    """
    bytes: Annotated[int, Field(ge=0)]
    """
    Of all runs together, the deleted ones included.
    """
    free_bytes: Annotated[int, Field(ge=0)]
    """
    Room on the disk.
    """
    retention: Retention


Runtime = TypeAliasType(
    "Runtime",
    Annotated[
        Literal["go", "python", "java", "node", "native", "unknown"],
        Field(title="Runtime"),
    ],
)
"""
Language runtime a process runs on, as far as it can be told from outside.
"""


class SampleFailed(BaseModel):
    """
    A sample could not be taken.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["sample_failed"] = "sample_failed"
    reason: str
    """
    What the kernel answered.
    """


SampleSource = TypeAliasType(
    "SampleSource",
    Annotated[Literal["taskstats", "procfs"], Field(title="SampleSource")],
)
"""
Where samples come from: genetlink taskstats, or /proc when taskstats is not to be had.
"""


class SearchRestarted(BaseModel):
    """
    The policy searches anew.
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
    Who or what asked for it.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class SessionRequest(BaseModel):
    """
    Body of POST /api/v1/session: trades the printed token for a cookie.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    token: Annotated[str, Field(max_length=256, min_length=1)]
    """
    From the address that was printed at start.
    """


class SessionResponse(BaseModel):
    """
    Body of GET /api/v1/session.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    role: Role


class SetDelayAccountingCommand(BaseModel):
    """
    Switch the kernel's delay accounting on or off; answered with a DoctorReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["set_delay_accounting_command"] = "set_delay_accounting_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    on: bool
    """
    Value of kernel.task_delayacct to set. Only threads that start afterwards are affected.
    """


class SetRateCommand(BaseModel):
    """
    Change a target's rate.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["set_rate_command"] = "set_rate_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second.
    """


class SetupDifference(BaseModel):
    """
    Something in the set-up that is not the same in all runs.
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
    A value a run, in the runs' order.
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
What a policy steers on.
"""


class SignalOption(BaseModel):
    """
    Something that a target can be steered on.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    kind: SignalKind
    proxy: bool
    """
    It stands in for what matters: lower confidence.
    """
    refusal: Annotated[str, Field(max_length=1024)]
    """
    Why it cannot be used, one sentence; empty if it can.
    """
    note: Annotated[str, Field(max_length=512)]
    """
    What it counts.
    """


class Source(BaseModel):
    """
    Where a target's numbers come from.
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
    Name of the layout table in force, such as v16; null without taskstats.
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
    Whether exit totals of threads are received.
    """
    exits_reason: str
    """
    Why, or why not.
    """
    network: str
    """
    Where per-thread network numbers come from, or 'none: …' and why.
    """


class SteerRequest(BaseModel):
    """
    Body of PUT /api/v1/targets/{target_id}/steering: steer a target, or steer it otherwise.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    parameters: dict[str, float] | None = None
    """
    Parameters that differ from their defaults, by name; null: none.
    """
    shadow: bool | None = None
    """
    Decide, but do not act; null: act.
    """
    knob: KnobKind | None = None
    """
    What to turn; null: the best there is.
    """
    signal: SignalKind | None = None
    """
    What to steer on; null: the best there is.
    """
    lower: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Smallest size allowed; null: the knob's.
    """
    upper: Annotated[int | None, Field(ge=1, le=1048576)] = None
    """
    Largest size allowed; null: the knob's.
    """
    prometheus: PrometheusCounter | None = None
    """
    Which counter, where the signal is prometheus.
    """


class Steering(BaseModel):
    """
    A policy at work on a target.
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
    All of them.
    """
    shadow: bool
    """
    It decides, but does not act.
    """
    knob: KnobKind
    signal: SignalKind
    proxy: bool
    """
    The signal stands in for what matters: lower confidence.
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
    Size that a release goes back to.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size in force.
    """
    state: Annotated[str, Field(max_length=256)]
    """
    What the policy is doing, in words.
    """
    reason: Annotated[str, Field(max_length=1024)]
    """
    Why it decided so, one sentence.
    """
    decisions: Annotated[int, Field(ge=0)]
    """
    How many it has taken.
    """
    since_unix_us: Annotated[int, Field(ge=0)]
    """
    When it began, Unix microseconds.
    """
    problem: Annotated[str, Field(max_length=1024)]
    """
    What keeps it from working, one sentence; empty if nothing does.
    """


class SteeringBegan(BaseModel):
    """
    A policy steers the target from now on.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_began"] = "steering_began"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    shadow: bool
    """
    It decides, but does not act.
    """
    knob: KnobKind
    signal: SignalKind
    proxy: bool
    """
    The signal stands in for what matters.
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
    Size in force.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class SteeringDecided(BaseModel):
    """
    A policy took a decision at the end of an interval.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_decided"] = "steering_decided"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    at_ns: Annotated[int, Field(ge=0)]
    """
    End of the interval, nanoseconds since attach.
    """
    elapsed_s: Annotated[float, Field(ge=0.0)]
    """
    Real length of the interval.
    """
    ops: Annotated[float, Field(ge=0.0)]
    """
    Operations in it, by the signal.
    """
    mean_wait_s: Annotated[float | None, Field(ge=0.0)]
    """
    Mean time that jobs waited; null where the signal does not tell.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size that was in force during the interval.
    """
    next_size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size in force after the decision.
    """
    proposed: Annotated[int | None, Field(ge=1, le=1048576)]
    """
    In shadow mode the size that would have been set.
    """
    state: Annotated[str, Field(max_length=256)]
    """
    What the policy is doing, in words.
    """
    reason: Annotated[str, Field(max_length=1024)]
    """
    Why, one sentence.
    """
    counted: bool
    """
    Whether the interval said anything about the size: false after another hand moved the knob, or while the target stood still.
    """
    probing: bool
    """
    It is trying sizes out.
    """


class SteeringOptions(BaseModel):
    """
    Body of GET /api/v1/targets/{target_id}/steering: how a target could be steered.
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
    What is in force.
    """


class SteeringOptionsCommand(BaseModel):
    """
    Ask how a target could be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_options_command"] = "steering_options_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class SteeringOptionsReply(BaseModel):
    """
    How a target could be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_options_reply"] = "steering_options_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    options: SteeringOptions


class SteeringReleased(BaseModel):
    """
    No policy steers the target any more; it has its original size back.
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
    Size in force.
    """
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class SteeringTroubled(BaseModel):
    """
    The policy cannot work at present, or works again.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steering_troubled"] = "steering_troubled"
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    problem: Annotated[str, Field(max_length=1024)]
    """
    What is wrong, one sentence; empty: it works again.
    """


class StreamStats(BaseModel):
    """
    Backend to page, once a second: how this page keeps up.
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
    Frames waiting now.
    """
    clients: Annotated[int, Field(ge=0)]
    """
    Pages connected to this backend.
    """


class Subscribe(BaseModel):
    """
    Page to backend: send me this target's frames.
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
    Last frame the page has; null for all that is kept.
    """


class Taken(BaseModel):
    """
    Page to backend: so many frames of this connection are dealt with. A client that says so is never more than a second's worth behind what it was sent: the backend holds frames back and coalesces them instead. It says 0 when it begins. One that never says so gets all at once.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["taken"] = "taken"
    frames: Annotated[int, Field(ge=0)]
    """
    Frames received and dealt with since the connection began, of all targets.
    """


class TargetDetached(BaseModel):
    """
    Sampling was stopped on request.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_detached"] = "target_detached"


class TargetExited(BaseModel):
    """
    The process ended.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_exited"] = "target_exited"
    exit_code: int | None
    """
    Exit status as wait(2) gives it, if an exit record told it.
    """


class TargetForgotten(BaseModel):
    """
    Collector to backend: an ended target whose frames are no longer kept.
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
attached: being sampled. exited: the process has ended; the stream is complete. detached: someone asked to stop.
"""


class ThreadBorn(BaseModel):
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
    Its start, nanoseconds since attach; negative if it started before.
    """
    name: str
    """
    Its comm.
    """


class ThreadExited(BaseModel):
    """
    A thread ended.
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
    Its start, nanoseconds since attach.
    """
    name: str
    """
    Its last comm.
    """
    totals: dict[str, TotalsAdditionalProperty]
    """
    Field name to its last cumulative value, in the field's unit. A field that was not available is not in it.
    """
    exact: bool
    """
    True if the totals are the kernel's exit record; false if they are the last sample, because no exit record came.
    """
    seen_alive: bool
    """
    False if it lived and died between two samples.
    """
    lifetime_ns: Annotated[int | None, Field(ge=0)] = None
    """
    How long it lived, from its exit record; null if there was none.
    """


class ThreadRenamed(BaseModel):
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
    The new one.
    """
    previous: str
    """
    The old one.
    """


class Unsubscribe(BaseModel):
    """
    Page to backend: stop.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["unsubscribe"] = "unsubscribe"
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """


class AgentHello(BaseModel):
    """
    Who an agent is, and what it lets be steered.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id as the agent's own PID namespace counts.
    """
    runtime: Runtime
    version: Annotated[str, Field(max_length=64)]
    """
    Of the agent.
    """
    protocol: Annotated[int, Field(ge=1)]
    """
    Version of this protocol; 1.
    """
    knob: AgentKnob
    lower: Annotated[int, Field(ge=1, le=1048576)]
    """
    Smallest size that it takes.
    """
    upper: Annotated[int, Field(ge=1, le=1048576)]
    """
    Largest size that it takes.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size in force.
    """
    original: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size that it goes back to.
    """


class AgentSetCall(BaseModel):
    """
    Collector to agent: set the size, or renew the lease of one that is set.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the asker, repeated in the answer.
    """
    method: Literal["set"] = "set"
    params: AgentSetParams


class CollectorInfo(BaseModel):
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
    How many targets it takes at once.
    """


class ComparedMetric(BaseModel):
    """
    One row of the table of differences.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    metric: str
    """
    Name of a field of the catalogue, or of a figure derived from fields.
    """
    label: str
    """
    For people.
    """
    unit: str
    """
    Such as s, bytes or count.
    """
    role: str | None
    """
    Label of the matched role; null: the whole process.
    """
    better: Annotated[Better, Field(title="Better")]
    """
    Which way is an improvement.
    """
    groups: list[GroupFigure]
    """
    One a group.
    """
    differences: list[FigureDifference]
    """
    One for each group but the first.
    """


class ComparedRun(BaseModel):
    """
    A run in a comparison.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    run: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of a run: when it was begun, in UTC, and six random hex digits.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    What people call it.
    """
    group: Annotated[int, Field(ge=0)]
    """
    Number of its group in the comparison, from 0.
    """
    zero_ns: Annotated[int, Field(ge=0)]
    """
    Where its time is 0 in the comparison. Nanoseconds since attach: the time of the target's frames.
    """
    align_problem: str | None
    """
    Why it could not be aligned as asked, and stands at its start; null if it could.
    """
    duration_ns: Annotated[int, Field(ge=0)]
    """
    From its first instant to its last, nanoseconds.
    """
    losses: RunLosses


class Comparison(BaseModel):
    """
    GET /api/v1/compare.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    align: AlignKind
    mark: Annotated[str | None, Field(max_length=200)]
    """
    Text of the mark that runs are aligned at; null if they are not.
    """
    runs: list[ComparedRun]
    """
    As asked for.
    """
    groups: list[ComparedGroup]
    """
    The first one is what the others are held against.
    """
    setup: list[SetupDifference]
    """
    What differs, the most important first.
    """
    roles: list[MatchedRole]
    """
    The busiest first.
    """
    metrics: list[ComparedMetric]
    """
    Of the whole process first, then by role.
    """
    series: list[ComparedSeries]
    """
    By metric, role and run.
    """
    confidence: str
    """
    How intervals were found, in one sentence.
    """


class DoctorReply(BaseModel):
    """
    The host's report.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["doctor_reply"] = "doctor_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    report: DoctorReport


class Host(BaseModel):
    """
    A machine with a collector.
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
    Whether its collector is connected now.
    """
    collector: CollectorInfo


class HostsResponse(BaseModel):
    """
    GET /api/v1/hosts.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    hosts: list[Host]
    """
    Hosts known.
    """


LiveCommand = TypeAliasType(
    "LiveCommand",
    Annotated[
        Subscribe | Unsubscribe | Taken,
        Field(discriminator="type", title="LiveCommand"),
    ],
)
"""
Page to backend.
"""


class LiveProblem(BaseModel):
    """
    Backend to page: a command was refused.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["live_problem"] = "live_problem"
    problem: Problem


class PolicyInfo(BaseModel):
    """
    A policy that a collector has.
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
    Where it comes from.
    """
    wait: bool
    """
    Whether it steers on the time that jobs wait, not on their number.
    """
    parameters: list[PolicyParameter]
    """
    What can be set.
    """


class Process(BaseModel):
    """
    A process that could be attached to.
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
    Its comm, at most 15 bytes.
    """
    command: str
    """
    Its command line, arguments joined by blanks; its comm in brackets where there is none.
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
    CPU since the last listing, 100 = one core; null in the first.
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


class ProcessesReply(BaseModel):
    """
    The processes of the host.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["processes_reply"] = "processes_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    processes: list[Process]
    """
    All that can be seen.
    """


class ProcessesResponse(BaseModel):
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
    All that can be seen.
    """


class RunPolicy(BaseModel):
    """
    A policy that began to steer the target during a run, or did before it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach: the time of the target's frames.
    """
    policy: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Name of a policy.
    """
    shadow: bool
    """
    It decides, but does not act.
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


class SteerCommand(BaseModel):
    """
    Steer a target; answered with a TargetReply.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["steer_command"] = "steer_command"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Annotated[str, Field(pattern="^t-[0-9]+-[0-9a-f]{8}$")]
    """
    Identity of one attachment; a new one each time a process is attached to.
    """
    request: SteerRequest
    actor: Annotated[str, Field(max_length=128)]
    """
    Who asked: page or command line, and from where.
    """


class Target(BaseModel):
    """
    A process attached to.
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
    state: TargetState
    rate_hz: Annotated[float, Field(ge=1.0, le=100.0)]
    """
    Samples a second that were asked for; a frame's health tells the rate in force.
    """
    attached_unix_us: Annotated[int, Field(ge=0)]
    """
    Moment of attachment, Unix microseconds: the zero of the stream's time.
    """
    source: Source
    energy: EnergySource
    fields: list[str]
    """
    Fields that frames carry, in column order.
    """
    absent: list[AbsentField]
    """
    Fields of the catalogue that they do not carry.
    """
    gomaxprocs: Annotated[int | None, Field(ge=0)]
    """
    Size in force when attached; null if unknown.
    """
    gomaxprocs_reason: str
    """
    How GOMAXPROCS is read, or why it is not.
    """
    steering: Steering | None
    """
    The policy at work on it; null: it is not steered.
    """


class TargetChanged(BaseModel):
    """
    Collector to backend: a target was attached, changed its rate, or ended.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_changed"] = "target_changed"
    target: Target


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
        | ExitsLost
        | Gap
        | GomaxprocsChanged
        | SampleFailed
        | SteeringBegan
        | SteeringDecided
        | SearchRestarted
        | SteeringReleased
        | SteeringTroubled,
        Field(discriminator="type", title="TargetEvent"),
    ],
)
"""
Something that happened to a target at one instant.
"""


class TargetReply(BaseModel):
    """
    A target's state, as asked for.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["target_reply"] = "target_reply"
    request_id: Annotated[int, Field(ge=0)]
    """
    Chosen by the asker, repeated in the reply.
    """
    target: Target
    created: bool
    """
    False if the process was attached to already.
    """


class TargetsResponse(BaseModel):
    """
    GET /api/v1/targets.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    targets: list[Target]
    """
    Targets known.
    """


class AgentAnswer(BaseModel):
    """
    Agent to collector: a call succeeded.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the asker, repeated in the answer.
    """
    result: AgentHello | AgentReading | AgentSize
    """
    Of hello, of read, of set and release.
    """


CollectorCommand = TypeAliasType(
    "CollectorCommand",
    Annotated[
        CollectorWelcome
        | AttachCommand
        | DetachCommand
        | SetRateCommand
        | ListProcessesCommand
        | DoctorCommand
        | SetDelayAccountingCommand
        | SteerCommand
        | RestartSearchCommand
        | ReleaseCommand
        | SteeringOptionsCommand,
        Field(discriminator="type", title="CollectorCommand"),
    ],
)
"""
Backend to collector.
"""


class CollectorHello(BaseModel):
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
    Targets it holds, ended ones included while their frames are kept for replay.
    """
    policies: list[PolicyInfo]
    """
    Policies that it can steer with.
    """


CollectorMessage = TypeAliasType(
    "CollectorMessage",
    Annotated[
        CollectorHello
        | TargetReply
        | ProcessesReply
        | DoctorReply
        | RefusedReply
        | TargetChanged
        | TargetForgotten
        | FramesLost
        | SteeringOptionsReply,
        Field(discriminator="type", title="CollectorMessage"),
    ],
)
"""
Collector to backend, as text; frames travel as binary messages.
"""


class DemoResponse(BaseModel):
    """
    POST /api/v1/demo: the demo program was started and attached to.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    target: Target


class FrameHeader(BaseModel):
    """
    First part of a binary frame: one instant of one target. After it stands an Arrow IPC stream of one record batch: tid (uint32), one uint64 column a field, null = not available; a snapshot has start_ns (int64) and name (utf8) as well. A snapshot holds every live thread; a delta holds those whose counters changed since the frame before. Events apply before rows.
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
    First frame that this one stands for; less than seq if frames were coalesced.
    """
    kind: Annotated[FrameKind, Field(title="FrameKind")]
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
    Threads alive at this instant.
    """
    events: list[TargetEvent]
    """
    What happened since the frame before, in order.
    """
    process: ProcessGauges
    machine: MachineCounters
    health: CollectorHealth
    exited: ExitedTotals
    roles: Annotated[list[RoleTotals] | None, Field(max_length=64)] = None
    """
    Totals by role: in snapshots, in the last frame, and about once a second; null in the others, where those told last stand. A coalesced frame has the last that its frames told.
    """


class LiveState(BaseModel):
    """
    Backend to page: hosts and targets, at connect and whenever one changes.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    type: Literal["live_state"] = "live_state"
    hosts: list[Host]
    """
    Hosts known.
    """
    targets: list[Target]
    """
    Targets known, ended ones included.
    """
    recordings: Annotated[list[Recording], Field(validate_default=True)] = []
    """
    Runs that are being recorded.
    """


class PoliciesResponse(BaseModel):
    """
    Body of GET /api/v1/policies.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    policies: list[PolicyInfo]
    """
    In the order in which they are shown.
    """


class RunEvent(BaseModel):
    """
    An event of a run; a line of its events files.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    seq: Annotated[int, Field(ge=1)]
    """
    Frame that told of it.
    """
    time_ns: Annotated[int, Field(ge=0)]
    """
    Nanoseconds since attach: the time of the target's frames.
    """
    unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock, Unix microseconds.
    """
    event: TargetEvent


class RunEventsResponse(BaseModel):
    """
    GET /api/v1/runs/{id}/events.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    events: list[RunEvent]
    """
    By time.
    """
    left_out: Annotated[int, Field(ge=0)]
    """
    Events beyond the bound of what is sent.
    """


class RunManifest(BaseModel):
    """
    What is needed to understand a run without the machine that it was recorded on; manifest.json in its folder.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    format: Literal[1] = 1
    """
    Version of the folder's format.
    """
    id: Annotated[str, Field(pattern="^r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")]
    """
    Identity of a run: when it was begun, in UTC, and six random hex digits.
    """
    name: Annotated[str, Field(max_length=120)]
    """
    What people call it.
    """
    tags: Annotated[list[Tag], Field(max_length=32)]
    """
    Labels that people gave.
    """
    group: Annotated[str | None, Field(max_length=80)]
    """
    Runs of one group are repeats of one another; null: it stands alone.
    """
    notes: Annotated[str, Field(max_length=20000)]
    """
    What people wrote about it.
    """
    state: RunState
    end: RunEnd | None
    """
    Why it ended; null while it is being recorded.
    """
    end_detail: str
    """
    The same in words, with what is missing; empty while it is being recorded.
    """
    created_unix_us: Annotated[int, Field(ge=0)]
    """
    When recording was asked for, Unix microseconds.
    """
    started_unix_us: Annotated[int, Field(ge=0)]
    """
    Wall clock of its first instant, Unix microseconds.
    """
    from_ns: Annotated[int, Field(ge=0)]
    """
    Its first instant. Nanoseconds since attach: the time of the target's frames.
    """
    to_ns: Annotated[int, Field(ge=0)]
    """
    Its last instant. Nanoseconds since attach: the time of the target's frames.
    """
    until_ns: Annotated[int | None, Field(ge=0)] = None
    """
    When recording ends by itself; nanoseconds since attach. null: it does not.
    """
    tidscope: str
    """
    Version of tidscope that recorded it.
    """
    host: Host
    target: Target
    fields: list[CatalogueField]
    """
    The catalogue of fields, as it was in force.
    """
    policies: list[RunPolicy]
    """
    What steered the target, in order.
    """
    marks: Annotated[list[RunMark], Field(max_length=256)]
    """
    Moments that somebody marked, by time.
    """
    losses: RunLosses
    counts: RunCounts
    outcome: RunOutcome | None
    """
    How the command ended, if the run was made of one.
    """
    imported: bool
    """
    It was brought from another place.
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


class Wire(BaseModel):
    model_config = ConfigDict(
        extra="forbid",
    )
    AbsentField_1: Annotated[AbsentField | None, Field(alias="AbsentField")] = None
    AgentAnswer_1: Annotated[AgentAnswer | None, Field(alias="AgentAnswer")] = None
    AgentCall_1: Annotated[AgentCall | None, Field(alias="AgentCall")] = None
    AgentError_1: Annotated[AgentError | None, Field(alias="AgentError")] = None
    AgentFailure_1: Annotated[AgentFailure | None, Field(alias="AgentFailure")] = None
    AgentHello_1: Annotated[AgentHello | None, Field(alias="AgentHello")] = None
    AgentKnob_1: Annotated[AgentKnob | None, Field(alias="AgentKnob")] = None
    AgentNotice_1: Annotated[AgentNotice | None, Field(alias="AgentNotice")] = None
    AgentReading_1: Annotated[AgentReading | None, Field(alias="AgentReading")] = None
    AgentSetCall_1: Annotated[AgentSetCall | None, Field(alias="AgentSetCall")] = None
    AgentSetParams_1: Annotated[
        AgentSetParams | None, Field(alias="AgentSetParams")
    ] = None
    AgentSize_1: Annotated[AgentSize | None, Field(alias="AgentSize")] = None
    AlignKind_1: Annotated[AlignKind | None, Field(alias="AlignKind")] = None
    AttachCommand_1: Annotated[AttachCommand | None, Field(alias="AttachCommand")] = (
        None
    )
    AttachRequest_1: Annotated[AttachRequest | None, Field(alias="AttachRequest")] = (
        None
    )
    CatalogueField_1: Annotated[
        CatalogueField | None, Field(alias="CatalogueField")
    ] = None
    CheckState_1: Annotated[CheckState | None, Field(alias="CheckState")] = None
    CollectorCommand_1: Annotated[
        CollectorCommand | None, Field(alias="CollectorCommand")
    ] = None
    CollectorHealth_1: Annotated[
        CollectorHealth | None, Field(alias="CollectorHealth")
    ] = None
    CollectorHello_1: Annotated[
        CollectorHello | None, Field(alias="CollectorHello")
    ] = None
    CollectorInfo_1: Annotated[CollectorInfo | None, Field(alias="CollectorInfo")] = (
        None
    )
    CollectorMessage_1: Annotated[
        CollectorMessage | None, Field(alias="CollectorMessage")
    ] = None
    CollectorWelcome_1: Annotated[
        CollectorWelcome | None, Field(alias="CollectorWelcome")
    ] = None
    ComparedGroup_1: Annotated[ComparedGroup | None, Field(alias="ComparedGroup")] = (
        None
    )
    ComparedMetric_1: Annotated[
        ComparedMetric | None, Field(alias="ComparedMetric")
    ] = None
    ComparedRun_1: Annotated[ComparedRun | None, Field(alias="ComparedRun")] = None
    ComparedSeries_1: Annotated[
        ComparedSeries | None, Field(alias="ComparedSeries")
    ] = None
    Comparison_1: Annotated[Comparison | None, Field(alias="Comparison")] = None
    DamagedRun_1: Annotated[DamagedRun | None, Field(alias="DamagedRun")] = None
    DeadlinesMissed_1: Annotated[
        DeadlinesMissed | None, Field(alias="DeadlinesMissed")
    ] = None
    DelayAccountingRequest_1: Annotated[
        DelayAccountingRequest | None, Field(alias="DelayAccountingRequest")
    ] = None
    DemoResponse_1: Annotated[DemoResponse | None, Field(alias="DemoResponse")] = None
    DetachCommand_1: Annotated[DetachCommand | None, Field(alias="DetachCommand")] = (
        None
    )
    DoctorCheck_1: Annotated[DoctorCheck | None, Field(alias="DoctorCheck")] = None
    DoctorCommand_1: Annotated[DoctorCommand | None, Field(alias="DoctorCommand")] = (
        None
    )
    DoctorReply_1: Annotated[DoctorReply | None, Field(alias="DoctorReply")] = None
    DoctorReport_1: Annotated[DoctorReport | None, Field(alias="DoctorReport")] = None
    EnergyDomain_1: Annotated[EnergyDomain | None, Field(alias="EnergyDomain")] = None
    EnergySource_1: Annotated[EnergySource | None, Field(alias="EnergySource")] = None
    ExitedTotals_1: Annotated[ExitedTotals | None, Field(alias="ExitedTotals")] = None
    ExitsLost_1: Annotated[ExitsLost | None, Field(alias="ExitsLost")] = None
    FieldCatalogue_1: Annotated[
        FieldCatalogue | None, Field(alias="FieldCatalogue")
    ] = None
    FigureDifference_1: Annotated[
        FigureDifference | None, Field(alias="FigureDifference")
    ] = None
    FrameHeader_1: Annotated[FrameHeader | None, Field(alias="FrameHeader")] = None
    FramesLost_1: Annotated[FramesLost | None, Field(alias="FramesLost")] = None
    Gap_1: Annotated[Gap | None, Field(alias="Gap")] = None
    GomaxprocsChanged_1: Annotated[
        GomaxprocsChanged | None, Field(alias="GomaxprocsChanged")
    ] = None
    GroupFigure_1: Annotated[GroupFigure | None, Field(alias="GroupFigure")] = None
    HealthResponse_1: Annotated[
        HealthResponse | None, Field(alias="HealthResponse")
    ] = None
    Host_1: Annotated[Host | None, Field(alias="Host")] = None
    HostsResponse_1: Annotated[HostsResponse | None, Field(alias="HostsResponse")] = (
        None
    )
    KnobKind_1: Annotated[KnobKind | None, Field(alias="KnobKind")] = None
    KnobOption_1: Annotated[KnobOption | None, Field(alias="KnobOption")] = None
    ListProcessesCommand_1: Annotated[
        ListProcessesCommand | None, Field(alias="ListProcessesCommand")
    ] = None
    LiveCommand_1: Annotated[LiveCommand | None, Field(alias="LiveCommand")] = None
    LiveMessage_1: Annotated[LiveMessage | None, Field(alias="LiveMessage")] = None
    LiveProblem_1: Annotated[LiveProblem | None, Field(alias="LiveProblem")] = None
    LiveState_1: Annotated[LiveState | None, Field(alias="LiveState")] = None
    MachineCounters_1: Annotated[
        MachineCounters | None, Field(alias="MachineCounters")
    ] = None
    MatchedRole_1: Annotated[MatchedRole | None, Field(alias="MatchedRole")] = None
    PoliciesResponse_1: Annotated[
        PoliciesResponse | None, Field(alias="PoliciesResponse")
    ] = None
    PolicyInfo_1: Annotated[PolicyInfo | None, Field(alias="PolicyInfo")] = None
    PolicyParameter_1: Annotated[
        PolicyParameter | None, Field(alias="PolicyParameter")
    ] = None
    Problem_1: Annotated[Problem | None, Field(alias="Problem")] = None
    ProblemType_1: Annotated[ProblemType | None, Field(alias="ProblemType")] = None
    Process_1: Annotated[Process | None, Field(alias="Process")] = None
    ProcessGauges_1: Annotated[ProcessGauges | None, Field(alias="ProcessGauges")] = (
        None
    )
    ProcessesReply_1: Annotated[
        ProcessesReply | None, Field(alias="ProcessesReply")
    ] = None
    ProcessesResponse_1: Annotated[
        ProcessesResponse | None, Field(alias="ProcessesResponse")
    ] = None
    PrometheusCounter_1: Annotated[
        PrometheusCounter | None, Field(alias="PrometheusCounter")
    ] = None
    RateAdapted_1: Annotated[RateAdapted | None, Field(alias="RateAdapted")] = None
    RateChanged_1: Annotated[RateChanged | None, Field(alias="RateChanged")] = None
    RateRequest_1: Annotated[RateRequest | None, Field(alias="RateRequest")] = None
    RecordRequest_1: Annotated[RecordRequest | None, Field(alias="RecordRequest")] = (
        None
    )
    Recording_1: Annotated[Recording | None, Field(alias="Recording")] = None
    RefusedReply_1: Annotated[RefusedReply | None, Field(alias="RefusedReply")] = None
    ReleaseCommand_1: Annotated[
        ReleaseCommand | None, Field(alias="ReleaseCommand")
    ] = None
    RestartSearchCommand_1: Annotated[
        RestartSearchCommand | None, Field(alias="RestartSearchCommand")
    ] = None
    Retention_1: Annotated[Retention | None, Field(alias="Retention")] = None
    Role_1: Annotated[Role | None, Field(alias="Role")] = None
    RoleTotals_1: Annotated[RoleTotals | None, Field(alias="RoleTotals")] = None
    RunCounts_1: Annotated[RunCounts | None, Field(alias="RunCounts")] = None
    RunEnd_1: Annotated[RunEnd | None, Field(alias="RunEnd")] = None
    RunEvent_1: Annotated[RunEvent | None, Field(alias="RunEvent")] = None
    RunEventsResponse_1: Annotated[
        RunEventsResponse | None, Field(alias="RunEventsResponse")
    ] = None
    RunLosses_1: Annotated[RunLosses | None, Field(alias="RunLosses")] = None
    RunManifest_1: Annotated[RunManifest | None, Field(alias="RunManifest")] = None
    RunMark_1: Annotated[RunMark | None, Field(alias="RunMark")] = None
    RunOutcome_1: Annotated[RunOutcome | None, Field(alias="RunOutcome")] = None
    RunPatch_1: Annotated[RunPatch | None, Field(alias="RunPatch")] = None
    RunPolicy_1: Annotated[RunPolicy | None, Field(alias="RunPolicy")] = None
    RunState_1: Annotated[RunState | None, Field(alias="RunState")] = None
    RunSummary_1: Annotated[RunSummary | None, Field(alias="RunSummary")] = None
    RunsResponse_1: Annotated[RunsResponse | None, Field(alias="RunsResponse")] = None
    Runtime_1: Annotated[Runtime | None, Field(alias="Runtime")] = None
    SampleFailed_1: Annotated[SampleFailed | None, Field(alias="SampleFailed")] = None
    SampleSource_1: Annotated[SampleSource | None, Field(alias="SampleSource")] = None
    SearchRestarted_1: Annotated[
        SearchRestarted | None, Field(alias="SearchRestarted")
    ] = None
    SessionRequest_1: Annotated[
        SessionRequest | None, Field(alias="SessionRequest")
    ] = None
    SessionResponse_1: Annotated[
        SessionResponse | None, Field(alias="SessionResponse")
    ] = None
    SetDelayAccountingCommand_1: Annotated[
        SetDelayAccountingCommand | None, Field(alias="SetDelayAccountingCommand")
    ] = None
    SetRateCommand_1: Annotated[
        SetRateCommand | None, Field(alias="SetRateCommand")
    ] = None
    SetupDifference_1: Annotated[
        SetupDifference | None, Field(alias="SetupDifference")
    ] = None
    SignalKind_1: Annotated[SignalKind | None, Field(alias="SignalKind")] = None
    SignalOption_1: Annotated[SignalOption | None, Field(alias="SignalOption")] = None
    Source_1: Annotated[Source | None, Field(alias="Source")] = None
    SteerCommand_1: Annotated[SteerCommand | None, Field(alias="SteerCommand")] = None
    SteerRequest_1: Annotated[SteerRequest | None, Field(alias="SteerRequest")] = None
    Steering_1: Annotated[Steering | None, Field(alias="Steering")] = None
    SteeringBegan_1: Annotated[SteeringBegan | None, Field(alias="SteeringBegan")] = (
        None
    )
    SteeringDecided_1: Annotated[
        SteeringDecided | None, Field(alias="SteeringDecided")
    ] = None
    SteeringOptions_1: Annotated[
        SteeringOptions | None, Field(alias="SteeringOptions")
    ] = None
    SteeringOptionsCommand_1: Annotated[
        SteeringOptionsCommand | None, Field(alias="SteeringOptionsCommand")
    ] = None
    SteeringOptionsReply_1: Annotated[
        SteeringOptionsReply | None, Field(alias="SteeringOptionsReply")
    ] = None
    SteeringReleased_1: Annotated[
        SteeringReleased | None, Field(alias="SteeringReleased")
    ] = None
    SteeringTroubled_1: Annotated[
        SteeringTroubled | None, Field(alias="SteeringTroubled")
    ] = None
    StreamStats_1: Annotated[StreamStats | None, Field(alias="StreamStats")] = None
    Subscribe_1: Annotated[Subscribe | None, Field(alias="Subscribe")] = None
    Taken_1: Annotated[Taken | None, Field(alias="Taken")] = None
    Target_1: Annotated[Target | None, Field(alias="Target")] = None
    TargetChanged_1: Annotated[TargetChanged | None, Field(alias="TargetChanged")] = (
        None
    )
    TargetDetached_1: Annotated[
        TargetDetached | None, Field(alias="TargetDetached")
    ] = None
    TargetEvent_1: Annotated[TargetEvent | None, Field(alias="TargetEvent")] = None
    TargetExited_1: Annotated[TargetExited | None, Field(alias="TargetExited")] = None
    TargetForgotten_1: Annotated[
        TargetForgotten | None, Field(alias="TargetForgotten")
    ] = None
    TargetReply_1: Annotated[TargetReply | None, Field(alias="TargetReply")] = None
    TargetState_1: Annotated[TargetState | None, Field(alias="TargetState")] = None
    TargetsResponse_1: Annotated[
        TargetsResponse | None, Field(alias="TargetsResponse")
    ] = None
    ThreadBorn_1: Annotated[ThreadBorn | None, Field(alias="ThreadBorn")] = None
    ThreadExited_1: Annotated[ThreadExited | None, Field(alias="ThreadExited")] = None
    ThreadRenamed_1: Annotated[ThreadRenamed | None, Field(alias="ThreadRenamed")] = (
        None
    )
    Unsubscribe_1: Annotated[Unsubscribe | None, Field(alias="Unsubscribe")] = None
