"""Traces found by SQL (DuckDB) over tables of spans, and runs as sets of traces."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import TraceEndpoint, TraceSummary

from tidscope_backend.traces.batches import SCHEMA, spans_of
from tidscope_backend.traces.span_store import StoredSpans

if TYPE_CHECKING:
    import duckdb
from collections.abc import Coroutine
from typing import NamedTuple

import pyarrow.compute as pc
from tidscope_wire.generated.models import RunManifest

MAX_ENDPOINTS = 500
MAX_TRACES = 2000
"""Maximum traces in one list."""
MAX_ANALYSED_SPANS = 150_000
"""Maximum spans in one analysis. Further traces, in the order of their IDs, are omitted."""
REACH_NS = 3_600_000_000_000
"""Maximum delay of a span after its trace's root, used to select files by time."""
MEMORY = "1GB"
Order = Literal["recent", "slowest", "path"]
"""`path`: longest wait for the requested process or thread first."""
_ROOTS = """
CREATE TABLE roots AS
WITH traces AS (
    -- The root is the earliest span without a parent, else the earliest of all.
    SELECT trace_id,
        arg_min(
            {service: service, operation: operation, start_ns: start_ns, end_ns: end_ns,
             error: error},
            start_ns + CASE WHEN parent_id = '' THEN 0 ELSE 4000000000000000000 END
        ) AS root,
        count(DISTINCT span_id) AS spans,
        count(DISTINCT service) AS services,
        count(DISTINCT span_id) FILTER (error) AS errors,
        bool_or(coalesce(
            ($pid IS NULL OR pid = $pid) AND ($thread_id IS NULL OR thread_id = $thread_id)
            AND ($since_ns IS NULL OR end_ns >= $since_ns)
            AND ($until_ns IS NULL OR start_ns < $until_ns), false)) AS of_thread,
        -- Null where no span names its process: such a trace may be of any.
        coalesce(bool_or(list_contains($processes, pid)), true) AS of_processes,
        bool_or(coalesce(attributes[$tag_key] = $tag_value, false)) AS tagged
    FROM spans
    WHERE ($since_ns IS NULL OR start_ns >= $since_ns - $reach)
        AND ($until_ns IS NULL OR start_ns < $until_ns + $reach)
    GROUP BY trace_id
), ranked AS (
    SELECT *,
        row_number() OVER (ORDER BY root.end_ns - root.start_ns, trace_id) AS rank,
        count(*) OVER () AS total
    FROM traces
    WHERE ($service IS NULL OR root.service = $service)
        AND ($operation IS NULL OR root.operation = $operation)
        AND ($errors IS NULL OR (errors > 0) = $errors)
        AND ($tag_key IS NULL OR tagged)
        AND ($processes IS NULL OR of_processes)
        AND CASE WHEN $pid IS NULL AND $thread_id IS NULL
            THEN ($since_ns IS NULL OR root.start_ns >= $since_ns)
                AND ($until_ns IS NULL OR root.start_ns < $until_ns)
            ELSE of_thread END
), placed AS (
    -- The middle of a rank is in one window of windows side by side.
    SELECT *,
        100 * (rank - 0.5) / total AS percentile,
        least(total, floor(($low + $high) / 200 * total) + 1) AS nearest
    FROM ranked
), inside AS (
    SELECT * FROM placed WHERE percentile >= $low AND percentile < $high
)
SELECT * FROM inside
UNION ALL SELECT * FROM placed WHERE rank = nearest AND NOT EXISTS (FROM inside)
"""
_ENDPOINTS = """
SELECT root.service, root.operation, count(*) AS traces, count(*) FILTER (root.error),
    quantile_disc(root.end_ns - root.start_ns, [0.5, 0.95, 0.99]), max(root.start_ns)
FROM roots
GROUP BY root.service, root.operation
ORDER BY traces DESC, root.service, root.operation
LIMIT $limit
"""
_TRACES = """
SELECT trace_id, root.service, root.operation, root.start_ns,
    root.end_ns - root.start_ns AS duration_ns, spans, services, errors
FROM roots
ORDER BY CASE $order WHEN 'recent' THEN root.start_ns ELSE root.end_ns - root.start_ns END DESC,
    trace_id
LIMIT $limit
"""
_CHOSEN = """
CREATE TABLE chosen AS
SELECT trace_id, sum(spans) OVER upto <= $bound OR row_number() OVER upto = 1 AS fits
FROM roots
WINDOW upto AS (ORDER BY trace_id)
"""
_FITTING = """
SELECT spans.* FROM spans SEMI JOIN (SELECT trace_id FROM chosen WHERE fits) AS fitting
    USING (trace_id)
"""


@dataclass(frozen=True)
class Wanted:
    """Selection of traces; None for any.

    Attributes:
        service: service of the root span.
        operation: operation of the root span.
        since_ns: minimum start of the root, Unix nanoseconds.
        until_ns: start of the root must be earlier.
        errors: whether a failed span is required.
        tag: attribute and value, of any span.
        pid: process ID of a span; `since_ns` and `until_ns` apply to this span instead of the root.
        thread_id: thread ID of this span.
        processes: a span of one of these processes is required, unless no span names its process.
        low: minimum percentile of the duration, 0 to 100, among traces that match all other
            criteria.
        high: maximum percentile.
    """

    service: str | None = None
    operation: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    errors: bool | None = None
    tag: tuple[str, str] | None = None
    pid: int | None = None
    thread_id: int | None = None
    processes: tuple[int, ...] | None = None
    low: float = 0.0
    high: float = 100.0


