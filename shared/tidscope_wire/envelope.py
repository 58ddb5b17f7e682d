"""The outside of frames: a length, a header as JSON, and what is behind it, still encoded.

Programs that only pass frames on import this module, which loads neither numpy nor pyarrow.
"""

import struct

from tidscope_wire.generated.limits import MAX_HEADER_BYTES
from tidscope_wire.generated.models import FrameHeader

LENGTH = struct.Struct("<I")


class FrameError(ValueError):
    """A binary message is not a frame; the text says why."""


def split(frame: bytes) -> tuple[FrameHeader, memoryview]:
    """Take a frame apart.

    Returns:
        The header, checked against its schema, and what is behind it, still encoded: the rows,
        `row_bytes` of it, and the tables.

    Raises:
        FrameError: it is not a frame.
    """
    text, body = split_text(frame)
    try:
        header = FrameHeader.model_validate_json(text)
    except ValueError as error:
        raise FrameError(f"bad header: {error}") from error
    _check_lengths(header, body)
    return header, body


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


def _check_lengths(header: FrameHeader, body: memoryview) -> None:
    tables = header.tables or ()
    if len({table.name for table in tables}) != len(tables):
        raise FrameError("two tables have one name")
    rows = row_bytes(header, body)
    if rows < 0:
        raise FrameError(f"tables of {len(body) - rows} bytes in {len(body)}")
    if tables and (rows % 8 or any(table.bytes % 8 for table in tables)):
        raise FrameError("a table does not stand at a multiple of 8")
    if bool(rows) != (header.kind == "key" or header.rows > 0):
        raise FrameError(
            f"a {header.kind} frame of {header.rows} rows has {rows} bytes behind its header"
        )


def row_bytes(header: FrameHeader, body: bytes | memoryview) -> int:
    """Length of the rows in the data behind a header, in bytes; the tables follow."""
    return len(body) - sum(table.bytes for table in header.tables or ())
