"""Flame graphs, places and differences of a target whose time is known, live and as a run."""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from backend_builders import target
from hypothesis import given, settings
from hypothesis import strategies as st
from run_folders import run_folder
from sampled_story import (
    FIELDS,
    FUTEX,
    LOCK,
    ON_CPU,
    PATHS,
    POLL,
    SLEEP,
    SampledStory,
    Stay,
    sampled_story,
)
from tidscope_backend.stacks.differences import Side, stack_difference
from tidscope_backend.stacks.live import LiveStacks
from tidscope_backend.stacks.selection import Selection, Window
from tidscope_backend.stacks.service import NO_FRAMES, NO_STACKS, flame_of, graph, places
from tidscope_backend.stacks.sources import LiveSource, RunSource, StackSource
from tidscope_backend.stacks.tables import StackTables
from tidscope_backend.store.reader import RunReader
from tidscope_wire.frame import split
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.models import StackDifference, StackGraph, StackSampling, StackSide
from tidscope_wire.problems import ProblemError

SECOND = 1_000_000_000
ANY = Selection()
WAITS = (FUTEX, POLL, SLEEP)


def live(story: SampledStory, sampling: StackSampling | None = None) -> LiveSource:
    """The story as the backend has it while it goes on."""
    store = LiveStacks(300 * SECOND)
    for frame in story.frames:
        store.receive(*split(frame))
    known = target().model_copy(update={"stacks": sampling})
    return LiveSource(known, story.stored(), store.get(known.id))


def recorded(story: SampledStory, path: Path) -> RunSource:
    """The story as a run of three parts, of which two are sealed."""
    cuts = [0, len(story.frames) // 3, 2 * len(story.frames) // 3, len(story.frames)]
    parts = [story.frames[begin:end] for begin, end in itertools.pairwise(cuts)]
    return RunSource(RunReader(run_folder(path, parts, FIELDS, 2).path))


@pytest.fixture(scope="module")
def every() -> SampledStory:
    """Every stay is sampled, from the begin on."""
    return sampled_story(300, 1)


@pytest.fixture(scope="module", params=["live", "run"])
def source(
    request: pytest.FixtureRequest, every: SampledStory, tmp_path_factory: pytest.TempPathFactory
) -> StackSource:
    if request.param == "live":
        return live(every)
    return recorded(every, tmp_path_factory.mktemp("runs") / "run")


def paths(found: StackGraph | StackDifference) -> list[tuple[str, ...]]:
    """Functions of each node, the outermost first."""
    known: list[tuple[str, ...]] = []
    for node in found.nodes:
        above = () if node.parent < 0 else known[node.parent]
        known.append((*above, found.frames[node.frame].function))
    return known


def by_path(found: StackGraph) -> dict[tuple[str, ...], float]:
    return {path: node.ns for path, node in zip(paths(found), found.nodes, strict=True)}


def ask(
    source: StackSource,
    from_s: float,
    to_s: float,
    *states: str,
    chosen: Selection = ANY,
) -> StackGraph:
    """Ask for states of a selection in a window."""
    window = replace(
        chosen,
        window=Window(int(from_s * SECOND), int(to_s * SECOND)),
        states=frozenset(states),
    )
    return graph(source, window)


WINDOWS = [(5, 25), (10.03, 10.97), (17.2, 29.4), (2, 29.5)]


@pytest.mark.parametrize("window_s", WINDOWS)
@pytest.mark.parametrize("state", ["futex", "poll"])
def test_time_in_a_state_is_exact_if_every_stay_is_sampled(
    every: SampledStory, source: StackSource, window_s: tuple[float, float], state: str
) -> None:
    found = ask(source, *window_s, state)
    number = {"futex": FUTEX, "poll": POLL}[state]
    truth = every.truth(found.from_ns, found.to_ns, lambda stay: stay.state == number)
    assert by_path(found) == pytest.approx(dict(truth))
    assert (found.from_ns - window_s[0] * SECOND) < 100_000_000
    assert (window_s[1] * SECOND - found.to_ns) < 100_000_000
    assert found.exact_ns == pytest.approx(sum(ns for path, ns in truth.items() if len(path) == 1))
    assert found.unseen_ns == pytest.approx(0, abs=1)
    assert all(node.low_ns == pytest.approx(node.high_ns) for node in found.nodes)
    assert found.reason == ""
    assert all(node.parent < place for place, node in enumerate(found.nodes))


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        (Selection(tids=frozenset({201, 204})), lambda stay: stay.tid in (201, 204)),
        (Selection(roles=frozenset({"worker-#"})), lambda stay: stay.tid in (201, 202, 204)),
        (
            Selection(roles=frozenset({"worker-#", "main"}), tids=frozenset({200})),
            lambda stay: stay.tid == 200,
        ),
    ],
)
def test_threads_and_roles_are_selected(
    every: SampledStory,
    source: StackSource,
    asked: Selection,
    chosen: Callable[[Stay], bool],
) -> None:
    found = ask(source, 5, 25, "futex", "poll", "sleep", chosen=asked)
    truth = every.truth(
        found.from_ns, found.to_ns, lambda stay: chosen(stay) and stay.state in WAITS
    )
    assert by_path(found) == pytest.approx(dict(truth))


