"""The folder of a run: its files, its lock against a second backend, and its losses."""

import fcntl
import os
import re
import secrets
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import RunLosses, RunManifest, RunState, TableName

from tidscope_backend.text import format_seconds, plural

RUN_ID = re.compile(r"r-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}\Z")
SUBFOLDERS = ("samples", "signals", "events", "open", "overview")
MANIFEST = "manifest.json"
THREADS = "threads.parquet"
TABLES: tuple[TableName, ...] = tuple(COLUMNS)
"""Frame tables; a run has folders and files for those that have rows."""
_TABLE = "|".join(TABLES)
_FILE = re.compile(
    rf"manifest\.json|threads\.parquet|overview/(?:samples|signals|extremes|{_TABLE})\.parquet"
    rf"|(?:samples|signals|tables/(?:{_TABLE}))/[0-9]{{6,9}}\.parquet"
    r"|events/[0-9]{6,9}\.jsonl|open/[0-9]{6,9}\.frames"
)
_PART = re.compile(r"[0-9]{6,}\Z")


def new_run_id(unix_s: float) -> str:
    """Make an id that sorts by time."""
    return time.strftime("r-%Y%m%d-%H%M%S-", time.gmtime(unix_s)) + secrets.token_hex(3)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run. Nothing here checks that it is there.

    Attributes:
        path: of the folder; its name is the run's id.
    """

    path: Path

    @property
    def manifest(self) -> Path:
        """The manifest, as JSON."""
        return self.path / MANIFEST

    @property
    def threads(self) -> Path:
        """Lives of threads; there once the run has ended."""
        return self.path / THREADS

    def samples(self, part: int) -> Path:
        """Counters of threads in a sealed part."""
        return self.path / "samples" / f"{part:06d}.parquet"

    def signals(self, part: int) -> Path:
        """Headers of frames of a sealed part."""
        return self.path / "signals" / f"{part:06d}.parquet"

    def events(self, part: int) -> Path:
        """Events of a sealed part."""
        return self.path / "events" / f"{part:06d}.jsonl"

    def table(self, name: TableName, part: int) -> Path:
        """A frame table in a sealed part; there is no file if it has no rows."""
        return self.path / "tables" / name / f"{part:06d}.parquet"

    def tables(self, part: int) -> dict[TableName, Path]:
        """The frame tables that a sealed part has."""
        paths = {name: self.table(name, part) for name in TABLES}
        return {name: path for name, path in paths.items() if path.exists()}

    def open_part(self, part: int) -> Path:
        """Frames of a part that is open, or was not sealed in order."""
        return self.path / "open" / f"{part:06d}.frames"

    @property
    def overview(self) -> Path:
        """Folder of the coarse levels of the whole run; filled when the run has ended."""
        return self.path / "overview"

    @property
    def reserve(self) -> Path:
        """The file that reserves disk space while the run is being recorded."""
        return self.path / "open" / "reserve"

    def make(self) -> None:
        """Make the folders. Raises OSError, FileExistsError among them."""
        self.path.mkdir(parents=True, mode=0o700)
        for name in SUBFOLDERS:
            (self.path / name).mkdir()

    def open_parts(self) -> list[int]:
        """Numbers of the parts that are frames still, ascending."""
        return _numbers(self.path / "open", ".frames")

    def sealed_parts(self) -> list[int]:
        """Numbers of the parts that are Parquet alone, ascending."""
        closed = _numbers(self.path / "signals", ".parquet")
        return sorted(set(closed) - set(self.open_parts()))

    def bytes(self) -> int:
        """Bytes of all its files, without the space reserved while recording."""
        files = (Path(top) / name for top, _, names in os.walk(self.path) for name in names)
        return sum(_size(path) for path in files if path != self.reserve)

    def open_bytes(self) -> int:
        """Bytes of the parts that are not sealed yet."""
        return sum(_size(self.open_part(number)) for number in self.open_parts())

    def read_manifest(self) -> RunManifest:
        """Read what was recorded. Raises OSError, and ValueError if it is not a manifest."""
        return RunManifest.model_validate_json(self.manifest.read_bytes())

    def write_manifest(self, manifest: RunManifest) -> None:
        """Replace it, so that a reader sees the old one or the new one, whole. Raises OSError."""
        replace_file(self.manifest, manifest.model_dump_json(indent=2).encode() + b"\n")


def is_run_file(name: str) -> bool:
    """Whether a path relative to a run folder names one of its files; no other is exported."""
    return _FILE.fullmatch(name) is not None


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, rename it in place, and see both on the disk. Raises OSError."""
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    sync_folder(path.parent)


