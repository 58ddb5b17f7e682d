"""Effects on a run when a part of tidscope, its disk or the recorded program fails.

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
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
from counted import Account, become_reaper
from fault_installation import ANSWER_ERRORS, Installation, read_run
from fault_judge import Reading, Reported, Verdict, judge
from fault_kinds import CHILDREN, HOW, QUICK, Cell, Options

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
WHOLE_S = 90.0
SETTLE_S = 2.5
"""Time between the end of the work and the stop; only at-once stops at once."""
LOG_LINES = 12
LONGEST_S = 240.0
"""A cell that takes longer, its stop not counted, is ended."""


def run_cell(name: str, options: Options, folder: Path, opened: ExitStack) -> dict[str, Any]:
    """Run one cell; its figures."""
    cell = Cell(name, options, opened, folder)
    installation = cell.installation
    runs = list[str]()
    for program in cell.programs:
        what: dict[str, Any] = {"rate_hz": RATE_HZ}
        if cell.recorded == "tree":
            what["group"] = {"kind": "tree", "pid": program.pid}
        else:
            what["pid"] = program.pid
        target = installation.ask("/targets", what)["id"]
        runs.append(installation.ask("/runs", {"target": target})["id"])
    if installation.until_flowing(cell.living, WHOLE_S) is None:
        raise TimeoutError("no samples came before the fault")
    account = Account(cell.programs)
    opened.callback(account.close)
    for program in cell.programs:
        program.work()
    time.sleep(options.work_s)
    HOW[cell.fault](cell)
    cell.over_s = cell.over_s or time.monotonic()
    whole = not cell.living or installation.until_flowing(cell.living, WHOLE_S)
    whole_s = round(time.monotonic() - cell.over_s, 2) if whole else None
    time.sleep(0 if cell.fault == "at-once" else options.work_s)
    for program in cell.programs:
        program.halt()
    account.read()
    if cell.fault != "at-once":
        time.sleep(SETTLE_S)
    until_s = time.time()
    for run in runs:
        with suppress(*ANSWER_ERRORS):
            installation.ask(f"/runs/{run}/stop", method="POST")
    _until_ended(installation, runs)
    # A program may have been killed while it started a thread.
    slack = CHILDREN + 1 if cell.part == "target" else 0
    verdicts, states, counts = [], [], []
    for run, program, readings in zip(runs, cell.programs, account.readings, strict=True):
        end_s = until_s if program.alive else _ended_s(readings)
        manifest, says = read_run(cell.runs / run, end_s, RATE_HZ)
        verdicts.append(judge(readings, says, slack))
        states.append(f"{manifest.state}: {manifest.end_detail}")
        counts.append(_counts(readings, says))
    account.close()
    log = cell.log.read_text(errors="replace").splitlines()[-LOG_LINES:]
    return {
        "cell": name,
        **_together(verdicts),
        "whole_s": whole_s,
        "runs": states,
        "counts": counts,
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
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
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
        except BaseException:
            end_all(psutil.Process(cell.pid))
            raise
        finally:
            unmount(folder)
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


def unmount(folder: str) -> None:
    """Unmount what a cell that was killed left mounted in its folder."""
    for mounted in Path("/proc/self/mounts").read_text().splitlines():
        place = mounted.split()[1]
        if place.startswith(folder):
            subprocess.run(["umount", "--lazy", place], check=False)


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


def _counts(readings: list[Reading], says: Reported) -> dict[str, Any]:
    """Return a program's own counts during the recording, the run's counts, and its losses."""
    began, ended = readings[0], readings[-1]
    return {
        "born": [ended.born - began.born, says.born],
        "ended": [ended.ended - began.ended, says.ended, says.events],
        "cpu_s": [round(ended.cpu_s - began.cpu_s, 3), round(says.cpu_s, 3)],
        "losses": {name: count for name, count in says.losses.items() if count},
    }


def _until_ended(installation: Installation, runs: list[str]) -> None:
    """Wait until no run is being recorded any more, and their last parts are sealed."""
    until = time.monotonic() + WHOLE_S
    while time.monotonic() < until:
        with suppress(*ANSWER_ERRORS):
            if all(installation.ask(f"/runs/{run}")["state"] != "recording" for run in runs):
                return
        time.sleep(0.1)


def _ended_s(readings: list[Reading]) -> float:
    """When a program had ended: its first reading that is like its last one."""
    last = readings[-1]
    return next(one.unix_s for one in readings if one[1:] == last[1:])


if __name__ == "__main__":
    sys.exit(main())
