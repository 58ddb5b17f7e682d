"""The replay buffer: bounded, in whole key-frame groups, and exact about what it lost."""

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.uplink.replay import Replay

A, B = "t-1-0000000a", "t-2-0000000b"
NAMES = st.sampled_from([A, B, "t-3-0000000c"])


def frame(seq: int, size: int = 10) -> bytes:
    return seq.to_bytes(2, "big") + b"." * (size - 2)


def fill(replay: Replay, target: str, first: int, last: int, *, key_every: int = 5) -> None:
    """Frames of 10 bytes; 1, 1 + key_every, … are key frames."""
    for seq in range(first, last + 1):
        replay.add(target, SampledFrame(seq, frame(seq), key=seq % key_every == 1))


def read(replay: Replay, target: str, after: int = 0) -> tuple[list[tuple[int, int]], list[int]]:
    """Losses and frame numbers for a reader that has all frames up to a number."""
    losses: list[tuple[int, int]] = []
    frames: list[int] = []
    at = after
    while True:
        lost = replay.lost(target, at)
        if lost is not None:
            losses.append(lost)
            at = lost[1]
            continue
        kept = replay.after(target, at)
        if kept is None:
            return losses, frames
        assert kept.data == frame(kept.seq, len(kept.data))
        frames.append(kept.seq)
        at = kept.seq


def test_what_fits_is_kept_and_read_in_order_from_anywhere() -> None:
    replay = Replay(1000, 1000)
    fill(replay, A, 1, 12)
    assert read(replay, A) == ([], list(range(1, 13)))
    assert read(replay, A, after=7) == ([], [8, 9, 10, 11, 12])
    assert read(replay, A, after=12) == ([], [])
    assert replay.after(A, 0) == SampledFrame(1, frame(1), key=True)
    assert replay.size == 120


def test_a_whole_group_goes_and_what_is_left_starts_with_a_key_frame() -> None:
    replay = Replay(120, 120)
    fill(replay, A, 1, 12)
    assert replay.size == 120
    fill(replay, A, 13, 13)
    # One byte over the bound costs the five frames of the oldest group.
    assert replay.size == 80
    assert read(replay, A) == ([(1, 5)], list(range(6, 14)))
    kept = replay.after(A, 5)
    assert kept is not None and kept.key


@pytest.mark.parametrize(("after", "lost"), [(0, [(1, 5)]), (3, [(4, 5)]), (5, []), (8, [])])
def test_only_what_a_reader_does_not_have_is_lost_to_it(
    after: int, lost: list[tuple[int, int]]
) -> None:
    replay = Replay(120, 120)
    fill(replay, A, 1, 13)
    assert read(replay, A, after) == (lost, list(range(max(after, 5) + 1, 14)))


def test_the_largest_stream_gives_way() -> None:
    replay = Replay(200, 200)
    fill(replay, A, 1, 16)
    fill(replay, B, 1, 4)
    fill(replay, B, 5, 5)
    assert read(replay, A)[0] == [(1, 5)]
    assert read(replay, B)[0] == []


def test_a_newest_group_stays_as_long_as_any_stream_has_an_older_one() -> None:
    """The baseline may be unsent, and a new reader starts with it."""
    replay = Replay(200, 200)
    fill(replay, A, 1, 14, key_every=100)
    fill(replay, B, 1, 6)
    fill(replay, B, 7, 7)
    assert read(replay, A) == ([], list(range(1, 15)))
    assert read(replay, B) == ([(1, 5)], [6, 7])


def test_a_newest_group_stays_also_where_older_ones_went_before() -> None:
    replay = Replay(200, 200)
    fill(replay, A, 1, 21)
    assert read(replay, A) == ([(1, 5)], list(range(6, 22)))
    fill(replay, B, 1, 5)
    replay.add(A, SampledFrame(22, frame(22, 100), key=False))
    # Only the newest group of A is left, and it is larger than B.
    assert read(replay, A) == ([(1, 20)], [21, 22])
    fill(replay, B, 6, 10)
    assert read(replay, A) == ([(1, 20)], [21, 22])
    assert read(replay, B) == ([(1, 5)], list(range(6, 11)))


