"""Where the time of a run's threads went, as text: each state's share, by role."""

from collections.abc import Iterator, Mapping, Sequence

from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.cli.run_report import RoleReport
from tidscope_backend.text import format_seconds, plural

SMALLEST_SHARE = 0.0005
_TITLES = {field.name: field.label for field in CATALOGUE.fields}


def state_lines(totals: Mapping[str, int], roles: Sequence[RoleReport]) -> Iterator[str]:
    """The states of all threads and of each role, most time first; nothing without a ledger.

    Args:
        totals: fields of all threads, in sum.
        roles: the same by role.
    """
    if not _time(totals):
        return
    yield ""
    yield "WHERE THE TIME WENT, of all threads together and by role"
    yield _line("all", totals)
    for role in sorted(roles, key=lambda one: -_time(one.fields)):
        if _time(role.fields):
            yield _line(f"{role.role} ({plural(role.threads, 'thread')})", role.fields)


def _time(fields: Mapping[str, int]) -> int:
    """The sum of all states, nanoseconds."""
    return sum(fields.get(name, 0) for name in STATE_FIELDS)


def _line(name: str, fields: Mapping[str, int]) -> str:
    time = _time(fields)
    longest = sorted(STATE_FIELDS, key=lambda field: -fields.get(field, 0))
    shares = [(fields.get(field, 0) / time, field) for field in longest]
    parts = [f"{share:.1%} {_TITLES[field]}" for share, field in shares if share >= SMALLEST_SHARE]
    return f"  {name}: {format_seconds(time)}: {', '.join(parts)}"
