"""What fits into one frame, and how more is divided among frames of one instant. Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tidscope_wire.generated.models import ExitedTotals, TargetEvent, ThreadExited

from tidscope_collector.sampling.readings import pick
from tidscope_collector.threads.reading import Reading

KEY_ROWS_BYTES = 46 * 1024 * 1024
"""Rows that a key frame may have: it is never divided, as it says who is alive."""
IDENTITY_BYTES = 48
"""Of a row of a key frame: id, start, name, and the bits that say what is absent."""
EVENTS_BYTES = 16 * 1024 * 1024
"""Events in a frame. Births of as many threads as a key frame holds are fewer."""
EXIT_EVENT_BYTES, EVENT_BYTES = 3072, 128
"""What an event takes at most: an exit has every field, with up to 20 digits."""
FRAME_EXITS = 1_000
"""Exit records in a frame: less than a megabyte, made in some 30 ms."""


def most_threads(fields: int) -> int:
    """How many threads fit into a key frame, with room for its header."""
    return KEY_ROWS_BYTES // (8 * fields + IDENTITY_BYTES)


def divide_events(events: list[TargetEvent]) -> list[list[TargetEvent]]:
    """Divide events among frames, in order; at least one part, and more only because of exits."""
    parts: list[list[TargetEvent]] = [[]]
    size = 0
    for event in events:
        size += EXIT_EVENT_BYTES if isinstance(event, ThreadExited) else EVENT_BYTES
        if size > EVENTS_BYTES and parts[-1]:
            parts.append([])
            size = 0
        parts[-1].append(event)
    return parts


def divide_exits(exits: Reading) -> list[Reading]:
    """Divide exit records among frames, in order; at least one part."""
    count = len(exits.tid)
    if count <= FRAME_EXITS:
        return [exits]
    edges = range(0, count, FRAME_EXITS)
    return [pick(exits, slice(edge, edge + FRAME_EXITS)) for edge in edges]


@dataclass(frozen=True)
class Later:
    """Exits that are counted already and reported by frames that follow.

    Attributes:
        threads: how many.
        seen_alive: of them those that readers know.
        inexact: of them those without an exit record.
        totals: field name to the sum of their last values.
    """

    threads: int = 0
    seen_alive: int = 0
    inexact: int = 0
    totals: Mapping[str, int] = field(default_factory=dict)

    def before(self, exited: ExitedTotals) -> ExitedTotals:
        """Totals without them."""
        if not self.threads:
            return exited
        totals = {name: total - self.totals.get(name, 0) for name, total in exited.totals.items()}
        return ExitedTotals(
            threads=exited.threads - self.threads,
            inexact=exited.inexact - self.inexact,
            totals=totals,
        )


def exits_behind(parts: Sequence[Sequence[TargetEvent]]) -> list[Later]:
    """For each part the exits of those that follow."""
    behind = [Later()]
    totals: Counter[str] = Counter()
    for part in reversed(parts[1:]):
        exits = [event for event in part if isinstance(event, ThreadExited)]
        for event in exits:
            totals.update(event.totals)
        last = behind[-1]
        behind.append(
            Later(
                last.threads + len(exits),
                last.seen_alive + sum(event.seen_alive for event in exits),
                last.inexact + sum(not event.exact for event in exits),
                dict(totals),
            )
        )
    return behind[::-1]
