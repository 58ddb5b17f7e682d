"""What a collector restores at its start, and says of it."""

import os
from pathlib import Path

from fake_proc import FakeProc
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.knobs.leases import Leases
from tidscope_collector.steering.loop.setup import open_setup_opener


def test_programs_that_a_dead_collector_left_are_named(tmp_path: Path) -> None:
    proc = FakeProc(tmp_path / "proc")
    proc.process(os.getpid())
    proc.process(100)
    procfs, folder = ProcFs(tmp_path / "proc"), tmp_path / "leases"
    leases = Leases(procfs, folder)
    for pid in (100, 101):
        lease = leases.new(pid, 1000, [], frozenset({0, 1}), 2)
        leases.write(lease.model_copy(update={"owner_pid": 999_999}))
    _, restored = open_setup_opener(procfs, folder)
    # The other one has ended: nothing of it is left to restore.
    assert [(one.pid, one.threads, one.problem) for one in restored] == [(100, 0, "")]
    assert list(folder.iterdir()) == []
    assert leases.restored_size(100, 1000) is None
