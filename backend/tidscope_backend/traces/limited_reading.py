"""Reader of a trace document, run in a limited process that a hostile document may exhaust.

`python -m tidscope_backend.traces.limited_reading ORDERS` reads a document from standard input.
Standard output starts with a line of JSON: the kind of result, the number of rejected spans, and
reasons. If the document was read, the spans follow as an Arrow stream.
"""

import json
import sys

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_backend.exchange.confinement import confine


def main() -> int:
    """Run the command line."""
    orders = json.loads(sys.argv[1])
    limit_resources(Limits(**orders["limits"]))
    confine((), None)
    # Import after confine, which needs a single-threaded process.
    import pyarrow as pa
    from tidscope_traces.spans.reading import BadTracesError, Bounds, TooManyError

    from tidscope_backend.traces.batches import (
        READ,
        REFUSED,
        TOO_MANY,
        Batch,
        encode,
        read_document,
    )

    pa.set_cpu_count(1)
    pa.set_io_thread_count(1)
    content = b""
    try:
        batch = Batch.of(read_document(sys.stdin.buffer.read(), Bounds(**orders["bounds"])))
        head: tuple[str, int, list[str]] = (READ, batch.rejected, list(batch.reasons))
        content = encode(batch.table)
    except TooManyError as error:
        head = (TOO_MANY, 0, [str(error)])
    except BadTracesError as error:
        head = (REFUSED, 0, [str(error)])
    except (MemoryError, pa.ArrowMemoryError):
        head = (TOO_MANY, 0, ["reading it takes more memory than it may use; divide it"])
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + content)
    return 0


if __name__ == "__main__":
    sys.exit(main())
