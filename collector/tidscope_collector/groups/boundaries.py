"""Processes of a group by its definition, read from /proc and control groups."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol

from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.listing import (
    descendants,
    folders_below,
    processes_of,
    read_process,
    read_processes,
)
from tidscope_collector.groups.match import Match
from tidscope_collector.groups.members import Newcomer
from tidscope_collector.procfs.files import ProcFs


class Boundary(Protocol):
    """The definition of a group.

    Attributes:
        inherited: whether the children of members are members.
        cgroups: whose processes are members.
        path: of these, below their mounts; None: there are none.
        lead: id of the process that stands for all; None: the oldest one does.
        polled_ns: how often it is looked at where births are not reported, nanoseconds.
    """

    @property
    def inherited(self) -> bool: ...

    @property
    def cgroups(self) -> tuple[Cgroup, ...]: ...

    @property
    def path(self) -> str | None: ...

    @property
    def lead(self) -> int | None: ...

    @property
    def polled_ns(self) -> int: ...

    def find(self, known: Iterable[int]) -> Mapping[int, Newcomer]:
        """The processes of the group, by their ids.

        Args:
            known: ids of those that belonged to it when it was asked last.
        """

    def is_over(self, alive: int) -> bool:
        """True if no further processes can come.

        Args:
            alive: how many there are.
        """


@dataclass(frozen=True)
class Tree:
    """A process and its descendants.

    Those whose parent ended before the group began are not known to descend from it.

    Attributes:
        procfs: root of /proc.
        root: id of the process.
    """

    procfs: ProcFs
    root: int
    inherited: bool = True
    cgroups: tuple[Cgroup, ...] = ()
    path: str | None = None
    polled_ns: int = 200_000_000

    @property
    def lead(self) -> int | None:
        return self.root

    def find(self, known: Iterable[int]) -> Mapping[int, Newcomer]:
        """See `Boundary`."""
        processes = read_processes(self.procfs)
        found = descendants(processes, {self.root, *known})
        return {pid: processes[pid] for pid in found}

    def is_over(self, alive: int) -> bool:
        """See `Boundary`."""
        return not alive


@dataclass(frozen=True)
class ControlGroup:
    """The processes of a control group, and of those below it.

    Attributes:
        procfs: root of /proc.
        cgroups: the same group in one or more hierarchies.
        path: of it, below their mounts.
    """

    procfs: ProcFs
    cgroups: tuple[Cgroup, ...]
    path: str
    inherited: bool = False
    lead: int | None = None
    polled_ns: int = 0

    def find(self, known: Iterable[int]) -> Mapping[int, Newcomer]:
        """See `Boundary`."""
        folders = [folder for one in self.cgroups for folder in folders_below(one.folder)]
        found = {pid: read_process(self.procfs, pid) for pid in processes_of(folders)}
        return {pid: one for pid, one in found.items() if one is not None}

    def is_over(self, alive: int) -> bool:
        """See `Boundary`."""
        return not alive and not any(one.folder.exists() for one in self.cgroups)


@dataclass
class Matching:
    """The processes that match an expression, and the children that they fork until it is known.

    Attributes:
        procfs: root of /proc.
        match: the expression.
        pids: ids of the processes that matched when they were listed last.
        listed_ns: CLOCK_MONOTONIC of that.
    """

    procfs: ProcFs
    match: Match
    pids: frozenset[int]
    listed_ns: int
    inherited: bool = True
    cgroups: tuple[Cgroup, ...] = ()
    path: str | None = None
    lead: int | None = None
    polled_ns: int = 1_000_000_000

    def find(self, known: Iterable[int]) -> Mapping[int, Newcomer]:
        """See `Boundary`."""
        found = {pid: read_process(self.procfs, pid) for pid in self.pids}
        return {pid: one for pid, one in found.items() if one is not None}

    def is_over(self, alive: int) -> bool:
        """See `Boundary`."""
        return False
