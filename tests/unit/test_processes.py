"""Large buffers of the backend go back to the system."""

import subprocess
import sys
import weakref

from tidscope_backend.processes import release_freed_memory


class Reader:
    """Holds itself, as readers of runs do."""

    def __init__(self) -> None:
        self.part = self


ALLOCATE = """
import ctypes
from tidscope_backend.processes import map_large_buffers
{prepare}
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]
libc.mallinfo2.restype = Mallinfo
libc.free(libc.malloc(16 << 20))
before = libc.mallinfo2().hblks
kept = libc.malloc(4 << 20)
print(libc.mallinfo2().hblks - before)
"""


def mapped_after_a_larger_one(prepare: str) -> int:
    """How many mappings a buffer of 4 MiB is, once one of 16 MiB was freed."""
    done = subprocess.run(
        [sys.executable, "-c", ALLOCATE.format(prepare=prepare)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_large_buffers_stay_mappings_of_their_own() -> None:
    assert mapped_after_a_larger_one("") == 0
    assert mapped_after_a_larger_one("map_large_buffers()") == 1


def test_what_holds_itself_is_released() -> None:
    reader = weakref.ref(Reader())
    assert reader() is not None
    release_freed_memory()
    assert reader() is None
