"""Spans joined with threads: places, timelines, origins."""

import numpy as np
import pytest
from backend_builders import process
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_backend.traces.joining.joiner import join, runtime_threads
from tidscope_backend.traces.joining.observed import Observed
from tidscope_backend.traces.joining.places import (
    Origin,
    Place,
    Places,
    began_after,
    is_process,
    origin_of,
)
from tidscope_backend.traces.joining.timeline import REASONS, Timeline, of_process, of_thread
from tidscope_traces.critical.path import critical_path
from tidscope_traces.spans.model import Span, make_trace
from tidscope_wire.generated.models import ProcessContainer

SPAN = Span("1" * 32, "1" * 16, "", "shop", "GET /", 0, 100_000_000, pid=7)


class AtOnePlace(Places):
    """Everything was measured at one place."""

    def __init__(self, place: Place) -> None:
        super().__init__([], [], lambda _: NotImplemented)
        self.place = place

    def find(self, origin: Origin, window: tuple[int, int]) -> Place:
        return self.place


def only(state: str) -> Timeline:
    """A thread that is in one state all the time."""
    place = REASONS.index(state)
    totals = np.zeros((2, len(REASONS)), np.int64)
    totals[1, place] = SPAN.end_ns
    times = np.array([0, SPAN.end_ns])
    return Timeline(times, totals, np.full(2, place), np.zeros(2, np.int64), SPAN.end_ns)


def test_a_monitor_in_the_run_queue_is_no_time_of_the_request() -> None:
    threads = {1: ("hotrod", "polling"), 2: ("sysmon", "runnable"), 3: ("hotrod", "locks")}
    seen = Observed(
        names={tid: name for tid, (name, _) in threads.items()},
        to_ns=SPAN.end_ns,
        _ended={tid: [only(state)] for tid, (_, state) in threads.items()},
    )
    place = Place("t-1", None, None, seen)
    (found,) = join(critical_path(make_trace(SPAN.trace_id, [SPAN])), AtOnePlace(place))
    assert [(part.reason, part.ns) for part in found.parts] == [("idle", SPAN.end_ns)]
    assert found.note == ("Not counted: threads of the runtime itself, at work for sysmon 100 ms.")


def test_names_are_a_runtimes_where_it_is_that_runtime() -> None:
    java = {1: "http-nio-8080-e", 2: "VM Periodic Tas", 3: "GC Thread#0", 4: "C2 CompilerThre"}
    assert runtime_threads(java, java) == {2, 3, 4}
    whole = {1: "VM Periodic Task Thread", 2: "Signal Dispatcher", 3: "worker", 4: ""}
    assert runtime_threads(whole, [*whole, 5]) == {1, 2}
    # Another program may call a thread that serves requests so.
    assert runtime_threads({1: "Service Thread", 2: "GC Thread#0"}, [1, 2]) == set()


CONTAINER = "0123456789abcdef" * 4
OTHER = "f" * 64
HERE = "bench.example.com"
PLAIN = process(100)
BOXED = process(100).model_copy(
    update={
        "namespace_pid": 7,
        "container": ProcessContainer(id=CONTAINER, name="shop", runtime="docker", pod=None),
    }
)


@pytest.mark.parametrize(
    ("origin", "plain", "boxed"),
    [
        (Origin(100), True, True),
        (Origin(7), False, False),
        (Origin(100, "bench"), True, True),
        (Origin(100, "BENCH.example.com"), True, True),
        (Origin(100, "bench.example.org"), False, False),
        (Origin(100, "elsewhere"), False, False),
        (Origin(7, "elsewhere", CONTAINER), False, True),
        # A container may have the name of its host.
        (Origin(7, HERE, CONTAINER), False, True),
        (Origin(7, "", CONTAINER[:12]), False, True),
        (Origin(7, "", CONTAINER[:11]), False, False),
        (Origin(7, "", OTHER), False, False),
        # Docker calls the host of a container as it begins.
        (Origin(7, CONTAINER[:12]), False, True),
        (Origin(8, "", CONTAINER), False, False),
        # A process.pid set to the outer ID is recognised.
        (Origin(100, "", CONTAINER), False, True),
        (Origin(100, "", OTHER), False, False),
    ],
)
def test_a_number_counts_where_it_is_known_whose_it_is(
    origin: Origin, plain: bool, boxed: bool
) -> None:
    assert is_process(origin, PLAIN, HERE) == plain
    assert is_process(origin, BOXED, HERE) == boxed


def test_what_a_span_says_of_its_process() -> None:
    span = Span("1" * 32, "1" * 16, "", "shop", "GET /", 0, 1)
    assert origin_of(span) is None
    assert origin_of(span._replace(pid=7)) == Origin(7)
    attributes = {"host.name": "bench", "container.id": CONTAINER}
    assert origin_of(span._replace(pid=7, attributes=attributes)) == Origin(7, "bench", CONTAINER)


def test_a_process_that_began_later_had_no_part() -> None:
    began_ns = PLAIN.started_unix_ms * 1_000_000
    assert not began_after(PLAIN, began_ns)
    assert not began_after(PLAIN, began_ns - 900_000_000)
    assert began_after(PLAIN, began_ns - 2_000_000_000)


RUNNING, LOCKS, SLEEP = (REASONS.index(one) for one in ("running", "locks", "sleep"))


