"""Wakers and takers of the CPU in a run, and the same as text."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tidscope_backend.text import format_seconds

SHOWN = 8


@dataclass(frozen=True)
class Waker:
    """A process, or an interrupt, that woke threads of the target.

    Attributes:
        name: of the process.
        pid: its id; 0 of an interrupt.
        count: wake-ups.
        blocked_ns: length of the waits that ended by it.
        delay_ns: from the wake-up until the thread ran.
    """

    name: str
    pid: int
    count: int
    blocked_ns: int
    delay_ns: int


@dataclass(frozen=True)
class Taker:
    """A process that ran while threads of the target waited for that CPU.

    Attributes:
        name: of the process.
        pid: its id.
        ns: what they waited meanwhile.
    """

    name: str
    pid: int
    ns: int


@dataclass(frozen=True)
class RunFacts:
    """Wakers and takers; empty without a ledger."""

    wakers: Sequence[Waker]
    takers: Sequence[Taker]


def fact_lines(facts: RunFacts) -> Iterator[str]:
    """The first of each, as text."""
    if facts.wakers:
        yield from ("", "WOKEN BY")
        for waker in facts.wakers[:SHOWN]:
            yield (
                f"  {waker.count:9}  {waker.name} ({waker.pid}), after "
                f"{format_seconds(waker.blocked_ns)}; ran {format_seconds(waker.delay_ns)} later"
            )
    if facts.takers:
        yield from ("", "RAN DURING RUN-QUEUE DELAY")
        for taker in facts.takers[:SHOWN]:
            yield f"  {format_seconds(taker.ns):>9}  {taker.name} ({taker.pid})"
