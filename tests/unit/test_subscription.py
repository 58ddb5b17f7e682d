"""Histories of frames, and what a subscriber is sent of them."""

import pytest
from backend_builders import frame_bytes, key_frame, rows_of, stored, stream
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import History, HistoryStore
from tidscope_backend.stream.subscription import Bounds, Subscription
from tidscope_wire.frame import split

ROOMY = Bounds(frames=1000, bytes=1 << 30, merged_bytes=1 << 30)
TARGET = "t-100-deadbeef"


def history_of(frames: list[bytes], max_bytes: int = 1 << 30) -> History:
    history = History(max_bytes, 1 << 62)
    for frame in frames:
        history.add(stored(frame))
    return history


def taken(subscription: Subscription) -> list[tuple[int, int]]:
    """First and last number of each frame that the page gets now."""
    frames: list[tuple[int, int]] = []
    while (frame := subscription.next_frame()) is not None:
        frames.append((frame.first_seq, frame.seq))
    return frames


def feed(subscription: Subscription, history: History, frames: list[bytes]) -> None:
    for data in frames:
        frame = stored(data)
        history.add(frame)
        subscription.enqueue(frame)


def single(first: int, last: int) -> list[tuple[int, int]]:
    return [(seq, seq) for seq in range(first, last + 1)]


def test_history_then_live_without_hole_or_repetition() -> None:
    history = history_of(stream(1, 25))
    subscription = Subscription(TARGET, history, None, ROOMY)
    feed(subscription, history, stream(26, 28))
    got = [subscription.next_frame() for _ in range(3)]
    feed(subscription, history, stream(29, 40))
    rest = taken(subscription)
    assert [(f.first_seq, f.seq) for f in got if f] + rest == single(1, 40)
    assert (subscription.dropped, subscription.coalesced) == (0, 0)


@pytest.mark.parametrize(("after_seq", "first"), [(None, 1), (0, 1), (13, 14), (25, 26)])
def test_it_begins_where_the_page_is(after_seq: int | None, first: int) -> None:
    history = history_of(stream(1, 25))
    subscription = Subscription(TARGET, history, after_seq, ROOMY)
    feed(subscription, history, stream(26, 30))
    assert taken(subscription) == single(first, 30)


def test_a_page_with_nothing_waits_for_a_key_frame() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, None, ROOMY)
    feed(subscription, history, stream(8, 13))
    assert taken(subscription) == single(11, 13)


@pytest.mark.parametrize("last", [9, 13])
def test_a_page_whose_kept_past_is_gone_waits_for_a_key_frame(last: int) -> None:
    """Frames 6 to 10 are deltas of a key frame that left the history before the page read it."""
    history = history_of(stream(1, 5))
    subscription = Subscription(TARGET, history, None, ROOMY)
    feed(subscription, history, stream(6, last))
    history.clear()
    assert taken(subscription) == single(11, last)
    feed(subscription, history, stream(last + 1, 14))
    assert taken(subscription) == single(max(11, last + 1), 14)
    assert (subscription.dropped, subscription.delivered) == (10, 4)
    loss = subscription.next_loss()
    assert loss is not None
    assert (loss.from_seq, loss.to_seq) == (1, 10)


def test_a_page_with_a_baseline_reads_deltas_behind_a_hole() -> None:
    """The baseline names the columns, so the page waits for no other key frame."""
    history = history_of(stream(1, 25, baseline=True))
    while history.frames[0].first_seq < 11 and history.shrink():
        pass
    subscription = Subscription(TARGET, history, None, ROOMY)
    assert subscription.next_frame() is history.earlier_baseline
    feed(subscription, history, stream(26, 28))
    history.clear()
    assert taken(subscription) == single(26, 28)


def test_a_page_ahead_of_a_restarted_backend_gets_only_what_it_has_not() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 7, ROOMY)
    feed(subscription, history, stream(1, 12))
    assert taken(subscription) == single(8, 12)
    assert subscription.dropped == 0


