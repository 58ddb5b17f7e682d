"""Faults between processes, and the same without them: processes.py KIND fault|healthy.

benchmarks/incident_processes.py says what each is. They run until they are ended; their processes
are in one process group. They need the packages of requirements-dev.lock.
"""

import multiprocessing
import sqlite3
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import filelock

FAULT = sys.argv[2] == "fault"
PROCESSES = multiprocessing.get_context("fork")


def compute(seconds: float) -> None:
    """Use a CPU for some time."""
    end = time.process_time() + seconds
    while time.process_time() < end:
        sum(range(500))


def start(name: str, work: Callable[..., None], *arguments: object) -> None:
    """Run work in a process of its own, whose name in the kernel is given."""

    def begin() -> None:
        Path("/proc/self/comm").write_text(name)
        work(*arguments)

    PROCESSES.Process(target=begin, daemon=True).start()


def sqlite_writers() -> None:
    """Six processes write to one SQLite file in transactions of 60 ms, or each to its own file."""

    def write(file: Path) -> None:
        store = sqlite3.connect(file, timeout=600, isolation_level=None)
        store.execute("PRAGMA synchronous=OFF")
        store.execute("CREATE TABLE IF NOT EXISTS sales (amount INTEGER)")
        while True:
            store.execute("BEGIN IMMEDIATE")
            store.execute("INSERT INTO sales VALUES (1)")
            time.sleep(0.055)
            compute(0.005)
            store.execute("COMMIT")
            time.sleep(0.05)

    folder = Path(tempfile.mkdtemp())
    for number in range(6):
        start("bookkeeper", write, folder / ("sales" if FAULT else f"sales-{number}"))


def process_pool() -> None:
    """A pool of three processes for jobs of 0.2 s: 30 a second come, or three."""
    pool = PROCESSES.Pool(3)

    def arrive() -> None:
        while True:
            pool.apply_async(time.sleep, (0.2,))
            time.sleep(1 / 30 if FAULT else 1 / 3)

    threading.Thread(target=arrive, name="acceptor", daemon=True).start()


def file_lock() -> None:
    """Five processes write reports under one lock of the package filelock, which looks for it by
    timers; the twin's each have a lock."""

    def write(file: Path) -> None:
        lock = filelock.FileLock(file)
        while True:
            with lock:
                time.sleep(0.06)
                compute(0.002)
            time.sleep(0.02 if FAULT else 0.1)

    folder = Path(tempfile.mkdtemp())
    for number in range(5):
        start("reporter", write, folder / ("lock" if FAULT else f"lock-{number}"))


def full_pipe() -> None:
    """Four processes send pictures to one that compresses them all, over a pipe: it is full."""
    queue: multiprocessing.SimpleQueue[bytes] = PROCESSES.SimpleQueue()
    picture = bytes(200_000)

    def load() -> None:
        while True:
            compute(0.002)
            queue.put(picture)
            time.sleep(0 if FAULT else 0.2)

    def compress() -> None:
        while True:
            queue.get()
            compute(0.02 if FAULT else 0.001)

    for _ in range(4):
        start("loader", load)
    start("compressor", compress)


def main() -> None:
    """Run one."""
    kinds = {
        "sqlite-writers": sqlite_writers,
        "full-pipe": full_pipe,
        "file-lock": file_lock,
        "process-pool": process_pool,
    }
    kinds[sys.argv[1]]()
    print("ready", flush=True)
    while True:
        time.sleep(3600)


main()
