"""Traces whose critical path is unlike those of their endpoint."""

import random

import numpy as np
import pytest
from made_traces import make_endpoint, make_spans
from tidscope_traces.anomalies.density import estimate
from tidscope_traces.anomalies.detector import LEAST_TRACES, find_anomalies, learn_paths
from tidscope_traces.anomalies.limits import (
    P_VALUE,
    in_deviations,
    normal,
    rare,
    tailed,
    together,
)
from tidscope_traces.anomalies.presence import ROOT, learn_presence
from tidscope_traces.anomalies.vectors import Chains, all_contexts
from tidscope_traces.critical.fitting import fit
from tidscope_traces.spans.model import Operation, Trace, make_trace
from tidscope_traces.summary.options import Options
from tidscope_traces.summary.traces import Summaries, summarise_all
from trace_builders import made_span, made_trace


def request(number: int, b: float, extra: float = 0, name: str = "X") -> Trace:
    """A (10 ms of its own) asks B; sometimes another, after it."""
    trace_id = f"{number + 1:032x}"
    spans = [
        made_span("A", 0, 10 + b + extra, trace_id=trace_id),
        made_span("B", 5, 5 + b, "A", trace_id=trace_id),
    ]
    if extra:
        spans.append(made_span(name, 7 + b, 7 + b + extra, "A", trace_id=trace_id))
    return made_trace(*spans)


def usual_requests(count: int, seed: int = 1) -> list[Trace]:
    chance = random.Random(seed)
    return [request(number, 20 * chance.lognormvariate(0, 0.2)) for number in range(count)]


def test_an_unseen_chain_and_improbable_times() -> None:
    odd = [request(500, 20, 4), request(501, 200), request(502, 2), request(503, 21)]
    summaries = summarise_all([*usual_requests(200), *odd], Options())
    usual = summaries.select(range(200))
    found = find_anomalies(summaries.select(range(200, 204)), usual)
    assert sorted((one.place, one.kind) for one in found) == [
        *((0, "unseen"), (1, "improbable"), (2, "improbable")),
    ]
    by_place = {one.place: one for one in found}
    assert by_place[0].chain == [Operation("shop", "A"), Operation("shop", "X")]
    assert by_place[1].chain == [Operation("shop", "A"), Operation("shop", "B")]
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_among_all_only_one_trace_has_an_unseen_chain() -> None:
    traces = [*usual_requests(100), request(500, 20, 8), request(501, 20, 8, "Y"),
              request(502, 20, 8, "Y")]  # fmt: skip
    found = find_anomalies(summarise_all(traces, Options()))
    assert [(one.place, one.kind, one.chain[-1].name) for one in found] == [(100, "unseen", "X")]


def test_an_unseen_chain_of_next_to_no_time_is_no_anomaly() -> None:
    summaries = summarise_all([*usual_requests(100), request(500, 20, 0.1)], Options())
    usual = summaries.select(range(100))
    assert find_anomalies(summaries.select([100]), usual) == []


def test_a_few_abnormal_traces_do_not_hide_each_other() -> None:
    slow = [request(500 + number, 400) for number in range(8)]
    summaries = summarise_all([*usual_requests(100), *slow], Options())
    assert {one.place for one in find_anomalies(summaries)} == set(range(100, 108))


def test_too_few_traces_say_nothing() -> None:
    few = summarise_all(usual_requests(LEAST_TRACES - 1), Options())
    assert find_anomalies(few) == []
    with pytest.raises(ValueError, match="29 traces do not say what is usual"):
        learn_paths([trace.contexts for trace in few.traces])
    assert find_anomalies(Summaries()) == []


def test_all_the_same_is_usual() -> None:
    same = summarise_all([request(number, 20) for number in range(50)], Options())
    assert find_anomalies(same) == []


def test_the_density_is_not_moved_by_outliers() -> None:
    rows = [{0: 1e6 * (1 + number / 1000)} for number in range(95)] + [{0: 1e12}] * 5
    density = estimate(rows, 2)
    assert density.floor_us == pytest.approx(1050, abs=1)
    assert density.medians[0] == pytest.approx(np.log2(density.floor_us + 1049), abs=0.01)
    assert abs(density.score({0: 1.05e6})) < 2
    assert density.score({0: 1e12}) > 3
    assert density.score({}) == 0


