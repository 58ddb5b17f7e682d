"""The frame codec: what is written is read, and what is not a frame is refused."""

import json
import struct
from dataclasses import replace
from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from builders import frame_header
from golden_cases import golden_frames
from tidscope_wire.frame import (
    END_OF_STREAM,
    CounterMatrix,
    FrameDecoder,
    FrameError,
    RowEncoder,
    Rows,
    decode_delta,
    decode_key,
    join,
    key_fields,
    split,
)
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
    body = RowEncoder(FIELDS).encode(delta_rows())
    header, rows = FrameDecoder(FIELDS).decode(join(frame_header(seq=3, rows=2), body))
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
    rows = decode_key(RowEncoder(FIELDS).encode(key).data)
    assert rows.start_ns is not None
    assert rows.start_ns.tolist() == [-5, 9]
    assert rows.name == ["main", "wörker-1"]


def rows_of(columns: list[list[int]], absent: dict[str, list[bool]], *, key: bool) -> Rows:
    """Rows of FIELDS, by columns."""
    count = len(columns[0])
    return Rows(
        np.arange(count, dtype=np.uint32),
        {name: np.array(column, np.uint64) for name, column in zip(FIELDS, columns, strict=True)},
        {name: np.array(mask) for name, mask in absent.items()},
        np.arange(count) if key else None,
        ["x"] * count if key else None,
    )


@pytest.mark.parametrize("key", [False, True])
@pytest.mark.parametrize("as_matrix", [False, True])
@pytest.mark.parametrize(
    ("columns", "absent", "has"),
    [
        ([[1, 0], [0, 2]], {}, None),
        ([[0, 0], [0, 2]], {}, [1]),
        ([[3, 4], [0, 0]], {}, [0]),
        ([[0, 0], [0, 0]], {}, []),
        # Absent is not 0.
        ([[0, 0], [1, 0]], {"cpu_run_ns": [True, False]}, None),
        ([[0, 0], [1, 0]], {"cpu_run_ns": [False, False]}, [1]),
    ],
)
def test_columns_that_are_0_are_left_out_and_come_back(
    columns: list[list[int]],
    absent: dict[str, list[bool]],
    has: list[int] | None,
    as_matrix: bool,
    key: bool,
) -> None:
    rows = rows_of(columns, absent, key=key)
    if as_matrix:
        matrix = CounterMatrix(FIELDS, np.array(columns, np.uint64).T)
        rows = replace(rows, columns=matrix)
    encoded = RowEncoder(FIELDS).encode(rows)
    assert (encoded.columns, encoded.fields) == (has, FIELDS if key else None)
    header = frame_header(kind="key" if key else "delta", rows=2)
    found_header, found = FrameDecoder(FIELDS).decode(join(header, encoded))
    assert found_header.columns == has
    assert list(found.columns) == list(FIELDS)
    for name, column in zip(FIELDS, columns, strict=True):
        gone = found.absent.get(name, np.zeros(2, np.bool_)).tolist()
        assert gone == absent.get(name, [False, False])
        values = zip(found.columns[name].tolist(), column, gone, strict=True)
        assert all(no or value == other for value, other, no in values)


@pytest.mark.parametrize("columns", [[2], [0, 0], [1, 0], [0, 1, 1], []])
@pytest.mark.parametrize("key", [False, True])
def test_positions_that_no_column_has_are_refused(columns: list[int], key: bool) -> None:
    rows = rows_of([[1], [2]], {}, key=key)
    encoded = RowEncoder(FIELDS).encode(rows)._replace(columns=columns)
    frame = join(frame_header(kind="key" if key else "delta", rows=1), encoded)
    with pytest.raises(FrameError, match=r"not positions|the header does not say|1 columns"):
        FrameDecoder(FIELDS).decode(frame)


