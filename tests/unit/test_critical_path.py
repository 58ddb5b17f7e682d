"""The critical path of a trace, and what a change to it would bring."""

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tidscope_traces.critical.path import CriticalPath, critical_path, fit, walk_back
from tidscope_traces.critical.schedule import Schedule
from tidscope_traces.spans.model import Kind, Operation, Span, Trace, make_trace
from trace_builders import EPOCH_NS, MS, any_spans, made_span, made_trace


def fragments(path: CriticalPath) -> str:
    """Segments as the source writes them: a span's name, and the number of the piece of it, when
    the start and the end of each of its children cut it."""
    fitted = path.fitted
    found = []
    for index, start_ns, _ in path.segments:
        cuts = [
            cut
            for child in fitted.children[index]
            for cut in (fitted.start_ns[child], fitted.end_ns[child])
        ]
        name = fitted.trace.spans[index].operation
        found.append(f"{name}{1 + sum(cut <= start_ns for cut in cuts)}")
    return " ".join(found)


def parts(*spans: Span) -> list[tuple[str, float, float]]:
    """Segments of the critical path, in milliseconds."""
    path = critical_path(made_trace(*spans))
    return [
        (
            path.fitted.trace.spans[index].operation,
            (start_ns - EPOCH_NS) / MS,
            (end_ns - EPOCH_NS) / MS,
        )
        for index, start_ns, end_ns in path.segments
    ]


def test_figure_4_4_of_the_source() -> None:
    spans = [
        made_span("A", 0, 100),
        made_span("B", 10, 60, "A"),
        made_span("C", 30, 40, "B"),
        made_span("X", 20, 50, "A"),
        made_span("D", 70, 90, "A"),
    ]
    assert fragments(critical_path(made_trace(*spans))) == "A1 B1 C1 B3 A5 D1 A7"


def test_a_span_alone() -> None:
    assert parts(made_span("A", 0, 5)) == [("A", 0, 5)]


def test_retries_are_all_on_the_path() -> None:
    assert parts(
        made_span("A", 0, 40),
        made_span("try", 5, 15, "A", span_id="1", error=True),
        made_span("try", 20, 25, "A", span_id="2", error=True),
        made_span("try", 30, 40, "A", span_id="3"),
    ) == [
        *(("A", 0, 5), ("try", 5, 15), ("A", 15, 20), ("try", 20, 25), ("A", 25, 30)),
        ("try", 30, 40),
    ]


def test_of_a_fan_out_the_last_to_finish_is_on_the_path() -> None:
    fan = [made_span(f"f{n}", 10, 20 + n, "A", span_id=f"f{n}") for n in range(20)]
    assert parts(made_span("A", 0, 50), *fan) == [("A", 0, 10), ("f19", 10, 39), ("A", 39, 50)]


def test_spans_one_after_the_other_may_overlap_by_less_than_a_millisecond() -> None:
    """Figures 4.6 and 4.7: without this B's time would be put down to its caller."""
    assert parts(
        made_span("P", 0, 120),
        made_span("A", 0, 40, "P"),
        made_span("B", 39.5, 80, "P"),
        made_span("C", 79.1, 120, "P"),
    ) == [("A", 0, 39.5), ("B", 39.5, 79.1), ("C", 79.1, 120)]


@pytest.mark.parametrize(("overlap", "on_path"), [(0.09, "AB"), (0.1, "B")])
def test_overlaps_of_one_per_cent_of_the_parent_are_no_difference_of_clocks(
    overlap: float, on_path: str
) -> None:
    spans = [
        made_span("P", 0, 10),
        made_span("A", 0, 5, "P"),
        made_span("B", 5 - overlap, 10, "P"),
    ]
    names = [name for name, _, _ in parts(*spans)]
    assert "".join(name for name in names if name != "P") == on_path


Case = tuple[str, float, float, str]


