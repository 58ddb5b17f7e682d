"""Reason and place of a goroutine's wait, by its stack. Pure.

A goroutine that waits is in runtime.gopark; the functions around it tell why. Reasons are words of
the runtime (waitReasonStrings in runtime/runtime2.go), where it has one.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from tidscope_collector.inspection.pprof import Frame

RUNNING = "running"
"""Reason of goroutines that run or could run."""
SYSTEM_CALL = "system call"
OTHER = "other wait"
POOLS: Mapping[str, str] = {
    "golang.org/x/sync/semaphore.(*Weighted).Acquire": "semaphore.Acquire",
    "database/sql.(*DB).conn": "database/sql connection",
}
"""Functions that wait for a free place by a select or a channel, and the reason to give instead."""
WAITS: Mapping[str, str] = {
    "sync.(*Mutex).Lock": "sync.Mutex.Lock",
    "sync.(*RWMutex).RLock": "sync.RWMutex.RLock",
    "sync.(*RWMutex).Lock": "sync.RWMutex.Lock",
    "sync.(*WaitGroup).Wait": "sync.WaitGroup.Wait",
    "sync.(*Cond).Wait": "sync.Cond.Wait",
    "runtime.chansend": "chan send",
    "runtime.chanrecv": "chan receive",
    "runtime.selectgo": "select",
    "runtime.block": "select (no cases)",
    "time.Sleep": "sleep",
    "internal/poll.runtime_pollWait": "IO wait",
    "internal/poll.runtime_Semacquire": "IO wait",
    "runtime.semacquire1": "semacquire",
}
"""Functions that wait; the outermost one of those that are called without other code between."""
_PARKED = ("runtime.gopark", "runtime.goparkunlock")
_CALLS = re.compile(r"(internal/runtime/syscall|syscall|golang\.org/x/sys/unix)\.|runtime\.cgocall")
_MECHANICS = re.compile(
    r"(runtime|internal/runtime/[a-z]+|sync|internal/sync|internal/poll|syscall|time)\."
)
_LIBRARY = re.compile(
    r"(archive|bufio|bytes|compress|container|context|crypto|database|encoding|errors|flag|fmt|hash"
    r"|html|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp|runtime|slices"
    r"|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unique|vendor)[/.]"
    r"|golang\.org/x/"
)
"""Functions of the standard library and of Go's own modules, by their package path."""


class Wait(NamedTuple):
    """Activity of the goroutines with one stack.

    Attributes:
        reason: what they wait for; RUNNING or SYSTEM_CALL if nothing.
        place: innermost function of the program's own code, or else the outermost one; None for an
            empty stack.
    """

    reason: str
    place: Frame | None


def wait_of(stack: Sequence[Frame]) -> Wait:
    """Return what goroutines with a stack wait for.

    Args:
        stack: frames, innermost first.
    """
    return Wait(_reason(stack), _place(stack))


def _reason(stack: Sequence[Frame]) -> str:
    if not stack or stack[0].function not in _PARKED:
        innermost = stack[0].function if stack else ""
        return SYSTEM_CALL if _CALLS.match(innermost) else RUNNING
    reason = OTHER
    for frame in stack:
        if frame.function in POOLS and reason in ("select", "chan send", "chan receive"):
            return POOLS[frame.function]
        if not _MECHANICS.match(frame.function):
            break
        reason = WAITS.get(frame.function, reason)
    return reason


def _place(stack: Sequence[Frame]) -> Frame | None:
    own = [frame for frame in stack if not _LIBRARY.match(frame.function)]
    if own:
        return own[0]
    outside = [frame for frame in stack if frame.function != "runtime.goexit"]
    return outside[-1] if outside else None