def test_run_queue_delays_have_the_stacks_of_the_waits_before(source: StackSource) -> None:
    found = ask(source, 5, 25, "woken")
    assert found.unseen_ns < found.exact_ns * 0.02
    assert {path[-1] for path in paths(found)} >= {"do_poll", "futex_wait_queue"}


def test_time_on_a_cpu_is_divided_by_samples_of_the_clock(
    every: SampledStory, source: StackSource
) -> None:
    found = ask(source, 5, 25, "on_cpu")
    truth = every.truth(found.from_ns, found.to_ns, lambda stay: stay.state == ON_CPU)
    assert found.exact_ns == pytest.approx(truth["main",])
    for path, node in zip(paths(found), found.nodes, strict=True):
        assert node.low_ns <= truth[path] <= node.high_ns
    inlined = {
        found.frames[node.frame].function
        for node in found.nodes
        if found.frames[node.frame].inlined
    }
    assert inlined == {"round", "scale"}


def test_a_lock_has_its_waits_and_their_releasers(source: StackSource, every: SampledStory) -> None:
    found = ask(source, 5, 25, chosen=Selection(lock=LOCK))
    readings = sorted(every.ledger.tables)
    assert found.exact_ns == pytest.approx(_ended_waits(every, readings, 5, 25))
    assert {path[0] for path in paths(found)} == {"main"}
    assert found.unseen_ns == pytest.approx(0, abs=1)
    released = ask(source, 5, 25, chosen=Selection(lock=LOCK, side="releasers"))
    assert by_path(released) == pytest.approx(
        dict.fromkeys(_prefixes(("main", "serve", "unlock_all")), found.exact_ns)
    )


def _prefixes(path: Sequence[str]) -> list[tuple[str, ...]]:
    return [tuple(path[:length]) for length in range(1, len(path) + 1)]


def _ended_waits(story: SampledStory, readings: Sequence[int], from_s: int, to_s: int) -> int:
    """Waits that ended between the readings of the table around a window."""
    known: list[int] = []
    for frame in story.frames:
        header, _ = split(frame)
        known += [one.read_ns or 0 for one in header.tables or () if one.name == "locks"]
    begin = max(time for time in known if time <= from_s * SECOND)
    end = max(time for time in known if time <= to_s * SECOND)
    # The table counts what had ended at the frame, a little after it was read.
    times = [min(one for one in readings if one >= time) for time in (begin, end)]
    return sum(
        stay.end_ns - stay.begin_ns
        for stay in story.stays
        if stay.state == FUTEX
        and stay.end_ns is not None
        and times[0] < stay.end_ns <= times[1]
        and stay.end_ns != story.ledger.lives[stay.tid].end_ns  # cut short by the thread's exit
    )


