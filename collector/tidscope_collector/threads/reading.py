"""What one look at a process' threads gives, whichever source it came from."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField, CountersSource


class TargetExitedError(Exception):
    """The process has ended: its threads cannot be listed any more."""


def is_delay_time(field: str) -> bool:
    """Whether a field is a sum of delays of its thread, which cannot be longer than its life."""
    return field.endswith("_delay_ns")


@dataclass(frozen=True, slots=True)
class Reading:
    """Raw counters of n threads, F fields each, taken within one sweep.

    Attributes:
        tid: uint32[n], in the order they were asked for; threads that had gone are left out.
        counters: uint64[n, F], cumulative since the thread's start, in the fields' units.
        absent: bool[n, F], true where the kernel gave no value; None if all values are there.
        start_ns: int64[n], start of each thread on CLOCK_MONOTONIC, nanoseconds. Derived from an
            age, so it moves by some microseconds (procfs: 10 ms) from reading to reading.
        name: bytes of each comm (numpy S16 or S32), without the trailing zeros.
        age_us: uint64[n], how long each has lived, microseconds; None if the source tells not.
        seen_ns: int64[n], CLOCK_MONOTONIC at which the id certainly stood for this thread; None:
            the end of the sweep.
        changed: None: nobody writes to these arrays any more. Or bool[n]: the source brings
            `counters` and `seen_ns` up to date in place, as long as threads, starts and names are
            the same and nothing falls, and gives the same arrays again. Rows that it changes become
            true here, until whoever takes the reading in sets them to false.
        invalid: bool[n, F], where the kernel's value cannot be: the value stands in for it, or is
            absent; None if all can be.
    """

    tid: npt.NDArray[np.uint32]
    counters: npt.NDArray[np.uint64]
    absent: npt.NDArray[np.bool_] | None
    start_ns: npt.NDArray[np.int64]
    name: npt.NDArray[np.bytes_]
    age_us: npt.NDArray[np.uint64] | None = None
    seen_ns: npt.NDArray[np.int64] | None = None
    changed: npt.NDArray[np.bool_] | None = None
    invalid: npt.NDArray[np.bool_] | None = None


class ThreadReader(Protocol):
    """A source of readings, for one process.

    Attributes:
        fields: names in the field catalogue, in column order.
        absent: fields of the catalogue (scope thread) that this source does not give, with reasons.
    """

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def absent(self) -> tuple[AbsentField, ...]: ...

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read these threads; those that have gone are left out."""

    def close(self) -> None:
        """Close what is open; it cannot be read from any more."""


@runtime_checkable
class ExitDecoder(Protocol):
    """A reader that also understands the records of threads that exited."""

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records, in the reader's columns.

        Args:
            words: uint64[n, length / 8], struct taskstats of each thread.
            before: int64[n], CLOCK_MONOTONIC before they were taken, the same for all, ns.
        """


class ProcessReader(Protocol):
    """A source of readings of all threads of one process.

    Attributes:
        fields: names in the field catalogue, in column order.
        absent: fields of the catalogue (scope thread) that this source does not give, with reasons.
        exits: decodes exit records into the same columns; None: there are none.
        listed: uint32[n], the ids that were listed for the last reading.
        asked: how many of these threads were asked one by one.
    """

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def absent(self) -> tuple[AbsentField, ...]: ...

    @property
    def exits(self) -> ExitDecoder | None: ...

    @property
    def listed(self) -> npt.NDArray[np.uint32]: ...

    @property
    def asked(self) -> int: ...

    def read(self) -> Reading:
        """Read all threads, in the order of their list; those that have gone are left out.

        Raises:
            TargetExitedError: there are no threads any more.
            OSError: the kernel answered nonsense.
        """

    def close(self) -> None:
        """Close what is open, twice does no harm; it cannot be read from any more."""


class TargetReader(ProcessReader, Protocol):
    """What a target is sampled with: it may change the way in which it reads.

    Attributes:
        source: how the counters of the last reading were read.
        reason: why it was changed to that, as a sentence without its full stop.
        disagreement: where a walk and taskstats disagreed; None if they never did.
    """

    @property
    def source(self) -> CountersSource: ...

    @property
    def reason(self) -> str: ...

    @property
    def disagreement(self) -> str | None: ...

    def expect_rate(self, rate_hz: float) -> None:
        """So many readings a second are asked for, from now on."""
