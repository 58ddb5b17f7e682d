"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from typing import Annotated, Literal
from pydantic import ConfigDict, Field
from tidscope_wire.message import Message
from typing_extensions import TypeAliasType


class AgentCall(Message):
    """
    Collector to agent: a call without parameters.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the caller, repeated in the answer.
    """
    method: Literal["hello", "read", "read_pools", "release"]
    """
    hello: identify yourself; read: the counters of what can be steered; read_pools: those of all pools (protocol 2); release: restore the original size now.
    """


class AgentError(Message):
    """
    Why a call failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    code: int
    """
    JSON-RPC's own, or -32001: out of bounds, -32002: the program is ending, -32003: another client steers, -32004: too many clients, -32005: a command of the operator failed.
    """
    message: Annotated[str, Field(max_length=1000)]
    """
    One sentence.
    """


class AgentFailure(Message):
    """
    Agent to collector: a call failed.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int | None, Field(ge=0, le=9007199254740991)]
    """
    Id of the call; null if it could not be parsed.
    """
    error: AgentError


AgentKnob = TypeAliasType(
    "AgentKnob",
    Annotated[Literal["gomaxprocs", "pool", "none"], Field(title="AgentKnob")],
)
"""
Knob of an agent: GOMAXPROCS of a Go program, the number of workers of a pool, or none: the pools of the program can be read only, and all sizes of its hello are 1.
"""


class AgentNotice(Message):
    """
    Agent to collector, unsolicited: the program entered a new phase, so what the policy learned no longer applies.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    method: Literal["restart_search"] = "restart_search"


ResponseItem = TypeAliasType(
    "ResponseItem", Annotated[int, Field(ge=0, le=9223372036854775807)]
)


QueueWaitItem = TypeAliasType(
    "QueueWaitItem", Annotated[int, Field(ge=0, le=9223372036854775807)]
)


class AgentPool(Message):
    """
    Figures of one pool, cumulative since the program started where they count; null: this kind of pool cannot know it.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    name: Annotated[str, Field(max_length=64, min_length=1)]
    """
    Unique within the program; pools of one name are added up.
    """
    kind: Annotated[str, Field(pattern="^[a-z][a-z0-9-]{0,31}$")]
    """
    Kind of pool: gomaxprocs, threads, fork-join, carriers, tokio, tokio-blocking, rayon and so on.
    """
    size: Annotated[int | None, Field(ge=0, le=4294967295)]
    """
    Workers that it may have now.
    """
    busy: Annotated[int | None, Field(ge=0, le=4294967295)]
    """
    Workers that run a job now.
    """
    queue: Annotated[int | None, Field(ge=0, le=4294967295)]
    """
    Jobs that wait to be started.
    """
    submitted: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Jobs that were submitted.
    """
    started: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Jobs that a worker started.
    """
    finished: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Jobs that ended, failed ones included.
    """
    failed: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Jobs that ended with an error.
    """
    response_ns: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    From submission to end, of finished jobs.
    """
    run_ns: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    From start to end, of finished jobs.
    """
    queue_wait_ns: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    From submission to start, of started jobs.
    """
    idle_ns: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Time that workers were without a job, up to now.
    """
    parks: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    How often workers went to sleep for want of work.
    """
    steals: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    Jobs that workers took from each other.
    """
    polls: Annotated[int | None, Field(ge=0, le=9223372036854775807)]
    """
    How often tasks were polled.
    """
    response: Annotated[list[ResponseItem] | None, Field(max_length=32)]
    """
    Finished jobs by response time: entry b counts those below 2^(b+10) ns that no entry before it counts, the 32nd all longer ones; entries of 0 at the end may be left out.
    """
    queue_wait: Annotated[list[QueueWaitItem] | None, Field(max_length=32)]
    """
    Started jobs by queue wait, in the same way.
    """


class AgentPools(Message):
    """
    Answer to read_pools: all pools of the program.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pools: Annotated[list[AgentPool], Field(max_length=32)]
    omitted: Annotated[int, Field(ge=0)]
    """
    Pools that are left out, because there are more than 32 names.
    """
    monotonic_ns: Annotated[int, Field(ge=0)]
    """
    When this was read, on a monotonic clock with an arbitrary origin.
    """


class AgentReading(Message):
    """
    Counters of an agent, cumulative since the program started.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    ops: Annotated[int, Field(ge=0)]
    """
    Operations completed.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size; a shrinking pool includes the workers that are still finishing their last job.
    """
    queue_wait_ns: Annotated[int | None, Field(ge=0)]
    """
    Total time jobs waited before they started, nanoseconds; null without a queue.
    """
    queue_waits: Annotated[int | None, Field(ge=0)]
    """
    Number of jobs in that total; null without a queue.
    """
    monotonic_ns: Annotated[int, Field(ge=0)]
    """
    When this was read, on a monotonic clock with an arbitrary origin.
    """


class AgentSetParams(Message):
    """
    The size to set, and for how long.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Requested size, within the bounds of the hello.
    """
    lease_s: Annotated[float, Field(gt=0.0, le=60.0)]
    """
    Seconds until the agent restores the original size, unless the lease is renewed.
    """


class AgentSize(Message):
    """
    Answer to set and release.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size.
    """
    wanted: Annotated[int, Field(ge=1, le=1048576)]
    """
    Requested size; equals size once reached.
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


class AgentHello(Message):
    """
    An agent's identity and what it can control.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    pid: Annotated[int, Field(ge=1)]
    """
    Process id in the agent's own PID namespace.
    """
    runtime: Runtime
    version: Annotated[str, Field(max_length=64)]
    """
    Version of the agent.
    """
    protocol: Annotated[int, Field(ge=1)]
    """
    Protocol version: 1, or 2 with read_pools.
    """
    knob: AgentKnob
    lower: Annotated[int, Field(ge=1, le=1048576)]
    """
    Smallest allowed size.
    """
    upper: Annotated[int, Field(ge=1, le=1048576)]
    """
    Largest allowed size.
    """
    size: Annotated[int, Field(ge=1, le=1048576)]
    """
    Current size.
    """
    original: Annotated[int, Field(ge=1, le=1048576)]
    """
    Size that a release restores.
    """
    line: Annotated[
        str | None, Field(max_length=128, pattern="^[ -~]*\\{size\\}[ -~]*$")
    ] = None
    """
    Line with {size} that sets a size for good; null: the usual one of the language.
    """


class AgentSetCall(Message):
    """
    Collector to agent: set the size, or renew the lease of the current one.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the caller, repeated in the answer.
    """
    method: Literal["set"] = "set"
    params: AgentSetParams


class AgentAnswer(Message):
    """
    Agent to collector: a call succeeded.
    """

    model_config = ConfigDict(
        extra="forbid",
    )
    jsonrpc: Literal["2.0"] = "2.0"
    id: Annotated[int, Field(ge=0, le=9007199254740991)]
    """
    Chosen by the caller, repeated in the answer.
    """
    result: AgentHello | AgentReading | AgentPools | AgentSize
    """
    Result of hello, of read, of read_pools, or of set and release.
    """
