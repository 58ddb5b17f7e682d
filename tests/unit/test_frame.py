"""The frame codec: what is written is read, and what is not a frame is refused."""

import json
import struct
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from builders import frame_header
from tidscope_wire.frame import FrameError, RowEncoder, Rows, decode_frame, decode_rows, join, split
from tidscope_wire.generated.models import FrameHeader

FIELDS = ("cpu_run_ns", "blkio_delay_ns")


def delta_rows() -> Rows:
    return Rows(
        tid=np.array([7, 4_000_000], np.uint32),
        columns={
            "cpu_run_ns": np.array([1, 2**64 - 1], np.uint64),
            "blkio_delay_ns": np.array([5, 99], np.uint64),
        },
        absent={"blkio_delay_ns": np.array([False, True])},
    )


def test_a_delta_is_read_as_it_was_written() -> None:
    header, body = split(join(frame_header(seq=3), RowEncoder(FIELDS).encode(delta_rows())))
    rows = decode_rows(body)
    assert header.seq == 3
    assert rows.tid.tolist() == [7, 4_000_000]
    assert rows.columns["cpu_run_ns"].tolist() == [1, 2**64 - 1]
    assert rows.absent["blkio_delay_ns"].tolist() == [False, True]
    assert "cpu_run_ns" not in rows.absent
    assert rows.name is None


def test_a_key_frame_carries_identity() -> None:
    delta = delta_rows()
    key = Rows(
        delta.tid, delta.columns, delta.absent, np.array([-5, 9], np.int64), ["main", "wörker-1"]
    )
    rows = decode_rows(RowEncoder(FIELDS).encode(key))
    assert rows.start_ns is not None
    assert rows.start_ns.tolist() == [-5, 9]
    assert rows.name == ["main", "wörker-1"]


@pytest.mark.parametrize("name", ["key", "delta", "empty", "events", "many"])
def test_the_arrow_part_is_what_arrows_own_writer_writes(name: str) -> None:
    golden = (Path(__file__).parent.parent / "contract" / "frames" / f"{name}.bin").read_bytes()
    rows = decode_rows(split(golden)[1])
    body = RowEncoder(tuple(rows.columns)).encode(rows)
    with pa.ipc.open_stream(body) as reader:
        batches = list(reader)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        writer.write_batch(batches[0])
    assert body == sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name_length", range(9))
def test_the_arrow_part_is_aligned_whatever_the_header(name_length: int) -> None:
    header = frame_header(target=f"t-{'1' * (name_length + 1)}-deadbeef")
    frame = join(header, b"")
    assert (struct.unpack_from("<I", frame)[0] + 4) % 8 == 0
    assert split(frame)[0] == header


def test_a_schema_is_not_mixed_up_with_data() -> None:
    header = frame_header()
    assert FrameHeader.model_validate(json.loads(header.model_dump_json())) == header


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        (b"", "at least 4 bytes"),
        (b"\xff\xff\xff\xff" + b"x" * 20, "header of 4294967295 bytes"),
        (struct.pack("<I", 100) + b"{}", "header of 100 bytes in a frame of 6"),
        (struct.pack("<I", 2) + b"{}", "not a multiple of 8"),
        (struct.pack("<I", 4) + b"nope", "bad header"),
        (struct.pack("<I", 4) + b"{}  ", "bad header"),
    ],
)
def test_what_is_not_a_frame_is_refused(frame: bytes, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        split(frame)


@pytest.mark.parametrize("cut", [0, 1, 40, 200])
def test_a_truncated_arrow_part_is_refused(cut: int) -> None:
    body = RowEncoder(FIELDS).encode(delta_rows())
    with pytest.raises(FrameError, match="Arrow"):
        decode_rows(body[:cut])


def stream(arrays: list[tuple[str, pa.Array]], *, batches: int = 1) -> bytes:
    schema = pa.schema([pa.field(name, array.type) for name, array in arrays])
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for _ in range(batches):
            writer.write_batch(pa.record_batch([array for _, array in arrays], schema=schema))
    return bytes(sink.getvalue())


TID = ("tid", pa.array([1, 2], pa.uint32()))
COUNTER = ("cpu_run_ns", pa.array([3, 4], pa.uint64()))
START = ("start_ns", pa.array([5, 6], pa.int64()))
NAME = ("name", pa.array(["a", "b"], pa.utf8()))


def test_the_streams_below_would_be_read_but_for_what_is_wrong_with_them() -> None:
    rows = decode_rows(stream([TID, START, NAME, COUNTER]))
    assert (rows.tid.tolist(), rows.name) == ([1, 2], ["a", "b"])


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ([COUNTER], "column tid"),
        ([("tid", pa.array([1, 2], pa.int32()))], "column tid"),
        ([("tid", pa.array([1, None], pa.uint32()))], "column tid has rows without a value"),
        ([TID, COUNTER, COUNTER], "two columns have one name"),
        ([TID, TID], "two columns have one name"),
        ([TID, ("cpu_run_ns", pa.array([3, 4], pa.int64()))], "cpu_run_ns is int64, not uint64"),
        ([TID, ("cpu_run_ns", pa.array([3.5, 4], pa.float64()))], "is double, not uint64"),
        ([TID, START], "column name"),
        ([TID, NAME], "column start_ns"),
        ([TID, ("start_ns", pa.array([5, None], pa.int64())), NAME], "start_ns has rows without"),
        ([TID, START, ("name", pa.array(["a", None], pa.utf8()))], "name has rows without"),
        ([TID, START, ("name", pa.array([b"a", b"b"], pa.binary()))], "column name"),
    ],
)
def test_columns_that_no_frame_has_are_refused(
    arrays: list[tuple[str, pa.Array]], complaint: str
) -> None:
    with pytest.raises(FrameError, match=complaint):
        decode_rows(stream(arrays))


@pytest.mark.parametrize(("batches", "complaint"), [(0, "bad Arrow stream"), (2, "more than one")])
def test_a_stream_has_one_batch(batches: int, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        decode_rows(stream([TID, COUNTER], batches=batches))


def test_a_stream_that_unpacks_to_more_than_its_size_is_refused_unread() -> None:
    """Kilobytes that would be 120 MB: a dictionary and compression inside the batch."""
    rows = 10_000_000
    schema = pa.schema([("tid", pa.uint32()), ("cpu_run_ns", pa.uint64())])
    zeros = [pa.array(np.zeros(rows, np.uint32)), pa.array(np.zeros(rows, np.uint64))]
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(pa.record_batch(zeros, schema=schema))
    bomb = bytes(sink.getvalue())
    assert len(bomb) < 8192
    before = pa.total_allocated_bytes()
    with pytest.raises(FrameError, match="compressed"):
        decode_rows(bomb)
    assert pa.total_allocated_bytes() - before < rows
    named = pa.array(["a", "b"]).dictionary_encode()
    with pytest.raises(FrameError, match="dictionary"):
        decode_rows(stream([TID, START, ("name", named), COUNTER]))


def test_a_frame_with_other_rows_than_its_header_counts_is_refused() -> None:
    golden = (Path(__file__).parent.parent / "contract" / "frames" / "delta.bin").read_bytes()
    header, body = split(golden)
    assert len(decode_frame(golden)[1].tid) == header.rows
    wrong = join(header.model_copy(update={"rows": header.rows + 1}), bytes(body))
    with pytest.raises(FrameError, match="3 rows, the batch has 2"):
        decode_frame(wrong)
    of_another_kind = join(header.model_copy(update={"kind": "key"}), bytes(body))
    with pytest.raises(FrameError, match="another kind"):
        decode_frame(of_another_kind)
