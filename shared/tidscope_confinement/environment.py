"""Secrets in the environment of this process, which `/proc/PID/environ` keeps showing.

Removing a variable from `os.environ` leaves its bytes in the process' initial stack, which forked
children inherit.
"""

import ctypes
import os

_libc = ctypes.CDLL(None)
_libc.getenv.restype = ctypes.c_void_p


def take_variable(name: str) -> str:
    """Return a variable, or "", and erase its value from the memory of this process."""
    at = _libc.getenv(name.encode())
    value = os.environ.get(name, "")
    if at is not None:
        ctypes.memset(at, 0, len(ctypes.string_at(at)))
    os.environ.pop(name, None)
    return value
