"""Changed CPU affinities that must be restored, in files that outlive a crash of the collector.

A lease is written before anything is changed. The next collector finds it, sees that its owner is
gone, and restores what is still as it was left.
"""

import logging
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.cpu_masks import (
    Cpus,
    ThreadMask,
    UnsettledError,
    set_masks,
)

DIRECTORY = Path("/run/tidscope/leases")
LARGEST_FILE = 64 << 20
MAX_SIZES = 1024
"""Processes that were steered and whose size is remembered."""

log = logging.getLogger("tidscope.steering")


class LeaseFolderError(Exception):
    """The folder of the leases cannot be used: nothing may be steered by affinity."""


class SavedMask(BaseModel):
    """A thread's mask as it was before."""

    model_config = ConfigDict(extra="forbid", strict=True)
    tid: int
    start_ticks: int
    cpus: list[int]


class AffinityLease(BaseModel):
    """Everything needed to restore the affinity of one process.

    Attributes:
        pid: of the process.
        start_ticks: of the process; with the id, tells it from a later one.
        owner_pid: of the collector.
        owner_start_ticks: of the collector.
        common: the mask of most threads; what threads get that did not exist yet.
        original: the masks of all threads as they were.
        applied: masks that were given to it; a thread with another one is not touched, since
            somebody else gave it that.
        size: GOMAXPROCS that it had then; None: of a collector that did not note it.
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
    """Outcome of a lease that a dead collector left; `threads` is the number restored."""

    pid: int
    threads: int
    trouble: str = ""


@dataclass(frozen=True, slots=True)
class LeftChanged:
    """A living program whose affinity is as a collector that is gone left it.

    Attributes:
        pid: process id.
        name: of the process, as the kernel has it.
        undo: command line that gives all its threads the CPUs of most of them before.
    """

    pid: int
    name: str
    undo: str


class Leases:
    """The leases of a host, one file a process.

    Args:
        procfs: tells who is alive.
        directory: made if it is missing; must be this user's, closed to all others.

    Raises:
        LeaseFolderError: it cannot be made, or is not safe.
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
        """A lease of this collector; to be written before anything is changed.

        Args:
            pid: of the process.
            start_ticks: of the process.
            masks: of all its threads.
            common: what later threads get.
            size: GOMAXPROCS as it was.
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
        """Write a lease, or the new state of one, as a whole or not at all.

        Raises:
            LeaseFolderError: it cannot be written.
        """
        path = self._path(lease.pid)
        unfinished = path.with_suffix(".new")
        try:
            unfinished.write_text(lease.model_dump_json())
            unfinished.replace(path)
        except OSError as error:
            raise LeaseFolderError(f"{path} cannot be written: {error.strerror}.") from error

    def remove(self, lease: AffinityLease) -> None:
        """Forget a lease: all is restored. The runtime takes a second to see its CPUs again."""
        self._path(lease.pid).unlink(missing_ok=True)
        if lease.size is not None:
            self._sizes[lease.pid, lease.start_ticks] = lease.size
            while len(self._sizes) > MAX_SIZES:
                del self._sizes[next(iter(self._sizes))]

    def restored_size(self, pid: int, start_ticks: int) -> int | None:
        """GOMAXPROCS that a process has, or will have soon, since its CPUs were restored."""
        return self._sizes.get((pid, start_ticks))

    def find(self, pid: int) -> AffinityLease | None:
        """The lease of a process; None without one, or with one that nobody can read."""
        return self._read(self._path(pid))

    def held_by_other(self, pid: int) -> int | None:
        """The process id of another collector that lives and steers this process."""
        lease = self.find(pid)
        if lease is None or self._owner(lease) == self._me or not self._owner_lives(lease):
            return None
        return lease.owner_pid

    def recover(self) -> list[RecoveredLease]:
        """Restore what collectors that are gone have left; leases of live ones stay."""
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
            path.unlink(missing_ok=True)
        return done

    def _recover(self, lease: AffinityLease) -> RecoveredLease:
        try:
            threads = restore(self._procfs, lease)
        except (OSError, UnsettledError) as error:
            # The file stays, for the next start.
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
    """Programs that are still as a collector that is gone left them; nothing is changed.

    Args:
        procfs: tells who is alive.
        directory: of the leases; without it, or without the right to read it, there are none.
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
    """Give all threads their original masks; how many were changed.

    Threads that appeared since get the mask of most. Nothing is done when the process is gone, or
    its id belongs to another one now.

    Raises:
        OSError: it may not be changed.
        UnsettledError: see set_masks.
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
    """Start of a live process; None if there is none."""
    try:
        found = parse_stat(procfs.read(f"{pid}/stat"))
    except OSError:
        return None
    return None if found.ended else found.start_ticks


def _check(folder: Path) -> int:
    """The mode of a folder that nobody else can exchange or rename things in."""
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode):
        raise LeaseFolderError(f"{folder} is not a folder.")
    if status.st_uid not in (0, os.geteuid()):
        raise LeaseFolderError(f"{folder} belongs to another user, {status.st_uid}.")
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise LeaseFolderError(f"{folder} may be written to by others.")
    return status.st_mode
