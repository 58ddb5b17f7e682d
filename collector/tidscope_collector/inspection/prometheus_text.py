"""Questions about Prometheus text, answered by limited children."""

from tidscope_confinement.resources import Limits, limit_resources
from tidscope_wire.prometheus_text import MAX_BYTES, PrometheusTextError, add_up, read_samples

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import MEMORY_BYTES, Arguments, say
from tidscope_collector.inspection.process_files import read_beginning

MAX_ANSWERED = 4096
"""Maximum samples in one answer; further ones are left out."""
PARSE_S = 2.0
"""Timeout for parsing, in seconds. With fetching it stays below the limit of a release."""


def prometheus_counter(arguments: Arguments, answer: int) -> None:
    """Answer the sum of a counter over all labels; the text is sent behind the question.

    Arguments: metrics: the one counter. Answers: {"damaged": reason}, or {"total"}, null if there
    is no such counter, and {}.
    """
    text = _read(answer)
    try:
        total = add_up(text, arguments["metrics"][0])
    except PrometheusTextError as error:
        say(answer, {"damaged": str(error)})
        return
    say(answer, {"total": total})
    say(answer, {})


def prometheus_samples(arguments: Arguments, answer: int) -> None:
    """Answer samples of some metrics; the text is sent behind the question.

    Arguments: metrics: names of metrics. Answers: {"damaged": reason}, or {"name", "labels",
    "value"} for the first MAX_ANSWERED, value as text, and {} at the end.
    """
    text = _read(answer)
    try:
        found = list(read_samples(text, arguments["metrics"]))
    except PrometheusTextError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in found[:MAX_ANSWERED]:
        # Values are text because JSON has no infinity.
        say(answer, {"name": one.name, "labels": one.labels, "value": repr(one.value)})
    say(answer, {})


def _read(answer: int) -> bytes:
    limit_resources(Limits(MEMORY_BYTES, 2, PARSE_S))
    confine()
    return read_beginning(answer, MAX_BYTES + 1)
