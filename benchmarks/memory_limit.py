"""A limit of the memory that a process may take in addition to what it has."""

import os
import resource
from contextlib import suppress
from pathlib import Path

import psutil

GROUPS = Path("/sys/fs/cgroup")
VERSION_2 = ("memory.max", "max")
VERSION_1 = ("memory.limit_in_bytes", "-1")


class MemoryLimit:
    """Limits processes by a control group where there is one for memory, else by RLIMIT_AS.

    A process that is moved into a control group leaves the account of the pages that it has where
    it was, so that the limit is of what it takes from then on.

    Args:
        pids: processes.
        more_bytes: what they may take together; by RLIMIT_AS each for itself, of address space.

    Attributes:
        means: how they are limited, for people.
    """

    def __init__(self, pids: list[int], more_bytes: int) -> None:
        self._pids = pids
        self._group: Path | None = None
        self._back: dict[int, Path] = {}
        root, (file, self._none) = _memory_groups()
        if root is None:
            self.means = "RLIMIT_AS"
            for pid in pids:
                limit = psutil.Process(pid).memory_info().vms + more_bytes
                resource.prlimit(pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))
            return
        self.means = f"cgroup {file}"
        self._limit = root / f"tidscope-faults-{os.getpid()}-{pids[0]}" / file
        self._group = self._limit.parent
        self._group.mkdir()
        self._limit.write_text(str(more_bytes))
        for pid in pids:
            # Short-lived ones may have ended.
            with suppress(FileNotFoundError, ProcessLookupError):
                self._back[pid] = root / _own_group(pid, root)
                (self._group / "cgroup.procs").write_text(str(pid))

    def lift(self) -> None:
        """Remove the limit."""
        if self._group is None:
            for pid in self._pids:
                with suppress(ProcessLookupError):
                    unlimited = (resource.RLIM_INFINITY, resource.RLIM_INFINITY)
                    resource.prlimit(pid, resource.RLIMIT_AS, unlimited)
            return
        self._limit.write_text(self._none)
        home = next(iter(self._back.values()), self._group.parent)
        # A member may start another one meanwhile.
        for _ in range(10):
            for pid in map(int, (self._group / "cgroup.procs").read_text().split()):
                with suppress(ProcessLookupError):
                    (self._back.get(pid, home) / "cgroup.procs").write_text(str(pid))
        with suppress(OSError):
            # The kernel removes it once its dead members are reaped.
            self._group.rmdir()


def _memory_groups() -> tuple[Path | None, tuple[str, str]]:
    """The mount in which memory is limited, and its file with what stands for no limit."""
    with suppress(OSError):
        if "memory" in (GROUPS / "cgroup.subtree_control").read_text().split():
            return GROUPS, VERSION_2
    if (GROUPS / "memory" / VERSION_1[0]).exists():
        return GROUPS / "memory", VERSION_1
    return None, VERSION_1


def _own_group(pid: int, root: Path) -> str:
    """Control group of a process, below a mount."""
    for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if ("memory" in controllers.split(",")) == (root != GROUPS):
            return path.lstrip("/")
    return ""
