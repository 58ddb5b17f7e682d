"""Loads the compiled code."""

import ctypes
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast

LIBRARY = Path(__file__).with_name("usual_tick.so")
USUAL, OTHER_THREADS, ODD, EXITS, TO_COMPLETE, NO_ROOM, WANTED = range(7)
"""What its functions return; -errno where the kernel refused. See common.h."""

Function = Callable[[int], int]
"""Takes the address of a struct."""


class Compiled(NamedTuple):
    """Its functions.

    Attributes:
        tick: takes a sample and makes the frame of it, if there is nothing that cannot wait.
        frame: makes the frame where `tick` stopped before that.
        ticks: takes one after the other.
        lock: takes the lock of a connection; waits until it is free.
        unlock: lets go of it.
    """

    tick: Function
    frame: Function
    ticks: Function
    lock: Function
    unlock: Function


def load(path: Path = LIBRARY) -> Compiled | None:
    """The compiled code; None where this processor cannot run it."""
    if platform.machine() != "x86_64" or not os.access(path, os.R_OK):
        return None
    library = ctypes.CDLL(str(path))
    names = "usual_tick frame_of_tick usual_ticks lock_link unlock_link"
    functions = [getattr(library, name) for name in names.split()]
    for function in functions:
        function.argtypes, function.restype = (ctypes.c_void_p,), ctypes.c_long
    return Compiled(*(cast(Function, function) for function in functions))
