"""Leases of changed CPU affinities, in files that survive a crash of the collector.

A lease is written before any change. The next collector finds a lease whose owner has died, and
restores masks that are still as the owner left them.
"""

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.cpu_masks import Cpus, ThreadMask, UnsettledError, set_masks

DIRECTORY = Path("/run/tidscope/leases")
LARGEST_FILE = 64 << 20
MAX_SIZES = 1024
"""Maximum processes whose restored size is remembered."""

log = logging.getLogger("tidscope.steering")


class LeaseFolderError(Exception):
    """The lease folder is unusable, so nothing may be steered by affinity."""


class SavedMask(BaseModel):
    """A thread's original mask."""

    model_config = ConfigDict(extra="forbid", strict=True)
    tid: int
    start_ticks: int
    cpus: list[int]


class AffinityLease(BaseModel):
    """Everything needed to restore the affinity of one process.

    Attributes:
        pid: process ID.
        start_ticks: start time of the process, which distinguishes it from a later one with the
            same ID.
        owner_pid: process ID of the collector.
        owner_start_ticks: start time of the collector.
        common: most frequent mask, for threads that did not exist yet.
        original: original masks of all threads.
        applied: masks that were applied; threads with other masks are not touched, since another
            program set them.
        size: original GOMAXPROCS; None if an older collector did not record it.
    """

    model_config = ConfigDict(extra="forbid", strict=True)
    pid: int
    start_ticks: int
    owner_pid: int
    owner_start_ticks: int
    common: list[int]
    original: list[SavedMask]
    applied: list[list[int]]
    size: int | None = None


@dataclass(frozen=True, slots=True)
class RecoveredLease:
    """Outcome of a dead collector's lease; `threads` is the number restored."""

    pid: int
    threads: int
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LeftChanged:
    """A living program with the affinity that a dead collector left.

    Attributes:
        pid: process ID.
        name: name of the process (comm).
        undo: command line that gives all its threads the previously most frequent mask.
    """

    pid: int
    name: str
    undo: str


class Leases:
    """Leases of a host, one file per process.

    Args:
        procfs: root of /proc, to check which processes are alive.
        directory: folder, created if missing; must belong to this user and be closed to others.

    Raises:
        LeaseFolderError: the folder cannot be created, or is not safe.
    """

    def __init__(self, procfs: ProcFs, directory: Path = DIRECTORY) -> None:
        self._procfs = procfs
        self._directory = directory
        self._me = (os.getpid(), _start_ticks(procfs, os.getpid()) or 0)
        self._sizes: dict[tuple[int, int], int] = {}
        try:
            directory.parent.mkdir(0o755, parents=True, exist_ok=True)
            directory.mkdir(0o700, exist_ok=True)
            _check(directory.parent)
            if _check(directory) & 0o077:
                raise LeaseFolderError(f"{directory} is open to others; its mode should be 0700.")
        except OSError as error:
            raise LeaseFolderError(f"{directory} cannot be used: {error.strerror}.") from error

    def new(
        self,
        pid: int,
        start_ticks: int,
        masks: list[ThreadMask],
        common: Cpus,
        size: int | None = None,
    ) -> AffinityLease:
        """Return a lease of this collector; write it before changing anything.

        Args:
            pid: process ID.
            start_ticks: start time of the process.
            masks: original masks of all its threads.
            common: mask for later threads.
            size: original GOMAXPROCS, or None.
        """
        saved = [
            SavedMask(tid=mask.tid, start_ticks=mask.start_ticks, cpus=sorted(mask.cpus))
            for mask in masks
        ]
        return AffinityLease(
            pid=pid,
            start_ticks=start_ticks,
            owner_pid=self._me[0],
            owner_start_ticks=self._me[1],
            common=sorted(common),
            original=saved,
            applied=[],
            size=size,
        )

    def write(self, lease: AffinityLease) -> None:
        """Write a lease or its new state, atomically.

        Raises:
            LeaseFolderError: the lease cannot be written.
        """
        path = self._path(lease.pid)
        unfinished = path.with_suffix(f".{self._me[0]}.new")
        try:
            unfinished.write_text(lease.model_dump_json())
            unfinished.replace(path)
        except OSError as error:
            raise LeaseFolderError(f"{path} cannot be written: {error.strerror}.") from error

    def remove(self, lease: AffinityLease) -> None:
        """Remove a lease after restoring. The runtime takes a second to notice its CPUs."""
        self._path(lease.pid).unlink(missing_ok=True)
        if lease.size is not None:
            self._sizes[lease.pid, lease.start_ticks] = lease.size
            while len(self._sizes) > MAX_SIZES:
                del self._sizes[next(iter(self._sizes))]

    def restored_size(self, pid: int, start_ticks: int) -> int | None:
        """Return a process' GOMAXPROCS after its CPUs were restored, or None if unknown."""
        return self._sizes.get((pid, start_ticks))

    def find(self, pid: int) -> AffinityLease | None:
        """Return the lease of a process; None if absent or unreadable."""
        return self._read(self._path(pid))

    def held_by_other(self, pid: int) -> int | None:
        """Return the process ID of another living collector that steers this process, or None."""
        lease = self.find(pid)
        if lease is None or self._owner(lease) == self._me or not self._owner_lives(lease):
            return None
        return lease.owner_pid

    def recover(self) -> list[RecoveredLease]:
        """Restore what dead collectors left changed; leases of living ones stay."""
        done = []
        for path in sorted(self._directory.glob("*.json")):
            lease = self._read(path)
            if lease is None:
                path.unlink(missing_ok=True)
            elif self._owner(lease) != self._me and not self._owner_lives(lease):
                found = self._recover(lease)
                done.append(found)
                log.warning(
                    "restored the affinity of %d threads of process %d, left by a collector "
                    "that has ended%s",
                    found.threads,
                    found.pid,
                    f", but not of all: {found.trouble}" if found.trouble else "",
                )
        for path in self._directory.glob("*.new"):
            if not self._is_being_written(path):
                path.unlink(missing_ok=True)
        return done

    def _is_being_written(self, path: Path) -> bool:
        """Return True if another living collector may be about to rename this file."""
        _, dot, writer = path.stem.rpartition(".")
        if not dot or not writer.isdecimal() or int(writer) == self._me[0]:
            return False
        return _start_ticks(self._procfs, int(writer)) is not None

    def _recover(self, lease: AffinityLease) -> RecoveredLease:
        try:
            threads = restore(self._procfs, lease)
        except (OSError, UnsettledError) as error:
            # The file stays for the next start.
            return RecoveredLease(lease.pid, 0, f"{error} Undo it by: {_undo(lease)}")
        self.remove(lease)
        return RecoveredLease(lease.pid, threads)

    def _path(self, pid: int) -> Path:
        return self._directory / f"{pid}.json"

    def _read(self, path: Path) -> AffinityLease | None:
        return _read(path)

    def _owner(self, lease: AffinityLease) -> tuple[int, int]:
        return lease.owner_pid, lease.owner_start_ticks

    def _owner_lives(self, lease: AffinityLease) -> bool:
        return _owner_lives(self._procfs, lease)


