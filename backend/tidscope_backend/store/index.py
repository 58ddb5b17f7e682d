"""The list of runs, made from their manifests, and the choice of runs that retention deletes.

Manifests are the only source, so no second list can disagree.
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from tidscope_wire.generated.models import (
    DamagedRun,
    Retention,
    RunManifest,
    RunsResponse,
    RunSummary,
)
from tidscope_wire.problems import refusal

from tidscope_backend.store.directory import RunsDirectory
from tidscope_backend.store.disk import damage_text
from tidscope_backend.store.folder import RUN_ID, RunFolder

MAX_MANIFEST_BYTES = 8 * 1024 * 1024
CurrentManifest = Callable[[RunFolder, RunManifest], RunManifest]


class _Read(NamedTuple):
    """A manifest, and the state of its file at the time of reading."""

    stamp: tuple[int, int, int]
    manifest: RunManifest


class RetentionCandidate(NamedTuple):
    """Facts about a run, for retention.

    Attributes:
        run: ID of the run.
        ended_s: end of the run, or the import time of an imported run, in Unix seconds.
        size: bytes of the run's files.
        recording: whether the run is being recorded and must stay.
    """

    run: str
    ended_s: float
    size: int
    recording: bool


class RunIndex:
    """Cache of manifests, refreshed when their files change.

    Args:
        directory: directory of the runs.
        current: returns the current manifest of an active recording.
    """

    def __init__(self, directory: RunsDirectory, current: CurrentManifest) -> None:
        self._directory = directory
        self._current = current
        self._read: dict[Path, _Read] = {}

    def manifest(self, folder: RunFolder) -> RunManifest:
        """Return a run's current manifest.

        Raises:
            ProblemError: the manifest cannot be read.
        """
        try:
            return self._current(folder, self._manifest(folder))
        except (OSError, ValueError) as error:
            raise refusal(
                "bad-run",
                f"run {folder.path.name} cannot be read: {damage_text(error)}",
                "its folder is left as it is: repair it by hand, or delete it",
            ) from None

    def runs(self, retention: Retention) -> RunsResponse:
        """Return all runs, the newest first. Reads files: not for the event loop."""
        paths, deleted = self._directory.all(), self._directory.all_deleted()
        self._read = {p: read for p, read in self._read.items() if p in {*paths, *deleted}}
        damaged: list[DamagedRun] = []
        runs = list(self._summaries(paths, damaged))
        gone = list(self._summaries(deleted, []))
        return RunsResponse(
            runs=runs,
            deleted=gone,
            damaged=damaged,
            bytes=sum(run.counts.bytes for run in (*runs, *gone)),
            free_bytes=self._directory.free_bytes(),
            retention=retention,
        )

    def retention_candidates(self) -> list[RetentionCandidate]:
        """Return the facts for retention of each readable run."""
        found = []
        for path in self._directory.all():
            folder = RunFolder(path)
            try:
                manifest = self._current(folder, self._manifest(folder))
                changed_s = folder.manifest.stat().st_mtime
            except (OSError, ValueError):
                continue
            took_us = (manifest.to_ns - manifest.from_ns) // 1000
            ended_s = (manifest.started_unix_us + took_us) / 1e6
            found.append(
                RetentionCandidate(
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
                found.append(summary_of(self._current(folder, self._manifest(folder))))
            except (OSError, ValueError) as error:
                damaged.append(DamagedRun(folder=path.name, reason=damage_text(error)))
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


def summary_of(manifest: RunManifest) -> RunSummary:
    """Return the list entry of a run. Pure."""
    process, outcome = manifest.target.process, manifest.outcome
    return RunSummary(
        id=manifest.id,
        name=manifest.name,
        tags=manifest.tags,
        group=manifest.group,
        notes=manifest.notes,
        state=manifest.state,
        end=manifest.end,
        end_detail=manifest.end_detail,
        created_unix_us=manifest.created_unix_us,
        started_unix_us=manifest.started_unix_us,
        duration_ns=max(0, manifest.to_ns - manifest.from_ns),
        host_name=manifest.host.name,
        target=manifest.target.id,
        pid=process.pid,
        process=process.name,
        command=process.command,
        target_group=manifest.target.group,
        policies=[policy.policy for policy in manifest.policies],
        losses=manifest.losses,
        children_cpu_us=None if outcome is None else outcome.children_cpu_us,
        counts=manifest.counts,
        exit_code=None if outcome is None else outcome.exit_code,
        signal=None if outcome is None else outcome.signal,
        imported=manifest.imported,
    )


def runs_to_delete(
    runs: Sequence[RetentionCandidate], retention: Retention, unix_s: float
) -> list[str]:
    """Choose the runs to delete, oldest first.

    Args:
        runs: all runs.
        retention: the bounds; a null bound is not applied.
        unix_s: current time, Unix seconds.
    """
    oldest_first = sorted((run for run in runs if not run.recording), key=lambda run: run.ended_s)
    left = sum(run.size for run in runs)
    gone = []
    for run in oldest_first:
        old = retention.max_age_s is not None and unix_s - run.ended_s > retention.max_age_s
        large = retention.max_bytes is not None and left > retention.max_bytes
        if old or large:
            gone.append(run.run)
            left -= run.size
    return gone
