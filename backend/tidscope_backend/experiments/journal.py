"""The journal of an experiment: one line of JSON per event, beside the runs.

A line is written and synced before the next repeat begins. After any interruption all lines except
the last are complete, and the experiment can resume.
"""

import fcntl
import json
import os
import re
import secrets
import struct
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Literal

from pydantic import TypeAdapter, ValidationError

from tidscope_backend.experiments.difference import DifferenceRules
from tidscope_backend.experiments.workload import ExperimentError, Value

FOLDER = ".experiments"
"""Folder name in the runs directory."""
ID = re.compile("^x-[0-9]{8}-[0-9]{6}-[0-9a-f]{6}$")
JOURNAL, DEFINITION = "journal.jsonl", "experiment.toml"
GRACE_SECONDS, POLL_SECONDS = 1.0, 0.02
MAX_JOURNAL_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True)
class Began:
    """First entry of a journal.

    Attributes:
        id: ID of the experiment.
        name: the file's `name`.
        title: the file's `title`.
        quick: whether the experiment is the quick variant.
        digest: digest of the experiment file and its files; resuming requires the same digest.
        unix_us: start, Unix microseconds.
        cells: values of each cell.
        least: minimum number of repeats.
        most: maximum number of repeats.
        deviation: maximum standard deviation, divided by the mean.
        seed: seed of the order of repeats.
        repeat_s: durations of measurement and warm-up.
        workloads: names of the workloads.
        unit: unit of an operation.
        waits: whether the workloads report queue waits.
        speed_up: whether speed-up is reported.
        setup: properties of the machine, name to text.
        difference: rules of the comparison of variants; None for a matrix of settings.
        short: whether the experiment is the short variant.
    """

    id: str
    name: str
    title: str
    quick: bool
    digest: str
    unix_us: int
    cells: list[dict[str, Value]]
    least: int
    most: int
    deviation: float
    seed: int
    repeat_s: float
    workloads: list[str]
    unit: str
    waits: bool
    speed_up: bool
    setup: dict[str, str]
    difference: DifferenceRules | None = None
    short: bool = False

    @property
    def preset(self) -> Literal["full", "short", "quick"]:
        """How much of the file is carried out."""
        return "quick" if self.quick else "short" if self.short else "full"


@dataclass(frozen=True)
class Begins:
    """A repeat begins, with the targets to watch."""

    cell: str
    unix_us: int
    targets: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Repeated:
    """Entry of a successful repeat.

    Attributes:
        cell: name of the cell.
        unix_us: end of the repeat.
        elapsed_s: total duration, including start and warm-up.
        runs: run IDs, in the order of the programs.
        figures: name to value; unknown figures are omitted.
        warnings: disturbances of the repeat.
        seconds: size and throughput of the pool by second of the measurement; empty if unknown.
    """

    cell: str
    unix_us: int
    elapsed_s: float
    runs: list[str]
    figures: dict[str, float]
    warnings: list[str]
    seconds: dict[str, list[float | None]] = field(default_factory=dict)


@dataclass(frozen=True)
class Failed:
    """Entry of a failed repeat."""

    cell: str
    unix_us: int
    elapsed_s: float
    reason: str


@dataclass(frozen=True)
class Recorded:
    """A recorded run of a variant, beside the measured ones: what happens inside the program.

    Attributes:
        cell: name of the cell.
        unix_us: end of the recording.
        runs: run IDs.
        problem: why there is no run; empty if there is one.
    """

    cell: str
    unix_us: int
    runs: list[str]
    problem: str


@dataclass(frozen=True)
class Ended:
    """The experiment has ended; `interrupted` experiments can be resumed."""

    unix_us: int
    interrupted: bool


Entry = Began | Begins | Repeated | Failed | Recorded | Ended
KINDS: Mapping[str, type[Entry]] = {
    "began": Began,
    "begins": Begins,
    "repeated": Repeated,
    "failed": Failed,
    "recorded": Recorded,
    "ended": Ended,
}
_ADAPTERS: Mapping[str, TypeAdapter[Any]] = {
    name: TypeAdapter(kind) for name, kind in KINDS.items()
}
_NAMES = {kind: name for name, kind in KINDS.items()}


