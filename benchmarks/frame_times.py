"""The moments at which frames pass through a program, noted by wrapping its methods.

When the program ends they are written to the file that the variable TIMES names, as JSON: by the
name of the moment, Unix nanoseconds by the number of the frame. Of one target.
"""

import json
import os
import time
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

_noted: dict[str, dict[int, int]] = {}


def note(name: str, seq: int, at_ns: int | None = None) -> None:
    """Note that a frame passes, now or then; the first time counts: pages get the past as well."""
    _noted.setdefault(name, {}).setdefault(seq, at_ns or time.time_ns())


def before(owner: Any, function: str, action: Callable[..., object]) -> None:
    """Call something with the arguments of a method before it runs."""
    inner = getattr(owner, function)

    @wraps(inner)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        action(*arguments, **named)
        return inner(*arguments, **named)

    setattr(owner, function, wrapped)


def after(owner: Any, function: str, action: Callable[[Any], object]) -> None:
    """Call something with what a method returns."""
    inner = getattr(owner, function)

    @wraps(inner)
    def wrapped(*arguments: Any, **named: Any) -> Any:
        result = inner(*arguments, **named)
        action(result)
        return result

    setattr(owner, function, wrapped)


def run(program: Callable[[], int]) -> int:
    """Run a program, and write what was noted when it ends."""
    # Opened now: once it has confined itself, the collector opens no file of ours.
    with Path(os.environ["TIMES"]).open("w") as times:
        try:
            return program()
        finally:
            json.dump(_noted, times)
