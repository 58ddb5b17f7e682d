"""Counters in what a program serves to Prometheus."""

import math
from collections.abc import Mapping

from tidscope_collector.foreign.own_server import NotServedError

MOST_SAMPLES = 10_000
LONGEST_LINE = 8192


def add_up(text: str, name: str) -> float | None:
    """Sum of the samples of a counter, over all labels; None if there are none.

    Args:
        text: in the Prometheus text format.
        name: of the samples, such as http_requests_total.

    Raises:
        NotServedError: it is not in that format, or a sample is no number, or there are too many.
    """
    # Loaded with the modules of an HTTP server, so only by a collector that reads some.
    from prometheus_client.parser import text_string_to_metric_families

    # A counter whose samples lack the ending gets it when it is parsed.
    family = name.removesuffix("_total")
    wanted = (family, f"# TYPE {family}")
    lines = [line for line in text.split("\n") if line.startswith(wanted)]
    if len(lines) > MOST_SAMPLES or any(len(line) > LONGEST_LINE for line in lines):
        raise NotServedError(
            f"The target serves {name} with more than {MOST_SAMPLES} labels, or longer than "
            f"{LONGEST_LINE} characters."
        )
    try:
        found = [
            sample.value
            for metric in text_string_to_metric_families("\n".join(lines) + "\n")
            for sample in metric.samples
            if sample.name == name
        ]
    except (ValueError, KeyError, IndexError) as error:
        raise NotServedError(f"The target's answer is not Prometheus text: {error}.") from error
    if not found:
        return None
    total = math.fsum(found) if all(map(math.isfinite, found)) else math.nan
    if not math.isfinite(total) or total < 0:
        raise NotServedError(f"The counter {name} is {total}.")
    return total


def samples_of(text: str, prefixes: tuple[str, ...]) -> list[tuple[str, Mapping[str, str], float]]:
    """Samples whose names begin so: name, labels, value.

    Args:
        text: in the Prometheus text format.
        prefixes: of the names.

    Raises:
        NotServedError: it is not in that format, or there are too many.
    """
    from prometheus_client.parser import text_string_to_metric_families

    lines = [line for line in text.split("\n") if line.startswith(prefixes)]
    if len(lines) > MOST_SAMPLES or any(len(line) > LONGEST_LINE for line in lines):
        raise NotServedError(
            f"The target serves more than {MOST_SAMPLES} samples, or longer than {LONGEST_LINE} "
            "characters."
        )
    try:
        return [
            (sample.name, sample.labels, sample.value)
            for family in text_string_to_metric_families("\n".join(lines) + "\n")
            for sample in family.samples
        ]
    except (ValueError, KeyError, IndexError) as error:
        raise NotServedError(f"The target's answer is not Prometheus text: {error}.") from error
