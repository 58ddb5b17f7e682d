"""The runs directory: where runs and deleted runs are."""

import os
from collections.abc import Iterator
from pathlib import Path

from tidscope_wire.problems import refusal

from tidscope_backend.store.errors import unwritable
from tidscope_backend.store.folder import RUN_ID, RunFolder

TRASH = ".deleted"


class RunsDirectory:
    """Holds one folder a run. It is created with the first run.

    Args:
        path: the directory; None: this backend stores no runs.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def make(self) -> Path:
        """Create the directory, readable by its user only.

        Raises:
            ProblemError: it cannot be created.
        """
        if self.path is None:
            raise refusal(
                "runs-unavailable",
                "this backend has no folder for runs",
                "set TIDSCOPE_RUNS to a folder that it may write to, and start it again",
            )
        try:
            self.path.mkdir(parents=True, mode=0o700, exist_ok=True)
        except OSError as error:
            raise unwritable(self.path, error) from None
        return self.path

    def folder(self, run_id: str) -> RunFolder:
        """Find a run, damaged or not.

        Raises:
            ProblemError: there is none.
        """
        return self._found(self.path, run_id)

    def deleted(self, run_id: str) -> RunFolder:
        """Find a run in the trash. Raises as `folder`."""
        return self._found(self.path and self.path / TRASH, run_id)

    def has(self, run_id: str) -> bool:
        """Whether a run has this id, runs in the trash included."""
        return any(path.name == run_id for path in (*self.all(), *self.all_deleted()))

    def all(self) -> list[Path]:
        """All folders of runs, by name."""
        return sorted(_folders(self.path))

    def all_deleted(self) -> list[Path]:
        """The folders of runs in the trash."""
        return sorted(_folders(self.path and self.path / TRASH))

    def free_bytes(self) -> int:
        """Free bytes on its disk; 0 if unknown."""
        for place in () if self.path is None else (self.path, *self.path.parents):
            try:
                disk = os.statvfs(place)
            except OSError:
                continue  # It is made later.
            return disk.f_bavail * disk.f_frsize
        return 0

    @staticmethod
    def _found(parent: Path | None, run_id: str) -> RunFolder:
        # The pattern leaves no room for another folder's path.
        if parent is None or not RUN_ID.match(run_id) or not (parent / run_id).is_dir():
            raise refusal(
                "unknown-run", f"there is no run {run_id!r}", "choose one from the list of runs"
            )
        return RunFolder(parent / run_id)


def _folders(parent: Path | None) -> Iterator[Path]:
    if parent is None:
        return
    try:
        entries = list(os.scandir(parent))
    except OSError:
        return
    for entry in entries:
        if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield parent / entry.name
