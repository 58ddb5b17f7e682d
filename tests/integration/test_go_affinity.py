"""GOMAXPROCS of unmodified Go programs, steered by the CPUs that they may use."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self, TypedDict

import pytest
from asked_children import wait_for_children
from capabilities import needs
from processes import start_ticks, stop
from programs import affinity_collector
from programs.go_programs import ThreadsRun, confine
from programs.known_work import KnownWork
from tidscope_collector.inspection.reader import ask_go_chosen
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.steering.loop import go_affinity
from tidscope_collector.steering.loop.affinity_leases import LeaseFolderError, Leases
from tidscope_collector.steering.loop.cpu_masks import CpuShares
from tidscope_collector.steering.loop.go_affinity import (
    FOLLOWS_WITHIN_S,
    GoAffinityKnob,
    open_go_affinity,
)
from tidscope_collector.steering.loop.knob import KnobLostError, KnobRefusedError

PROC = ProcFs()
CPUS = frozenset(os.sched_getaffinity(0))

pytestmark = needs("two-cpus")


@pytest.fixture(scope="module", autouse=True)
def reading() -> None:
    """Have the fork server of this process ready."""
    wait_for_children()


@pytest.fixture
def leases(tmp_path: Path) -> Leases:
    return Leases(PROC, tmp_path / "leases")


@pytest.fixture
def program() -> Iterator[ThreadsRun]:
    with ThreadsRun() as running:
        assert running.size == len(CPUS)
        yield running


@pytest.fixture
def knob(program: ThreadsRun, leases: Leases) -> Iterator[GoAffinityKnob]:
    opened = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
    yield opened
    opened.close()


def wait_for(knob: GoAffinityKnob, size: int) -> None:
    """Until the runtime has this size: it looks once a second."""
    deadline = time.monotonic() + 60
    while knob.read() != size:
        assert time.monotonic() < deadline, f"GOMAXPROCS is still {knob.read()}"
        time.sleep(0.01)


def distinct(program: ThreadsRun) -> set[frozenset[int]]:
    return {frozenset(cpus) for cpus in program.masks().values()}


def files(leases: Path) -> list[str]:
    return sorted(path.name for path in leases.iterdir())


def test_the_program_follows_and_goes_back(
    program: ThreadsRun, knob: GoAffinityKnob, tmp_path: Path
) -> None:
    described = knob.describe()
    assert (described.kind, described.lower) == ("go-affinity", 1)
    assert described.upper == described.original == len(CPUS)
    assert files(tmp_path / "leases") == []
    knob.apply(1)
    assert distinct(program) == {frozenset({min(CPUS)})}
    assert files(tmp_path / "leases") == [f"{program.pid}.json"]
    wait_for(knob, 1)
    assert program.order("size") == 1
    knob.renew()
    knob.apply(len(CPUS))
    assert distinct(program) == {CPUS}
    wait_for(knob, len(CPUS))
    knob.apply(1)
    knob.restore()
    assert distinct(program) == {CPUS}
    assert files(tmp_path / "leases") == []
    wait_for(knob, len(CPUS))


def test_one_that_was_restored_a_moment_ago_is_steered_up_to_its_own_size(
    program: ThreadsRun, knob: GoAffinityKnob, leases: Leases
) -> None:
    knob.apply(1)
    wait_for(knob, 1)
    # The runtime does not check its CPUs now, so GOMAXPROCS stays that of one CPU.
    stop(program.pid)
    try:
        knob.restore()
        again = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
        assert again.read() == 1
        assert again.describe().upper == again.describe().original == len(CPUS)
        again.close()
    finally:
        os.kill(program.pid, signal.SIGCONT)
    wait_for(knob, len(CPUS))


def test_a_stripped_program_follows_too(leases: Leases) -> None:
    with ThreadsRun(("-ldflags=-s -w",)) as program:
        knob = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
        assert knob.describe().original == program.size == len(CPUS)
        knob.apply(1)
        wait_for(knob, 1)
        assert program.order("size") == 1
        knob.close()
        assert distinct(program) == {CPUS}


def test_new_threads_inherit_it(program: ThreadsRun, knob: GoAffinityKnob) -> None:
    knob.apply(1)
    before = set(program.masks())
    program.order("threads", 12)
    masks = program.masks()
    # Some threads were there already, idle.
    assert len(set(masks) - before) >= 6
    assert {frozenset(cpus) for cpus in masks.values()} == {frozenset({min(CPUS)})}
    assert knob.threads_missed() == []
    knob.restore()
    assert distinct(program) == {CPUS}


def test_none_is_missed_while_threads_come_and_go(
    program: ThreadsRun, knob: GoAffinityKnob
) -> None:
    program.order("threads", 30)
    program.order("storm")
    for _ in range(10):
        for size in (1, len(CPUS)):
            knob.apply(size)
            assert knob.threads_missed() == []
    knob.apply(1)
    knob.restore()
    assert distinct(program) == {CPUS}


def test_each_thread_gets_its_own_mask_back(program: ThreadsRun, leases: Leases) -> None:
    odd = program.order("threads", 3)
    os.sched_setaffinity(odd, {max(CPUS)})
    knob = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
    knob.apply(1)
    assert program.masks()[odd] == {min(CPUS)}
    program.order("threads", 3)
    knob.close()
    masks = program.masks()
    assert masks.pop(odd) == {max(CPUS)}
    assert {frozenset(cpus) for cpus in masks.values()} == {CPUS}


def test_what_others_set_meanwhile_stays(program: ThreadsRun, knob: GoAffinityKnob) -> None:
    knob.apply(1)
    tid = program.order("threads", 1)
    os.sched_setaffinity(tid, {max(CPUS)})
    assert knob.threads_missed() == [tid]
    knob.restore()
    assert program.masks()[tid] == {max(CPUS)}


def test_programs_get_cpus_of_their_own(program: ThreadsRun, leases: Leases) -> None:
    shares = CpuShares()
    with ThreadsRun() as other:
        first = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, shares)
        second = open_go_affinity(PROC, other.pid, start_ticks(other.pid), leases, shares)
        second.apply(1)
        first.apply(1)
        (mine,), (its,) = distinct(program), distinct(other)
        assert (sorted(mine), sorted(its)) == ([sorted(CPUS)[1]], [min(CPUS)])
        second.close()
        first.apply(1)
        assert distinct(program) == {mine}
        first.close()


@pytest.mark.parametrize("size", [0, -1, len(CPUS) + 1])
def test_bounds_cannot_be_left(program: ThreadsRun, knob: GoAffinityKnob, size: int) -> None:
    with pytest.raises(KnobRefusedError, match=f"not from 1 to {len(CPUS)}"):
        knob.apply(size)
    assert distinct(program) == {CPUS}


def test_a_program_that_ended_is_lost(
    program: ThreadsRun, knob: GoAffinityKnob, tmp_path: Path
) -> None:
    knob.apply(1)
    program.close()
    for call in (knob.read, knob.renew, lambda: knob.apply(1)):
        with pytest.raises(KnobLostError):
            call()
    knob.restore()
    assert files(tmp_path / "leases") == []


def test_nothing_is_changed_without_a_lease(
    program: ThreadsRun, knob: GoAffinityKnob, tmp_path: Path
) -> None:
    (tmp_path / "leases").rmdir()
    with pytest.raises(KnobRefusedError, match="without a lease"):
        knob.apply(1)
    assert distinct(program) == {CPUS}


class Collector:
    """Another process that steers."""

    def __init__(self, leases: Path, pid: int, size: int) -> None:
        arguments = [affinity_collector.__file__, str(leases), str(pid), str(size)]
        self.process = subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE)

    def wait(self) -> Self:
        """Until it steers."""
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == b"applied\n"
        return self

    def end(self, number: signal.Signals) -> int:
        """Return its exit code."""
        os.kill(self.process.pid, number)
        with self.process:
            return self.process.wait(120)


Start = Callable[[int], Collector]


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Starts collectors that give a process one CPU; they are killed at the end."""
    started: list[Collector] = []

    def start_one(pid: int) -> Collector:
        started.append(Collector(tmp_path / "leases", pid, 1))
        return started[-1].wait()

    yield start_one
    for collector in started:
        if collector.process.returncode is None:
            collector.end(signal.SIGKILL)