def test_holders_are_what_the_waker_did_meanwhile(every: SampledStory) -> None:
    found = ask(live(every), 5, 25, "futex", chosen=Selection(side="holders"))
    truth: Counter[str] = Counter()
    total = 0
    for wait in every.stays:
        if wait.state != FUTEX or not wait.waker or wait.end_ns is None:
            continue
        begin, end = max(wait.begin_ns, found.from_ns), min(wait.end_ns, found.to_ns)
        for stay in every.stays:
            if stay.tid != wait.waker or end <= begin:
                continue
            last = stay.end_ns or found.to_ns
            ns = max(0, min(last, end) - max(stay.begin_ns, begin))
            total += ns
            truth[PATHS[stay.node][1]] += ns
    functions = {
        path[1]: node
        for path, node in zip(paths(found), found.nodes, strict=True)
        if len(path) == 2
    }
    # The first stay of each thread began before its first sample could.
    assert found.exact_ns - found.unseen_ns == pytest.approx(total, rel=0.04)
    for name, node in functions.items():
        assert node.ns == pytest.approx(truth[name], rel=0.06)


def test_stays_that_began_before_stacks_were_taken_are_unseen() -> None:
    story = sampled_story(300, 1, period=(6.05, 20.03))
    found = ask(live(story), 5, 25, "futex")
    begin, end = 6_100_000_000, 20_000_000_000

    def sampled(stay: Stay) -> bool:
        return stay.state == FUTEX and stay.begin_ns >= story.period[0]

    truth = story.truth(begin, end, sampled)
    # The end of an earlier stay is known up to other waits between two frames.
    assert by_path(found) == pytest.approx(dict(truth), rel=0.01)
    assert found.exact_ns == pytest.approx(
        story.truth(found.from_ns, found.to_ns, lambda stay: stay.state == FUTEX)["main",]
    )
    assert found.unseen_ns == pytest.approx(found.exact_ns - truth["main",], rel=0.01)


def test_a_thread_that_has_slept_all_the_time_is_unseen() -> None:
    found = ask(
        live(sampled_story(300, 1, period=(2, 30))), 5, 25, chosen=Selection(tids=frozenset({203}))
    )
    assert found.exact_ns == found.unseen_ns == 20 * SECOND
    assert found.reason == NO_STACKS


def test_samples_without_a_stack_are_unseen(every: SampledStory) -> None:
    story = sampled_story(300, 1, unknown=0.3)
    found = ask(live(story), 5, 25, "futex")
    known = {row["begin_ns"]: row["node"] for row in story.samples if row["state"] == FUTEX}
    truth = story.truth(
        found.from_ns,
        found.to_ns,
        lambda stay: stay.state == FUTEX and known[stay.begin_ns] != 0,
    )
    assert by_path(found) == pytest.approx(dict(truth))
    assert found.unseen_ns == pytest.approx(found.exact_ns - truth["main",])


def test_intervals_of_weighted_samples_hold_the_truth() -> None:
    held = total = 0
    for seed in range(12):
        story = sampled_story(200, seed, weights=(1, 2, 4))
        found = ask(live(story), 2, 19.9, "futex")
        truth = story.truth(found.from_ns, found.to_ns, lambda stay: stay.state == FUTEX)
        for path, node in zip(paths(found), found.nodes, strict=True):
            if node.ns < truth["main",] * 0.999:
                held += node.low_ns <= truth[path] <= node.high_ns
                total += 1
    assert total > 50
    assert held / total > 0.85


