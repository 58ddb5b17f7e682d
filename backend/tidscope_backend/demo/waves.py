"""How hard a thread works at a moment: slow waves, so that charts live."""

import math
import time
from collections.abc import Callable
from threading import Event

SLOT_SECONDS = 0.1


def wave(seconds: float, period: float, phase: float) -> float:
    """A value from 0 to 1 that goes up and down once a period; phase is in turns."""
    return (1 - math.cos(2 * math.pi * (seconds / period + phase))) / 2


def pause(stop: Event, seconds: float) -> bool:
    """Sleep for a short while: a wait for the event would be one for a lock, and shown as that.

    Returns:
        Whether the program ends.
    """
    time.sleep(seconds)
    return stop.is_set()


def work_in_waves(
    stop: Event, piece: Callable[[], object], share: float, period: float, phase: float
) -> None:
    """Call `piece` again and again, using at most `share` of a CPU at the wave's crest.

    Args:
        stop: ends it.
        piece: a small bit of work, well under a millisecond.
        share: CPU seconds a second at the crest; half of it on average.
        period: of the wave, seconds.
        phase: of the wave, turns.
    """
    while not stop.is_set():
        started = time.monotonic()
        budget = SLOT_SECONDS * share * wave(started, period, phase)
        until = time.thread_time() + budget
        while time.thread_time() < until:
            piece()
        pause(stop, max(0.0, SLOT_SECONDS - (time.monotonic() - started)))
