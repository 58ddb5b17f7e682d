"""Cost of a thread-sample: CPU microseconds (user + system) of the sampling process.

Compares tidscope's sampler (discovery, query, decode) with a minimal C loop over the same genetlink
requests, pidstat -t, top -H, psutil and pyroute2, interleaved in one run; medians of the rounds.
tidscope is measured twice: `tidscope_us` asks for every thread each time, as if all had run, like
the others; `tidscope_idle_us` is what it does when no thread has run since the sample before.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import psutil
from pyroute2 import TaskStats
from running import build
from tidscope_collector.discovery.task_folder import TaskFolder, ThreadLister, Threads
from tidscope_collector.discovery.task_iterator import TaskIterators, load
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.taskstats.link import probe
from tidscope_collector.taskstats.reader import BatchQuery, TaskstatsReader

TARGET = """
import sys, threading
threading.stack_size(65536)
hold = threading.Event()
for _ in range(int(sys.argv[1]) - 1):
    threading.Thread(target=hold.wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.read()
"""


def cpu_us(who: int) -> float:
    """User and system CPU time so far, microseconds."""
    used = resource.getrusage(who)
    return (used.ru_utime + used.ru_stime) * 1e6


def in_process(action: Callable[[], object], repeat: int, threads: int) -> float:
    """CPU of an action in this process, microseconds a thread-sample."""
    action()
    before = cpu_us(resource.RUSAGE_SELF)
    for _ in range(repeat):
        action()
    return (cpu_us(resource.RUSAGE_SELF) - before) / repeat / threads


def as_child(command: list[str], samples: int, threads: int) -> float:
    """CPU of a child that takes so many samples, microseconds a thread-sample."""
    before = cpu_us(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "LC_ALL": "C", "TERM": "dumb"}
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, env=environment)
    return (cpu_us(resource.RUSAGE_CHILDREN) - before) / samples / threads


class AllHaveRun:
    """A lister that says of no thread that it has not run."""

    def __init__(self, lister: ThreadLister) -> None:
        self.lister = lister

    def list_threads(self) -> Threads:
        return replace(self.lister.list_threads(), idle=None)

    def close(self) -> None:
        self.lister.close()


def listers(pid: int) -> Callable[[], ThreadLister]:
    """Thread listers of the collector: the task iterator, and the folder in /proc."""
    found = load(ProcFs())
    if isinstance(found, TaskIterators):
        return lambda: found.over(pid)
    print(f"no task iterator: {found.reason}", file=sys.stderr)
    return lambda: TaskFolder(ProcFs(), pid)


def tidscope(pid: int, lister: ThreadLister) -> Callable[[], object]:
    """tidscope's sampler, end to end."""
    query = BatchQuery(probe())
    reader = TaskstatsReader(query, pid, delay_accounting=False, delays_from_ns=0)
    return IdleSkippingReader(lister, reader).read


def pyroute2_sample(pid: int, most: int) -> Callable[[], object]:
    """The generic decoder of pyroute2, over some of the threads."""
    link = TaskStats()
    link.bind()
    tids = [int(name) for name in os.listdir(f"/proc/{pid}/task")[:most]]
    return lambda: [link.get_pid_stat(tid) for tid in tids]


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="CPU cost of a thread-sample.")
    parser.add_argument("--threads", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    count: int = arguments.threads
    results: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        loop = build("c_loop", Path(folder))
        target = subprocess.Popen(
            [sys.executable, "-c", TARGET, str(count)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        try:
            assert target.stdout is not None
            target.stdout.readline()
            pid, few = target.pid, min(count, 100)
            lister, process = listers(pid), psutil.Process(pid)
            ours = tidscope(pid, AllHaveRun(lister()))
            idle = tidscope(pid, lister())
            generic = pyroute2_sample(pid, few)
            family = str(probe().family)
            peers: dict[str, Callable[[], float]] = {
                "tidscope_us": lambda: in_process(ours, 20, count),
                "tidscope_idle_us": lambda: in_process(idle, 20, count),
                "c_loop_us": lambda: as_child([str(loop), family, str(pid), "20"], 20, count),
                "pidstat_us": lambda: as_child(
                    ["pidstat", "-t", "-p", str(pid), "1", "2"], 3, count
                ),
                "top_us": lambda: as_child(
                    ["top", "-H", "-b", "-n", "3", "-d", "0.1", "-p", str(pid)], 3, count
                ),
                "psutil_us": lambda: in_process(process.threads, 3, count),
                "pyroute2_us": lambda: in_process(generic, 1, few),
            }
            for _ in range(arguments.rounds):
                for name, measure in peers.items():
                    results.setdefault(name, []).append(measure())
        finally:
            target.kill()
            target.wait()
    figures = {name: round(statistics.median(values), 3) for name, values in results.items()}
    figures |= {"threads": count, "rounds": arguments.rounds, "unix_s": round(time.time())}
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:16} {value:10}")
        base = figures["tidscope_us"]
        for name in ("c_loop_us", "pidstat_us", "pyroute2_us"):
            print(f"{name} / tidscope_us = {figures[name] / base:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
