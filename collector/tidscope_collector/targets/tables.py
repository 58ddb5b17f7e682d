"""The tables of one target: of its ledgers, its inexact values and its pools."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import numpy as np
from tidscope_wire.frame_tables import Table, Tables

from tidscope_collector.locks.runtime_locks import LockSource
from tidscope_collector.waits.wire_tables import LedgerTables


class Pools(Protocol):
    """Pools of workers of a target."""

    def tables(self) -> Tables:
        """All rows as they were read last; never waits."""

    def executed(self, pid: int) -> None:
        """A process runs another program."""

    def close(self) -> None:
        """They are read no more."""


class TargetTables:
    """A `TableSource`.

    Args:
        ledger: what is counted beside its ledgers; None: it has none. Closed with this.
        inexact: give rows of the table `inexact`.
        pools: its pools. Closed with this.
    """

    def __init__(
        self,
        ledger: LedgerTables | None,
        inexact: Sequence[Callable[[], Table]],
        pools: Pools,
    ) -> None:
        self._ledger = ledger
        self._inexact = inexact
        self._pools = pools

    def read(self) -> Iterator[Tables]:
        """See `TableSource`."""
        if self._ledger is not None:
            yield from self._ledger.read()
        inexact = [rows for rows in (read() for read in self._inexact) if len(rows)]
        if inexact:
            yield {"inexact": np.concatenate(inexact)}
        yield self._pools.tables()

    @property
    def locks_reason(self) -> str:
        """See `TableSource`."""
        return "" if self._ledger is None else self._ledger.locks_reason

    def executed(self, pid: int, account_of: Callable[[], LockSource | None]) -> None:
        """The target runs another program.

        Args:
            pid: of the process.
            account_of: finds its own account of its locks.
        """
        self._pools.executed(pid)
        if self._ledger is not None:
            self._ledger.locks.executed_in(pid, account_of())

    def close(self) -> None:
        """Examine locks and read pools no more."""
        self._pools.close()
        if self._ledger is not None:
            self._ledger.close()
