"""What a run recorded, in numbers: totals of the process, its roles and its threads."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from tidscope_wire.generated.models import RunManifest

from tidscope_backend.cli.run_facts import RunFacts
from tidscope_backend.store.folder import RunFolder
from tidscope_backend.store.losses import missing_text


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
class RunReport:
    """A run.

    Attributes:
        manifest: what the run's manifest says.
        disk_bytes: what its files take on disk now.
        totals: fields of all threads, in sum.
        roles: by CPU time, highest first.
        threads: by CPU time, highest first.
        facts: locks, wakers, and who ran during run-queue delay.
    """

    manifest: RunManifest
    disk_bytes: int
    totals: Mapping[str, int]
    roles: list[RoleReport]
    threads: list[ThreadReport]
    facts: RunFacts

    def json_object(self) -> dict[str, object]:
        """The same as JSON can hold it; what is missing comes first."""
        return {
            "missing": missing_text(self.manifest.losses) or None,
            "manifest": self.manifest.model_dump(mode="json"),
            "disk_bytes": self.disk_bytes,
            "totals": dict(self.totals),
            "roles": [asdict(role) for role in self.roles],
            "threads": [asdict(thread) for thread in self.threads],
            **asdict(self.facts),
        }


def report(folder: RunFolder) -> RunReport:
    """Read a run.

    Raises:
        OSError: it cannot be read.
        ValueError: its manifest or a part is damaged.
    """
    from tidscope_backend.cli.run_tables import run_facts
    from tidscope_backend.comparison.totals import totals_by_role, whole
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
            _difference(row["first"] or {}, row["last"] or {}),
        )
        for row in table.select(columns).to_pylist()
    ]
    return RunReport(
        folder.read_manifest(),
        folder.bytes(),
        whole(by_role).fields,
        sorted(roles, key=lambda role: (-cpu(role.fields), role.role)),
        sorted(threads, key=lambda thread: (-cpu(thread.fields), thread.tid)),
        run_facts(reader),
    )


def cpu(fields: Mapping[str, int]) -> int:
    """On-CPU time in nanoseconds; 0 where it was not measured."""
    return fields.get("cpu_run_ns", 0)


def _difference(first: Mapping[str, int | None], last: Mapping[str, int | None]) -> dict[str, int]:
    differences = {}
    for name, end in last.items():
        start = first.get(name)
        if start is not None and end is not None:
            differences[name] = end - start
    return differences
