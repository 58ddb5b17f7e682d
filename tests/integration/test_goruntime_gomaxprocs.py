"""GOMAXPROCS read from running Go programs is what they say themselves."""

import os
import subprocess
from pathlib import Path

import pytest
from asked_children import wait_for_children
from capabilities import needs
from processes import start_ticks, wait_until
from programs.build import build_go
from programs.go_programs import SOURCE, GoProgramRun, confine
from programs.known_work import KnownWork
from tidscope_collector.goruntime.elf import read_elf
from tidscope_collector.goruntime.runtime_variables import (
    chosen_address,
    custom_address,
    gomaxprocs_address,
)
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, open_gomaxprocs
from tidscope_collector.procfs.files import ProcFs

PROC = ProcFs()
STRIPPED = ("-ldflags=-s -w",)
SMALL = SOURCE.with_name("small.go")


@pytest.fixture(scope="module", autouse=True)
def reading() -> None:
    """Have the fork server of this process ready."""
    wait_for_children()


def reader_of(pid: int) -> GomaxprocsReader:
    program = open_gomaxprocs(pid, start_ticks(pid))
    assert program.reason == ""
    assert program.reader is not None
    return program.reader


@pytest.mark.parametrize(
    "flags",
    [(), ("-buildmode=pie",), ("-ldflags=-w",), STRIPPED, ("-buildmode=pie", *STRIPPED)],
    ids=["", "pie", "no debug information", "stripped", "stripped pie"],
)
def test_each_change_is_seen(flags: tuple[str, ...]) -> None:
    steps = (1, 7, 64, 2)
    with GoProgramRun(steps, flags) as program:
        reader = reader_of(program.pid)
        assert reader.read() == program.said == 3
        for step in steps:
            assert program.step() == step
            assert reader.read() == step
        reader.close()


def test_version_and_settings_are_reported() -> None:
    with GoProgramRun(flags=("-buildmode=pie",)) as program:
        found = open_gomaxprocs(program.pid, start_ticks(program.pid))
        assert found.reader is not None
        found.reader.close()
    version = subprocess.run(
        ["go", "version", str(build_go(SOURCE, "-buildmode=pie"))],
        env={**os.environ, "PATH": f"{os.environ['PATH']}:/usr/local/go/bin"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()[-1]
    assert found.version == version
    assert found.settings["-buildmode"] == "pie"


def test_a_stripped_program_whose_code_says_nothing_has_a_reason(tmp_path: Path) -> None:
    """A function table without the function that sets GOMAXPROCS."""
    program = build_go(SOURCE, *STRIPPED).read_bytes()
    changed = tmp_path / "changed"
    changed.write_bytes(program.replace(b"\0runtime.procresize\0", b"\0runtime.procresizX\0"))
    changed.chmod(0o755)
    assert changed.read_bytes() != program
    with subprocess.Popen([changed], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = open_gomaxprocs(process.pid, start_ticks(process.pid))
        process.kill()
    assert found.reader is None
    assert "stripped" in found.reason
    assert (found.version or "").startswith("go1.")


@pytest.mark.parametrize("processor", ["amd64", "arm64"])
@pytest.mark.parametrize("mode", ["exe", "pie"])
def test_the_code_says_what_the_symbols_say(processor: str, mode: str) -> None:
    path = build_go(SMALL, f"-buildmode={mode}", processor=processor)
    with path.open("rb") as file:
        elf = read_elf(file.fileno())
        symbol = elf.variable("runtime.gomaxprocs")
        assert symbol is not None
        assert gomaxprocs_address(elf) == symbol.address
        assert custom_address(elf) == chosen_address(elf)
        assert custom_address(elf) is not None


def test_a_program_in_c_is_no_go_program(known_work: KnownWork) -> None:
    found = open_gomaxprocs(known_work.pid, start_ticks(known_work.pid))
    assert (found.reader, found.reason, found.version) == (None, "Not a Go program.", None)


def test_a_kernel_thread_has_no_executable() -> None:
    found = open_gomaxprocs(2, start_ticks(2))
    assert found.reader is None
    assert "no executable" in found.reason


def test_nothing_is_read_after_the_end() -> None:
    with GoProgramRun() as program:
        reader = reader_of(program.pid)
        assert reader.read() == 3
    assert reader.read() is None
    reader.close()
    reader.close()
    assert reader.read() is None


def test_nothing_is_read_after_an_exec() -> None:
    with GoProgramRun((5,), exec_at_end=True) as program:
        reader = reader_of(program.pid)
        assert reader.read() == 3
        program.step()
        assert program.replaced() == program.pid
        assert reader.read() is None
        reader.close()


def test_a_deleted_executable_is_read_through_proc() -> None:
    with GoProgramRun(delete=True) as program:
        assert "(deleted)" in str(Path(f"/proc/{program.pid}/exe").readlink())
        reader = reader_of(program.pid)
        assert reader.read() == 3
        reader.close()


@needs("two-cpus")
def test_the_runtime_adapts_by_itself_and_that_is_seen() -> None:
    processors = os.sched_getaffinity(0)
    with GoProgramRun(gomaxprocs=None) as program:
        reader = reader_of(program.pid)
        assert reader.read() == len(processors)
        confine(program.pid, {min(processors)})
        wait_until(lambda: reader.read() == 1)
        reader.close()
