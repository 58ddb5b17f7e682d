"""Views of /proc and energy counters without rights, and the answers to them."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from fake_proc import FakePowercap
from programs.go_programs import GoProgramRun
from programs.known_work import KnownWork
from programs.unprivileged import see
from tidscope_collector.energy.rapl import find_zones
from tidscope_collector.processes.identity import Absence, Identity, attach_refusal, identify
from tidscope_collector.procfs.files import ProcFs

NOBODY = 65534


def hidden_proc(mode: int) -> list[str]:
    """A command that runs another one where /proc hides the processes of others."""
    mount = f'mount -t proc -o hidepid={mode} proc /proc && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", mount, "sh"]


def test_threads_of_another_user_are_read_without_io(known_work: KnownWork) -> None:
    own = known_work.command("b").thread
    seen: Any = see(NOBODY, "read", known_work.pid)
    schedstat = Path(f"/proc/{known_work.pid}/task/{own.tid}/schedstat").read_text()
    assert "read_char_bytes" in seen["absent"]
    assert "CAP_SYS_PTRACE" in seen["absent"]["disk_write_bytes"]
    row = seen["tids"].index(known_work.tids["burner"])
    cpu = seen["counters"][row][seen["fields"].index("cpu_run_ns")]
    # The burner runs on after its own reading, until it sleeps.
    assert own.cpu_ns <= cpu <= int(schedstat.split()[0])
    assert {"voluntary_switches", "minor_faults", "cpu_delay_ns"} <= set(seen["fields"])


def test_ones_own_threads_are_read_with_io() -> None:
    with KnownWork(uid=NOBODY) as program:
        program.command("w")
        seen: Any = see(NOBODY, "read", program.pid)
        row = seen["tids"].index(program.tids["writer"])
        written = seen["counters"][row][seen["fields"].index("write_char_bytes")]
        assert written == program.file.stat().st_size


def test_the_list_shows_what_it_may_of_another_user(known_work: KnownWork) -> None:
    (process,) = see(NOBODY, "processes", known_work.pid)
    assert process["name"] == "known_work"
    assert process["threads"] == 5
    assert process["executable"] is None
    assert process["runtime"] == "unknown"
    assert process["refusal"] is None


def test_gomaxprocs_of_another_user_is_not_permitted() -> None:
    with GoProgramRun() as program:
        seen: Any = see(NOBODY, "gomaxprocs", program.pid)
    assert seen["value"] is None
    assert "CAP_SYS_PTRACE" in seen["reason"]


@pytest.mark.parametrize("mode", [1, 2])
def test_a_process_that_proc_hides_is_not_unknown(known_work: KnownWork, mode: int) -> None:
    assert see(NOBODY, "identify", known_work.pid, within=hidden_proc(mode)) == "HIDDEN"
    problem = attach_refusal(known_work.pid, Absence.HIDDEN, None)
    assert problem is not None
    assert problem.status == 403


def test_what_is_hidden_is_hidden_from_nobody_only(known_work: KnownWork) -> None:
    seen: Any = see(0, "identify", known_work.pid, within=hidden_proc(2))
    assert seen["name"] == "known_work"


def test_hidepid_1_lists_a_process_as_refused(known_work: KnownWork) -> None:
    (process,) = see(NOBODY, "processes", known_work.pid, within=hidden_proc(1))
    assert process["refusal"]["type"].endswith("not-permitted")
    assert process["uid"] == 0


def test_a_real_kernel_thread_is_refused() -> None:
    found = identify(ProcFs(), 2)
    problem = attach_refusal(2, found, None)
    assert problem is not None
    assert problem.type.endswith("kernel-thread")
    assert "kthreadd" in problem.detail


def test_a_real_thread_is_refused_with_its_process(known_work: KnownWork) -> None:
    tid = known_work.tids["burner"]
    problem = attach_refusal(tid, identify(ProcFs(), tid), None)
    assert problem is not None
    assert problem.type.endswith("unknown-process")
    assert str(known_work.pid) in problem.hint


def test_a_real_zombie_has_ended(known_work: KnownWork) -> None:
    known_work.kill_unreaped()
    problem = attach_refusal(known_work.pid, identify(ProcFs(), known_work.pid), None)
    assert problem is not None
    assert problem.type.endswith("target-exited")


def test_a_real_process_that_was_reaped_is_unknown(known_work: KnownWork) -> None:
    known_work.kill()
    assert identify(ProcFs(), known_work.pid) is Absence.MISSING


def test_a_process_without_its_main_thread_may_be_attached_to(known_work: KnownWork) -> None:
    known_work.send("z")
    known_work.answer()
    found = identify(ProcFs(), known_work.pid)
    assert isinstance(found, Identity)
    assert attach_refusal(known_work.pid, found, found.start_ticks) is None


def test_this_process_is_identified() -> None:
    found = identify(ProcFs(), os.getpid())
    assert isinstance(found, Identity)
    assert (found.group, found.uid) == (os.getpid(), os.getuid())


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
