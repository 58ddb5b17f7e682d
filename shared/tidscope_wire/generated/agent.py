"""Generated from shared/schemas by tools/generate.py. Do not edit."""

from __future__ import annotations

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
    method: Literal["hello", "read", "release"]
    """
    hello: identify yourself; read: the counters; release: restore the original size now.
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
    JSON-RPC's own, or -32001: out of bounds, -32002: the program is ending, -32003: another client steers, -32004: too many clients.
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
    "AgentKnob", Annotated[Literal["gomaxprocs", "pool"], Field(title="AgentKnob")]
)
"""
What an agent sets: GOMAXPROCS of a Go program, or the number of workers of a pool.
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
    Protocol version; 1.
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
    result: AgentHello | AgentReading | AgentSize
    """
    Result of hello, of read, or of set and release.
    """
