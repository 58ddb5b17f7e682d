"""TCP ports of the loopback for servers that a test starts.

The kernel assigns ports of its own range to connections, and to servers that ask for any port. One
that a test finds free there may be taken before the test's server listens. Ports below that range
are taken only by servers that name them, and each test worker has a part of them to itself.
"""

import os
import random
import socket
from itertools import count

_FIRST, _PER_WORKER, _PARTS = 16_000, 2_000, 8


def _part() -> int:
    """Part of this worker; one by chance outside of pytest-xdist."""
    number = os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw")
    return int(number) % _PARTS if number.isdigit() else random.SystemRandom().randrange(_PARTS)


_BASE = _FIRST + _PER_WORKER * _part()
_offsets = count(random.SystemRandom().randrange(_PER_WORKER))


def free_port() -> int:
    """A port that nothing listens on. This process gives it again after some thousand others."""
    for _ in range(_PER_WORKER):
        port = _BASE + next(_offsets) % _PER_WORKER
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise AssertionError(f"no port from {_BASE} on is free")


def free_ports(count: int) -> list[int]:
    """Several of them."""
    return [free_port() for _ in range(count)]
