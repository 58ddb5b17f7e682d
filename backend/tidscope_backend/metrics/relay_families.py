"""Metric families of the relays that connect hosts over NATS."""

from collections.abc import Iterator, Mapping

from prometheus_client.core import CounterMetricFamily
from prometheus_client.metrics_core import Metric

from tidscope_backend.nats_link.relay_counts import RelayCounts

_FAMILIES = {
    "taken": ("tidscope_relay_frames", "Frames that a host's relay took from its collector."),
    "sent": ("tidscope_relay_frames_sent", "Frames that it sent, counted for each backend."),
    "unwatched": ("tidscope_relay_frames_unwatched", "Frames that nobody watched when they came."),
    "dropped": (
        "tidscope_relay_messages_dropped",
        "Messages that found no NATS server, or too many before them.",
    ),
    "sent_bytes": ("tidscope_relay_sent_bytes", "Bytes of its messages to NATS servers."),
    "reconnects": ("tidscope_relay_reconnects", "Connections to NATS servers after the first one."),
}


def relay_families(relays: Mapping[str, RelayCounts]) -> Iterator[Metric]:
    """Yield the families.

    Args:
        relays: counts by the name of the host's key.
    """
    for field, (name, text) in _FAMILIES.items():
        family = CounterMetricFamily(name, text, labels=["name"])
        for host, counts in sorted(relays.items()):
            family.add_metric([host], getattr(counts, field))
        yield family