def test_a_newest_group_goes_where_there_is_no_older_one_and_that_is_reported() -> None:
    replay = Replay(100, 100)
    fill(replay, A, 1, 10, key_every=100)
    fill(replay, A, 11, 11, key_every=100)
    assert replay.size == 0
    # Also while nothing is kept: the stream may have ended.
    assert read(replay, A) == ([(1, 11)], [])
    assert read(replay, A, after=8) == ([(9, 11)], [])
    # Later delta frames are kept, and leave with their group.
    fill(replay, A, 12, 13, key_every=100)
    assert read(replay, A) == ([(1, 11)], [12, 13])
    replay.add(A, SampledFrame(14, frame(14), key=True))
    replay.add(A, SampledFrame(15, frame(15, 80), key=False))
    assert read(replay, A) == ([(1, 13)], [14, 15])


def test_a_frame_beyond_the_bound_is_lost_alone() -> None:
    replay = Replay(100, 100)
    replay.add(A, SampledFrame(1, frame(1, 101), key=True))
    replay.add(A, SampledFrame(2, frame(2), key=True))
    assert read(replay, A) == ([(1, 1)], [2])


def test_unknown_targets() -> None:
    replay = Replay(100, 100)
    assert read(replay, A) == ([], [])
    assert replay.last_seq(A) == 0
    assert replay.targets() == []
    replay.forget(A)
    fill(replay, A, 1, 3)
    # A backend that has more of it than we ever sent knows another stream; nothing is sent twice.
    assert read(replay, A, after=7) == ([], [])


def test_what_is_forgotten_takes_no_room() -> None:
    replay = Replay(100, 100)
    fill(replay, A, 1, 6)
    fill(replay, B, 1, 4)
    replay.forget(A)
    assert (replay.size, replay.targets(), replay.last_seq(A)) == (40, [B], 0)
    fill(replay, B, 5, 10)
    assert read(replay, B)[0] == []


@dataclass
class Model:
    """Frames that were added, and how far a reader is."""

    sizes: list[int] = field(default_factory=list)
    keys: list[bool] = field(default_factory=list)
    read_until: int = 0


class Streams(RuleBasedStateMachine):
    """Several streams in one buffer, readers that come now and then."""

    most = 500

    def __init__(self) -> None:
        super().__init__()
        self.replay = Replay(self.most, self.most)
        self.models: dict[str, Model] = {}

    @rule(
        name=NAMES,
        frames=st.lists(st.tuples(st.integers(2, 120), st.booleans()), min_size=1, max_size=8),
    )
    def add(self, name: str, frames: list[tuple[int, bool]]) -> None:
        for size, wants_key in frames:
            model = self.models.setdefault(name, Model())
            key = wants_key or not model.sizes
            model.sizes.append(size)
            model.keys.append(key)
            self.replay.add(
                name, SampledFrame(len(model.sizes), frame(len(model.sizes), size), key=key)
            )
            assert self.replay.size <= self.most

    @rule(name=NAMES)
    def forget(self, name: str) -> None:
        self.replay.forget(name)
        self.models.pop(name, None)

    @rule(name=NAMES, back=st.integers(0, 40))
    def catch_up(self, name: str, back: int) -> None:
        """A reader that has lost some of what it had reads all: each number comes or is lost."""
        model = self.models.get(name, Model())
        start = max(0, model.read_until - back)
        losses, frames = read(self.replay, name, start)
        lost = [seq for first, last in losses for seq in range(first, last + 1)]
        assert sorted(lost + frames) == list(range(start + 1, len(model.sizes) + 1))
        # All that is lost is older than all that is kept.
        assert len(losses) <= 1
        assert not frames or not lost or max(lost) < min(frames)
        model.read_until = len(model.sizes)

    @invariant()
    def holds_groups(self) -> None:
        size = 0
        for target, model in self.models.items():
            _, frames = read(self.replay, target)
            assert frames == list(range(len(model.sizes) - len(frames) + 1, len(model.sizes) + 1))
            size += sum(model.sizes[seq - 1] for seq in frames)
            keys_kept = [seq for seq in frames if model.keys[seq - 1]]
            if keys_kept and frames[0] != keys_kept[0]:
                # A group whose key frame had to go: it was the newest one then, and of no stream
                # was an older one kept. It goes before any other.
                assert True not in model.keys[frames[0] - 1 : keys_kept[0] - 1]
        assert size == self.replay.size


