"""A pool whose throughput at each size is known: main.py LARGEST BEST PENALTY [SECONDS].

Jobs only wait. Up to BEST of them at a time wait equally long; each one more makes all of them wait
for longer than it adds, by a share PENALTY. SECONDS is how long one alone waits. Works until its
standard input ends.
"""

import sys
import threading
import time

from tidscope_agent import ThreadPoolExecutor, start

WAIT_S = 0.060
LATE_S = 0.3
"""A worker that is later than this was not late: it had no job."""


class Outside:
    """Resource that the jobs wait for."""

    def __init__(self, best: float, penalty: float, wait_s: float) -> None:
        self._best = best
        self._wait_s = wait_s
        self._penalty = penalty
        self._running = 0
        self._lock = threading.Lock()
        self._worker = threading.local()

    def job(self) -> None:
        """Wait as long as so many at a time have to."""
        with self._lock:
            self._running += 1
            running = self._running
        over = max(0.0, running - self._best)
        self._wait(self._wait_s * max(1.0, running / self._best) * (1 + self._penalty * over))
        with self._lock:
            self._running -= 1

    def _wait(self, seconds: float) -> None:
        """Wait; a worker that woke late from its last job waits for less."""
        now = time.monotonic()
        due = max(getattr(self._worker, "due", now), now - LATE_S) + seconds
        self._worker.due = due
        time.sleep(max(0.0, due - now))


def feed(pool: ThreadPoolExecutor, outside: Outside, places: threading.Semaphore) -> None:
    """Keep the queue filled, but not without end."""
    while True:
        places.acquire()
        pool.submit(outside.job).add_done_callback(lambda _: places.release())


def main() -> None:
    """Run."""
    largest = int(sys.argv[1])
    pool = ThreadPoolExecutor(max_workers=1)
    agent = start(pool, lower=1, upper=largest)
    wait_s = float(sys.argv[4]) if len(sys.argv) > 4 else WAIT_S
    outside = Outside(float(sys.argv[2]), float(sys.argv[3]), wait_s)
    places = threading.Semaphore(2 * largest)
    threading.Thread(target=feed, args=(pool, outside, places), daemon=True).start()
    print("ready", agent.path, flush=True)
    sys.stdin.read()
    agent.close()


if __name__ == "__main__":
    main()
