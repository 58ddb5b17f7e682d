"""Builders of a /proc of files, one process at a time, and of the powercap tree of a /sys."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from tidscope_collector.inspection import asking, reader
from tidscope_collector.inspection.answering import Places
from tidscope_collector.procfs.files import ProcFs

PF_KTHREAD = 0x0020_0000


def stat_line(
    pid: int,
    name: bytes = b"prog",
    *,
    state: str = "S",
    parent: int = 0,
    flags: int = 0x40_0000,
    minflt: int = 0,
    majflt: int = 0,
    utime: int = 0,
    stime: int = 0,
    threads: int = 1,
    start: int = 1000,
    rss: int = 10,
    stack: int = 0,
) -> bytes:
    """A stat line of 52 fields, as proc_pid_stat(5) numbers them."""
    fields = ["0"] * 53
    for place, value in {
        3: state,
        4: parent,
        9: flags,
        10: minflt,
        12: majflt,
        14: utime,
        15: stime,
        20: threads,
        22: start,
        24: rss,
        28: stack,
    }.items():
        fields[place] = str(value)
    return f"{pid} (".encode() + name + b") " + " ".join(fields[3:]).encode() + b"\n"


def status_text(pid: int, uid: int = 0, switches: tuple[int, int] = (0, 0)) -> bytes:
    """The lines of a status file that are read, and some others."""
    return (
        f"Name:\tprog\nUmask:\t0022\nState:\tS (sleeping)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\n"
        f"Uid:\t{uid}\t{uid + 1}\t{uid}\t{uid}\nvoluntary_ctxt_switches:\t{switches[0]}\n"
        f"nonvoluntary_ctxt_switches:\t{switches[1]}\n"
    ).encode()


IO_TEXT = (
    b"rchar: 11\nwchar: 22\nsyscr: 33\nsyscw: 44\nread_bytes: 55\nwrite_bytes: 66\n"
    b"cancelled_write_bytes: 77\n"
)


class FakeProc:
    """A folder that looks like /proc."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.procfs = ProcFs(root)

    def write(self, relative: str, content: bytes) -> None:
        """One file, and the folders that it needs."""
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)

    def link(self, relative: str, goal: str) -> None:
        """One symbolic link; the goal need not exist."""
        path = self.root / relative
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(goal)

    def process(
        self,
        pid: int,
        stat: bytes | None = None,
        *,
        status: bytes | None = None,
        cmdline: bytes = b"prog\0--flag\0",
        exe: str | None = None,
        sockets: Sequence[int] = (),
        net: str = "net:[1]",
        tables: Mapping[str, bytes] | None = None,
    ) -> None:
        """A process with one thread."""
        self.write(f"{pid}/stat", stat or stat_line(pid))
        self.write(f"{pid}/status", status or status_text(pid))
        self.write(f"{pid}/cmdline", cmdline)
        self.write(f"{pid}/maps", b"")
        self.thread(pid, pid, stat)
        self.link(f"{pid}/ns/net", net)
        if exe is not None:
            self.link(f"{pid}/exe", exe)
        (self.root / str(pid) / "fd").mkdir()
        for number, inode in enumerate(sockets):
            self.link(f"{pid}/fd/{number}", f"socket:[{inode}]")
        for name, table in (tables or {}).items():
            self.write(f"{pid}/net/{name}", table)

    def thread(
        self,
        pid: int,
        tid: int,
        stat: bytes | None = None,
        *,
        switches: tuple[int, int] = (0, 0),
        schedstat: bytes | None = b"1 2 3\n",
        io: bytes | None = IO_TEXT,
    ) -> None:
        """A thread of a process; a file that is None is not there."""
        folder = f"{pid}/task/{tid}"
        self.write(f"{folder}/stat", stat or stat_line(tid))
        self.write(f"{folder}/status", status_text(pid, switches=switches))
        if schedstat is not None:
            self.write(f"{folder}/schedstat", schedstat)
        if io is not None:
            self.write(f"{folder}/io", io)


@contextmanager
def children_look_at(root: Path) -> Iterator[None]:
    """Limited children of a fork server whose /proc is such a folder."""
    made = asking.make_children(Places(proc=str(root), made=True))
    with (
        patch.object(asking, "children", lambda: made),
        patch.object(reader, "children", lambda: made),
    ):
        yield
    made.close()


RANGE_UJ = 262_143_328_850
"""Energy range of most Intel packages: 32 bits of 61 µJ."""


class FakePowercap:
    """Zones below a folder, as /sys has them: folders by device, and links to them by class."""

    def __init__(self, root: Path) -> None:
        self.sys = root
        (root / "class/powercap").mkdir(parents=True)

    def zone(
        self, entry: str, name: str, energy_uj: int = 0, *, range_uj: int = RANGE_UJ
    ) -> "FakePowercap":
        """Add a zone, such as intel-rapl:0:1."""
        folder = self.folder(entry)
        folder.mkdir(parents=True)
        (folder / "name").write_text(f"{name}\n")
        (folder / "max_energy_range_uj").write_text(f"{range_uj}\n")
        self.set(entry, energy_uj)
        (self.sys / "class/powercap" / entry).symlink_to(folder)
        return self

    def folder(self, entry: str) -> Path:
        """Folder of a zone's files."""
        return self.sys / "devices/virtual/powercap" / entry

    def set(self, entry: str, energy_uj: int) -> None:
        """Give a counter another value, as the same file."""
        (self.folder(entry) / "energy_uj").write_text(f"{energy_uj}\n")