def test_sigterm_restores(program: ThreadsRun, start: Start, tmp_path: Path) -> None:
    collector = start(program.pid)
    assert distinct(program) == {frozenset({min(CPUS)})}
    assert collector.end(signal.SIGTERM) == 0
    assert distinct(program) == {CPUS}
    assert files(tmp_path / "leases") == []


def test_a_killed_collector_is_cleaned_up_after(
    program: ThreadsRun, start: Start, tmp_path: Path
) -> None:
    odd = program.order("threads", 2)
    os.sched_setaffinity(odd, {max(CPUS)})
    collector = start(program.pid)
    leases = Leases(PROC, tmp_path / "leases")
    # The collector lives: its lease must stay, and its program must not be steered.
    assert leases.recover() == []
    with pytest.raises(
        KnobRefusedError, match=f"Another collector, process {collector.process.pid}"
    ):
        open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
    assert collector.end(signal.SIGKILL) == -signal.SIGKILL
    program.order("threads", 2)
    assert distinct(program) == {frozenset({min(CPUS)})}
    (done,) = leases.recover()
    assert (done.pid, done.trouble) == (program.pid, "")
    masks = program.masks()
    assert done.threads >= 4  # Some may have come or gone since.
    assert masks.pop(odd) == {max(CPUS)}
    assert {frozenset(cpus) for cpus in masks.values()} == {CPUS}
    assert files(tmp_path / "leases") == []
    knob = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
    wait_for(knob, len(CPUS))
    knob.close()


