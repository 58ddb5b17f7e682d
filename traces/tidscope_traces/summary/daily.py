"""Daily report: what an endpoint's requests waited for day by day, with trends.

Source: CRISP, section 4.5.4: a daily job analyses the traces of the last two weeks.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.durations import percentile
from tidscope_traces.summary.ranking import exclusive_times
from tidscope_traces.summary.traces import Summaries
from tidscope_traces.summary.trends import Trend, trend_of

DAYS = 14
"""Days of a report, as in CRISP."""
DAY_NS = 86_400_000_000_000
MAX_OPERATIONS = 50
"""Maximum operations of a report, by mean share."""
SIGNIFICANT = 0.05
Direction = Literal["up", "down", "none"]


@dataclass(frozen=True, slots=True)
class Series:
    """A figure day by day.

    Attributes:
        values: one per day; None for a day without traces.
        trend: change per day; None if too few days have traces.
        direction: `none` unless the trend is significant after correction for the number of series
            in the report (Bonferroni).
    """

    values: list[float | None]
    trend: Trend | None
    direction: Direction


@dataclass(frozen=True, slots=True)
class DailyReport:
    """Requests of one endpoint day by day; days are UTC.

    Attributes:
        begin_ns: start of each day, since the epoch.
        traces: number of analysed traces of each day.
        p50_ns, p95_ns: percentiles of duration.
        shares: each operation's own time as a share of the time of all critical paths, 0 to 1, by
            mean share, largest first.
    """

    begin_ns: list[int]
    traces: list[int]
    p50_ns: Series
    p95_ns: Series
    shares: list[tuple[Operation, Series]]


def day_of(moment_ns: int) -> int:
    """Return the start of the day (UTC) of a moment, since the epoch."""
    return moment_ns - moment_ns % DAY_NS


def days_until(last_ns: int, count: int = DAYS) -> list[int]:
    """Return the starts of the day of a moment and of the days before it, earliest first."""
    last = day_of(last_ns)
    return [last - back * DAY_NS for back in range(count - 1, -1, -1) if last >= back * DAY_NS]


def divide_by_day(summaries: Summaries, count: int = DAYS) -> dict[int, Summaries]:
    """Divide summaries by day of start, up to the last request's; earlier traces are left out."""
    if not summaries.traces:
        return {}
    last_ns = max(trace.start_ns for trace in summaries.traces)
    places: dict[int, list[int]] = {begin: [] for begin in days_until(last_ns, count)}
    for place, trace in enumerate(summaries.traces):
        if (begin := day_of(trace.start_ns)) in places:
            places[begin].append(place)
    return {begin: summaries.select(own) for begin, own in places.items()}


def daily_report(days: Mapping[int, Summaries]) -> DailyReport:
    """Return the report of one endpoint.

    Args:
        days: summaries by start of the day, consecutive days in order.
    """
    shares = [_shares(summaries) for summaries in days.values()]
    sums: dict[Operation, float] = {}
    for own in shares:
        for operation, share in (own or {}).items():
            sums[operation] = sums.get(operation, 0.0) + share
    ranked = sorted(sums, key=lambda operation: (-sums[operation], operation))[:MAX_OPERATIONS]
    durations = [sorted(one.duration_ns for one in own.traces) for own in days.values()]
    tests = len(ranked) + 2
    return DailyReport(
        begin_ns=list(days),
        traces=[len(summaries.traces) for summaries in days.values()],
        p50_ns=_series([percentile(own, 50) if own else None for own in durations], tests),
        p95_ns=_series([percentile(own, 95) if own else None for own in durations], tests),
        shares=[
            (
                operation,
                _series(
                    [None if own is None else own.get(operation, 0.0) for own in shares], tests
                ),
            )
            for operation in ranked
        ],
    )


def _shares(summaries: Summaries) -> dict[Operation, float] | None:
    """Return shares of the time of critical paths; None without traces."""
    total_ns = sum(trace.duration_ns for trace in summaries.traces)
    if not total_ns:
        return {} if summaries.traces else None
    names = summaries.catalogue.operations
    times = exclusive_times(summaries)
    return {names[number]: sum(own.values()) / total_ns for number, own in times.items()}


def _series(values: Sequence[float | None], tests: int) -> Series:
    trend = trend_of(values)
    direction: Direction = "none"
    if trend is not None and trend.slope and trend.p * tests <= SIGNIFICANT:
        direction = "up" if trend.slope > 0 else "down"
    return Series(list(values), trend, direction)
