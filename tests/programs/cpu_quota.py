"""A cgroup of its own with a limit of CPU time, under either version of cgroups."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from capabilities import missing
from processes import remove_group

_PERIOD_US = 100_000
_ROOT = Path("/sys/fs/cgroup")


@contextmanager
def cpu_quota(pid: int, share: float) -> Iterator[Path]:
    """Limit a process to a share of one CPU; yield the cgroup folder. The process must end within.

    Raises:
        pytest.skip.Exception: no cgroup with a limit can be made.
    """
    quota = int(share * _PERIOD_US)
    unified = (_ROOT / "cgroup.controllers").exists()
    folder = (_ROOT if unified else _ROOT / "cpu") / f"tidscope-test-{os.getpid()}"
    try:
        folder.mkdir()
        # The largest weights, or the process seldom reaches its limit on a busy machine.
        if unified:
            (folder / "cpu.weight").write_text("10000")
            (folder / "cpu.max").write_text(f"{quota} {_PERIOD_US}")
        else:
            (folder / "cpu.shares").write_text("262144")
            (folder / "cpu.cfs_period_us").write_text(str(_PERIOD_US))
            (folder / "cpu.cfs_quota_us").write_text(str(quota))
        (folder / "cgroup.procs").write_text(str(pid))
    except OSError as error:
        if folder.exists():
            folder.rmdir()
        raise missing("cpu-quota", str(error)) from error
    try:
        yield folder
    finally:
        remove_group(folder, _ROOT if unified else _ROOT / "cpu")
