"""The events of a run, as many as a page can show."""

from collections.abc import Iterator

from tidscope_wire.frame import FrameError, split
from tidscope_wire.generated.models import (
    RunEvent,
    RunEventsResponse,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)

from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.open_part import whole_frames

MAX_EVENTS = 5000
_OF_THREADS = b'"type":"thread_'
_TYPE_WITHIN = 200


def run_events(folder: RunFolder, most: int = MAX_EVENTS) -> RunEventsResponse:
    """Read events; if there are too many, those of threads are left out first.

    Args:
        folder: of the run; closed and open parts are read.
        most: events to return.

    Raises:
        OSError: it cannot be read.
        ValueError: a line is no event.
    """
    others: list[RunEvent | bytes] = []
    threads: list[RunEvent | bytes] = []
    total = 0
    for event in _all(folder):
        total += 1
        kept = threads if _of_threads(event) else others
        if len(kept) < most:
            kept.append(event)
    chosen = [*others, *threads[: most - len(others)]]
    events = [
        RunEvent.model_validate_json(event) if isinstance(event, bytes) else event
        for event in chosen
    ]
    events.sort(key=lambda event: event.seq)
    return RunEventsResponse(events=events, omitted=total - len(events))


def _of_threads(event: RunEvent | bytes) -> bool:
    if isinstance(event, bytes):
        return _OF_THREADS in event[:_TYPE_WITHIN]
    return isinstance(event.event, ThreadBorn | ThreadRenamed | ThreadExited)


def _all(folder: RunFolder) -> Iterator[RunEvent | bytes]:
    opened = folder.open_parts()
    for part in sorted({*folder.sealed_parts(), *opened}):
        if part in opened:
            try:
                data = folder.open_part(part).read_bytes()
            except FileNotFoundError:
                pass  # It was sealed meanwhile.
            else:
                yield from _of_frames(data)
                continue
        with folder.events(part).open("rb") as lines:
            yield from lines


def _of_frames(data: bytes) -> Iterator[RunEvent]:
    for frame in whole_frames(data):
        try:
            header, _ = split(frame)
        except FrameError:
            continue
        event: TargetEvent
        for event in header.events:
            yield RunEvent(
                seq=header.seq, time_ns=header.time_ns, unix_us=header.unix_us, event=event
            )
