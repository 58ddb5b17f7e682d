"""Waiting for one descriptor, whatever its number.

select(2) knows descriptors below 1024 only. With many targets a collector has higher ones.
"""

import select
from typing import Protocol


class HasFileno(Protocol):
    """Anything with a descriptor, such as a socket."""

    def fileno(self) -> int:
        """Return the descriptor."""


def is_readable(descriptor: int | HasFileno, timeout_s: float = 0) -> bool:
    """Return True once reading would not wait (for a pidfd: once the process has ended).

    Args:
        descriptor: open descriptor, or what has one.
        timeout_s: maximum wait, in seconds.
    """
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))