def left_changed(procfs: ProcFs, directory: Path = DIRECTORY) -> list[LeftChanged]:
    """Return programs that a dead collector left changed. Changes nothing.

    Args:
        procfs: root of /proc, to check which processes are alive.
        directory: lease folder; absent or unreadable folders have no leases.
    """
    found = []
    for path in sorted(directory.glob("*.json")):
        lease = _read(path)
        if lease is None or _owner_lives(procfs, lease):
            continue
        try:
            stat_of = parse_stat(procfs.read(f"{lease.pid}/stat"))
        except OSError:
            continue
        if not stat_of.ended and stat_of.start_ticks == lease.start_ticks:
            name = stat_of.name.decode(errors="replace")
            found.append(LeftChanged(lease.pid, name, _undo(lease)))
    return found


def restore(procfs: ProcFs, lease: AffinityLease) -> int:
    """Restore the original masks of all threads. Return the number of changed threads.

    Later threads get the most frequent mask. Does nothing if the process has ended or its ID was
    recycled.

    Raises:
        OSError: the masks may not be changed.
        UnsettledError: as for `set_masks`.
    """
    if _start_ticks(procfs, lease.pid) != lease.start_ticks:
        return 0
    applied = {frozenset(cpus) for cpus in lease.applied}
    original = {(mask.tid, mask.start_ticks): frozenset(mask.cpus) for mask in lease.original}
    common = frozenset(lease.common)

    def wanted(mask: ThreadMask) -> Cpus | None:
        if mask.cpus not in applied:
            return None
        return original.get((mask.tid, mask.start_ticks), common)

    try:
        return set_masks(procfs, lease.pid, lease.start_ticks, wanted)
    except ProcessLookupError:
        return 0


def _read(path: Path) -> AffinityLease | None:
    try:
        with path.open("rb") as file:
            lease = AffinityLease.model_validate_json(file.read(LARGEST_FILE))
    except FileNotFoundError:
        return None
    except (OSError, ValidationError) as error:
        log.warning("%s cannot be read: %s", path, error)
        return None
    return lease if path.name == f"{lease.pid}.json" else None


def _owner_lives(procfs: ProcFs, lease: AffinityLease) -> bool:
    return _start_ticks(procfs, lease.owner_pid) == lease.owner_start_ticks


def _undo(lease: AffinityLease) -> str:
    return f"taskset -acp {','.join(map(str, lease.common))} {lease.pid}"


def _start_ticks(procfs: ProcFs, pid: int) -> int | None:
    """Return the start time of a living process, or None."""
    try:
        found = parse_stat(procfs.read(f"{pid}/stat"))
    except OSError:
        return None
    return None if found.ended else found.start_ticks


def _check(folder: Path) -> int:
    """Return the mode of a folder, checked so that nobody else can rename or exchange its files."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise LeaseFolderError(f"{folder} is not a folder.")
    if status.st_uid not in (0, os.geteuid()):
        raise LeaseFolderError(f"{folder} belongs to another user, {status.st_uid}.")
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise LeaseFolderError(f"{folder} may be written to by others.")
    return status.st_mode
