"""What is missing in a run: its final state, and the words for it. Pure."""

from collections.abc import Iterable

from tidscope_wire.generated.models import RunLosses, RunState

from tidscope_backend.text import plural


def final_state(state: RunState, losses: RunLosses) -> RunState:
    """The state of a run that has ended: one that lost something is never complete."""
    return "incomplete" if state == "complete" and missing_text(losses) else state


def missing_text(losses: RunLosses) -> str:
    """What is missing, as a list of amounts; empty if nothing is.

    Missed deadlines and coalesced frames make a run coarser, and a clock that was set moves its
    dates; nothing is missing because of them.
    """
    return ", ".join(_phrases(losses))


def _phrases(losses: RunLosses) -> Iterable[str]:
    if losses.frames or losses.gaps:
        yield (
            f"{plural(losses.frames, 'frame')} in {plural(losses.gaps, 'gap')} "
            f"({losses.missing_ns / 1e9:.1f} s)"
        )
    if losses.truncated_bytes:
        yield f"{plural(losses.truncated_bytes, 'byte')} of a truncated frame"
    if losses.samples_failed:
        yield f"{plural(losses.samples_failed, 'failed sample')}"
    if losses.exit_records_lost:
        yield f"{plural(losses.exit_records_lost, 'exit record')}"
    if losses.exits_without_event:
        yield f"{plural(losses.exits_without_event, 'exit')} without an event"
    if losses.network_calls_uncounted:
        yield f"{plural(losses.network_calls_uncounted, 'network call')}"
