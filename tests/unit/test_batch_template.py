"""Record batches from a template are byte for byte those of pyarrow."""

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tidscope_wire.batch_template import BatchTemplate

COLUMNS = 5
SCHEMA = pa.schema(
    [pa.field("tid", pa.uint32()), *(pa.field(f"f{n}", pa.uint64()) for n in range(COLUMNS))]
)
TEMPLATE = BatchTemplate(SCHEMA)
"""One for all examples: what one batch leaves behind must not show in the next."""


def of_pyarrow(
    tids: npt.NDArray[np.uint32],
    values: npt.NDArray[np.uint64],
    absent: dict[int, npt.NDArray[np.bool_]],
) -> bytes:
    counters = [pa.array(column, mask=absent.get(index)) for index, column in enumerate(values)]
    made = [pa.array(tids), *counters]
    written: bytes = pa.record_batch(made, schema=SCHEMA).serialize().to_pybytes()
    return written


@given(st.data(), st.integers(1, 70))
def test_batches_are_those_of_pyarrow(data: st.DataObject, rows: int) -> None:
    tids = data.draw(arrays(np.uint32, rows))
    values = data.draw(arrays(np.uint64, (COLUMNS, rows)))
    masks = data.draw(
        st.dictionaries(st.integers(0, COLUMNS - 1), arrays(np.bool_, rows, elements=st.booleans()))
    )
    expected = of_pyarrow(tids, values, masks)
    assert TEMPLATE.encode(tids, list(values), masks) == expected
    # A row a thread, as they are read.
    assert TEMPLATE.encode(tids, np.ascontiguousarray(values.T).T, masks) == expected


def test_large_batch_is_read_back_by_arrow() -> None:
    rows = 100_000
    values = np.arange(rows, dtype=np.uint64) * np.arange(COLUMNS, dtype=np.uint64)[:, None]
    gone = np.arange(rows) % 3 == 0
    message = TEMPLATE.encode(np.arange(rows, dtype=np.uint32), values, {0: gone})
    batch = pa.ipc.read_record_batch(pa.py_buffer(message), SCHEMA)
    batch.validate(full=True)
    assert batch.column(1).null_count == np.count_nonzero(gone)
    assert np.array_equal(batch.column(COLUMNS).to_numpy(), values[COLUMNS - 1])


@pytest.mark.parametrize("kinds", [[pa.utf8()], [pa.uint64()], [pa.uint32(), pa.int64()]])
def test_other_columns_are_refused(kinds: list[pa.DataType]) -> None:
    with pytest.raises(ValueError, match="not one uint32 and then uint64"):
        BatchTemplate(pa.schema([pa.field(f"c{n}", kind) for n, kind in enumerate(kinds)]))