def test_a_slow_page_gets_one_frame_for_many() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, Bounds(4, 1 << 30, 1 << 30))
    feed(subscription, history, stream(1, 5))
    assert subscription.waiting == 1
    assert (subscription.merged, subscription.coalesced) == (4, 0)
    feed(subscription, history, stream(6, 8))
    assert taken(subscription) == [(1, 5), *single(6, 8)]
    assert (subscription.merged, subscription.coalesced) == (0, 4)
    feed(subscription, history, stream(9, 10))
    assert taken(subscription) == single(9, 10)
    assert subscription.dropped == 0


def test_a_queue_is_bounded_in_bytes_too() -> None:
    size = len(frame_bytes(2))
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, Bounds(1000, 3 * size, 1 << 30))
    feed(subscription, history, [frame_bytes(seq) for seq in range(1, 5)])
    assert subscription.waiting == 1
    # Merged frames do not count again, or each frame would be merged at once.
    feed(subscription, history, [frame_bytes(seq) for seq in range(5, 8)])
    assert subscription.waiting == 4


def test_counters_of_a_coalesced_frame_are_the_last_ones() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, Bounds(2, 1 << 30, 1 << 30))
    feed(subscription, history, stream(1, 3))
    frame = subscription.next_frame()
    assert frame is not None
    assert rows_of(frame.data).columns["cpu_run_ns"].tolist() == [300]


def test_a_page_too_far_behind_loses_frames_and_is_reported() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, Bounds(2, 1 << 30, merged_bytes=10))
    feed(subscription, history, stream(1, 3))
    assert subscription.waiting == 0
    assert subscription.dropped == 3
    lost = subscription.next_loss()
    assert lost is not None
    assert (lost.from_seq, lost.to_seq) == (1, 3)
    assert "far behind" in lost.reason
    assert subscription.next_loss() is None
    # A delta would mean nothing now: it goes on at the next key frame.
    feed(subscription, history, [frame_bytes(4), key_frame(5), frame_bytes(6)])
    assert taken(subscription) == single(5, 6)


def test_frames_that_cannot_be_merged_are_counted() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, Bounds(2, 1 << 30, 1 << 30))
    feed(subscription, history, [key_frame(1), frame_bytes(2)[:-40], frame_bytes(3)])
    assert subscription.dropped == 3
    lost = subscription.next_loss()
    assert lost is not None
    assert "coalesced" in lost.reason


def test_a_page_slower_than_the_kept_past_is_reported_what_it_missed() -> None:
    frames = stream(1, 40)
    history = history_of(frames, max_bytes=sum(map(len, frames)))
    subscription = Subscription(TARGET, history, None, ROOMY)
    assert [f.seq for f in (subscription.next_frame(), subscription.next_frame()) if f] == [1, 2]
    history.shrink()
    history.shrink()
    feed(subscription, history, stream(41, 42))
    assert taken(subscription) == single(21, 42)
    assert subscription.dropped == 18
    lost = subscription.next_loss()
    assert lost is not None
    assert (lost.from_seq, lost.to_seq) == (3, 20)


def test_a_past_that_was_coalesced_meanwhile_repeats_nothing() -> None:
    history = history_of(stream(1, 9, key_every=1000))
    subscription = Subscription(TARGET, history, None, ROOMY)
    assert [f.seq for f in (subscription.next_frame(), subscription.next_frame()) if f] == [1, 2]
    feed(subscription, history, stream(10, 12, key_every=1000))
    history.shrink()
    merged = history.after(0)
    assert merged is not None
    assert merged.seq == 7
    assert taken(subscription) == single(8, 12)
    assert subscription.dropped == 5


@pytest.mark.parametrize(
    ("lost", "part"), [((1, 5), None), ((4, 12), (11, 12)), ((11, 12), (11, 12))]
)
def test_a_loss_counts_only_as_far_as_the_page_has_not_got_it(
    lost: tuple[int, int], part: tuple[int, int] | None
) -> None:
    subscription = Subscription(TARGET, history_of(stream(1, 10)), None, ROOMY)
    assert subscription.clip_lost(*lost) == part


def test_a_page_that_has_nothing_yet_has_lost_nothing() -> None:
    assert Subscription(TARGET, history_of([]), None, ROOMY).clip_lost(1, 5) is None


def test_a_key_frame_may_come_again() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, 0, ROOMY)
    frame: StoredFrame = stored(key_frame(1))
    subscription.enqueue(frame)
    subscription.enqueue(frame)
    assert taken(subscription) == [(1, 1)]


