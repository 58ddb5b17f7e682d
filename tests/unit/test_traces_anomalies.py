"""Traces that are unlike those of their endpoint."""

import random
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest
from anomalies import KINDS, Shape, make_request, verdict
from anomalies import make_endpoint as make_shaped
from made_traces import make_endpoint, make_spans
from tidscope_traces.anomalies.choices import P_VALUE, in_deviations, learn_choices, tailed
from tidscope_traces.anomalies.detector import MIN_TRACES, find_anomalies
from tidscope_traces.anomalies.times import fit_tail, learn_times
from tidscope_traces.anomalies.vectors import Chains, Entries, read_entries
from tidscope_traces.spans.model import Trace, make_trace
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise_all
from trace_builders import MS, made_span, made_trace

TYPICAL = ("B", "C", "D")


def request(
    number: int, calls: Sequence[str] = TYPICAL, slow: str = "", failed: str = "", factor: float = 8
) -> Trace:
    """A calls others, one after the other, each for 10 ms or so; B calls "b"."""
    chance = random.Random(number)
    trace_id = f"{number + 1:032x}"
    spans = []
    at = 2.0
    for place, name in enumerate(calls):
        length = 10 * chance.lognormvariate(0, 0.2) * (factor if name == slow else 1)
        span_id = f"{name}{place}"
        spans.append(
            made_span(
                name, at, at + length, "A", span_id=span_id, trace_id=trace_id, error=name == failed
            )
        )
        if name == "B":
            spans.append(made_span("b", at + 1, at + 2, span_id, trace_id=trace_id))
        at += length + 2
    return made_trace(made_span("A", 0, at, trace_id=trace_id), *spans)


def typical_requests(count: int, first: int = 0) -> list[Trace]:
    return [request(first + number) for number in range(count)]


def summaries_of(traces: Iterable[Trace]) -> Summaries:
    return summarise_all(traces, Options(calls=True))


def found_among(reference: int, odd: Sequence[Trace]) -> list[tuple[int, str, str]]:
    """The odd requests found among typical ones: which odd one, why, and in what."""
    summaries = summaries_of([*typical_requests(reference), *odd])
    return sorted(
        (one.place - reference, one.kind, one.chain[-1].name) for one in find_anomalies(summaries)
    )


def found_against(reference: int, judged: Sequence[Trace]) -> list[tuple[int, str, str]]:
    summaries = summaries_of([*typical_requests(reference), *judged])
    later = summaries.select(range(reference, len(summaries.traces)))
    return sorted(
        (one.place, one.kind, one.chain[-1].name)
        for one in find_anomalies(later, summaries.select(range(reference)))
    )


ODD = [
    request(9001, slow="C"),
    request(9002, ("B", "D")),
    request(9003, failed="D"),
    request(9004, ("B", "C", "C", "C", "D")),
    request(9005, ("C", "B", "D")),
    request(9006, ("B", "C", "X", "D")),
    request(9007, slow="C", factor=0.1),
]
WHY = [
    (0, "improbable", "C"),
    (1, "missing", "C"),
    (2, "failed", "D"),
    (3, "repeated", "C"),
    (4, "reordered", "B"),
    (5, "unseen", "X"),
    (6, "improbable", "C"),
]


def test_each_kind_is_found_and_named() -> None:
    assert found_among(200, ODD) == WHY
    assert found_against(200, [*ODD, *typical_requests(20, 5000)]) == WHY


def test_the_strangest_are_first() -> None:
    scores = [one.score for one in find_anomalies(summaries_of([*typical_requests(200), *ODD]))]
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 3.09


@pytest.mark.parametrize(
    "odd", range(5), ids=["slow", "missing", "failed", "repeated", "reordered"]
)
def test_a_few_with_the_same_fault_do_not_hide_each_other(odd: int) -> None:
    """Five of 505, of slow ones three: "no other trace has it" would find none of them."""
    make = [
        lambda number: request(number, slow="C"),
        lambda number: request(number, ("B", "D")),
        lambda number: request(number, failed="D"),
        lambda number: request(number, ("B", "C", "C", "C", "D")),
        lambda number: request(number, ("C", "B", "D")),
    ]
    same = [make[odd](9000 + number) for number in range(5 if odd else 3)]
    assert found_among(500, same) == [(number, *WHY[odd][1:]) for number in range(len(same))]


def test_one_measure_is_not_diluted_by_the_others() -> None:
    """All but one time of a large request are typical."""
    many = [f"C{number}" for number in range(30)]
    traces = [request(number, many) for number in range(100)]
    found = find_anomalies(summaries_of([*traces, request(9000, many, slow="C7")]))
    assert (found[0].place, found[0].kind, found[0].chain[-1].name) == (100, "improbable", "C7")
    assert len(found) <= 2


