"""Reports on traces: own time by attribute value, and days with trends."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from tidscope_backend.cli import main
from tidscope_backend.traces.folder import SpanRetention
from tidscope_backend.traces.span_store import SpanStore
from tidscope_traces.spans.model import Operation, Span, Trace
from tidscope_traces.summary.daily import DAY_NS, daily_report, divide_by_day
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise_all
from tidscope_traces.summary.trends import trend_of
from tidscope_traces.summary.values import MAX_VALUES, AttributeKey, by_value
from trace_builders import EPOCH_NS, MS, jaeger_document, made_span, made_trace

FIND = Operation("bank", "find")
FIRST_DAY_NS = EPOCH_NS - EPOCH_NS % DAY_NS


def request(number: int, find: float, *, day: int = 0, own: float = 10, **tags: str) -> Trace:
    """GET / (`own` ms of its own) asks find, beside a call that ends earlier."""
    trace_id = f"{number:032x}"
    at = day * DAY_NS / MS + number % 50
    finds = [
        made_span(
            *("find", at + 1, at + 1 + took, "a"),
            span_id=name,
            service="bank",
            trace_id=trace_id,
            attributes=tags,
        )
        for name, took in (("b", find), ("c", find / 2))
    ]
    return made_trace(
        made_span("GET /", at, at + own + find, trace_id=trace_id, span_id="a"), *finds
    )


def summaries_of(*traces: Trace, of: Operation | None = None) -> Summaries:
    return summarise_all(traces, Options(attributes_of=of))


def test_own_time_is_divided_by_the_value_of_an_attribute() -> None:
    """Values as in CRISP's figure 4.22; the call that is off the path does not count."""
    traces = [
        *(request(n, 100 + n, sku="4212", id=str(n)) for n in range(1, 21)),
        *(request(n, 50, sku="4212R", id=str(n)) for n in range(21, 31)),
        *(request(n, 7, id=str(n)) for n in range(31, 36)),
    ]
    found = by_value(summaries_of(*traces, of=FIND))
    assert found.keys == [AttributeKey("sku", 30, 2), AttributeKey("id", 35, 35)]
    assert found.key == "sku"
    assert [(row.kind, row.value, row.values, row.spans, row.traces) for row in found.rows] == [
        ("value", "4212", 1, 20, 20),
        ("value", "4212R", 1, 10, 10),
        ("absent", "", 0, 5, 5),
    ]
    slow, fast, _ = found.rows
    assert (slow.p50_ns, slow.p95_ns, slow.most_ns) == (110 * MS, 119 * MS, 120 * MS)
    assert (slow.own_ns, slow.mean_ns) == (2210 * MS, 110_500_000)
    assert [sum(row.counts) for row in found.rows] == [20, 10, 5]
    assert sum(at for at, count in enumerate(fast.counts) if count) < next(
        at for at, count in enumerate(slow.counts) if count
    )
    assert len(found.bounds_ns) == len(slow.counts) + 1


def test_values_beyond_the_bound_are_summed() -> None:
    """The values with the most time are listed; nothing is lost."""
    traces = [request(n, n, id=f"{n:02}") for n in range(1, 31)]
    found = by_value(summaries_of(*traces, of=FIND), "id")
    listed = [row.value for row in found.rows[:-1]]
    assert listed == [f"{n:02}" for n in range(30, 30 - MAX_VALUES, -1)]
    other = found.rows[-1]
    assert (other.kind, other.values, other.spans) == ("other", 18, 18)
    assert sum(row.own_ns for row in found.rows) == sum(range(1, 31)) * MS
    # A single value is as short by itself.
    few = by_value(summaries_of(*traces[: MAX_VALUES + 1], of=FIND), "id")
    assert {row.kind for row in few.rows} == {"value"}


def test_an_operation_without_attributes_or_spans() -> None:
    bare = by_value(summaries_of(request(1, 5), of=FIND))
    assert (bare.key, bare.keys, [row.kind for row in bare.rows]) == ("", [], ["absent"])
    unknown = by_value(summaries_of(request(1, 5), of=Operation("bank", "lost")), "sku")
    assert (unknown.key, unknown.rows, unknown.bounds_ns) == ("sku", [], [])


def test_a_trend_is_the_median_slope_with_sens_interval() -> None:
    values = [3.1, 2.9, 4.2, 4.0, 5.5, 5.1, 6.4, 6.0, 7.2, 30.0]
    found = trend_of(values)
    assert found is not None
    # scipy 1.17, theilslopes: 0.55 [0.425, 1.3]; kendalltau without correction for continuity:
    # p = 0.00094. Ranks of the interval are rounded outwards here.
    assert found.slope == pytest.approx(0.55)
    assert found.low == pytest.approx(0.4142857)
    assert found.high == pytest.approx(1.3)
    assert found.p == pytest.approx(0.0012822, rel=1e-4)
    # With ties: 0.5 [0.333, 0.571].
    tied = trend_of([1, 1, 2, 2, 2, 3, 3, 4, 5, 5])
    assert tied is not None
    assert (tied.slope, tied.low, tied.high) == pytest.approx((0.5, 1 / 3, 0.6))
    gaps: list[float | None] = [None, *values[:4], None, None, *values[4:]]
    apart = trend_of(gaps)
    assert apart is not None
    # The same rise takes longer.
    assert apart.slope < found.slope
    assert trend_of([1.0, 2.0, None, 3.0, 4.0]) is None
    flat = trend_of([2.0] * 9)
    assert flat is not None
    assert (flat.slope, flat.low, flat.high, flat.p) == (0, 0, 0, 1)


