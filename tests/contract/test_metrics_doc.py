"""docs/metrics.md lists the metrics that there are.

Run this file as a script to write its tables again:

    PYTHONPATH=shared:tests .venv/bin/python tests/contract/test_metrics_doc.py
"""

import re
from pathlib import Path

import pytest
from backend_builders import HOST_ID, division, host, steering, target
from builders import busy_pool, frame_header
from group_story import processes
from prometheus_client.metrics_core import Metric
from tidscope_backend.metrics.families import ENDED_SECONDS, Facts, StreamFacts, families
from tidscope_backend.metrics.meters import MAX_NAMED_PROCESSES, Meters
from tidscope_backend.metrics.role_families import ROLE_FIELDS
from tidscope_collector.sampling.roles import MAX_NAMED_ROLES
from tidscope_wire.frame_tables import encode_tables
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import ProcessGauges, RoleTotals

PAGE = Path(__file__).parents[2] / "docs" / "metrics.md"
ITSELF, TARGETS, ROLES = "tidscope itself", "Processes and their sampling", "Threads by role"
POOLS = "Pools of workers"
SUFFIX = {"counter": "_total", "info": "_info"}

Table = list[list[str]]


def full() -> list[Metric]:
    """Families of a target that has everything."""
    meters = Meters(lambda: 0.0, lambda _: 1)
    header = frame_header()
    every = {field.name: 1 for field in CATALOGUE.fields if field.scope == "thread"}
    role = RoleTotals(role="main", live=1, exited=0, totals=every)
    update = {
        "roles": [role],
        "process": ProcessGauges(
            gomaxprocs=1,
            rss_bytes=1,
            cpu_limit=1,
            cgroup_periods=1,
            cgroup_throttled=1,
            cgroup_throttled_us=1,
        ),
        "health": header.health.model_copy(update={"cpu_percent": 1.0, "overhead_percent": 1.0}),
        "machine": header.machine.model_copy(update={"package_uj": 1}),
    }
    described, tables = encode_tables({**busy_pool(), "processes": processes(1)})
    meters.observe(
        HOST_ID, header.model_copy(update=update | {"tables": described, "rows": 0}), tables
    )
    every_field = [field.name for field in CATALOGUE.fields]
    known = target().model_copy(
        update={"steering": steering(division=division()), "fields": every_field}
    )
    hosts = ((host(), meters.hosts[HOST_ID]),)
    targets = ((known, meters.targets[known.id]),)
    return list(families(Facts(StreamFacts(), hosts, targets, {"attached": 1})))


def tables() -> dict[str, Table]:
    """The page's tables, by heading; of fields it says no more than their names."""
    head = ["metric", "type", "labels", "meaning"]
    made: dict[str, Table] = {
        ITSELF: [head],
        TARGETS: [head],
        POOLS: [head],
        ROLES: [["metric", "unit", "field"]],
    }
    fields = {metric.name: metric for metric in ROLE_FIELDS}
    for metric in full():
        assert metric.samples, f"{metric.name} has no sample"
        name = f"`{metric.name}{SUFFIX.get(metric.type, '')}`"
        labels = {label for sample in metric.samples for label in sample.labels}
        if metric.name in fields:
            assert labels == {"target", "role"}
            made[ROLES].append([name, metric.unit, f"`{fields[metric.name].field}`"])
            continue
        listed = ", ".join(f"`{label}`" for label in sorted(labels))
        part = POOLS if "pool" in labels else TARGETS if "target" in labels else ITSELF
        made[part].append([name, metric.type, listed, metric.documentation])
    return made


def written() -> dict[str, Table]:
    """The tables as the page has them."""
    found: dict[str, Table] = {}
    for part in PAGE.read_text(encoding="utf-8").split("\n## "):
        lines = [line for line in part.splitlines() if line.startswith("|")]
        rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        if rows:
            found[part.split("\n", 1)[0]] = [rows[0], *rows[2:]]
    return found


@pytest.mark.parametrize("heading", [ITSELF, TARGETS, POOLS, ROLES])
def test_the_tables_are_the_metrics(heading: str) -> None:
    assert written()[heading] == tables()[heading]


def test_bounds_are_those_in_force() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert f"at most {MAX_NAMED_ROLES} roles by name" in text
    assert f"at most {MAX_NAMED_ROLES + 1} times" in text
    assert f"at most {MAX_NAMED_PROCESSES} names" in text
    assert ENDED_SECONDS == 300
    assert "stays for five minutes" in text


def test_metrics_in_the_text_exist() -> None:
    known = {sample.name for metric in full() for sample in metric.samples}
    text = PAGE.read_text(encoding="utf-8").partition("\n## tidscope itself")[0]
    named = set(re.findall(r"tidscope_\w+", text))
    assert named
    assert named <= known


def _write() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for heading, table in tables().items():
        widths = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
        lines = [
            "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
            for row in [table[0], ["-" * width for width in widths], *table[1:]]
        ]
        block = "".join(f"{line} |\n" for line in lines)
        before, after = text.split(f"\n## {heading}\n")
        start, *_, end = (m for m in re.finditer(r"(?m)^\|.*\n", after.split("\n## ")[0]))
        after = after[: start.start()] + block + after[end.end() :]
        text = f"{before}\n## {heading}\n{after}"
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write()
