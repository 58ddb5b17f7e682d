"""A pool of threads that serves the requests of a trace, again and again.

Each request computes for its time, in a loop that was calibrated, and sleeps for a multiple of it.
"""

import argparse
import json
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tidscope_agent import ThreadPoolExecutor, start

LOOPS, TRIES = 20_000, 9


class Request(NamedTuple):
    """A line of the trace; times in µs."""

    number: int
    application: int
    start_us: int
    execution_us: int


class Figures:
    """Operations, and the time that they waited in the queue."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.begin()

    def begin(self) -> None:
        """Reset the counts."""
        with self._lock:
            self._began, self._ops, self._waits, self._waited_s = time.monotonic(), 0, 0, 0.0

    def end(self) -> dict[str, float]:
        """Return the counts."""
        with self._lock:
            found = {"ops": self._ops, "elapsed_s": time.monotonic() - self._began}
            if self._waits:
                found["wait_us"] = self._waited_s / self._waits * 1e6
            return found

    def waited(self, seconds: float) -> None:
        """Note the start of an operation and its queue wait."""
        with self._lock:
            self._waits += 1
            self._waited_s += seconds

    def done(self) -> None:
        """Count a finished operation."""
        with self._lock:
            self._ops += 1


def read(path: Path) -> list[Request]:
    """Read a trace. Raises ValueError."""
    lines = [line.split() for line in path.read_text().splitlines()]
    trace = [Request(*map(int, line)) for line in lines if line and not line[0].startswith("#")]
    if not trace:
        raise ValueError(f"{path} has no requests")
    return trace


def spin(loops: int) -> None:
    """Compute for a number of loops."""
    for _ in range(loops):
        pass


def calibrate() -> float:
    """Loops per microsecond: the maximum of several tries, since disturbances only slow a try."""
    most = 0.0
    for _ in range(TRIES):
        began = time.perf_counter()
        spin(LOOPS)
        most = max(most, LOOPS / (time.perf_counter() - began) / 1e6)
    return most


def submit(
    pool: ThreadPoolExecutor,
    trace: Sequence[Request],
    places: int,
    options: argparse.Namespace,
    figures: Figures,
) -> None:
    """Submit the requests at their times, up to a bound on queued ones."""
    free, between = options.free_workload, 1e6 * options.load
    loops, taken = calibrate(), threading.BoundedSemaphore(places)

    def serve(one: Request, queued: float) -> None:
        try:
            figures.waited(time.monotonic() - queued)
            spin(round(loops * one.execution_us))
            time.sleep(one.execution_us * free / 1e6)
            figures.done()
        finally:
            taken.release()

    due = time.monotonic()
    while True:
        for one in trace:
            due += one.start_us / between
            time.sleep(max(0.0, due - time.monotonic()))
            if not taken.acquire(blocking=False):
                # The pool is slower than the trace; shift the remaining requests.
                taken.acquire()
                due = time.monotonic()
            pool.submit(serve, one, time.monotonic())


def main() -> None:
    """Serve until the end of the input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trace", type=Path, required=True)
    parser.add_argument("--size", type=int, default=1)
    parser.add_argument("--upper", type=int, default=1)
    parser.add_argument("--free-workload", type=float, default=100)
    parser.add_argument("--queue", type=int, default=64)
    parser.add_argument("--load", type=float, default=1)
    options = parser.parse_args()
    trace, figures = read(options.trace), Figures()
    pool = ThreadPoolExecutor(options.size, name="requests")
    start(pool, upper=max(options.upper, options.size))
    places = options.queue + options.size
    threading.Thread(
        target=submit,
        args=(pool, trace, places, options, figures),
        name="trace",
        daemon=True,
    ).start()
    print(json.dumps({"ready": ""}), flush=True)
    for line in sys.stdin:
        if line not in ("begin\n", "end\n"):
            raise SystemExit(f"{line!r} is neither begin nor end")
        if line == "begin\n":
            figures.begin()
        print(json.dumps({} if line == "begin\n" else figures.end()), flush=True)
    # Waiting would finish all queued jobs first.
    pool.shutdown(wait=False, cancel_futures=True)


if __name__ == "__main__":
    main()