class Journal:
    """A journal open for writing, by one process at a time."""

    def __init__(self, folder: Path) -> None:
        """Open the journal. Raises ExperimentError if another process runs the experiment."""
        self.folder = folder
        self._file = (folder / JOURNAL).open("ab")
        try:
            _lock(self._file)
        except OSError:
            self._file.close()
            raise ExperimentError(
                f"{folder.name} is being carried out by another process; wait for it, or end it"
            ) from None

    def write(self, entry: Entry) -> None:
        """Append an entry and flush it to disk. Raises OSError."""
        line = json.dumps({"kind": _NAMES[type(entry)], **asdict(entry)}, ensure_ascii=False)
        self._file.write(line.encode() + b"\n")
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def create_folder(runs: Path, text: str) -> tuple[str, Path]:
    """Create the folder and ID of a new experiment, with a copy of its file. Raises OSError."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime())
    name = f"x-{stamp}-{secrets.token_hex(3)}"
    folder = runs / FOLDER / name
    folder.mkdir(parents=True, mode=0o700)
    (folder / DEFINITION).write_text(text, "utf-8")
    return name, folder


def experiment_folders(runs: Path | None) -> list[Path]:
    """Return folders of all experiments, the newest first."""
    try:
        entries = [] if runs is None else list(os.scandir(runs / FOLDER))
    except OSError:
        return []
    found = [one for one in entries if ID.match(one.name) and one.is_dir(follow_symlinks=False)]
    return sorted((Path(one.path) for one in found), reverse=True)


def is_carried_out(folder: Path) -> bool:
    """Return True if a process is running an experiment. The check takes no lock."""
    try:
        with (folder / JOURNAL).open("rb") as file:
            held = fcntl.fcntl(file, fcntl.F_OFD_GETLK, _whole_file(fcntl.F_RDLCK))
    except OSError:
        return False
    kind: int = struct.unpack_from("h", held)[0]
    return kind != fcntl.F_UNLCK


def _lock(file: BinaryIO) -> None:
    """Lock a journal. Raises OSError if another process holds the lock.

    A child just forked by a killed process holds inherited locks until its exec, so the lock is
    retried.
    """
    until = time.monotonic() + GRACE_SECONDS
    while True:
        try:
            fcntl.fcntl(file, fcntl.F_OFD_SETLK, _whole_file(fcntl.F_WRLCK))
            return
        except OSError:
            if time.monotonic() > until:
                raise
        time.sleep(POLL_SECONDS)


def _whole_file(kind: int) -> bytes:
    """Return a struct flock (fcntl(2)) for an open-file-description lock on the complete file."""
    return struct.pack("hhqqi4x", kind, os.SEEK_SET, 0, 0, 0)


def read_journal(folder: Path) -> list[Entry]:
    """Read all whole entries.

    Raises:
        ExperimentError: the journal cannot be read, or its first entry is missing.
    """
    try:
        with (folder / JOURNAL).open("rb") as file:
            data = file.read(MAX_JOURNAL_BYTES)
    except OSError as error:
        raise ExperimentError(f"{folder.name}: cannot be read: {error.strerror}") from None
    entries = list(_entries(data))
    if not entries or not isinstance(entries[0], Began):
        raise ExperimentError(f"{folder.name}: its journal has no beginning")
    return entries


def began(entries: Sequence[Entry]) -> Began:
    """Return the first entry of `read_journal`'s result."""
    first = entries[0]
    if not isinstance(first, Began):
        raise TypeError("a journal begins with its beginning")
    return first


def cut_torn_line(folder: Path) -> None:
    """Remove an incomplete last line, so that the next one starts on a new line.

    Raises:
        OSError: the journal cannot be written.
    """
    with (folder / JOURNAL).open("r+b") as file:
        data = file.read()
        file.truncate(data.rfind(b"\n") + 1)


def _entries(data: bytes) -> Iterator[Entry]:
    for line in data.split(b"\n")[:-1]:
        try:
            found = json.loads(line)
            yield _ADAPTERS[found.pop("kind")].validate_python(found)
        except (ValueError, KeyError, AttributeError, TypeError, ValidationError):
            continue  # Written by a newer version, or damaged: skip this line.
