"""A pool with the Python agent, whose size a policy can optimise.

Requests share a cache. With few workers, each further one adds throughput. With many, concurrent
requests evict each other's blocks and reload them. The pool starts too large, and stays so until
steered.

The agent is in the wheel, at `tidscope_backend/agent_python`, and in a checkout at `agents/python`.
"""

import hashlib
import sys
import time
from collections import OrderedDict
from itertools import count
from pathlib import Path
from threading import BoundedSemaphore, Event, Lock

from tidscope_backend.demo.roles import pause, set_name

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
