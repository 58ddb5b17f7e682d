"""The tables of one target: ledgers, inexact values, pools, goroutines, queues and stacks."""

from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np
from tidscope_wire.frame_tables import Table, Tables
from tidscope_wire.generated.models import Process

from tidscope_collector.goroutines.goroutines import Goroutines
from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.queues.reader import QueueReader
from tidscope_collector.stacks.target_stacks import TargetStacks
from tidscope_collector.waits.wire_tables import LedgerTables


class Pools(Protocol):
    """Worker pools of a target."""

    def tables(self) -> Tables:
        """Return all rows of the last reading, without waiting."""

    def executed(self, pid: int) -> None:
        """Start over with the pools of another program."""

    def close(self) -> None:
        """Stop reading."""


class TargetTables:
    """A `TableSource` for one target.

    Args:
        ledger: tables beside the ledgers, or None; closed with this.
        inexact: return rows of the table `inexact`.
        pools: pools of the target; closed with this.
        goroutines: goroutines of its programs, or None; closed with this.
        queues: queues of the kernel, or None; closed with this.
        stacks: stacks of its threads, or None; closed with this.
    """

    def __init__(
        self,
        ledger: LedgerTables | None,
        inexact: Sequence[Callable[[], Table]],
        pools: Pools,
        goroutines: Goroutines | None,
        queues: QueueReader | None = None,
        stacks: TargetStacks | None = None,
    ) -> None:
        self._ledger = ledger
        self._inexact = inexact
        self._pools = pools
        self._goroutines = goroutines
        self._queues = queues
        self._stacks = stacks

    def read(self) -> Tables:
        """See `TableSource`."""
        made: Tables = {} if self._ledger is None else self._ledger.read()
        inexact = [rows for rows in (read() for read in self._inexact) if len(rows)]
        if inexact:
            made = {**made, "inexact": np.concatenate(inexact)}
        made = {**made, **self._pools.tables()}
        if self._goroutines is not None:
            made = {**made, **self._goroutines.tables()}
        if self._queues is not None:
            made = {**made, **self._queues.tables()}
        # Last: what is read of a log is not read again.
        return made if self._stacks is None else {**made, **self._stacks.read()}

    def set_rate(self, rate_hz: float) -> None:
        """Note the sampling rate of the target."""
        if self._goroutines is not None:
            self._goroutines.set_rate(rate_hz)
        if self._queues is not None:
            self._queues.set_rate(rate_hz)

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        of_locks = "" if self._ledger is None else self._ledger.locks_reason
        of_goroutines = "" if self._goroutines is None else self._goroutines.reason
        return "; ".join(filter(None, (of_locks, of_goroutines)))

    def executed(self, process: Process, account_of: Callable[[], LockSource | None]) -> None:
        """Start over with another program.

        Args:
            process: the process, as it is now.
            account_of: returns the new program's own account of its locks, or None.
        """
        self._pools.executed(process.pid)
        if self._goroutines is not None:
            self._goroutines.executed(process)
        if self._ledger is not None:
            self._ledger.locks.executed_in(process.pid, account_of())

    def close(self) -> None:
        """Stop examining locks, and reading pools, goroutines, queues and stacks."""
        self._pools.close()
        if self._goroutines is not None:
            self._goroutines.close()
        if self._queues is not None:
            self._queues.close()
        if self._stacks is not None:
            self._stacks.close()
        if self._ledger is not None:
            self._ledger.close()