def test_limits_have_the_p_value_whatever_a_few_values_are() -> None:
    chance = np.random.default_rng(3)
    many = 20_000
    for usual, values in (
        (normal, chance.normal(5, 2, many)),
        (lambda some: tailed(some, 0.0), chance.exponential(7, many)),
    ):
        odd = np.concatenate([values, np.full(many // 50, 1e6)])
        for known in (values, odd):
            limits = usual(known)
            beyond = np.mean([limits.surprise(one) > -np.log(P_VALUE) for one in values])
            assert P_VALUE / 4 < beyond < 2 * P_VALUE
    assert tailed([3.0] * 40, 1.0).surprise(3) == pytest.approx(np.log(2))
    assert rare([0.0] * 40, 0.3, 0.1).surprise(0) == 0


def test_surprise_in_deviations() -> None:
    assert in_deviations(-np.log(P_VALUE)) == pytest.approx(3.09, abs=0.01)
    assert in_deviations(0.0) == in_deviations(np.log(2)) == pytest.approx(0, abs=1e-5)
    assert in_deviations(800.0) == pytest.approx(39.88, abs=0.01)
    assert normal(np.array([-1.0, 0.0, 1.0])).surprise(1e6) > 1e10


def test_several_measures_are_one() -> None:
    """Of usual traces no more are improbable than each measure says; one measure is enough."""
    usual = np.random.default_rng(4).exponential(1, (200_000, 4))
    beyond = np.mean([together(row) > -np.log(P_VALUE) for row in usual.tolist()])
    assert P_VALUE / 3 < beyond < 1.2 * P_VALUE
    assert together([12.0, 0.0, 0.0, 0.0]) > -np.log(P_VALUE)
    assert together([4.0] * 4) > -np.log(P_VALUE) > together([3.0] * 4)
    assert together([0.0] * 4) == 0


def test_the_surprise_of_a_trace_is_that_of_its_choices() -> None:
    """A root calls B in 3 of 4 traces, and B calls C in 2 of these 3."""
    rows = [{0: 1.0}, {0: 1.0, 1: 1.0}, *[{0: 1.0, 1: 1.0, 2: 1.0}] * 2]
    presence = learn_presence(rows, [ROOT, 0, 1])
    b, c = 3.5 / 5, 2.5 / 4
    assert presence.surprise(rows[0]) == pytest.approx(-2 * np.log(1 - b))
    assert presence.surprise(rows[1]) == pytest.approx(-2 * np.log(b * (1 - c)))
    assert presence.surprise(rows[2]) == pytest.approx(-2 * np.log(b * c))
    assert presence.strangest(rows[0]) == 0
    assert presence.strangest(rows[1]) == 1


def test_a_request_without_a_call_that_all_make_is_improbable() -> None:
    traces = usual_requests(1000)
    short = made_trace(made_span("A", 0, 10, trace_id=f"{9999:032x}"))
    summaries = summarise_all([*traces, short], Options())
    (found,) = find_anomalies(summaries.select([1000]), summaries.select(range(1000)))
    assert (found.kind, found.chain) == ("improbable", [Operation("shop", "A")])


def test_a_call_that_fails_where_none_did_is_unseen() -> None:
    traces = usual_requests(100)
    failing = request(500, 20)
    spans = [span._replace(error=span.operation == "B") for span in failing.spans]
    summaries = summarise_all([*traces, make_trace(failing.trace_id, spans)], Options())
    (found,) = find_anomalies(summaries.select([100]), summaries.select(range(100)))
    assert (found.kind, found.chain[-1]) == ("unseen", Operation("shop", "B"))


def test_one_chain_among_many_is_enough() -> None:
    """Twelve calls one after the other; one of them takes three times as long as ever."""

    def many_calls(number: int, slow: float) -> Trace:
        chance = random.Random(number)
        trace_id = f"{number + 1:032x}"
        lengths = [10 * chance.lognormvariate(0, 0.1) for _ in range(12)]
        lengths[5] *= slow
        begins = [2 + 2 * at + sum(lengths[:at]) for at in range(12)]
        spans = [made_span("A", 0, begins[-1] + lengths[-1] + 2, trace_id=trace_id)]
        spans += [
            made_span(f"C{at}", begin, begin + length, "A", trace_id=trace_id)
            for at, (begin, length) in enumerate(zip(begins, lengths, strict=True))
        ]
        return made_trace(*spans)

    traces = [*(many_calls(number, 1) for number in range(200)), many_calls(900, 3)]
    summaries = summarise_all(traces, Options())
    (found,) = find_anomalies(summaries.select([200]), summaries.select(range(200)))
    assert found.chain[-1] == Operation("shop", "C5")


def test_features_are_chains_of_callers() -> None:
    trace = made_trace(
        made_span("A", 0, 10), made_span("B", 1, 9, "A"), made_span("C", 2, 4, "B"),
        made_span("C", 5, 6, "A", span_id="beside"),
    )  # fmt: skip
    summaries = summarise_all([trace], Options())
    every = all_contexts(fit(trace, trace.roots[0]), summaries.catalogue)
    (summary,) = summaries.traces
    chains = Chains()
    path, nothing = chains.times(summary.contexts, learn=True)
    assert (list(path.values()), nothing) == ([2e6, 6e6, 2e6], {})
    known, unseen = chains.times(every, learn=False)
    assert (len(known), sorted(unseen.values())) == (3, [1e6])


def test_made_faults_are_found_by_their_critical_paths() -> None:
    """As the source makes them: a fifth of the calls dropped, the durations dealt out again."""
    plan = make_endpoint(22, calls=300)
    numbers = [*range(300), *range(10_000, 10_040)]
    normal = [make_spans(plan, number, 22) for number in numbers]
    faulty = [make_spans(plan, number, 22, faulty=True) for number in range(20_000, 20_040)]
    traces = [make_trace(spans[0].trace_id, spans) for spans in (*normal, *faulty)]
    summaries = summarise_all(traces, Options())
    found = find_anomalies(summaries.select(range(300, 380)), summaries.select(range(300)))
    right = sum(one.place >= 40 for one in found)
    assert right >= 36
    assert len(found) - right <= 2