def test_the_window_ends_where_stacks_are_known(every: SampledStory) -> None:
    found = graph(live(every), Selection(states=frozenset({"futex"})))
    assert found.to_ns == 28_500_000_000
    assert found.from_ns == 18_500_000_000
    last = graph(live(every), Selection(Window(last_ns=5 * SECOND)))
    assert (last.from_ns, last.to_ns) == (23_500_000_000, 28_500_000_000)


def test_a_target_without_frames_or_ledger_says_why(every: SampledStory) -> None:
    nothing = LiveSource(target(), [], None)
    assert graph(nothing, Selection()).reason == NO_FRAMES
    assert places(nothing, Window()).threads == []


def test_without_samples_the_collectors_reason_is_given(every: SampledStory) -> None:
    why = "The kernel has no eBPF. Use Linux 6.1 or newer."
    sampling = StackSampling(until_unix_us=None, trigger="none", cpu_hz=0, reason=why)
    quiet = LiveSource(
        target().model_copy(update={"stacks": sampling}), every.stored(), LiveStacks(1).get("x")
    )
    found = graph(quiet, Selection(states=frozenset({"futex"})))
    assert (found.reason, found.sampling) == (why, sampling)
    assert found.exact_ns == found.unseen_ns > 0


@pytest.mark.parametrize(
    "selection",
    [
        Selection(states=frozenset({"waiting"})),
        Selection(lock=7, states=frozenset({"poll"})),
        Selection(Window(5, 5)),
    ],
)
def test_what_cannot_be_selected_is_refused(selection: Selection) -> None:
    with pytest.raises(ProblemError) as refused:
        selection.check()
    assert refused.value.problem.status == 422


def test_places_name_the_programs_own_code(every: SampledStory, source: StackSource) -> None:
    found = places(source, Window(5 * SECOND, 25 * SECOND))
    (lock,) = found.locks
    assert lock.lock == LOCK
    assert lock.waits is not None
    assert (lock.waits.function, lock.waits.file, lock.waits.module) == (
        "update_account",
        "bank.c",
        "bank",
    )
    assert lock.waits.line in (41, 47)
    assert 0.7 < lock.waits.low <= lock.waits.share <= lock.waits.high < 0.85
    assert lock.releases is not None
    assert (lock.releases.function, lock.releases.line) == ("unlock_all", 33)
    assert lock.holds is not None
    threads = {one.tid: one for one in found.threads}
    assert threads.keys() == {200, 201, 203, 204}
    for one in threads.values():
        (stay,) = [stay for stay in every.stays if stay.tid == one.tid and covers(stay, one.at_ns)]
        assert PATHS[stay.node][0] == one.frames[-1].function
        assert "kernel" not in {frame.kind for frame in one.frames}
        lasts = stay.end_ns is None or stay.end_ns > found.to_ns
        assert one.ended == (not lasts)


def covers(stay: Stay, time_ns: int) -> bool:
    return stay.begin_ns <= time_ns and (stay.end_ns is None or time_ns < stay.end_ns)


def test_a_difference_of_windows_has_both_rates_and_an_interval(every: SampledStory) -> None:
    source = live(every)

    def side(from_s: int, to_s: int, *states: str) -> Side:
        selection = Selection(Window(from_s * SECOND, to_s * SECOND), states=frozenset(states))
        view, made = flame_of(source, selection)
        return Side("x", (view.to_ns - view.from_ns) / SECOND, made, "")

    first, second = side(5, 15, "futex"), side(15, 25, "futex", "poll")
    found = stack_difference(first, second)
    rates = dict(zip(paths(found), found.nodes, strict=True))

    def rate(path: tuple[str, ...], from_s: int, to_s: int, *states: int) -> float:
        edges = from_s * SECOND, to_s * SECOND
        return every.truth(*edges, lambda stay: stay.state in states)[path] / 10 / SECOND

    for path, node in rates.items():
        before, after = rate(path, 5, 15, FUTEX), rate(path, 15, 25, FUTEX, POLL)
        assert [node.before, node.after] == pytest.approx([before, after])
        assert [node.low, node.high] == pytest.approx([after - before] * 2)
    assert ("main", "next_request", "do_poll") in rates
    few = stack_difference(first, second, most=2)
    assert len(few.nodes) == 2
    assert few.omitted_nodes == len(found.nodes) - 2


