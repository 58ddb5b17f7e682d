"""Runs for notebooks: Arrow tables, SQL, comparisons. Documented in docs/notebook.md."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import (
    AlignKind,
    CompareBasis,
    Comparison,
    RunManifest,
    TableName,
)
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.comparison.from_folders import compare_folders
from tidscope_backend.comparison.sides import Side, split_window
from tidscope_backend.exchange.formats import pool_readings
from tidscope_backend.pool_figures import known_figures, with_quantiles
from tidscope_backend.settings import runs_directory
from tidscope_backend.state_groups import GROUPS, name_of_state, shares_of_time
from tidscope_backend.store.directory import RunNotFoundError, all_runs, find_run
from tidscope_backend.store.reader import RunReader, table_growth

if TYPE_CHECKING:
    import duckdb

__all__ = ["Run", "compare", "list_runs", "open_run"]

NS = 1_000_000_000
_STATES = pa.schema(
    {
        **{"tid": pa.uint32(), "start_ns": pa.int64(), "name": pa.utf8(), "role": pa.utf8()},
        **{"state": pa.utf8(), "group": pa.utf8(), "ns": pa.int64(), "share": pa.float64()},
    }
)
_LOCKS = [
    *("lock", "name", "kind", "source", "address", "symbol_file"),
    *("tid", "thread", "wait_ns", "waits", "wakes"),
]


def open_run(which: str | Path, folder: str | Path | None = None) -> "Run":
    """Open a run.

    Args:
        which: path of the run's folder, the run's ID or name, or an unambiguous prefix of ID or
            name.
        folder: folder of all runs; None for this user's.

    Raises:
        RunNotFoundError: no run or several runs match.
        OSError: the run cannot be read.
        ValueError: the run is damaged.
    """
    path = Path(which)
    return Run(path if (path / "manifest.json").is_file() else find_run(_runs(folder), str(which)))


def list_runs(folder: str | Path | None = None) -> list[RunManifest]:
    """Return manifests of all runs in a folder (None for this user's), newest first."""
    return all_runs(_runs(folder))


def compare(
    groups: Sequence["Run | str | Path | Sequence[Run | str | Path]"],
    align: AlignKind = "start",
    mark: str | None = None,
    match: Sequence[str] = (),
    basis: CompareBasis = "rates",
) -> Comparison:
    """Compare runs, or groups of repeats; the first is the baseline.

    Args:
        groups: runs, or lists of repeats. A run's name followed by `@FROM-TO` is a window of the
            run, in seconds since its start.
        align: reference instant of the alignment.
        mark: text of the mark to align at.
        match: corrections of the matching of roles, each `RUN:ROLE=LABEL`.
        basis: comparison of counters: "rates", or "totals" for runs of equal length.

    Raises:
        tidscope_backend.comparison.sides.ComparisonError: the runs cannot be compared with these
            options.
    """
    alike = [[one] if isinstance(one, Run | str | Path) else list(one) for one in groups]
    sides = [[_side(run) for run in group] for group in alike]
    return compare_folders(sides, align, mark, match, basis)


class Run:
    """One run at the time of opening; later data needs another `open_run`.

    Times in seconds count from the start of the run, `time_ns` in tables from attach.

    Args:
        path: folder of the run.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._reader = RunReader(path)

    def __repr__(self) -> str:
        return f"<run {self.manifest.id} {self.manifest.name!r}>"

    @property
    def manifest(self) -> RunManifest:
        """Manifest of the run: target, host, settings and missing data."""
        return self._reader.manifest

    def threads(self) -> pa.Table:
        """One row per thread: identity, and counters at both ends of the run."""
        return self._reader.threads()

    def samples(
        self,
        from_s: float | None = None,
        to_s: float | None = None,
        tids: Sequence[int] | None = None,
        level: int = 0,
    ) -> pa.Table:
        """One row per thread and frame, with cumulative counters and the frame's `time_ns`.

        Args:
            from_s: first time, in seconds since the start of the run; None for the start.
            to_s: last time; None for the end of the run.
            tids: thread IDs; None for all threads.
            level: 0: all frames; 1: about one per second; 2: about one per ten seconds.
        """
        table = self._reader.samples(None, self._ns(from_s), self._ns(to_s), level)
        if tids is not None:
            table = table.filter(pc.is_in(table["tid"], pa.array(tids, pa.uint32())))
        return table

    def signals(self) -> pa.Table:
        """One row per frame: times, gauges of the process, counters of the machine, roles."""
        return self._reader.signals()

    def events(self) -> pa.Table:
        """One row per event: time, type, thread if any, and the complete event as JSON."""
        events = self._reader.events()
        return pa.table(
            {
                "seq": pa.array([one.seq for one in events], pa.int64()),
                "time_ns": pa.array([one.time_ns for one in events], pa.int64()),
                "unix_us": pa.array([one.unix_us for one in events], pa.int64()),
                "type": pa.array([one.event.type for one in events], pa.utf8()),
                "tid": pa.array([getattr(one.event, "tid", None) for one in events], pa.uint32()),
                "event": pa.array([one.event.model_dump_json() for one in events], pa.utf8()),
            }
        )

    def roles(self) -> pa.Table:
        """One row per role and instant, about once a second: threads and totals of counters."""
        signals = self._reader.signals(["time_ns", "roles"])
        signals = signals.filter(pc.is_valid(signals["roles"])).combine_chunks()
        lists = signals["roles"].combine_chunks()
        rows = pc.list_flatten(lists)
        times = signals["time_ns"].combine_chunks().take(pc.list_parent_indices(lists))
        totals = pc.struct_field(rows, "totals")
        columns = {name: pc.struct_field(rows, name) for name in ("role", "live", "exited")}
        fields = {name: pc.struct_field(totals, name) for name in self._reader.fields}
        return pa.table({"time_ns": times, **columns, **fields})

    def states(self) -> pa.Table:
        """One row per thread and state: time spent in the state within the run.

        Columns: tid, start_ns, name, role, state, group (of similar states), ns and share (of the
        thread's time in the run). States without time are omitted; without a ledger there are no
        rows.
        """
        groups = {field: group.id for group in GROUPS for field in group.fields}
        rows = []
        threads = self.threads().select(["tid", "start_ns", "name", "role", "first", "last"])
        for thread in threads.to_pylist():
            first, last = thread.pop("first"), thread.pop("last")
            spent = {
                field: max(0, last[field] - first[field])
                for field in STATE_FIELDS
                if last.get(field) is not None and first.get(field) is not None
            }
            for field, share in shares_of_time(spent).items():
                if share:
                    named = {"state": name_of_state(field), "group": groups[field]}
                    rows.append({**thread, **named, "ns": spent[field], "share": share})
        return pa.Table.from_pylist(rows, schema=_STATES)

    def locks(self) -> pa.Table:
        """One row per lock and thread: waits within the run.

        Columns: lock (number in the run), name, kind, source, address, symbol_file, tid, thread
        (name; null if waits are not known by thread), wait_ns, waits and wakes. Sorted by
        descending wait_ns.
        """
        names = self.table("lock_names")
        waits = self._with_names(self.table("locks"), "tid", "thread")
        known = waits.join(names, "lock", join_type="left outer")
        return known.select(_LOCKS).sort_by([("wait_ns", "descending"), ("lock", "ascending")])

    def wakes(self) -> pa.Table:
        """One row per pair of threads: number of wake-ups of the second by the first in the run.

        Columns: those of the table `wakes`, and wakee (name of the woken thread). A waker_tid of 0
        is an unknown thread, an interrupt or the idle task; waker_name tells which. Sorted by
        descending blocked_ns.
        """
        wakes = self._with_names(self.table("wakes"), "wakee_tid", "wakee")
        return wakes.sort_by([("blocked_ns", "descending"), ("wakee_tid", "ascending")])

    def processes(self) -> pa.Table:
        """One row per process of a group: resource usage within the run.

        Columns: those of the table `processes`, with cumulative ones from the start of the run. A
        row with pid 0 sums ended processes of one name that the run did not see individually;
        `count` is their number. Sorted by descending cpu_ns; empty for a single process.
        """
        found = self.table("processes")
        return found.sort_by([("cpu_ns", "descending"), ("process", "ascending")])

    def pools(self) -> pa.Table:
        """One row per pool of workers: activity within the run.

        Columns: those of the table `pools` without `known`; null for values that the program does
        not report. Counters start with the run; size, busy and queue are the last values.
        response_p50_s to queue_wait_p99_s are quantiles from histograms with doubling buckets.
        Sorted by descending finished.
        """
        found = with_quantiles(known_figures(self.table("pools")), self.table("pool_times"))
        return found.sort_by([("finished", "descending"), ("pool", "ascending")])

    def pool_readings(self) -> pa.Table:
        """One row per reading of a pool, about once a second.

        Columns: those of the table `pools` without `known`; null for values that the program does
        not report. Counters count since attach; `read_ns` is the time of reading, since attach.
        """
        return pool_readings(self._reader)

    def table(self, name: TableName) -> pa.Table:
        """Return a frame table: growth within the run, by key.

        Args:
            name: table name: stays, wakes, locks, lock_names, takers, calls, call_stays, inexact,
                processes, pools, pool_times or stack_counts.
        """
        return table_growth(self._reader.parts, name)

    def _with_names(self, table: pa.Table, tid: str, called: str) -> pa.Table:
        """Add the last name of each row's thread."""
        threads = self.threads().select(["tid", "name"]).to_pydict()
        names = dict(zip(threads["tid"], threads["name"], strict=True))
        column = pa.array([names.get(one) for one in table[tid].to_pylist()], pa.utf8())
        return table.append_column(called, column)

    def sql(self, query: str) -> pa.Table:
        """Query samples, signals, threads, events, roles, states and so on by SQL (DuckDB).

        Samples and signals of sealed parts are read from Parquet files, restricted to the columns
        and rows of the query.
        """
        import duckdb

        with duckdb.connect() as database:
            for name in ("samples", "signals"):
                self._make_view(database, name)
            for name, table in (
                ("threads", self.threads()),
                ("events", self.events()),
                ("roles", self.roles()),
                ("states", self.states()),
                ("locks", self.locks()),
                ("wakes", self.wakes()),
                ("processes", self.processes()),
                ("pools", self.pools()),
                ("pool_readings", self.pool_readings()),
            ):
                database.register(name, table)
            return database.sql(query).to_arrow_table()

    def _make_view(self, database: "duckdb.DuckDBPyConnection", name: str) -> None:
        """Create a view over the Parquet files of sealed parts and the tables of open ones."""
        folder = self._reader.folder
        parts = []
        files = []
        for part in self._reader.parts:
            path = folder.path / name / f"{part.number:06d}.parquet"
            if part.number in folder.sealed_parts() and path.exists():
                files.append("'" + str(path).replace("'", "''") + "'")
                continue
            frames = f"{name}_{part.number}"
            table = part.samples() if name == "samples" else part.signals()
            database.register(frames, table)
            parts.append("FROM " + frames)
        if files:
            parts.insert(0, "FROM read_parquet([" + ", ".join(files) + "])")
        database.execute(f"CREATE VIEW {name} AS {' UNION ALL BY NAME '.join(parts)}")

    def _ns(self, seconds: float | None) -> int | None:
        return None if seconds is None else self.manifest.from_ns + round(seconds * NS)


def _side(run: Run | str | Path) -> Side:
    if isinstance(run, Run):
        return Side(run.path)
    name, window = split_window(run) if isinstance(run, str) else (run, None)
    return Side(open_run(name).path, window)


def _runs(folder: str | Path | None) -> Path:
    found = runs_directory(os.environ) if folder is None else Path(folder)
    if found is None:
        raise RunNotFoundError("there is no runs directory: set TIDSCOPE_RUNS to one")
    return found
