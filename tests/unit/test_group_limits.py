"""Memory and disk limits in files of control groups of both versions."""

from pathlib import Path

from tidscope_collector.procfs.control_groups import memberships
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.group_limits import NO_LIMITS, Limits, LimitsMeter

PID = 42
MIB = 1 << 20
SECOND_NS = 1_000_000_000


class Groups:
    """A process in groups of files, and a meter of its limits."""

    def __init__(self, root: Path, listed: str) -> None:
        self._root = root / "cgroup"
        (root / "proc" / str(PID)).mkdir(parents=True)
        (root / "proc" / str(PID) / "cgroup").write_text(listed)
        self._procfs = ProcFs(root / "proc")
        self._meter = LimitsMeter()
        self._seconds = 0

    def write(self, group: str, files: dict[str, str]) -> None:
        folder = self._root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name).write_text(text)

    def read(self) -> Limits:
        """Read a second after the last reading."""
        self._seconds += 1
        member = memberships(self._procfs, PID, self._root)
        return self._meter.read(member, self._seconds * SECOND_NS)


def test_without_limits_nothing_is_said(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a\n")
    assert groups.read() == NO_LIMITS
    groups.write("a", {"memory.max": "max\n", "memory.high": "max\n", "io.max": "", "io.stat": ""})
    groups.write("a", {"memory.events": "low 0\nhigh 0\nmax 0\n"})
    assert groups.read() == NO_LIMITS


def test_the_smallest_memory_limit_counts_and_what_is_reached_of_any(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a/b\n")
    groups.write("a", {"memory.max": f"{64 * MIB}", "memory.events": "low 0\nhigh 0\nmax 90\n"})
    groups.write("a/b", {"memory.max": "max", "memory.high": f"{32 * MIB}"})
    groups.write("a/b", {"memory.events": "low 9\nhigh 7\nmax 0\noom 3\n"})
    assert groups.read() == Limits(memory_bytes=32 * MIB, memory_hits=0)
    groups.write("a", {"memory.events": "low 0\nhigh 0\nmax 95\n"})
    groups.write("a/b", {"memory.events": "low 9\nhigh 27\nmax 0\noom 3\n"})
    assert groups.read() == Limits(memory_bytes=32 * MIB, memory_hits=20)


def test_a_disk_limit_counts_while_it_is_used_up(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a\n")
    groups.write("a", {"io.max": f"8:0 rbps=max wbps={4 * MIB} riops=100 wiops=max\n"})
    stat = "8:16 rbytes=1 wbytes=2\n8:0 rbytes=5 wbytes={} rios={} wios=1 dbytes=0 dios=0\n"
    groups.write("a", {"io.stat": stat.format(0, 0)})
    assert groups.read()[4:] == (0, 0)
    groups.write("a", {"io.stat": stat.format(4 * MIB, 10)})
    assert groups.read() == Limits(
        disk_bytes=4 * MIB, reads_limited_us=0, writes_limited_us=1_000_000
    )
    groups.write("a", {"io.stat": stat.format(5 * MIB, 105)})
    assert groups.read() == Limits(
        disk_ios=100, reads_limited_us=1_000_000, writes_limited_us=1_000_000
    )


def test_version_1_has_other_files(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "5:blkio:/a\n4:memory:/a\n0::/\n")
    groups.write("memory", {"memory.limit_in_bytes": "9223372036854771712", "memory.failcnt": "9"})
    groups.write("memory/a", {"memory.limit_in_bytes": f"{MIB}\n", "memory.failcnt": "3\n"})
    groups.write("blkio/a", {"blkio.throttle.write_bps_device": "254:0 1000\n"})
    done = "254:0 Read 7\n254:0 Write {}\n254:0 Total 9\nTotal 9\n"
    groups.write("blkio/a", {"blkio.throttle.io_service_bytes_recursive": done.format(500)})
    assert groups.read()[:4] == (MIB, 0, 1000, None)
    groups.write("memory/a", {"memory.failcnt": "5\n"})
    groups.write("blkio/a", {"blkio.throttle.io_service_bytes_recursive": done.format(1450)})
    assert groups.read() == Limits(MIB, 2, 1000, None, 0, 1_000_000)
