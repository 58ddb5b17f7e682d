"""What a change to a trace would bring: saving, drag, slack, projection."""

from hypothesis import given
from hypothesis import strategies as st
from tidscope_traces.critical.path import fit, walk_back
from tidscope_traces.critical.schedule import Schedule
from tidscope_traces.spans.model import Span
from trace_builders import MS, any_spans, made_span, made_trace


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
