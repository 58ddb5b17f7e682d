"""The frames that a run begins with."""

from backend_builders import frame_bytes, key_frame, rows_of, stored, stream
from tidscope_backend.recording.writer import opening_frames
from tidscope_backend.stream.frames import StoredFrame
from tidscope_wire.frame import split
from tidscope_wire.generated.models import ThreadBorn

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
    # What follows the first is as it came.
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
