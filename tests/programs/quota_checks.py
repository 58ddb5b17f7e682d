"""CPU limits of control groups of version 2 as the collector reads them.

Runs as a script, as root of a machine that mounts this version at /sys/fs/cgroup and has the
controller `cpu` in it.

Prints a line for each check: its name, and "agrees" or what was wrong.
"""

import os
import signal
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # Needed when run as a script.

from tidscope_collector.procfs.control_groups import GROUPS, memberships
from tidscope_collector.procfs.cpu_limit import ThrottlingMeter
from tidscope_collector.procfs.files import ProcFs

PERIODS = 10
PATIENCE_S = 60
OUTER, INNER = GROUPS / "outer", GROUPS / "outer" / "inner"


def limit(folder: Path, cores: float | None) -> None:
    """Limit a group."""
    (folder / "cpu.max").write_text("max" if cores is None else f"{round(cores * 1e5)} 100000")


@contextmanager
def computing() -> Iterator[int]:
    """A process in the inner group that computes without a pause."""
    pid = os.fork()
    if pid == 0:
        while True:
            pass
    try:
        (INNER / "cgroup.procs").write_text(str(pid))
        yield pid
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def counted(folder: Path) -> tuple[int, int, int]:
    """Periods, throttled ones, and microseconds of that, as the kernel counts them."""
    lines = (line.split() for line in (folder / "cpu.stat").read_text().splitlines())
    found = {name: int(value) for name, value in lines}
    return found["nr_periods"], found["nr_throttled"], found["throttled_usec"]


def throttled(folder: Path) -> None:
    """Whoever computes in a group that may have 0.3 of a CPU is throttled in nearly each period."""
    with computing() as pid:
        meter = ThrottlingMeter()
        earliest = counted(folder)
        meter.read(memberships(ProcFs(), pid))
        first = last = counted(folder)
        deadline = time.monotonic() + PATIENCE_S
        while last[0] - first[0] < PERIODS:
            assert time.monotonic() < deadline, (first, last)
            time.sleep(0.05)
            last = counted(folder)
        meter.read(memberships(ProcFs(), pid))
        latest = counted(folder)
    found = meter.periods, meter.throttled, meter.throttled_us
    assert meter.cores == 0.3, meter.cores
    for least, value, most in zip(
        (b - a for a, b in zip(first, last, strict=True)),
        found,
        (b - a for a, b in zip(earliest, latest, strict=True)),
        strict=True,
    ):
        assert value is not None, found
        assert least <= value <= most, (first, last, found, earliest, latest)
    # How often a busy host throttles is its own affair; the counts are the kernel's, see above.
    assert meter.throttled, found


def the_own_group_throttles() -> None:
    limit(OUTER, None)
    limit(INNER, 0.3)
    throttled(INNER)


def a_group_above_throttles() -> None:
    limit(OUTER, 0.3)
    limit(INNER, None)
    throttled(OUTER)


def the_tightest_limit_counts() -> None:
    with computing() as pid:
        meter = ThrottlingMeter()
        for outer, inner, cores in ((0.3, 0.2, 0.2), (0.3, 0.5, 0.3), (None, None, None)):
            limit(OUTER, outer)
            limit(INNER, inner)
            meter.read(memberships(ProcFs(), pid))
            assert meter.cores == cores, (outer, inner, meter.cores)


CHECKS = (the_own_group_throttles, a_group_above_throttles, the_tightest_limit_counts)


def main() -> int:
    """Run all checks."""
    for folder in (OUTER, INNER):
        (folder.parent / "cgroup.subtree_control").write_text("+cpu")
        folder.mkdir()
    failed = 0
    for check in CHECKS:
        try:
            check()
            state = "agrees"
        except Exception as error:
            traceback.print_exc()
            state, failed = f"{type(error).__name__}: {error}", failed + 1
        sys.stdout.write(f"{check.__name__}: {state}\n")
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