@pytest.mark.parametrize(
    ("spans", "own_us"),
    [
        (
            [("O1", 0, 100, ""), ("O2", 10, 70, "O1"), ("O3", 25, 45, "O2"), ("O4", 30, 50, "O2")],
            {"O1": 40, "O2": 40, "O4": 20},
        ),
        (
            [("O1", 0, 80, ""), ("O2", 10, 30, "O1"), ("O3", 20, 45, "O1"), ("O4", 40, 65, "O1")],
            {"O1": 35, "O2": 20, "O4": 25},
        ),
        (
            [
                *(("O1", 0, 110, ""), ("O2", 10, 20, "O1"), ("O3", 15, 35, "O1")),
                *(("O4", 30, 40, "O1"), ("O5", 50, 60, "O1"), ("O6", 70, 100, "O1")),
                ("O7", 80, 90, "O6"),
            ],
            {"O1": 50, "O2": 10, "O4": 10, "O5": 10, "O6": 20, "O7": 10},
        ),
        (
            [
                *(("O1", 0, 1000, ""), ("O2", 10, 210, "O1"), ("O3", 209, 309, "O1")),
                ("O4", 308, 608, "O1"),
            ],
            {"O1": 402, "O2": 199, "O3": 99, "O4": 300},
        ),
    ],
    ids=["12, 13", "14", "16", "10"],
)
def test_own_times_of_the_sources_program(spans: list[Case], own_us: dict[str, float]) -> None:
    """Microseconds that its test cases expect; its 10 takes overlaps from the caller instead."""
    own = dict.fromkeys(own_us, 0.0)
    times = [
        made_span(name, start / 1000, end / 1000, parent) for name, start, end, parent in spans
    ]
    for name, start, end in parts(*times):
        own[name] += (end - start) * 1000
    assert own == pytest.approx(own_us)


@pytest.mark.parametrize(
    ("start", "other"),
    [(9.0, None), (9.5, made_span("X", 2, 9.7, "P")), (9.5, made_span("X", 9.6, 12, "P"))],
    ids=["a whole millisecond", "another ends in it", "another starts in it"],
)
def test_what_overlaps_otherwise_ran_at_the_same_time(start: float, other: Span | None) -> None:
    spans = [made_span("P", 0, 120), made_span("A", 0, 10, "P"), made_span("B", start, 20, "P")]
    assert "A" not in [name for name, _, _ in parts(*spans, *([other] if other else []))]


def test_callees_of_a_span_that_overlap_cut_are_cut_with_it() -> None:
    assert parts(
        made_span("P", 0, 60),
        made_span("A", 0, 10, "P"),
        made_span("late", 9.6, 10, "A"),
        made_span("early", 2, 9.55, "A"),
        made_span("B", 9.5, 60, "P"),
    ) == [("A", 0, 2), ("early", 2, 9.5), ("B", 9.5, 60)]


def test_children_are_cut_to_their_parents_time_with_what_is_beneath() -> None:
    spans = [
        made_span("P", 10, 20),
        made_span("C", 8, 22, "P"),
        made_span("D", 8, 22, "C"),
        made_span("before", 1, 9, "P"),
        made_span("beneath", 11, 12, "before"),
        made_span("after", 21, 25, "P"),
    ]
    assert parts(*spans) == [("D", 10, 20)]
    fitted = critical_path(made_trace(*spans)).fitted
    assert (fitted.truncated, fitted.truncated_ns, fitted.dropped) == (2, 8 * MS, 3)


@pytest.mark.parametrize("kind", ["consumer", "internal"])
def test_an_async_child_that_outlives_its_parent_is_not_waited_for(kind: Kind) -> None:
    late = made_span("late", 5, 50, "P", kind=kind, follows=kind == "internal")
    spans = [made_span("P", 0, 20), late]
    spans.append(made_span("beneath", 6, 40, "late"))
    assert parts(*spans) == [("P", 0, 20)]
    fitted = critical_path(made_trace(*spans)).fitted
    assert (fitted.detached, fitted.truncated, fitted.dropped) == (2, 0, 0)


def test_an_async_child_that_ends_first_may_have_been_waited_for() -> None:
    assert parts(made_span("P", 0, 20), made_span("C", 5, 15, "P", kind="consumer")) == [
        *(("P", 0, 5), ("C", 5, 15), ("P", 15, 20)),
    ]


def test_spans_of_no_length() -> None:
    spans = [
        made_span("P", 0, 10),
        *(made_span("mark", 5, 5, "P", span_id=f"m{n}") for n in range(3)),
        made_span("A", 5, 8, "P"),
        made_span("end", 10, 10, "P"),
    ]
    path = critical_path(made_trace(*spans))
    assert fragments(path).split()[-2:] == ["A1", "P9"]
    on_path = sorted(path.fitted.trace.spans[index].operation for index in path.spans)
    assert on_path == ["A", "P", "end", "mark", "mark", "mark"]
    assert parts(made_span("P", 3, 3), made_span("A", 3, 3, "P")) == []


def test_missing_parents_make_several_roots() -> None:
    trace = made_trace(
        made_span("lost", 0, 100, "nowhere"), made_span("A", 10, 20), made_span("B", 12, 15, "A")
    )
    assert (trace.root.operation, trace.orphans, len(trace.roots)) == ("A", 1, 2)
    assert len(critical_path(trace, trace.roots[1]).segments) == 1


