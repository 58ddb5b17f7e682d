"""Child processes: held until they are watched, and bound to their parent."""

import os
import re
import signal
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path

import pytest
from programs.build import build_c
from tidscope_backend.cli.command import CommandError
from tidscope_backend.cli.held_child import HELPER, HeldChild, Surroundings, spawn_held
from tidscope_backend.cli.relay import CommandExit, relay_until_exit
from tidscope_backend.processes import release_freed_memory

ROOT = Path(__file__).parents[2]
PROGRAMS = Path(__file__).parents[1] / "programs"
MIB = 1024 * 1024
BOTH = [(1,), (2,)]
either_way = pytest.mark.parametrize("helper", [HELPER, None], ids=["helper", "fork"])


def run(*command: str, helper: Path | None = HELPER) -> CommandExit:
    return relay_until_exit(spawn_held(command, BOTH, helper))


def written(exited: CommandExit) -> str:
    assert exited.tail is not None
    return exited.tail.text()


@pytest.fixture
def heavy_parent() -> bytearray:
    """Make this process larger than any program that is started here."""
    return bytearray(b"x") * (96 * MIB)


def test_there_is_a_helper_for_this_machine() -> None:
    assert HELPER is not None


@pytest.mark.parametrize("mib", [0, 40])
def test_peak_memory_is_that_of_the_command(mib: int, heavy_parent: bytearray) -> None:
    program = str(build_c(PROGRAMS / "peak_memory.c", "-static"))
    exited = run(program, str(mib))
    assert exited.code == 0
    assert len(heavy_parent) == 96 * MIB
    peak = exited.outcome([program], None).max_rss_bytes
    assert mib * MIB <= peak <= (mib + 2) * MIB


def test_peak_memory_agrees_with_a_parent_that_is_small(heavy_parent: bytearray) -> None:
    """GNU time forks the command from a process of its own size; pages are shared or not."""
    program = str(build_c(PROGRAMS / "peak_memory.c"))
    timed = subprocess.run(
        ["/usr/bin/time", "-f", "%M", program, "8"], capture_output=True, text=True, check=True
    )
    peak = run(program, "8").outcome([program], None).max_rss_bytes
    assert len(heavy_parent) == 96 * MIB
    assert peak == pytest.approx(int(timed.stderr) * 1024, abs=MIB)


@either_way
def test_the_command_has_not_run_before_it_is_released(tmp_path: Path, helper: Path | None) -> None:
    file = tmp_path / "written"
    child = spawn_held(["touch", str(file)], BOTH, helper)
    assert Path(f"/proc/{child.pid}/comm").read_text() == "touch\n"
    assert Path(f"/proc/{child.pid}/stat").read_text().split()[2] == "t"
    assert not file.exists()
    assert relay_until_exit(child).code == 0
    assert file.exists()


@either_way
def test_signals_that_python_ignores_have_their_default(helper: Path | None) -> None:
    exited = run("sh", "-c", "kill -PIPE $$", helper=helper)
    assert exited.code == 128 + signal.SIGPIPE


@either_way
def test_a_command_that_is_not_released_is_killed(helper: Path | None) -> None:
    child = spawn_held(["sleep", "600"], BOTH, helper)
    child.kill_if_held()
    with pytest.raises(ProcessLookupError):
        os.kill(child.pid, 0)


@either_way
@pytest.mark.parametrize(
    ("name", "make", "code", "reason"),
    [
        ("absent", lambda path: None, 127, "No such file"),
        ("plain", lambda path: path.write_text("no program"), 126, "Permission denied"),
        ("folder", lambda path: path.mkdir(), 126, "Permission denied"),
        (
            "garbage",
            lambda path: (path.write_text("no program"), path.chmod(0o700)),
            126,
            "Exec format error",
        ),
    ],
)
def test_what_cannot_be_executed_is_refused(
    tmp_path: Path,
    name: str,
    make: Callable[[Path], object],
    code: int,
    reason: str,
    helper: Path | None,
) -> None:
    path = tmp_path / name
    make(path)
    with pytest.raises(CommandError, match=reason) as refused:
        spawn_held([str(path)], BOTH, helper)
    assert refused.value.code == code


def test_no_descriptor_of_ours_is_left_open_in_the_command() -> None:
    child: HeldChild = spawn_held(["sleep", "600"])
    try:
        assert sorted(os.listdir(f"/proc/{child.pid}/fd")) == ["0", "1", "2"]
    finally:
        child.kill_if_held()


