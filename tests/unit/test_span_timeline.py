"""What a thread did between two instants: exact where samples enclose it, bounded elsewhere."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tidscope_backend.traces.joining.timeline import REASONS, Timeline, of_process, of_thread

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
