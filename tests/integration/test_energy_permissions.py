"""Counters that only root may read, looked at by someone else."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fake_proc import FakePowercap
from tidscope_collector.energy.rapl import find_zones

NOBODY = 65534


@contextmanager
def another_user() -> Iterator[None]:
    """Nobody in place of root; whoever is not root stays who he is."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(before)


def test_without_the_right_the_reason_is_that() -> None:
    # Below /tmp, since folders of tests cannot be entered by others.
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        tree = FakePowercap(Path(folder) / "sys").zone("intel-rapl:0", "package-0", 5)
        (tree.folder("intel-rapl:0") / "energy_uj").chmod(0o000)
        with another_user():
            found = find_zones(tree.sys)
    assert (found.zones, found.obstacle) == ((), "denied")
    assert "energy_uj of intel-rapl:0 is not permitted" in found.reason
