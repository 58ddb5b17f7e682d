"""An operation's own time on the critical path, by the value of an attribute.

Source: CRISP, section 4.7.4 and figure 4.22.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from tidscope_traces.summary.durations import bucket, percentile
from tidscope_traces.summary.traces import Summaries

MAX_VALUES = 12
"""Maximum values listed separately, by own time; further ones are summed as `other`."""
MAX_KEYS = 100
"""Maximum listed attributes."""
ValueKind = Literal["value", "other", "absent"]


@dataclass(frozen=True, slots=True)
class AttributeKey:
    """Attribute that spans of the operation have.

    Attributes:
        key: name of the attribute.
        spans: number of spans with it.
        values: number of different values.
    """

    key: str
    spans: int
    values: int


@dataclass(frozen=True, slots=True)
class OfValue:
    """Own times of the spans with one value of the attribute.

    Attributes:
        kind: `value`; `other` for all values that are not listed; `absent` for spans without the
            attribute.
        value: the value; "" for other kinds.
        values: number of different values: 1, for `other` more, for `absent` 0.
        spans: number of spans on critical paths.
        traces: number of traces with such a span.
        own_ns: own time of all spans.
        mean_ns, p50_ns, p95_ns, most_ns: of a span; percentiles by nearest rank.
        counts: spans in each bucket.
    """

    kind: ValueKind
    value: str
    values: int
    spans: int
    traces: int
    own_ns: int
    mean_ns: int
    p50_ns: int
    p95_ns: int
    most_ns: int
    counts: list[int]


@dataclass(frozen=True, slots=True)
class ByValue:
    """Own time of an operation's spans on critical paths, by the value of an attribute.

    Attributes:
        key: the attribute; "" if no span has any.
        keys: attributes of the spans, the most useful first.
        bounds_ns: bounds of the buckets, in geometric progression; one more than counts.
        rows: values by own time, followed by `other` and `absent` if there are such spans.
    """

    key: str
    keys: list[AttributeKey]
    bounds_ns: list[int]
    rows: list[OfValue]


class _Sample(NamedTuple):
    """Own time of a span, and the index of its trace."""

    place: int
    own_ns: int


def by_value(summaries: Summaries, key: str = "") -> ByValue:
    """Divide the operation's spans by an attribute.

    Args:
        summaries: summaries with the option attributes_of.
        key: the attribute; "" for the most useful one: with 2 to MAX_VALUES values, on most spans.
    """
    keys = _keys(summaries)
    if not key and keys:
        key = keys[0].key
    named: dict[str, list[_Sample]] = {}
    absent: list[_Sample] = []
    for place, trace in enumerate(summaries.traces):
        for span in trace.own_spans:
            value = span.attributes.get(key)
            own = absent if value is None else named.setdefault(value, [])
            own.append(_Sample(place, span.own_ns))
    ordered = sorted(named, key=lambda value: (-sum(one.own_ns for one in named[value]), value))
    listed, others = ordered[:MAX_VALUES], ordered[MAX_VALUES:]
    if len(others) == 1:
        listed, others = ordered, []
    rest = [one for value in others for one in named[value]]
    everything = sorted(one.own_ns for own in (*named.values(), absent) for one in own)
    if not everything:
        return ByValue(key, keys, [], [])
    bounds, _ = bucket(everything)
    rows = [_row("value", value, 1, named[value], bounds) for value in listed]
    if rest:
        rows.append(_row("other", "", len(others), rest, bounds))
    if absent:
        rows.append(_row("absent", "", 0, absent, bounds))
    return ByValue(key, keys, bounds, rows)


def _keys(summaries: Summaries) -> list[AttributeKey]:
    spans: Counter[str] = Counter()
    values: dict[str, set[str]] = {}
    for trace in summaries.traces:
        for span in trace.own_spans:
            for key, value in span.attributes.items():
                spans[key] += 1
                values.setdefault(key, set()).add(value)
    found = [AttributeKey(key, count, len(values[key])) for key, count in spans.items()]
    found.sort(key=lambda one: (not 2 <= one.values <= MAX_VALUES, -one.spans, one.key))
    return found[:MAX_KEYS]


def _row(
    kind: ValueKind, value: str, values: int, own: Sequence[_Sample], bounds: Sequence[int]
) -> OfValue:
    times = sorted(one.own_ns for one in own)
    counts, _ = np.histogram(np.array(times), np.array(bounds))
    return OfValue(
        kind=kind,
        value=value,
        values=values,
        spans=len(own),
        traces=len({one.place for one in own}),
        own_ns=sum(times),
        mean_ns=sum(times) // len(times),
        p50_ns=percentile(times, 50),
        p95_ns=percentile(times, 95),
        most_ns=times[-1],
        counts=counts.tolist(),
    )
