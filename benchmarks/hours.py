"""A long run, made of a recorded one: its first part again and again, the counters going on."""

import math
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.store.folder import RunFolder, new_run_id
from tidscope_backend.store.part_files import write_levels, write_table
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import TableName
from tidscope_wire.states import SINCE, STATE

Values = npt.NDArray[np.uint64]


def long_run(home: Path, recorded: str, hours: float) -> str:
    """Write a run whose parts all are like the first part of another one; returns its id.

    Args:
        home: the folder of all runs.
        recorded: a run there, its first part closed; no thread comes or goes in it.
        hours: how long it is to be.
    """
    source = RunReader(home / recorded)
    part = source.parts[0]
    samples, signals = part.samples(), part.signals()
    seq, times = part.times.seq, part.times.time_ns
    instants = len(seq)
    step_ns = int((times[-1] - times[0]) * instants // (instants - 1))
    growth = _growth(samples, [name for name in source.fields if name not in (STATE, SINCE)])
    tables = part.tables()
    table_gains = {name: _growth_of_keys(name, table) for name, table in tables.items()}
    folder = RunFolder(home / new_run_id(time.time()))
    folder.make()
    parts = math.ceil(hours * 3600e9 / step_ns)
    for number in range(parts):
        later = pa.array(samples["seq"].to_numpy() + number * instants)
        moved = samples.set_column(samples.column_names.index("seq"), "seq", later)
        for name, per_part in growth.items():
            moved = _set(moved, name, samples[name].to_numpy() + np.uint64(number) * per_part)
        if SINCE in source.fields:
            later_ns = np.uint64(number * step_ns)
            moved = _set(moved, SINCE, samples[SINCE].to_numpy() + later_ns)
        write_levels(folder.samples(number + 1), moved)
        for table_name, table in tables.items():
            folder.table(table_name, number + 1).parent.mkdir(parents=True, exist_ok=True)
            path = folder.table(table_name, number + 1)
            write_levels(path, _table_later(table, table_gains[table_name], number, instants))
        write_table(folder.signals(number + 1), signals)
        signals = _later(signals, instants, step_ns)
        shutil.copy(source.folder.events(part.number), folder.events(number + 1))
    rows = part.rows(0) * parts
    manifest = source.manifest.model_copy(
        update={
            "id": folder.path.name,
            "to_ns": int(times[-1]) + (parts - 1) * step_ns,
            "counts": source.manifest.counts.model_copy(
                update={"frames": instants * parts, "thread_samples": rows}
            ),
        }
    )
    folder.write_manifest(manifest)
    write_summaries(folder)
    return folder.path.name


def _growth(samples: pa.Table, fields: Sequence[str]) -> dict[str, Values]:
    """How much each row's thread gains in a part, of the fields that every row has."""
    tid, seq = samples["tid"].to_numpy(), samples["seq"].to_numpy()
    order = np.lexsort((seq, tid))
    _, first, row = np.unique(tid[order], return_index=True, return_inverse=True)
    last = np.append(first[1:], len(order)) - 1
    back = np.empty(len(order), np.int64)
    back[order] = row
    gains = {}
    for name in fields:
        if samples[name].null_count == 0:
            values = samples[name].to_numpy()[order]
            # Estimates may fall: that is no growth.
            gains[name] = (values[last] - np.minimum(values[first], values[last]))[back]
    return gains


def _set(table: pa.Table, name: str, values: Values) -> pa.Table:
    return table.set_column(table.column_names.index(name), name, pa.array(values))


def _growth_of_keys(name: TableName, table: pa.Table) -> dict[str, Values]:
    """How much each row's key gains in a part, of the figures of a frame table."""
    keys = [table[column].to_numpy() for column in KEYS[name]]
    order = np.lexsort((table["seq"].to_numpy(), *reversed(keys)))
    edge = np.zeros(len(order) - 1, np.bool_)
    for column in keys:
        edge |= np.diff(column[order].astype(np.int64)) != 0
    first = np.flatnonzero(np.append(True, edge))
    last = np.append(first[1:], len(order)) - 1
    row = np.cumsum(np.append(False, edge))
    back = np.empty(len(order), np.int64)
    back[order] = row
    gains = {}
    for column, kind in COLUMNS[name].items():
        if kind == "uint64" and column != "address":
            values = table[column].to_numpy()[order]
            gains[column] = (values[last] - np.minimum(values[first], values[last]))[back]
    return gains


def _table_later(table: pa.Table, gains: dict[str, Values], number: int, instants: int) -> pa.Table:
    """A frame table of the first part as a later part has it."""
    moved = _set(table, "seq", table["seq"].to_numpy() + number * instants)
    for name, per_part in gains.items():
        moved = _set(moved, name, table[name].to_numpy() + np.uint64(number) * per_part)
    return moved


def _later(signals: pa.Table, instants: int, step_ns: int) -> pa.Table:
    """The same instants, later, with what is cumulative among them going on."""
    rows = signals.to_pylist()
    reported = [row["roles"] for row in rows if row["roles"]]
    gains = {
        (role["role"], name): max(0, (value or 0) - (before["totals"][name] or 0))
        for role, before in zip(reported[-1], reported[0], strict=True)
        for name, value in role["totals"].items()
    }
    cpu = (rows[-1]["process"]["cpu_ns"] or 0) - (rows[0]["process"]["cpu_ns"] or 0)
    for row in rows:
        row["seq"] += instants
        row["first_seq"] += instants
        row["time_ns"] += step_ns
        row["unix_us"] += step_ns // 1000
        row["machine"]["time_ns"] += step_ns
        if row["process"]["cpu_ns"] is not None:
            row["process"]["cpu_ns"] += cpu
        for role in row["roles"] or ():
            for name, value in role["totals"].items():
                if value is not None:
                    role["totals"][name] = value + gains[role["role"], name]
    return pa.Table.from_pylist(rows, schema=signals.schema)