def test_a_difference_without_one_side_says_why_and_which(every: SampledStory) -> None:
    _, made = flame_of(live(every), Selection())
    there, missing = Side("x", 10, made, ""), Side("y", 0, None, NO_FRAMES)
    assert stack_difference(there, there).reason == ""
    found = stack_difference(there, missing)
    assert (found.nodes, found.reason) == ([], f"After: {NO_FRAMES}")
    assert stack_difference(missing, there).reason == f"Before: {NO_FRAMES}"
    assert stack_difference(missing, missing).reason == NO_FRAMES


def test_only_the_widest_nodes_are_kept(
    every: SampledStory, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = live(every)
    whole = ask(source, 5, 25)
    monkeypatch.setattr("tidscope_backend.stacks.service.MAX_NODES", 5)
    cut = ask(source, 5, 25)
    assert len(cut.nodes) == 5
    assert cut.omitted_nodes == len(whole.nodes) - 5
    assert min(node.ns for node in cut.nodes) >= sorted(node.ns for node in whole.nodes)[-5]


NUMBERS = st.sampled_from([0, 1, 5, 2**31, 2**32 - 1])
LONG = st.one_of(st.integers(0, 6 * 10**9), st.sampled_from([0, 2**61, 2**63, 2**64 - 1]))
SAMPLE = st.tuples(
    *(
        NUMBERS,
        st.sampled_from([0, 200, 201, 204, 2**32 - 1]),
        st.sampled_from([0, 1, 3, 4, 24, 99]),
    ),
    *(st.integers(0, 20), NUMBERS, LONG, LONG, LONG, st.sampled_from([0, LOCK])),
    *(NUMBERS, st.sampled_from([0, 200, 2**32 - 1]), st.integers(0, 20)),
)
PERIOD = st.tuples(NUMBERS, LONG, LONG)


class Lying(LiveSource):
    """A target whose collector sends any samples and periods."""

    def __init__(self, rows: list[tuple[int, ...]], periods: list[tuple[int, ...]]) -> None:
        super().__init__(target(), SHORT.stored(), None)
        known = live(SHORT).stacks(0, 0)
        samples = np.array(rows, dtype_of("stack_samples"))
        found = np.array(periods, dtype_of("stack_periods"))
        self._tables = known._replace(samples=samples, periods=found, since_ns=0)

    def stacks(self, from_ns: int, to_ns: int) -> StackTables:
        """See StackSource."""
        return self._tables


SHORT = sampled_story(60, 3)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(SAMPLE, max_size=30),
    st.lists(PERIOD, max_size=3),
    st.sampled_from([None, LOCK, 99]),
    st.sampled_from(["threads", "releasers", "holders"]),
)
def test_whatever_a_collector_sends_the_answer_is_sound(
    rows: list[tuple[int, ...]],
    periods: list[tuple[int, ...]],
    lock: int | None,
    side: StackSide,
) -> None:
    source = Lying(rows, periods)
    found = ask(source, 1, 5, chosen=Selection(lock=lock, side=side))
    assert 0 <= found.unseen_ns <= found.exact_ns * (1 + 1e-9)
    for node in found.nodes:
        assert 0 <= node.low_ns <= node.ns * (1 + 1e-9) + 1
        assert node.ns <= node.high_ns * (1 + 1e-9) + 1
        assert node.high_ns <= found.exact_ns * (1 + 1e-9)
    roots = sum(node.ns for node in found.nodes if node.parent < 0)
    assert roots + found.unseen_ns == pytest.approx(found.exact_ns, abs=1)
    places(source, Window(SECOND, 5 * SECOND))
