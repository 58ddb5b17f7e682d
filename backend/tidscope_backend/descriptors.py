"""File descriptors of this process: as many as the system allows, some kept from the network."""

import errno
import resource
import sys

SPARE = 256
"""Kept for runs, sealing, exports and child processes, whatever the network does."""
EXHAUSTED = frozenset({errno.EMFILE, errno.ENFILE})


def raise_descriptor_limit() -> int:
    """Raise the soft limit to the hard one (getrlimit(2), RLIMIT_NOFILE); returns the limit."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def connection_descriptors() -> int:
    """How many descriptors connections may hold: half of a low limit stays for files."""
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return sys.maxsize if limit == resource.RLIM_INFINITY else max(limit - SPARE, limit // 2)


def is_exhausted(error: OSError) -> bool:
    """Whether no descriptor was left, in this process (EMFILE) or on this machine (ENFILE)."""
    return error.errno in EXHAUSTED