def sync_folder(path: Path) -> None:
    """Flush the names in a folder to disk. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # A part was sealed meanwhile.


def _numbers(folder: Path, suffix: str) -> list[int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if _PART.match(stem))


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


def final_state(state: RunState, losses: RunLosses) -> RunState:
    """The state of a run that has ended: one that lost something is never complete."""
    return "incomplete" if state == "complete" and missing_text(losses) else state


def missing_text(losses: RunLosses) -> str:
    """List the missing amounts of a run; empty if it is complete.

    Missed deadlines and coalesced frames make a run coarser, and a clock that was set moves its
    dates; nothing is missing because of them.
    """
    return ", ".join(_phrases(losses))


def coarser_text(losses: RunLosses) -> str:
    """Text about samples that were due and not taken; empty if there are none."""
    if not losses.deadlines_missed:
        return ""
    missed = plural(losses.deadlines_missed, "sample")
    return f"{missed} due and not taken: the host was busy; totals are whole"


def children_cpu_us(manifest: RunManifest) -> int | None:
    """CPU time of children of the recorded command, microseconds; None: not known, no command."""
    return None if manifest.outcome is None else manifest.outcome.children_cpu_us


def children_text(cpu_us: int | None) -> str:
    """Text about CPU time of children that a run of one process lacks; empty if there is none.

    Args:
        cpu_us: CPU time of the children, microseconds; None: not known.
    """
    if not cpu_us:
        return ""
    used = format_seconds(cpu_us * 1000)
    return f"This run shows one process; its children used {used} of CPU that are not in it."


def what_is_missing(manifest: RunManifest) -> str:
    """Both, of a run; empty if nothing is missing."""
    texts = (missing_text(manifest.losses), children_text(children_cpu_us(manifest)))
    return "; ".join(filter(None, texts))


def _phrases(losses: RunLosses) -> Iterable[str]:
    if losses.frames or losses.gaps:
        yield (
            f"{plural(losses.frames, 'frame')} in {plural(losses.gaps, 'gap')} "
            f"({(losses.missing_ns - losses.tail_ns) / 1e9:.1f} s)"
        )
    if losses.tail_ns:
        samples = plural(losses.tail_samples, "sample")
        yield f"the last {losses.tail_ns / 1e9:.1f} s ({samples})"
    if losses.tail_exits is None:
        yield "an unknown number of exits before its end"
    elif losses.tail_exits:
        yield f"{plural(losses.tail_exits, 'exit')} before its end"
    if losses.truncated_bytes:
        yield f"{plural(losses.truncated_bytes, 'byte')} of a truncated frame"
    if losses.samples_failed:
        yield f"{plural(losses.samples_failed, 'failed sample')}"
    if losses.exit_records_lost:
        yield f"{plural(losses.exit_records_lost, 'exit record')}"
    if losses.exits_without_event:
        yield f"{plural(losses.exits_without_event, 'exit')} without an event"
    if losses.processes_missed:
        count = losses.processes_missed
        yield f"{count} {'process' if count == 1 else 'processes'} that may have been missed"
    if losses.network_calls_uncounted:
        yield f"{plural(losses.network_calls_uncounted, 'network call')}"
