"""Stacks of programs in Go, CPython, Java and Node against their own account of their time."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from capabilities import missing, needs
from code_times import check_times, code_times
from measured_code import (
    NAMED,
    MeasuredCode,
    check_named,
    check_released,
    check_shares,
    functions_of,
    measured,
    measured_in_turn,
)
from numpy.typing import NDArray
from processes import thread_files
from programs.contended import contended_go, contended_java
from programs.known_code import (
    KnownCode,
    command,
    java_command,
    java_with_virtual_threads,
    newer_pythons,
    python_command,
)
from stack_collector import StackCollector, StackedTarget
from tidscope_backend.stacks.trees import Stacks
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("stacks"), needs("stack-trigger")]

PYTHONS = {path.name: python_command(path) for path in newer_pythons()}
NEWER_JAVA = "newer java"
LANGUAGES = ("go", "python", "java", "node", *PYTHONS)
RUNTIMES = {
    # A goroutine that may not run waits on a stack of its thread's own.
    "go": ("runtime.mcall", "runtime.morestack", "runtime.mstart", "runtime.goexit"),
}
"""Outermost functions of stacks in which a runtime waits."""
EXITS = {"node": ("V8::BuiltinExitFrame",)}
"""Outermost functions of stacks whose further code has just been compiled."""
WHOLE = 0.95
"""Share of stacks of a JVM's threads that reach its Java frames."""


@pytest.fixture(scope="module")
def collector() -> Iterator[StackCollector]:
    with StackCollector() as made:
        yield made


@pytest.fixture(scope="module")
def works(collector: StackCollector) -> Iterator[dict[str, MeasuredCode]]:
    commands = {name: PYTHONS.get(name) or command(name) for name in LANGUAGES}
    java = java_with_virtual_threads()
    if java is not None:
        commands[NEWER_JAVA] = java_command(java)
    with measured_in_turn(collector, commands) as found:
        yield found


@pytest.fixture(params=[*LANGUAGES, NEWER_JAVA])
def language(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


@pytest.fixture
def work(language: str, works: dict[str, MeasuredCode]) -> MeasuredCode:
    if language not in works:
        raise missing("java-21")
    return works[language]


def test_each_wait_has_its_code(work: MeasuredCode, language: str) -> None:
    check_named(work, RUNTIMES.get(language, ()), EXITS.get(language, ()))


def test_times_in_functions_are_those_that_the_program_measures(work: MeasuredCode) -> None:
    check_shares(work)


def test_who_releases_is_the_right_thread_in_the_right_function(work: MeasuredCode) -> None:
    check_released(work)


def test_functions_have_files_and_lines(work: MeasuredCode, language: str) -> None:
    code = work.target.code()
    nodes = {int(row["node"]) for row in work.rows(work.account.workers)}
    seen = [
        one for node in nodes for one in code.stack(node) if functions_of([one], work.account.ns)
    ]
    assert {functions_of([one], work.account.ns) for one in seen} == work.account.ns.keys()
    files = {"go": "main.go", "node": "main.js", "java": "Main.java", NEWER_JAVA: "Main.java"}
    file = files.get(language, "main.py")
    assert {one.file.rpartition("/")[2] for one in seen} == {file}
    assert all(one.line > 10 for one in seen)


def test_goroutines_that_wait_are_not_in_stacks_of_threads(collector: StackCollector) -> None:
    """A mutex of Go parks the goroutine; its thread waits for another one to run."""
    with contended_go() as program:
        target = collector.attach(program.pid)
        collector.sample(target)
        until_known(collector, target, State.FUTEX, 100)
        code = target.code()
        waits = target.samples[target.samples["state"] == State.FUTEX]
        stacks = [code.stack(int(node)) for node in waits["node"] if node]
        own = [stack for stack in stacks if functions_of(stack, ["use"])]
        assert len(own) <= (1 - NAMED) * len(stacks)
        assert all(stack[-1].function.startswith("runtime.") for stack in stacks)
        collector.detach(target)


def check_java(code: Stacks, nodes: NDArray[Any], function: str, least: int) -> None:
    """Stacks with Java frames have the function; few end before them, while HotSpot compiles."""
    stacks = [code.stack(int(node)) for node in nodes]
    java = [stack for stack in stacks if any(one.file.endswith(".java") for one in stack)]
    assert len(java) >= max(least, WHOLE * len(stacks))
    named = [stack for stack in java if functions_of(stack, [function])]
    assert len(named) >= NAMED * len(java)


def test_monitors_and_locks_of_java_are_waited_for_where_the_program_takes_them(
    collector: StackCollector,
) -> None:
    with contended_java() as program:
        target = collector.attach(program.pid)
        collector.sample(target)
        until_known(collector, target, State.FUTEX, 200)
        code = target.code()
        for role, function in (("monitor-#", "useMonitor"), ("lock-#", "useLock")):
            tids = [tid for tid, name in threads_of(program.pid).items() if role[:-1] in name]
            assert len(tids) == 4
            waits = target.samples[np.isin(target.samples["tid"], tids)]
            waits = waits[(waits["state"] == State.FUTEX) & (waits["node"] > 0)]
            check_java(code, waits["node"], function, 20)
            released = waits[np.isin(waits["waker_tid"], tids) & (waits["waker_node"] > 0)]
            check_java(code, released["waker_node"], function, 10)
        collector.detach(target)


def until_known(collector: StackCollector, target: StackedTarget, state: State, more: int) -> None:
    """Take frames until a target has many known stacks of a state, and their names."""

    def known() -> int:
        rows = target.samples
        return int(((rows["state"] == state) & (rows["node"] > 0)).sum())

    collector.until(lambda: known() >= 1)
    before = known()
    collector.until(lambda: known() >= before + more)
    collector.settle(target)


def threads_of(pid: int) -> dict[int, str]:
    """Return names of threads by ID."""
    return {tid: comm.strip() for tid, comm in thread_files(pid, "comm").items()}


def test_code_of_virtual_threads_is_seen_where_it_has_a_carrier(collector: StackCollector) -> None:
    """Parked ones have none, and their carriers wait in the scheduler; pinned ones keep theirs."""
    java = java_with_virtual_threads()
    if java is None:
        raise missing("java-21")
    with KnownCode(java_command(java, "virtual")) as program:
        target = collector.attach(program.pid)
        found = measured(collector, program, target)
        tids = set(target.samples["tid"].tolist())
        ns = found.account.ns
        running, waiting = ["on_cpu", "preempted"], ["futex", "woken"]
        for states, start in ((running, "compute"), (waiting, "waitPinned")):
            times = code_times(target, found.window, ns, tids, states)
            check_times(times, {name: ns[name] for name in ns if name.startswith(start)})
        code = target.code()
        rests = found.rows(tids)
        rests = rests[rests["state"] == State.FUTEX]
        stacks = [code.stack(int(node)) for node in rests["node"] if node]
        assert not any(functions_of(stack, ["waitLonger", "restLonger"]) for stack in stacks)
        pinned = [stack for stack in stacks if functions_of(stack, ["waitPinned"])]
        whole = [stack for stack in pinned if functions_of(stack, ["runPinned"])]
        assert len(whole) >= NAMED * len(pinned) >= 20
        assert any(functions_of(stack, ["awaitWork"]) for stack in stacks)
        collector.detach(target)
