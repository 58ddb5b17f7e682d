"""Counters that a program serves to Prometheus, as people write them: PORT:PATH#NAME."""

from pydantic import ValidationError
from tidscope_wire.generated.models import PrometheusCounter


def parse_counter(text: str) -> PrometheusCounter:
    """Read a counter's place. Raises ValueError with the remedy."""
    port, _, rest = text.partition(":")
    path, _, metric = rest.rpartition("#")
    try:
        return PrometheusCounter(port=int(port), path=path, metric=metric)
    except (ValidationError, ValueError):
        raise ValueError(
            f"{text}: use PORT:PATH#NAME, such as 9100:/metrics#http_requests_total"
        ) from None
