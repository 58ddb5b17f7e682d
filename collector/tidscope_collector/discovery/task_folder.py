"""Listing of threads by /proc/PID/task, which works on every kernel."""

import os
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.threads.reading import TargetExitedError


@dataclass(frozen=True, slots=True)
class Threads:
    """The threads of a process.

    Attributes:
        tid: uint32[n], in kernel order.
        idle: bool[n], True if a thread has certainly not run since the previous listing; None if
            unknown.
    """

    tid: npt.NDArray[np.uint32]
    idle: npt.NDArray[np.bool_] | None = None


class ThreadLister(Protocol):
    """Lists the threads of one process."""

    def list_threads(self) -> Threads:
        """Return the current threads.

        Raises:
            TargetExitedError: the process has ended.
            OSError: the kernel refused.
        """

    def close(self) -> None:
        """Release resources; no further listing is possible."""


class TaskFolder:
    """A `ThreadLister` over /proc/PID/task.

    Args:
        procfs: root of /proc.
        pid: process ID.

    Raises:
        TargetExitedError: the process has ended.
    """

    def __init__(self, procfs: ProcFs, pid: int) -> None:
        self._pid = pid
        try:
            self._folder = os.open(
                procfs.path(f"{pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
            )
        except (FileNotFoundError, ProcessLookupError) as error:
            raise TargetExitedError(f"process {pid} has ended") from error
        self._names: list[str] = []
        self._threads = Threads(np.empty(0, np.uint32))

    def list_threads(self) -> Threads:
        """Return the threads; whether they have run is unknown.

        Raises:
            TargetExitedError: the process has ended.
        """
        try:
            names = os.listdir(self._folder)
        except (FileNotFoundError, ProcessLookupError) as error:
            raise TargetExitedError(f"process {self._pid} has ended") from error
        if not names:  # readdir(3) reports the kernel's ENOENT as the end of the folder
            raise TargetExitedError(f"process {self._pid} has ended")
        if names != self._names:
            self._names = names
            self._threads = Threads(np.array([int(name) for name in names], np.uint32))
        return self._threads

    def close(self) -> None:
        """Close the folder. Idempotent."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
