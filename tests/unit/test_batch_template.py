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
    columns: list[npt.NDArray[np.uint64]], absent: list[npt.NDArray[np.bool_] | None]
) -> bytes:
    made = [
        pa.array(column, field.type, mask=mask)
        for column, mask, field in zip(columns, absent, SCHEMA, strict=True)
    ]
    written: bytes = pa.record_batch(made, schema=SCHEMA).serialize().to_pybytes()
    return written


@given(st.data(), st.integers(1, 70))
def test_batches_are_those_of_pyarrow(data: st.DataObject, rows: int) -> None:
    tids = data.draw(arrays(np.uint32, rows))
    values = data.draw(arrays(np.uint64, (COLUMNS, rows)))
    masks = [
        data.draw(st.none() | arrays(np.bool_, rows, elements=st.booleans()))
        for _ in range(COLUMNS)
    ]
    columns, absent = [tids, *values], [None, *masks]
    assert b"".join(TEMPLATE.encode(columns, absent)) == of_pyarrow(columns, absent)


def test_large_batch_is_read_back_by_arrow() -> None:
    rows = 100_000
    columns = [
        np.arange(rows, dtype=np.uint32),
        *(np.arange(rows, dtype=np.uint64) * np.uint64(n) for n in range(COLUMNS)),
    ]
    absent = [None, np.arange(rows) % 3 == 0, *([None] * (COLUMNS - 1))]
    message = b"".join(TEMPLATE.encode(columns, absent))
    batch = pa.ipc.read_record_batch(pa.py_buffer(message), SCHEMA)
    batch.validate(full=True)
    assert batch.column(1).null_count == np.count_nonzero(absent[1])
    assert np.array_equal(batch.column(COLUMNS).to_numpy(), columns[COLUMNS])


def test_columns_without_a_fixed_width_are_refused() -> None:
    with pytest.raises(ValueError, match="Non-fixed width"):
        BatchTemplate(pa.schema([pa.field("name", pa.utf8())]))
