"""Keeps the backend's memory small: what reading a run needed goes back to the system."""

import ctypes
import gc

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


def keep_what_is_loaded() -> None:
    """Tell the garbage collector that all objects so far stay, so that its searches are short."""
    gc.collect()
    gc.freeze()


def release_freed_memory() -> None:
    """Return what is not needed any more to the system; takes milliseconds."""
    import pyarrow as pa

    # Readers of runs hold one another, and tables: few objects, for which nobody searches.
    gc.collect()
    # With the system's allocator (see the package's __init__) this trims all that is the C
    # library's, arrays of numpy included.
    pa.default_memory_pool().release_unused()
