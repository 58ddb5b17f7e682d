"""What becomes of a run while a part of tidscope, its disk or the recorded program fails.

A cell is PART/FAULT/RECORDED: a part (collector, backend, supervisor, helper, target) is killed,
stopped, limited in memory, or has a full or a slow disk, while a process, a tree of processes or
three targets are recorded. Further cells have storms, a reader that does not read, two collectors
of one name, a process id that is used again, and the kernel's OOM killer. The recorded programs
(counted.c) count their threads and CPU time themselves, outside tidscope.

Of each cell: `said`, whether the run states all that it lacks; `lost_threads`, `lost_cpu_s` and
`lost_s`, time without samples; `twice_threads` and `twice_cpu_s`; `whole_s`, how long it took until
samples came again once the fault was over; null: they did not. Status 1 if any run lacks or repeats
something and does not say so. Needs root.
"""

import argparse
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, NamedTuple

import psutil
from compiled import build
from counted import Account, Counted, become_reaper
from fault_disk import Disk, small_disk
from fault_judge import Reading, Verdict, judge
from fault_site import ANSWER_ERRORS, SECRET, Site, told
from memory_limit import MemoryLimit
from running import TOKEN
from websockets.sync.client import connect

PARTS = ("collector", "backend", "supervisor", "helper", "target")
FAULTS = ("kill", "stop", "memory", "disk-full", "disk-slow")
RECORDED = ("process", "tree", "targets")
EXTRA = (
    *("none/at-once", "none/threads", "none/forks", "none/reader", "none/collectors"),
    *("target/pid-reuse", "target/oom", "collector/oom", "backend/oom"),
)
NOT_THERE = {
    "helper/disk-full": "helpers write to no disk",
    "helper/disk-slow": "helpers write to no disk",
    "none/forks/process": "processes that a process starts are no part of it",
    "none/forks/targets": "processes that a process starts are no part of it",
}
"""Cells that there are not, by their start, and why."""
RATE_HZ = 10.0
CHILDREN = 2
WORK_S = 1.5
MORE_BYTES, NO_BYTES = 8 << 20, 64 << 10
WHOLE_S = 60.0
SETTLE_S = 3.0
"""Time between the end of the work and the stop; only at-once stops at once."""
DISK_MB = 64
LOG_LINES = 12
LONGEST_S = 240.0
"""A cell that takes longer, its stop not counted, is ended."""


class Options(NamedTuple):
    """How large faults and programs are.

    Attributes:
        stop_s: how long a part is stopped.
        fault_s: how long other faults last that end.
        threads: threads that a program has at once in the cell with many of them.
        forks: processes that are started in the fork storm.
    """

    stop_s: float = 60.0
    fault_s: float = 10.0
    threads: int = 20_000
    forks: int = 20_000


QUICK = Options(5.0, 4.0, 2_000, 2_000)


