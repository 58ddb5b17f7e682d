"""A frame as the sampler hands it over: encoded, with what the replay buffer needs to know."""

from typing import NamedTuple


class SampledFrame(NamedTuple):
    """One encoded frame.

    Attributes:
        seq: its number in the target's stream.
        data: the whole binary message.
        key: whether it is a key frame.
        baseline: whether it has the counters at attach; see FrameHeader.baseline.
    """

    seq: int
    data: bytes
    key: bool
    baseline: bool = False
