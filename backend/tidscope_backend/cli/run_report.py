"""A run in numbers and as text: totals, roles, threads, wakers, takers and states."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.store.folder import RunFolder, what_is_missing

if TYPE_CHECKING:
    from tidscope_backend.store.reader import RunReader
    from tidscope_backend.store.run_locks import RunLock
from collections.abc import Iterator, Sequence
from typing import Any

from tidscope_wire.generated.models import TableName

from tidscope_backend.text import format_seconds, plural

GAUGES = ("state", "state_since_ns")
"""Fields whose differences have no meaning."""


@dataclass(frozen=True)
class ThreadReport:
    """Report of one thread.

    Attributes:
        tid: thread ID.
        name: last name.
        role: name with digits replaced.
        exited: whether the thread exited within the run.
        fields: growth within the run by field name, in the field's unit; fields without a value are
            omitted.
    """

    tid: int
    name: str
    role: str
    exited: bool
    fields: Mapping[str, int]


@dataclass(frozen=True)
class RoleReport:
    """Report of all threads of a role, with summed fields."""

    role: str
    threads: int
    fields: Mapping[str, int]


@dataclass(frozen=True)
class Waker:
    """Process or interrupt that woke threads of the target.

    Attributes:
        name: name of the process.
        pid: process ID; 0 for an interrupt.
        count: number of wake-ups.
        blocked_ns: total duration of the ended waits.
        delay_ns: delay from the wake-up until the thread ran.
    """

    name: str
    pid: int
    count: int
    blocked_ns: int
    delay_ns: int


@dataclass(frozen=True)
class Taker:
    """Process that ran while threads of the target waited for the same CPU.

    Attributes:
        name: name of the process.
        pid: process ID.
        ns: run-queue delay of the target's threads meanwhile.
    """

    name: str
    pid: int
    ns: int


@dataclass(frozen=True)
class RunFacts:
    """Wakers and takers; empty without a ledger."""

    wakers: Sequence[Waker]
    takers: Sequence[Taker]


@dataclass(frozen=True)
class RunReport:
    """Report of a run.

    Attributes:
        manifest: manifest of the run.
        disk_bytes: current size of the files.
        totals: fields summed over all threads.
        roles: roles by CPU time, highest first.
        threads: threads by CPU time, highest first.
        locks: locks by wait time, longest first; empty without a ledger.
        facts: wakers, and processes that ran during the target's run-queue delay.
    """

    manifest: RunManifest
    disk_bytes: int
    totals: Mapping[str, int]
    roles: list[RoleReport]
    threads: list[ThreadReport]
    locks: "list[RunLock]"
    facts: RunFacts

    def json_object(self) -> dict[str, object]:
        """Return the report as a JSON object, missing data first."""
        return {
            "missing": what_is_missing(self.manifest) or None,
            "manifest": self.manifest.model_dump(mode="json"),
            "disk_bytes": self.disk_bytes,
            "totals": dict(self.totals),
            "roles": [asdict(role) for role in self.roles],
            "threads": [asdict(thread) for thread in self.threads],
            "locks": [lock._asdict() for lock in self.locks],
            **asdict(self.facts),
        }


def report(folder: RunFolder) -> RunReport:
    """Read a run.

    Raises:
        OSError: the run cannot be read.
        ValueError: the manifest or a part is damaged.
    """
    from tidscope_wire.states import STATE_FIELDS

    from tidscope_backend.comparison.figures import totals_by_role, whole
    from tidscope_backend.store.reader import RunReader
    from tidscope_backend.store.run_locks import run_locks

    reader = RunReader(folder.path)
    table = reader.threads()
    by_role = totals_by_role(table)
    roles = [RoleReport(role, totals.lives, totals.fields) for role, totals in by_role.items()]
    columns = ("tid", "name", "role", "exited", "first", "last")
    threads = [
        ThreadReport(
            row["tid"],
            row["name"],
            row["role"],
            row["exited"],
            _difference(row["first"] or {}, row["last"] or {}, STATE_FIELDS),
        )
        for row in table.select(columns).to_pylist()
    ]
    return RunReport(
        folder.read_manifest(),
        folder.bytes(),
        whole(by_role).fields,
        sorted(roles, key=lambda role: (-cpu(role.fields), role.role)),
        sorted(threads, key=lambda thread: (-cpu(thread.fields), thread.tid)),
        run_locks(reader),
        run_facts(reader),
    )


def cpu(fields: Mapping[str, int]) -> int:
    """Return on-CPU time in nanoseconds; 0 if not measured."""
    return fields.get("cpu_run_ns", 0)


def _difference(
    first: Mapping[str, int | None], last: Mapping[str, int | None], states: Collection[str]
) -> dict[str, int]:
    differences = {}
    for name, end in last.items():
        start = first.get(name)
        if start is not None and end is not None and name not in GAUGES:
            # Time in a state may decrease by microseconds.
            differences[name] = max(0, end - start) if name in states else end - start
    return differences


SHOWN = 8


def fact_lines(facts: RunFacts) -> Iterator[str]:
    """Return the first of each, as text."""
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


SMALLEST_SHARE = 0.0005


def state_lines(totals: Mapping[str, int], roles: Sequence[RoleReport]) -> Iterator[str]:
    """Format the states of all threads and of each role, most time first; empty without a ledger.

    Args:
        totals: fields summed over all threads.
        roles: fields summed by role.
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
    """Return the sum of all states, nanoseconds."""
    # STATE_FIELDS needs numpy, which a recording does not load.
    from tidscope_wire.states import STATE_FIELDS

    return sum(fields.get(name, 0) for name in STATE_FIELDS)


