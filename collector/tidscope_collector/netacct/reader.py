"""Puts network columns beside those of another source."""

import logging
import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.ebpf.watched import Processes, Whose
from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.slots import FIELDS, Indices
from tidscope_collector.threads.reading import (
    ExitDecoder,
    Reading,
    TargetReader,
    ThreadReader,
)
from tidscope_collector.threads.wrapping import WrappingReader

LOG = logging.getLogger(__name__)


class NetworkColumns:
    """The network columns of some processes' threads; counters begin at attachment.

    Args:
        accounts: the program.
        whose: the processes; they are watched until `close`.

    Attributes:
        accounts: the program.
        uncounted: calls of watched processes that were not counted before.

    Raises:
        BpfError: the kernel refuses to count for them.
    """

    def __init__(self, accounts: Accounts, whose: Whose) -> None:
        self.accounts = accounts
        self.whose = whose
        self.uncounted = accounts.uncounted_calls
        self._warned = False
        self._closed = False
        accounts.watch(whose)

    def close(self) -> None:
        """Count no more for them; twice does no harm."""
        if not self._closed:
            self._closed = True
            self.accounts.forget(self.whose)

    def live(
        self, tids: npt.NDArray[np.uint32], before_ns: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_] | None]:
        """The network columns of living threads.

        Args:
            tids: uint32[n].
            before_ns: threads that started after this moment are others, under a used id.

        Returns:
            uint64[n, 4] in the order of FIELDS; bool[n], those of which nothing is known, or None
            if there are none.
        """
        numbers, counted = self.accounts.live(self.whose, tids, before_ns)
        return numbers, self._unknown(counted)

    def with_exits(self, reading: Reading, before: npt.NDArray[np.int64]) -> Reading:
        """Exit records with network columns; see `ExitDecoder.decode`."""
        if not len(reading.tid):
            return join_columns(reading, np.empty((0, len(FIELDS)), np.uint64), None)
        # All records of a drain have the same moment.
        ages = before[0] - reading.start_ns
        numbers, counted = self.accounts.exited(self.whose, reading.tid, ages)
        return join_columns(reading, numbers, self._unknown(counted))

    def _unknown(self, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
        if self.accounts.uncounted_calls == self.uncounted or counted.all():
            return None
        # A thread without a slot has moved nothing, or there was no slot for it: unknown.
        if not self._warned:
            self._warned = True
            LOG.warning("more threads use the network than can be counted")
        return ~counted


def with_fields(fields: tuple[str, ...]) -> tuple[str, ...]:
    """Names of columns, those of the network behind them."""
    return (*fields, *FIELDS)


def without_network(absent: tuple[AbsentField, ...]) -> tuple[AbsentField, ...]:
    """Absent fields that network columns do not give."""
    return tuple(one for one in absent if one.field not in FIELDS)


def join_columns(
    reading: Reading, numbers: npt.NDArray[np.uint64], unknown: npt.NDArray[np.bool_] | None
) -> Reading:
    """Put network columns behind the others.

    Args:
        reading: has none.
        numbers: uint64[n, 4].
        unknown: bool[n], rows of which nothing is known; None: there are none.
    """
    masks = reading.absent
    if unknown is not None:
        base = np.zeros(reading.counters.shape, np.bool_) if masks is None else masks
        masks = np.concatenate([base, np.repeat(unknown[:, None], len(FIELDS), axis=1)], axis=1)
    elif masks is not None:
        masks = np.pad(masks, ((0, 0), (0, len(FIELDS))))
    counters = np.concatenate([reading.counters, numbers], axis=1)
    invalid = reading.invalid
    if invalid is not None:
        invalid = np.pad(invalid, ((0, 0), (0, len(FIELDS))))
    return replace(reading, counters=counters, absent=masks, invalid=invalid)


class NetworkReader:
    """A `ThreadReader` that adds what the eBPF program counted.

    Args:
        base: gives everything else, and has no network columns itself.
        accounts: the program.
        pid: the process; it is watched until `close`.

    Raises:
        BpfError: the kernel refuses to count for it.
    """

    def __init__(self, base: ThreadReader, accounts: Accounts, pid: int) -> None:
        self.base = base
        self._columns = NetworkColumns(accounts, pid)

    @property
    def accounts(self) -> Accounts:
        """The program."""
        return self._columns.accounts

    @property
    def uncounted(self) -> int:
        """Calls of watched processes that were not counted before."""
        return self._columns.uncounted

    @property
    def fields(self) -> tuple[str, ...]:
        return with_fields(self.base.fields)

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return without_network(self.base.absent)

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read these threads; those that have gone are left out."""
        before = time.monotonic_ns()
        reading = self.base.read(tids)
        return join_columns(reading, *self.live(reading.tid, before))

    def live(
        self, tids: npt.NDArray[np.uint32], before_ns: int
    ) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.bool_] | None]:
        """The network columns of living threads; see `NetworkColumns.live`."""
        return self._columns.live(tids, before_ns)

    def close(self) -> None:
        """Count no more for the process; twice does no harm."""
        self._columns.close()
        self.base.close()


class NetworkExitReader(NetworkReader):
    """The same over a source that has exit records.

    Args:
        base: as for `NetworkReader`.
        exits: the same source.
        accounts, pid: as for `NetworkReader`.
    """

    def __init__(
        self, base: ThreadReader, exits: ExitDecoder, accounts: Accounts, pid: int
    ) -> None:
        super().__init__(base, accounts, pid)
        self._exits = exits

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `TaskstatsReader.decode`."""
        return self._columns.with_exits(self._exits.decode(words, before), before)


class GroupNetworkReader(WrappingReader):
    """A `TargetReader` of several processes that adds what the eBPF program counted.

    Args:
        base: gives everything else, and has no network columns itself; closed with it.
        accounts: the program.
        whose: the processes; they are watched until `close`.

    Raises:
        BpfError: the kernel refuses to count for them.
    """

    def __init__(self, base: TargetReader, accounts: Accounts, whose: Processes) -> None:
        super().__init__(base)
        self._accounts = accounts
        self._whose = whose
        self._columns = NetworkColumns(accounts, whose)
        self._kept: Reading | None = None
        """What was given last, if its arrays may be brought up to date."""
        self._from: Reading | None = None
        """The reading of the base that it was made from."""
        self._moving: Indices = np.empty(0, np.intp)
        """Rows of it with counters that are not 0."""
        exits = base.exits
        self.exits: ExitDecoder | None = None if exits is None else _Exits(exits, self)

    @property
    def fields(self) -> tuple[str, ...]:
        return with_fields(self.base.fields)

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return without_network(self.base.absent)

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        before = time.monotonic_ns()
        reading = self.base.read()
        self._accounts.follow(self._whose)
        numbers, unknown = self._columns.live(reading.tid, before)
        if unknown is None and (kept := self._updated(reading, numbers)) is not None:
            self._kept, self._from = kept, reading
            return kept
        joined = join_columns(reading, numbers, unknown)
        self._kept = self._from = None
        self._moving = np.flatnonzero(numbers.any(axis=1))
        if reading.changed is None:
            return joined
        reading.changed[:] = False
        if unknown is not None:
            return replace(joined, changed=None)  # masks are not brought up to date
        self._from = reading
        self._kept = replace(joined, changed=np.zeros(len(joined.tid), np.bool_))
        return self._kept

    def _updated(self, base: Reading, numbers: npt.NDArray[np.uint64]) -> Reading | None:
        """The last reading brought up to date; None if the base's rows are others than before."""
        kept, before = self._kept, self._from
        if (
            kept is None
            or before is None
            or kept.changed is None
            or base.changed is None
            or base.counters is not before.counters
            or base.absent is not before.absent
        ):
            return None
        width = base.counters.shape[1]
        # Most threads have moved nothing, and so had they before.
        moving = np.flatnonzero(numbers.any(axis=1))
        own = kept.counters[moving, width:]
        if (numbers[moving] < own).any() or not numbers[self._moving].any(axis=1).all():
            return None
        rows = np.flatnonzero(base.changed)
        if len(rows):
            kept.counters[rows, :width] = base.counters[rows]
            base.changed[rows] = False
            kept.changed[rows] = True
        moved = moving[(numbers[moving] != own).any(axis=1)]
        if len(moved):
            kept.counters[moved, width:] = numbers[moved]
            kept.changed[moved] = True
        self._moving = moving
        return replace(kept, seen_ns=base.seen_ns)

    def with_exits(self, reading: Reading, before: npt.NDArray[np.int64]) -> Reading:
        """Exit records with network columns."""
        self._accounts.follow(self._whose)
        return self._columns.with_exits(reading, before)

    def close(self) -> None:
        """Close the base, and count no more; twice does no harm."""
        # A group has its last members then.
        self.base.close()
        self._columns.close()


class _Exits:
    """The `ExitDecoder` of a group with network columns."""

    def __init__(self, base: ExitDecoder, reader: GroupNetworkReader) -> None:
        self._base = base
        self._reader = reader

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `ExitDecoder.decode`."""
        return self._reader.with_exits(self._base.decode(words, before), before)
