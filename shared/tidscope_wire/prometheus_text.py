"""Parser of Prometheus text. Pure and strict.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/, the text format 0.0.4.
"""

import math
import re
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

MAX_BYTES = 4 << 20
MAX_SAMPLES = 10_000
LONGEST_LINE = 8192

_LABEL = re.compile(
    rb'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"((?:[^"\\]|\\.)*)"[ \t]*(?:,|(?=\}))'
)
_END = re.compile(rb"[ \t]*\}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", '"': '"', "\\": "\\"}
_SUFFIX = "_total"


class PrometheusTextError(Exception):
    """The text is not in the format, or has too many samples."""


class Sample(NamedTuple):
    """A sample of a metric.

    Attributes:
        name: name of the metric; a counter's with its ending.
        labels: label values by label name.
        value: value, possibly infinite or not a number.
    """

    name: str
    labels: Mapping[str, str]
    value: float


def read_samples(text: bytes, names: Collection[str]) -> Iterator[Sample]:
    """Yield all samples of some metrics, in the order of the text.

    A counter's sample without the ending `_total` is given with it.

    Args:
        text: Prometheus text.
        names: names of the samples.

    Raises:
        PrometheusTextError: a line about them is invalid or too long, or there are more than
            MAX_SAMPLES.
    """
    families = {name.removesuffix(_SUFFIX) for name in names}
    either = b"|".join(sorted(re.escape(one).encode() for one in {*names, *families}))
    lines = re.compile(rb"^(?:# TYPE )?(%s)(?![a-zA-Z0-9_:])([^\n]*)" % either, re.MULTILINE)
    counters: set[str] = set()
    count = 0
    for line in lines.finditer(text):
        name, rest = line[1].decode(), line[2]
        if line[0].startswith(b"#"):
            if rest.split() == [b"counter"]:
                counters.add(name)
            continue
        shown = name if name in names or name not in counters else name + _SUFFIX
        if shown not in names:
            continue
        count += 1
        if count > MAX_SAMPLES or len(rest) > LONGEST_LINE:
            raise PrometheusTextError(
                f"the metric {shown} has more than {MAX_SAMPLES} labels, or labels longer than "
                f"{LONGEST_LINE} characters"
            )
        labels, value = _labels(rest)
        yield Sample(shown, labels, _value(value))


def add_up(text: bytes, name: str) -> float | None:
    """Return the sum of a counter's samples over all labels, or None without samples.

    Args:
        text: Prometheus text.
        name: name of the samples, such as http_requests_total.

    Raises:
        PrometheusTextError: as for `read_samples`, and if the sum is no count.
    """
    found = [sample.value for sample in read_samples(text, [name])]
    if not found:
        return None
    total = math.fsum(found) if all(map(math.isfinite, found)) else math.nan
    if not math.isfinite(total) or total < 0:
        raise PrometheusTextError(f"the counter {name} is {total}")
    return total


def _labels(rest: bytes) -> tuple[dict[str, str], bytes]:
    """Return the labels of a sample, and the text behind them."""
    begun = rest.lstrip(b" \t")
    if not begun.startswith(b"{"):
        return {}, rest
    labels: dict[str, str] = {}
    place = 1
    while (end := _END.match(begun, place)) is None:
        label = _LABEL.match(begun, place)
        if label is None:
            raise PrometheusTextError("a label is cut off")
        labels[label[1].decode()] = _unescape(label[2].decode(errors="replace"))
        place = label.end()
    return labels, begun[end.end() :]


def _unescape(value: str) -> str:
    if "\\" not in value:
        return value
    return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), value)


def _value(rest: bytes) -> float:
    """Return the value of a sample, without its time stamp."""
    words = rest.split()
    try:
        if not 1 <= len(words) <= 2 or b"_" in words[0]:
            raise ValueError
        if len(words) == 2:
            int(words[1])
        return float(words[0])
    except ValueError:
        shown = rest[:64].decode(errors="replace").strip()
        raise PrometheusTextError(f"{shown!r} is no value") from None
