"""Where the files of a run lie; see docs/runs.md."""

import os
import re
import secrets
import time
from dataclasses import dataclass
from pathlib import Path

from tidscope_wire.generated.frame_tables import COLUMNS
from tidscope_wire.generated.models import RunManifest, TableName

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
        """What was recorded, as JSON."""
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
    """See the names in a folder on the disk. Raises OSError."""
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
