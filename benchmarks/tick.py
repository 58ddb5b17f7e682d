"""Cost of a collector's tick: CPU microseconds of the whole process.

The collector sleeps between ticks as it really does and sends to a real backend. All threads of the
target run between two ticks, or 90 % of them sleep. From several numbers of threads follow the
fixed cost of a tick (`fixed_us`), and what a running (`per_thread_us`) and a sleeping thread
(`per_sleeping_us`) adds. Of each also page faults (`minor_faults`) and how often a thread of the
collector went to sleep (`wakeups`), a tick. Beside them `c_loop_us`: one genetlink request in C, in
the same run, to which all are given as ratios, and `floor_us`: a tick of a C program (floor.c) that
wakes as often, lists and asks for the fewest threads of the run, and sends as many bytes as a frame
of them has, beside `floor_tick_us`, what the collector takes for as many.
"""

import argparse
import json
import math
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np
import psutil
from running import Running, build, tidscope, wakers
from tidscope_collector.taskstats.link import probe

SECRET = "benchmark-" + os.urandom(16).hex()
WINDOW_S = 3.0
"""Windows are whole multiples of this, so that each has as many of Python's tasks, which are due
once in one or several seconds."""
WARM_UP_S = 4.5
"""Windows begin and end between two of these tasks."""
SLEEPING_SHARE = 0.9
HEADER_BYTES, ROW_BYTES = 1500, 240
"""Approximate sizes in a fast-path frame, in bytes; thirty columns of a thread change."""


@contextmanager
def collector(installation: Running, source: list[str]) -> Iterator[psutil.Process]:
    """Run a collector for a backend."""
    url = f"{installation.address.replace('http', 'ws', 1)}/ws/collector"
    command = [
        sys.executable,
        "-m",
        "tidscope_collector",
        "run",
        "--backend",
        url,
        "--budget-percent",
        "0",
    ]
    command += ["--ledger", "off", *source]
    environ = {**os.environ, "TIDSCOPE_COLLECTOR_SECRET": SECRET}
    with subprocess.Popen(command, env=environ) as process:
        try:
            while not installation.ask("/health")["collectors"]:
                if process.poll() is not None:
                    raise SystemExit(f"the collector ended with status {process.returncode}")
                time.sleep(0.05)
            yield psutil.Process(process.pid)
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(20)


class Tick(NamedTuple):
    """Cost of a tick: CPU microseconds, page faults, and how often threads go to sleep."""

    us: float
    faults: float
    wakeups: float


def ticks(
    installation: Running, pid: int, rate_hz: float, seconds: float, of: psutil.Process
) -> Tick:
    """Attach the collector to the process for a time, rounded up to whole windows.

    Returns:
        What a tick takes on average.
    """
    target = installation.ask("/targets", {"pid": pid, "rate_hz": rate_hz})["id"]
    time.sleep(WARM_UP_S)
    before, began = counts(of), frames(installation)
    time.sleep(math.ceil(seconds / WINDOW_S) * WINDOW_S)
    after, taken = counts(of), max(1, frames(installation) - began)
    installation.fetch(f"/targets/{target}", method="DELETE")
    return Tick(*((now - then) / taken for now, then in zip(after, before, strict=True)))


def counts(of: psutil.Process) -> Tick:
    """Resources that a process has used since its start, and wake-ups of its live threads."""
    faults, wakeups = 0, 0
    for task in Path(f"/proc/{of.pid}/task").iterdir():
        try:
            status = (task / "status").read_text()
            stat = (task / "stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            continue
        faults += int(stat.rpartition(")")[2].split()[7])
        wakeups += int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])
    return Tick(cpu(of) * 1e6, faults, wakeups)


def frames(installation: Running) -> int:
    """Frames that the backend has received."""
    return int(installation.ask("/health")["frames"])


