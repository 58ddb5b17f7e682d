"""Recording without a running tidscope: what it loads, and how it fails."""

import gc
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from tidscope_backend.cli import collect
from tidscope_backend.cli.collect import ForkedCollector
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.local_recorder import LocalRecorder
from tidscope_backend.cli.output_relay import Keeping
from tidscope_backend.cli.recording_client import RecordingOptions
from tidscope_backend.recording.part_sealer import PartSealer
from tidscope_backend.store.disk import Disk
from tidscope_backend.store.folder import RunFolder

NOTHING = RecordingOptions(
    None, [], None, None, None, None, None, Keeping(arguments=True, output=True)
)
SERVER = {"fastapi", "starlette", "uvicorn", "prometheus_client", "opentelemetry"}
ANALYSIS = {"duckdb", "pandas"}
READING = {"pyarrow", "numpy", "websockets", "asyncio"}
SAMPLING_ONLY = {
    "pyroute2",
    "tidscope_collector.doctor",
    "tidscope_collector.steering.commands",
    "tidscope_collector.steering.service",
    "tidscope_policies.algorithms",
    "tidscope_policies.registry",
}
"""Modules that a collector loads on demand: for the first time, for the doctor, to steer."""


def loaded_by(module: str) -> set[str]:
    """Modules and packages in a process that has imported a module."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.parametrize(
    ("module", "absent"),
    [
        ("tidscope_backend.cli", SERVER | ANALYSIS | READING | {"pydantic"}),
        ("tidscope_backend.cli.record", SERVER | ANALYSIS | READING),
        ("tidscope_backend.cli.local_recorder", SERVER | ANALYSIS),
        ("tidscope_collector.command_line", SERVER | ANALYSIS | SAMPLING_ONLY),
    ],
)
def test_a_recording_loads_no_more_than_it_needs(module: str, absent: set[str]) -> None:
    loaded = loaded_by(module)
    assert module.partition(".")[0] in loaded
    assert not loaded & absent


def test_what_is_loaded_is_left_out_of_later_collections() -> None:
    program = (
        "import gc; from tidscope_backend.cli import load; assert not gc.get_freeze_count(); "
        "load('record'); print(gc.isenabled(), gc.get_freeze_count())"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    enabled, frozen = done.stdout.split()
    assert enabled == "True"
    assert int(frozen) > 10_000


async def test_a_part_that_cannot_be_sealed_for_any_reason_does_not_stop_the_others(
    tmp_path: Path,
) -> None:
    sealed: list[int | None] = []

    async def seal(_: RunFolder, part: int | None) -> None:
        sealed.append(part)
        if part == 1:
            raise ImportError("no such library")

    folder = RunFolder(tmp_path / "r-20260101-000000-000000")
    folder.make()
    for part in (1, 2):
        folder.open_part(part).touch()
    sealer = PartSealer(Disk(), seal)
    sealer.start()
    sealer.part(folder, 1)
    sealer.part(folder, 2)
    await sealer.idle()
    await sealer.stop()
    assert sealed == [1, 2]


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module in the collector's place."""
    monkeypatch.setattr(collect, "PACKAGE", "in_its_place")
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "in_its_place.py"
    sys.modules.pop("in_its_place", None)


def test_a_collector_that_does_not_start_is_an_error_with_its_output(
    program: Path, tmp_path: Path
) -> None:
    program.write_text("raise SystemExit(print('no such kernel') or 3)")
    with (
        pytest.raises(CommandError, match=r"the collector did not start: no such kernel"),
        LocalRecorder(tmp_path / "runs", NOTHING, None),
    ):
        pass


def test_its_socket_is_in_a_folder_that_no_other_user_can_enter(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No port that others could connect to or take, and so no secret to give away."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    program.write_text(
        "import os, stat, sys\npath = sys.argv[-1].removeprefix('--backend=unix:')\n"
        "folder = os.stat(os.path.dirname(path))\n"
        "print(stat.S_ISSOCK(os.stat(path).st_mode), oct(folder.st_mode & 0o777), "
        "folder.st_uid == os.geteuid(), 'TIDSCOPE_COLLECTOR_SECRET' in os.environ)\n"
    )
    with (
        pytest.raises(CommandError, match=r"True 0o700 True False"),
        LocalRecorder(tmp_path / "runs", NOTHING, None),
    ):
        pass
    assert not list(tmp_path.glob("tidscope-*"))


class Owner:
    """Owner of a descriptor, which ends with it."""

    def __init__(self) -> None:
        self._file = os.open(os.devnull, os.O_RDONLY)

    def __del__(self) -> None:
        os.close(self._file)


def test_garbage_of_ours_closes_no_descriptor_of_a_collector(program: Path) -> None:
    """Descriptors of objects that nobody refers to any more get other owners in the collector."""
    program.write_text(
        "import gc, os\n"
        "mine = [os.open('/dev/null', os.O_RDONLY) for _ in range(64)]\n"
        "gc.collect()\n"
        "for one in mine: os.fstat(one)\n"
        "print('all open')\n"
    )
    gc.collect()
    gc.disable()
    try:
        cycle: list[object] = [Owner() for _ in range(4)]
        cycle.append(cycle)
        del cycle
        collector = ForkedCollector([])
    finally:
        gc.enable()
        gc.collect()
    try:
        os.waitid(os.P_PID, collector.pid, os.WEXITED | os.WNOWAIT)
        assert collector.output() == "all open"
    finally:
        collector.stop()


def test_a_collector_has_arguments_and_no_descriptor_of_ours(program: Path) -> None:
    program.write_text(
        "import os, sys\nprint(sys.argv[1:], sorted(map(int, "
        "os.listdir('/proc/self/fd')))[:3], os.getsid(0) == os.getpid(), flush=True)\n"
    )
    reading, writing = os.pipe()
    collector = ForkedCollector(["run", "--now"])
    os.close(writing)
    try:
        os.waitid(os.P_PID, collector.pid, os.WEXITED | os.WNOWAIT)
        assert collector.exited()
        assert collector.output() == "['run', '--now'] [0, 1, 2] True"
        # The copy of the writing end was closed.
        assert os.read(reading, 1) == b""
    finally:
        collector.stop()
        os.close(reading)
    with pytest.raises(ChildProcessError):
        os.waitpid(collector.pid, 0)
