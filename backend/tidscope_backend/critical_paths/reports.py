"""Reports of `tidscope critical-path` by attribute value and day by day, as text and JSON. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.daily import DailyReport, Series, daily_report, divide_by_day
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.values import ByValue, OfValue

from tidscope_backend.critical_paths.exports import NAME_WIDTH, operation_text, table
from tidscope_backend.text import format_seconds, plural

DAYS_HEAD = ("mean", "last", "a day", "95 % interval", "trend", "days")
VALUES_HEAD = ("spans", "requests", "own time", "mean", "P50", "P95", "most")
LEVELS = "▁▂▃▄▅▆▇█"
NO_DAY = "·"
"""Mark of a day without requests."""
MAX_KEYS = 12
"""Maximum attributes named."""


def values_lines(found: ByValue, operation: Operation) -> Iterator[str]:
    """Yield the own time of an operation by attribute value; see `by_value`."""
    if not found.rows:
        yield f"{operation_text(operation)} is on no critical path"
        return
    listed = [f"{one.key} ({one.values})" for one in found.keys[:MAX_KEYS]]
    yield f"own time of {operation_text(operation)} by {found.key or 'attribute'}:"
    rows = [
        [
            _value_name(row),
            *(str(row.spans), str(row.traces)),
            *map(format_seconds, (row.own_ns, row.mean_ns, row.p50_ns, row.p95_ns, row.most_ns)),
        ]
        for row in found.rows
    ]
    yield from table((found.key or "attribute", *VALUES_HEAD), rows, NAME_WIDTH)
    if listed:
        yield f"its attributes, with numbers of values: {', '.join(listed)}"


def _value_name(row: OfValue) -> str:
    if row.kind == "value":
        return row.value
    return "(without it)" if row.kind == "absent" else f"({row.values} other values)"


def values_json(found: ByValue, operation: Operation) -> dict[str, Any]:
    """Return the own time of an operation by attribute value; times in nanoseconds."""
    return {"service": operation.service, "operation": operation.name, **asdict(found)}


def daily_reports(summaries: Summaries, days: int) -> dict[Operation, DailyReport]:
    """Return the report of each endpoint, by descending number of requests."""
    places = summaries.by_endpoint()
    names = summaries.catalogue.operations
    return {
        names[number]: daily_report(divide_by_day(summaries.select(places[number]), days))
        for number in sorted(places, key=lambda number: (-len(places[number]), names[number]))
    }


def daily_lines(reports: Mapping[Operation, DailyReport], most: int) -> Iterator[str]:
    """Yield the daily reports.

    Args:
        reports: report of each endpoint.
        most: maximum operations of an endpoint.
    """
    for number, (endpoint, report) in enumerate(reports.items()):
        if number:
            yield ""
        with_traces = sum(count > 0 for count in report.traces)
        yield (
            f"{operation_text(endpoint)}: {plural(sum(report.traces), 'request')} on "
            f"{with_traces} of {plural(len(report.traces), 'day')} "
            f"from {_date(report.begin_ns[0])} to {_date(report.begin_ns[-1])} (UTC)"
        )
        rows = [
            _series_row(name, series, _time, _time)
            for name, series in (("P50", report.p50_ns), ("P95", report.p95_ns))
        ]
        yield from table(("latency", *DAYS_HEAD), rows, NAME_WIDTH)
        rows = [
            _series_row(operation_text(operation), series, "{:.1%}".format, _points)
            for operation, series in report.shares[:most]
        ]
        yield from table(("share of critical paths", *DAYS_HEAD), rows, NAME_WIDTH)


def _time(ns: float) -> str:
    return format_seconds(round(ns))


def _points(share: float) -> str:
    return f"{100 * share:.2f} pp"


def _series_row(
    name: str, series: Series, text: Callable[[float], str], size: Callable[[float], str]
) -> list[str]:
    """Return a row of DAYS_HEAD.

    Args:
        name: first cell.
        series: the figure.
        text: formats a value.
        size: formats the size of a change.
    """
    known = [value for value in series.values if value is not None]

    def change(value: float) -> str:
        return f"{'−' if value < 0 else '+'}{size(abs(value))}"

    trend = series.trend
    return [
        name,
        text(sum(known) / len(known)),
        text(known[-1]),
        "" if trend is None else change(trend.slope),
        "" if trend is None else f"{change(trend.low)} to {change(trend.high)}",
        "" if series.direction == "none" else series.direction,
        _spark(series.values),
    ]


def _spark(values: Sequence[float | None]) -> str:
    """Return one character per day, from 0 to the greatest value."""
    top = max((value for value in values if value is not None), default=0) or 1
    return "".join(
        NO_DAY if value is None else LEVELS[min(7, int(8 * value / top))] for value in values
    )


def daily_json(reports: Mapping[Operation, DailyReport]) -> list[dict[str, Any]]:
    """Return the daily reports; times in nanoseconds, shares from 0 to 1, null for gaps."""
    return [
        {
            "service": endpoint.service,
            "operation": endpoint.name,
            "days": [
                {"day": _date(begin), "traces": traces}
                for begin, traces in zip(report.begin_ns, report.traces, strict=True)
            ],
            "p50_ns": asdict(report.p50_ns),
            "p95_ns": asdict(report.p95_ns),
            "operations": [
                {"service": operation.service, "operation": operation.name, **asdict(series)}
                for operation, series in report.shares
            ],
        }
        for endpoint, report in reports.items()
    ]


def _date(begin_ns: int) -> str:
    return f"{datetime.fromtimestamp(begin_ns // 1_000_000_000, UTC):%Y-%m-%d}"
