"""Keeps the backend's memory small: what reading a run needed goes back to the system."""

import pyarrow as pa


def release_freed_memory() -> None:
    """Return what was freed to the system; takes milliseconds, without the interpreter's lock."""
    # With the system's allocator (see the package's __init__) this trims all that is the C
    # library's, arrays of numpy included.
    pa.default_memory_pool().release_unused()