def test_the_helper_is_compiled_from_its_source(tmp_path: Path) -> None:
    assert HELPER is not None
    made = tmp_path / "spawn_held"
    subprocess.run(
        ["make", "spawn-held", f"SPAWN_OUT={made}"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )
    assert made.read_bytes() == HELPER.read_bytes(), "run `make spawn-held`"


@either_way
def test_the_command_gets_no_secret_of_tidscope(
    monkeypatch: pytest.MonkeyPatch, helper: Path | None
) -> None:
    for name in ("TOKEN", "VIEW_TOKEN", "COLLECTOR_SECRET", "RUNS", "AGENT_DIR"):
        monkeypatch.setenv(f"TIDSCOPE_{name}", "a value")
    monkeypatch.setenv("OF_THE_USER", "kept")
    found = written(run("env", "-0", helper=helper)).split("\0")
    names = {variable.partition("=")[0] for variable in found}
    # The folder of its agent's socket is a setting of the command.
    assert {name for name in names if name.startswith("TIDSCOPE_")} == {"TIDSCOPE_AGENT_DIR"}
    assert "OF_THE_USER=kept" in found


@either_way
def test_an_output_without_a_pipe_is_ours(tmp_path: Path, helper: Path | None) -> None:
    """Standard error is what it was, and nothing of it passes through us."""
    child = spawn_held(["sh", "-c", "readlink /proc/$$/fd/2; echo no >&2"], [(1,)], helper)
    exited = relay_until_exit(child)
    assert written(exited) == f"{Path('/proc/self/fd/2').readlink()}\n"


@either_way
def test_outputs_to_one_place_keep_their_order(helper: Path | None) -> None:
    script = "for i in 1 2 3 4 5 6 7 8; do echo out$i; echo err$i >&2; done"
    exited = relay_until_exit(spawn_held(["sh", "-c", script], [(1, 2)], helper))
    assert written(exited).split() == [f"{name}{i}" for i in range(1, 9) for name in ("out", "err")]


@either_way
def test_a_command_may_have_surroundings_of_its_own(tmp_path: Path, helper: Path | None) -> None:
    """Environment, folder, session and no input; a signal to its group is not for us."""
    script = "echo $NAME $HOME; pwd; cat; ps -o sid= -p $$; kill -TERM 0"
    environment = {"PATH": "/usr/bin:/bin", "NAME": "its own"}
    surroundings = Surroundings(environment, tmp_path, apart=True)
    child = spawn_held(["sh", "-c", script], BOTH, helper, surroundings)
    exited = relay_until_exit(child)
    name, folder, session = written(exited).splitlines()
    assert (name.strip(), folder) == ("its own", str(tmp_path))
    assert int(session) != os.getsid(0)
    assert os.WTERMSIG(exited.status) == signal.SIGTERM


@either_way
def test_a_relative_program_is_in_the_folder_of_the_command(
    tmp_path: Path, helper: Path | None
) -> None:
    (tmp_path / "own").write_text("#!/bin/sh\necho own\n")
    (tmp_path / "own").chmod(0o755)
    child = spawn_held(["./own"], BOTH, helper, Surroundings(directory=tmp_path))
    assert written(relay_until_exit(child)) == "own\n"


def test_children_that_were_waited_for_are_counted_apart() -> None:
    burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    alone, with_child = run("sh", "-c", burn), run("sh", "-c", f"({burn}; times); exit 3")
    assert alone.children_cpu_us == 0
    outcome = with_child.outcome(["sh"], None)
    assert outcome.children_cpu_us is not None
    # All in ticks of the clock. A stall of a virtual machine counts as CPU time of either shell.
    own, _ = written(with_child).splitlines()
    minutes_and_seconds = re.findall(r"(\d+)m([\d.]+)s", own)
    own_us = sum(60e6 * int(m) + 1e6 * float(s) for m, s in minutes_and_seconds)
    assert own_us > 0
    assert outcome.children_cpu_us >= own_us - 20_000
    assert outcome.user_cpu_us + outcome.system_cpu_us >= outcome.children_cpu_us - 20_000


class Reader:
    """Holds itself, as readers of runs do."""

    def __init__(self) -> None:
        self.part = self


ALLOCATE = """
import ctypes
from tidscope_backend.processes import map_large_buffers
{prepare}
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
class Mallinfo(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd",
        "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost",
    )]
libc.mallinfo2.restype = Mallinfo
libc.free(libc.malloc(16 << 20))
before = libc.mallinfo2().hblks
kept = libc.malloc(4 << 20)
print(libc.mallinfo2().hblks - before)
"""


def mapped_after_a_larger_one(prepare: str) -> int:
    """Number of mappings of a buffer of 4 MiB after one of 16 MiB was freed."""
    done = subprocess.run(
        [sys.executable, "-c", ALLOCATE.format(prepare=prepare)],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout)


def test_large_buffers_stay_mappings_of_their_own() -> None:
    assert mapped_after_a_larger_one("") == 0
    assert mapped_after_a_larger_one("map_large_buffers()") == 1


def test_what_holds_itself_is_released() -> None:
    reader = weakref.ref(Reader())
    assert reader() is not None
    release_freed_memory()
    assert reader() is None
