"""The frames that a run starts with, from the history of its target. Pure."""

from collections.abc import Sequence

from tidscope_wire.frame import FrameError, join, split

from tidscope_backend.stream.frames import StoredFrame, merge


def opening_frames(frames: Sequence[StoredFrame], past_ns: int) -> list[bytes]:
    """Choose the frames of the last `past_ns`, the first of them a key frame.

    If the first is not one, it is merged with the frames since the last key frame. Events before
    the run are not part of it, so the first frame carries none and stands for itself alone.

    Args:
        frames: of the history, in order.
        past_ns: how far back from the newest of them; 0: only the newest.

    Returns:
        Frames; empty if there is no history or it cannot be decoded: then the run starts with the
        next key frame.
    """
    if not frames:
        return []
    since = frames[-1].time_ns - past_ns
    first = next(place for place, frame in enumerate(frames) if frame.time_ns >= since)
    key = next((place for place in range(first, -1, -1) if frames[place].key), None)
    if key is None:
        return []
    try:
        start = merge([frame.data for frame in frames[key : first + 1]])
        header, body = split(start)
    except FrameError:
        return []
    alone = header.model_copy(update={"first_seq": header.seq, "events": []})
    return [join(alone, bytes(body)), *(frame.data for frame in frames[first + 1 :])]