@dataclass(frozen=True)
class Chosen:
    """Spans of the selected traces.

    Attributes:
        spans: spans of complete traces.
        omitted: number of selected traces beyond the bound.
    """

    spans: Sequence[Span]
    omitted: int


class SpanQueries:
    """Questions about stored spans. All methods block, and may be called from any thread.

    Args:
        read: returns a snapshot of all spans.
    """

    def __init__(self, read: Callable[[], StoredSpans]) -> None:
        self._read = read

    def endpoints(self, since_ns: int | None, until_ns: int | None) -> list[TraceEndpoint]:
        """Return endpoints, by descending number of traces."""
        with self._roots(Wanted(since_ns=since_ns, until_ns=until_ns)) as database:
            rows = database.execute(_ENDPOINTS, {"limit": MAX_ENDPOINTS}).fetchall()
        return [
            TraceEndpoint(
                service=service,
                operation=operation,
                traces=traces,
                errors=errors,
                p50_ns=quantiles[0],
                p95_ns=quantiles[1],
                p99_ns=quantiles[2],
                last_ns=last_ns,
            )
            for service, operation, traces, errors, quantiles, last_ns in rows
        ]

    def count(self) -> int:
        """Return the number of stored traces."""
        with self._spans() as database:
            return _number(database, "SELECT count(DISTINCT trace_id) FROM spans")

    def traces(self, wanted: Wanted, order: Order, limit: int) -> list[TraceSummary]:
        """Return traces, the most recent or the slowest first."""
        with self._roots(wanted) as database:
            values = {"order": order, "limit": min(limit, MAX_TRACES)}
            rows = database.execute(_TRACES, values).fetchall()
            names = [column[0] for column in database.description or ()]
        return [TraceSummary(**dict(zip(names, row, strict=True))) for row in rows]

    def trace(self, trace_id: str) -> list[Span]:
        """Return the spans of a trace; empty if the trace does not exist."""
        with self._spans() as database:
            return _spans(
                database, "SELECT * FROM spans WHERE trace_id = $trace", {"trace": trace_id}
            )

    def choose(self, wanted: Wanted, bound: int = MAX_ANALYSED_SPANS) -> Chosen:
        """Return spans of the selected traces: as many complete traces as the bound allows."""
        with self._roots(wanted) as database:
            database.execute(_CHOSEN, {"bound": bound})
            omitted = _number(database, "SELECT count(*) FROM chosen WHERE NOT fits")
            return Chosen(_spans(database, _FITTING, {}), omitted)

    @contextmanager
    def _roots(self, wanted: Wanted) -> Iterator["duckdb.DuckDBPyConnection"]:
        """Create a table `roots` with the root spans of the selected traces."""
        key, value = wanted.tag or (None, None)
        with self._spans() as database:
            values = {**vars(wanted), "tag_key": key, "tag_value": value, "reach": REACH_NS}
            del values["tag"]
            values["processes"] = None if wanted.processes is None else list(wanted.processes)
            database.execute(_ROOTS, values)
            yield database

    @contextmanager
    def _spans(self) -> Iterator["duckdb.DuckDBPyConnection"]:
        """Create a view `spans` of all stored spans."""
        import duckdb

        stored = self._read()
        with duckdb.connect(config={"threads": 2, "memory_limit": MEMORY}) as database:
            database.register("open", pa.concat_tables([SCHEMA.empty_table(), *stored.tables]))
            parts = ["FROM open"]
            if stored.files:
                files = ", ".join("'" + str(path).replace("'", "''") + "'" for path in stored.files)
                parts.append(f"FROM read_parquet([{files}])")
            database.execute(f"CREATE VIEW spans AS {' UNION ALL BY NAME '.join(parts)}")
            yield database


def _spans(database: "duckdb.DuckDBPyConnection", query: str, values: dict[str, Any]) -> list[Span]:
    return spans_of(database.sql(query, params=values).to_arrow_table())


def _number(database: "duckdb.DuckDBPyConnection", query: str) -> int:
    ((found,),) = database.execute(query).fetchall()
    return int(found)


class RunWindow(NamedTuple):
    """Recorded time and target of a run.

    Attributes:
        since_ns: first frame, Unix nanoseconds.
        until_ns: last frame.
        processes: ID of the run's process, or IDs of the group's processes.
    """

    since_ns: int
    until_ns: int
    processes: tuple[int, ...]


FindRun = Callable[[str], Coroutine[None, None, RunWindow]]


def window_of(manifest: RunManifest, threads: pa.Table | None) -> RunWindow:
    """Return the window of a run.

    Args:
        manifest: manifest of the run.
        threads: thread table of a group's run; None for a process.
    """
    began_ns = manifest.started_unix_us * 1000
    processes = {manifest.target.process.pid}
    if threads is not None and "pid" in threads.column_names:
        processes |= set(pc.unique(threads["pid"]).drop_null().to_pylist())
    return RunWindow(
        began_ns, began_ns + manifest.to_ns - manifest.from_ns, tuple(sorted(processes))
    )
