"""Ticks in which nothing is taken in but counters that grow: compiled code takes sample and frame.

Python takes a tick about once a second, which makes what is made so often (health, roles, gauges),
and those in which anything is taken in that happened. After one of its own it prepares the next
ones: the header with places for its numbers, and what the compiled code looks at.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame import LENGTH
from tidscope_wire.generated.models import Target
from tidscope_wire.header_writer import PreparedHeader
from tidscope_wire.record_batches import metadata_of

from tidscope_collector.compiled.library import (
    EXITS,
    NO_ROOM,
    TO_COMPLETE,
    USUAL,
    WANTED,
    Compiled,
)
from tidscope_collector.compiled.rows import SteadyRows, SteadySource
from tidscope_collector.compiled.structs import FRAME, METADATA, POLLFD, TICK, Struct
from tidscope_collector.sampling.process_meter import Question
from tidscope_collector.sampling.usual_round import (
    MAX_TICKS,
    MORE_BYTES,
    FrameRounds,
    RoundTimes,
    Tick,
    UsualRound,
)
from tidscope_collector.threads.reading import Reading

USUAL_NS, SELDOM_NS = 950_000_000, 2_950_000_000
"""After so long Python takes a tick; up to so long where its ticks take much."""
_SAMPLED = (USUAL, EXITS, TO_COMPLETE, NO_ROOM)
_POLLIN = 1
_PATH_BYTES = 512
"""Longer paths of executables are left to Python."""


class UsualFrame(NamedTuple):
    """A frame of a usual tick.

    Attributes:
        data: the whole binary message.
        sample_us: what sample and frame took, wall time.
    """

    data: bytes
    sample_us: int


class UsualTick:
    """The usual ticks of one target; belongs to the sampling thread.

    Args:
        compiled: takes them.
        reader: the target's.
        width: columns of its readings.
        pidfd: of the process.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        exits: descriptor that is readable when exit records wait; None: there are none.
    """

    def __init__(
        self,
        compiled: Compiled,
        reader: SteadySource,
        width: int,
        pidfd: int,
        attach_ns: int,
        exits: int | None,
    ) -> None:
        self._compiled = compiled
        self._reader = reader
        self._frame, self._tick = Struct(FRAME), Struct(TICK)
        watched = [pidfd] if exits is None else [pidfd, exits]
        fds = np.zeros(len(watched), POLLFD)
        fds["descriptor"], fds["wanted"] = watched, _POLLIN
        self._tick.point(frame=self._frame, watched=fds)
        self._tick.set(watched_count=len(watched))
        metadata = np.zeros(width + 1, METADATA)
        self._kept = [metadata_of(columns) for columns in range(width + 1)]
        for row, known in zip(metadata, self._kept, strict=True):
            message = np.frombuffer(known.message, np.uint8)
            row["message"], row["size"] = message.ctypes.data, len(message)
            row["length_at"], row["body_at"] = known.length, known.body_length
            row["nodes_at"], row["buffers_at"] = known.nodes, known.buffers
        self._frame.point(metadata=metadata)
        self._frame.set(attach_ns=attach_ns)
        self._largest = len(self._kept[-1].message)
        self._width = width
        self._steady: SteadyRows | None = None
        self._until_ns = 0
        self._round = UsualRound(compiled, self._tick)
        self._out = np.empty(0, np.uint8)
        self._made = self._out.data

    def arm(
        self,
        header: PreparedHeader,
        until_ns: int,
        folder: int,
        program: tuple[str, bytes] | None,
        question: Question | None = None,
    ) -> None:
        """Prepare the next ticks.

        Args:
            header: of their frames.
            until_ns: CLOCK_MONOTONIC from which Python is to take a tick.
            folder: descriptor of one.
            program: path below it that links to the process' executable, and what it links to;
                None: that is not looked at.
            question: that has the same answer as long as ticks are usual; None: there is none.
        """
        steady = self._steady = self._reader.begin()
        self._tick["news"] = 0
        if steady is None:
            return
        self._until_ns = until_ns
        frame, tick, count = self._frame, self._tick, len(steady.reading.tid)
        tick.point(plan=None, walk=None, ledgers=steady.ledgers)
        tick.point(**{"walk" if steady.walks else "plan": steady.sample})
        tick.set(folder=folder, asks=question is not None, asked=0)
        if question is not None:
            tick.set(child=question.child, answer=question.size)
        if program is None or len(program[1]) >= _PATH_BYTES:
            tick.point(path=None)
        else:
            path, executable = program
            tick.point(path=np.frombuffer(path.encode() + b"\0", np.uint8))
            tick.point(executable=np.frombuffer(executable, np.uint8))
            tick.set(executable_bytes=len(executable))
        start = LENGTH.size + len(header.text)
        text = LENGTH.pack(start + -start % 8 - LENGTH.size) + header.text + b" " * (-start % 8)
        frame.point(rows=steady.rows, header=np.frombuffer(text, np.uint8))
        frame.point(chosen=np.empty(count + 1, np.uint32))
        frame.set(header_bytes=len(text), columns_bytes=header.columns_bytes)
        frame.set(**{f"{name}_at": LENGTH.size + at for name, at in header.places.items()})
        room = len(text) + self._largest + 4 * count + 8 + self._width * (9 * count + 8)
        if room + MORE_BYTES > len(self._out):
            self._out = np.empty(room + room // 4 + MORE_BYTES, np.uint8)
            self._made = self._out.data
        self._round.prepare(self._out, room)

    def disarm(self) -> None:
        """Let Python take the next tick."""
        self._steady = None

    def is_armed(self, now_ns: int, *, waits: bool) -> bool:
        """Whether the next tick may be a usual one.

        Args:
            now_ns: CLOCK_MONOTONIC.
            waits: whether what was found in ticks before is to wait.
        """
        return self._steady is not None and now_ns < self._until_ns and (waits or not self.has_news)

    @property
    def has_news(self) -> bool:
        """Whether something waits to be taken in by Python."""
        return self._tick["news"] != 0

    def note_news(self) -> None:
        """Something waits to be taken in by Python."""
        self._tick["news"] = 1

    @property
    def waits_for_answer(self) -> bool:
        """Whether the question was asked, and its answer is still to come."""
        return self._tick["asked"] != 0

    @property
    def found_births(self) -> bool:
        """Whether there were threads in the last tick that have no row."""
        return self._steady is not None and self._steady.sampled["births"] > 0

    @property
    def exits_wait(self) -> bool:
        """Whether exit records were there in the last tick, and were left there."""
        return self._tick["exits"] > self._tick["drains"]

    def take(
        self,
        seq: int,
        started_ns: int,
        late_us: int,
        drain: Callable[[], bool] | None,
        *,
        waits: bool,
    ) -> UsualFrame | None:
        """Take a tick.

        Args:
            seq: number of the frame.
            started_ns: CLOCK_MONOTONIC.
            late_us: how late it is.
            drain: takes exit records in; whether any were the target's. None: they are, and wait as
                births do.
            waits: whether births, ends and names are to wait for a later tick.

        Returns:
            None if Python has to take it. What the sample found is in the rows then, and marked.
        """
        reader, frame, tick, steady = self._reader, self._frame, self._tick, self._steady
        if steady is None or reader.begin() is not steady:
            return None
        tick["incomplete"] = steady.completed and not reader.is_complete
        tick["waits"], tick["drains"] = waits, drain is not None
        frame.point(out=self._out)
        frame["room"] = len(self._out)
        frame["seq"], frame["started_ns"], frame["late_us"] = seq, started_ns, late_us
        result = self._compiled.tick(tick.address)
        sampled = USUAL if result in _SAMPLED else result
        if not reader.sampled(sampled, tick["sample_cpu_ns"]):
            return None
        if result == EXITS and drain is not None and drain():
            self.note_news()
            if not waits:
                return None
        if steady.completed and not reader.complete():
            return None
        if result in (EXITS, TO_COMPLETE):
            result = self._compiled.frame(tick.address)
        if result != USUAL:
            return None
        return UsualFrame(bytes(self._made[: frame["size"]]), frame["sample_us"])

    def sample(self) -> Reading | None:
        """Take the sample of a tick that is Python's, if it can be compiled code's.

        Returns:
            The rows, brought up to date; None: they are to be read.
        """
        reader, steady = self._reader, self._steady
        if steady is None or self.has_news or reader.begin() is not steady:
            return None
        self._tick.point(frame=None)
        result = self._compiled.tick(self._tick.address)
        self._tick.point(frame=self._frame)
        if not reader.sampled(result, self._tick["sample_cpu_ns"]):
            return None
        return None if steady.completed and not reader.complete() else steady.reading

    def take_round(
        self, rounds: FrameRounds, target: Target, seq: int, when: RoundTimes, wake: int
    ) -> list[Tick]:
        """Take ticks one after the other, and send their frames, until Python is wanted.

        Args:
            rounds: where frames are sent.
            target: whose.
            seq: number of the last frame.
            when: they are due.
            wake: a descriptor that is readable when Python is wanted.

        Returns:
            The ticks.
        """
        reader, steady = self._reader, self._steady
        most = min(reader.at_once, MAX_TICKS)
        if steady is None or most < 1:
            return []
        self._round.begin(seq + 1)
        link = rounds.begin(target, seq, self._round.collect)
        if link is None:
            return []
        try:
            if reader.begin(most) is not steady:
                self.disarm()
                return []
            self._tick.set(incomplete=0, drains=0)
            until_ns = min(when.until_ns, self._until_ns)
            made, result = self._round.run(link, wake, when, until_ns, most)
        finally:
            rounds.end(self._round.message)
        for one in made:
            reader.sampled(USUAL, one.sample_cpu_ns)
            if steady.completed:
                reader.complete()
        if result != WANTED:
            reader.sampled(result)
            self.disarm()
        return made
