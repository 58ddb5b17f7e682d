"""What one page gets of one target, in which order, and what is counted when it is slow."""

import pytest
from backend_builders import frame_bytes, key_frame, rows_of, stored, stream
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import History
from tidscope_backend.stream.subscription import Bounds, Subscription

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
    # What is merged already does not count again: else each frame would be merged at once.
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
    # What lies between is not kept, and no loss.
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
    # Those that waited, and the one behind them: it needs the key frame that comes next.
    assert subscription.dropped == 4
    feed(subscription, history, [key_frame(6)])
    assert taken(subscription) == [(6, 6)]
