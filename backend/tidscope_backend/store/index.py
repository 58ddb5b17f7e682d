"""The runs that there are, read from their manifests each time: there is no second list of them.

A manifest is some 15 KiB of JSON and its model checks it, so each is read alone: one that is broken
is told of and hides no other. A query over all of them would need the same care a file.
"""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

from tidscope_wire.generated.models import (
    DamagedRun,
    Retention,
    RunManifest,
    RunsResponse,
    RunSummary,
)

from tidscope_backend.problems import refusal
from tidscope_backend.store.errors import damage
from tidscope_backend.store.folder import RUN_ID, RunFolder
from tidscope_backend.store.directory import Home
from tidscope_backend.store.retention import Aged
from tidscope_backend.store.summary import summary

MAX_MANIFEST_BYTES = 8 * 1024 * 1024
Now = Callable[[RunFolder, RunManifest], RunManifest]


class _Read(NamedTuple):
    """A manifest, and the state of its file when it was read."""

    stamp: tuple[int, int, int]
    manifest: RunManifest


class Catalogue:
    """Reads manifests; those that did not change are not read again.

    Args:
        home: where the runs lie.
        now: says what a manifest would say if it was written now.
    """

    def __init__(self, home: Home, now: Now) -> None:
        self._home = home
        self._now = now
        self._read: dict[Path, _Read] = {}

    def manifest(self, folder: RunFolder) -> RunManifest:
        """Read a run's manifest as it is now.

        Raises:
            ProblemError: it cannot be read.
        """
        try:
            return self._now(folder, self._manifest(folder))
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run",
                f"run {folder.path.name} cannot be read: {damage(error)}",
                "its folder is left as it is: mend it by hand, or delete it",
            ) from None

    def runs(self, retention: Retention) -> RunsResponse:
        """All runs, the newest first. Reads files: not for the event loop."""
        paths, deleted = self._home.all(), self._home.all_deleted()
        self._read = {p: read for p, read in self._read.items() if p in {*paths, *deleted}}
        damaged: list[DamagedRun] = []
        runs = list(self._summaries(paths, damaged))
        gone = list(self._summaries(deleted, []))
        return RunsResponse(
            runs=runs,
            deleted=gone,
            damaged=damaged,
            bytes=sum(run.counts.bytes for run in (*runs, *gone)),
            free_bytes=self._home.free_bytes(),
            retention=retention,
        )

    def aged(self) -> list[Aged]:
        """What retention asks of each run that can be read."""
        found = []
        for path in self._home.all():
            folder = RunFolder(path)
            try:
                manifest = self._now(folder, self._manifest(folder))
                changed_s = folder.manifest.stat().st_mtime
            except (OSError, ValueError):
                continue
            took_us = (manifest.to_ns - manifest.from_ns) // 1000
            ended_s = (manifest.started_unix_us + took_us) / 1e6
            found.append(
                Aged(
                    run=manifest.id,
                    ended_s=max(ended_s, changed_s) if manifest.imported else ended_s,
                    size=manifest.counts.bytes,
                    recording=manifest.state == "recording",
                )
            )
        return found

    def _summaries(self, paths: Iterable[Path], damaged: list[DamagedRun]) -> list[RunSummary]:
        found = []
        for path in paths:
            folder = RunFolder(path)
            try:
                found.append(summary(self._now(folder, self._manifest(folder))))
            except (OSError, ValueError) as error:
                damaged.append(DamagedRun(folder=path.name, reason=damage(error)))
        return sorted(found, key=lambda run: run.created_unix_us, reverse=True)

    def _manifest(self, folder: RunFolder) -> RunManifest:
        if not RUN_ID.match(folder.path.name):
            raise ValueError("its name is not that of a run")
        found = folder.manifest.stat()
        stamp = (found.st_ino, found.st_mtime_ns, found.st_size)
        known = self._read.get(folder.path)
        if known is not None and known.stamp == stamp:
            return known.manifest
        if found.st_size > MAX_MANIFEST_BYTES:
            raise ValueError(f"its manifest has {found.st_size} bytes")
        manifest = folder.read_manifest()
        if manifest.id != folder.path.name:
            raise ValueError(f"its manifest is that of {manifest.id}")
        self._read[folder.path] = _Read(stamp, manifest)
        return manifest