TestStreams = Streams.TestCase
TestStreams.settings = settings(max_examples=100, stateful_step_count=25, deadline=None)


@given(
    most=st.integers(0, 400),
    sizes=st.lists(st.integers(2, 60), min_size=1, max_size=60),
    key_every=st.integers(1, 20),
)
def test_one_stream_keeps_as_many_whole_groups_as_fit(
    most: int, sizes: list[int], key_every: int
) -> None:
    """The oldest go, one by one, and only when they have to."""
    replay = Replay(most, most)
    kept: list[list[int]] = []  # Groups by size.
    for seq, size in enumerate(sizes, 1):
        key = seq % key_every == 1 or key_every == 1
        replay.add(A, SampledFrame(seq, frame(seq, size), key=key))
        if key or not kept:
            kept.append([])
        kept[-1].append(size)
        while sum(map(sum, kept)) > most:
            kept.pop(0)
    count = sum(map(len, kept))
    losses, frames = read(replay, A)
    assert frames == list(range(len(sizes) - count + 1, len(sizes) + 1))
    assert losses == ([(1, len(sizes) - count)] if count < len(sizes) else [])


def fill_with_baseline(replay: Replay, target: str, last: int) -> None:
    replay.add(target, SampledFrame(1, frame(1), key=True, baseline=True))
    fill(replay, target, 2, last)


def test_the_baseline_stays_when_its_group_goes() -> None:
    replay = Replay(130, 130)
    fill_with_baseline(replay, A, 14)
    # A backend without any of it gets the baseline, then what is left.
    assert read(replay, A) == ([(2, 5)], [1, *range(6, 15)])
    assert replay.size == 100
    assert replay.count == 10
    # One that has more does not.
    assert read(replay, A, after=3) == ([(4, 5)], list(range(6, 15)))
    replay.forget(A)
    assert replay.size == 0


def test_a_baseline_counts_against_the_bound_and_goes_before_the_newest_groups() -> None:
    replay = Replay(100, 100)
    fill_with_baseline(replay, A, 6)
    replay.confirm(A, 6)
    replay.add(A, SampledFrame(7, frame(7, 60), key=False))
    replay.confirm(A, 7)
    assert read(replay, A) == ([(2, 5)], [1, 6, 7])
    replay.add(A, SampledFrame(8, frame(8, 25), key=False))
    replay.confirm(A, 8)
    assert read(replay, A) == ([(1, 5)], [6, 7, 8])
    assert replay.size == 95


def test_what_is_not_confirmed_is_kept_before_what_is_whoever_its_target() -> None:
    """Five recordings: the backend has what four of them sent, and one comes with a lot."""
    replay = Replay(100, 1000)
    fill(replay, A, 1, 20)
    replay.confirm(A, 20)
    assert read(replay, A)[1] == list(range(11, 21))
    fill(replay, B, 1, 90)
    assert read(replay, B) == ([], list(range(1, 91)))
    assert read(replay, A)[1] == list(range(11, 21))
    replay.confirm(B, 90)
    assert replay.size <= 100
    assert (replay.waiting_bytes, replay.dropped(A), replay.dropped(B)) == (0, 0, 0)


def test_another_backend_that_has_less_gets_what_is_kept() -> None:
    replay = Replay(100, 1000)
    fill(replay, A, 1, 10)
    replay.note_sent(A, 10)
    replay.confirm(A, 10)
    replay.connected({A: 3})
    assert (replay.waiting_bytes, replay.sent(A)) == (70, 3)
    replay.connected({})
    assert (replay.waiting_bytes, replay.sent(A)) == (100, 0)
    assert read(replay, A) == ([], list(range(1, 11)))


def test_what_left_on_its_way_is_dropped_only_if_it_does_not_arrive() -> None:
    replay = Replay(1000, 100)
    fill(replay, A, 1, 10)
    replay.note_sent(A, 10)
    fill(replay, A, 11, 20)
    # The first ten gave way to the others, and may be on their way.
    assert replay.dropped(A) == 0
    replay.confirm(A, 7)
    assert replay.dropped(A) == 0
    replay.connected({A: 7})
    assert replay.dropped(A) == 3
    assert read(replay, A, after=7) == ([(8, 10)], list(range(11, 21)))
    fill(replay, A, 21, 21)
    assert replay.dropped(A) == 8


