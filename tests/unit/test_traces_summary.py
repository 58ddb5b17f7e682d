"""Many traces as one: contexts, windows, rankings, heat maps, differences, failures."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_traces.spans.model import Operation, Span, Trace
from tidscope_traces.summary.analysis import analyse, describe
from tidscope_traces.summary.calls import ErrorPath
from tidscope_traces.summary.durations import AROUND, FIFTHS, measure_durations, window
from tidscope_traces.summary.heat import Chain, heat_map
from tidscope_traces.summary.options import Options, Projection, Tag
from tidscope_traces.summary.ranking import rank_everywhere, rank_operations
from tidscope_traces.summary.shapes import shapes_of
from tidscope_traces.summary.traces import Summaries, summarise_all
from tidscope_traces.summary.tree import ContextTree, compare_trees, merge_contexts
from trace_builders import MS, any_spans, made_span, made_trace

A, B, C = (Operation("shop", name) for name in "ABC")


def request(number: int, b: float, c: float = 0, *, error: bool = False, **tags: str) -> Trace:
    """A (10 ms of its own) asks B, which asks C."""
    trace_id = f"{number:032x}"
    spans = [
        made_span("A", 0, 10 + b + c, trace_id=trace_id, error=error, attributes=tags),
        made_span("B", 5, 5 + b + c, "A", trace_id=trace_id, error=error),
    ]
    if c:
        spans.append(made_span("C", 6, 6 + c, "B", trace_id=trace_id, error=error))
    return made_trace(*spans)


def summaries_of(*traces: Trace, options: Options | None = None) -> Summaries:
    return summarise_all(traces, options or Options())


def rows(tree: ContextTree) -> list[tuple[str, float, float, int]]:
    return [
        (" ".join(step.name for step in tree.chain(node)), inclusive / MS, exclusive / MS, count)
        for node, (inclusive, exclusive, count) in enumerate(
            zip(tree.inclusive_ns, tree.exclusive_ns, tree.count, strict=True)
        )
    ]


def test_the_tree_sums_chains_of_callers() -> None:
    tree, nodes = merge_contexts(summaries_of(request(1, 20), request(2, 30, 40)))
    assert rows(tree) == [("A", 110, 20, 2), ("A B", 90, 50, 2), ("A B C", 40, 40, 1)]
    assert (tree.traces, tree.trace_count) == (2, [2, 2, 1])
    assert tree.exemplars == [[f"{2:032x}", f"{1:032x}"]] * 2 + [[f"{2:032x}"]]
    assert nodes == [[0, 1], [0, 1, 2]]


def test_the_same_operation_called_by_another_is_another_node() -> None:
    trace = made_trace(
        made_span("A", 0, 20),
        made_span("C", 1, 4, "A", span_id="1"),
        made_span("C", 5, 7, "A", span_id="2"),
        made_span("B", 10, 20, "A"),
        made_span("C", 11, 13, "B", span_id="3"),
    )
    tree, _ = merge_contexts(summaries_of(trace))
    assert rows(tree) == [("A", 20, 5, 1), ("A B", 10, 8, 1), ("A B C", 2, 2, 1), ("A C", 5, 5, 2)]


@given(st.lists(any_spans(8), min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_exclusive_times_sum_to_the_durations(
    requests: list[list[Span]], chance: random.Random
) -> None:
    """Neither the order of the traces nor that of their spans matters."""
    traces = [
        made_trace(*(span._replace(trace_id=f"{number + 1:032x}") for span in spans))
        for number, spans in enumerate(requests)
    ]
    options = Options(roots="merged", potential=True)
    analysis = analyse(traces, options)
    total_ns = sum(trace.spans[root].end_ns - trace.spans[root].start_ns
                   for trace in traces for root in trace.roots)  # fmt: skip
    assert sum(analysis.tree.exclusive_ns) == total_ns
    roots = [ns for ns, up in zip(analysis.tree.inclusive_ns, analysis.tree.parents, strict=True)
             if up < 0]  # fmt: skip
    assert sum(roots) == total_ns
    if total_ns:
        assert sum(row.share for row in analysis.ranking) == pytest.approx(1)
    for row in analysis.ranking:
        assert row.saving_ns is not None
        assert row.drag_ns is not None
        assert 0 <= row.saving_ns <= row.drag_ns
        assert row.drag_ns <= total_ns
    shuffled = [
        made_trace(*chance.sample(trace.spans, len(trace.spans)))
        for trace in chance.sample(traces, len(traces))
    ]
    again = analyse(shuffled, options)
    assert again == analysis


def test_endpoints_tags_and_excluded_operations() -> None:
    traces = [request(1, 20, 5, tier="gold"), request(2, 30), request(3, 40, tier="gold")]
    assert analyse(traces, Options(tags=(Tag("tier", "gold"),))).traces == 2
    assert analyse(traces, Options(tags=(Tag("tier", "gold", 1),))).left_out == 1
    assert analyse(traces, Options(tags=(Tag("tier", "tin", 5),))).traces == 0
    assert analyse(traces, Options(endpoint=B)).traces == 0
    inner = analyse(traces, Options(endpoint=B, inner=True))
    assert (inner.traces, rows(inner.tree)) == (3, [("B", 95, 90, 3), ("B C", 5, 5, 1)])
    tree = analyse(traces, Options(excluded=frozenset({Operation("", "B")}))).tree
    assert rows(tree) == [("A", 125, 125, 3)]


def test_roots_of_a_trace_are_merged_or_single() -> None:
    """A is sought; in the second root it is below itself, which counts once."""
    trace = made_trace(
        made_span("A", 0, 10),
        made_span("lost", 0, 50, "nowhere"),
        made_span("A", 10, 40, "lost", span_id="2"),
        made_span("A", 20, 30, "2", span_id="3"),
    )
    for roots, merged in (("single", 10), ("merged", 40)):
        options = Options(A, inner=True, roots="merged" if roots == "merged" else "single")
        assert sum(analyse([trace], options).tree.exclusive_ns) == merged * MS
    assert analyse([trace], Options(A, roots="merged")).traces == 1
    assert analyse([trace], Options(roots="merged")).traces == 2


def test_windows_between_percentiles() -> None:
    traces = summaries_of(*(request(n, n) for n in range(1, 101))).traces
    random.Random(3).shuffle(traces)

    def durations(low: float, high: float) -> list[int]:
        return sorted(traces[at].duration_ns // MS - 10 for at in window(traces, low, high))

    fifths = [durations(low, high) for low, high in FIFTHS]
    assert [number for fifth in fifths for number in fifth] == list(range(1, 101))
    assert {len(fifth) for fifth in fifths} == {20}
    assert durations(*AROUND["P50"]) == list(range(46, 56))
    assert durations(*AROUND["P99"]) == [99, 100]
    assert durations(50, 50) == [51]
    assert window(traces[:1], 98, 100) == [0]
    assert window([], 0, 100) == []
    with pytest.raises(ValueError, match="percentiles 60 to 50"):
        window(traces, 60, 50)


def test_durations_by_nearest_rank_and_in_buckets() -> None:
    found = measure_durations([n * MS for n in range(1, 101)])
    assert (found.p50_ns, found.p95_ns, found.p99_ns) == (50 * MS, 95 * MS, 99 * MS)
    assert sum(found.counts) == 100
    assert len(found.bounds_ns) == len(found.counts) + 1
    assert (found.bounds_ns[0], found.bounds_ns[-1]) == (MS, 100 * MS + 1)
    for some in ([0], [5], [0, 0], [0, 1], [7, 7, 7], [1, 2, 10**15]):
        assert sum(measure_durations(some).counts) == len(some)
    assert measure_durations([]).counts == []


def test_ranking_by_share_with_what_a_change_would_bring() -> None:
    traces = [request(n, 20, 50 if n > 5 else 0, error=n == 10) for n in range(1, 11)]
    b, c, a = rank_operations(summaries_of(*traces, options=Options(potential=True)))[:3] or []
    b, c, a = sorted((a, b, c), key=lambda row: "BCA".index(row.operation.name))
    assert [row.operation for row in (a, b, c)] == [A, B, C]
    assert (b.p50_exclusive_ns, c.p50_exclusive_ns, c.p95_exclusive_ns) == (20 * MS, 0, 50 * MS)
    assert c.share == pytest.approx(250 / 550)
    assert (c.traces, c.calls, c.error_share) == (5, 5, 0.2)
    assert (c.saving_ns, b.saving_ns, b.drag_ns) == (25 * MS, 20 * MS, 45 * MS)
    assert (a.drag_ns, a.slack_ns) == (55 * MS, 0)


def test_an_operation_never_on_the_path_is_ranked_for_its_slack() -> None:
    trace = made_trace(made_span("A", 0, 30), made_span("B", 5, 25, "A"), made_span("C", 5, 9, "A"))
    assert len(rank_operations(summaries_of(trace))) == 2
    last = rank_operations(summaries_of(trace, options=Options(potential=True)))[-1]
    assert (last.operation, last.slack_ns, last.saving_ns, last.traces) == (C, 16 * MS, 0, 0)


def test_projection_of_a_change() -> None:
    traces = [request(n, 20, 50) for n in range(1, 5)]
    assert analyse(traces, Options()).projected is None
    for less, p50 in ((20, 60), (1000, 30), (-5, 85)):
        projected = analyse(traces, Options(projection=Projection(C, less * MS))).projected
        assert projected is not None
        assert projected.p50_ns == p50 * MS
    absent = analyse(traces, Options(projection=Projection(Operation("no", "such"), MS))).projected
    assert absent is not None
    assert absent.p50_ns == 80 * MS


def test_a_ranking_of_all_endpoints() -> None:
    shared = [made_span("Z", 0, 40, service="bank"), made_span("B", 0, 10, "Z")]
    z = Operation("bank", "Z")
    # The number of requests to an endpoint does not count.
    ranked = rank_everywhere(summaries_of(request(1, 90), request(2, 90), made_trace(*shared)))
    assert [row.operation for row in ranked] == [B, z, A]
    assert (ranked[0].endpoints, ranked[0].exclusive_ns) == (2, 190 * MS)
    assert ranked[0].mean_share == pytest.approx((0.9 + 0.25) / 2)
    assert ranked[0].traces == 3
    assert rank_everywhere(summaries_of()) == []


def test_shapes_of_all_requests() -> None:
    """Two requests A(B, B beside C(D)) of 30 ms, and one Z of 10 ms."""
    spans = [
        made_span("A", 0, 30),
        made_span("B", 0, 20, "A"),
        made_span("C", 2, 18, "A"),
        made_span("D", 4, 10, "C"),
    ]
    traces = [made_trace(*spans), made_trace(*spans), made_trace(made_span("Z", 0, 10))]
    found = {one.name: one for one in shapes_of(summarise_all(traces, Options(calls=True)))}
    assert [found["spans"].p50, found["spans"].most, found["spans"].mean] == [4, 4, 3]
    assert (found["operations"].p50, found["depth"].most) == (4, 3)
    assert (found["duration_ns"].p50, found["duration_ns"].most) == (30 * MS, 30 * MS)
    # B and D run at once; C calls D, so it does not count.
    assert found["concurrency"].most == 2
    assert (found["path_spans"].most, found["path_operations"].most) == (2, 2)
    # B and C have the caller A, D has C; roots have none.
    assert (found["callers"].counts, found["callers"].most) == ([3], 1)
    for one in found.values():
        assert len(one.bounds) == len(one.counts) + 1
        assert sum(one.counts) == 3
    assert found["spans"].bounds == [1, 2, 3, 4, 5]
    assert found["spans"].counts == [1, 0, 0, 2]
    assert shapes_of(summarise_all([], Options(calls=True))) == []


def test_the_heat_map() -> None:
    summaries = summaries_of(*(request(n, n, 100 * (n % 2)) for n in range(1, 8)))
    heat = heat_map(summaries, rows=2, columns=3)
    assert heat.operations == [C, A]
    assert heat.percentile_ns == [100 * MS, 10 * MS]
    assert heat.trace_ids == [f"{n:032x}" for n in (7, 1, 2)]
    assert heat.cells_ns == [[100 * MS, 100 * MS, 0], [10 * MS] * 3]
    assert heat.chains[0] == [[Chain([A, B, C], 100 * MS)], [Chain([A, B, C], 100 * MS)], []]
    inclusive = heat_map(summaries, metric="inclusive", share=95)
    assert inclusive.operations == [A, B, C]
    assert inclusive.cells_ns[0] == inclusive.durations_ns
    assert heat_map(summaries_of()).cells_ns == []


def test_an_operation_that_calls_itself_has_its_time_once() -> None:
    trace = made_trace(made_span("A", 0, 9), made_span("A", 1, 8, "A", span_id="2"))
    assert heat_map(summaries_of(trace), metric="inclusive").cells_ns == [[9 * MS]]


def test_a_difference_says_what_grew() -> None:
    base, _ = merge_contexts(summaries_of(request(1, 20), request(2, 20)))
    other, _ = merge_contexts(summaries_of(request(3, 18, 60)))
    difference = compare_trees(base, other)
    assert [operation.name for operation in difference.operations] == ["A", "B", "C"]
    assert difference.parents == [-1, 0, 1]
    assert difference.base_inclusive_ns == [30 * MS, 20 * MS, 0]
    assert difference.other_inclusive_ns == [88 * MS, 78 * MS, 60 * MS]
    assert [difference.operations[node] for node in difference.grown()] == [C]
    nothing = compare_trees(ContextTree(), base)
    assert nothing.base_inclusive_ns == [0, 0]


def test_error_paths_end_at_the_call_that_failed_by_itself() -> None:
    failing = [
        made_span("A", 0, 30, error=True),
        made_span("B", 1, 9, "A", error=True),
        made_span("C", 2, 8, "B", error=True),
        made_span("C", 10, 12, "A", span_id="fine"),
        made_span("D", 13, 15, "A"),
        made_span("absorbed", 13, 14, "D", error=True),
    ]
    other = [span._replace(trace_id=f"{9:032x}") for span in failing[:1]]
    analysis = analyse([made_trace(*failing), made_trace(*other), request(1, 2)], Options())
    assert analysis.errors == 2
    assert analysis.failures == [
        ErrorPath([A], 1, 1, f"{9:032x}"),
        ErrorPath([A, B, C], 1, 1, f"{7:032x}"),
    ]


def test_skew_is_counted_over_all_traces() -> None:
    skewed = made_trace(
        made_span("A", 0, 10), made_span("B", 5, 12, "A"), made_span("C", 20, 21, "A")
    )
    analysis = analyse([skewed, request(1, 20)], Options())
    assert (analysis.truncated_traces, analysis.dropped_traces) == (1, 1)
    assert analysis.truncated_share == pytest.approx(2 / 40)


def test_facts_of_a_trace() -> None:
    trace = made_trace(
        made_span("A", 0, 30), made_span("B", 5, 25, "A"), made_span("C", 6, 9, "B"),
        made_span("C", 8, 12, "B", span_id="2"), made_span("C", 9, 12, "B", span_id="3"),
    )  # fmt: skip
    (summary,) = summaries_of(trace).traces
    assert (summary.spans, summary.depth, summary.concurrency) == (5, 3, 2)
    assert describe(Summaries()).traces == 0
