"""Documents of traces as tables of spans. Large ones are read by a limited process.

A parser of JSON makes 64 bytes and more of three, and holds the interpreter's lock until it is
done: the backend would stop for a second, and take a gigabyte.
"""

import json
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import pyarrow as pa
from tidscope_confinement.resources import Limits
from tidscope_traces.spans.reading import BadTracesError, Bounds, ReadSpans, TooManyError

from tidscope_backend.exchange.confinement import ENVIRONMENT
from tidscope_backend.parent_death import bound_to_parent, run_module
from tidscope_backend.traces.columns import decode, table_of
from tidscope_backend.traces.documents import read_document

PROGRAM = "tidscope_backend.traces.limited_reading"
SMALL_BYTES = 256 * 1024
"""A document up to this length is read in the backend: starting a process takes longer."""
READ, REFUSED, TOO_MANY = "read", "refused", "too-many"
BASE_BYTES = 320 * 2**20
"""Address space of a process that has loaded what it needs."""
BYTES_PER_BYTE = 16
"""Address space that it may use on top, per byte of the document; real ones take 11."""
BASE_SECONDS, SECONDS_PER_MIB = 10, 1


@dataclass(frozen=True)
class Batch:
    """Spans that were read together.

    Attributes:
        table: the spans; its columns are those of `columns.SCHEMA`.
        rejected: spans left out because something in them was wrong.
        reasons: what was wrong in the first of them, at most 10.
    """

    table: pa.Table
    rejected: int
    reasons: Sequence[str]

    @classmethod
    def of(cls, read: ReadSpans) -> "Batch":
        """Spans as they were read."""
        return cls(table_of(read.spans), read.rejected, read.reasons)


def read_batch(data: bytes, bounds: Bounds) -> Batch:
    """Read Jaeger's JSON, or OTLP's JSON: a document, or one a line; blocks.

    Raises:
        BadTracesError: it is neither.
        TooManyError: it holds more than the bounds, or takes more than a limited process may use.
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
