"""The trash: deleted runs can be restored for an hour, then they are removed."""

import os
import shutil
import time
from pathlib import Path

from tidscope_wire.problems import refusal

from tidscope_backend.store.directory import TRASH, RunsDirectory
from tidscope_backend.store.folder import RunFolder

KEPT_SECONDS = 3600.0


def delete(folder: RunFolder, unix_s: float) -> None:
    """Move a run to the trash. Raises OSError."""
    trash = folder.path.parent / TRASH
    trash.mkdir(mode=0o700, exist_ok=True)
    # The folder's own time is that of the deletion; set first, so that it is never too old.
    os.utime(folder.path, (unix_s, unix_s))
    folder.path.rename(trash / folder.path.name)


def restore(home: RunsDirectory, run_id: str) -> RunFolder:
    """Move a run out of the trash.

    Raises:
        ProblemError: it is not there.
        OSError: it cannot be moved.
    """
    deleted = home.deleted(run_id)
    back = home.make() / run_id
    if back.exists():
        raise refusal("bad-run", f"run {run_id} exists already", "delete that one first")
    deleted.path.rename(back)
    return RunFolder(back)


def purge(home: RunsDirectory, unix_s: float, kept_s: float = KEPT_SECONDS) -> list[Path]:
    """Remove runs deleted longer ago; a failure is retried next time."""
    old = [path for path in home.all_deleted() if _deleted_at(path) <= unix_s - kept_s]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return old


def _deleted_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()
