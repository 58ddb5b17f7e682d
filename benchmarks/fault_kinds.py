"""The faults, by the part of tidscope, the disk or the recorded program that they hit."""

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

import psutil
from counted import Counted
from fault_installation import ANSWER_ERRORS, READY_S, SECRET, Installation
from loop_disk import LoopDisk, small_disk
from running import TOKEN, build
from websockets.sync.client import connect

GROUPS = Path("/sys/fs/cgroup")
VERSION_2 = ("memory.max", "max")
VERSION_1 = ("memory.limit_in_bytes", "-1")


class MemoryLimit:
    """Limits processes by a control group where there is one for memory, else by RLIMIT_AS.

    A process that is moved into a control group leaves the account of the pages that it has where
    it was, so that the limit is of what it takes from then on.

    Args:
        pids: processes.
        more_bytes: memory that they may allocate together; with RLIMIT_AS, address space of each.

    Attributes:
        means: human-readable description of the limit.
    """

    def __init__(self, pids: list[int], more_bytes: int) -> None:
        self._pids = pids
        self._group: Path | None = None
        self._back: dict[int, Path] = {}
        root, (file, self._none) = _memory_groups()
        if root is None:
            self.means = "RLIMIT_AS"
            for pid in pids:
                limit = psutil.Process(pid).memory_info().vms + more_bytes
                resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            return
        self.means = f"cgroup {file}"
        self._limit = root / f"tidscope-faults-{os.getpid()}-{pids[0]}" / file
        self._group = self._limit.parent
        self._group.mkdir()
        self._limit.write_text(str(more_bytes))
        for pid in pids:
            # Short-lived ones may have ended.
            with suppress(FileNotFoundError, ProcessLookupError):
                self._back[pid] = root / _own_group(pid, root)
                (self._group / "cgroup.procs").write_text(str(pid))

    def lift(self) -> None:
        """Remove the limit."""
        if self._group is None:
            for pid in self._pids:
                with suppress(ProcessLookupError):
                    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                    resource.prlimit(pid, resource.RLIMIT_AS, unlimited)
            return
        self._limit.write_text(self._none)
        home = next(iter(self._back.values()), self._group.parent)
        # A member may start another one meanwhile.
        for _ in range(10):
            for pid in map(int, (self._group / "cgroup.procs").read_text().split()):
                with suppress(ProcessLookupError):
                    (self._back.get(pid, home) / "cgroup.procs").write_text(str(pid))
        with suppress(OSError):
            # The kernel removes it once its dead members are reaped.
            self._group.rmdir()


def _memory_groups() -> tuple[Path | None, tuple[str, str]]:
    """The mount in which memory is limited, and its file with what stands for no limit."""
    with suppress(OSError):
        if "memory" in (GROUPS / "cgroup.subtree_control").read_text().split():
            return GROUPS, VERSION_2
    if (GROUPS / "memory" / VERSION_1[0]).exists():
        return GROUPS / "memory", VERSION_1
    return None, VERSION_1


def _own_group(pid: int, root: Path) -> str:
    """Control group of a process, below a mount."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if ("memory" in controllers.split(",")) == (root != GROUPS):
            return path.lstrip("/")
    return ""


CHILDREN = 2
"""Processes that each program of a tree starts."""
MORE_BYTES, NO_BYTES = 2 << 20, 64 << 10
"""Additional memory of a part under a limit, and the limit that triggers the OOM killer."""
DISK_MB = 64
AUDITED = 10


class Options(NamedTuple):
    """Sizes of faults and programs.

    Attributes:
        work_s: working time of programs before and after a fault, in seconds.
        stop_s: duration of a stop of a part, in seconds.
        fault_s: duration of other temporary faults, in seconds.
        threads: threads that a program has at once in the cell with many of them.
        forks: processes that are started in the fork storm.
    """

    work_s: float = 1.5
    stop_s: float = 60.0
    fault_s: float = 10.0
    threads: int = 20_000
    forks: int = 20_000


QUICK = Options(0.8, 5.0, 4.0, 2_000, 2_000)


class Cell:
    """A cell while it runs.

    Args:
        name: PART/FAULT/RECORDED.
        options: sizes.
        opened: resources closed at the end, newest first.
        folder: for its files.

    Attributes:
        notes: human-readable notes on other events.
        over_s: when the fault was over, monotonic; 0: when it returned.
    """

    def __init__(self, name: str, options: Options, opened: ExitStack, folder: Path) -> None:
        self.name = name
        self.part, self.fault, self.recorded = name.split("/")
        self.options = options
        self.opened = opened
        self.folder = folder
        self.notes = list[str]()
        self.over_s = 0.0
        self.disk: LoopDisk | None = None
        if self.fault.startswith("disk"):
            self.disk = opened.enter_context(small_disk(folder, DISK_MB))
        self._program = build("counted", folder)
        count = 3 if self.recorded == "targets" else 1
        self.programs = [self.start_program(f"account-{number}") for number in range(count)]
        self.log = self._place("supervisor") / "up.log"
        self.runs = self._place("backend") / "runs"
        self.installation = Installation(self.runs, self._place("collector") / "log", self.log)
        opened.callback(self.installation.close)

    def start_program(self, account: str, pid: int = 0) -> Counted:
        """Start a program of the cell's kind."""
        tree = self.recorded == "tree"
        written = self._place("target") / account.replace("account", "written")
        program = Counted(
            self._program,
            self.folder / account,
            CHILDREN if tree else 0,
            self.options.threads if self.fault == "threads" and account == "account-0" else 0,
            self.options.forks if self.fault == "forks" else 0,
            written if self.disk is not None else None,
            pid,
        )
        self.opened.callback(program.close)
        return program

    @property
    def pids(self) -> list[int]:
        """Process ids of the part that fails."""
        if self.part == "target":
            return [self.programs[0].pid]
        return self.installation.pids(self.part)

    @property
    def living(self) -> list[int]:
        """Programs that run."""
        return [one.pid for one in self.programs if one.alive]

    def start_again(self) -> None:
        """Start `tidscope up` again, as a manager of services does, once its parts have ended."""
        self.installation.close()
        self.installation.start()

    def _place(self, part: str) -> Path:
        """Folder of what a part writes: on the small disk, if that part's disk fails."""
        return self.disk.place if self.disk is not None and part == self.part else self.folder