class Deliveries(RuleBasedStateMachine):
    """One backend, connections that break, a bound that is too small: the account adds up."""

    def __init__(self) -> None:
        super().__init__()
        self.replay = Replay(120, 200)
        self.offered: dict[str, int] = {}
        self.arrived: dict[str, set[int]] = {}
        self.reported: dict[str, set[int]] = {}
        self.has: dict[str, int] = {}
        self.on_the_way: list[tuple[str, int, int]] = []

    @rule(name=NAMES, count=st.integers(1, 12), size=st.integers(2, 60), key=st.booleans())
    def offer(self, name: str, count: int, size: int, key: bool) -> None:
        for _ in range(count):
            seq = self.offered.get(name, 0) + 1
            self.offered[name] = seq
            self.replay.add(name, SampledFrame(seq, frame(seq, size), key=key or seq % 5 == 1))

    @rule(name=NAMES, count=st.integers(1, 12))
    def send(self, name: str, count: int) -> None:
        for _ in range(count):
            sent = self.replay.sent(name)
            lost = self.replay.lost(name, sent)
            kept = self.replay.after(name, sent)
            if lost is not None:
                self.on_the_way.append((name, *lost))
                self.replay.note_sent(name, lost[1])
            elif kept is not None:
                self.on_the_way.append((name, 0, kept.seq))
                self.replay.note_sent(name, kept.seq)

    @rule(count=st.integers(0, 30), tell=st.booleans())
    def arrive(self, count: int, tell: bool) -> None:
        for name, first, last in self.on_the_way[:count]:
            if first:
                self.reported.setdefault(name, set()).update(range(first, last + 1))
            else:
                assert last not in self.arrived.setdefault(name, set())
                self.arrived[name].add(last)
            self.has[name] = last
        del self.on_the_way[:count]
        if tell:
            for name, seq in self.has.items():
                self.replay.confirm(name, seq)

    @rule()
    def reconnect(self) -> None:
        self.on_the_way.clear()
        self.replay.connected(self.has)

    @invariant()
    def stays_within_its_bounds(self) -> None:
        assert self.replay.waiting_bytes <= 200
        assert self.replay.size <= 320

    def teardown(self) -> None:
        """All that is left is delivered: offered = delivered + dropped, and each number once."""
        self.reconnect()
        for name in self.offered:
            self.send(name, 1000)
        self.arrive(1_000_000, True)
        for name, count in self.offered.items():
            arrived, reported = self.arrived.get(name, set()), self.reported.get(name, set())
            assert arrived | reported == set(range(1, count + 1))
            assert not arrived & reported
            assert self.replay.dropped(name) == len(reported)
        assert self.replay.waiting_bytes == 0


TestDeliveries = Deliveries.TestCase
TestDeliveries.settings = settings(max_examples=100, stateful_step_count=30, deadline=None)


def test_a_baseline_beyond_a_quarter_of_the_bound_is_not_pinned() -> None:
    replay = Replay(100, 100)
    replay.add(A, SampledFrame(1, frame(1, 26), key=True, baseline=True))
    replay.add(A, SampledFrame(2, frame(2, 80), key=True))
    assert read(replay, A) == ([(1, 1)], [2])


def test_what_was_dropped_between_two_sent_frames_is_counted_once() -> None:
    replay = Replay(120, 200)
    replay.add(A, SampledFrame(1, frame(1, 2), key=True))
    replay.note_sent(A, 1)
    for seq in range(2, 10):  # 1 leaves after it was sent, 2 to 5 before
        replay.add(A, SampledFrame(seq, frame(seq, 28), key=seq == 6))
    assert replay.dropped(A) == 4
    replay.note_sent(A, 6)
    for seq in range(10, 20):  # 6 leaves after it was sent, 7 to 10 before
        replay.add(A, SampledFrame(seq, frame(seq, 9), key=seq == 11))
    assert replay.dropped(A) == 8
    replay.connected({})
    assert replay.dropped(A) == 10
