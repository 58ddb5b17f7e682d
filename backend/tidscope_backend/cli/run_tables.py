"""Reads the frame tables of a run for the command line: most time first."""

from collections.abc import Iterator
from typing import Any

from tidscope_wire.generated.models import TableName

from tidscope_backend.cli.run_facts import RunFacts, Taker, Waker
from tidscope_backend.store.reader import RunReader, table_growth

OWN = "own threads"


def run_facts(reader: RunReader) -> RunFacts:
    """Read the tables of a run."""
    return RunFacts(
        sorted(_wakers(reader), key=lambda one: (-one.blocked_ns, one.name)),
        sorted(_takers(reader), key=lambda one: (-one.ns, one.name)),
    )


def _wakers(reader: RunReader) -> Iterator[Waker]:
    own = reader.manifest.target.process.pid
    for (pid, name), rows in _grouped(reader, "wakes", "waker_pid", "waker_name", own=own).items():
        yield Waker(
            name,
            pid,
            sum(row["count"] for row in rows),
            sum(row["blocked_ns"] for row in rows),
            sum(row["delay_ns"] for row in rows),
        )


def _takers(reader: RunReader) -> Iterator[Taker]:
    own = reader.manifest.target.process.pid
    for (pid, name), rows in _grouped(reader, "takers", "pid", "name", own=own).items():
        yield Taker(name, pid, sum(row["ns"] for row in rows))


def _grouped(
    reader: RunReader, table: TableName, *keys: str, own: int | None = None
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Rows of a table by some of its columns; threads of the own process have one name."""
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table_growth(reader.parts, table).to_pylist():
        key = tuple(row[name] for name in keys)
        groups.setdefault((own, OWN) if key[0] == own else key, []).append(row)
    return groups
