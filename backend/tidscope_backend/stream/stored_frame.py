"""A frame as the backend keeps it: the bytes as they came, and what routing needs to know."""

from dataclasses import dataclass

from tidscope_wire.frame import Fields, key_fields, split
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
        fields: the counter columns of its stream, which a delta frame does not name; None: there
            was no key frame yet.
    """

    target: str
    first_seq: int
    seq: int
    key: bool
    baseline: bool
    time_ns: int
    data: bytes
    fields: Fields | None

    @property
    def span(self) -> int:
        """How many frames of the stream it stands for."""
        return self.seq - self.first_seq + 1


def parse_frame(data: bytes, fields: Fields | None) -> StoredFrame:
    """Check a frame's header and keep what routing needs; the rows stay encoded.

    Args:
        data: the whole binary message.
        fields: of the key frame before it; None: there was none.

    Raises:
        tidscope_wire.frame.FrameError: it is not a frame.
    """
    header, body = split(data)
    return store_frame(header, data, body, fields)


def store_frame(
    header: FrameHeader, data: bytes, body: memoryview, fields: Fields | None
) -> StoredFrame:
    """Keep a frame that was split already.

    Raises:
        tidscope_wire.frame.FrameError: it is a key frame with other columns than one has.
    """
    return StoredFrame(
        target=header.target,
        first_seq=header.first_seq,
        seq=header.seq,
        key=header.kind == "key",
        baseline=header.baseline,
        time_ns=header.time_ns,
        data=data,
        fields=key_fields(header, body) if header.kind == "key" else fields,
    )
