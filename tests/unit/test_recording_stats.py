"""Frames written to the disk, and statistics of them."""

from pathlib import Path
from typing import Any

from backend_builders import frame_bytes, key_frame, rows_of, steering, stored, stream
from builders import collector_health, frame_header
from run_harness import RunHarness
from tidscope_backend.recording.stats import RecordingStats
from tidscope_backend.recording.writer import opening_frames
from tidscope_backend.store.folder import final_state, missing_text
from tidscope_backend.stream.frames import StoredFrame
from tidscope_wire.frame import join, split
from tidscope_wire.generated.models import (
    FrameHeader,
    RunLosses,
    SampleFailed,
    SteeringStarted,
    TargetEvent,
    ThreadBorn,
    ThreadExited,
)

BORN = ThreadBorn(tid=2, start_ns=7, name="new")
SECOND = 1_000_000_000


def kept(*frames: bytes) -> list[StoredFrame]:
    return [stored(frame) for frame in frames]


def numbers(frames: list[bytes]) -> list[tuple[int, int, str]]:
    headers = [split(frame)[0] for frame in frames]
    return [(header.first_seq, header.seq, header.kind) for header in headers]


def test_now_is_one_key_frame_of_all_that_is_alive() -> None:
    (start,) = opening_frames(
        kept(
            key_frame(1), frame_bytes(2, {1: [7, 8], 2: [1, 1]}, events=[BORN]), frame_bytes(3, {})
        ),
        0,
    )
    header, _ = split(start)
    rows = rows_of(start)
    assert (header.first_seq, header.seq, header.kind) == (3, 3, "key")
    # The birth was before the run.
    assert header.events == []
    assert rows.tid.tolist() == [1, 2]
    assert rows.name == ["main", "new"]
    assert rows.columns["cpu_run_ns"].tolist() == [7, 1]


def test_a_key_frame_that_is_there_is_taken() -> None:
    assert numbers(opening_frames(kept(*stream(1, 11)), 0)) == [(11, 11, "key")]


def test_of_the_past_as_much_as_is_wanted() -> None:
    frames = opening_frames(kept(*stream(1, 25)), SECOND)
    assert numbers(frames) == [
        (15, 15, "key"),
        *((seq, seq, "key" if seq == 21 else "delta") for seq in range(16, 26)),
    ]
    # Frames after the first are unchanged.
    assert frames[1:] == stream(16, 25)


def test_of_the_past_as_much_as_there_is() -> None:
    assert numbers(opening_frames(kept(*stream(11, 13)), 60 * SECOND)) == [
        (11, 11, "key"),
        (12, 12, "delta"),
        (13, 13, "delta"),
    ]


def test_nothing_is_kept() -> None:
    assert opening_frames([], SECOND) == []


def test_what_cannot_be_decoded_is_no_beginning() -> None:
    broken = key_frame(1)[:-300]
    assert opening_frames(kept(broken, frame_bytes(2)), 0) == []


def at(seq: int, first_seq: int | None = None, *, shift_us: int = 0, **health: int) -> FrameHeader:
    """A frame of ten a second; its wall clock shifted, its health changed."""
    header = frame_header(seq=seq, first_seq=first_seq, time_ns=seq * 100_000_000)
    return header.model_copy(
        update={
            "unix_us": header.unix_us + shift_us,
            "health": collector_health().model_copy(update=health),
        }
    )


def with_events(header: FrameHeader, *events: TargetEvent) -> FrameHeader:
    return header.model_copy(update={"events": list(events)})


def stats(*headers: FrameHeader) -> RecordingStats:
    made = RecordingStats()
    for header in headers:
        made.add_frame(header)
    made.close()
    return made


def losses(*headers: FrameHeader) -> dict[str, Any]:
    """Values other than 0."""
    return {k: v for k, v in stats(*headers).losses.model_dump().items() if v}


def test_frames_in_a_row_miss_nothing() -> None:
    made = stats(at(5), at(6), at(7))
    assert losses(at(5), at(6), at(7)) == {}
    assert (made.counts.frames, made.counts.thread_samples) == (3, 3)
    assert made.first is not None
    assert made.last is not None
    assert (made.first.time_ns, made.last.time_ns) == (500_000_000, 700_000_000)


def test_holes() -> None:
    assert losses(at(5), at(8), at(9), at(11)) == {
        "frames": 3,
        "gaps": 2,
        "missing_ns": 300_000_000 + 200_000_000,
    }


def test_merged_instants() -> None:
    assert losses(at(5), at(9, 6)) == {"coalesced": 3}
    # One that starts before the last frame stands again only for what is behind it.
    assert losses(at(5), at(9, 4)) == {"coalesced": 3}
    assert losses(at(5), at(9, 8)) == {
        "coalesced": 1,
        "frames": 2,
        "gaps": 1,
        "missing_ns": 4 * 10**8,
    }


