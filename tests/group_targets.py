"""Groups of processes sampled by the real engine, held commands, and control groups of tests."""

import os
import resource
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from capabilities import missing
from engines import engine_of
from frame_queues import TakenFrames
from processes import remove_group, status, wait_until
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.naming.thread_names import KERNEL_NAMES, NamingOptions
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.targets.sources import Sources
from tidscope_collector.waits.source import DEFAULT_OPTIONS, LedgerOptions
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import Table, latest_rows
from tidscope_wire.generated.models import (
    FrameHeader,
    GroupCounts,
    GroupSelector,
    TableName,
    Target,
    TargetDetached,
    TargetEvent,
    TargetExited,
)
from tidscope_wire.table_streams import decode_tables

PATIENCE_S = 120.0


@dataclass
class Heard:
    """All frames of a target.

    Attributes:
        headers: headers of the frames.
        tables: as they were last.
    """

    headers: list[FrameHeader]
    tables: dict[TableName, Table]

    @property
    def processes(self) -> Table:
        """The table of its processes."""
        return self.tables["processes"]

    @property
    def last(self) -> FrameHeader:
        return self.headers[-1]

    @property
    def counts(self) -> GroupCounts:
        counts = self.last.group
        assert counts is not None
        return counts

    def is_over(self) -> bool:
        """True if the target has ended."""
        ends = TargetExited | TargetDetached
        return any(isinstance(event, ends) for event in self.last.events)

    @property
    def events(self) -> list[TargetEvent]:
        return [event for header in self.headers for event in header.events]


class GroupTargets:
    """The real engine, whose frames come to the test.

    Args:
        polled: look for processes again and again, as where eBPF is not available.
        counters: choice of the counter source.
        naming: source of thread names.
        ledger: options of state ledgers.
    """

    def __init__(
        self,
        *,
        polled: bool = False,
        counters: WalkChoice = "auto",
        naming: NamingOptions = KERNEL_NAMES,
        ledger: LedgerOptions = DEFAULT_OPTIONS,
    ) -> None:
        self.kept: list[bytes] = []
        self.sources = Sources(ProcFs(), counters=counters, naming=naming, ledger=ledger)
        if polled:
            self.sources.groups.close()
            self.sources.groups.programs = Obstacle("a test does without", "")
        self.frames = TakenFrames(self.sources.native)
        self.engine, self.targets = engine_of(self.sources)
        self.engine.start()

    def attach(self, selector: GroupSelector, rate_hz: float = 10) -> Target:
        return self.targets.attach_group(selector, rate_hz)[0]

    def until(self, holds: Callable[[FrameHeader], bool]) -> GroupCounts:
        """Take frames until one is as wanted; what it counts."""
        while True:
            frame = self.frames.get(timeout=PATIENCE_S)
            self.kept.append(frame)
            header = split(frame)[0]
            if holds(header):
                assert header.group is not None
                return header.group

    def hear(
        self, target: str | None = None, until: Callable[[Heard], bool] | None = None
    ) -> Heard:
        """All frames up to the end of the target.

        Args:
            target: ID, where there are several; frames of others are kept.
            until: returns True once enough frames arrived; None waits for the end of the target.
        """
        heard, others = Heard([], {}), list[bytes]()
        while not (heard.headers and (until or Heard.is_over)(heard)):
            frame = self.kept.pop(0) if self.kept else self.frames.get(timeout=PATIENCE_S)
            header, body = split(frame)
            if target not in (None, header.target):
                others.append(frame)
                continue
            heard.headers.append(header)
            for name, table in decode_tables(header, body).items():
                before = [heard.tables[name]] if name in heard.tables else []
                heard.tables[name] = latest_rows(name, [*before, table])
        self.kept[:0] = others
        return heard

    def close(self) -> None:
        self.engine.stop()
        self.sources.close()


class HeldCommand:
    """A command that begins when it is let go.

    Args:
        command: program and arguments.
        stdin: standard input, as for subprocess.
    """

    def __init__(self, command: Sequence[str], stdin: int | None = None) -> None:
        gate, self._go = os.pipe()
        self._process = subprocess.Popen(
            ["bash", "-c", f'read -r _ <&{gate}; exec {gate}<&-; exec "$@"', "bash", *command],
            pass_fds=[gate],
            stdin=stdin,
            stdout=subprocess.DEVNULL,
        )
        os.close(gate)
        self.pid = self._process.pid

    @property
    def stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    def settle(self) -> None:
        """Wait until it waits for the go: it uses no CPU time from then on."""
        wait_until(lambda: status(self.pid, "State")[:1] == ["S"])

    def begin(self) -> None:
        """Release the held program."""
        os.write(self._go, b"\n")
        os.close(self._go)

    def wait(self) -> resource.struct_rusage:
        """Wait for it; what it and all of its waited-for descendants used."""
        _, status, used = os.wait4(self.pid, 0)
        self._process.returncode = os.waitstatus_to_exitcode(status)
        return used

    def run(self) -> resource.struct_rusage:
        """Release the held program and wait for it; see `wait`."""
        self.begin()
        return self.wait()


@contextmanager
def group_targets(
    *,
    polled: bool = False,
    counters: WalkChoice = "auto",
    naming: NamingOptions = KERNEL_NAMES,
    ledger: LedgerOptions = DEFAULT_OPTIONS,
) -> Iterator[GroupTargets]:
    """The engine for the time of a test."""
    groups = GroupTargets(polled=polled, counters=counters, naming=naming, ledger=ledger)
    try:
        yield groups
    finally:
        groups.close()


def on_cpu_ns(pid: int) -> int:
    """CPU time of the first thread of a process."""
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def used_ns(used: resource.struct_rusage) -> int:
    """CPU time."""
    return round(1e9 * (used.ru_utime + used.ru_stime))


GROUPS = Path("/sys/fs/cgroup")
MOUNTED = [
    name for name in (".", "cpuacct", "unified") if (GROUPS / name / "cgroup.procs").exists()
]
"""Mounts in which groups are followed; where version 2 is the only one, it is GROUPS itself."""


@contextmanager
def control_group(mount: str, path: str) -> Iterator[Path]:
    """A control group below one of MOUNTED; whoever is in it at its end goes to the root.

    Args:
        mount: name of the mount.
        path: path of the group below it.
    """
    root = GROUPS / mount
    made: list[Path] = []
    try:
        for folder in reversed([root / path, *(root / path).parents]):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
    except OSError as error:
        _remove(made, root)
        raise missing("cpu-quota", str(error)) from error
    try:
        yield root / path
    finally:
        _remove(made, root)


def _remove(made: Sequence[Path], root: Path) -> None:
    for folder in reversed(made):
        remove_group(folder, root)


def move(pid: int, folder: Path) -> None:
    """Move a process into a control group."""
    (folder / "cgroup.procs").write_text(str(pid))