def test_circles_are_cut_at_their_earliest_span() -> None:
    trace = made_trace(
        made_span("A", 0, 10, "C"), made_span("B", 1, 9, "A"), made_span("C", 2, 8, "B"),
        made_span("self", 3, 5, "self"),
    )  # fmt: skip
    assert (trace.cycles, trace.orphans) == (2, 0)
    assert [trace.spans[root].operation for root in trace.roots] == ["A", "self"]
    assert fragments(critical_path(trace)) == "A1 B1 C1 B3 A3"


def test_a_span_that_comes_twice_counts_once() -> None:
    span = made_span("A", 0, 10)
    trace = made_trace(span, made_span("B", 1, 2, "A"), span, span._replace(end_ns=span.end_ns - 1))
    assert (trace.duplicates, len(trace.spans), trace.root.end_ns) == (2, 2, span.end_ns)


def test_client_and_server_of_one_id_as_zipkin_has_them() -> None:
    trace = made_trace(
        made_span("server", 2, 8, "root", span_id="x", kind="server"),
        made_span("root", 0, 10),
        made_span("beneath", 3, 5, "x"),
        made_span("client", 1, 9, "root", span_id="x", kind="client"),
    )
    assert trace.duplicates == 0
    assert fragments(critical_path(trace)) == "root1 client1 server1 beneath1 server3 client3 root3"


def test_excluded_operations_leave_their_time_to_their_caller() -> None:
    trace = made_trace(
        made_span("A", 0, 10), made_span("B", 2, 8, "A"), made_span("C", 3, 4, "B", service="bank")
    )
    for excluded in (Operation("shop", "B"), Operation("", "B")):
        path = critical_path(trace, excluded=frozenset({excluded}))
        assert fragments(path) == "A1"
        assert path.fitted.excluded == 2
    assert len(critical_path(trace, excluded=frozenset({Operation("bank", "B")})).segments) == 5


def test_no_spans_are_no_trace() -> None:
    with pytest.raises(ValueError, match="0 spans"):
        make_trace("7", [])


@pytest.mark.parametrize("shape", ["deep", "wide", "at once", "chained"])
def test_ten_thousand_spans(shape: str) -> None:
    """Time grows as spans do, and depth has no limit."""
    spans = [made_span("root", 0, 20_000, span_id="0")]
    for n in range(1, 10_000):
        start, end, parent = {
            "deep": (n / 2, 20_000 - n / 2, n - 1),
            "wide": (n, n + 1, 0),
            "at once": (n / 10_000, 2 + n / 10_000, 0),
            "chained": (n, n + 2.5, 0),
        }[shape]
        spans.append(made_span("s", start, end, str(parent), span_id=str(n)))
    random.Random(1).shuffle(spans)
    before = time.process_time()
    path = critical_path(made_trace(*spans))
    assert time.process_time() - before < 5
    assert sum(end - start for _, start, end in path.segments) == 20_000 * MS
    assert (
        len(path.spans) == {"deep": 10_000, "wide": 10_000, "at once": 2, "chained": 5_001}[shape]
    )


@given(any_spans())
def test_segments_cover_the_root_exactly_and_do_not_overlap(spans: list[Span]) -> None:
    trace = made_trace(*spans)
    for root in trace.roots:
        path = critical_path(trace, root)
        at = trace.spans[root].start_ns
        for index, start_ns, end_ns in path.segments:
            assert start_ns == at < end_ns
            assert path.fitted.start_ns[index] <= start_ns
            assert end_ns <= path.fitted.end_ns[index]
            at = end_ns
        assert at == trace.spans[root].end_ns
        assert len(set(path.spans)) == len(path.spans)
        assert {index for index, _, _ in path.segments} <= set(path.spans)


@given(any_spans(), st.randoms(use_true_random=False))
def test_the_order_of_the_spans_does_not_matter(spans: list[Span], chance: random.Random) -> None:
    def path_of(trace: Trace) -> list[tuple[Span, int, int]]:
        segments = critical_path(trace).segments
        return [(trace.spans[index], start_ns, end_ns) for index, start_ns, end_ns in segments]

    shuffled = chance.sample(spans, len(spans))
    assert path_of(made_trace(*shuffled)) == path_of(made_trace(*spans))