def test_the_interval_covers_the_slope_as_often_as_it_says() -> None:
    """2,000 series of 14 days with known slope: 95 %, within what chance allows."""
    chance = random.Random(5)
    covered = false = 0
    for _ in range(2000):
        found = trend_of([0.3 * day + chance.gauss(0, 1) for day in range(14)])
        flat = trend_of([chance.gauss(0, 1) for _ in range(14)])
        assert found is not None
        assert flat is not None
        covered += found.low <= 0.3 <= found.high
        false += flat.p <= 0.05
    assert 0.93 <= covered / 2000 <= 0.98
    assert false / 2000 <= 0.065


def fortnight(growth: float, empty: tuple[int, ...] = (), count: int = 40) -> list[Trace]:
    """Requests of 14 days, in which find takes 40 ms and `growth` ms more each day, on average."""
    chance = random.Random(3)
    return [
        request(
            day * 1000 + n,
            40 + growth * day + chance.gauss(0, 4),
            day=day,
            own=60 + chance.gauss(0, 4),
        )
        for day in range(14)
        if day not in empty
        for n in range(1, count + 1)
    ]


def test_a_known_trend_is_found_over_days_with_gaps() -> None:
    report = daily_report(divide_by_day(summaries_of(*fortnight(2, empty=(3, 8, 9)))))
    assert report.begin_ns == [FIRST_DAY_NS + day * DAY_NS for day in range(14)]
    assert [day for day, count in enumerate(report.traces) if count == 0] == [3, 8, 9]
    (first, share), (second, other) = report.shares
    assert {first.name, second.name} == {"GET /", "find"}
    find = share if first == FIND else other
    assert [day for day, value in enumerate(find.values) if value is None] == [3, 8, 9]
    assert find.trend is not None
    # From 40 of 100 ms to 66 of 126.
    assert find.trend.low < (66 / 126 - 40 / 100) / 13 < find.trend.high
    assert find.trend.low > 0
    assert (share.direction, other.direction) in {("up", "down"), ("down", "up")}
    assert find.direction == "up"
    assert report.p50_ns.direction == "up"
    assert report.p50_ns.trend is not None
    assert report.p50_ns.trend.slope == pytest.approx(2 * MS, rel=0.2)
    assert [value is None for value in report.p50_ns.values] == [
        value is None for value in find.values
    ]


def test_no_trend_is_found_where_there_is_none() -> None:
    report = daily_report(divide_by_day(summaries_of(*fortnight(0))))
    for series in (report.p50_ns, report.p95_ns, *(series for _, series in report.shares)):
        assert series.trend is not None
        assert series.trend.low < 0 < series.trend.high
        assert series.direction == "none"


def test_an_operation_off_the_path_of_a_day_has_a_share_of_0() -> None:
    alone = [
        made_trace(
            made_span("GET /", day * DAY_NS / MS, day * DAY_NS / MS + 9, trace_id=f"{day:x}")
        )
        for day in (1, 2)
    ]
    report = daily_report(divide_by_day(summaries_of(request(100, 10), *alone), 4))
    shares = dict(report.shares)
    assert shares[FIND].values == [None, 0.5, 0, 0]
    assert shares[FIND].trend is None


def test_requests_before_the_last_days_are_left_out() -> None:
    days = divide_by_day(summaries_of(request(1, 5), request(2, 5, day=14)))
    assert [len(own.traces) for own in days.values()] == [0] * 13 + [1]
    assert daily_report({}).shares == []
    assert divide_by_day(summaries_of()) == {}


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    assert main(["critical-path", *map(str, arguments)]) == 0
    return capsys.readouterr().out


def test_the_command_prints_both(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Files, and stored traces of all endpoints."""
    tagged = [request(99_999 + n, 5, day=2, sku="ab"[n]) for n in range(2)]
    traces = [*fortnight(2, empty=(5,), count=8), *tagged]
    path = tmp_path / "t.json"
    path.write_text(json.dumps(jaeger_document(*traces)))
    lines = run(capsys, path, "--daily").splitlines()
    assert lines[0] == (
        "shop: GET /: 106 requests on 13 of 14 days from 2023-11-14 to 2023-11-27 (UTC)"
    )
    row = next(line for line in lines if line.startswith("bank: find"))
    assert " up " in row
    assert row[-14:][5] == "·"
    (report,) = json.loads(run(capsys, path, "--daily", "3", "--json"))["daily"]
    assert [day["day"] for day in report["days"]] == ["2023-11-25", "2023-11-26", "2023-11-27"]
    assert report["operations"][0]["trend"] is None
    spans: list[Span] = [span for trace in traces for span in trace.spans]
    SpanStore(lambda: tmp_path, tmp_path, SpanRetention(None, None), lambda: 1e9).add(spans)
    assert run(capsys, "--runs-dir", tmp_path, "--daily").splitlines() == lines

    text = run(capsys, path, "--by", "bank:find=sku")
    assert "own time of bank: find by sku:" in text
    assert "(without it)" in text
    document: dict[str, Any] = json.loads(run(capsys, path, "--by", "bank:find", "--json"))["by"]
    assert document["key"] == "sku"
    assert [row["spans"] for row in document["rows"]] == [1, 1, 104]
    assert main(["critical-path", str(path), "--by", "bank:fin"]) == 0
    assert "bank: fin is on no critical path" in capsys.readouterr().out
