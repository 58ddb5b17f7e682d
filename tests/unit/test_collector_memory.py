"""What the collector has freed goes back to the system, below blocks that stay, too."""

import subprocess
import sys

FRAGMENT = """
import ctypes
import os
from pathlib import Path
from tidscope_collector.service import limit_allocators, release_freed_memory
limit_allocators()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
def pages():
    return int(Path("/proc/self/statm").read_text().split()[1])
def filled():
    block = libc.malloc(1000)
    ctypes.memset(block, 1, 1000)
    return block
blocks = [filled() for _ in range(64_000)]
stays = filled()
for block in blocks:
    libc.free(block)
del blocks
before = pages()
release_freed_memory()
print((before - pages()) * os.sysconf("SC_PAGE_SIZE"))
"""


def test_memory_below_a_block_that_stays_is_returned() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FRAGMENT], capture_output=True, text=True, check=True
    )
    assert int(done.stdout) > 40e6