def _line(name: str, fields: Mapping[str, int]) -> str:
    from tidscope_wire.generated.catalogue import CATALOGUE
    from tidscope_wire.states import STATE_FIELDS

    titles = {field.name: field.label for field in CATALOGUE.fields}
    time = _time(fields)
    longest = sorted(STATE_FIELDS, key=lambda field: -fields.get(field, 0))
    shares = [(fields.get(field, 0) / time, field) for field in longest]
    parts = [f"{share:.1%} {titles[field]}" for share, field in shares if share >= SMALLEST_SHARE]
    return f"  {name}: {format_seconds(time)}: {', '.join(parts)}"


OWN = "own threads"


def run_facts(reader: "RunReader") -> RunFacts:
    """Read the tables of a run."""
    return RunFacts(
        sorted(_wakers(reader), key=lambda one: (-one.blocked_ns, one.name)),
        sorted(_takers(reader), key=lambda one: (-one.ns, one.name)),
    )


def _wakers(reader: "RunReader") -> Iterator[Waker]:
    own = reader.manifest.target.process.pid
    for (pid, name), rows in _grouped(reader, "wakes", "waker_pid", "waker_name", own=own).items():
        yield Waker(
            name,
            pid,
            sum(row["count"] for row in rows),
            sum(row["blocked_ns"] for row in rows),
            sum(row["delay_ns"] for row in rows),
        )


def _takers(reader: "RunReader") -> Iterator[Taker]:
    own = reader.manifest.target.process.pid
    for (pid, name), rows in _grouped(reader, "takers", "pid", "name", own=own).items():
        yield Taker(name, pid, sum(row["ns"] for row in rows))


def _grouped(
    reader: "RunReader", table: TableName, *keys: str, own: int | None = None
) -> dict[tuple[Any, ...], list[dict[str, Any]]]:
    """Group rows of a table by some columns; the target's threads share one name."""
    # Reading tables needs pyarrow, which a recording does not load.
    from tidscope_backend.store.reader import table_growth

    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in table_growth(reader.parts, table).to_pylist():
        key = tuple(row[name] for name in keys)
        groups.setdefault((own, OWN) if key[0] == own else key, []).append(row)
    return groups
