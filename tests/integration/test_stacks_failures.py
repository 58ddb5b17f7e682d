"""The program that takes stacks is killed, is missing, or is not wanted any more."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from capabilities import needs
from processes import children, is_running, wait_for_end, wait_until
from programs.known_code import KnownCode, command
from stack_collector import StackCollector, StackedTarget
from tidscope_collector.stacks.program import StackProgram, start_program
from tidscope_collector.stacks.service import MAX_FAILURES
from tidscope_wire.problems import ProblemError

pytestmark = [needs("root"), needs("btf"), needs("stacks")]

PERF_EVENT = "anon_inode:[perf_event]"


@pytest.fixture
def program() -> StackProgram:
    made = start_program()
    assert isinstance(made, StackProgram)
    return made


@pytest.fixture
def collector(program: StackProgram) -> Iterator[StackCollector]:
    with StackCollector(program) as made:
        yield made
    wait_for_end(program.pid)


@pytest.fixture
def target(collector: StackCollector) -> Iterator[StackedTarget]:
    """A target that works all along, and whose stacks are taken."""
    with KnownCode(command("c")) as working:
        working.begin(600)
        made = collector.attach(working.pid)
        yield made


def taking(collector: StackCollector, target: StackedTarget) -> int:
    """Wait until known stacks come; return the worker's process ID."""
    collector.sample(target)
    # Samples of an earlier worker may still come before this one is started.
    collector.until(lambda: is_sampling(collector))
    known = number_of_known(target)
    collector.until(lambda: number_of_known(target) > known)
    (worker,) = living_children(program_of(collector).pid)
    return worker


def is_sampling(collector: StackCollector) -> bool:
    status = collector.service.status
    return status is not None and status.state == "sampling"


def kill(collector: StackCollector, worker: int) -> None:
    """Kill a worker, and wait until the service knows."""
    ended = ended_periods(collector)
    os.kill(worker, signal.SIGKILL)
    collector.until(lambda: ended_periods(collector) > ended)


def ended_periods(collector: StackCollector) -> int:
    return sum(period.end_ns > 0 for period in collector.service.periods())


def number_of_known(target: StackedTarget) -> int:
    return int((target.samples["node"] > 0).sum())


def program_of(collector: StackCollector) -> StackProgram:
    program = collector.service._program
    assert isinstance(program, StackProgram)
    return program


def living_children(pid: int) -> list[int]:
    """Return children of a process that have not ended."""
    return [child for child in children(pid) if is_running(child)]


def perf_events(pid: int) -> int:
    """Return how many perf events a process has open."""
    found = 0
    for link in Path(f"/proc/{pid}/fd").iterdir():
        # The unwinder opens and closes files of the programs that it sees.
        with suppress(FileNotFoundError):
            found += str(link.readlink()) == PERF_EVENT
    return found


def cpu_ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def frames_go_on(collector: StackCollector, target: StackedTarget) -> None:
    """Check that a target's frames have states of its threads as ever."""
    seen = len(target.times)
    collector.until(lambda: len(target.times) >= seen + 5)
    assert target.target.process.pid in target.seen.rows


def until_state(collector: StackCollector, is_so: Callable[[], bool]) -> None:
    """Take frames until something is so that no frame tells."""
    collector.until(is_so)


def test_a_killed_worker_begins_again(collector: StackCollector, target: StackedTarget) -> None:
    worker = taking(collector, target)
    assert perf_events(worker) >= (os.cpu_count() or 1)
    kill(collector, worker)
    until_state(collector, lambda: len(collector.service.periods()) == 2)
    first, second = collector.service.periods()
    assert first.begin_ns < first.end_ns < second.begin_ns
    assert taking(collector, target) != worker
    assert collector.state(target).trigger == "tracepoint"
    rows = target.samples
    assert rows["sample"].tolist() == list(range(1, len(rows) + 1))


def test_a_worker_that_is_killed_all_the_time_is_given_up(
    collector: StackCollector, target: StackedTarget
) -> None:
    for _ in range(MAX_FAILURES):
        kill(collector, taking(collector, target))
    state = collector.given_up(target)
    assert "signal: killed" in state.reason
    assert (state.trigger, state.until_unix_us) == ("none", None)
    assert all(period.end_ns for period in collector.service.periods())
    frames_go_on(collector, target)
    with pytest.raises(ProblemError, match="signal: killed"):
        collector.sample(target)