class Cell:
    """A cell while it runs.

    Args:
        name: PART/FAULT/RECORDED.
        options: sizes.
        opened: what is closed at its end, the newest first.
        folder: for its files.

    Attributes:
        notes: what happened besides, for people.
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
        self.disk: Disk | None = None
        if self.fault.startswith("disk"):
            self.disk = opened.enter_context(small_disk(folder, DISK_MB))
        self._program = build("counted", folder)
        count = 3 if self.recorded == "targets" else 1
        self.programs = [self.start_program(f"account-{number}") for number in range(count)]
        self.log = self._place("supervisor") / "up.log"
        self.runs = self._place("backend") / "runs"
        self.site = Site(self.runs, self._place("collector") / "log", self.log)
        opened.callback(self.site.close)

    def start_program(self, account: str, pid: int = 0) -> Counted:
        """Start a program of the cell's kind."""
        tree = self.recorded == "tree"
        written = self._place("target") / account.replace("account", "written")
        program = Counted(
            self._program,
            self.folder / account,
            CHILDREN if tree else 0,
            self.options.threads if self.fault == "threads" else 0,
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
        return self.site.pids(self.part)

    @property
    def living(self) -> list[int]:
        """Programs that run."""
        return [one.pid for one in self.programs if one.alive]

    def start_again(self) -> None:
        """Start `tidscope up` again, as a manager of services does, once its parts have ended."""
        self.site.close()
        self.site.start()

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
    if cell.part == "supervisor" and not cell.site.supervised():
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
        os.kill(cell.site.pids("collector")[0], signal.SIGKILL)
        cell.notes.append("its collector was killed")
    if cell.part == "collector":
        # Both are in its audit log.
        with suppress(*ANSWER_ERRORS):
            other = cell.site.ask("/targets", {"pid": os.getpid()})["id"]
            cell.site.ask(f"/targets/{other}", method="DELETE")


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
    address = cell.site.address.replace("http", "ws", 1)
    headers = {"Authorization": f"Bearer {TOKEN}"}
    with connect(
        f"{address}/ws/live", additional_headers=headers, max_queue=1, close_timeout=0.5
    ) as page:
        for target in cell.site.ask("/targets")["targets"]:
            page.send(json.dumps({"type": "subscribe", "target": target["id"]}))
        time.sleep(cell.options.fault_s)


def connect_twice(cell: Cell) -> None:
    """A second collector says that it is this host's."""
    url = cell.site.address.replace("http", "ws", 1) + "/ws/collector"
    command = [sys.executable, "-m", "tidscope_collector", "run", "--backend", url, "--no-audit"]
    environ = {**os.environ, "TIDSCOPE_COLLECTOR_SECRET": SECRET}
    with subprocess.Popen(command, stderr=subprocess.DEVNULL, env=environ) as second:
        time.sleep(cell.options.fault_s)
        second.terminate()
        second.wait(20)


def let_work(cell: Cell) -> None:
    """No fault but what the programs do."""
    time.sleep(WORK_S if cell.fault == "at-once" else cell.options.fault_s)


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


def run_cell(name: str, options: Options, folder: Path, opened: ExitStack) -> dict[str, Any]:
    """Run one cell; its figures."""
    cell = Cell(name, options, opened, folder)
    site = cell.site
    runs = list[str]()
    for program in cell.programs:
        what: dict[str, Any] = {"rate_hz": RATE_HZ}
        if cell.recorded == "tree":
            what["group"] = {"kind": "tree", "pid": program.pid}
        else:
            what["pid"] = program.pid
        target = site.ask("/targets", what)["id"]
        runs.append(site.ask("/runs", {"target": target})["id"])
    if site.until_flowing(cell.living, WHOLE_S) is None:
        raise TimeoutError("no samples came before the fault")
    account = Account(cell.programs)
    opened.callback(account.close)
    for program in cell.programs:
        program.work()
    time.sleep(WORK_S)
    cell.over_s = 0.0
    HOW[cell.fault](cell)
    cell.over_s = cell.over_s or time.monotonic()
    whole = not cell.living or site.until_flowing(cell.living, WHOLE_S)
    whole_s = round(time.monotonic() - cell.over_s, 2) if whole else None
    time.sleep(0 if cell.fault == "at-once" else WORK_S)
    for program in cell.programs:
        program.halt()
    account.read()
    if cell.fault != "at-once":
        time.sleep(SETTLE_S)
    until_s = time.time()
    for run in runs:
        with suppress(*ANSWER_ERRORS):
            site.ask(f"/runs/{run}/stop", method="POST")
    _until_ended(site, runs)
    # A program may have been killed while it started a thread.
    slack = CHILDREN + 1 if cell.part == "target" else 0
    verdicts, states = [], []
    for run, program, readings in zip(runs, cell.programs, account.readings, strict=True):
        end_s = until_s if program.alive else _ended_s(readings)
        manifest, says = told(cell.runs / run, end_s, RATE_HZ)
        verdicts.append(judge(readings, says, slack))
        states.append(f"{manifest.state}: {manifest.end_detail}")
    account.close()
    log = cell.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
    return {
        "cell": name,
        **_together(verdicts),
        "whole_s": whole_s,
        "runs": states,
        "notes": cell.notes,
        "log": log,
        "load": round(os.getloadavg()[0], 1),
    }


def _together(verdicts: list[Verdict]) -> dict[str, Any]:
    return {
        "said": all(one.said for one in verdicts),
        "lost_threads": sum(one.lost_threads for one in verdicts),
        "lost_cpu_s": round(sum(one.lost_cpu_s for one in verdicts), 3),
        "lost_s": round(sum(one.lost_s for one in verdicts), 2),
        "twice_threads": sum(one.twice_threads for one in verdicts),
        "twice_cpu_s": round(sum(one.twice_cpu_s for one in verdicts), 3),
        "silent": [sentence for one in verdicts for sentence in one.silent],
    }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What becomes of runs in a fault.")
    parser.add_argument("--cells", metavar="PATTERN", default="*", help="such as 'backend/kill/*'")
    parser.add_argument("--quick", action="store_true", help="short stops, fewer threads")
    parser.add_argument("--stop-seconds", type=float, help="how long SIGSTOP lasts (60; quick: 5)")
    parser.add_argument("--keep", type=Path, metavar="FILE", help="append each cell as it is done")
    parser.add_argument("--one", metavar="CELL", help=argparse.SUPPRESS)
    parser.add_argument("--sizes", type=json.loads, help=argparse.SUPPRESS)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sizes = QUICK if options.quick else Options()
    if options.sizes is not None:
        sizes = Options(*options.sizes)
    if options.stop_seconds is not None:
        sizes = sizes._replace(stop_s=options.stop_seconds)
    if options.one is not None:
        print(json.dumps(_one(options.one, sizes)))
        return 0
    if os.geteuid() != 0:
        raise SystemExit("only root can stop, limit and fill what this needs")
    found = list[dict[str, Any]]()
    for name in cells(options.cells):
        found.append(isolated(name, sizes))
        if options.keep is not None:
            with options.keep.open("a") as kept:
                kept.write(json.dumps(found[-1]) + "\n")
        if not options.json:
            print(line(found[-1]), flush=True)
    if options.json:
        print(json.dumps({"cells": found, "not_there": NOT_THERE, **sizes._asdict()}))
    return 0 if found and all(one["said"] for one in found) else 1


def cells(pattern: str) -> list[str]:
    """Names of the cells that match a shell pattern."""
    names = [f"{part}/{fault}" for fault in FAULTS for part in PARTS]
    whole = [f"{name}/{recorded}" for name in (*EXTRA, *names) for recorded in RECORDED]
    return [
        name
        for name in whole
        if fnmatch.fnmatch(name, pattern) and not any(map(name.startswith, NOT_THERE))
    ]


def isolated(name: str, sizes: Options) -> dict[str, Any]:
    """Run a cell in a process of its own, and end what is left of it; its figures."""
    command = [sys.executable, __file__, "--one", name, "--sizes", json.dumps(sizes)]
    with (
        tempfile.TemporaryDirectory(prefix="faults-") as folder,
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": folder},
        ) as cell,
    ):
        try:
            said, error = cell.communicate(timeout=sizes.stop_s + LONGEST_S)
        except subprocess.TimeoutExpired:
            end_all(psutil.Process(cell.pid))
            said, error = "", f"not done after {sizes.stop_s + LONGEST_S:g} s"
    if cell.returncode == 0 and said:
        found: dict[str, Any] = json.loads(said)
        return found
    return {"cell": name, "said": False, "failed": error[-2000:]}


