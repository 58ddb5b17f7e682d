"""A program of known_code.py that has worked while stacks of it were taken, and checks of them."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
from code_times import check_times, code_times, named
from programs.known_code import CodeAccount, KnownCode
from stack_collector import StackCollector, StackedTarget
from tidscope_backend.stacks.code import Code
from tidscope_collector.waits.states import State
from tidscope_wire.frame_tables import Table

SECONDS = 6.0
WARM_S = 0.3
LOOKED_AT_NS = 200_000
"""Length from which on the release of a wait is looked at, with some room (`releaseAfter`)."""
NAMED = 0.99
CUT = 0.05
"""Maximum share of stacks that end where code begins that was compiled a moment before."""


class MeasuredCode(NamedTuple):
    """A program's work.

    Attributes:
        target: has its stacks.
        window: begin and end of the work, since attach.
        account: what the program says.
    """

    target: StackedTarget
    window: tuple[int, int]
    account: CodeAccount

    def rows(self, tids: Collection[int]) -> Table:
        """Return samples of threads in the window."""
        rows = self.target.samples
        inside = (rows["begin_ns"] >= self.window[0]) & (rows["begin_ns"] <= self.window[1])
        return rows[inside & np.isin(rows["tid"], list(tids))]


def measured(
    collector: StackCollector, program: KnownCode, target: StackedTarget, seconds: float = SECONDS
) -> MeasuredCode:
    """Let a program work once its stacks are known, and take all its samples."""
    found = worked(collector, program, target, seconds)
    collector.settle(target)
    return found


@contextmanager
def measured_in_turn(
    collector: StackCollector, commands: Mapping[str, Sequence[str | Path]]
) -> Iterator[dict[str, MeasuredCode]]:
    """Run programs, and let one after the other work; samples of all settle together.

    Args:
        collector: takes their stacks.
        commands: commands by names of programs; see `KnownCode`.

    Yields:
        their work by name, while they run.
    """
    with ExitStack() as running:
        found = {}
        for name, words in commands.items():
            program = running.enter_context(KnownCode(words))
            found[name] = worked(collector, program, collector.attach(program.pid), SECONDS)
        targets = [one.target for one in found.values()]
        collector.settle(*targets)
        yield found
        for target in targets:
            collector.detach(target)


def worked(
    collector: StackCollector, program: KnownCode, target: StackedTarget, seconds: float
) -> MeasuredCode:
    """Let a program work once its stacks are known; its last samples may still come."""
    warm(collector, program, target)
    begin = collector.now_ns(target)
    program.begin(seconds)
    account = program.account()
    return MeasuredCode(target, (begin, collector.now_ns(target)), account)


def warm(collector: StackCollector, program: KnownCode, target: StackedTarget) -> None:
    """Let stacks of a program be taken, and let it work until the unwinder knows it.

    It knows a process from its first stack on, whose own frames it cannot tell.
    """
    collector.sample(target)
    functions: set[str] = set()
    while not (functions and target.samples["node"].any()):
        functions = program_names(program, WARM_S)
        collector.now_ns(target)
    program_names(program, WARM_S)
    collector.until(lambda: has_own_code(target, functions))


def program_names(program: KnownCode, seconds: float) -> set[str]:
    """Let a program work; return the names of its functions."""
    program.begin(seconds)
    return set(program.account().ns)


def has_own_code(target: StackedTarget, functions: Collection[str]) -> bool:
    """Return True if stacks of a program have its functions."""
    code = target.code()
    nodes = np.unique(target.samples["node"]).tolist()
    return sum(bool(functions_of(code.stack(node), functions)) for node in nodes) >= 3


def check_shares(found: MeasuredCode) -> None:
    """Check the time of the workers in each function."""
    workers = found.account.workers
    check_times(code_times(found.target, found.window, found.account.ns, workers), found.account.ns)


def check_released(found: MeasuredCode) -> None:
    """Check the time that the waiter waited by who released it, and the places of releases."""
    account = found.account
    by_whom = code_times(
        found.target,
        found.window,
        account.released_ns,
        [account.waiter],
        ["futex", "woken"],
        of_releasers=True,
    )
    check_times(by_whom, account.released_ns)
    code = found.target.code()
    rows = found.rows([account.waiter])
    is_long = (rows["state"] == State.FUTEX) & (rows["wait_ns"] >= LOOKED_AT_NS)
    rows = rows[is_long & np.isin(rows["waker_tid"], list(account.releasers.values()))]
    assert len(rows) >= 30
    known = rows[rows["waker_node"] > 0]
    assert len(known) >= NAMED * len(rows), f"{len(known)} of {len(rows)}"
    for row in known:
        released = functions_of(code.stack(int(row["waker_node"])), account.releasers)
        # An interpreter lets others run elsewhere, too, and then ends their waits there.
        if released:
            assert account.releasers[released] == row["waker_tid"]


def check_named(
    found: MeasuredCode, runtime: Collection[str] = (), exits: Collection[str] = ()
) -> None:
    """Check that nearly all stacks of waits have the functions that the workers wait in.

    A thread computes, and is pushed off its CPU, between these functions as well.

    Args:
        found: the work.
        runtime: outermost functions of stacks in which a language's runtime waits by itself.
        exits: outermost functions of stacks that end at code which the unwinder does not know yet.
    """
    functions = found.account.ns
    everything = [stack for stacks in _while_working(found) for stack in stacks]
    others = [
        [code.function for code in stack]
        for stack in everything
        if not functions_of(stack, functions) and not (stack and stack[-1].function in runtime)
    ]
    assert len(everything) >= 200
    cut = [stack for stack in others if stack and stack[-1] in exits]
    assert len(cut) <= CUT * len(everything), cut
    assert len(others) - len(cut) <= (1 - NAMED) * len(everything), others


def _while_working(found: MeasuredCode) -> Iterator[list[list[Code]]]:
    """Yield the stacks of waits of each worker, without those of its begin and its end."""
    functions, code = found.account.ns, found.target.code()
    for tid in found.account.workers:
        rows = np.sort(found.rows([tid]), order="begin_ns")
        rows = rows[~np.isin(rows["state"], [State.ON_CPU, State.PREEMPTED])]
        stacks = [code.stack(int(node)) for node in rows["node"].tolist()]
        at = [place for place, stack in enumerate(stacks) if functions_of(stack, functions)]
        assert at, "no stack of a worker has its functions"
        yield stacks[at[0] : at[-1] + 1]


def functions_of(stack: list[Code], functions: Collection[str]) -> str:
    """Return which of some functions a stack has; or nothing."""
    return next((name for code in stack if (name := named(code, functions))), "")
