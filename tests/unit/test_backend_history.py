"""The kept past: bounded, starts at a key frame, and says where a reader begins."""

from backend_builders import frame_bytes, key_frame, rows_of, stored, stream
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import History, HistoryStore
from tidscope_wire.frame import split

ROOMY = 1 << 30


def filled(frames: list[bytes], max_bytes: int = ROOMY, max_age_ns: int = ROOMY**2) -> History:
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
    assert History(ROOMY, ROOMY).start(7) == 7
    assert History(ROOMY, ROOMY).start(None) == 0


OTHER = "t-200-00000000"
THIRD = "t-300-00000000"


def test_the_largest_target_gives_way_to_the_total() -> None:
    size = sum(map(len, stream(1, 50)))
    store = HistoryStore(ROOMY, size, ROOMY**2, lambda: 0.0)
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
    store = HistoryStore(ROOMY, size, ROOMY**2, lambda: now)
    for frame in stream(1, 12, target_id=OTHER):
        store.add(stored(frame))
    now = 100.0
    for frame in stream(1, 45):
        store.add(stored(frame))
    assert 0 < len(store.get(OTHER)) < 12
    assert store.get(OTHER).last_seq == 12
    assert len(numbers(store.get("t-100-deadbeef"))) == 45


def test_an_unknown_target_has_an_empty_history() -> None:
    store = HistoryStore(ROOMY, ROOMY, ROOMY, lambda: 0.0)
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
