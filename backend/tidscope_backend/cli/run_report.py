"""What a run recorded, in numbers: totals of the process, its roles and its threads."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.cli.run_facts import RunFacts
from tidscope_backend.store.folder import RunFolder, what_is_missing

if TYPE_CHECKING:
    from tidscope_backend.store.reader import RunReader

GAUGES = ("state", "state_since_ns")
"""Of these a difference means nothing."""


@dataclass(frozen=True)
class ThreadReport:
    """One thread.

    Attributes:
        tid: thread id.
        name: its last name.
        role: its name with digits replaced.
        exited: whether it exited within the run.
        fields: field name to what it did within the run, in the field's unit; fields without a
            value are left out.
    """

    tid: int
    name: str
    role: str
    exited: bool
    fields: Mapping[str, int]


@dataclass(frozen=True)
class RoleReport:
    """All threads of a role; fields as of a thread, in sum."""

    role: str
    threads: int
    fields: Mapping[str, int]


@dataclass(frozen=True)
class LockReport:
    """A lock that threads waited for.

    Attributes:
        name: as far as it is known.
        kind: as in the table `lock_names`.
        wait_ns: how long, in sum.
        waits: how often.
        waiters: threads that waited; those that ended may count as one.
    """

    name: str
    kind: str
    wait_ns: int
    waits: int
    waiters: int


@dataclass(frozen=True)
class RunReport:
    """A run.

    Attributes:
        manifest: what the run's manifest says.
        disk_bytes: what its files take on disk now.
        totals: fields of all threads, in sum.
        roles: by CPU time, highest first.
        threads: by CPU time, highest first.
        locks: by waiting time, longest first; empty without a ledger.
        facts: who woke its threads, and who ran during their run-queue delay.
    """

    manifest: RunManifest
    disk_bytes: int
    totals: Mapping[str, int]
    roles: list[RoleReport]
    threads: list[ThreadReport]
    locks: list[LockReport]
    facts: RunFacts

    def json_object(self) -> dict[str, object]:
        """The same as JSON can hold it; what is missing comes first."""
        return {
            "missing": what_is_missing(self.manifest) or None,
            "manifest": self.manifest.model_dump(mode="json"),
            "disk_bytes": self.disk_bytes,
            "totals": dict(self.totals),
            "roles": [asdict(role) for role in self.roles],
            "threads": [asdict(thread) for thread in self.threads],
            "locks": [asdict(lock) for lock in self.locks],
            **asdict(self.facts),
        }


def report(folder: RunFolder) -> RunReport:
    """Read a run.

    Raises:
        OSError: it cannot be read.
        ValueError: its manifest or a part is damaged.
    """
    from tidscope_wire.states import STATE_FIELDS

    from tidscope_backend.cli.run_tables import run_facts
    from tidscope_backend.comparison.figures import totals_by_role, whole
    from tidscope_backend.store.reader import RunReader

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
        _locks(reader),
        run_facts(reader),
    )


def _locks(reader: "RunReader") -> list[LockReport]:
    from tidscope_backend.store.reader import table_growth

    rows = table_growth(reader.parts, "locks").to_pylist()
    if not rows:
        return []
    known = {row["lock"]: row for row in table_growth(reader.parts, "lock_names").to_pylist()}
    by_lock: dict[int, list[dict[str, int]]] = {}
    for row in rows:
        by_lock.setdefault(row["lock"], []).append(row)
    found = [
        LockReport(
            name=known[lock]["name"] if lock in known else "",
            kind=known[lock]["kind"] if lock in known else "unknown",
            wait_ns=sum(row["wait_ns"] for row in waits),
            waits=sum(row["waits"] for row in waits),
            waiters=sum(row["waits"] > 0 for row in waits),
        )
        for lock, waits in by_lock.items()
    ]
    return sorted(found, key=lambda lock: (-lock.wait_ns, lock.name))


def cpu(fields: Mapping[str, int]) -> int:
    """On-CPU time in nanoseconds; 0 where it was not measured."""
    return fields.get("cpu_run_ns", 0)


def _difference(
    first: Mapping[str, int | None], last: Mapping[str, int | None], states: Collection[str]
) -> dict[str, int]:
    differences = {}
    for name, end in last.items():
        start = first.get(name)
        if start is not None and end is not None and name not in GAUGES:
            # Time in a state may fall by microseconds.
            differences[name] = max(0, end - start) if name in states else end - start
    return differences
