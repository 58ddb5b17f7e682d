"""Frames that a host keeps for backends that begin to look at a target. Pure."""

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from tidscope_wire.envelope import split_text

TARGET_BYTES = 4 * 1024 * 1024
"""Maximum bytes of kept frames of one target, beyond which the oldest leave; the last key frame
and those behind it stay."""


_BEGIN = re.compile(
    rb'\{"type":"frame","target":"([^"\\]+)","seq":(\d+),"first_seq":(\d+),'
    rb'"kind":"(key|delta)","baseline":(true|false),'
)


_ROLES = b'"roles":['
"""Begins totals by role; no text within JSON has these quotes."""


class KeptFrame(NamedTuple):
    """A frame, with what of its header counts here.

    Attributes:
        target: target ID.
        first_seq: first number that it stands for.
        seq: its number.
        key: whether it is a key frame.
        baseline: whether it has the counters at attach.
        roles: whether it has totals by role.
        data: the frame.
    """

    target: str
    first_seq: int
    seq: int
    key: bool
    baseline: bool
    roles: bool
    data: bytes


def header_of(data: bytes) -> dict[str, Any]:
    """Return the header of a frame. Raises ValueError: it is not a frame."""
    header: dict[str, Any] = json.loads(split_text(data)[0])
    return header


def read_frame(data: bytes) -> KeptFrame:
    """Read what counts of a frame's header.

    Most frames stay here, and reading their headers whole would be most of the work with them.
    Headers of collectors of this version begin with these members.

    Raises:
        ValueError: it is not a frame.
        KeyError: its header lacks a member.
    """
    text, _ = split_text(data)
    found = _BEGIN.match(text)
    if found is not None:
        target, seq, first, kind, baseline = found.groups()
        flags = kind == b"key", baseline == b"true", _ROLES in text
        return KeptFrame(target.decode(), int(first), int(seq), *flags, data)
    header = json.loads(text)
    flags = header["kind"] == "key", bool(header.get("baseline")), header.get("roles") is not None
    return KeptFrame(header["target"], header["first_seq"], header["seq"], *flags, data)


class KeptFrames:
    """The newest frames of one target, and its baseline.

    Args:
        most_bytes: bound on the frames.
    """

    def __init__(self, most_bytes: int = TARGET_BYTES) -> None:
        self._most = most_bytes
        self._frames: deque[KeptFrame] = deque()
        self._bytes = 0
        self._baseline: KeptFrame | None = None

    @property
    def last_seq(self) -> int:
        """Number of the newest frame; 0 without one."""
        return self._frames[-1].seq if self._frames else 0

    @property
    def first_seq(self) -> int:
        """Number of the oldest frame, which the baseline may precede; 0 without one."""
        return self._frames[0].seq if self._frames else 0

    def add(self, frame: KeptFrame) -> bool:
        """Keep a frame. Return False if it is known: collectors replay after an interruption."""
        if frame.baseline and self._baseline is None:
            self._baseline = frame
        if frame.seq <= self.last_seq:
            return False
        self._frames.append(frame)
        self._bytes += len(frame.data)
        while self._bytes > self._most and self._drop_group():
            pass
        return True

    def behind(self, seq: int) -> Iterator[KeptFrame]:
        """Yield what a reader lacks that has the frames up to a number, 0 if it has none."""
        if seq == 0 and self._baseline is not None:
            yield self._baseline
        newer = takewhile(lambda frame: frame.seq > seq, reversed(self._frames))
        yield from reversed([frame for frame in newer if frame is not self._baseline or seq])

    def newest(self) -> list[KeptFrame]:
        """Return the newest key frame and those behind it."""
        key = next((frame.seq for frame in reversed(self._frames) if frame.key), 0)
        return [frame for frame in self._frames if frame.seq >= key]

    def _drop_group(self) -> bool:
        """Drop the oldest key frame and those behind it. Return False if it is the only one."""
        keys = (place for place, frame in enumerate(self._frames) if frame.key and place)
        count = next(keys, 0)
        for _ in range(count):
            self._bytes -= len(self._frames.popleft().data)
        return count > 0