def test_what_was_before_the_run_is_not_counted() -> None:
    first = at(5, missed_deadlines=7, exit_records_lost=3)
    assert losses(first) == {}
    later = at(6, exits_without_event=5, network_calls_uncounted=6)
    assert losses(first, later) == {"exits_without_event": 5, "network_calls_uncounted": 6}
    assert losses(first, at(6, missed_deadlines=9, exit_records_lost=4)) == {
        "deadlines_missed": 2,
        "exit_records_lost": 1,
    }


def test_samples_that_failed() -> None:
    assert losses(at(5), with_events(at(6), SampleFailed(reason="r"))) == {"samples_failed": 1}


def test_the_wall_clock_is_set() -> None:
    day = 86_400_000_000
    assert losses(at(5), at(6, shift_us=day), at(7, shift_us=day), at(8)) == {"clock_jumps": 2}
    assert losses(at(5), at(6, shift_us=-600_000)) == {"clock_jumps": 1}
    # Slewing is no jump.
    assert losses(at(5), at(6, shift_us=400_000), at(7, shift_us=800_000)) == {}


def test_threads_are_those_that_were_there_and_those_that_were_born() -> None:
    born = ThreadBorn(tid=9, start_ns=1, name="a")
    # The first instant tells of a birth before it.
    made = stats(with_events(at(5), born), with_events(at(6), born, born))
    assert made.counts.threads == 2 + 2
    assert made.counts.events == 3
    # One that was never seen alive was not born for us either.
    ended = ThreadExited(tid=8, start_ns=1, name="b", totals={}, exact=True, seen_alive=False)
    known = ended.model_copy(update={"tid": 9, "seen_alive": True})
    assert stats(at(5), with_events(at(6), born, ended, known)).counts.threads == 2 + 2


def test_frames_that_are_announced_as_lost() -> None:
    made = RecordingStats()
    made.add_frame(at(5))
    made.frames_lost(8)
    made.add_frame(at(9))
    made.close()
    assert (made.losses.frames, made.losses.gaps) == (3, 1)
    made.frames_lost(12)
    made.close()
    assert (made.losses.frames, made.losses.gaps) == (6, 2)


def test_policies() -> None:
    made = RecordingStats()
    made.add_initial_policy(None, 1)
    made.add_initial_policy(steering(policy="pss"), 1)
    began = SteeringStarted(
        policy="fixed",
        shadow=True,
        knob="pool-agent",
        signal="queue-wait",
        proxy=False,
        lower=1,
        upper=2,
        size=2,
        actor="a",
    )
    made.add_frame(with_events(at(5), began))
    assert [(one.policy, one.time_ns) for one in made.policies] == [
        ("pss", 1),
        ("fixed", 500_000_000),
    ]


def test_how_counters_were_read_is_kept_in_order_and_once() -> None:
    sources = (None, "genetlink", "walk", "walk", "genetlink")
    headers = [
        at(seq).model_copy(update={"counters_from": source})
        for seq, source in enumerate(sources, 5)
    ]
    assert stats(*headers).counters_from == ["genetlink", "walk"]


def test_in_words() -> None:
    assert missing_text(stats(at(5)).losses) == ""
    made = stats(at(5), at(7), with_events(at(10), SampleFailed(reason="r")))
    made.losses.truncated_bytes = 1
    made.losses.exit_records_lost = 2
    assert missing_text(made.losses) == (
        "3 frames in 2 gaps (0.5 s), 1 byte of a truncated frame, 1 failed sample, 2 exit records"
    )


def test_a_run_that_lost_anything_is_never_complete() -> None:
    """Whatever is counted as a loss, but for what only makes a run coarser or moves its dates."""
    coarser = {"coalesced", "deadlines_missed", "clock_jumps", "tail_samples"}
    none = stats(at(5)).losses
    assert final_state("complete", none) == "complete"
    for name in RunLosses.model_fields:
        state = final_state("complete", none.model_copy(update={name: 1}))
        unseen = name in coarser or name == "missing_ns"
        assert state == ("complete" if unseen else "incomplete"), name
        assert final_state("interrupted", none.model_copy(update={name: 1})) == "interrupted"
    # Unknown is no zero.
    assert final_state("complete", none.model_copy(update={"tail_exits": None})) == "incomplete"


async def test_rows_are_counted_without_decoding_them(tmp_path: Path) -> None:
    harness = RunHarness(tmp_path)
    await harness.start()
    try:
        header, body = split(frame_bytes(1))
        garbage = b"\xff" * len(body)
        await harness.written(key_frame(1))
        manifest = await harness.begin()
        for seq in (2, 3):
            reported = header.model_copy(update={"seq": seq, "first_seq": seq, "rows": 7})
            await harness.written(join(reported, garbage))
        await harness.recorder.stop(manifest.id)
        assert harness.manifest(manifest.id).counts.thread_samples == 1 + 7 + 7
    finally:
        await harness.stop()
