"""Record batches from a template are byte for byte those of pyarrow."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tidscope_wire.record_batches import BatchWriter

MAX_COLUMNS = 5
WRITER = BatchWriter()
"""One for all examples: what one batch leaves behind must not show in the next."""


def schema_of(columns: int) -> pa.Schema:
    counters = [pa.field(f"f{n}", pa.uint64()) for n in range(columns)]
    return pa.schema([pa.field("tid", pa.uint32()), *counters])


def of_pyarrow(
    tids: npt.NDArray[np.uint32],
    values: npt.NDArray[np.uint64],
    absent: dict[int, npt.NDArray[np.bool_]],
) -> bytes:
    counters = [pa.array(column, mask=absent.get(index)) for index, column in enumerate(values)]
    made = [pa.array(tids), *counters]
    written: bytes = pa.record_batch(made, schema=schema_of(len(values))).serialize().to_pybytes()
    return written


@given(st.data(), st.integers(1, 70), st.integers(0, MAX_COLUMNS))
def test_batches_are_those_of_pyarrow(data: st.DataObject, rows: int, columns: int) -> None:
    tids = data.draw(arrays(np.uint32, rows))
    values = data.draw(arrays(np.uint64, (columns, rows)))
    mask = arrays(np.bool_, rows, elements=st.booleans())
    masks = data.draw(st.dictionaries(st.integers(0, columns - 1), mask)) if columns else {}
    expected = of_pyarrow(tids, values, masks)
    assert WRITER.encode(tids, list(values), masks) == expected
    # A row a thread, as they are read.
    assert WRITER.encode(tids, np.ascontiguousarray(values.T).T, masks) == expected


def test_large_batch_is_read_back_by_arrow() -> None:
    rows = 100_000
    values = np.arange(rows, dtype=np.uint64) * np.arange(MAX_COLUMNS, dtype=np.uint64)[:, None]
    gone = np.arange(rows) % 3 == 0
    message = WRITER.encode(np.arange(rows, dtype=np.uint32), values, {0: gone})
    batch = pa.ipc.read_record_batch(pa.py_buffer(message), schema_of(MAX_COLUMNS))
    batch.validate(full=True)
    assert batch.column(1).null_count == np.count_nonzero(gone)
    assert np.array_equal(batch.column(MAX_COLUMNS).to_numpy(), values[MAX_COLUMNS - 1])
