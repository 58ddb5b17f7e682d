"""Control groups that tests make, wherever they are mounted."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from capabilities import missing

GROUPS = Path("/sys/fs/cgroup")
MOUNTED = [
    name for name in (".", "cpuacct", "unified") if (GROUPS / name / "cgroup.procs").exists()
]
"""Mounts in which groups are followed; where version 2 is the only one, it is GROUPS itself."""


@contextmanager
def control_group(mount: str, path: str) -> Iterator[Path]:
    """A control group below one of MOUNTED; whoever is in it at its end goes to the root.

    Args:
        mount: name of the mount.
        path: of the group below it.
    """
    root = GROUPS / mount
    made: list[Path] = []
    try:
        for folder in reversed([root / path, *(root / path).parents]):
            if not folder.exists():
                folder.mkdir()
                made.append(folder)
    except OSError as error:
        _remove(made, root)
        raise missing("cpu-quota", str(error)) from error
    try:
        yield root / path
    finally:
        _remove(made, root)


def _remove(made: Sequence[Path], root: Path) -> None:
    for folder in reversed(made):
        for left in (folder / "cgroup.procs").read_text().split():
            (root / "cgroup.procs").write_text(left)
        folder.rmdir()


def move(pid: int, folder: Path) -> None:
    """Move a process into a control group."""
    (folder / "cgroup.procs").write_text(str(pid))