def test_without_the_keeper_there_is_a_reason_and_targets_go_on(
    collector: StackCollector, program: StackProgram, target: StackedTarget
) -> None:
    worker = taking(collector, target)
    os.kill(program.pid, signal.SIGKILL)
    state = collector.given_up(target)
    wait_for_end(worker)
    assert "closed its connection" in state.reason
    assert (state.trigger, state.until_unix_us) == ("none", None)
    frames_go_on(collector, target)
    # The ledger chooses nothing for nobody.
    collector.settle(target)
    samples = len(target.samples)
    collector.settle(target)
    assert len(target.samples) == samples
    with pytest.raises(ProblemError, match="closed its connection"):
        collector.sample(target)


def test_a_keeper_that_hangs_does_not_keep_the_collector(
    collector: StackCollector, program: StackProgram, target: StackedTarget
) -> None:
    worker = taking(collector, target)
    os.kill(program.pid, signal.SIGSTOP)
    collector.close()
    wait_for_end(program.pid)
    wait_for_end(worker)


def test_after_the_lease_nothing_is_open_and_nothing_is_spent(
    collector: StackCollector, program: StackProgram, target: StackedTarget
) -> None:
    worker = taking(collector, target)
    collector.service.forget(target.target.id)
    # A lease that has ended lets the program linger; a forgotten one does not.
    until_state(collector, lambda: collector.service.periods()[-1].end_ns > 0)
    wait_for_end(worker)
    assert living_children(program.pid) == []
    assert perf_events(program.pid) == 0

    def spends_nothing() -> bool:
        before, since = cpu_ticks(program.pid), collector.now_ns(target)
        collector.until(lambda: target.times[-1] >= since + 2_000_000_000)
        # Ticks are rounded down: microseconds may make one more.
        return cpu_ticks(program.pid) <= before + 1

    # The end of the worker may still cost CPU in the first two seconds.
    assert spends_nothing() or spends_nothing()
    assert collector.state(target).trigger == "none"


def test_a_short_lease_ends_by_itself(collector: StackCollector, target: StackedTarget) -> None:
    state = collector.sample(target, 1)
    assert state.until_unix_us is not None
    # On a busy machine the lease may end before the first stack is taken.
    until_state(
        collector,
        lambda: collector.service.status is not None and collector.service.status.state == "ended",
    )
    wait_until(lambda: living_children(program_of(collector).pid) == [])


def test_the_program_holds_no_more_rights_than_it_needs(
    collector: StackCollector, program: StackProgram, target: StackedTarget
) -> None:
    worker = taking(collector, target)
    effective = int(_status(worker, "CapEff"), 16)
    bounding = int(_status(worker, "CapBnd"), 16)
    sys_admin, perfmon, bpf, net_admin = 21, 38, 39, 12
    assert effective >> bpf & 1
    assert not effective >> sys_admin & 1
    assert not effective >> perfmon & 1
    assert not bounding >> net_admin & 1
    assert _status(worker, "Seccomp") == "2"
    assert _status(worker, "NoNewPrivs") == "1"
    assert not int(_status(program.pid, "CapEff"), 16) >> sys_admin & 1


def _status(pid: int, key: str) -> str:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(line.split()[1] for line in lines if line.startswith(f"{key}:"))


def test_without_the_program_everything_else_works(tmp_path: Path) -> None:
    missing = start_program(tmp_path / "tidscope-stacks")
    assert not isinstance(missing, StackProgram)
    with StackCollector(missing) as collector, KnownCode(command("c")) as working:
        target = collector.attach(working.pid)
        working.begin(0.2)
        working.account()
        collector.now_ns(target)
        with pytest.raises(ProblemError, match="not part of this installation"):
            collector.sample(target)
        assert not len(target.samples)
        frames_go_on(collector, target)


def test_a_program_that_cannot_be_executed_is_an_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "tidscope-stacks"
    path.write_bytes(b"no program")
    path.chmod(0o755)
    found = start_program(path)
    assert not isinstance(found, StackProgram)
    assert "Exec format error" in found.reason


def test_a_program_that_ends_at_once_is_given_up(tmp_path: Path) -> None:
    path = tmp_path / "tidscope-stacks"
    path.symlink_to("/bin/true")
    made = start_program(path)
    assert isinstance(made, StackProgram)
    with StackCollector(made) as collector, KnownCode(command("c")) as working:
        target = collector.attach(working.pid)
        collector.until(lambda: collector.service.obstacle is not None)
        with pytest.raises(ProblemError, match="no stacks can be taken"):
            collector.sample(target)
        frames_go_on(collector, target)
