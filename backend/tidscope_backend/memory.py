"""Keeps the backend's memory small: what reading a run needed goes back to the system."""

import ctypes

import pyarrow as pa

_M_ARENA_MAX = -8
"""malloc.h of the GNU C library."""


def limit_allocators() -> None:
    """Tell the allocators to keep little; call it early.

    Arrow's own pool keeps some hundred megabytes for good after a large run was read: it returns
    memory by the thread that used it, and those of readers rest. The C library's can be trimmed.
    """
    pa.set_memory_pool(pa.system_memory_pool())
    libc = ctypes.CDLL(None)
    if hasattr(libc, "mallopt"):
        # By default each of the threads that read gets an arena of its own, and keeps it.
        libc.mallopt(_M_ARENA_MAX, 2)


def release_freed_memory() -> None:
    """Return what was freed to the system; takes milliseconds, without the interpreter's lock."""
    pa.system_memory_pool().release_unused()
