"""All pools of the program, by name: those of one name are added up."""

import os
import threading
from typing import Protocol

from tidscope_agent.figures import Figures

MAX_NAMES = 32
_LONGEST_NAME = 64


class ReportedPool(Protocol):
    """A pool that can be read."""

    @property
    def kind(self) -> str:
        """What it is, for `read_pools`."""

    def report(self) -> tuple[int, int, int, Figures]:
        """Size, busy workers, waiting jobs, and a copy of the figures."""


class _Name:
    """Pools of one name: those there are, and what those that ended did."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.pools: list[ReportedPool] = []
        self.past = Figures()

    def answer(self, name: str) -> dict[str, object]:
        """An element of the answer."""
        size = busy = queue = 0
        total = Figures()
        total.add(self.past)
        for pool in self.pools:
            one_size, one_busy, one_queue, figures = pool.report()
            size, busy, queue = size + one_size, busy + one_busy, queue + one_queue
            total.add(figures)
        gauges = {"name": name, "kind": self.kind, "size": size, "busy": busy, "queue": queue}
        return gauges | total.members()


class PoolRegistry:
    """The pools of a program; any thread may call its methods."""

    def __init__(self) -> None:
        self._begin()
        # In a child there are no workers, and a lock may be held for ever.
        os.register_at_fork(after_in_child=self._begin)

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._names: dict[str, _Name] = {}
        self._omitted: set[str] = set()

    def add(self, name: str, pool: ReportedPool) -> None:
        """Report a pool from now on, until it ends."""
        name = name[:_LONGEST_NAME] or "pool"
        with self._lock:
            if name not in self._names and len(self._names) >= MAX_NAMES:
                self._omitted.add(name)
                return
            self._names.setdefault(name, _Name(pool.kind)).pools.append(pool)

    def end(self, pool: ReportedPool) -> None:
        """A pool does nothing any more: what it did stays."""
        with self._lock:
            for name in self._names.values():
                if pool in name.pools:
                    name.pools.remove(pool)
                    name.past.add(pool.report()[3])

    def answer(self) -> tuple[list[dict[str, object]], int]:
        """All pools as `read_pools` has them, and how many names are left out."""
        with self._lock:
            return [one.answer(name) for name, one in self._names.items()], len(self._omitted)

    def finished(self) -> int:
        """Jobs that all pools finished."""
        with self._lock:
            return sum(
                one.past.finished + sum(pool.report()[3].finished for pool in one.pools)
                for one in self._names.values()
            )


POOLS = PoolRegistry()
"""Those of this program."""