def test_a_page_that_comes_late_gets_the_baseline_before_the_history() -> None:
    frames = stream(1, 40, baseline=True)
    history = history_of(frames, max_bytes=sum(map(len, frames)))
    history.shrink()
    subscription = Subscription(TARGET, history, None, ROOMY)
    feed(subscription, history, stream(41, 42))
    assert taken(subscription) == [(1, 1), *single(11, 42)]
    # The frames between are not kept, and no loss.
    assert (subscription.dropped, subscription.next_loss()) == (0, None)


def test_a_page_that_has_a_part_does_not_get_the_baseline_again() -> None:
    frames = stream(1, 40, baseline=True)
    history = history_of(frames, max_bytes=sum(map(len, frames)))
    history.shrink()
    assert taken(Subscription(TARGET, history, 20, ROOMY)) == single(21, 40)


def test_a_waiting_baseline_is_not_coalesced() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, None, Bounds(3, 1 << 30, 1 << 30))
    feed(subscription, history, stream(1, 4, baseline=True))
    assert taken(subscription) == [(1, 1), (2, 4)]
    assert subscription.coalesced == 2


def test_a_waiting_baseline_outlives_frames_that_are_given_up() -> None:
    history = history_of([])
    subscription = Subscription(TARGET, history, None, Bounds(3, 1 << 30, 1))
    feed(subscription, history, stream(1, 5, baseline=True))
    assert taken(subscription) == [(1, 1)]
    # The queued frames, and the one after them, which needs the next key frame.
    assert subscription.dropped == 4
    feed(subscription, history, [key_frame(6)])
    assert taken(subscription) == [(6, 6)]


NO_BOUND = 1 << 30


def filled(
    frames: list[bytes], max_bytes: int = NO_BOUND, max_age_ns: int = NO_BOUND**2
) -> History:
    history = History(max_bytes, max_age_ns)
    for frame in frames:
        history.add(stored(frame))
    return history


def all_of(history: History, after: int | None = None) -> list[StoredFrame]:
    frames = []
    cursor = history.start(after)
    while (frame := history.after(cursor)) is not None:
        frames.append(frame)
        cursor = frame.seq
    return frames


def numbers(history: History, after: int | None = None) -> list[int]:
    return [frame.seq for frame in all_of(history, after)]


def test_nothing_is_kept_before_the_first_key_frame() -> None:
    history = filled([frame_bytes(8), frame_bytes(9), key_frame(10), frame_bytes(11)])
    assert numbers(history) == [10, 11]
    assert history.last_seq == 11


def test_bytes_are_counted() -> None:
    frames = stream(1, 5)
    history = filled(frames)
    assert history.bytes == sum(map(len, frames))
    history.clear()
    assert (history.bytes, len(history), history.last_seq) == (0, 0, 0)


def test_whole_groups_go_when_there_is_too_much() -> None:
    frames = stream(1, 40)
    history = filled(frames, max_bytes=sum(map(len, frames[:35])))
    assert numbers(history) == list(range(11, 41))
    assert history.bytes == sum(map(len, frames[10:]))


def test_whole_groups_go_when_they_are_too_old() -> None:
    # A frame each 0.1 s, a key frame each second: 3 s hold three groups.
    history = filled(stream(1, 60), max_age_ns=3_000_000_000)
    assert numbers(history)[0] == 21
    assert history.after(0) is not None


def test_a_group_that_alone_is_too_much_is_coalesced_from_its_old_end() -> None:
    frames = stream(1, 60, key_every=1000)
    bound = sum(map(len, frames[:20]))
    history = filled(frames, max_bytes=bound)
    kept = all_of(history)
    assert history.bytes <= bound
    assert kept[0].key
    assert kept[0].first_seq == 1
    assert [frame.seq for frame in kept[1:]] == list(range(kept[0].seq + 1, 61))
    header, _ = split(kept[0].data)
    assert header.kind == "key"
    # The state at its last frame, as the delta of that number says.
    assert rows_of(kept[0].data).columns["cpu_run_ns"].tolist() == [kept[0].seq * 100]


