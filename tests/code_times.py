"""Time in the functions of a test's program, as the backend estimates it from stacks."""

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from stack_collector import StackedTarget
from tidscope_backend.stacks.code import Code
from tidscope_backend.stacks.estimate import UNKNOWN, Estimate, estimate
from tidscope_backend.stacks.intervals import Z
from tidscope_backend.stacks.selection import Selection, Window
from tidscope_backend.stacks.service import account, view
from tidscope_backend.stacks.trees import Stacks
from tidscope_backend.stacks.units import Account
from tidscope_backend.stacks.wakers import releasers

SIGMAS = 4
"""Half-width of checked intervals: of many thousand right estimates one is outside."""
IN_STEP = 0.05
"""Share of all time by which a function's may be off besides: a program of equal rounds and the
clock that samples it can keep step for a while, which intervals of chance do not cover."""


class CodeTime(NamedTuple):
    """Estimated nanoseconds in a function, and the interval in which the true ones are."""

    ns: float
    low_ns: float
    high_ns: float
    in_95: tuple[float, float]


class CodeTimes(NamedTuple):
    """Times of a selection.

    Attributes:
        by_function: times of the functions.
        elsewhere: time in stacks without any of them.
        unseen_ns: time without a known stack.
        exact_ns: time of the selection.
        samples: samples of the selection.
        known: those with a known stack.
        named: those whose stack has one of the functions.
    """

    by_function: dict[str, CodeTime]
    elsewhere: CodeTime
    unseen_ns: float
    exact_ns: float
    samples: int
    known: int
    named: int


def code_times(
    target: StackedTarget,
    window: tuple[int, int],
    functions: Collection[str],
    tids: Collection[int],
    states: Collection[str] = (),
    *,
    of_releasers: bool = False,
) -> CodeTimes:
    """Estimate the time of threads in functions.

    Args:
        target: the target.
        window: begin and end, since attach.
        functions: names of functions that do not call each other.
        tids: threads.
        states: their states; empty: all.
        of_releasers: time in the states by the functions that ended them.
    """
    found = view(target, Window(*window), locks=False)
    selection = Selection(Window(*window), tids=frozenset(tids), states=frozenset(states))
    made = account(found, selection, [])
    assert made is not None
    if of_releasers:
        made = releasers(found.tables.samples, made)
    return _divided(made, found.stacks, list(functions))


def _divided(made: Account, stacks: Stacks, functions: list[str]) -> CodeTimes:
    """Give each sample to a function, to the place after the last, or to none."""
    nodes, inverse = np.unique(made.units.node, return_inverse=True)
    leaves = np.array([_place(stacks.stack(node), functions) for node in nodes.tolist()], np.int64)
    units = made.units._replace(node=leaves[inverse])
    parent = np.full(len(functions) + 1, -1, np.int64)
    times = estimate(units, made.strata, parent)
    return CodeTimes(
        {name: _time(times, place) for place, name in enumerate(functions)},
        _time(times, len(functions)),
        times.unseen_ns,
        times.exact_ns,
        len(units.node),
        int((units.node != UNKNOWN).sum()),
        int(((units.node != UNKNOWN) & (units.node != len(functions))).sum()),
    )


def _place(stack: list[Code], functions: list[str]) -> int:
    if not stack:
        return UNKNOWN
    return next(
        (functions.index(name) for code in stack if (name := named(code, functions))),
        len(functions),
    )


def named(code: Code, functions: Collection[str]) -> str:
    """Return which of some names a function has, whatever its language puts around; or nothing."""
    return next((word for word in re.findall(r"\w+", code.function) if word in functions), "")


def _time(times: Estimate, place: int) -> CodeTime:
    ns, low, high = float(times.ns[place]), float(times.low_ns[place]), float(times.high_ns[place])
    wider = SIGMAS / Z
    return CodeTime(ns, ns - (ns - low) * wider, ns + (high - ns) * wider, (low, high))


def check_times(found: CodeTimes, own_ns: Mapping[str, int]) -> None:
    """Check estimates against a program's own account.

    Time elsewhere and without a stack may belong to any function: the program measures around
    calls, and the runtime of a language does what it does.
    """
    spare = found.unseen_ns + max(found.elsewhere.high_ns, 0)
    in_step = IN_STEP * found.exact_ns
    for name, ns in own_ns.items():
        time = found.by_function[name]
        assert time.low_ns - in_step <= ns <= time.high_ns + spare + in_step, (name, ns, found)
