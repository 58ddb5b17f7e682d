"""Which traces there are, by SQL (DuckDB) over Parquet files and tables of spans."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa
from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import TraceEndpoint, TraceSummary

from tidscope_backend.traces.columns import SCHEMA, spans_of
from tidscope_backend.traces.span_store import StoredSpans

if TYPE_CHECKING:
    import duckdb

MAX_ENDPOINTS = 500
MAX_TRACES = 2000
"""In one answer of the list."""
MAX_ANALYSED_SPANS = 400_000
"""In one analysis; of more traces as many as have that many, by the order of their ids."""
REACH_NS = 3_600_000_000_000
"""Spans of a trace begin within an hour of its root: so files are chosen by their times."""
MEMORY = "1GB"
Order = Literal["recent", "slowest"]
_FIRST = "start_ns + CASE WHEN parent_id = '' THEN 0 ELSE 4000000000000000000 END"
"""The root of a trace is the least: the earliest without a parent, else the earliest of all."""


@dataclass(frozen=True)
class Wanted:
    """Which traces are wanted; None: any.

    Attributes:
        service: of the root span.
        operation: of the root span.
        since_ns: the root starts then or later, Unix nanoseconds.
        until_ns: it starts before.
        errors: whether a span failed.
        tag: an attribute and its value, of any span.
        pid: a process that a span is of; the window then is of that span, not of the root.
        thread_id: a thread that this span is of.
        low: least percentile of the duration, 0 to 100, among those that fit all else.
        high: greatest.
    """

    service: str | None = None
    operation: str | None = None
    since_ns: int | None = None
    until_ns: int | None = None
    errors: bool | None = None
    tag: tuple[str, str] | None = None
    pid: int | None = None
    thread_id: int | None = None
    low: float = 0.0
    high: float = 100.0


@dataclass(frozen=True)
class Chosen:
    """Spans of the traces that were wanted.

    Attributes:
        spans: of whole traces.
        omitted: traces that were wanted, and are beyond the bound.
    """

    spans: Sequence[Span]
    omitted: int


class SpanQueries:
    """Questions about stored spans. All methods block, and may be called from any thread.

    Args:
        read: all spans at the moment.
    """

    def __init__(self, read: Callable[[], StoredSpans]) -> None:
        self._read = read

    def endpoints(self, since_ns: int | None, until_ns: int | None) -> list[TraceEndpoint]:
        """Endpoints, those with the most traces first."""
        with self._roots(Wanted(since_ns=since_ns, until_ns=until_ns)) as database:
            rows = database.execute(
                "SELECT root.service, root.operation, count(*) AS traces, "
                "count(*) FILTER (root.error), "
                "quantile_disc(root.end_ns - root.start_ns, [0.5, 0.95, 0.99]), "
                "max(root.start_ns) FROM roots GROUP BY ALL "
                f"ORDER BY traces DESC, root.service, root.operation LIMIT {MAX_ENDPOINTS}"
            ).fetchall()
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
        """How many traces are stored."""
        with self._spans() as database:
            return _number(database, "SELECT count(DISTINCT trace_id) FROM spans")

    def traces(self, wanted: Wanted, order: Order, limit: int) -> list[TraceSummary]:
        """Traces, the most recent or the slowest first."""
        by = "root.start_ns" if order == "recent" else "root.end_ns - root.start_ns"
        with self._roots(wanted) as database:
            rows = database.execute(
                "SELECT trace_id, root.service, root.operation, root.start_ns, "
                "root.end_ns - root.start_ns, spans, services, errors FROM roots "
                f"ORDER BY {by} DESC, trace_id LIMIT ?",
                [min(limit, MAX_TRACES)],
            ).fetchall()
        names = tuple(TraceSummary.model_fields)
        return [TraceSummary(**dict(zip(names, row, strict=True))) for row in rows]

    def trace(self, trace_id: str) -> list[Span]:
        """The spans of a trace; none: there is no such trace."""
        with self._spans() as database:
            return _spans(database, "SELECT * FROM spans WHERE trace_id = ?", [trace_id])

    def choose(self, wanted: Wanted, bound: int = MAX_ANALYSED_SPANS) -> Chosen:
        """Spans of the traces that are wanted, as many whole traces as the bound allows."""
        with self._roots(wanted) as database:
            database.execute(
                "CREATE TABLE chosen AS SELECT trace_id, "
                "sum(spans) OVER (ORDER BY trace_id) <= ? OR row_number() OVER "
                "(ORDER BY trace_id) = 1 AS fits FROM roots",
                [bound],
            )
            omitted = _number(database, "SELECT count(*) FROM chosen WHERE NOT fits")
            spans = _spans(
                database,
                "SELECT spans.* FROM spans SEMI JOIN "
                "(SELECT trace_id FROM chosen WHERE fits) AS fitting USING (trace_id)",
                [],
            )
        return Chosen(spans, omitted)

    @contextmanager
    def _roots(self, wanted: Wanted) -> Iterator["duckdb.DuckDBPyConnection"]:
        """A table `roots`: the traces that are wanted, and their root spans."""
        condition, values = _conditions(wanted)
        near, near_values = _near(wanted)
        of_process, process_values = _of_process(wanted)
        with self._spans() as database:
            database.execute(
                "CREATE TABLE roots AS WITH traces AS (SELECT trace_id, "
                "arg_min({service: service, operation: operation, start_ns: start_ns, "
                f"end_ns: end_ns, error: error}}, {_FIRST}) AS root, "
                "count(DISTINCT span_id) AS spans, count(DISTINCT service) AS services, "
                "count(DISTINCT span_id) FILTER (error) AS errors, "
                f"bool_or(coalesce({of_process}, false)) AS of_process, "
                "bool_or(coalesce(attributes[?] = ?, false)) AS tagged "
                f"FROM spans WHERE {near} GROUP BY trace_id), "
                f"fitting AS (SELECT * FROM traces WHERE {condition}), "
                "ranked AS (SELECT *, 100 * percent_rank() OVER "
                "(ORDER BY root.end_ns - root.start_ns) AS percentile FROM fitting) "
                "SELECT * FROM ranked WHERE percentile BETWEEN ? AND ?",
                [
                    *process_values,
                    *(wanted.tag or (None, None)),
                    *near_values,
                    *values,
                    wanted.low,
                    wanted.high,
                ],
            )
            yield database

    @contextmanager
    def _spans(self) -> Iterator["duckdb.DuckDBPyConnection"]:
        """A view `spans` of all that are stored."""
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


def _near(wanted: Wanted) -> tuple[str, list[Any]]:
    """Spans that can belong to traces of the window."""
    conditions, values = ["true"], list[Any]()
    if wanted.since_ns is not None:
        conditions.append("start_ns >= ?")
        values.append(wanted.since_ns - REACH_NS)
    if wanted.until_ns is not None:
        conditions.append("start_ns < ?")
        values.append(wanted.until_ns + REACH_NS)
    return " AND ".join(conditions), values


def _of_process(wanted: Wanted) -> tuple[str, list[Any]]:
    """Whether a span is of the process and thread, and within the window in part."""
    conditions, values = ["true"], list[Any]()
    for condition, value in (
        ("pid = ?", wanted.pid),
        ("thread_id = ?", wanted.thread_id),
        ("end_ns >= ?", wanted.since_ns),
        ("start_ns < ?", wanted.until_ns),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    return " AND ".join(conditions), values


def _conditions(wanted: Wanted) -> tuple[str, list[Any]]:
    conditions, values = ["true"], list[Any]()
    of_process = wanted.pid is not None or wanted.thread_id is not None
    for condition, value in (
        ("root.service = ?", wanted.service),
        ("root.operation = ?", wanted.operation),
        ("root.start_ns >= ?", None if of_process else wanted.since_ns),
        ("root.start_ns < ?", None if of_process else wanted.until_ns),
        ("(errors > 0) = ?", wanted.errors),
    ):
        if value is not None:
            conditions.append(condition)
            values.append(value)
    if of_process:
        conditions.append("of_process")
    if wanted.tag is not None:
        conditions.append("tagged")
    return " AND ".join(conditions), values


def _spans(database: "duckdb.DuckDBPyConnection", query: str, values: list[Any]) -> list[Span]:
    return spans_of(database.sql(query, params=values).to_arrow_table())


def _number(database: "duckdb.DuckDBPyConnection", query: str) -> int:
    ((found,),) = database.execute(query).fetchall()
    return int(found)
