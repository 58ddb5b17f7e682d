"""The head of a frame, for readers of headers alone: it loads neither Arrow nor numpy."""

import struct

from tidscope_wire.generated.limits import MAX_HEADER_BYTES

LENGTH = struct.Struct("<I")


class FrameError(ValueError):
    """A binary message is not a frame; the text says why."""


def split_text(frame: bytes) -> tuple[bytes, memoryview]:
    """Take a frame apart: the text of its header, unchecked, and what is behind it.

    Raises:
        FrameError: it is not a frame.
    """
    if len(frame) < LENGTH.size:
        raise FrameError(f"a frame has at least {LENGTH.size} bytes, this one {len(frame)}")
    (length,) = LENGTH.unpack_from(frame)
    end = LENGTH.size + length
    if length > MAX_HEADER_BYTES or end > len(frame):
        raise FrameError(f"header of {length} bytes in a frame of {len(frame)}")
    if end % 8:
        raise FrameError(f"the Arrow part starts at {end}, which is not a multiple of 8")
    return frame[LENGTH.size : end], memoryview(frame)[end:]
