"""Seals parts of runs as Parquet and JSON lines, and recovers runs that a crash left open.

`python -m tidscope_backend.recording.sealing FOLDER PART…` runs in a separate process, so that CPU
time, memory and crashes do not affect the backend. Without PART it writes the overview and the
thread table of an ended run.
"""

import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import FrameHeader, RunManifest
from tidscope_wire.generated.models import Recording as RecordingInfo

from tidscope_backend.recording.endings import TIME_OVER, Ending
from tidscope_backend.recording.recording import PartLimits, Recording
from tidscope_backend.recording.stats import HEALTH_COUNTERS, Instant, RecordingStats, instant_of
from tidscope_backend.store.folder import RunFolder, RunLock, replace_file, sync_folder
from tidscope_backend.store.frame_files import cut_truncated, whole_frames
from tidscope_backend.store.overview import write_overview
from tidscope_backend.store.part_files import write_levels, write_table
from tidscope_backend.store.part_tables import Part, part_of
from tidscope_backend.store.reader import RunReader


def is_unfinished(folder: RunFolder, manifest: RunManifest) -> bool:
    """Return True if a run's backend ended during recording, so that the run may be resumed."""
    if manifest.imported:
        return False  # No local collector has the target.
    if manifest.state == "recording":
        return True
    # An orderly shutdown sets this end and leaves the last part open for the next backend.
    return manifest.end == "backend-lost" and bool(folder.open_parts())


def recover_run(
    folder: RunFolder, limits: PartLimits
) -> tuple[Recording, Ending | None] | RunLock | None:
    """Take over a run that an earlier backend left unfinished.

    Returns:
        A recording from `recover_recording`, or the lock of an ended run to be sealed. None without
        work, or if another backend holds the lock.

    Raises:
        OSError: the run's files cannot be read or written.
        ValueError: the run's manifest is invalid, or its files are inconsistent.
    """
    manifest = folder.read_manifest()
    unfinished = is_unfinished(folder, manifest)
    if not unfinished and not folder.open_parts() and folder.threads.exists():
        return None
    lock = RunLock.acquire(folder)
    if lock is None or not unfinished:
        return lock
    try:
        return recover_recording(folder, lock, manifest, limits)
    except BaseException:
        lock.release()
        raise


def recover_recording(
    folder: RunFolder, lock: RunLock, manifest: RunManifest, limits: PartLimits
) -> tuple[Recording, Ending | None]:
    """Make a recording of an unfinished run.

    A truncated frame at the end is removed. Frames newer than the manifest are counted.

    Returns:
        The recording, and its ending if the last frame has one.

    Raises:
        OSError: the run's files cannot be read or written.
        ValueError: the run's files are inconsistent.
    """
    info = RecordingInfo(
        run=manifest.id,
        target=manifest.target.id,
        name=manifest.name,
        created_unix_us=manifest.created_unix_us,
    )
    recording = Recording(folder, lock, info, manifest.target, manifest.host, limits)
    recording.stored_command = manifest.target.process.command
    # Assume that the run must not store arguments: the setting is unknown here.
    recording.without_titles = True
    recording.until_ns = manifest.until_ns
    recording.stacks = manifest.stacks
    numbers = folder.open_parts()
    cut = cut_truncated(folder.open_part(numbers[-1])) if numbers else 0
    newest, counted, later = _uncounted(folder, numbers, manifest)
    recording.stats = RecordingStats.resumed(manifest, counted)
    recording.stats.losses.truncated_bytes += cut
    for header in later:
        recording.stats.add_frame(header)
    recording.stats.found(_frames_kept(folder, numbers))
    if numbers:
        recording.resume(numbers[-1], _began_ns(folder.open_part(numbers[-1]), manifest.to_ns))
    else:
        recording.resume(max(folder.sealed_parts(), default=0) + 1, manifest.to_ns)
    ending = None if newest is None else recording.ending_with(newest)
    # After the scheduled end, the collector still has to confirm the last frame.
    return recording, None if ending is TIME_OVER else ending


def _uncounted(
    folder: RunFolder, numbers: list[int], manifest: RunManifest
) -> tuple[FrameHeader | None, Instant | None, list[FrameHeader]]:
    """Return the newest frame, the last frame in the manifest, and later frames in order."""
    newest, later = None, list[FrameHeader]()
    for header in _backwards(folder, numbers):
        newest = newest or header
        if manifest.counts.frames and header.time_ns <= manifest.to_ns:
            return newest, instant_of(header), later[::-1]
        later.append(header)
    counted = _last_sealed(folder) if manifest.counts.frames else None
    return newest, counted, later[::-1]


