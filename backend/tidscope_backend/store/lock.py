"""The lock that keeps two backends from writing to one run."""

import fcntl
import os

from tidscope_backend.store.folder import RunFolder


class RunLock:
    """An exclusive lock (flock) on a run folder, held until released or until this process ends.

    Two backends may share a runs directory; neither touches what the other records.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, folder: RunFolder) -> "RunLock | None":
        """Lock a run; None if another process holds its lock. Raises OSError."""
        descriptor = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            pass  # The file system has no locks: nothing keeps others out.
        return cls(descriptor)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
