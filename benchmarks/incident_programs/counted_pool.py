"""A pool that an agent counts, and whose operations dip: counted_pool.py fault|healthy.

Its jobs need a lock, which a compaction holds most of the time for five seconds; the twin's does
not. Needs the agent of agents/python on its path.
"""

import sys
import threading
import time
from concurrent.futures import wait

from tidscope_agent import ThreadPoolExecutor, start

FAULT = sys.argv[1] == "fault"
QUIET_S = 20
COMPACTION_S = 5
LOCK = threading.Lock()


def job() -> None:
    """Serve one request."""
    with LOCK:
        sum(range(5000))
    time.sleep(0.004)


def compact() -> None:
    """Hold the lock most of the time for a while."""
    time.sleep(QUIET_S)
    end = time.monotonic() + COMPACTION_S
    while FAULT and time.monotonic() < end:
        with LOCK:
            time.sleep(0.1)
        time.sleep(0.002)


def main() -> None:
    """Serve eight requests at a time."""
    pool = ThreadPoolExecutor(4, name="requests")
    start(pool, upper=8)
    threading.Thread(target=compact, name="compactor").start()
    print("ready", flush=True)
    while True:
        wait([pool.submit(job) for _ in range(8)])
        time.sleep(0.01)


main()
