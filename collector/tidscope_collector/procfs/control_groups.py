"""Control groups of a process: where the files of a controller are, in both versions.

Sources: the kernel's admin-guide/cgroup-v2.rst and admin-guide/cgroup-v1/cgroups.rst.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tidscope_collector.procfs.files import ProcFs

GROUPS = Path("/sys/fs/cgroup")
_MAX_BYTES = 1 << 16
_DEEPEST = 64


class ControlGroup(NamedTuple):
    """A group in which a process is, or one above it.

    Attributes:
        folder: its folder.
        version: version of the interface whose files are in the folder, 1 or 2.
    """

    folder: Path
    version: int

    def read(self, name: str) -> str:
        """Return a file of the group; empty if it does not exist."""
        try:
            return ProcFs(self.folder).read(name, _MAX_BYTES).decode(errors="replace")
        except OSError:
            return ""

    def number(self, name: str) -> int | None:
        """Return the number in a file; None if there is none, such as `max` or -1."""
        text = self.read(name).strip()
        return int(text) if text.isdecimal() else None

    def counts(self, name: str) -> dict[str, int]:
        """Return the counts in a file with lines that end in a number, by what is before it."""
        found: dict[str, int] = {}
        for line in self.read(name).splitlines():
            key, _, value = line.rpartition(" ")
            if value.isdecimal():
                found[key] = int(value)
        return found


class Memberships(NamedTuple):
    """The control groups in which a process is.

    Attributes:
        listed: /proc/PID/cgroup; empty if it cannot be read.
        groups: mount point of control groups.
    """

    listed: str
    groups: Path

    def of(self, controller: str) -> Iterator[ControlGroup]:
        """Yield the groups that may limit the process, from its own up to the machine's.

        Args:
            controller: a controller, by its name in version 1, such as `cpu`.
        """
        for line in self.listed.splitlines():
            number, _, rest = line.partition(":")
            controllers, _, path = rest.partition(":")
            # A path outside our own root does not refer to what is mounted here.
            if not path.startswith("/") or path.startswith("/.."):
                continue
            if number == "0" and not controllers:
                for root in (self.groups, self.groups / "unified"):
                    yield from (ControlGroup(folder, 2) for folder in _chain(root, path))
            elif controller in controllers.split(","):
                roots = (self.groups / controllers, self.groups / controller)
                root = next((one for one in roots if one.is_dir()), self.groups / controller)
                yield from (ControlGroup(folder, 1) for folder in _chain(root, path))


def memberships(procfs: ProcFs, pid: int, groups: Path = GROUPS) -> Memberships:
    """Read in which control groups a process is.

    Args:
        procfs: root of /proc.
        pid: process ID.
        groups: mount point of control groups.
    """
    try:
        listed = procfs.read(f"{pid}/cgroup", _MAX_BYTES).decode(errors="replace")
    except OSError:
        listed = ""
    return Memberships(listed, groups)


def _chain(root: Path, path: str) -> Iterator[Path]:
    """Yield the folders from a group up to the root, whose limits are the machine's."""
    folder = root / path.lstrip("/")
    for _ in range(_DEEPEST):
        yield folder
        if folder == root:
            return
        folder = folder.parent
