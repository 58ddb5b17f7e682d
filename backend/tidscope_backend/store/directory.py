"""The runs directory: finding runs by name, writing manifests, and the trash.

Deleted runs can be restored for an hour, and are purged afterwards.
"""

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from tidscope_wire.generated.models import RunManifest
from tidscope_wire.problems import refusal

from tidscope_backend.store.disk import Disk, unwritable
from tidscope_backend.store.folder import RUN_ID, RunFolder

TRASH = ".deleted"


class RunsDirectory:
    """The folder of all runs, created with the first run.

    Args:
        path: path of the directory, or None if this backend stores no runs.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path

    def make(self) -> Path:
        """Create the directory with access for the owner only.

        Raises:
            ProblemError: the directory cannot be created.
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
            ProblemError: the run does not exist.
        """
        return self._found(self.path, run_id)

    def deleted(self, run_id: str) -> RunFolder:
        """Find a run in the trash. Raises as `folder`."""
        return self._found(self.path and self.path / TRASH, run_id)

    def has(self, run_id: str) -> bool:
        """Return True if a run, deleted runs included, has this ID."""
        return any(path.name == run_id for path in (*self.all(), *self.all_deleted()))

    def all(self) -> list[Path]:
        """Return all folders of runs, by name."""
        return sorted(_folders(self.path))

    def all_deleted(self) -> list[Path]:
        """Return the folders of runs in the trash."""
        return sorted(_folders(self.path and self.path / TRASH))

    def free_bytes(self) -> int:
        """Free bytes on the disk, or 0 if unknown."""
        for place in () if self.path is None else (self.path, *self.path.parents):
            try:
                disk = os.statvfs(place)
            except OSError:
                continue  # The folder is created later.
            return disk.f_bavail * disk.f_frsize
        return 0

    @staticmethod
    def _found(parent: Path | None, run_id: str) -> RunFolder:
        # The pattern excludes paths outside the directory.
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


TRASH_SECONDS = 3600.0


def delete_run(folder: RunFolder, unix_s: float) -> None:
    """Move a run to the trash. Raises OSError."""
    trash = folder.path.parent / TRASH
    trash.mkdir(mode=0o700, exist_ok=True)
    # The folder's mtime is the time of deletion. Set it before the move, so that a purge never sees
    # an older time.
    os.utime(folder.path, (unix_s, unix_s))
    folder.path.rename(trash / folder.path.name)


def restore_run(home: RunsDirectory, run_id: str) -> RunFolder:
    """Move a run out of the trash.

    Raises:
        ProblemError: the run is not in the trash.
        OSError: the run cannot be moved.
    """
    deleted = home.deleted(run_id)
    back = home.make() / run_id
    if back.exists():
        raise refusal("bad-run", f"run {run_id} exists already", "delete that one first")
    deleted.path.rename(back)
    return RunFolder(back)


def purge_trash(home: RunsDirectory, unix_s: float, kept_s: float = TRASH_SECONDS) -> list[Path]:
    """Remove runs deleted longer ago than the limit; a failure is retried next time."""
    old = [path for path in home.all_deleted() if _deleted_at(path) <= unix_s - kept_s]
    for path in old:
        shutil.rmtree(path, ignore_errors=True)
    return old


def _deleted_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return time.time()


class RunNotFoundError(LookupError):
    """No run, or several runs, match; the text is the reason."""


def all_runs(runs: Path) -> list[RunManifest]:
    """Return the manifests in a folder, newest first; unreadable ones are omitted."""
    found = []
    try:
        names = os.listdir(runs)
    except FileNotFoundError:
        return []
    for name in names:
        if RUN_ID.match(name):
            try:
                found.append(RunFolder(runs / name).read_manifest())
            except (OSError, ValueError):
                continue
    return sorted(found, key=lambda run: (run.created_unix_us, run.id), reverse=True)


def find_run(runs: Path, called: str) -> Path:
    """Find a run by its ID or name, or by an unambiguous prefix of either.

    Raises:
        RunNotFoundError: no run matches, or several do.
    """
    known = all_runs(runs)
    ways = (
        [run for run in known if called == run.id],
        [run for run in known if called == run.name],
        [run for run in known if run.id.removeprefix("r-").startswith(called.removeprefix("r-"))],
        [run for run in known if run.name.startswith(called)],
    )
    for found in ways if called else ():
        if len(found) == 1:
            return runs / found[0].id
        if found:
            ids = ", ".join(run.id for run in found[:5])
            raise RunNotFoundError(f"{called!r} could be any of {len(found)} runs: {ids}")
    raise RunNotFoundError(f"no run in {runs} is called {called!r}; `tidscope runs` lists them")


def find_runs(runs: Path, called: str) -> list[Path]:
    """Find a run as `find_run` does, or all finished runs of a group of repeats by name.

    The prefixes `run:NAME` and `group:NAME` resolve ambiguity.

    Raises:
        RunNotFoundError: neither a run nor a group matches, several runs match, or both a run and a
            group match.
    """
    kind, colon, name = called.partition(":")
    if colon and kind == "run":
        return [find_run(runs, name)]
    group = name if colon and kind == "group" else called
    known = all_runs(runs)
    # Oldest first: the order in which repeats were recorded.
    repeats = [run for run in reversed(known) if run.group == group and run.state != "recording"]
    if colon and kind == "group":
        if not repeats:
            groups = ", ".join(sorted({run.group for run in known if run.group})) or "none"
            raise RunNotFoundError(f"no finished run is in a group {group!r}; groups: {groups}")
    elif repeats and any(called in (run.id, run.name) for run in known):
        raise RunNotFoundError(
            f"{called!r} is both a run and a group of {len(repeats)} runs: "
            f"write run:{called} or group:{called}"
        )
    return [runs / run.id for run in repeats] if repeats else [find_run(runs, called)]


Change = Callable[[RunManifest], RunManifest]


class ManifestWriter:
    """Updates manifests, in which users and the recorder change different fields.

    Args:
        disk: threads in which manifests are written.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._changing = asyncio.Lock()

    async def update(self, folder: RunFolder, change: Change) -> RunManifest:
        """Read a manifest, change it, update its sizes and write it.

        Raises:
            OSError: the manifest cannot be read or written; the old one is kept.
            ValueError: the manifest is invalid.
        """
        async with self._changing:
            return await self._disk.write(_change, folder, change)


def with_bytes(folder: RunFolder, manifest: RunManifest) -> RunManifest:
    """Return a manifest with the run's current size on disk."""
    counts = manifest.counts.model_copy(
        update={"bytes": folder.bytes(), "open_bytes": folder.open_bytes()}
    )
    return manifest.model_copy(update={"counts": counts})


def _change(folder: RunFolder, change: Change) -> RunManifest:
    manifest = with_bytes(folder, change(folder.read_manifest()))
    folder.write_manifest(manifest)
    return manifest
