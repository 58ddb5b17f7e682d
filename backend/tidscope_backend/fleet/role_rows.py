"""Totals by role of all targets, as rows of a table. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
from tidscope_wire.generated.catalogue import CATALOGUE
from tidscope_wire.generated.models import Target

from tidscope_backend.metrics.meters import TargetMeter

COUNTERS = tuple(
    field.name for field in CATALOGUE.fields if field.scope == "thread" and field.kind == "counter"
)
"""Columns of cumulative totals since attach, in the units of the field catalogue."""
SCHEMA = pa.schema(
    [
        pa.field("time", pa.timestamp("us", "UTC"), nullable=False),
        *(pa.field(name, pa.utf8(), nullable=False) for name in ("host", "host_name", "target")),
        pa.field("program", pa.utf8(), nullable=False),
        pa.field("pid", pa.int64(), nullable=False),
        pa.field("role", pa.utf8()),
        pa.field("labels", pa.utf8()),
        *(pa.field(name, pa.int64(), nullable=False) for name in ("live", "exited")),
        *(pa.field(name, pa.int64()) for name in COUNTERS),
    ]
)
"""Columns of a row: a role of a target at an instant of its host's clock. The role of the rest is
null, as are counters that the kernel did not give."""


class Reading(NamedTuple):
    """Newest totals of a target.

    Attributes:
        target: the target.
        host_name: name of its host.
        meter: what its newest frame said.
        labels: labels of its host, as a JSON object; None without any.
    """

    target: Target
    host_name: str
    meter: TargetMeter
    labels: str | None = None


def rows_of(readings: Iterable[Reading], taken_us: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return rows of the targets with a newer frame than when their rows were last taken.

    Args:
        readings: targets.
        taken_us: time of the newest row of each target, Unix microseconds.
    """
    return [
        {
            "time": meter.unix_us,
            "host": target.host,
            "host_name": host_name,
            "target": target.id,
            "program": target.process.name,
            "pid": target.process.pid,
            "role": role.role,
            **({} if labels is None else {"labels": labels}),
            "live": role.live,
            "exited": role.exited,
            **{name: role.totals[name] for name in COUNTERS if name in role.totals},
        }
        for target, host_name, meter, labels in readings
        if meter.unix_us > taken_us.get(target.id, 0)
        for role in meter.roles
    ]


def table_of(rows: Sequence[Mapping[str, Any]]) -> tuple[pa.Table, list[str]]:
    """Return rows as a table, and why others do not fit, such as a number beyond 64 bits."""
    try:
        return pa.Table.from_pylist(rows, SCHEMA), []
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        if len(rows) == 1:
            return SCHEMA.empty_table(), [str(error)]
    made = [table_of([row]) for row in rows]
    return (
        pa.concat_tables([table for table, _ in made]),
        [reason for _, reasons in made for reason in reasons],
    )