@pytest.mark.parametrize(
    ("fields", "complaint"),
    [
        (("cpu_run_ns", "cpu_run_ns"), "two columns have one name"),
        (("tid", "cpu_run_ns"), "two columns have one name"),
        (("cpu_run_ns", "other"), "the header does not say"),
        (("cpu_run_ns",), "the header does not say"),
    ],
)
def test_a_key_frame_with_other_columns_than_its_header_names_is_refused(
    fields: tuple[str, ...], complaint: str
) -> None:
    encoded = RowEncoder(FIELDS).encode(rows_of([[1], [2]], {}, key=True))
    frame = join(frame_header(kind="key", rows=1), encoded._replace(fields=fields))
    with pytest.raises(FrameError, match=complaint):
        FrameDecoder().decode(frame)


def test_a_key_frame_whose_header_names_nothing_has_all_columns() -> None:
    encoded = RowEncoder(FIELDS).encode(rows_of([[1], [0]], {}, key=True))
    frame = join(frame_header(kind="key", rows=1), encoded._replace(fields=None, columns=None))
    assert list(FrameDecoder().decode(frame)[1].columns) == ["cpu_run_ns"]
    assert key_fields(*split(frame)) == ("cpu_run_ns",)


GOLDEN = golden_frames()


@pytest.mark.parametrize("name", ["key", "many"])
def test_a_key_frame_is_what_arrows_own_writer_writes(name: str) -> None:
    header, given = split(GOLDEN[name])
    rows = decode_key(given, header.fields, header.columns)
    body = RowEncoder(tuple(rows.columns)).encode(rows).data
    with pa.ipc.open_stream(body) as reader:
        batches = list(reader)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batches[0].schema) as writer:
        writer.write_batch(batches[0])
    assert body == sink.getvalue().to_pybytes()


@pytest.mark.parametrize("name", ["delta", "coalesced", "events"])
def test_a_delta_frame_is_read_by_arrow_with_the_schema_of_the_key_frame(name: str) -> None:
    fields = key_fields(*split(GOLDEN["key"]))
    header, body = split(GOLDEN[name])
    chosen = fields if header.columns is None else [fields[place] for place in header.columns]
    schema = pa.schema([("tid", pa.uint32()), *((field, pa.uint64()) for field in chosen)])
    batch = pa.ipc.read_record_batch(pa.py_buffer(body), schema)
    batch.validate(full=True)
    rows = decode_delta(body, fields, header.columns)
    assert batch.column("tid").to_pylist() == rows.tid.tolist()
    assert list(rows.columns) == list(fields)
    for field, values in rows.columns.items():
        if field not in chosen:
            assert not values.any()
            continue
        gone = rows.absent.get(field, np.zeros(len(values), np.bool_))
        pairs = zip(values.tolist(), gone.tolist(), strict=True)
        assert batch.column(field).to_pylist() == [None if no else value for value, no in pairs]
    assert bytes(body) == RowEncoder(tuple(rows.columns)).encode(rows).data
    assert bytes(body) == batch.serialize().to_pybytes()


def test_a_delta_frame_without_rows_has_nothing_behind_its_header() -> None:
    none = Rows(np.empty(0, np.uint32), dict.fromkeys(FIELDS, np.empty(0, np.uint64)), {})
    body = RowEncoder(FIELDS).encode(none)
    assert body.data == b""
    # The frame has no columns, so it may precede the key frame.
    _, rows = FrameDecoder().decode(join(frame_header(rows=0), body))
    assert (rows.tid.tolist(), rows.columns) == ([], {})
    _, rows = FrameDecoder(FIELDS).decode(join(frame_header(rows=0), body))
    assert list(rows.columns) == list(FIELDS)


@pytest.mark.parametrize(
    ("kind", "rows", "body"), [("delta", 1, b""), ("key", 0, b""), ("delta", 0, bytes(8))]
)
def test_rows_are_there_if_the_header_counts_them(
    kind: Literal["key", "delta"], rows: int, body: bytes
) -> None:
    with pytest.raises(FrameError, match=f"a {kind} frame of {rows} rows has {len(body)} bytes"):
        split(join(frame_header(kind=kind, rows=rows), body))


