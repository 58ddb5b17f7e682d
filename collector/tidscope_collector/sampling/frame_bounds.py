"""What fits into one frame, and how more is divided among frames of one instant. Pure."""

from tidscope_wire.generated.limits import MAX_FRAME_BYTES, MAX_HEADER_BYTES
from tidscope_wire.generated.models import TargetEvent, ThreadExited

from tidscope_collector.sampling.readings import pick
from tidscope_collector.threads.reading import Reading

KEY_ROWS_BYTES = MAX_FRAME_BYTES * 3 // 4
"""Rows that a key frame may have: it is never divided, as it says who is alive."""
IDENTITY_BYTES = 48
"""Of a row of a key frame: id, start, name, and the bits that say what is absent."""
EVENTS_BYTES = MAX_HEADER_BYTES // 4
"""About so many bytes of events in a frame."""
EXIT_EVENT_BYTES, EVENT_BYTES = 1024, 128
"""About what an event takes."""
FRAME_EXITS = 2_000
"""Exit records in a frame: about a megabyte, made in a tenth of a second."""


def most_threads(fields: int) -> int:
    """How many threads fit into a key frame, with room for its header."""
    return KEY_ROWS_BYTES // (8 * fields + IDENTITY_BYTES)


def divide_events(events: list[TargetEvent]) -> list[list[TargetEvent]]:
    """Divide events among frames, in order; at least one part."""
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