def test_a_rare_path_is_normal() -> None:
    """One in 25 makes another call; as many fail, call once more, or lack a call."""
    rare: list[Callable[[int], Trace]] = [
        lambda number: request(number, ("B", "C", "X", "D")),
        lambda number: request(number, failed="C"),
        lambda number: request(number, ("B", "C", "C", "D")),
        lambda number: request(number, ("B", "C")),
        *[request] * 21,
    ]
    traces = [random.Random(number).choice(rare)(number) for number in range(2000)]
    summaries = summaries_of(traces)
    assert len(find_anomalies(summaries)) <= 2
    assert len(find_anomalies(summaries.select(range(1000, 2000)),
                              summaries.select(range(1000)))) <= 4  # fmt: skip


def test_calls_at_once_have_no_order() -> None:
    def at_once(number: int) -> Trace:
        chance = random.Random(number)
        trace_id = f"{number + 1:032x}"
        spans = [made_span("A", 0, 30, trace_id=trace_id)]
        for name in "BC":
            # One of them is seldom so short that it ends before the other begins.
            start = chance.uniform(1, 2)
            length = 0.1 if chance.random() < 0.02 else chance.uniform(10, 20)
            spans.append(made_span(name, start, start + length, "A", trace_id=trace_id))
        return made_trace(*spans)

    found = find_anomalies(summaries_of(at_once(number) for number in range(1000)))
    assert "reordered" not in {one.kind for one in found}


def test_a_call_beside_the_critical_path_counts() -> None:
    def beside(number: int, *, audit: bool = True, failed: bool = False) -> Trace:
        trace = request(number)
        trace_id = trace.trace_id
        extra = [made_span("audit", 1, 3, "A", trace_id=trace_id, error=failed)] if audit else []
        return made_trace(*trace.spans, *extra)

    odd = [beside(9000, audit=False), beside(9001, failed=True)]
    found = find_anomalies(summaries_of([*map(beside, range(200)), *odd]))
    assert sorted((one.place, one.kind, one.chain[-1].name) for one in found) == [
        *((200, "missing", "audit"), (201, "failed", "audit")),
    ]


def test_too_few_traces_say_nothing() -> None:
    few = summaries_of([*typical_requests(MIN_TRACES - 2), ODD[1]])
    assert find_anomalies(few) == []
    assert find_anomalies(summaries_of(ODD), few) == []
    assert find_anomalies(Summaries()) == []


def test_all_the_same_is_typical() -> None:
    spans = request(1).spans
    same = [make_trace(f"{number + 1:032x}", spans) for number in range(50)]
    assert find_anomalies(summaries_of(same)) == []


def test_summaries_without_calls_are_refused() -> None:
    with pytest.raises(ValueError, match="was summarised without its calls"):
        find_anomalies(summarise_all(typical_requests(MIN_TRACES), Options()))


def test_progress_ends_with_all() -> None:
    said: list[tuple[int, int]] = []
    find_anomalies(summaries_of(typical_requests(250)), None, lambda *one: said.append(one))
    assert said[-1] == (250, 250)
    assert said == sorted(said)
    assert 50 <= len(said) <= 126


def test_what_a_trace_calls() -> None:
    trace = made_trace(
        made_span("A", 0, 20),
        made_span("B", 1, 9, "A", error=True),
        made_span("C", 2, 4, "B"),
        made_span("C", 3, 6, "B", span_id="again"),
        made_span("D", 10, 12, "A"),
        made_span("E", 11, 19, "A"),
    )
    summaries = summaries_of([trace])
    (summary,) = summaries.traces
    assert summary.calls is not None
    columns = summary.calls.contexts.T.tolist()
    assert [(summaries.catalogue.operations[one[0]].name, *one[1:]) for one in columns] == [
        ("A", -1, 3 * MS, 1, 0),
        ("B", 0, 4 * MS, 1, 1),
        ("D", 0, 2 * MS, 1, 0),
        ("E", 0, 8 * MS, 1, 0),
        ("C", 1, 3 * MS, 2, 0),
    ]
    # B before D and before E; D and E at once.
    assert summary.calls.orders.T.tolist() == [[1, 2, 1], [1, 3, 1], [2, 3, 0]]


def entries_of(traces: Iterable[Trace]) -> tuple[Chains, Entries]:
    chains = Chains()
    calls = [one.calls for one in summaries_of(traces).traces if one.calls is not None]
    return chains, read_entries(chains, calls, lambda: None)


def test_times_are_not_moved_by_outliers() -> None:
    slow = [request(9000 + number, slow="C", factor=1000) for number in range(5)]
    medians = []
    for odd in ([], slow):
        chains, entries = entries_of([*typical_requests(300), *odd])
        times = learn_times(entries, len(chains), np.zeros(len(chains), bool))
        medians.append((times.slower.medians, times.slower.above))
    assert np.allclose(medians[0][0], medians[1][0], atol=0.02)
    assert np.allclose(medians[0][1], medians[1][1], rtol=0.25)