def test_a_delta_before_its_key_frame_is_refused() -> None:
    delta, key = (GOLDEN[name] for name in ("delta", "key"))
    decoder = FrameDecoder()
    with pytest.raises(FrameError, match="no key frame before it"):
        decoder.decode(delta)
    decoder.decode(key)
    assert len(decoder.decode(delta)[1].tid) == 2
    assert decoder.fields == tuple(decoder.decode(delta)[1].columns)


@pytest.mark.parametrize("name_length", range(9))
def test_the_arrow_part_is_aligned_whatever_the_header(name_length: int) -> None:
    header = frame_header(target=f"t-{'1' * (name_length + 1)}-deadbeef")
    header = header.model_copy(update={"rows": 0})
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


@pytest.mark.parametrize("cut", [1, 40, 200, -8, -1])
def test_a_truncated_arrow_part_is_refused(cut: int) -> None:
    body = RowEncoder(FIELDS).encode(delta_rows()).data
    with pytest.raises(FrameError, match="Arrow"):
        decode_delta(body[:cut], FIELDS)
    _, key = split(GOLDEN["key"])
    with pytest.raises(FrameError, match="Arrow"):
        decode_key(key[: cut if cut > 0 else -80])


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
KEY = [TID, START, NAME]


def test_the_streams_below_would_be_read_but_for_what_is_wrong_with_them() -> None:
    rows = decode_key(stream([TID, START, NAME, COUNTER]))
    assert (rows.tid.tolist(), rows.name) == ([1, 2], ["a", "b"])


@pytest.mark.parametrize(
    ("arrays", "complaint"),
    [
        ([START, NAME, COUNTER], "column tid"),
        ([("tid", pa.array([1, 2], pa.int32())), START, NAME], "column tid"),
        ([("tid", pa.array([1, None], pa.uint32())), START, NAME], "column tid has rows without"),
        ([TID, START, NAME, COUNTER, COUNTER], "two columns have one name"),
        ([TID, START, NAME, TID], "two columns have one name"),
        ([*KEY, ("cpu_run_ns", pa.array([3, 4], pa.int64()))], "cpu_run_ns is int64, not uint64"),
        ([*KEY, ("cpu_run_ns", pa.array([3.5, 4], pa.float64()))], "is double, not uint64"),
        ([TID, START], "column name"),
        ([TID, NAME], "column start_ns"),
        ([TID, COUNTER], "column start_ns"),
        ([TID, ("start_ns", pa.array([5, None], pa.int64())), NAME], "start_ns has rows without"),
        ([TID, START, ("name", pa.array(["a", None], pa.utf8()))], "name has rows without"),
        ([TID, START, ("name", pa.array([b"a", b"b"], pa.binary()))], "column name"),
    ],
)
def test_columns_that_no_frame_has_are_refused(
    arrays: list[tuple[str, pa.Array]], complaint: str
) -> None:
    with pytest.raises(FrameError, match=complaint):
        decode_key(stream(arrays))


@pytest.mark.parametrize(("batches", "complaint"), [(0, "bad Arrow stream"), (2, "more than one")])
def test_a_stream_has_one_batch(batches: int, complaint: str) -> None:
    with pytest.raises(FrameError, match=complaint):
        decode_key(stream([*KEY, COUNTER], batches=batches))


