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
from tidscope_backend.store.parquet_files import write_levels, write_table
from tidscope_backend.store.reader import RunReader

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
    growth = _growth(samples, source.fields)
    folder = RunFolder(home / new_run_id(time.time()))
    folder.make()
    parts = math.ceil(hours * 3600e9 / step_ns)
    for number in range(parts):
        later = pa.array(samples["seq"].to_numpy() + number * instants)
        moved = samples.set_column(samples.column_names.index("seq"), "seq", later)
        for name, per_part in growth.items():
            values = samples[name].to_numpy() + np.uint64(number) * per_part
            moved = moved.set_column(moved.column_names.index(name), name, pa.array(values))
        write_levels(folder.samples(number + 1), moved)
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
            gains[name] = (values[last] - values[first])[back]
    return gains


def _later(signals: pa.Table, instants: int, step_ns: int) -> pa.Table:
    """The same instants, later, with what is cumulative among them going on."""
    rows = signals.to_pylist()
    reported = [row["roles"] for row in rows if row["roles"]]
    gains = {
        (role["role"], name): (value or 0) - (before["totals"][name] or 0)
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
