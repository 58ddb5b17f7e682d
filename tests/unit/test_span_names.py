"""Names of spans for threads: which threads get them, and which of a batch are taken."""

import pytest
from tidscope_backend.traces.batches import table_of
from tidscope_backend.traces.joining.places import Origin
from tidscope_backend.traces.thread_names import (
    AGAIN_S,
    MAX_OF_A_BATCH,
    MAX_OF_A_COMMAND,
    MAX_WAITING,
    NamedThread,
    ThreadNaming,
    names_in,
)
from tidscope_collector.naming.span_names import LONGEST_NAME, LiveThread, names_to_give, plain
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import SpanThreadName, Target
from unit_targets import make_target

MAIN = LiveThread(10, 10, 0, "python", "python")


def named(name: str = "python", comm: str = "python", tid: int = 11) -> LiveThread:
    return LiveThread(tid, 10, 0, name, comm)


def test_threads_with_the_name_of_their_process_get_one() -> None:
    spans = {(10, 10): "MainThread", (10, 11): "worker", (10, 12): "other", (11, 11): "nobody"}
    assert names_to_give([MAIN, named()], spans) == [(11, "worker")]
    # The function that it was started with says less.
    assert names_to_give([MAIN, named("serve")], spans) == [(11, "worker")]
    assert names_to_give([MAIN, named("worker")], spans) == []


@pytest.mark.parametrize(
    "thread",
    [
        pytest.param(named("own", "own"), id="the program named it"),
        pytest.param(named("whole name", "whole"), id="its runtime named it"),
        pytest.param(LiveThread(11, 12, 0, "python", "python"), id="of another process"),
    ],
)
def test_other_threads_keep_theirs(thread: LiveThread) -> None:
    assert names_to_give([MAIN, thread], {(10, 11): "worker", (12, 11): "worker"}) == []


def test_hostile_names_are_cleaned_and_cut() -> None:
    assert plain(" a\x1b[31m\n b\u202e ") == "a [31m b"
    assert plain("x" * 1000) == "x" * LONGEST_NAME
    assert plain("\n\t\x00") == ""
    assert names_to_give([MAIN, named()], {(10, 11): "\n"}) == []


def span(pid: int | None, tid: int | None, attributes: dict[str, str]) -> Span:
    made = Span("a" * 32, "b" * 16, "", "shop", "pay", 1, 2)
    return made._replace(pid=pid, thread_id=tid, attributes=attributes)


def test_threads_of_a_batch_are_taken_once_and_bounded() -> None:
    name = {"thread.name": "worker", "host.name": "here"}
    spans = [span(1, 2, name), span(1, 2, name), span(1, None, name), span(None, 2, name)]
    [found] = names_in(table_of([*spans, span(1, 3, {})]))
    assert (found.origin.pid, found.origin.host, found.tid, found.name) == (1, "here", 2, "worker")
    many = [span(1, tid, name) for tid in range(1, MAX_OF_A_BATCH + 10)]
    assert len(names_in(table_of(many))) == MAX_OF_A_BATCH
    assert names_in(table_of([])) == []


class Given:
    """Names given to targets: target ID, and name by process ID and thread ID."""

    def __init__(self, *targets: tuple[Target, str]) -> None:
        self.clock_s = 0.0
        self.commands: list[tuple[str, dict[tuple[int, int], str]]] = []
        self.naming = ThreadNaming(lambda: targets, self._give, lambda: self.clock_s)

    async def _give(self, target: Target, names: list[SpanThreadName]) -> None:
        self.commands.append((target.id, {(one.pid, one.tid): one.name for one in names}))

    async def note(self, *names: NamedThread) -> list[tuple[str, dict[tuple[int, int], str]]]:
        """Commands that names lead to."""
        self.naming.note(names)
        before = len(self.commands)
        await self.naming.give()
        return self.commands[before:]


def named_by_span(pid: int, tid: int, name: str = "worker", host: str = "") -> NamedThread:
    return NamedThread(Origin(pid, host, ""), tid, name)


async def test_names_go_to_the_targets_of_their_processes() -> None:
    target = make_target()
    given = Given((target, "here"))
    pid = target.process.pid
    found = await given.note(
        named_by_span(pid, 7), named_by_span(pid, 8, host="elsewhere"), named_by_span(pid + 1, 9)
    )
    assert found == [(target.id, {(pid, 7): "worker"})]
    assert await given.note(named_by_span(pid, 7)) == [], "it was given just now"
    assert await given.note(named_by_span(pid, 7, "other")) != [], "another name"
    given.clock_s += AGAIN_S
    assert await given.note(named_by_span(pid, 7)) == found


async def test_many_names_are_several_commands_and_bounded() -> None:
    target = make_target()
    given = Given((target, "here"))
    pid = target.process.pid
    many = [named_by_span(pid, tid) for tid in range(1, MAX_WAITING + 100)]
    found = await given.note(*many)
    assert {len(names) for _, names in found} == {MAX_OF_A_COMMAND}
    assert sum(len(names) for _, names in found) == MAX_WAITING
