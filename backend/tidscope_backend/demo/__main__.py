"""`python -m tidscope_backend.demo`: about thirty threads that compute, write, talk and wait.

Uses well under half a core and a few MiB of unnamed files. Prints `ready` on standard output once
all threads run. Ends on SIGTERM or SIGINT, and with its parent.

Its pool has the Python agent, so that a policy can optimise its size. Requests share a cache. With
few workers, each further one adds throughput. With many, concurrent requests evict each other's
blocks and reload them. The pool starts too large, and stays so until steered.

The agent is in the wheel, at `tidscope_backend/agent_python`, and in a checkout at `agents/python`.
"""

import argparse
import hashlib
import os
import signal
import socket
import sys
import time
from collections import OrderedDict
from functools import partial
from itertools import count
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock, Thread

from tidscope_backend.demo import roles
from tidscope_backend.demo.roles import pause, set_name, start_thread
from tidscope_backend.processes import ParentExitedError, terminate_with_parent

LOAD_S = 0.004


class SharedCache:
    """LRU cache of blocks; a miss loads a block from a store, one at a time.

    Users whose blocks together exceed the cache evict each other's blocks and reload them.

    Args:
        capacity: maximum number of blocks.
        block: content of each block in the store.
    """

    def __init__(self, capacity: int, block: bytes) -> None:
        self._capacity = capacity
        self._block = block
        self._kept: OrderedDict[int, bytes] = OrderedDict()
        self._keeping = Lock()
        self._store = Lock()

    def get(self, key: int) -> bytes:
        """Return the block under a key."""
        with self._keeping:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._store:
            time.sleep(LOAD_S)
        with self._keeping:
            self._kept[key] = self._block
            if len(self._kept) > self._capacity:
                self._kept.popitem(last=False)
        return self._block


_BACKEND = Path(__file__).resolve().parents[1]
PLACES = (_BACKEND / "agent_python", _BACKEND.parents[1] / "agents" / "python")
SIZE = 8
LARGEST = 10
QUEUED = 12
"""Number of queued and running requests: clients send the next one after an answer."""
CACHED_BLOCKS = 14
BLOCKS = 3
ROUNDS = 5
STEP_S = 0.003
BLOCK = bytes(range(256)) * 64


def requests(stop: Event) -> None:
    """Submit requests to a pool until `stop` is set.

    Without a folder for the agent's socket, the pool works without an agent.
    """
    sys.path.extend(str(place) for place in PLACES if place.is_dir())
    from tidscope_agent import NoSocketFolderError, ThreadPoolExecutor, start

    cache = SharedCache(CACHED_BLOCKS, BLOCK)
    places = BoundedSemaphore(QUEUED)
    number = 0
    # Threads of pool and agent started here inherit the name; workers set other names.
    set_name("tidscope-agent")
    workers = count(1)
    with ThreadPoolExecutor(
        SIZE, name="requests", initializer=lambda: set_name(f"request-{next(workers)}")
    ) as pool:
        try:
            agent = start(pool, upper=LARGEST)
        except NoSocketFolderError:
            agent = None
        set_name("clients")
        while not stop.is_set():
            if places.acquire(timeout=0.5):
                number += 1
                answer = pool.submit(_request, stop, cache, number)
                answer.add_done_callback(lambda _: places.release())
        pool.shutdown(cancel_futures=True)
        if agent is not None:
            agent.close()


def _request(stop: Event, cache: SharedCache, number: int) -> str:
    """Go repeatedly through a few blocks; every hundredth request fails."""
    digest = hashlib.blake2b()
    for step in range(BLOCKS * ROUNDS):
        digest.update(cache.get(BLOCKS * number + step % BLOCKS))
        if pause(stop, STEP_S):
            break
    if number % 100 == 0:
        raise ValueError(f"request {number} is not to be answered")
    return digest.hexdigest()


JOIN_SECONDS = 2
ENDING = frozenset({signal.SIGTERM, signal.SIGINT})


def start_all(stop: Event, listener: socket.socket) -> list[Thread]:
    """Start every role."""
    address: tuple[str, int] = listener.getsockname()
    threads = [start_thread("net-server", partial(roles.net_server, stop, listener))]
    for n in range(1, 5):
        threads.append(start_thread(f"hash-worker-{n}", partial(roles.hash_worker, stop, n)))
    for n in range(1, 3):
        threads.append(start_thread(f"zip-worker-{n}", partial(roles.zip_worker, stop, n)))
        threads.append(start_thread(f"disk-writer-{n}", partial(roles.disk_writer, stop, n)))
    ledger = Lock()
    for n in range(1, 4):
        threads.append(start_thread(f"net-client-{n}", partial(roles.net_client, stop, address, n)))
        threads.append(start_thread(f"account-{n}", partial(roles.account, stop, ledger)))
    threads.append(start_thread("reader", partial(roles.reader, stop)))
    threads.append(start_thread("sleeper", partial(roles.sleeper, stop)))
    threads.append(start_thread(roles.STAGES[0], partial(roles.stage, stop)))
    threads.append(start_thread("clients", partial(requests, stop)))
    threads.append(start_thread("spawner", partial(roles.spawner, stop)))
    return threads


def main() -> int:
    """Run until a signal."""
    argparse.ArgumentParser(
        prog="python -m tidscope_backend.demo",
        description="A program with many threads to look at.",
    ).parse_args()
    stop = Event()
    try:
        terminate_with_parent(os.getppid())
    except ParentExitedError as error:
        print(error, file=sys.stderr)
        return 1
    # Block signals before any thread starts, so that all threads inherit the mask and `sigwait`
    # gets the signals. A handler that sets the event could run while this thread holds the event's
    # lock.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    set_name("tidscope-demo")
    with socket.create_server(("127.0.0.1", 0)) as listener:
        threads = start_all(stop, listener)
        print("ready", flush=True)
        signal.sigwait(ENDING)
        stop.set()
        for thread in threads:
            thread.join(JOIN_SECONDS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