def timeline(stays: list[tuple[int, int]], samples: list[int], until: int) -> Timeline:
    """A thread that was in these (state, length) one after the other, sampled at these times."""
    edges = np.cumsum([0, *(length for _, length in stays)])
    totals, states, since = [], [], []
    for at in samples:
        total = np.zeros(len(REASONS), np.int64)
        state, begin = stays[-1][0], int(edges[-2])
        for (one, _), low, high in zip(stays, edges[:-1], edges[1:], strict=True):
            total[one] += max(0, min(high, at) - low)
            if low <= at < high:
                state, begin = one, int(low)
        totals.append(total)
        states.append(state)
        since.append(begin)
    return Timeline(
        np.array(samples, np.int64),
        np.array(totals, np.int64).reshape(len(samples), len(REASONS)),
        np.array(states, np.int64),
        np.array(since, np.int64),
        until,
    )


def test_whole_intervals_between_samples_are_exact() -> None:
    found = timeline([(RUNNING, 30), (LOCKS, 50), (RUNNING, 120)], [0, 100, 200], 200)
    split = found.split(0, 200)
    assert split.estimate[RUNNING] == split.least[RUNNING] == split.most[RUNNING] == 150
    assert split.estimate[LOCKS] == split.least[LOCKS] == 50


def test_the_stay_under_way_at_a_sample_is_exact_within_an_interval() -> None:
    found = timeline([(RUNNING, 30), (LOCKS, 170)], [0, 100, 200], 200)
    split = found.split(60, 90)
    assert split.estimate[LOCKS] == split.least[LOCKS] == 30


def test_a_part_of_a_mixed_interval_is_estimated_and_bounded() -> None:
    """90 of 100 ns were a wait: of any 50 of them at least 40 and at most 50 were."""
    found = timeline([(RUNNING, 5), (LOCKS, 90), (RUNNING, 5)], [0, 100], 100)
    split = found.split(0, 50)
    mixed = split.estimate[LOCKS]
    assert 40 <= mixed <= 50
    assert split.least[LOCKS] == pytest.approx(45 - 0.0, abs=5)
    parts = of_thread(found, [(0, 50)])
    assert sum(parts.ns.values()) == 50
    assert 0.7 < parts.coverage < 1


def test_of_what_samples_do_not_tell_apart_nothing_is_said() -> None:
    """Samples cannot tell whether two of these 95 ns were the wait."""
    found = timeline([(RUNNING, 5), (LOCKS, 90), (RUNNING, 5)], [0, 100], 100)
    assert of_thread(found, [(10, 12)]) == ({"unknown": 2}, 0.0)
    busy = timeline([(SLEEP, 50), (RUNNING, 45), (SLEEP, 205)], [0, 300], 300)
    parts = of_process([busy], [(20, 60)], 1.0)
    assert (parts.ns, parts.is_known) == ({"unknown": 40}, False)
    # The wait is certain; that it was for a lock is a guess.
    waits = timeline([(SLEEP, 100)], [0, 100], 100)
    parts = of_process([waits], [(0, 100)], 1.0)
    assert (parts, parts.is_known) == (({"locks": 100}, 0.0), True)


def test_after_the_last_sample_the_state_holds() -> None:
    found = timeline([(SLEEP, 1000)], [0], 500)
    assert of_thread(found, [(100, 400)]) == ({"sleep": 300}, 1.0)
    parts = of_thread(found, [(400, 600)])
    assert parts.ns == {"unknown": 100, "sleep": 100}
    assert parts.coverage == 0.5


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from([RUNNING, LOCKS, SLEEP]), st.integers(1, 60)), min_size=1),
    st.integers(1, 70),
    st.tuples(st.integers(0, 400), st.integers(1, 200)),
)
def test_the_truth_lies_within_the_bounds(
    stays: list[tuple[int, int]], step: int, window: tuple[int, int]
) -> None:
    whole = sum(length for _, length in stays)
    found = timeline(stays, list(range(0, whole + 1, step)), whole // step * step)
    begin = min(window[0], whole // step * step)
    end = min(begin + window[1], whole // step * step)
    truth = np.zeros(len(REASONS))
    at = 0
    for state, length in stays:
        truth[state] += max(0, min(at + length, end) - max(at, begin))
        at += length
    split = found.split(begin, end)
    assert (split.least <= truth + 1e-6).all()
    assert (truth <= split.most + 1e-6).all()
    assert split.estimate.sum() == pytest.approx(end - begin)


def test_of_a_process_busy_threads_count_and_the_rest_is_idle_or_locks() -> None:
    busy = timeline([(SLEEP, 60), (RUNNING, 40)], [0, 100], 100)
    idle = timeline([(SLEEP, 100)], [0, 100], 100)
    assert of_process([busy, idle], [(0, 100)], 0.0) == ({"idle": 60, "running": 40}, 1.0)
    parts = of_process([busy, idle], [(0, 100)], 2.0)
    assert parts.ns == {"locks": 60, "running": 40}
    assert parts.coverage == pytest.approx(0.4)


def test_more_threads_than_one_are_scaled_down() -> None:
    busy = timeline([(RUNNING, 100)], [0, 100], 100)
    assert of_process([busy] * 4, [(0, 100)], 0.0) == ({"running": 100}, 1.0)


def test_without_samples_all_is_unknown() -> None:
    assert of_process([], [(0, 100)], 0.0) == ({"unknown": 100}, 0.0)