@pytest.mark.parametrize("shape", ["normal", "exponential"])
def test_a_tail_says_how_rare_its_values_are(shape: str) -> None:
    chance = np.random.default_rng(3)
    draw = chance.standard_normal if shape == "normal" else chance.standard_exponential
    tail = fit_tail(draw(20_000), 2.0)
    more = np.sort(draw(1_000_000))
    for rare in (0.05, 0.01, 0.001, 0.0001):
        (said,) = tail.surprise(more[[int(len(more) * (1 - rare))]])
        assert said == pytest.approx(-np.log(rare), rel=0.15)


def test_limits_have_the_p_value_whatever_a_few_values_are() -> None:
    chance = np.random.default_rng(3)
    values = chance.exponential(7, 20_000)
    for known in (values, np.concatenate([values, np.full(400, 1e6)])):
        limit = tailed(known, 0.0)
        assert P_VALUE / 4 < np.mean(values > limit.value) < 2 * P_VALUE
        assert limit.surprise(np.array([limit.value])) == pytest.approx(-np.log(P_VALUE))
    assert tailed([3.0] * 40, 1.0).value > 3


def test_surprise_in_deviations() -> None:
    assert in_deviations(-np.log(0.001)) == pytest.approx(3.09, abs=0.01)
    assert in_deviations(0.0) == in_deviations(np.log(2)) == pytest.approx(0, abs=1e-5)
    assert in_deviations(800.0) == pytest.approx(39.88, abs=0.01)


def test_the_surprise_of_a_trace_is_that_of_its_choices() -> None:
    """A root calls B in 3 of 4 traces, and B calls C in 2 of these 3."""
    b, c = made_span("B", 1, 9, "A"), made_span("C", 2, 3, "B")
    rows = [[], [b], [b, c], [b, c]]
    chains, entries = entries_of(
        make_trace(f"{number + 1:032x}", [made_span("A", 0, 10), *row])
        for number, row in enumerate(rows)
    )
    total = learn_choices(chains, entries).total(entries, 0)
    with_b, with_c = 3.5 / 5, 2.5 / 4
    assert total[0] == pytest.approx(-np.log(1 - with_b))
    assert total[1] == pytest.approx(-np.log(with_b * (1 - with_c)))
    assert total[2] == total[3] == pytest.approx(-np.log(with_b * with_c))


def test_made_faults_are_found() -> None:
    """Abnormal traces of the source: a fifth of the calls dropped, durations reassigned."""
    plan = make_endpoint(22, calls=300)
    numbers = [*range(300), *range(10_000, 10_040)]
    normal = [make_spans(plan, number, 22) for number in numbers]
    faulty = [make_spans(plan, number, 22, faulty=True) for number in range(20_000, 20_040)]
    traces = [make_trace(spans[0].trace_id, spans) for spans in (*normal, *faulty)]
    summaries = summaries_of(traces)
    found = find_anomalies(summaries.select(range(300, 380)), summaries.select(range(300)))
    right = sum(one.place >= 40 for one in found)
    assert right >= 38
    assert len(found) - right <= 2


@pytest.mark.parametrize("seed", [1, 2])
def test_an_endpoint_of_the_benchmark(seed: int) -> None:
    """Precision and recall that the issue of one kind of fault, or of one measure, would break."""
    plan = make_shaped(seed, Shape((20, 40), 3, 5, ("quiet", "typical", "gamma")))
    labels: list[str | None] = [*[None] * 500, *[kind for kind in KINDS for _ in range(5)]]
    earlier = [make_request(plan, 10_000 + number, seed) for number in range(500)]
    judged = [make_request(plan, number, seed, label) for number, label in enumerate(labels)]
    every = summaries_of([*earlier, *judged])
    reference, summaries = every.select(range(500)), every.select(range(500, 1025))
    for known in (None, reference):
        said = verdict({one.place: one.kind for one in find_anomalies(summaries, known)}, labels)
        assert said.precision >= 0.9
        assert said.recall >= 0.8


def different(number: int, calls: int) -> Trace:
    """A request that has no operation in common with others but its root."""
    trace_id = f"{number + 1:032x}"
    spans = [made_span("A", 0, calls + 1, trace_id=trace_id)]
    spans += [
        made_span(f"{number} {at}", at, at + 0.5, "A", span_id=f"s{at}", trace_id=trace_id)
        for at in range(calls)
    ]
    return made_trace(*spans)


@pytest.mark.timeout(100)
def test_thousands_of_different_traces_end() -> None:
    """A step for each pair of chains, or of traces and chains, would take hours."""
    summaries = summaries_of(different(number, 20) for number in range(5000))
    assert find_anomalies(summaries) == []
    later, reference = summaries.select(range(2500)), summaries.select(range(2500, 5000))
    assert {one.kind for one in find_anomalies(later, reference)} == {"unseen"}
