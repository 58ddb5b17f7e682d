"""A chart of an experiment as an SVG picture: means with intervals, each repeat a dot. Pure.

The picture is self-contained, and follows the reader's preferred colour scheme.
"""

import itertools
import math
from collections.abc import Callable, Iterator
from xml.sax.saxutils import escape, quoteattr

from tidscope_wire.generated.models import ChartPoint, ExperimentChart

from tidscope_backend.proving.picture import STYLE, WIDTH, line, text

HEIGHT = 460
LEFT, RIGHT = 92, 24
TOP, BOTTOM = 92, 372
PLOT = WIDTH - LEFT - RIGHT
SIDE = 24
"""Margin beside the first and the last point of lines."""
LIGHT = ("#0072b2", "#c2410c", "#00795a", "#a8447f", "#9a6a00", "#2b7bba", "#6d28d9", "#57606a")
DARK = ("#56b4e9", "#ff8a4c", "#2fd0a0", "#e58cc0", "#f0c244", "#8ec9ff", "#b79cff", "#b6bec9")
"""Hues of the page's charts."""
MARKS = ("circle", "square", "triangle", "diamond")
MAX_LABEL = 26


def draw_chart(chart: ExperimentChart) -> str:
    """Return the picture of a chart."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f"aria-label={quoteattr(describe(chart))}>",
        f"<title>{escape(chart.title)}</title>",
        f"<style>{STYLE}{_hues()}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT, 28, chart.title, "title"),
        *_legend(chart),
        *_plot(chart),
    ]
    return "\n".join([*parts, "</svg>", ""])


def describe(chart: ExperimentChart) -> str:
    """Return a text alternative for the picture."""
    found = []
    for series in chart.series:
        points = ", ".join(
            f"{_place(chart, one)} {_value(one.mean)}" + ("" if one.low is None else _ends(one))
            for one in series.points
        )
        found.append(f"{series.name or chart.y_label}: {points}")
    return f"{chart.title}. " + "; ".join(found)


def _place(chart: ExperimentChart, point: ChartPoint) -> str:
    asked = chart.x[point.x]
    return asked if point.at is None else f"at {_value(point.at)} (of {asked})"


def _ends(point: ChartPoint) -> str:
    return f" ({_value(point.low or 0.0)} to {_value(point.high or 0.0)})"


def _hues() -> str:
    def rules(hues: tuple[str, ...]) -> str:
        return "".join(f".h{at} {{ fill: {hue}; stroke: {hue}; }}\n" for at, hue in enumerate(hues))

    return (
        f"{rules(LIGHT)}.path {{ fill: none; stroke-width: 2; }}\n.bar {{ opacity: 0.55; }}\n"
        ".repeat { opacity: 0.6; stroke: none; }\ntext { stroke: none; }\n"
        f"@media (prefers-color-scheme: dark) {{\n{rules(DARK)}}}\n"
    )


def _legend(chart: ExperimentChart) -> Iterator[str]:
    x, y = float(LEFT), 52.0
    for at, series in enumerate(chart.series):
        if not series.name:
            continue
        width = 36 + 7.2 * len(series.name)
        if x + width > WIDTH - RIGHT and x > LEFT:
            x, y = float(LEFT), y + 18
        yield _mark(at, x + 6, y - 5)
        yield text(x + 16, y, series.name, "muted")
        x += width


def _plot(chart: ExperimentChart) -> Iterator[str]:
    lowest, highest = _range(chart)
    step = _step(highest - lowest)

    def y(value: float) -> float:
        share = (min(max(value, lowest), highest) - lowest) / (highest - lowest)
        return BOTTOM - share * (BOTTOM - TOP)

    for count in range(math.ceil(lowest / step), math.floor(highest / step + 1e-9) + 1):
        value = count * step
        yield line("grid", LEFT, y(value), WIDTH - RIGHT, y(value))
        yield text(LEFT - 8, y(value) + 5, _value(value), "muted", "end")
    unit = f", {chart.unit}" if chart.unit else ""
    yield text(LEFT, TOP - 6, f"{chart.y_label}{unit}", "muted")
    if chart.reference is not None:
        yield line("without", LEFT, y(chart.reference), WIDTH - RIGHT, y(chart.reference))
    if chart.kind == "bars":
        yield from _bars(chart, y, y(max(lowest, 0.0)))
    elif chart.kind == "stacked":
        yield from _stacks(chart, y)
    else:
        yield from _lines(chart, y)
    if chart.x_label:
        yield text(WIDTH - RIGHT, HEIGHT - 12, chart.x_label, "muted", "end")


def _lines(chart: ExperimentChart, y: Callable[[float], float]) -> Iterator[str]:
    if chart.kind == "curve":
        most = max((one.at or 0.0 for each in chart.series for one in each.points), default=0.0)
        step = _step(most or 1.0)
        last = step * max(1, math.ceil(most / step))
        marks = [(count * step, _value(count * step)) for count in range(round(last / step) + 1)]
    else:
        last = max(1, len(chart.x) - 1)
        every = max(1, math.ceil(len(chart.x) / 20))
        marks = [(at, label) for at, label in enumerate(chart.x) if at % every == 0]

    def x(at: float) -> float:
        return LEFT + SIDE + at / last * (PLOT - 2 * SIDE)

    def place(one: ChartPoint) -> float:
        return x(one.x if one.at is None else one.at)

    for at, label in marks:
        yield text(x(at), BOTTOM + 20, label, "muted", "middle")
    for hue, series in enumerate(chart.series):
        for one, after in itertools.pairwise(series.points):
            ends = (place(one), y(one.mean), place(after), y(after.mean))
            yield line(f"path h{hue % len(LIGHT)}", *ends)
        # Shift marks, so that several series at one size do not overlap.
        shift = 0 if chart.kind == "curve" else 3 * (hue - (len(chart.series) - 1) / 2)
        for one in series.points:
            yield from _point(hue, one, place(one) + shift, y)


def _stacks(chart: ExperimentChart, y: Callable[[float], float]) -> Iterator[str]:
    room = PLOT / len(chart.x)
    width = min(60.0, 0.7 * room)
    for at, label in enumerate(chart.x):
        middle, below = LEFT + (at + 0.5) * room, 0.0
        yield from _label(label, middle, room)
        for hue, series in enumerate(chart.series):
            for one in series.points:
                if one.x == at:
                    top, bottom = y(below + one.mean), y(below)
                    below += one.mean
                    place = f'x="{middle - width / 2:.1f}" y="{top:.1f}" width="{width:.1f}"'
                    said = escape(f"{series.name}: {one.mean:.1%}")
                    yield (
                        f'<rect class="bar h{hue % len(LIGHT)}" {place} '
                        f'height="{bottom - top:.1f}"><title>{said}</title></rect>'
                    )


def _bars(chart: ExperimentChart, y: Callable[[float], float], zero: float) -> Iterator[str]:
    room = PLOT / len(chart.x)
    width = min(60.0, 0.8 * room / len(chart.series))
    for at, label in enumerate(chart.x):
        middle = LEFT + (at + 0.5) * room
        yield from _label(label, middle, room)
        for hue, series in enumerate(chart.series):
            x = middle + (hue - len(chart.series) / 2) * width
            for one in series.points:
                if one.x != at:
                    continue
                top, bottom = sorted((y(one.mean), zero))
                place = f'x="{x + 1:.1f}" y="{top:.1f}" width="{width - 2:.1f}"'
                yield f'<rect class="bar h{hue % len(LIGHT)}" {place} height="{bottom - top:.1f}"/>'
                yield from _point(hue, one, x + width / 2, y)


def _label(label: str, x: float, room: float) -> Iterator[str]:
    shown = label if len(label) <= MAX_LABEL else f"{label[: MAX_LABEL - 1]}…"
    if 7.2 * len(shown) <= room:
        yield text(x, BOTTOM + 20, shown, "muted", "middle")
    else:
        at = f"{x:.1f} {BOTTOM + 16}"
        yield f'<g transform="rotate(-22 {at})">{text(x, BOTTOM + 16, shown, "muted", "end")}</g>'


def _point(hue: int, point: ChartPoint, x: float, y: Callable[[float], float]) -> Iterator[str]:
    colour = f"h{hue % len(LIGHT)}"
    for value in point.values:
        yield f'<circle class="repeat {colour}" cx="{x:.1f}" cy="{y(value):.1f}" r="2.5"/>'
    said = _value(point.mean)
    if point.low is not None and point.high is not None:
        said += f", 95 % interval{_ends(point)}"
        yield line(f"mean {colour}", x, y(point.low), x, y(point.high))
        for end in (point.low, point.high):
            yield line(colour, x - 5, y(end), x + 5, y(end))
    yield f"<g><title>{escape(said)}</title>{_mark(hue, x, y(point.mean))}</g>"


def _mark(hue: int, x: float, y: float) -> str:
    """Return a mark; series differ by both colour and shape."""
    colour, kind = f"h{hue % len(LIGHT)}", MARKS[hue % len(MARKS)]
    if kind == "circle":
        return f'<circle class="{colour}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    shapes = {
        "square": ((-5, -5), (5, -5), (5, 5), (-5, 5)),
        "triangle": ((0, -6), (6, 5), (-6, 5)),
        "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
    }
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in shapes[kind])
    return f'<polygon class="{colour}" points="{points}"/>'


def _range(chart: ExperimentChart) -> tuple[float, float]:
    """Return the range of the y axis: from 0, with all intervals unless they dwarf the values."""
    if chart.kind == "stacked":
        return 0.0, 1.0
    points = [one for series in chart.series for one in series.points]
    values = [value for one in points for value in (one.mean, *one.values)]
    if chart.reference is not None:
        values.append(chart.reference)
    least, most = min(0.0, *values), max(0.0, *values)
    room = (most - least) or 1.0
    ends = [end for one in points for end in (one.low, one.high) if end is not None]
    # A figure without negative values has no negative axis; a negative interval only shows few
    # repeats.
    least = max(min([least, *ends]), least - room) if least < 0 else 0.0
    most = min(max([most, *ends]), most + room) or (0.0 if least < 0 else 1.0)
    pad = 0.06 * (most - least)
    return (least - pad if least < 0 else 0.0), (most + pad if most > 0 else 0.0)


def _step(height: float) -> float:
    power = 10.0 ** math.floor(math.log10(height / 8))
    return next(power * digit for digit in (1, 2, 5, 10, 20) if height <= 8 * power * digit)


def _value(value: float) -> str:
    """Format a value as on an axis: few digits, no exponent for large numbers."""
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"