def kill(cell: Cell) -> None:
    """The part is killed."""
    for pid in cell.pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    cell.over_s = time.monotonic()
    if cell.part == "supervisor":
        cell.start_again()
    while cell.part == "target" and cell.programs[0].alive:
        time.sleep(0.001)


def stop(cell: Cell) -> None:
    """The part is stopped for a while."""
    pids = cell.pids
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    time.sleep(cell.options.stop_s)
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def limit_memory(cell: Cell) -> None:
    """The part may take little more memory than it has; for the OOM killer, none."""
    oom = cell.fault == "oom"
    pids = cell.pids
    limit = MemoryLimit(pids, NO_BYTES if oom else MORE_BYTES)
    cell.notes.append(limit.means)
    try:
        if oom and cell.part == "target":
            cell.programs[0].use_memory()
        until = time.monotonic() + cell.options.fault_s
        while time.monotonic() < until and not (oom and not psutil.pid_exists(pids[0])):
            time.sleep(0.05)
    finally:
        limit.lift()
    if not psutil.pid_exists(pids[0]):
        cell.notes.append("killed by the OOM killer")
    if cell.part == "supervisor" and not cell.installation.supervised():
        cell.start_again()


def fill_disk(cell: Cell) -> None:
    """The disk that the part writes to is full."""
    assert cell.disk is not None
    cell.disk.fill()
    _give_reason_to_write(cell)
    time.sleep(cell.options.fault_s)
    cell.disk.empty()


def slow_disk(cell: Cell) -> None:
    """The disk that the part writes to answers a tenth of the time."""
    assert cell.disk is not None
    cell.disk.slow()
    cell.notes.append("its file system is frozen for 0.9 s of each second")
    _give_reason_to_write(cell)
    time.sleep(cell.options.fault_s)
    cell.disk.fast()


def _give_reason_to_write(cell: Cell) -> None:
    """The supervisor and the collector write of what happens, and nothing does."""
    if cell.part == "supervisor":
        os.kill(cell.installation.pids("collector")[0], signal.SIGKILL)
        cell.notes.append("its collector was killed")
    if cell.part == "collector":
        # All are in its audit log; together they are longer than a block.
        for _ in range(AUDITED):
            with suppress(*ANSWER_ERRORS):
                other = cell.installation.ask("/targets", {"pid": os.getpid()})["id"]
                cell.installation.ask(f"/targets/{other}", method="DELETE")


def use_id_again(cell: Cell) -> None:
    """The program is killed, and another one gets its process id at once."""
    first = cell.programs[0]
    os.kill(first.pid, signal.SIGKILL)
    while first.alive:
        time.sleep(0.001)
    other = cell.start_program("account-other", first.pid)
    other.work()
    time.sleep(cell.options.fault_s)


def read_slowly(cell: Cell) -> None:
    """A page has subscribed to all targets and does not read."""
    address = cell.installation.address.replace("http", "ws", 1)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with connect(
        f"{address}/ws/live", additional_headers=headers, max_queue=1, close_timeout=0.5
    ) as page:
        for target in cell.installation.ask("/targets")["targets"]:
            page.send(json.dumps({"type": "subscribe", "target": target["id"]}))
        time.sleep(cell.options.fault_s)


def connect_twice(cell: Cell) -> None:
    """A second collector says that it is this host's."""
    url = cell.installation.address.replace("http", "ws", 1) + "/ws/collector"
    command = [sys.executable, "-m", "tidscope_collector", "run", "--backend", url, "--no-audit"]
    environ = {**os.environ, "TIDSCOPE_COLLECTOR_SECRET": SECRET}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environ) as second:
        until = time.monotonic() + READY_S
        while cell.installation.ask("/hosts")["hosts"][0]["collector"]["pid"] != second.pid:
            if time.monotonic() > until:
                cell.notes.append("the second collector did not connect")
                break
            time.sleep(0.05)
        time.sleep(cell.options.fault_s)
        second.terminate()
        second.wait(20)


def let_work(cell: Cell) -> None:
    """No fault but what the programs do."""
    time.sleep(cell.options.work_s if cell.fault == "at-once" else cell.options.fault_s)


HOW: dict[str, Callable[[Cell], None]] = {
    "kill": kill,
    "stop": stop,
    "memory": limit_memory,
    "oom": limit_memory,
    "disk-full": fill_disk,
    "disk-slow": slow_disk,
    "pid-reuse": use_id_again,
    "reader": read_slowly,
    "collectors": connect_twice,
    "threads": let_work,
    "forks": let_work,
    "at-once": let_work,
}
