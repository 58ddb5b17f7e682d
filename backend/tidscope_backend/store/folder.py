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
"""Frame tables. A run has folders and files for tables with rows."""
_TABLE = "|".join(TABLES)
_FILE = re.compile(
    rf"manifest\.json|threads\.parquet|overview/(?:samples|signals|extremes|{_TABLE})\.parquet"
    rf"|(?:samples|signals|tables/(?:{_TABLE}))/[0-9]{{6,9}}\.parquet"
    r"|events/[0-9]{6,9}\.jsonl|open/[0-9]{6,9}\.frames"
)
_PART = re.compile(r"[0-9]{6,}\Z")


def new_run_id(unix_s: float) -> str:
    """Make an ID that sorts by time."""
    return time.strftime("r-%Y%m%d-%H%M%S-", time.gmtime(unix_s)) + secrets.token_hex(3)


@dataclass(frozen=True)
class RunFolder:
    """The folder of one run. Existence is not checked here.

    Attributes:
        path: path of the folder, named by the run's ID.
    """

    path: Path

    @property
    def manifest(self) -> Path:
        """The manifest, as JSON."""
        return self.path / MANIFEST

    @property
    def threads(self) -> Path:
        """Lives of threads; written when the run has ended."""
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
        """A frame table in a sealed part; missing for a table without rows."""
        return self.path / "tables" / name / f"{part:06d}.parquet"

    def tables(self, part: int) -> dict[TableName, Path]:
        """The frame tables of a sealed part."""
        paths = {name: self.table(name, part) for name in TABLES}
        return {name: path for name, path in paths.items() if path.exists()}

    def open_part(self, part: int) -> Path:
        """Frames of a part that is open, or whose sealing was interrupted."""
        return self.path / "open" / f"{part:06d}.frames"

    @property
    def overview(self) -> Path:
        """Folder with coarse levels of the complete run; filled when the run has ended."""
        return self.path / "overview"

    @property
    def reserve(self) -> Path:
        """File that reserves disk space during recording."""
        return self.path / "open" / "reserve"

    def make(self) -> None:
        """Create the folders. Raises OSError, such as FileExistsError."""
        self.path.mkdir(parents=True, mode=0o700)
        for name in SUBFOLDERS:
            (self.path / name).mkdir()

    def open_parts(self) -> list[int]:
        """Return the numbers of the parts that still have frames, ascending."""
        return _numbers(self.path / "open", ".frames")

    def sealed_parts(self) -> list[int]:
        """Return the numbers of the parts that have only Parquet files, ascending."""
        closed = _numbers(self.path / "signals", ".parquet")
        return sorted(set(closed) - set(self.open_parts()))

    def bytes(self) -> int:
        """Return bytes of all files, excluding the space reserved during recording."""
        files = (Path(top) / name for top, _, names in os.walk(self.path) for name in names)
        return sum(_size(path) for path in files if path != self.reserve)

    def open_bytes(self) -> int:
        """Return bytes of the parts that are not sealed."""
        return sum(_size(self.open_part(number)) for number in self.open_parts())

    def read_manifest(self) -> RunManifest:
        """Read the manifest. Raises OSError, or ValueError if the file is not a manifest."""
        return RunManifest.model_validate_json(self.manifest.read_bytes())

    def write_manifest(self, manifest: RunManifest) -> None:
        """Replace the manifest atomically. Raises OSError."""
        replace_file(self.manifest, manifest.model_dump_json(indent=2).encode() + b"\n")


def is_run_file(name: str) -> bool:
    """Return True if a relative path names a file of a run; only such files are exported."""
    return _FILE.fullmatch(name) is not None


def replace_file(path: Path, data: bytes) -> None:
    """Write a file, rename it into place and flush both to disk. Raises OSError."""
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
        return 0  # The part was sealed meanwhile.


def _numbers(folder: Path, suffix: str) -> list[int]:
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    stems = (name.removesuffix(suffix) for name in names if name.endswith(suffix))
    return sorted(int(stem) for stem in stems if _PART.match(stem))


class RunLock:
    """Exclusive lock (flock) on a run folder, held until release or the end of the process.

    Two backends may share a runs directory; neither touches runs locked by the other.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    @classmethod
    def acquire(cls, folder: RunFolder) -> "RunLock | None":
        """Lock a run. Return None if another process holds the lock. Raises OSError."""
        descriptor = os.open(folder.path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return None
        except OSError:
            pass  # The file system has no locks: other backends are not excluded.
        return cls(descriptor)

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def final_state(state: RunState, losses: RunLosses) -> RunState:
    """Return the final state of a run; a run with losses is never complete."""
    return "incomplete" if state == "complete" and missing_text(losses) else state


def missing_text(losses: RunLosses) -> str:
    """List the missing amounts of a run; empty if the run is complete.

    Missed deadlines and coalesced frames make a run coarser, and clock jumps move its dates. None
    of them counts as missing data.
    """
    return ", ".join(_phrases(losses))


def coarser_text(losses: RunLosses) -> str:
    """Describe scheduled samples that were not taken; empty if there are none."""
    if not losses.deadlines_missed:
        return ""
    missed = plural(losses.deadlines_missed, "sample")
    return f"{missed} due and not taken: the host was busy; totals are whole"


def children_cpu_us(manifest: RunManifest) -> int | None:
    """Return CPU time of the recorded command's children, µs; None if unknown or no command."""
    return None if manifest.outcome is None else manifest.outcome.children_cpu_us


def children_text(cpu_us: int | None) -> str:
    """Describe CPU time of children that a single-process run lacks; empty if there is none.

    Args:
        cpu_us: CPU time of the children, in microseconds; None if unknown.
    """
    if not cpu_us:
        return ""
    used = format_seconds(cpu_us * 1000)
    return f"This run shows one process; its children used {used} of CPU that are not in it."


def what_is_missing(manifest: RunManifest) -> str:
    """Describe missing and coarser data of a run; empty if the run is complete."""
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
