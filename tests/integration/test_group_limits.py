"""Memory and disk limits of real control groups, reached by real programs."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from capabilities import missing, needs
from group_targets import GROUPS, control_group, move
from processes import wait_until
from tidscope_collector.procfs.control_groups import memberships
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.group_limits import Limits, LimitsMeter

MIB = 1 << 20
READS = """
import mmap, os, random, sys
with open(sys.argv[1], "w+b") as file:
    sys.stdin.readline()
    for _ in range(48):
        file.write(os.urandom(1 << 20))
    file.flush()
    os.fsync(file.fileno())
    with mmap.mmap(file.fileno(), 48 << 20, prot=mmap.PROT_READ) as memory:
        memory.madvise(mmap.MADV_RANDOM)
        while True:
            memory[random.randrange(48 << 20)]
"""
WRITES = """
import mmap, os, sys, threading
block = mmap.mmap(-1, 1 << 16)
sys.stdin.readline()
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT | os.O_DIRECT)
def write():
    while True:
        os.pwrite(file, block, 0)
for _ in range(8):
    threading.Thread(target=write).start()
"""
"""Several threads write: while one waits for a CPU, writes of others use up the limit."""


def mount_of(controller: str) -> str:
    """The hierarchy of a controller: its own of version 1, or the unified one."""
    if (GROUPS / controller / "cgroup.procs").exists():
        return controller
    name = {"blkio": "io"}.get(controller, controller)
    if name in (GROUPS / "cgroup.subtree_control").read_text().split():
        return "."
    raise missing("cgroup-limits", f"no control groups with {name}")


@contextmanager
def limited(controller: str, files: dict[str, str], program: str, path: Path) -> Iterator[int]:
    """Run a program in a control group with limits.

    Args:
        controller: by its name in version 1.
        files: limit files of the group, by version 1 and 2.
        program: a program in Python that begins with a line of input.
        path: file for it.
    """
    mount = mount_of(controller)
    with control_group(mount, f"tidscope-limits-{os.getpid()}") as group:
        for name, limit in files.items():
            if (group / name).exists():
                (group / name).write_text(limit)
        with subprocess.Popen(
            [sys.executable, "-c", program, path], stdin=subprocess.PIPE, text=True
        ) as process:
            try:
                move(process.pid, group)
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
                yield process.pid
            finally:
                process.kill()
                process.wait()
                path.unlink(missing_ok=True)


def read(meter: LimitsMeter, pid: int) -> Limits:
    return meter.read(memberships(ProcFs(), pid), time.monotonic_ns())


def written(pid: int) -> int:
    """Bytes that a process has written to disks."""
    lines = Path(f"/proc/{pid}/io").read_text().splitlines()
    return int(dict(line.split(": ") for line in lines)["write_bytes"])


@pytest.fixture
def file() -> Path:
    # Memory file systems have no pages to read again, and no device to limit.
    return Path("/var/tmp") / f"tidscope-limits-{os.getpid()}"


@needs("root")
def test_a_memory_limit_is_reached_again_and_again(file: Path) -> None:
    files = {"memory.limit_in_bytes": f"{24 * MIB}", "memory.max": f"{24 * MIB}"}
    with limited("memory", files, READS, file) as pid:
        meter = LimitsMeter()
        assert read(meter, pid).memory_bytes == 24 * MIB
        wait_until(lambda: (read(meter, pid).memory_hits or 0) > 100)


@needs("root")
def test_a_disk_limit_is_used_up(file: Path) -> None:
    device = file.parent.stat().st_dev
    number = f"{os.major(device)}:{os.minor(device)}"
    files = {
        "blkio.throttle.write_bps_device": f"{number} {MIB}",
        "io.max": f"{number} wbps={MIB}",
    }
    with limited("blkio", files, WRITES, file) as pid:
        meter = LimitsMeter()
        wait_until(lambda: written(pid) > 0)
        assert read(meter, pid).disk_bytes == MIB

        def limited_for_a_while() -> bool:
            # Other writers of a busy disk may leave the program less than its limit at times.
            first = written(pid)
            wait_until(lambda: written(pid) >= first + 2 * MIB)
            return bool(read(meter, pid).writes_limited_us)

        wait_until(limited_for_a_while)
        assert read(meter, pid).reads_limited_us == 0
