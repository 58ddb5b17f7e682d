"""Names of variables as their C++ or Rust source has them, by the C++ library of this machine."""

import ctypes
from collections.abc import Callable, Iterable

LONGEST_NAME = 512

_LIBRARIES = (b"/libstdc++.so", b"/libc++.so")
_PREFIX = "_Z"


def open_demangler(mapped: Iterable[bytes]) -> Callable[[str], str]:
    """What makes names readable; nothing is changed for a program without a C++ library.

    The library is loaded into this process: for a child, before it gives up its rights.

    Args:
        mapped: paths of the files that the program has mapped.
    """
    if not any(library in path for path in mapped for library in _LIBRARIES):
        return _unchanged
    try:
        library = ctypes.CDLL("libstdc++.so.6")
        free = ctypes.CDLL(None).free
        call = library.__cxa_demangle
    except (OSError, AttributeError):
        return _unchanged
    call.restype = ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None

    def demangle(name: str) -> str:
        if not name.startswith(_PREFIX):
            return name
        status = ctypes.c_int()
        made = call(name.encode(), None, None, ctypes.byref(status))
        if not made:
            return name
        text = ctypes.string_at(made)[:LONGEST_NAME].decode("utf-8", "replace")
        free(made)
        return text

    return demangle


def _unchanged(name: str) -> str:
    return name
