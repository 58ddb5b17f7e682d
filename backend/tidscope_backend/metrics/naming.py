"""From the field catalogue to Prometheus: names, units and help texts.

Rules of https://prometheus.io/docs/practices/naming/: base units, the unit in the name, `_total` at
the end of a counter.
"""

from typing import NamedTuple

from tidscope_wire.generated.models import CatalogueField


class Unit(NamedTuple):
    """A unit of the catalogue, in Prometheus' terms.

    Attributes:
        suffix: what the catalogue's names end with, and what takes its place.
        base: name of the base unit; "" if a number has none.
        divisor: base units are the value divided by it.
    """

    suffix: tuple[str, str]
    base: str
    divisor: int


UNITS = {
    "ns": Unit(("_ns", "_seconds"), "seconds", 1_000_000_000),
    "us": Unit(("_us", "_seconds"), "seconds", 1_000_000),
    "bytes": Unit(("_bytes", "_bytes"), "bytes", 1),
    # blkio_count goes with blkio_delay_ns; `_count` is kept for histograms and summaries.
    "count": Unit(("_count", "_delays"), "", 1),
}
"""Each unit of the catalogue."""

OF_ROLE = "All threads of the role, those that ended since attach included."


class FieldMetric(NamedTuple):
    """How a field of the catalogue is reported.

    Attributes:
        field: its name in the catalogue.
        name: of the metric, without the `_total` of counters.
        text: the help text.
        base: name of its unit; "" if it has none.
        divisor: the field's value is divided by it.
    """

    field: str
    name: str
    text: str
    base: str
    divisor: int

    def value(self, raw: int) -> float:
        """The field's value in the base unit."""
        return raw / self.divisor if self.divisor > 1 else raw


def metric_of(field: CatalogueField) -> FieldMetric:
    """Name a field: a thread's is reported as a sum by role, a process' as it is.

    Raises:
        KeyError: the unit is not in `UNITS`.
    """
    unit = UNITS[field.unit]
    own, ours = unit.suffix
    stem = field.name.removesuffix(own) + ours if field.name.endswith(own) else field.name
    text = f"{field.label}. {field.meaning}"
    if field.scope == "thread":
        text = f"{text} {OF_ROLE}"
    return FieldMetric(field.name, f"tidscope_{field.scope}_{stem}", text, unit.base, unit.divisor)