def c_loop_us(program: Path, pid: int, threads: int) -> float:
    """CPU of one request in C, microseconds; the best of five, since it is a lower bound."""
    family, samples = str(probe().family), max(20, 20_000 // threads)
    found = []
    for _ in range(5):
        before = _of_children()
        subprocess.run([program, family, str(pid), str(samples)], check=True, capture_output=True)
        found.append((_of_children() - before) * 1e6 / samples / threads)
    return min(found)


def floor_us(program: Path, pid: int, threads: int, options: argparse.Namespace) -> float:
    """CPU of a tick of a C program that does the least; the median of three."""
    size = str(HEADER_BYTES + ROW_BYTES * threads)
    command = [str(program), str(probe().family), str(pid), str(options.rate)]
    command += [str(options.seconds / 2), size]
    found = (subprocess.run(command, check=True, capture_output=True) for _ in range(3))
    return median(float(one.stdout) for one in found)


def _of_children() -> float:
    """CPU seconds of the children that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def cpu(of: psutil.Process) -> float:
    """CPU seconds of another process, by its clock: /proc rounds to ticks of 10 ms."""
    return time.clock_gettime((~of.pid << 3) | 2)  # clock_getcpuclockid(3)


def fit(points: list[tuple[float, float, float]]) -> tuple[float, float, float]:
    """Intercept, and slopes over running and sleeping threads, weighted by the relative error.

    Args:
        points: running threads, sleeping threads, microseconds of a tick.
    """
    rows = np.array([[1.0, running, sleeping] for running, sleeping, _ in points])
    us = np.array([us for _, _, us in points])
    found, *_ = np.linalg.lstsq(rows / us[:, None], np.ones(len(us)), rcond=None)
    fixed, per_running, per_sleeping = (float(one) for one in found)
    return fixed, per_running, per_sleeping


def measure(options: argparse.Namespace) -> dict[str, object]:
    """Measure all; see the module's text."""
    points: list[tuple[float, float, float]] = []
    rows: list[dict[str, object]] = []
    loops: list[float] = []
    floors: list[float] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        tidscope("--no-collector", TIDSCOPE_COLLECTOR_SECRET=SECRET) as installation,
    ):
        loop, least = build("c_loop", Path(folder)), build("floor", Path(folder))
        for threads in options.threads:
            for sleeping in (0, round(threads * SLEEPING_SHARE)):
                # Twice as often as ticks: a thread that woke just before a tick has run in each.
                with wakers(threads, round(500 / options.rate), sleeping) as pid:
                    with collector(installation, options.collector) as process:
                        found = [
                            ticks(installation, pid, options.rate, options.seconds, process)
                            for _ in range(options.rounds)
                        ]
                    if not sleeping:
                        loops.append(c_loop_us(loop, pid, threads))
                    if not sleeping and threads == min(options.threads):
                        floors.append(floor_us(least, pid, threads, options))
                us, faults, wakeups = (median(each) for each in zip(*found, strict=True))
                points.append((threads - sleeping, sleeping, us))
                rows.append(
                    {
                        "threads": threads,
                        "sleeping": sleeping,
                        "tick_us": round(us, 1),
                        "minor_faults": round(faults, 2),
                        "wakeups": round(wakeups, 2),
                    }
                )
    fixed, running, sleeping_us = fit(points)
    loop_us = min(loops)
    return {
        "fixed_us": round(fixed, 1),
        "per_thread_us": round(running, 3),
        "per_sleeping_us": round(sleeping_us, 3),
        "c_loop_us": round(loop_us, 3),
        "floor_us": round(floors[0], 1),
        "floor_tick_us": next(us for running, _, us in points if running == min(options.threads)),
        "fixed_ratio": round(fixed / loop_us, 1),
        "per_thread_ratio": round(running / loop_us, 3),
        "rate_hz": options.rate,
        "ticks": rows,
    }


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="CPU cost of a tick of the collector.")
    parser.add_argument("--threads", type=int, action="append", help="repeat; 30, 1000, 5000")
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=12)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--collector", action="append", default=[], help="an option of it; repeat")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    options.threads = options.threads or [30, 1000, 5000]
    figures = measure(options)
    if options.json:
        print(json.dumps(figures))
        return 0
    for name, value in figures.items():
        for one in value if isinstance(value, list) else [value]:
            print(f"{name:18} {one}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