def test_the_next_collector_recovers_at_its_start(
    program: ThreadsRun, start: Start, tmp_path: Path
) -> None:
    start(program.pid).end(signal.SIGKILL)
    with ThreadsRun() as other:
        collector = start(other.pid)
        assert distinct(program) == {CPUS}
        collector.end(signal.SIGTERM)


def test_a_lease_of_a_program_that_ended_is_dropped(
    program: ThreadsRun, start: Start, tmp_path: Path
) -> None:
    start(program.pid).end(signal.SIGKILL)
    program.close()
    (done,) = Leases(PROC, tmp_path / "leases").recover()
    assert (done.pid, done.threads, done.trouble) == (program.pid, 0, "")
    assert files(tmp_path / "leases") == []


def test_a_lease_of_an_id_that_was_reused_changes_nothing(start: Start, tmp_path: Path) -> None:
    with ThreadsRun() as program, ThreadsRun() as other:
        start(program.pid).end(signal.SIGKILL)
        # An id cannot be chosen: the lease is made to name another process, with the old start.
        path = tmp_path / "leases" / f"{program.pid}.json"
        text = path.read_text().replace(f'"pid":{program.pid},', f'"pid":{other.pid},')
        path.with_name(f"{other.pid}.json").write_text(
            text.replace(str(start_ticks(program.pid)), str(start_ticks(other.pid) - 1))
        )
        path.unlink()
        confine(other.pid, {min(CPUS)})
        (done,) = Leases(PROC, tmp_path / "leases").recover()
        assert done.threads == 0
        assert distinct(other) == {frozenset({min(CPUS)})}


class Arguments(TypedDict, total=False):
    """Arguments of ThreadsRun."""

    flags: tuple[str, ...]
    variables: dict[str, str]
    go_line: str


REFUSED: dict[str, tuple[Arguments, str]] = {
    "environment": ({"variables": {"GOMAXPROCS": "2"}}, "GOMAXPROCS=2 in its environment"),
    "go.mod": ({"go_line": "1.24"}, "go.mod below 1.25"),
    "GODEBUG": ({"variables": {"GODEBUG": "updatemaxprocs=0"}}, "updatemaxprocs=0 in GODEBUG"),
    "version": ({"flags": ("-ldflags=-X runtime.buildVersion=go1.24.9",)}, "with go1.24.9"),
    "no version": (
        {"flags": ("-ldflags=-X runtime.buildVersion=devel",)},
        "does not record its Go version",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_preflight_refuses(name: str, leases: Leases) -> None:
    arguments, reason = REFUSED[name]
    with ThreadsRun(**arguments) as program:
        with pytest.raises(KnobRefusedError, match=reason) as refused:
            open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
        assert str(refused.value).endswith(".")
        assert distinct(program) == {CPUS}


@pytest.mark.parametrize(
    "flags",
    [(), ("-buildmode=pie",), ("-ldflags=-compressdwarf=false",), ("-ldflags=-s -w",)],
    ids=["", "pie", "compressed", "stripped"],
)
def test_a_program_that_chose_itself_is_refused(flags: tuple[str, ...], leases: Leases) -> None:
    with ThreadsRun(flags) as program:
        assert ask_go_chosen(program.pid, start_ticks(program.pid)) is False
        program.order("choose", len(CPUS))
        assert ask_go_chosen(program.pid, start_ticks(program.pid)) is True
        with pytest.raises(KnobRefusedError, match=r"called runtime\.GOMAXPROCS itself"):
            open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())


@pytest.fixture
def unknown_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Programs without the runtime's note of who chose GOMAXPROCS."""
    monkeypatch.setattr(go_affinity, "ask_go_chosen", lambda *_: None)


@pytest.mark.usefixtures("unknown_choice")
def test_more_than_its_cpus_is_refused(leases: Leases) -> None:
    with ThreadsRun() as program:
        program.order("choose", len(CPUS) + 1)
        with pytest.raises(KnobRefusedError, match="does not follow the affinity"):
            open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())


