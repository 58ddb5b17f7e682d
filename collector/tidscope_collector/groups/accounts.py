"""Usage of a group by the kernel's own accounts, beside the sums of its threads.

Sources: the kernel's admin-guide/cgroup-v2.rst (cpu.stat, io.stat), admin-guide/cgroup-v1
(cpuacct.usage, blkio.throttle.io_service_bytes_recursive), proc_pid_stat(5) (cutime, cstime).
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from tidscope_wire.generated.models import CpuAccount, GroupKind, IoAccount

from tidscope_collector.groups.cgroups import Cgroup
from tidscope_collector.groups.listing import folders_below, processes_of
from tidscope_collector.groups.members import Member, Members
from tidscope_collector.procfs.control_groups import GROUPS
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TICKS_PER_SECOND, waited_for_ticks

_V1_IO: Literal["blkio.throttle.io_service_bytes_recursive"] = (
    "blkio.throttle.io_service_bytes_recursive"
)
_MAX_BYTES = 1 << 16
_TICK_NS = 1_000_000_000 // TICKS_PER_SECOND
MAX_READ = 512
"""Processes whose accounts are read; of larger groups there is none."""


@dataclass(frozen=True, slots=True)
class Used:
    """Usage that an account reports.

    Attributes:
        cpu_ns: CPU time, nanoseconds.
        read_bytes: from block devices; None: it does not say.
        write_bytes: to block devices; None: it does not say.
    """

    cpu_ns: int
    read_bytes: int | None = None
    write_bytes: int | None = None


class GroupAccount(Protocol):
    """An account of a group.

    Attributes:
        cpu_by: what counts the CPU time.
        io_by: what counts bytes of block devices; None: nothing does.
        whole: whether it is of the group alone, and of all of it.
    """

    @property
    def cpu_by(self) -> CpuAccount: ...

    @property
    def io_by(self) -> IoAccount: ...

    @property
    def whole(self) -> bool: ...

    def read(self) -> Used | None:
        """Return the current usage, or None if it cannot be read any more."""


class CgroupAccount:
    """A `GroupAccount` by a control group.

    Args:
        cgroup: of the group.
        groups: where control groups are mounted.
    """

    whole = True

    def __init__(self, cgroup: Cgroup, groups: Path = GROUPS) -> None:
        self._cgroup = cgroup
        self.cpu_by: CpuAccount = "cpuacct.usage" if cgroup.hierarchy else "cpu.stat"
        self._io, self.io_by = self._find_io(groups)

    def _find_io(self, groups: Path) -> tuple[Path, IoAccount]:
        if not self._cgroup.hierarchy:
            path = self._cgroup.folder / "io.stat"
            return path, "io.stat" if path.is_file() else None
        # Control groups of one path in several hierarchies are one group: managers create them in
        # all.
        below = self._cgroup.folder.relative_to(groups).parts[1:]
        path = groups.joinpath("blkio", *below, _V1_IO)
        # From Linux 6.10 on it counts only for devices that are throttled: then for nobody.
        counts = any(_moved(groups / "blkio" / _V1_IO, _V1_IO) or ())
        return path, _V1_IO if counts and path.is_file() else None

    def read(self) -> Used | None:
        """See `GroupAccount`."""
        cpu_ns = self._cpu_ns()
        if cpu_ns is None:
            return None
        moved = None if self.io_by is None else _moved(self._io, self.io_by)
        return Used(cpu_ns) if moved is None else Used(cpu_ns, *moved)

    def _cpu_ns(self) -> int | None:
        folder = self._cgroup.folder
        if self._cgroup.hierarchy:
            text = _text(folder / "cpuacct.usage").strip()
            return int(text) if text.isdecimal() else None
        for line in _text(folder / "cpu.stat").splitlines():
            name, _, value = line.partition(" ")
            if name == "usage_usec" and value.isdecimal():
                return int(value) * 1000
        return None


class RusageAccount:
    """A `GroupAccount` by what each process has used, and the children that it has waited for.

    Of a tree: there all children of members are members. It ends when a process ends that none of
    them can have waited for.

    Args:
        procfs: root of /proc.
        members: of the group.
        clock: CPU time of a process, ended threads included, nanoseconds; None: it has ended.
    """

    cpu_by: CpuAccount = "rusage"
    io_by: IoAccount = None
    whole = False

    def __init__(
        self, procfs: ProcFs, members: Members, clock: Callable[[int], int | None]
    ) -> None:
        self._procfs = procfs
        self._members = members
        self._clock = clock
        self._seen: dict[int, Member] = {}
        self._before_ns = 0
        self._lost = False

    def read(self) -> Used | None:
        """See `GroupAccount`; None for good, once it has ended."""
        alive = {one.number: one for one in self._members.alive.values()}
        ended = {
            number: self._members.of_number(number) or one
            for number, one in self._seen.items()
            if number not in alive
        }
        if any(one.parent not in alive and _is_left(one, ended) for one in ended.values()):
            self._lost = True
        if self._lost or len(alive) > MAX_READ:
            return None
        used_ns = 0
        for number, member in alive.items():
            one_ns = self._of(member.pid)
            if one_ns is None:
                return None  # it ends just now: the next reading has it with its parent
            used_ns += one_ns
            if number not in self._seen and member.before:
                self._before_ns += one_ns
        self._seen = alive
        return Used(max(0, used_ns - self._before_ns))

    def _of(self, pid: int) -> int | None:
        own = self._clock(pid)
        try:
            waited = waited_for_ticks(self._procfs.read(f"{pid}/stat", 4096))
        except (OSError, ValueError):
            return None
        return None if own is None else own + waited * _TICK_NS


def _is_left(one: Member, ended: Mapping[int, Member]) -> bool:
    """True if a process ended without a parent in the group that could have waited for it."""
    parent = ended.get(one.parent)
    return parent is None or parent.ended_ns < one.ended_ns


def account_of(
    kind: GroupKind,
    procfs: ProcFs,
    members: Members,
    cgroups: Sequence[Cgroup],
    clock: Callable[[int], int | None],
    groups: Path = GROUPS,
) -> GroupAccount | None:
    """The account of a group; None: there is none.

    Args:
        kind: of the group.
        procfs: root of /proc.
        members: of the group.
        cgroups: that it is defined by: the one with most processes counts.
        clock: see `RusageAccount`.
        groups: where control groups are mounted.
    """
    if kind == "tree":
        return RusageAccount(procfs, members, clock)
    counted = [one for one in cgroups if one.followed]
    return CgroupAccount(max(counted, key=_processes), groups) if counted else None


def _processes(cgroup: Cgroup) -> int:
    return len(processes_of(folders_below(cgroup.folder)))


def _moved(path: Path, kind: IoAccount) -> tuple[int, int] | None:
    """Bytes read and written, all devices added up; None: it cannot be read."""
    try:
        lines = path.read_bytes()[:_MAX_BYTES].decode(errors="replace").splitlines()
    except OSError:
        return None
    return _of_v2(lines) if kind == "io.stat" else _of_v1(lines)


def _of_v2(lines: Iterable[str]) -> tuple[int, int]:
    """Lines such as `8:0 rbytes=4096 wbytes=0 rios=1 wios=0 dbytes=0 dios=0`."""
    sums = {"rbytes": 0, "wbytes": 0}
    for line in lines:
        for word in line.split()[1:]:
            name, _, value = word.partition("=")
            if name in sums and value.isdecimal():
                sums[name] += int(value)
    return sums["rbytes"], sums["wbytes"]


def _of_v1(lines: Iterable[str]) -> tuple[int, int]:
    """Lines such as `8:0 Read 4096`."""
    sums = {"Read": 0, "Write": 0}
    for line in lines:
        words = line.split()
        if len(words) == 3 and words[1] in sums and words[2].isdecimal():
            sums[words[1]] += int(words[2])
    return sums["Read"], sums["Write"]


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file.read(_MAX_BYTES).decode(errors="replace")
    except OSError:
        return ""