def _frames_kept(folder: RunFolder, numbers: list[int]) -> int:
    """Return the number of frames in the run."""
    sealed = 0
    for number in folder.sealed_parts():
        sealed += int(pq.read_metadata(folder.signals(number)).num_rows)
    return sealed + sum(1 for _ in _backwards(folder, numbers))


def _backwards(folder: RunFolder, numbers: list[int]) -> Iterator[FrameHeader]:
    """Yield headers of frames in open parts, newest first; unreadable frames are skipped."""
    for number in reversed(numbers):
        for frame in reversed(list(whole_frames(folder.open_part(number).read_bytes()))):
            header = _header(frame)
            if header is not None:
                yield header


def _header(frame: bytes) -> FrameHeader | None:
    try:
        return split(frame)[0]
    except FrameError:
        return None


def _began_ns(path: Path, otherwise: int) -> int:
    """Return the time of the first frame of a part."""
    first = next(whole_frames(path.read_bytes()), None)
    header = _header(first) if first is not None else None
    return header.time_ns if header is not None else otherwise


def _last_sealed(folder: RunFolder) -> Instant | None:
    """Return the last frame of the sealed parts. Raises OSError, or ValueError if not Parquet."""
    numbers = folder.sealed_parts()
    if not numbers:
        return None
    columns = ["seq", "time_ns", "unix_us", "health", "exited"]
    (row,) = pq.read_table(folder.signals(numbers[-1]), columns=columns).slice(-1).to_pylist()
    health = row["health"]
    return Instant(
        row["seq"],
        row["time_ns"],
        row["unix_us"],
        exited=row["exited"]["threads"],
        **{name: health.get(name) or 0 for name in HEALTH_COUNTERS},
    )


MIN_OVERVIEW_FRAMES = 75
"""Minimum frames for an overview; a shorter run is always shown frame by frame."""


def seal_part(folder: RunFolder, part: int) -> None:
    """Write a part's files and delete its frames. Idempotent.

    Raises:
        OSError: the part cannot be read or written; its frames are kept.
        tidscope_wire.frame.FrameError: the part contains data that is not a frame.
    """
    fields = folder.read_manifest().target.fields
    write_part(folder, part, part_of(whole_frames(folder.open_part(part).read_bytes()), fields))
    folder.open_part(part).unlink()


def write_part(folder: RunFolder, number: int, part: Part) -> None:
    """Write the files of a part and flush them to disk. Raises OSError."""
    _write_levels(folder.samples(number), part.samples)
    if part.tables:
        # Without its parents: the run may be moved to the trash meanwhile.
        (folder.path / "tables").mkdir(exist_ok=True)
    for name, table in part.tables.items():
        folder.table(name, number).parent.mkdir(exist_ok=True)
        _write_levels(folder.table(name, number), table)
    lines = "".join(event.model_dump_json() + "\n" for event in part.events)
    replace_file(folder.events(number), lines.encode())
    new = folder.signals(number).with_suffix(".new")
    write_table(new, part.signals)
    new.replace(folder.signals(number))
    for path in (*folder.tables(number).values(), folder.samples(number), folder.signals(number)):
        sync_folder(path.parent)
    if part.tables:
        sync_folder(folder.path / "tables")
        sync_folder(folder.path)


def _write_levels(path: Path, rows: pa.Table) -> None:
    new = path.with_suffix(".new")
    write_levels(new, rows)
    new.replace(path)


def write_summaries(folder: RunFolder) -> None:
    """Write the overview and the thread table of an ended run. Raises as `seal_part`.

    The thread table is written last: its presence proves that both exist.
    """
    reader = RunReader(folder.path)
    threads = reader.threads()
    if sum(len(part.times.seq) for part in reader.parts) >= MIN_OVERVIEW_FRAMES:
        write_overview(folder, reader.parts, reader.fields, threads)
    new = folder.threads.with_suffix(".new")
    write_table(new, threads)
    new.replace(folder.threads)
    sync_folder(folder.path)


def main() -> int:
    """Seal the parts named by the command line, or write the summaries of all parts.

    Arguments are folders, each followed by numbers of its parts; none: its summaries.
    """
    jobs: list[tuple[RunFolder, list[int]]] = []
    for argument in sys.argv[1:]:
        if argument.isdecimal():
            jobs[-1][1].append(int(argument))
        else:
            jobs.append((RunFolder(Path(argument)), []))
    for folder, parts in jobs:
        for part in parts:
            # The ring may have deleted it meanwhile.
            if folder.open_part(part).exists():
                seal_part(folder, part)
        if not parts:
            write_summaries(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
