"""Puts network columns beside those of another source."""

import logging
import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField

from tidscope_collector.netacct.accounts import Accounts
from tidscope_collector.netacct.slots import FIELDS
from tidscope_collector.threads.reading import ExitDecoder, Reading, ThreadReader

LOG = logging.getLogger(__name__)


class NetworkReader:
    """A `ThreadReader` that adds what the eBPF program counted; counters begin at attachment.

    Args:
        base: gives everything else, and has no network columns itself.
        accounts: the program.
        pid: the process; it is watched until `close`.

    Attributes:
        accounts: the program.
        uncounted: calls of watched processes that were not counted before.

    Raises:
        BpfError: the kernel refuses to count for it.
    """

    def __init__(self, base: ThreadReader, accounts: Accounts, pid: int) -> None:
        self.base = base
        self.accounts = accounts
        self._pid = pid
        self.uncounted = accounts.uncounted_calls
        self._warned = False
        self._closed = False
        accounts.watch(pid)

    @property
    def fields(self) -> tuple[str, ...]:
        return (*self.base.fields, *FIELDS)

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return tuple(one for one in self.base.absent if one.field not in FIELDS)

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        """Read these threads; those that have gone are left out."""
        before = time.monotonic_ns()
        reading = self.base.read(tids)
        return self._join(reading, *self.live(reading.tid, before))

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
        numbers, counted = self.accounts.live(self._pid, tids, before_ns)
        return numbers, self._unknown(counted)

    def close(self) -> None:
        """Count no more for the process; twice does no harm."""
        if not self._closed:
            self._closed = True
            self.accounts.forget(self._pid)
        self.base.close()

    def _unknown(self, counted: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_] | None:
        if self.accounts.uncounted_calls == self.uncounted or counted.all():
            return None
        # A thread without a slot has moved nothing, or there was no slot for it: unknown.
        if not self._warned:
            self._warned = True
            LOG.warning("more threads use the network than can be counted")
        return ~counted

    def _join(
        self,
        reading: Reading,
        numbers: npt.NDArray[np.uint64],
        unknown: npt.NDArray[np.bool_] | None,
    ) -> Reading:
        masks = reading.absent
        if unknown is not None:
            base = np.zeros(reading.counters.shape, np.bool_) if masks is None else masks
            masks = np.concatenate([base, np.repeat(unknown[:, None], len(FIELDS), axis=1)], axis=1)
        elif masks is not None:
            masks = np.pad(masks, ((0, 0), (0, len(FIELDS))))
        counters = np.concatenate([reading.counters, numbers], axis=1)
        return replace(reading, counters=counters, absent=masks)


class NetworkExitReader(NetworkReader):
    """The same over a source that has exit records.

    Args:
        base: as for `NetworkReader`.
        exits: the same source.
    """

    def __init__(
        self, base: ThreadReader, exits: ExitDecoder, accounts: Accounts, pid: int
    ) -> None:
        super().__init__(base, accounts, pid)
        self._exits = exits

    def decode(self, words: npt.NDArray[np.uint64], before: npt.NDArray[np.int64]) -> Reading:
        """Make a reading of exit records; see `TaskstatsReader.decode`."""
        reading = self._exits.decode(words, before)
        if not len(reading.tid):
            return self._join(reading, np.empty((0, len(FIELDS)), np.uint64), None)
        # All records of a drain have the same moment.
        ages = before[0] - reading.start_ns
        numbers, counted = self.accounts.exited(self._pid, reading.tid, ages)
        return self._join(reading, numbers, self._unknown(counted))
