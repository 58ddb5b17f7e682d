"""kernel.task_delayacct for the length of a test: one test at a time, and back as it was."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SWITCH = Path("/proc/sys/kernel/task_delayacct")
_LOCK = Path(tempfile.gettempdir()) / "tidscope-tests-task-delayacct.lock"


def value() -> bool:
    """Whether it is on."""
    return SWITCH.read_text().strip() == "1"


@contextmanager
def kept() -> Iterator[None]:
    """Leave the switch as it was found, whatever happens within; waits for other tests."""
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        before = SWITCH.read_text()
        try:
            yield
        finally:
            if SWITCH.read_text() != before:
                SWITCH.write_text(before)


@contextmanager
def switched(on: bool) -> Iterator[None]:
    """Have it on (or off) within."""
    with kept():
        SWITCH.write_text("1" if on else "0")
        yield
