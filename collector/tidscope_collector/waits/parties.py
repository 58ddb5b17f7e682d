"""Parties: processes outside a target that its tables name, numbered, and described once."""

import logging
import threading
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of

from tidscope_collector.processes.cgroup_names import ContainerNames
from tidscope_collector.processes.description import Description, describe
from tidscope_collector.processes.details import DetailReader
from tidscope_collector.procfs.files import ProcFs

LOG = logging.getLogger(__name__)
PID_BITS = 22
"""Bits of the process ID in a key; the rest tells processes of one ID apart, 0 for members."""
MAX_KEPT = 4096
"""Parties from which on those that are in no table any more are forgotten."""
MAX_WAITING = 1024
"""Parties that wait to be described. Further ones have no container, unit, group or title."""
EXECUTED_S = 0.2
"""Time after which a process without a title is described again, in seconds: one that is about to
execute a program has none for a moment."""
NOT_DESCRIBED = Description()


class SeenProcess(NamedTuple):
    """A process as the sampler knows it.

    Attributes:
        key: its ID, and above that when it began, so that a used ID is another's; for a member of
            the target the ID alone.
        name: comm, or empty.
        start_ticks: start in clock ticks since boot, or 0 if unknown.
        is_kernel: True for a kernel thread.
        is_many: True if it stands for further processes of its name.
    """

    key: int
    name: str
    start_ticks: int
    is_kernel: bool
    is_many: bool

    @property
    def pid(self) -> int:
        """Process ID: the lower bits of the key."""
        return self.key & ((1 << PID_BITS) - 1)


class Parties:
    """The parties of one target. A thread describes new ones, and ends when none is left.

    Args:
        procfs: root of /proc.
        containers: knows names of containers.
    """

    def __init__(self, procfs: ProcFs, containers: ContainerNames) -> None:
        self._procfs = procfs
        self._containers = containers
        self._numbers: dict[int, int] = {}
        self._last = 0
        self._seen: dict[int, SeenProcess] = {}
        self._lock = threading.Lock()
        self._waiting: dict[tuple[int, int], int] = {}
        """Keys of those to be described, by process."""
        self._described: dict[int, Description] = {}
        self._is_describing = False
        self._closed = threading.Event()

    def see(self, processes: Iterable[SeenProcess]) -> Mapping[int, int]:
        """Number the parties among the processes that tables name now.

        One that executed another program, as its name is another, is described again.

        Returns:
            Numbers by key.
        """
        now = {one.key: one for one in processes if one.key >> PID_BITS}
        if len(self._seen) > MAX_KEPT:
            self._forget(now.keys())
        new = [one for key, one in now.items() if key not in self._numbers]
        executed = [
            one
            for key, one in now.items()
            if (before := self._seen.get(key)) is not None and before.name not in ("", one.name)
        ]
        self._seen |= now
        for one in new:
            self._last += 1
            self._numbers[one.key] = self._last
        self._ask([one for one in new + executed if one.start_ticks and not one.is_kernel])
        return self._numbers

    def table(self) -> Table:
        """Rows of `parties`, as far as they are described."""
        with self._lock:
            described = dict(self._described)
        rows = []
        for key, one in self._seen.items():
            known = described.get(key, NOT_DESCRIBED)
            texts = (one.name, known.title, known.container, known.unit, known.cgroup)
            row = (self._numbers[key], one.pid, one.start_ticks, int(one.is_many), *texts)
            rows.append(row)
        return np.array(rows, dtype_of("parties"))

    def close(self) -> None:
        """Describe no more parties. Idempotent."""
        with self._lock:
            self._closed.set()
            self._waiting.clear()

    def _forget(self, kept: Iterable[int]) -> None:
        kept = set(kept)
        self._numbers = {key: number for key, number in self._numbers.items() if key in kept}
        self._seen = {key: one for key, one in self._seen.items() if key in kept}
        with self._lock:
            self._described = {key: one for key, one in self._described.items() if key in kept}

    def _ask(self, new: list[SeenProcess]) -> None:
        with self._lock:
            room = MAX_WAITING - len(self._waiting)
            self._waiting |= {(one.pid, one.start_ticks): one.key for one in new[:room]}
            if self._is_describing or self._closed.is_set() or not self._waiting:
                return
            self._is_describing = True
        threading.Thread(target=self._describe, name="parties", daemon=True).start()

    def _describe(self) -> None:
        reader = DetailReader()
        while True:
            with self._lock:
                asked, self._waiting = self._waiting, {}
                if not asked:
                    self._is_describing = False
                    return
            blank = self._add(asked, reader)
            if blank and not self._closed.wait(EXECUTED_S):
                self._add(blank, reader)

    def _add(
        self, asked: dict[tuple[int, int], int], reader: DetailReader
    ) -> dict[tuple[int, int], int]:
        """Describe processes; return those without a title."""
        found: dict[tuple[int, int], Description] = {}
        try:
            found = describe(self._procfs, self._containers, asked, reader.read(asked))
        except Exception:
            LOG.exception("processes outside a target cannot be described")
        with self._lock:
            self._described |= {asked[one]: known for one, known in found.items()}
        return {one: asked[one] for one, known in found.items() if not known.title}
