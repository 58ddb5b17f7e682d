"""Programs whose threads or goroutines compete for locks: CPython, Go, Java."""

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from programs.build import build_go, build_java
from programs.running import RunningProgram

_HERE = Path(__file__).parent
PYTHON = """
import ctypes, sys, threading
# Called with the lock held: it is not released for the time of the call.
sleep_us = ctypes.PyDLL(None).usleep
def compute():
    while True:
        sum(range(1000))
def hold():
    while True:
        sleep_us(1000)
for number in range(int(sys.argv[1])):
    threading.Thread(target=globals()[sys.argv[2]], daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
"""


class Contended(RunningProgram):
    """A running program."""

    def __init__(self, command: Sequence[str | Path]) -> None:
        super().__init__(command)
        self.said = self.line()

    def waited_ns(self) -> int:
        """Return the waits of a Go program's goroutines by its own account."""
        return int(self.ask("\n"))

    def close(self) -> None:
        """Ask it to end: a Java virtual machine removes its socket then."""
        self.terminate()


def contended_python(
    threads: int, interpreter: str = sys.executable, work: str = "compute"
) -> Contended:
    """A CPython program with threads that want the global interpreter lock all the time.

    Args:
        threads: number of threads.
        interpreter: interpreter of CPython.
        work: compute, or hold: sleep with the lock, so that the program needs hardly any CPU.
    """
    return Contended([interpreter, "-c", PYTHON, str(threads), work])


def contended_go(*served: str, flags: tuple[str, ...] = ()) -> Contended:
    """A Go program with a contended mutex.

    Args:
        served: profile, metrics.
        flags: flags of the linker.
    """
    return Contended([build_go(_HERE / "contended.go", *flags), *served])


def contended_java(*options: str, within: Sequence[str] = ()) -> Contended:
    """A Java program with a contended monitor and a contended lock.

    Args:
        options: options of the virtual machine.
        within: command that executes it.
    """
    java = shutil.which("java")
    if java is None:
        raise RuntimeError("no Java virtual machine: java is not in PATH")
    classes = build_java("contended", [_HERE / "Contended.java"])
    return Contended([*within, java, *options, "-cp", classes, "Contended"])


def attach_socket(pid: int, own_pid: int | None = None) -> Path:
    """Path of the attach socket of a Java virtual machine.

    Args:
        pid: ID.
        own_pid: ID as it sees it, if that is another one.
    """
    return Path(f"/proc/{pid}/root{os.sep}tmp/.java_pid{own_pid or pid}")