def _one(name: str, sizes: Options) -> dict[str, Any]:
    """Run a cell in this process; its figures."""
    become_reaper()
    folder = Path(tempfile.mkdtemp())
    try:
        with ExitStack() as opened:
            return run_cell(name, sizes, folder, opened)
    finally:
        end_all(psutil.Process(), itself=False)


def end_all(process: psutil.Process, itself: bool = True) -> None:
    """Kill the descendants of a process, by their ids; and the process itself."""
    found = process.children(recursive=True)
    for one in (*found, *([process] if itself else [])):
        with suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(found, timeout=10)


def line(found: dict[str, Any]) -> str:
    """A cell as a line for people."""
    if "failed" in found:
        return f"{found['cell']:34} FAILED {found['failed'].strip().splitlines()[-1:]}"
    figures = (
        f"lost {found['lost_threads']} threads, {found['lost_cpu_s']:g} s CPU, "
        f"{found['lost_s']:g} s; twice {found['twice_threads']}, {found['twice_cpu_s']:g} s; "
        f"whole {found['whole_s']} s"
    )
    said = "said" if found["said"] else "SILENT"
    return "\n  ".join([f"{found['cell']:34} {said:6} {figures}", *found["silent"]])


def _until_ended(site: Site, runs: list[str]) -> None:
    """Wait until no run is being recorded any more, and their last parts are sealed."""
    until = time.monotonic() + WHOLE_S
    while time.monotonic() < until:
        with suppress(*ANSWER_ERRORS):
            if all(site.ask(f"/runs/{run}")["state"] != "recording" for run in runs):
                return
        time.sleep(0.1)


def _ended_s(readings: list[Reading]) -> float:
    """When a program had ended: its first reading that is like its last one."""
    last = readings[-1]
    return next(one.unix_s for one in readings if one[1:] == last[1:])


if __name__ == "__main__":
    sys.exit(main())
