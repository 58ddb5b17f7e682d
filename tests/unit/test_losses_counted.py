"""Every frame is accounted for: offered = delivered + coalesced + dropped, whatever happens."""

import asyncio
import errno
import os
import tempfile
from pathlib import Path

import pytest
from backend_builders import frame_bytes, key_frame, stored
from hypothesis import example, given, settings
from hypothesis import strategies as st
from run_harness import RunHarness
from tidscope_backend.store.frame_files import PartFile
from tidscope_backend.store.reader import RunReader
from tidscope_backend.stream.fanout import MAX_NOTES, SendWindow, Subscriber
from tidscope_backend.stream.frames import StoredFrame
from tidscope_backend.stream.history import History
from tidscope_backend.stream.subscription import Bounds, Subscription
from tidscope_wire.frame import split
from tidscope_wire.generated.limits import MAX_UNACKNOWLEDGED_BYTES, MAX_UNACKNOWLEDGED_FRAMES
from tidscope_wire.generated.models import FramesLost
from tidscope_wire.problems import ProblemError, refusal

TARGET = "t-100-deadbeef"
KEY_EVERY = 5
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("frame"), st.integers(1, 3)),  # Number of frames that it stands for.
        st.tuples(st.just("broken"), st.just(1)),  # True if it cannot be merged.
        st.tuples(st.just("hole"), st.integers(1, 4)),  # Number of frames lost on the way.
        st.tuples(st.just("take"), st.integers(1, 6)),
    ),
    max_size=60,
)


def frame_of(seq: int, span: int, *, broken: bool = False) -> StoredFrame:
    key = seq % KEY_EVERY == 0
    data = key_frame(seq) if key else frame_bytes(seq, first_seq=seq - span + 1)
    if broken:
        _, body = split(data)
        # The schema of a key frame is read at once, its rows when they are merged.
        whole = len(data) - len(body) + (8 + int.from_bytes(body[4:8], "little") if key else 0)
        data = data[:whole].ljust(len(data), b"\0")
    return stored(data)


@settings(max_examples=300)
@given(
    before=STEPS,
    after=STEPS,
    bounds=st.tuples(st.integers(1, 6), st.integers(2000, 60_000), st.integers(1000, 60_000)),
    kept=st.integers(3000, 60_000),
    has=st.one_of(st.none(), st.integers(0, 30)),
)
@example(
    # The kept past merges two frames over a hole between them, after the page has begun.
    before=[("frame", 2), ("frame", 3), ("hole", 1), ("frame", 1)],
    after=[("broken", 1)],
    bounds=(1, 2000, 1000),
    kept=3000,
    has=None,
)
def test_what_is_offered_to_a_page_is_delivered_coalesced_or_dropped(
    before: list[tuple[str, int]],
    after: list[tuple[str, int]],
    bounds: tuple[int, int, int],
    kept: int,
    has: int | None,
) -> None:
    history = History(kept, 1 << 62)
    seq = 0
    added = 0
    for what, count in before:
        seq += count
        if what in ("frame", "broken"):
            history.add(frame_of(seq, count, broken=what == "broken"))
            added += 1
    assert history.added == added == len(history) + history.coalesced + history.dropped
    subscription = Subscription(TARGET, history, has, Bounds(*bounds))
    start = history.start(has)
    offered = sum(
        frame.seq - max(frame.first_seq, start + 1) + 1
        for frame in history.frames
        if frame.seq > start
    )
    delivered = 0
    newest = max(history.last_seq, start)
    begun = has is not None or len(history) > 0
    for what, count in [*after, ("take", 1000)]:
        if what == "take":
            for _ in range(count):
                delivered += subscription.next_frame() is not None
                while subscription.next_loss() is not None:
                    pass
            continue
        seq += count
        if what == "hole":
            continue
        frame = frame_of(seq, count, broken=what == "broken")
        history.add(frame)
        begun = begun or frame.key
        if begun and frame.seq > newest:
            offered += frame.seq - max(frame.first_seq, newest + 1) + 1
            newest = frame.seq
        subscription.enqueue(frame)
    baselines = delivered - subscription.delivered
    assert baselines in (0, 1)
    assert subscription.waiting == 0
    assert offered == subscription.delivered + subscription.coalesced + subscription.dropped


@settings(max_examples=25)
@given(
    steps=st.lists(
        st.one_of(
            st.tuples(st.just("frame"), st.integers(1, 3)),
            st.tuples(st.just("hole"), st.integers(1, 4)),
            st.tuples(st.just("announced"), st.integers(1, 4)),
            st.tuples(st.just("stall"), st.integers(1, 8)),
        ),
        max_size=25,
    ),
    fails=st.booleans(),
)
def test_what_is_offered_to_a_run_is_appended_or_a_counted_loss(
    steps: list[tuple[str, int]], fails: bool
) -> None:
    asyncio.run(_recorded(steps, fails))


