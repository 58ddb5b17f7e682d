"""CPU limits of control groups, version 1 and 2, from files as the kernel writes them."""

from pathlib import Path

import pytest
from tidscope_collector.procfs.cgroup import CpuLimit, ThrottlingMeter, cpu_limit
from tidscope_collector.procfs.files import ProcFs

PID = 42
STAT = "usage_usec 5\nnr_periods {}\nnr_throttled {}\nthrottled_usec {}\nnr_bursts 0\n"


class Groups:
    """A /proc and a /sys/fs/cgroup of files."""

    def __init__(self, root: Path, listed: str) -> None:
        self.procfs, self.root = ProcFs(root / "proc"), root / "cgroup"
        (root / "proc" / str(PID)).mkdir(parents=True)
        (root / "proc" / str(PID) / "cgroup").write_text(listed)

    def write(self, group: str, **files: str) -> None:
        folder = self.root / group
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (folder / name.replace("__", ".")).write_text(text)

    def limit(self) -> CpuLimit | None:
        return cpu_limit(self.procfs, PID, self.root)


def test_the_tightest_limit_of_the_chain_counts(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/slice/service\n")
    groups.write("slice", cpu__max="200000 100000\n", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("slice/service", cpu__max="max 100000\n", cpu__stat=STAT.format(1, 1, 1))
    assert groups.limit() == CpuLimit(2.0, groups.root / "slice", 90, 30, 5000)
    groups.write("slice/service", cpu__max="50000 100000\n")
    assert groups.limit() == CpuLimit(0.5, groups.root / "slice/service", 1, 1, 1)


def test_version_1_counts_in_nanoseconds(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "3:memory:/a\n2:cpu,cpuacct:/a\n")
    groups.write(
        "cpu,cpuacct/a",
        cpu__cfs_quota_us="150000\n",
        cpu__cfs_period_us="100000\n",
        cpu__stat="nr_periods 9\nnr_throttled 4\nthrottled_time 7654321\n",
    )
    assert groups.limit() == CpuLimit(1.5, groups.root / "cpu,cpuacct/a", 9, 4, 7654)
    groups.write("cpu,cpuacct/a", cpu__cfs_quota_us="-1\n")
    assert groups.limit() is None


@pytest.mark.parametrize("listed", ["0::/", "0::/../other\n", "", "nonsense\n", "1:cpu:/gone\n"])
def test_where_nothing_is_known_there_is_no_limit(tmp_path: Path, listed: str) -> None:
    groups = Groups(tmp_path, listed)
    assert groups.limit() is None
    assert cpu_limit(groups.procfs, PID + 1, groups.root) is None


@pytest.mark.parametrize("text", ["", "max", "5 0", "-1 100000", "a b", "1 2 3"])
def test_a_limit_that_is_none_is_refused(tmp_path: Path, text: str) -> None:
    groups = Groups(tmp_path, "0::/a\n")
    groups.write("a", cpu__max=text)
    assert groups.limit() is None


def test_a_group_above_that_others_share_throttles_too(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a/b\n")
    groups.write("a", cpu__max="400000 100000", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("a/b", cpu__max="200000 100000", cpu__stat=STAT.format(50, 5, 100))
    meter = ThrottlingMeter(groups.procfs, PID, groups.root)
    meter.read()
    groups.write("a", cpu__stat=STAT.format(100, 37, 9000))
    groups.write("a/b", cpu__stat=STAT.format(60, 5, 100))
    meter.read()
    assert (meter.cores, meter.periods, meter.throttled, meter.throttled_us) == (2.0, 10, 7, 4000)
    # Nobody is throttled: the tightest one's periods count.
    groups.write("a", cpu__stat=STAT.format(110, 37, 9000))
    groups.write("a/b", cpu__stat=STAT.format(65, 5, 100))
    meter.read()
    assert (meter.cores, meter.periods, meter.throttled, meter.throttled_us) == (2.0, 15, 7, 4000)


def test_figures_begin_with_the_first_reading_and_never_fall(tmp_path: Path) -> None:
    groups = Groups(tmp_path, "0::/a/b\n")
    groups.write("a", cpu__max="100000 100000", cpu__stat=STAT.format(90, 30, 5000))
    groups.write("a/b", cpu__max="max 100000", cpu__stat=STAT.format(3, 2, 1))
    meter = ThrottlingMeter(groups.procfs, PID, groups.root)
    assert (meter.cores, meter.periods) == (None, None)

    def figures() -> tuple[float | None, int | None, int | None, int | None]:
        meter.read()
        return meter.cores, meter.periods, meter.throttled, meter.throttled_us

    assert figures() == (1.0, 0, 0, 0)
    groups.write("a", cpu__stat=STAT.format(100, 34, 5600))
    assert figures() == (1.0, 10, 4, 600)
    # Another group's limit is the tightest from here on.
    groups.write("a/b", cpu__max="50000 100000")
    assert figures() == (0.5, 10, 4, 600)
    groups.write("a/b", cpu__stat=STAT.format(8, 3, 11))
    assert figures() == (0.5, 15, 5, 610)
    groups.write("a", cpu__max="max 100000")
    groups.write("a/b", cpu__max="max 100000")
    assert figures() == (None, 15, 5, 610)
