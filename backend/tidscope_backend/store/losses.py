"""What is missing in a run: its final state, and the words for it. Pure."""

from collections.abc import Iterable

from tidscope_wire.generated.models import RunLosses, RunManifest, RunState

from tidscope_backend.text import format_seconds, plural


def final_state(state: RunState, losses: RunLosses) -> RunState:
    """The state of a run that has ended: one that lost something is never complete."""
    return "incomplete" if state == "complete" and missing_text(losses) else state


def missing_text(losses: RunLosses) -> str:
    """What is missing, as a list of amounts; empty if nothing is.

    Missed deadlines and coalesced frames make a run coarser, and a clock that was set moves its
    dates; nothing is missing because of them.
    """
    return ", ".join(_phrases(losses))


def coarser_text(losses: RunLosses) -> str:
    """That samples were due and were not taken; empty if all were."""
    if not losses.deadlines_missed:
        return ""
    missed = plural(losses.deadlines_missed, "sample")
    return f"{missed} due and not taken: the host was busy; totals are whole"


def children_cpu_us(manifest: RunManifest) -> int | None:
    """CPU time of children of the recorded command, microseconds; None: not known, no command."""
    return None if manifest.outcome is None else manifest.outcome.children_cpu_us


def children_text(cpu_us: int | None) -> str:
    """That a run of one process lacks what its children used; empty if they used nothing.

    Args:
        cpu_us: CPU time of the children, microseconds; None: not known.
    """
    if not cpu_us:
        return ""
    used = format_seconds(cpu_us * 1000)
    return f"This run shows one process; its children used {used} of CPU that are not in it."


def what_is_missing(manifest: RunManifest) -> str:
    """Both, of a run; empty if nothing is missing."""
    texts = (missing_text(manifest.losses), children_text(children_cpu_us(manifest)))
    return "; ".join(filter(None, texts))


def _phrases(losses: RunLosses) -> Iterable[str]:
    if losses.frames or losses.gaps:
        yield (
            f"{plural(losses.frames, 'frame')} in {plural(losses.gaps, 'gap')} "
            f"({(losses.missing_ns - losses.tail_ns) / 1e9:.1f} s)"
        )
    if losses.tail_ns:
        samples = plural(losses.tail_samples, "sample")
        yield f"the last {losses.tail_ns / 1e9:.1f} s ({samples})"
    if losses.tail_exits is None:
        yield "an unknown number of exits before its end"
    elif losses.tail_exits:
        yield f"{plural(losses.tail_exits, 'exit')} before its end"
    if losses.truncated_bytes:
        yield f"{plural(losses.truncated_bytes, 'byte')} of a truncated frame"
    if losses.samples_failed:
        yield f"{plural(losses.samples_failed, 'failed sample')}"
    if losses.exit_records_lost:
        yield f"{plural(losses.exit_records_lost, 'exit record')}"
    if losses.exits_without_event:
        yield f"{plural(losses.exits_without_event, 'exit')} without an event"
    if losses.processes_missed:
        count = losses.processes_missed
        yield f"{count} {'process' if count == 1 else 'processes'} that may have been missed"
    if losses.network_calls_uncounted:
        yield f"{plural(losses.network_calls_uncounted, 'network call')}"
