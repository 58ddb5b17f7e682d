"""Cost of runs: disk space, CPU, and time to open and compare them.

A real program of many busy threads is recorded for a minute and a bit. That minute, repeated with
its counters going on, makes two runs of an hour, which are opened as the page opens them, and
compared.
"""

import argparse
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq
from running import Running, cpu, tidscope, wakers
from tidscope_backend.recording.sealing import write_summaries
from tidscope_backend.store.folder import RunFolder, new_run_id
from tidscope_backend.store.part_files import write_levels, write_table
from tidscope_backend.store.reader import RunReader
from tidscope_wire.generated.frame_tables import COLUMNS, KEYS
from tidscope_wire.generated.models import TableName
from tidscope_wire.states import SINCE, STATE

# Every thread wakes between two samples.
PERIOD_MS = 90
QUIET_SECONDS = 15.0
RECORDED_SECONDS = 75.0
REPEATS = 5
REST_SECONDS = 30.0
"""After the last read; memory is to be returned within a minute."""


def record(installation: Running, folder: Path, pid: int, rate_hz: float) -> tuple[str, float]:
    """Record a minute and a bit; the run, and the share of a core that recording took, percent."""
    target = installation.ask("/targets", {"pid": pid, "rate_hz": rate_hz})["id"]
    quiet = share(installation, lambda: time.sleep(QUIET_SECONDS))
    run = ""

    def recorded() -> None:
        nonlocal run
        run = installation.ask("/runs", {"target": target})["id"]
        time.sleep(RECORDED_SECONDS)
        installation.ask(f"/runs/{run}/stop", {})
        # Closing its last part is part of the work.
        while not (folder / run / "threads.parquet").exists():
            time.sleep(0.1)

    busy = share(installation, recorded)
    return run, busy - quiet


def share(installation: Running, work: Callable[[], None]) -> float:
    """The backend's share of a core during some work, its children's included; percent."""
    began, before = time.monotonic(), cpu(installation.backend)
    work()
    return 100 * (cpu(installation.backend) - before) / (time.monotonic() - began)


def typical(work: Callable[[], object]) -> float:
    """The median of some times, seconds."""
    times = []
    for _ in range(REPEATS):
        began = time.monotonic()
        work()
        times.append(time.monotonic() - began)
    return statistics.median(times)


def measure(threads: int, rate_hz: float, hours: float) -> dict[str, float]:
    """All figures."""
    folder = Path(tempfile.mkdtemp(prefix="tidscope-store-"))
    try:
        with (
            wakers(threads, PERIOD_MS) as pid,
            tidscope("--budget-percent", "0", TIDSCOPE_RUNS=str(folder)) as installation,
        ):
            run, write_percent = record(installation, folder, pid, rate_hz)
            recorded = installation.ask(f"/runs/{run}")["counts"]["thread_samples"]
        # Another backend opens them: this one holds the recent past of a target.
        with tidscope(TIDSCOPE_RUNS=str(folder)) as installation:
            rss_before = installation.backend.memory_info().rss
            long = [long_run(folder, run, hours) for _ in range(2)]
            rows = installation.ask(f"/runs/{long[0]}")["counts"]["thread_samples"]
            first, other = long

            def opened() -> None:
                installation.fetch(f"/runs/{first}")
                installation.fetch(f"/runs/{first}/frames?instants={instants_of(threads)}")
                installation.fetch(f"/runs/{first}/extremes")

            compared = f"/compare?runs={first},{other}"
            page = page_times(installation, first)
            figures = {
                "open_hour_http_s": round(typical(opened), 2),
                "open_hour_page_s": page["whole_s"],
                "page_first_s": page["first_s"],
                "peer_read_s": round(typical(lambda: read_key_frames(folder / first)), 2),
                "bytes_per_sample": round(size(folder / run) / recorded, 2),
                "hour_bytes_per_sample": round(size(folder / first) / rows, 2),
                "tables_bytes_per_sample": round(size(folder / first / "tables") / rows, 2),
                "compare_s": round(typical(lambda: installation.fetch(compared)), 2),
                "write_cpu_percent": round(write_percent, 2),
                "thread_samples": rows,
                "rss_before_mb": round(rss_before / 1e6, 1),
                "rss_peak_mb": round(installation.backend.memory_info().rss / 1e6, 1),
            }
            time.sleep(REST_SECONDS)
            return {
                **figures,
                "rss_after_mb": round(installation.backend.memory_info().rss / 1e6, 1),
            }
    finally:
        shutil.rmtree(folder)


def instants_of(threads: int) -> int:
    """Number of instants that the page requests of a run (frontend/src/stream/runWindow.ts)."""
    return math.ceil(min(1200, max(150, 150_000 / threads)) / 2)


def read_key_frames(folder: Path) -> None:
    """The peer: what opening costs who reads the parts with PyArrow and makes nothing of them."""
    for path in sorted((folder / "samples").iterdir()):
        with pq.ParquetFile(path) as file:
            file.read_row_group(0)
    for path in sorted((folder / "signals").iterdir()):
        pq.read_table(path, columns=["seq", "time_ns"])


def page_times(installation: Running, run: str) -> dict[str, float]:
    """Seconds from the click on a run in the list, in a real browser."""
    page = subprocess.run(
        ["node", str(Path(__file__).with_name("page_times.mjs")), "run", installation.url, run],
        stdout=subprocess.PIPE,
        check=True,
        timeout=120,
    )
    return {name: round(value, 2) for name, value in json.loads(page.stdout).items()}


def size(folder: Path) -> int:
    """Total size of all files, in bytes."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def main() -> int:
    """Run; see the module's text."""
    parser = argparse.ArgumentParser(description="What runs cost.")
    parser.add_argument("--threads", type=int, default=500)
    parser.add_argument("--rate", type=float, default=10)
    parser.add_argument("--hours", type=float, default=1)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    figures = measure(arguments.threads, arguments.rate, arguments.hours)
    figures |= {"threads": arguments.threads, "rate_hz": arguments.rate}
    if arguments.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:28} {value:>12}")
    return 0


Values = npt.NDArray[np.uint64]


def long_run(home: Path, recorded: str, hours: float) -> str:
    """Write a run whose parts all are like the first part of another one; returns its id.

    Args:
        home: the folder of all runs.
        recorded: a run there, its first part closed; no thread comes or goes in it.
        hours: length of the run, in hours.
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
    """Growth of each row's thread in a part, in the fields that every row has."""
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
    """Growth of each row's key in a part, in the figures of a frame table."""
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
    """Shift instants in time and continue their cumulative values."""
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


if __name__ == "__main__":
    sys.exit(main())