class Played:
    """A trace whose spans go by name."""

    def __init__(self, *spans: Span) -> None:
        self.trace = made_trace(*spans)
        self.fitted = fit(self.trace, self.trace.roots[0])
        self.schedule = Schedule(self.fitted)

    def named(self, name: str) -> list[int]:
        return [n for n, span in enumerate(self.trace.spans) if span.operation == name]

    def less(self, name: str, less: float) -> float:
        return self.schedule.with_less(self.named(name), round(less * MS)) / MS

    def slack(self, name: str) -> float:
        slack = self.schedule.slack()
        return min(slack[n] for n in self.named(name)) / MS


def test_what_runs_beside_bounds_what_is_saved() -> None:
    """A waits for B and C at once, then for D."""
    played = Played(
        made_span("A", 0, 100),
        made_span("B", 10, 60, "A"),
        made_span("C", 10, 45, "A"),
        made_span("D", 65, 90, "A"),
    )
    assert [played.less("B", less) for less in (10, 15, 30)] == [90, 85, 85]
    assert played.less("C", 30) == 100
    assert [played.less("D", less) for less in (20, 30, -5)] == [80, 75, 105]
    assert played.less("A", 1000) == played.schedule.without_own_time([0]) / MS == 75
    assert played.schedule.without(played.named("B")) / MS == 85
    assert played.schedule.without([0]) == 0
    assert [played.slack(name) for name in "ABCD"] == [0, 0, 15, 0]
    assert played.less("C", -15) == 100
    assert played.less("C", -16) == 101


def test_retries_that_shrink_together() -> None:
    played = Played(
        made_span("A", 0, 40),
        made_span("get", 5, 15, "A", span_id="1"),
        made_span("get", 20, 40, "A", span_id="2"),
        made_span("get", 20, 38, "A", span_id="3"),
    )
    assert played.less("get", 5) == 30
    assert played.less("get", 100) == 10
    assert played.schedule.without(played.named("get")) / MS == 10


def test_time_of_a_callee_is_not_its_callers_own() -> None:
    played = Played(made_span("A", 0, 50), made_span("B", 10, 40, "A"), made_span("C", 15, 35, "B"))
    assert played.less("B", 1000) == 40
    assert played.schedule.without(played.named("B")) / MS == 20
    assert played.less("B", 5) == 45
    assert played.less("C", -7) == 57


def test_slack_of_a_chain_beside_the_path() -> None:
    played = Played(
        made_span("A", 0, 100),
        made_span("long", 0, 100, "A"),
        made_span("first", 10, 20, "A"),
        made_span("then", 25, 50, "A"),
        made_span("beneath", 30, 40, "then"),
    )
    assert [played.slack(name) for name in ("first", "then", "beneath", "long")] == [50, 50, 50, 0]
    assert played.less("beneath", -50) == 100
    assert played.less("beneath", -51) == 101


def test_overlap_by_clocks_is_no_parallelism() -> None:
    played = Played(made_span("P", 0, 60), made_span("A", 0, 10, "P"), made_span("B", 9.5, 60, "P"))
    assert played.slack("A") == 0
    assert played.less("A", 4) == 56


@given(any_spans())
def test_played_as_it_was_nothing_changes(spans: list[Span]) -> None:
    trace = made_trace(*spans)
    for root in trace.roots:
        fitted = fit(trace, root)
        schedule = Schedule(fitted)
        assert schedule.with_less(range(len(trace.spans)), 0) == fitted.duration_ns
        on_path = walk_back(fitted)
        slack = schedule.slack()
        assert min(slack.values()) == 0
        assert {slack[index] for index, _, _ in on_path.segments} <= {0}


@given(any_spans(), st.integers(0, 100), st.integers(0, 20 * MS))
def test_slack_is_what_a_span_may_grow(spans: list[Span], pick: int, more_ns: int) -> None:
    trace = made_trace(*spans)
    fitted = fit(trace, trace.roots[0])
    schedule = Schedule(fitted)
    slack = schedule.slack()
    span = fitted.order[pick % len(fitted.order)]
    if fitted.children[span]:
        return
    grown = schedule.with_less([span], -more_ns) - fitted.duration_ns
    assert grown == max(0, more_ns - slack[span])


@given(any_spans(), st.integers(1, 20 * MS))
def test_less_time_never_makes_a_request_longer(spans: list[Span], less_ns: int) -> None:
    trace = made_trace(*spans)
    fitted = fit(trace, trace.roots[0])
    schedule = Schedule(fitted)
    for span in fitted.order:
        durations = [
            *(schedule.without([span]), schedule.without_own_time([span])),
            *(schedule.with_less([span], less_ns), fitted.duration_ns),
        ]
        assert 0 <= durations[0] <= durations[1] <= durations[2] <= durations[3]
    assert schedule.without_own_time(fitted.order) <= fitted.duration_ns
