"""Lists threads by /proc/PID/task; works everywhere."""

import os

import numpy as np

from tidscope_collector.discovery.threads import Threads
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.threads.reading import TargetExitedError


class TaskFolder:
    """A `ThreadLister` over a folder of threads.

    Args:
        procfs: root of /proc.
        pid: the process.

    Raises:
        TargetExitedError: it has ended.
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
        """List the threads; which of them have run is not known.

        Raises:
            TargetExitedError: there are none any more.
        """
        try:
            names = os.listdir(self._folder)
        except (FileNotFoundError, ProcessLookupError) as error:
            raise TargetExitedError(f"process {self._pid} has ended") from error
        if not names:  # readdir(3) takes the kernel's ENOENT for the end of the folder
            raise TargetExitedError(f"process {self._pid} has ended")
        if names != self._names:
            self._names = names
            self._threads = Threads(np.array([int(name) for name in names], np.uint32))
        return self._threads

    def close(self) -> None:
        """Close the folder; twice does no harm."""
        if self._folder >= 0:
            os.close(self._folder)
            self._folder = -1
