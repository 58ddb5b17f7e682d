"""A pool whose jobs wait for something outside, and compute a little: main.py SMALLEST LARGEST.

Jobs wait 10 ms, and compute for 1 ms with the interpreter's lock held. One worker leaves the CPU
idle most of the time; from some ten on they only wait for each other. Works until its standard
input ends.
"""

import sys
import threading
import time

from tidscope_agent import ThreadPoolExecutor, start

WAIT_S = 0.010
COMPUTE_S = 0.001


def job() -> None:
    """Wait, then compute."""
    time.sleep(WAIT_S)
    end = time.thread_time() + COMPUTE_S
    while time.thread_time() < end:
        pass


def feed(pool: ThreadPoolExecutor, places: threading.Semaphore) -> None:
    """Keep the queue filled, but not without end."""
    while True:
        places.acquire()
        pool.submit(job).add_done_callback(lambda _: places.release())


def main() -> None:
    """Run."""
    smallest, largest = int(sys.argv[1]), int(sys.argv[2])
    pool = ThreadPoolExecutor(max_workers=smallest)
    agent = start(pool, lower=1, upper=largest)
    places = threading.Semaphore(2 * largest)
    threading.Thread(target=feed, args=(pool, places), daemon=True).start()
    print("ready", agent.path, flush=True)
    sys.stdin.read()
    agent.close()


if __name__ == "__main__":
    main()