def test_who_chose_is_known_without_debug_information() -> None:
    with ThreadsRun(("-ldflags=-w",)) as program:
        assert ask_go_chosen(program.pid, start_ticks(program.pid)) is False
        program.order("choose", len(CPUS))
        assert ask_go_chosen(program.pid, start_ticks(program.pid)) is True


@pytest.mark.usefixtures("unknown_choice")
def test_one_that_does_not_follow_is_found_out(leases: Leases, tmp_path: Path) -> None:
    """Programs of which nobody can tell beforehand whether they follow."""
    now_s = [0.0]
    with ThreadsRun() as program:
        program.order("choose", len(CPUS))
        knob = open_go_affinity(
            PROC, program.pid, start_ticks(program.pid), leases, CpuShares(), clock=lambda: now_s[0]
        )
        knob.apply(1)
        knob.renew()
        now_s[0] += FOLLOWS_WITHIN_S + 1
        deadline = time.monotonic() + 120
        with pytest.raises(KnobRefusedError, match=f"GOMAXPROCS is still {len(CPUS)}"):
            while time.monotonic() < deadline:
                knob.renew()
                time.sleep(0.01)  # The program must have worked for a while.
        assert distinct(program) == {CPUS}
        assert files(tmp_path / "leases") == []
        knob.close()


@pytest.mark.parametrize(
    "variables",
    [{"GOMAXPROCS": ""}, {"GOMAXPROCS": "many"}, {"GOMAXPROCS": "0"}, {"GOMAXPROCS": "-3"}],
)
def test_a_variable_that_the_runtime_ignores_is_ignored(
    variables: dict[str, str], leases: Leases
) -> None:
    with ThreadsRun(variables=variables) as program:
        assert program.size == len(CPUS)
        open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares()).close()


def test_the_environment_overrides_the_build(leases: Leases) -> None:
    with ThreadsRun(go_line="1.24", variables={"GODEBUG": "updatemaxprocs=1"}) as program:
        knob = open_go_affinity(PROC, program.pid, start_ticks(program.pid), leases, CpuShares())
        knob.apply(1)
        wait_for(knob, 1)
        knob.close()


def test_a_program_in_c_is_refused(known_work: KnownWork, leases: Leases) -> None:
    with pytest.raises(KnobRefusedError, match="Not a Go program"):
        open_go_affinity(PROC, known_work.pid, start_ticks(known_work.pid), leases, CpuShares())


def test_folders_that_are_not_safe(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    with pytest.raises(LeaseFolderError, match="open to others"):
        Leases(PROC, tmp_path / "open")
    (tmp_path / "link").symlink_to(tmp_path)
    with pytest.raises(LeaseFolderError, match="not a folder"):
        Leases(PROC, tmp_path / "link")
    (tmp_path / "theirs").mkdir(0o700)
    os.chown(tmp_path / "theirs", 65534, 65534)
    with pytest.raises(LeaseFolderError, match="another user"):
        Leases(PROC, tmp_path / "theirs")
    (tmp_path / "wide").mkdir()
    (tmp_path / "wide").chmod(0o777)
    with pytest.raises(LeaseFolderError, match="written to by others"):
        Leases(PROC, tmp_path / "wide" / "leases")
