"""Trace documents as tables of spans. Large documents are read by a limited process.

A JSON parser expands three bytes to 64 or more and holds the interpreter lock until its end. In the
backend, a large document would block for a second and take a gigabyte.
"""

import json
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa
from tidscope_confinement.resources import Limits
from tidscope_traces.spans.jaeger import read_jaeger
from tidscope_traces.spans.model import Span
from tidscope_traces.spans.otlp import read_otlp
from tidscope_traces.spans.reading import BadTracesError, Bounds, ReadSpans, TooManyError

from tidscope_backend.exchange.confinement import ENVIRONMENT
from tidscope_backend.processes import bound_to_parent, run_module

PROGRAM = "tidscope_backend.traces.limited_reading"
SMALL_BYTES = 256 * 1024
"""Maximum document length read in the backend, in bytes; starting a process takes longer."""
READ, REFUSED, TOO_MANY = "read", "refused", "too-many"
BASE_BYTES = 320 * 2**20
"""Address space of a process after its imports, in bytes."""
BYTES_PER_BYTE = 16
"""Additional address space per byte of the document; real documents need 11."""
BASE_SECONDS, SECONDS_PER_MIB = 10, 1


@dataclass(frozen=True)
class Batch:
    """Spans of one document.

    Attributes:
        table: spans with the columns of `SCHEMA`.
        rejected: number of malformed spans.
        reasons: problems of the first malformed spans, at most 10.
    """

    table: pa.Table
    rejected: int
    reasons: Sequence[str]

    @classmethod
    def of(cls, read: ReadSpans) -> "Batch":
        """Make a batch of spans."""
        return cls(table_of(read.spans), read.rejected, read.reasons)


def read_batch(data: bytes, bounds: Bounds) -> Batch:
    """Read Jaeger's JSON, or OTLP's JSON as one document or one per line; blocks.

    Raises:
        BadTracesError: the text has neither format.
        TooManyError: the document exceeds the bounds, or the limits of the reading process.
    """
    if len(data) <= SMALL_BYTES:
        return Batch.of(read_document(data, bounds))
    return _read_limited(data, bounds, limits_of(len(data)))


def limits_of(size: int) -> Limits:
    """Return the resource limits of a process that reads a document of `size` bytes."""
    seconds = BASE_SECONDS + SECONDS_PER_MIB * (size >> 20)
    return Limits(
        memory_bytes=BASE_BYTES + BYTES_PER_BYTE * size,
        cpu_s=seconds,
        wall_s=4 * seconds,
        open_files=64,
    )


def _read_limited(data: bytes, bounds: Bounds, limits: Limits) -> Batch:
    orders = json.dumps({"limits": limits._asdict(), "bounds": asdict(bounds)})
    with subprocess.Popen(
        bound_to_parent(run_module(PROGRAM, orders)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
    ) as process:
        answer, _ = process.communicate(data)
        code = process.returncode
    if code in (-signal.SIGKILL, -signal.SIGXCPU, -signal.SIGALRM):
        raise TooManyError(f"reading it takes more than {limits.cpu_s} s; divide it")
    head, _, rest = answer.partition(b"\n")
    if code or not head:
        raise TooManyError("reading it takes more memory than it may use; divide it")
    kind, rejected, reasons = json.loads(head)
    if kind != READ:
        raise {REFUSED: BadTracesError, TOO_MANY: TooManyError}[kind](reasons[0])
    table = decode(rest)
    table.validate(full=True)
    return Batch(table, rejected, reasons)


SCHEMA = pa.schema(
    [
        ("trace_id", pa.utf8()),
        ("span_id", pa.utf8()),
        ("parent_id", pa.utf8()),
        ("service", pa.utf8()),
        ("operation", pa.utf8()),
        ("start_ns", pa.int64()),
        ("end_ns", pa.int64()),
        ("kind", pa.utf8()),
        ("error", pa.bool_()),
        ("pid", pa.int64()),
        ("thread_id", pa.int64()),
        ("follows", pa.bool_()),
        ("attributes", pa.map_(pa.utf8(), pa.utf8())),
    ]
)
"""Names are those of `Span`; docs/traces.md describes the columns."""


def table_of(spans: Sequence[Span]) -> pa.Table:
    """Return spans as a table, in order; text that is not Unicode becomes "?"."""
    columns: list[Sequence[object]] = list(zip(*spans, strict=True)) or [()] * len(SCHEMA)
    columns[-1] = [list(span.attributes.items()) for span in spans]
    arrays = []
    for values, column in zip(columns, SCHEMA, strict=True):
        try:
            arrays.append(pa.array(values, column.type))
        except UnicodeEncodeError:
            arrays.append(pa.array([_encodable(value) for value in values], column.type))
    return pa.Table.from_arrays(arrays, schema=SCHEMA)


def spans_of(table: pa.Table) -> list[Span]:
    """Return rows of such a table as spans; the columns of `table` may be in any order."""
    columns = [table[name].to_pylist() for name in SCHEMA.names]
    columns[-1] = [dict(one) for one in columns[-1]]
    return [Span(*values) for values in zip(*columns, strict=True)]


def encode(table: pa.Table) -> bytes:
    """Encode a table as bytes."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, SCHEMA) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())


def decode(data: bytes) -> pa.Table:
    """Decode a table from `encode`. Raises ValueError if the data is invalid."""
    try:
        with pa.ipc.open_stream(pa.py_buffer(data)) as reader:
            table = reader.read_all()
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"not a batch of spans: {error}") from None
    if table.schema != SCHEMA:
        raise ValueError("a batch of spans with other columns")
    return table


def _encodable(value: object) -> object:
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, list):
        return [tuple(_encodable(part) for part in pair) for pair in value]
    return value


def read_document(data: bytes, bounds: Bounds | None = None) -> ReadSpans:
    """Read Jaeger's JSON, or OTLP's JSON as one document or one per line.

    Raises:
        BadTracesError: the text has neither format.
        TooManyError: the document exceeds the bounds.
    """
    try:
        document = _parse(data)
    except (ValueError, RecursionError):
        raise BadTracesError("the file is not JSON") from None
    first = document[0] if isinstance(document, list) and document else document
    if isinstance(first, dict) and "resourceSpans" in first:
        return read_otlp(document, bounds)
    if isinstance(first, dict) and ("data" in first or "spans" in first):
        return read_jaeger(document, bounds)
    raise BadTracesError("the file has neither Jaeger's `data` nor OTLP's `resourceSpans`")


def _parse(data: bytes) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError:
        lines = [line for line in data.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [json.loads(line) for line in lines]
