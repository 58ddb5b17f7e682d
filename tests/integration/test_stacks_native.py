"""Stacks of programs in C, C++ and Rust against the programs' own account of their time."""

from collections.abc import Iterator

import pytest
from capabilities import needs
from measured_code import MeasuredCode, check_named, check_released, check_shares, measured_in_turn
from programs.known_code import command
from stack_collector import StackCollector
from tidscope_collector.waits.states import State

pytestmark = [needs("root"), needs("btf"), needs("stacks"), needs("stack-trigger")]
LANGUAGES = ("c", "c++", "rust")


@pytest.fixture(scope="module")
def collector() -> Iterator[StackCollector]:
    with StackCollector() as made:
        yield made


@pytest.fixture(scope="module")
def works(collector: StackCollector) -> Iterator[dict[str, MeasuredCode]]:
    with measured_in_turn(collector, {name: command(name) for name in LANGUAGES}) as found:
        yield found


@pytest.fixture(params=LANGUAGES)
def work(request: pytest.FixtureRequest, works: dict[str, MeasuredCode]) -> MeasuredCode:
    return works[request.param]


def test_each_wait_has_its_code(work: MeasuredCode) -> None:
    check_named(work)


def test_times_in_functions_are_those_that_the_program_measures(work: MeasuredCode) -> None:
    check_shares(work)


def test_who_releases_is_the_right_thread_in_the_right_function(work: MeasuredCode) -> None:
    check_released(work)


def test_who_was_pushed_off_its_cpu_was_released_by_nobody(work: MeasuredCode) -> None:
    rows = work.rows([*work.account.workers, work.account.waiter])
    pushed = rows[rows["state"] == State.PREEMPTED]
    assert not pushed["waker_tid"].any()


def test_a_stack_has_the_kernel_and_the_thread_from_its_beginning(work: MeasuredCode) -> None:
    code = work.target.code()
    rows = work.rows(work.account.workers)
    rests = rows[(rows["state"] == State.SLEEP) & (rows["node"] > 0)]
    assert len(rests) >= 20
    stacks = [code.stack(int(node)) for node in rests["node"]]
    for stack in stacks:
        names = [one.function for one in stack]
        assert "do_nanosleep" in names[:2]
        assert names[-1].startswith(("clone", "__clone", "__GI___clone")), names[-3:]
        assert [one.kind for one in stack] == sorted(one.kind for one in stack)
    # A frame that was cut off in the midst of the thread would still end at its begin.
    assert {one.function for stack in stacks for one in stack} >= {"start_thread"}
