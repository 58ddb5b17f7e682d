"""Messages of the program that takes stacks (`stacks/message.go`), checked.

It parses what other processes control, so nothing that it says is believed: a message that does not
fit raises, and the program is given up.
"""

import json
import struct
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tidscope_collector.waits.states import State

MAX_MESSAGE = 1 << 16
"""Maximum size of a message, in bytes."""
MAX_NUMBER = 1 << 16
"""Maximum frames and nodes of one worker."""
MAX_TIME_NS = 1 << 62
"""Bound of times."""
MAX_COUNT = 1 << 48
"""Bound of counts."""
COUNTS = 6
"""Kinds of counts; the number of a kind in the table `stack_counts` is its index plus 1."""
SAMPLE = np.dtype(
    [
        *((name, "<u8") for name in ("number", "begin_ns", "wait_ns", "delay_ns")),
        *((name, "<u8") for name in ("address", "waker")),
        *((name, "<u4") for name in ("process", "tid", "node", "waker_node", "weight")),
        *((name, "<u2") for name in ("state", "ended")),
    ]
)
"""A sample; times are CLOCK_MONOTONIC, `waker` is process ID << 32 | thread ID."""
NODE = np.dtype([("node", "<u4"), ("parent", "<u4"), ("frame", "<u4")])
_TEXT = 2048
_FRAME_PARTS = 8

Samples = npt.NDArray[np.void]
"""Samples, of dtype SAMPLE."""


class MessageError(Exception):
    """A message that the program cannot mean."""


class Status(BaseModel):
    """State of the worker.

    Attributes:
        state: loading, sampling, ended or failed.
        trigger: see `StackTrigger`.
        cpu_hz: how often each CPU is looked at.
        stack_ns: time that a stack costs the thread that it is of; 0: unknown.
        reason: why it failed, or what is missing.
        at_ns: CLOCK_MONOTONIC.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    state: Literal["loading", "sampling", "ended", "failed"]
    trigger: Literal["tracepoint", "context_switches", "none"]
    cpu_hz: float = Field(ge=0, le=1000)
    stack_ns: int = Field(ge=0, lt=MAX_TIME_NS)
    reason: str = Field(max_length=_TEXT)
    at_ns: int = Field(ge=0, lt=MAX_TIME_NS)


class StackFrame(NamedTuple):
    """A function in which a thread was seen, as the unwinder knows it; see `stack_frames`."""

    kind: str
    function: str
    file: str
    line: int
    module: str
    address: int
    build_id: str


class Frames(NamedTuple):
    """Further frames of a worker.

    Attributes:
        first: number of the first one; the others follow.
        frames: the frames.
    """

    first: int
    frames: list[StackFrame]


class Nodes(NamedTuple):
    """Further nodes of a worker.

    Attributes:
        first: number of the first one; the others follow.
        parents: numbers of their parents, or 0.
        frames: numbers of their frames.
    """

    first: int
    parents: list[int]
    frames: list[int]


class Counts(NamedTuple):
    """Counts of stacks by outcome since the worker was started."""

    counts: tuple[int, ...]


Message = Status | Frames | Nodes | Samples | Counts


def parse(data: bytes) -> Message:
    """Parse a message.

    Raises:
        MessageError: it is none.
    """
    kind, body = data[:1], data[1:]
    try:
        match kind:
            case b"S":
                return Status.model_validate_json(body)
            case b"F":
                return _frames(json.loads(body))
            case b"N":
                return _nodes(np.frombuffer(body, NODE))
            case b"R":
                return _samples(np.frombuffer(body, SAMPLE))
            case b"C":
                return _counts(struct.unpack(f"<{COUNTS}Q", body))
    except (ValueError, RecursionError, struct.error, ValidationError) as error:
        raise MessageError(f"message {kind!r}: {error}") from error
    raise MessageError(f"message {kind!r}")


def _frames(rows: Any) -> Frames:
    if not isinstance(rows, list) or not rows or not isinstance(rows[0], list) or not rows[0]:
        raise MessageError("frames are not a list")
    first = rows[0][0]
    if not _is_number(first, MAX_NUMBER) or first < 1 or first + len(rows) > MAX_NUMBER:
        raise MessageError("a frame's number")
    found: list[StackFrame] = []
    for place, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != _FRAME_PARTS or row[0] != first + place:
            raise MessageError("a frame has another number than the one before it and 1")
        frame = StackFrame(*row[1:])
        texts = (frame.kind, frame.function, frame.file, frame.module, frame.build_id)
        if not all(isinstance(text, str) and len(text.encode()) <= _TEXT for text in texts):
            raise MessageError("a frame's texts")
        if not (_is_number(frame.line, 1 << 32) and _is_number(frame.address, 1 << 64)):
            raise MessageError("a frame's numbers")
        found.append(frame)
    return Frames(first, found)


def _nodes(rows: npt.NDArray[np.void]) -> Nodes:
    numbers = rows["node"].astype(np.int64)
    if not len(rows) or (np.diff(numbers) != 1).any():
        raise MessageError("a node has another number than the one before it and 1")
    if numbers[0] < 1 or numbers[-1] >= MAX_NUMBER or (rows["parent"] >= rows["node"]).any():
        raise MessageError("a node's number, or one of its parent that is not smaller")
    return Nodes(int(numbers[0]), rows["parent"].tolist(), rows["frame"].tolist())


def _samples(rows: Samples) -> Samples:
    bad = (rows["state"] < 1) | (rows["state"] > max(State)) | (rows["ended"] > 1)
    if (bad | (rows["weight"] < 1) | (rows["tid"] < 1)).any():
        raise MessageError("a sample's state, thread or weight")
    if any((rows[name] >= MAX_TIME_NS).any() for name in ("begin_ns", "wait_ns", "delay_ns")):
        raise MessageError("a sample's times")
    return rows


def _counts(counts: tuple[int, ...]) -> Counts:
    if max(counts) >= MAX_COUNT:
        raise MessageError("a count")
    return Counts(counts)


def _is_number(value: object, below: int) -> bool:
    return type(value) is int and 0 <= value < below
