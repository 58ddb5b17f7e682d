"""Where the time of a run is 0."""

from tidscope_wire.generated.models import AlignKind, SteeringStarted

from tidscope_backend.comparison.tables import RunTables


def zero_of(run: RunTables, align: AlignKind, mark: str | None) -> tuple[int, str | None]:
    """Find time 0 of a run.

    Args:
        run: which.
        align: at what; with `mark` also its text.
        mark: text of the mark; the first that has it counts.

    Returns:
        Nanoseconds since attach, and why that is the start although something else was asked for;
        None if it is what was asked for.
    """
    start = run.manifest.from_ns
    if align == "start":
        return start, None
    if align == "policy":
        began = [event.time_ns for event in run.events if isinstance(event.event, SteeringStarted)]
        # A policy that started before the run is in the manifest with an earlier time.
        began += [policy.time_ns for policy in run.manifest.policies]
        within = [time for time in began if _is_within(run, time)]
        if within:
            return min(within), None
        if began:
            return start, "its policy started before the run and did not change in it"
        return start, "no policy steered it"
    found = [one.time_ns for one in run.manifest.marks if one.text == mark]
    if found:
        return min(found), None
    return start, f"it has no mark {mark!r}"


def _is_within(run: RunTables, time_ns: int) -> bool:
    return run.manifest.from_ns <= time_ns <= run.manifest.to_ns
