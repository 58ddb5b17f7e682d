"""One row per frame: the headers of frames as a table. Pure."""

import types
import typing
from collections.abc import Sequence
from typing import Any, get_args, get_origin

import pyarrow as pa
from pydantic import BaseModel
from tidscope_wire.generated.models import (
    CollectorHealth,
    FrameHeader,
    GroupCounts,
    MachineCounters,
    ProcessGauges,
)
from typing_extensions import TypeAliasType

_PLAIN: dict[object, pa.DataType] = {
    bool: pa.bool_(),
    int: pa.int64(),
    float: pa.float64(),
    str: pa.utf8(),
}
TABLES = "tables"
"""Of each frame table of a frame: when it was read, and how many rows it left out; not in older
runs."""
_TABLE = pa.struct({"name": pa.utf8(), "omitted": pa.int64(), "read_ns": pa.int64()})
_NO_ROWS = {"rows": 0, "bytes": 8}
_PARTS = ("process", "machine", "health", "exited", "roles")


def signals_schema(fields: Sequence[str], *, of_group: bool = False) -> pa.Schema:
    """The columns of docs/runs.md; those of a message are made from its schema.

    Args:
        fields: the target's.
        of_group: whether the target is a group.
    """
    totals = pa.struct([pa.field(name, pa.int64()) for name in fields])
    exited = pa.struct({"threads": pa.int64(), "inexact": pa.int64(), "totals": totals})
    role = pa.struct(
        {"role": pa.utf8(), "live": pa.int64(), "exited": pa.int64(), "totals": totals}
    )
    schema = pa.schema(
        [
            pa.field("seq", pa.int64()),
            pa.field("first_seq", pa.int64()),
            pa.field("level", pa.uint8()),
            pa.field("time_ns", pa.int64()),
            pa.field("unix_us", pa.int64()),
            pa.field("live_threads", pa.int64()),
            pa.field("threads_born", pa.int64()),
            pa.field("counters_from", pa.utf8()),
            pa.field("process", struct_of(ProcessGauges)),
            pa.field("machine", struct_of(MachineCounters)),
            pa.field("health", struct_of(CollectorHealth)),
            pa.field("exited", exited),
            pa.field("roles", pa.list_(role)),
            pa.field(TABLES, pa.list_(_TABLE)),
        ]
    )
    return schema.append(pa.field("group", struct_of(GroupCounts))) if of_group else schema


def signals_table(
    headers: Sequence[FrameHeader],
    levels: Sequence[int],
    fields: Sequence[str],
    *,
    of_group: bool = False,
) -> pa.Table:
    """Make the table."""
    rows = []
    for header, level in zip(headers, levels, strict=True):
        row = header.model_dump(include={*_PARTS, "group"} if of_group else set(_PARTS))
        row.update(
            seq=header.seq,
            first_seq=header.first_seq,
            level=level,
            time_ns=header.time_ns,
            unix_us=header.unix_us,
            live_threads=header.live_threads,
            threads_born=header.threads_born,
            counters_from=header.counters_from,
            tables=None if header.tables is None else [one.model_dump() for one in header.tables],
        )
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=signals_schema(fields, of_group=of_group))


def header_values(row: dict[str, Any]) -> dict[str, Any]:
    """The values of a header in a row of the table; fields without a value are left out."""
    values = {name: value for name, value in row.items() if name != "level"}
    for totals in (values["exited"], *(values["roles"] or ())):
        totals["totals"] = {k: v for k, v in totals["totals"].items() if v is not None}
    if values.get(TABLES) is not None:
        # The rows themselves stand elsewhere.
        values[TABLES] = [one | _NO_ROWS for one in values[TABLES]]
    return values


def struct_of(model: type[BaseModel]) -> pa.StructType:
    """The Arrow type of a message."""
    return pa.struct(
        [pa.field(name, _type_of(info.annotation)) for name, info in model.model_fields.items()]
    )


def _type_of(annotation: Any) -> pa.DataType:
    origin, parts = get_origin(annotation), get_args(annotation)
    if isinstance(annotation, TypeAliasType):
        return _type_of(annotation.__value__)
    if origin is typing.Annotated:
        return _type_of(parts[0])
    if origin in (typing.Union, types.UnionType):
        (inner,) = (part for part in parts if part is not types.NoneType)
        return _type_of(inner)
    if origin is list:
        return pa.list_(_type_of(parts[0]))
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return struct_of(annotation)
    return _PLAIN[str if origin is typing.Literal else annotation]
