"""Keeps the backend's memory small: what reading a run needed goes back to the system."""

import ctypes

MAPPED_BYTES = 1 << 20
"""Buffers of this size and above are mappings of their own, which go back when they are freed."""
_M_MMAP_THRESHOLD = -3


def map_large_buffers() -> None:
    """Fix the size from which on buffers are mappings of their own; see mallopt(3).

    glibc raises it with each of them that is freed. Then large buffers come from the heap, among
    small ones that stay. To be called first: what is imported later is smaller, too.
    """
    # Other C libraries do not have it, and map large buffers anyway.
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(_M_MMAP_THRESHOLD, MAPPED_BYTES)


def release_freed_memory() -> None:
    """Return what was freed to the system; takes milliseconds, without the interpreter's lock."""
    import pyarrow as pa

    # With the system's allocator (see the package's __init__) this trims all that is the C
    # library's, arrays of numpy included.
    pa.default_memory_pool().release_unused()