def test_frames_that_cannot_be_decoded_are_given_up() -> None:
    broken = [frame_bytes(seq)[:-40] for seq in range(2, 40)]
    history = filled([key_frame(1), *broken], max_bytes=10 * len(broken[0]))
    assert len(history) == 0
    history.add(stored(key_frame(40)))
    assert numbers(history) == [40]


def test_a_reader_without_anything_starts_at_the_oldest_key_frame() -> None:
    assert numbers(filled(stream(11, 25)))[0] == 11


def test_a_reader_that_comes_back_gets_only_what_it_has_not() -> None:
    assert numbers(filled(stream(11, 25)), after=22) == [23, 24, 25]
    assert numbers(filled(stream(11, 25)), after=10)[0] == 11


def test_a_reader_that_has_all_gets_nothing() -> None:
    history = filled(stream(11, 25))
    assert numbers(history, after=25) == []
    assert history.start(99) == 99


def test_a_reader_with_a_hole_starts_afresh_at_a_key_frame() -> None:
    assert numbers(filled(stream(11, 25)), after=4)[0] == 11


def test_an_empty_history_starts_where_the_reader_is() -> None:
    assert History(NO_BOUND, NO_BOUND).start(7) == 7
    assert History(NO_BOUND, NO_BOUND).start(None) == 0


OTHER = "t-200-00000000"
THIRD = "t-300-00000000"


def test_the_largest_target_gives_way_to_the_total() -> None:
    size = sum(map(len, stream(1, 50)))
    store = HistoryStore(NO_BOUND, size, NO_BOUND**2, lambda: 0.0)
    for frame in stream(1, 45):
        store.add(stored(frame))
    for frame in stream(1, 20, target_id=OTHER):
        store.add(stored(frame))
    assert store.bytes <= size
    assert numbers(store.get(OTHER)) == list(range(1, 21))
    assert numbers(store.get("t-100-deadbeef")) == list(range(21, 46))


def test_a_silent_target_gives_way_before_a_larger_one() -> None:
    now = 0.0
    size = sum(map(len, stream(1, 50)))
    store = HistoryStore(NO_BOUND, size, NO_BOUND**2, lambda: now)
    for frame in stream(1, 12, target_id=OTHER):
        store.add(stored(frame))
    now = 100.0
    for frame in stream(1, 45):
        store.add(stored(frame))
    assert 0 < len(store.get(OTHER)) < 12
    assert store.get(OTHER).last_seq == 12
    assert len(numbers(store.get("t-100-deadbeef"))) == 45


def test_an_unknown_target_has_an_empty_history() -> None:
    store = HistoryStore(NO_BOUND, NO_BOUND, NO_BOUND, lambda: 0.0)
    assert len(store.get(THIRD)) == 0
    store.add(stored(key_frame(1)))
    store.remove("t-100-deadbeef")
    assert store.bytes == 0


def test_the_baseline_stays_when_the_frames_around_it_leave() -> None:
    history = filled(stream(1, 60, baseline=True), max_age_ns=3_000_000_000)
    baseline = history.earlier_baseline
    assert baseline is not None
    assert (baseline.seq, baseline.data) == (1, stream(1, 1, baseline=True)[0])
    assert history.frames[0].seq == 21
    assert history.bytes == len(baseline.data) + sum(len(one.data) for one in history.frames)
    assert numbers(history) == list(range(21, 61))
    history.clear()
    assert (history.earlier_baseline, history.bytes) == (None, 0)


def test_a_baseline_among_the_kept_frames_is_not_an_earlier_one() -> None:
    assert filled(stream(1, 20, baseline=True)).earlier_baseline is None


def test_a_baseline_beyond_a_quarter_of_the_bound_leaves_with_the_others() -> None:
    frames = stream(1, 60, baseline=True)
    history = filled(frames, max_bytes=4 * len(frames[0]) - 1)
    assert history.earlier_baseline is None
    assert history.bytes <= 4 * len(frames[0]) - 1


def test_coalescing_leaves_the_baseline_alone() -> None:
    frames = stream(1, 60, key_every=1000, baseline=True)
    history = filled(frames, max_bytes=sum(map(len, frames[:20])))
    kept = all_of(history)
    assert (kept[0].first_seq, kept[0].seq, kept[0].data) == (1, 1, frames[0])
    assert kept[1].first_seq == 2
    assert kept[1].seq > 2
    assert kept[-1].seq == 60
