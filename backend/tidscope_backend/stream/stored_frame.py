"""A frame as the backend keeps it: the bytes as they came, and what routing needs to know."""

from dataclasses import dataclass

from tidscope_wire.frame import split
from tidscope_wire.generated.models import FrameHeader


@dataclass(frozen=True, slots=True)
class StoredFrame:
    """One frame, not decoded.

    Attributes:
        target: whose frame it is.
        first_seq: first frame that it stands for.
        seq: its number; more than first_seq if frames were coalesced.
        key: whether it is a key frame, at which a reader can start.
        baseline: whether it has the counters at attach; see FrameHeader.baseline.
        time_ns: nanoseconds since attach.
        data: the whole binary message.
    """

    target: str
    first_seq: int
    seq: int
    key: bool
    baseline: bool
    time_ns: int
    data: bytes

    @property
    def span(self) -> int:
        """How many frames of the stream it stands for."""
        return self.seq - self.first_seq + 1


def parse_frame(data: bytes) -> StoredFrame:
    """Check a frame's header and keep what routing needs; the rows stay encoded.

    Raises:
        tidscope_wire.frame.FrameError: it is not a frame.
    """
    header, _ = split(data)
    return store_frame(header, data)


def store_frame(header: FrameHeader, data: bytes) -> StoredFrame:
    """Keep a frame whose header was read already."""
    return StoredFrame(
        target=header.target,
        first_seq=header.first_seq,
        seq=header.seq,
        key=header.kind == "key",
        baseline=header.baseline,
        time_ns=header.time_ns,
        data=data,
    )