def test_a_stream_that_unpacks_to_more_than_its_size_is_refused_unread() -> None:
    """Kilobytes that would be 120 MB: a dictionary and compression inside the batch."""
    rows = 10_000_000
    types = {"tid": np.uint32, "start_ns": np.int64, "cpu_run_ns": np.uint64}
    zeros = [pa.array(np.zeros(rows, kind)) for kind in types.values()]
    schema = pa.schema(list(zip(types, (one.type for one in zeros), strict=True)))
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        writer.write_batch(pa.record_batch(zeros, schema=schema))
    bomb = bytes(sink.getvalue())
    assert len(bomb) < 8192
    before = pa.total_allocated_bytes()
    with pytest.raises(FrameError, match="compressed"):
        decode_key(bomb)
    assert pa.total_allocated_bytes() - before < rows
    named = pa.array(["a", "b"]).dictionary_encode()
    with pytest.raises(FrameError, match="dictionary"):
        decode_key(stream([TID, START, ("name", named), COUNTER]))


def test_a_delta_that_unpacks_to_more_than_its_size_is_refused_unread() -> None:
    rows = 10_000_000
    zeros = [pa.array(np.zeros(rows, np.uint32)), pa.array(np.zeros(rows, np.uint64))]
    batch = pa.record_batch(zeros, ["tid", "a"])
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="zstd")
    with pa.ipc.new_stream(sink, batch.schema, options=options) as writer:
        schema = len(batch.schema.serialize())
        writer.write_batch(batch)
    bomb = sink.getvalue().to_pybytes()[schema : -len(END_OF_STREAM)]
    assert len(bomb) < 8192
    before = pa.total_allocated_bytes()
    with pytest.raises(FrameError, match="compressed"):
        decode_delta(bomb, ("a",))
    assert pa.total_allocated_bytes() - before < rows


def batch_of(*arrays: pa.Array) -> bytes:
    names = [str(index) for index in range(len(arrays))]
    return bytes(pa.record_batch(list(arrays), names).serialize())


@pytest.mark.parametrize(
    ("body", "complaint"),
    [
        (batch_of(TID[1]), "1 nodes and 2 buffers for 2 columns"),
        (batch_of(TID[1], COUNTER[1], COUNTER[1]), "3 nodes and 6 buffers for 2 columns"),
        (batch_of(TID[1], NAME[1]), "2 nodes and 5 buffers"),
        (batch_of(TID[1], TID[1]), "column 1 has 8 bytes for 2 rows"),
        (batch_of(pa.array([1, None], pa.uint32()), COUNTER[1]), "tid has rows without"),
        (batch_of(TID[1], COUNTER[1]) + END_OF_STREAM, "a body of"),
        (batch_of(TID[1], COUNTER[1]) * 2, "a body of"),
        (batch_of(TID[1][:0], COUNTER[1][:0]), "a batch without rows"),
        (stream([TID, COUNTER]), "not a record batch"),
        (b"\0" * 64, "does not start with a message"),
        (b"\xff" * 64, "does not start with a message"),
        (b"\xff\xff\xff\xff\x08\0\0\0\xf0\xff\xff\xff\0\0\0\0", "cut off"),
        (b"\xff\xff\xff\xff\x08\0\0\0\x04\0\0\0\x7f\0\0\0", "begins before its buffer"),
    ],
)
def test_deltas_of_other_columns_are_refused(body: bytes, complaint: str) -> None:
    assert decode_delta(batch_of(TID[1], COUNTER[1]), ("a",)).tid.tolist() == [1, 2]
    with pytest.raises(FrameError, match=complaint):
        decode_delta(body, ("a",))


def test_a_frame_with_other_rows_than_its_header_counts_is_refused() -> None:
    golden = GOLDEN["key"]
    header, body = split(golden)
    assert len(FrameDecoder().decode(golden)[1].tid) == header.rows
    wrong = join(header.model_copy(update={"rows": header.rows + 1}), bytes(body))
    with pytest.raises(FrameError, match="4 rows, the batch has 3"):
        FrameDecoder().decode(wrong)
    of_another_kind = join(header.model_copy(update={"kind": "delta"}), bytes(body))
    with pytest.raises(FrameError, match="not a record batch"):
        FrameDecoder(FIELDS).decode(of_another_kind)
