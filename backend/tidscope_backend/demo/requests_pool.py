"""A pool of workers whose figures the Python agent reports: requests come in waves, and its size
changes now and then.

The agent is in the wheel, at `tidscope_backend/agent_python`, and in a checkout at `agents/python`.
"""

import hashlib
import sys
import time
from itertools import cycle
from pathlib import Path
from threading import Event

from tidscope_backend.demo.waves import pause, wave

_BACKEND = Path(__file__).resolve().parents[1]
PLACES = (_BACKEND / "agent_python", _BACKEND.parents[1] / "agents" / "python")
SIZES = (4, 6, 3, 8)
RESIZE_S = 15.0
MOST_PER_S = 120
BLOCK = bytes(range(256)) * 64


def requests(stop: Event) -> None:
    """Submit requests to a pool until `stop` is set.

    Without a folder for the agent's socket the pool works all the same, and nobody reads it.
    """
    sys.path.extend(str(place) for place in PLACES if place.is_dir())
    from tidscope_agent import NoSocketFolderError, ThreadPoolExecutor, start

    sizes = cycle(SIZES)
    with ThreadPoolExecutor(next(sizes), "request", name="requests") as pool:
        try:
            agent = start(pool, upper=max(SIZES))
        except NoSocketFolderError:
            agent = None
        resize_s = time.monotonic() + RESIZE_S
        number = 0
        while not stop.is_set():
            now_s = time.monotonic()
            if now_s >= resize_s and agent is not None and not agent.is_steered:
                pool.resize(next(sizes))
                resize_s = now_s + RESIZE_S
            per_s = MOST_PER_S * (0.2 + 0.8 * wave(now_s, 37, 0))
            for _ in range(round(per_s / 10)):
                number += 1
                pool.submit(_request, stop, number)
            if pause(stop, 0.1):
                break
        pool.shutdown(cancel_futures=True)
        if agent is not None:
            agent.close()


def _request(stop: Event, number: int) -> str:
    """Compute a little and wait for something; every hundredth fails."""
    digest = hashlib.blake2b(BLOCK).hexdigest()
    stop.wait(0.02 + 0.002 * (number % 20))
    if number % 100 == 0:
        raise ValueError(f"request {number} is not to be answered")
    return digest