async def _recorded(steps: list[tuple[str, int]], fails: bool) -> None:
    with tempfile.TemporaryDirectory() as home:
        harness = RunHarness(Path(home), max_queued_bytes=30_000)
        await harness.start()
        await harness.written(key_frame(5))
        run = (await harness.begin()).id
        seq = 5
        for what, count in steps:
            if what == "stall":
                # More than may wait, while the disk is busy.
                busy = asyncio.create_task(harness.disk.record(_wait_for_pipe, pipe := os.pipe()))
                await asyncio.sleep(0)
                for _ in range(count):
                    seq += 1
                    harness.send(frame_of(seq, 1).data)
                os.write(pipe[1], b"x")
                await busy
            else:
                seq += count
                if what == "frame":
                    await harness.written(frame_of(seq, count).data)
                elif what == "announced":
                    lost = FramesLost(
                        target=TARGET, from_seq=seq - count + 1, to_seq=seq, reason="r"
                    )
                    harness.recorder.frames_lost(lost)
                else:
                    seq -= count
        if fails:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(PartFile, "append", _full)
                seq += 1
                await harness.written(frame_of(seq, 1).data)
                await harness.recorder.wait_saved()
            done = harness.manifest(run)
            assert (done.state, done.end) == ("interrupted", "disk-full")
        else:
            done = await harness.recorder.stop(run)
        appended = len(RunReader(harness.folder(run).path).signals())
        lost_frames = done.losses.frames
        assert done.counts.frames == appended
        # From the frame that it starts with to the newest one there was.
        assert appended + done.losses.coalesced + lost_frames == seq - 4
        assert done.state == (
            "interrupted" if fails else "incomplete" if lost_frames else "complete"
        )
        assert harness.recorder.lost == lost_frames
        # A thread does the last write, and a stop does not wait for it.
        await harness.sealer.idle()
        await harness.stop()


def _wait_for_pipe(pipe: tuple[int, int]) -> None:
    os.read(pipe[0], 1)
    for end in pipe:
        os.close(end)


def _full(part: PartFile, frame: bytes) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_page_that_gave_up_counts_what_passes_until_the_next_key_frame() -> None:
    subscription = Subscription(TARGET, History(1, 1), 0, Bounds(2, 1 << 20, 1))
    for seq in range(1, 5):
        subscription.enqueue(frame_of(seq, 1))
    assert subscription.dropped == 4
    lost = [subscription.next_loss(), subscription.next_loss()]
    assert [(one.from_seq, one.to_seq) for one in lost if one] == [(1, 4)]
    subscription.enqueue(frame_of(5, 1))
    assert (subscription.next_frame() or frame_of(1, 1)).seq == 5


def test_losses_not_reported_to_a_page_are_counted() -> None:
    subscriber = Subscriber(Bounds(10, 1 << 20, 1 << 20), sees_arguments=True)
    for seq in range(MAX_NOTES + 3):
        subscriber.enqueue_problem(refusal("bad-request", f"number {seq}", "try again").problem)
    assert subscriber.notices_dropped == 3


def telling() -> SendWindow:
    window = SendWindow()
    window.acknowledge(0)
    return window


def test_a_page_that_never_tells_gets_everything() -> None:
    window = SendWindow()
    for _ in range(10 * MAX_UNACKNOWLEDGED_FRAMES):
        window.sent(MAX_UNACKNOWLEDGED_BYTES)
    assert window.open


def test_it_closes_with_the_last_frame_that_fits_and_opens_with_the_first_taken() -> None:
    window = telling()
    for sent in range(MAX_UNACKNOWLEDGED_FRAMES):
        assert window.open, sent
        window.sent(1)
    assert not window.open
    window.acknowledge(1)
    assert window.open


def test_bytes_count_too_but_one_frame_may_always_go() -> None:
    window = telling()
    window.sent(2 * MAX_UNACKNOWLEDGED_BYTES)
    assert not window.open
    window.acknowledge(1)
    assert window.open
    window.sent(MAX_UNACKNOWLEDGED_BYTES - 1)
    assert window.open
    window.sent(1)
    assert not window.open
    window.acknowledge(2)
    assert window.open


@pytest.mark.parametrize("frames", [1, 5])
def test_what_cannot_be_is_refused_and_changes_nothing(frames: int) -> None:
    window = telling()
    window.sent(1)
    window.sent(1)
    window.acknowledge(2)
    with pytest.raises(ProblemError):
        window.acknowledge(frames)
    window.sent(1)
    window.acknowledge(3)
