"""Keeps the collector's memory small: what bursts needed goes back to the system."""

import ctypes

import pyarrow as pa

_M_TRIM_THRESHOLD = -1  # malloc.h of the GNU C library
_M_MMAP_THRESHOLD = -3
_M_ARENA_MAX = -8
_LARGE_BYTES = 512 << 10
_PR_SET_THP_DISABLE = 41  # linux/prctl.h


def limit_allocators() -> None:
    """Tell the allocators to keep little; call it early. Without the GNU C library only Arrow's.

    glibc raises the size from which it takes memory from the system up to 32 MiB as such pieces are
    freed, and then keeps them; a frame or an array of counters is up to a MiB here.
    """
    # Arrow's own pool keeps 10 to 20 MB, for frames of 100 KB.
    pa.set_memory_pool(pa.system_memory_pool())
    libc = ctypes.CDLL(None)
    # Huge pages would be filled by a part only: 7 MB.
    libc.prctl(_PR_SET_THP_DISABLE, 1, 0, 0, 0)
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_MMAP_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_TRIM_THRESHOLD, _LARGE_BYTES)
        libc.mallopt(_M_ARENA_MAX, 2)


def release_freed_memory() -> None:
    """Return what was freed; takes milliseconds.

    Once all is set up that is most: the kernel's types (BTF), which libbpf reads to load a program.
    """
    libc = ctypes.CDLL(None)
    if hasattr(libc, "malloc_trim"):
        libc.malloc_trim(0)
