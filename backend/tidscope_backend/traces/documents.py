"""Documents of traces: which format they are, and their spans."""

import json
from typing import Any

from tidscope_traces.spans.jaeger import read_jaeger
from tidscope_traces.spans.otlp import read_otlp
from tidscope_traces.spans.reading import BadTracesError, Bounds, ReadSpans


def read_document(data: bytes, bounds: Bounds | None = None) -> ReadSpans:
    """Read Jaeger's JSON, or OTLP's JSON: a document, or one a line.

    Raises:
        BadTracesError: it is neither.
        TooManyError: it holds more than the bounds.
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
