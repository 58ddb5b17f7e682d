"""An example: a service with a pool that tidscope reads and steers.

Each line of its input is a number of requests to serve; it logs what it measured itself. Start it
with `python service.py`, attach to it, and type numbers.
"""

import json
import sys
import threading
import time
from concurrent.futures import Future, wait

from tidscope_agent import ThreadPoolExecutor, start

NUMBERS = ("finished", "failed", "response_ns", "queue_wait_ns", "run_ns")


class Log:
    """Cumulative measurements that the service makes itself."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.totals = dict.fromkeys(NUMBERS, 0)

    def note(self, queued_ns: int, started_ns: int, *, failed: bool) -> None:
        """A request is served."""
        now_ns = time.monotonic_ns()
        grown = (1, failed, now_ns - queued_ns, started_ns - queued_ns, now_ns - started_ns)
        with self._lock:
            for name, value in zip(NUMBERS, grown, strict=True):
                self.totals[name] += value


def serve(number: int, queued_ns: int, log: Log) -> None:
    """Serve a request; every fiftieth fails."""
    started_ns = time.monotonic_ns()
    time.sleep((1 + number % 3) / 1000)
    failed = number % 50 == 0
    log.note(queued_ns, started_ns, failed=failed)
    if failed:
        raise ValueError(f"request {number} cannot be served")


def main() -> None:
    """Serve until the end of the input."""
    log = Log()
    with ThreadPoolExecutor(4, name="requests") as pool:
        agent = start(pool, upper=16)
        print("ready", agent.path, flush=True)
        for line in sys.stdin:
            jobs: list[Future[None]] = [
                pool.submit(serve, number, time.monotonic_ns(), log) for number in range(int(line))
            ]
            wait(jobs)
            print(json.dumps(log.totals), flush=True)


if __name__ == "__main__":
    main()
