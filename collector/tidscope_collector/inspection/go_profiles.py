"""Mutex and goroutine profiles of Go programs. The questions at the end run in limited children."""

from collections.abc import Sequence
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, PROCESSES_S, Arguments, say
from tidscope_collector.inspection.goroutine_waits import wait_of
from tidscope_collector.inspection.pprof import MAX_BYTES, Frame, PprofError, read_samples
from tidscope_collector.inspection.process_files import read_beginning

MAX_FUNCTIONS = 128
MAX_STACKS = 512
"""Maximum distinct stacks of goroutines; those of other stacks count as goroutines only."""
MAX_FRAMES = 48
"""Maximum frames of a goroutine's stack; outer ones are left out."""
MAX_CHARACTERS = 1 << 19
"""Maximum length of all goroutines' stacks, in characters."""
_NOT_THE_PROGRAM = ("sync.", "internal/sync.", "runtime.", "internal/runtime/")
_PROFILER = "runtime/pprof.writeGoroutine"
"""Function of the goroutine that serves the profile, which is left out."""


class Contention(NamedTuple):
    """Waits for mutexes that one function released.

    Attributes:
        function: innermost function of the program itself.
        delay_ns: total time that others waited, in nanoseconds.
        waits: number of waits.
    """

    function: str
    delay_ns: int
    waits: int


class StackOf(NamedTuple):
    """Goroutines with one stack.

    Attributes:
        goroutines: their number.
        reason: what they wait for; see `goroutine_waits`.
        place: where in the program's own code.
        frames: innermost first; at most MAX_FRAMES.
    """

    goroutines: int
    reason: str
    place: Frame
    frames: Sequence[Frame]


def read_contentions(packed: bytes) -> list[Contention]:
    """Return contention by function, longest delay first.

    Args:
        packed: body served at /debug/pprof/mutex.

    Raises:
        PprofError: it is no mutex profile.
    """
    found: dict[str, tuple[int, int]] = {}
    for stack, (delay, waits) in read_samples(packed, ("delay", "contentions")):
        name = _own_function(stack)
        before = found.get(name, (0, 0))
        found[name] = (before[0] + delay, before[1] + waits)
    longest = sorted(found.items(), key=lambda one: -one[1][0])
    return [Contention(name, delay, waits) for name, (delay, waits) in longest]


def _own_function(stack: Sequence[Frame]) -> str:
    """Return the innermost function outside Go's lock library, or else the innermost one."""
    functions = [frame.function for frame in stack]
    own = (name for name in functions if not name.startswith(_NOT_THE_PROGRAM))
    return next(own, functions[0] if functions else "")


def read_goroutines(packed: bytes) -> tuple[int, list[StackOf]]:
    """Return the number of goroutines, and those of each stack, the most frequent stack first.

    The goroutine that serves the profile is not among them.

    Args:
        packed: body served at /debug/pprof/goroutine.

    Raises:
        PprofError: it is no goroutine profile.
    """
    counts: dict[tuple[Frame, ...], int] = {}
    for stack, (count,) in read_samples(packed, ("goroutine",)):
        if any(frame.function == _PROFILER for frame in stack):
            continue
        key = tuple(stack)  # empty for one that has not begun to run
        counts[key] = counts.get(key, 0) + count
    found: list[StackOf] = []
    characters = 0
    for stack, count in sorted(counts.items(), key=lambda one: -one[1])[:MAX_STACKS]:
        reason, place = wait_of(stack)
        if place is None:
            continue
        frames = stack[:MAX_FRAMES]
        characters += sum(len(frame.function) + len(frame.file) for frame in frames)
        if characters > MAX_CHARACTERS:
            break
        found.append(StackOf(count, reason, place, frames))
    return sum(counts.values()), found


def mutex_profile(_: Arguments, answer: int) -> None:
    """Answer the content of a mutex profile, which is sent behind the question.

    Answers: {"damaged": reason}, or {"function", "delay_ns", "waits"} for the MAX_FUNCTIONS with
    the longest delays, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    confine()
    try:
        found = read_contentions(read_beginning(answer, MAX_BYTES + 1))
    except PprofError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in found[:MAX_FUNCTIONS]:
        say(answer, one._asdict())
    say(answer, {})


def goroutine_profile(_: Arguments, answer: int) -> None:
    """Answer the content of a goroutine profile, which is sent behind the question.

    Answers: {"damaged": reason}, or {"goroutines", "reason", "place", "frames"} for all goroutines,
    with the reason "all", and then for each stack, and {} at the end. Frames are lists.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    confine()
    try:
        goroutines, found = read_goroutines(read_beginning(answer, MAX_BYTES + 1))
    except PprofError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in (StackOf(goroutines, "all", Frame("", "", 0), ()), *found):
        say(answer, one._asdict())
    say(answer, {})
