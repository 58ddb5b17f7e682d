"""The families of /metrics as OTLP metrics. Pure; loaded only where OTLP is switched on.

Names are unchanged except for the `_total` of counters. A summary without quantiles has no OTLP
counterpart, so it becomes two cumulative numbers (`_count`, `_sum`). OpenTelemetry metrics data
model: https://opentelemetry.io/docs/specs/otel/metrics/data-model/
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Metric,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from prometheus_client.metrics_core import Metric as Family
from prometheus_client.samples import Sample

from tidscope_backend import VERSION

UNITS = {
    "seconds": "s",
    "bytes": "By",
    "joules": "J",
    "hertz": "Hz",
    "ratio": "1",
    "cores": "{cores}",
    "": "1",
}
"""Base units in UCUM, as in OpenTelemetry."""


def metrics_data(
    families: Iterable[Family],
    resource: Resource,
    now_ns: int,
    started_ns: int,
    attached_ns: Mapping[str, int],
) -> MetricsData:
    """Build one export's message.

    Args:
        families: families of the Prometheus export.
        resource: resource of the metrics.
        now_ns: Unix time, nanoseconds.
        started_ns: start of the backend's counters.
        attached_ns: start of each target's counters.
    """

    def begun_ns(labels: Mapping[str, str]) -> int:
        return attached_ns.get(labels.get("target", ""), started_ns)

    metrics = [
        Metric(name, family.documentation, UNITS.get(unit, unit), data)
        for family in families
        for name, unit, data in _points(family, now_ns, begun_ns)
    ]
    scope = ScopeMetrics(InstrumentationScope("tidscope", VERSION), metrics, "")
    return MetricsData([ResourceMetrics(resource, [scope], "")])


def _points(
    family: Family, now_ns: int, begun_ns: Callable[[Mapping[str, str]], int]
) -> Iterator[tuple[str, str, Sum | Gauge]]:
    """Return name, unit and points of each OTLP metric of a family; empty without samples."""
    by_name: dict[str, list[Sample]] = {}
    for sample in family.samples:
        by_name.setdefault(sample.name, []).append(sample)
    for name, samples in by_name.items():
        if family.type in ("gauge", "info"):
            points = [_point(sample, 0, now_ns) for sample in samples]
            yield name, family.unit, Gauge(points)
            continue
        points = [_point(sample, begun_ns(sample.labels), now_ns) for sample in samples]
        unit = "" if name.endswith("_count") else family.unit
        yield (
            name.removesuffix("_total"),
            unit,
            Sum(points, AggregationTemporality.CUMULATIVE, is_monotonic=True),
        )


def _point(sample: Sample, begun_ns: int, now_ns: int) -> NumberDataPoint:
    # A double is exact up to 2^53, as in Prometheus' text format.
    return NumberDataPoint(dict(sample.labels), begun_ns, now_ns, float(sample.value))
