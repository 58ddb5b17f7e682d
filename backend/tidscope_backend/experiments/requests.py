"""Traces of requests for the workload `pool-trace`, from spans or from a recorded run. Pure.

A request computes for its execution time and sleeps for `free_workload` times as long. A request
that lasted D is therefore replayed with an execution time of D / (1 + free_workload).
"""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from tidscope_backend.experiments.workload import ExperimentError

SERVED = (2, 5, "SPAN_KIND_SERVER", "SPAN_KIND_CONSUMER")
"""Kinds of spans that are requests (opentelemetry/proto/trace/v1/trace.proto, SpanKind)."""
MAX_REQUESTS = 1_000_000
HEAD = "# request application start execution: times in µs, start after the previous request."


class Request(NamedTuple):
    """A request: start on any clock, client, and duration."""

    start_ns: int
    application: str
    duration_ns: float


def requests_of_spans(text: str) -> list[Request]:
    """Extract requests from spans in OTLP/JSON, as written by the collector's file exporter.

    Spans of servers and consumers are requests; otherwise root spans are.

    Args:
        text: an ExportTraceServiceRequest, or one per line.

    Raises:
        ExperimentError: the text has another form, or contains no request.
    """
    try:
        spans = list(_spans(text))
        served = [one for one in spans if one[1].get("kind") in SERVED]
        chosen = served or [one for one in spans if not one[1].get("parentSpanId")]
        found = [
            Request(
                start_ns=int(span["startTimeUnixNano"]),
                application=service,
                duration_ns=int(span["endTimeUnixNano"]) - int(span["startTimeUnixNano"]),
            )
            for service, span in chosen
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ExperimentError(f"these are no spans of OTLP/JSON: {error}") from None
    return _checked(found, "a span of a server")


def _spans(text: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield all spans with the names of their services."""
    decoder, at = json.JSONDecoder(), 0
    text = text.strip()
    while at < len(text):
        document, at = decoder.raw_decode(text, at)
        while at < len(text) and text[at].isspace():
            at += 1
        for resource in document["resourceSpans"]:
            attributes = resource.get("resource", {}).get("attributes", [])
            names = {one["key"]: one["value"].get("stringValue", "") for one in attributes}
            for scope in resource.get("scopeSpans", []):
                for span in scope.get("spans", []):
                    yield names.get("service.name", ""), span


def requests_of_pool(readings: Sequence[Mapping[str, Any]], pool: str) -> list[Request]:
    """Extract the requests of a pool of a run, from counters read about once a second.

    Requests of an interval are spread evenly over it. Each lasts as long as the average job that
    finished in the interval.

    Args:
        readings: rows of `pool_readings`.
        pool: name of the pool; empty for the one with the most jobs.

    Raises:
        ExperimentError: the run does not have the pool, or the pool had no job.
    """
    counted = [row for row in readings if row["finished"] is not None]
    name = pool or max(
        (row["name"] for row in counted),
        key=lambda name: max(row["finished"] for row in counted if row["name"] == name),
        default="",
    )
    rows = [row for row in counted if row["name"] == name]
    found = []
    for before, after in itertools.pairwise(rows):
        finished, run_ns = _grown(before, after, "finished"), _grown(before, after, "run_ns")
        submitted = _grown(before, after, "submitted")
        came = finished if submitted is None else submitted
        if not came or not finished or run_ns is None:
            continue
        from_ns, to_ns = before["read_ns"], after["read_ns"]
        found += [
            Request(from_ns + (to_ns - from_ns) * number // came, name, run_ns / finished)
            for number in range(min(came, MAX_REQUESTS))
        ]
    return _checked(
        found, f"a finished job of pool {name!r}" if name else "a pool that counts jobs"
    )


def _grown(before: Mapping[str, Any], after: Mapping[str, Any], name: str) -> int | None:
    if before[name] is None or after[name] is None:
        return None
    return max(0, int(after[name]) - int(before[name]))


def _checked(found: list[Request], wanted: str) -> list[Request]:
    if not found:
        raise ExperimentError(f"there is no request: it needs {wanted}")
    return sorted(found)[:MAX_REQUESTS]


def trace_text(requests: Sequence[Request], free_workload: float) -> str:
    """Format the trace, one request per line.

    Args:
        requests: by time.
        free_workload: sleep time as a multiple of the execution time.
    """
    applications = {name: at for at, name in enumerate(sorted({one[1] for one in requests}), 1)}
    lines, before_ns = [HEAD], requests[0].start_ns
    for number, one in enumerate(requests, 1):
        # Round the sums, so that the trace has the original total length.
        start_us = round(one.start_ns / 1000) - round(before_ns / 1000)
        before_ns = one.start_ns
        execution_us = max(1, round(one.duration_ns / 1000 / (1 + free_workload)))
        lines.append(f"{number} {applications[one.application]} {start_us} {execution_us}")
    return "\n".join([*lines, ""])
