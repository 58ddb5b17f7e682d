"""Proofs and size curves: their events, read from a run, and SVG pictures.

A proof shows each interval as a dot, each block as a line, and the gain. A size curve shows
throughput by size with intervals, and the knee.

Pure. The picture is self-contained, and follows the reader's preferred colour scheme.
"""

import itertools
import math
import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

from tidscope_wire.generated.models import (
    ProofState,
    RunEvent,
    SteeringDecided,
    SteeringProven,
    SteeringSwept,
    SweepPoint,
    SweepState,
)


class MeasuredInterval(NamedTuple):
    """An interval of a proof: end in seconds since the first interval's start, and measured
    work.
    """

    at_s: float
    ops_per_s: float
    size: int
    with_policy: bool


class ProofResult(NamedTuple):
    """Intervals by time, and the proof's result, or None if it is unfinished."""

    intervals: list[MeasuredInterval]
    state: ProofState | None


def read_proof(events: Sequence[RunEvent]) -> ProofResult:
    """Find the last proof among a run's events; intervals that do not count are omitted."""
    decided = [one.event for one in events if isinstance(one.event, SteeringDecided)]
    proven = [one.event for one in events if isinstance(one.event, SteeringProven)]
    begin = next(
        (at for at in range(len(decided) - 1, -1, -1) if decided[at].number == 1), len(decided)
    )
    last = [one for one in decided[begin:] if one.with_policy is not None]
    if not last:
        return ProofResult([], proven[-1].proof if proven else None)
    start_ns = last[0].at_ns - round(last[0].elapsed_s * 1e9)
    intervals = [
        MeasuredInterval(
            (one.at_ns - start_ns) / 1e9, one.ops / one.elapsed_s, one.size, bool(one.with_policy)
        )
        for one in last
        if one.counted and one.elapsed_s > 0
    ]
    return ProofResult(intervals, proven[-1].proof if proven else None)


def read_sweep(events: Sequence[RunEvent]) -> SweepState | None:
    """Return the result of the last sweep among a run's events, or None."""
    swept = [one.event for one in events if isinstance(one.event, SteeringSwept)]
    return swept[-1].sweep if swept else None


WIDTH = 960
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #14191b; }
.title { font-size: 18px; font-weight: 600; }
.muted { fill: #566266; }
.ground { fill: #ffffff; }
.grid { stroke: #dbe1e2; }
.without { fill: #7d898d; stroke: #7d898d; }
.with { fill: #08705a; stroke: #08705a; }
text.with, text.without { stroke: none; }
.dot { stroke: none; opacity: 0.65; }
.left-out { fill: none; }
.mean { stroke-width: 3; stroke-linecap: round; }
@media (prefers-color-scheme: dark) {
  text { fill: #d8dfe1; }
  .muted { fill: #8d9ba0; }
  .ground { fill: #0f1213; }
  .grid { stroke: #20272a; }
  .without { fill: #8d9ba0; stroke: #8d9ba0; }
  .with { fill: #52d3ad; stroke: #52d3ad; }
}
"""


def ticks(highest: float) -> list[float]:
    """Return round values from 0 to a maximum, at most nine."""
    power = 10 ** math.floor(math.log10(highest) - 1)
    step = next(power * digit for digit in (1, 2, 5, 10, 20) if highest <= 8 * power * digit)
    return [step * at for at in range(math.floor(highest / step) + 1)]


def text(x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> str:
    """Return a text element."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text class="{kind}" {place}>{escape(words)}</text>'


def line(kind: str, x1: float, y1: float, x2: float, y2: float) -> str:
    """Return a straight line."""
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


HEIGHT = 540
LEFT, RIGHT = 84, 24
TOP, BOTTOM = 84, 380
GAIN_TOP, GAIN_BOTTOM = 440, 500


def draw_proof(result: ProofResult, title: str) -> str:
    """Return the picture of a proof.

    Args:
        result: result of a run.
        title: policy and program.
    """
    sentence = "The proof did not end." if result.state is None else result.state.text
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(sentence)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT, 30, title, "title"),
        text(LEFT, 54, sentence),
    ]
    if result.intervals:
        parts.extend(_draw_intervals(result.intervals))
    if result.state is not None and result.state.gain_percent is not None:
        parts.extend(_draw_gain(result.state, result.state.gain_percent))
    return "\n".join([*parts, "</svg>", ""])


def _draw_intervals(intervals: Sequence[MeasuredInterval]) -> Iterator[str]:
    highest = 1.1 * max(one.ops_per_s for one in intervals) or 1.0
    last_s = intervals[-1].at_s

    def x(at_s: float) -> float:
        return LEFT + at_s / last_s * (WIDTH - LEFT - RIGHT)

    def y(ops_per_s: float) -> float:
        return BOTTOM - ops_per_s / highest * (BOTTOM - TOP)

    for value in ticks(highest):
        yield line("grid", LEFT, y(value), WIDTH - RIGHT, y(value))
        yield text(LEFT - 8, y(value) + 5, f"{value:,.10g}", "muted", "end")
    for value in ticks(last_s):
        yield text(x(value), BOTTOM + 20, f"{value:g}", "muted", "middle")
    yield text(LEFT, TOP - 8, "operations a second", "muted")
    yield text(WIDTH - RIGHT, BOTTOM + 38, "seconds", "muted", "end")
    yield text(WIDTH - RIGHT - 140, TOP - 8, "● without it", "without", "end")
    yield text(WIDTH - RIGHT, TOP - 8, "● with the policy", "with", "end")
    for tested, found in groupby(intervals, lambda one: one.with_policy):
        block = list(found)
        kind = "with" if tested else "without"
        # A block's mean excludes its first interval, as in the proof.
        measured = block[1:] or block
        for one in block:
            shape = f"dot {kind}" if one in measured else f"left-out {kind}"
            place = f'cx="{x(one.at_s):.1f}" cy="{y(one.ops_per_s):.1f}" r="3"'
            said = f"{one.ops_per_s:,.4g} operations a second at size {one.size}"
            yield f'<circle class="{shape}" {place}><title>{said}</title></circle>'
        mean = y(sum(one.ops_per_s for one in measured) / len(measured))
        yield line(f"mean {kind}", x(measured[0].at_s), mean, x(measured[-1].at_s), mean)


def _draw_gain(state: ProofState, gain: float) -> Iterator[str]:
    low = gain if state.low_percent is None else state.low_percent
    high = gain if state.high_percent is None else state.high_percent
    reach = 1.2 * max(abs(low), abs(high), 1.0)
    middle = (GAIN_TOP + GAIN_BOTTOM) / 2

    def x(percent: float) -> float:
        return LEFT + (percent + reach) / (2 * reach) * (WIDTH - LEFT - RIGHT)

    yield text(LEFT, GAIN_TOP - 6, "gain of throughput by the policy, percent", "muted")
    yield line("grid", x(0), GAIN_TOP, x(0), GAIN_BOTTOM)
    yield text(x(0), GAIN_BOTTOM + 20, "0", "muted", "middle")
    yield line("mean with", x(low), middle, x(high), middle)
    yield f'<circle class="with" cx="{x(gain):.1f}" cy="{middle:.1f}" r="6"/>'
    yield text(x(gain), middle - 14, f"{gain:+.1f} %", anchor="middle")
    if low != high:
        yield text(x(low), GAIN_BOTTOM + 20, f"{low:+.1f}", "muted", "end")
        yield text(x(high), GAIN_BOTTOM + 20, f"{high:+.1f}", "muted")


CURVE_HEIGHT = 480
CURVE_TOP, CURVE_BOTTOM = 128, 420
WRAP = 118
"""Maximum characters in a line of text."""


def draw_curve(state: SweepState | None, title: str) -> str:
    """Return the picture of a sweep.

    Args:
        state: result of the sweep, or None if it is unfinished.
        title: name of the program.
    """
    sentence = "The sweep did not end." if state is None else state.text
    words = textwrap.wrap(sentence, WRAP)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {CURVE_HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(sentence)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{CURVE_HEIGHT}"/>',
        text(LEFT, 30, title, "title"),
        *(text(LEFT, 54 + 20 * at, one) for at, one in enumerate(words[:3])),
    ]
    if state is not None and state.points:
        parts.extend(_draw_points(state, state.points))
    return "\n".join([*parts, "</svg>", ""])


def _draw_points(state: SweepState, points: Sequence[SweepPoint]) -> Iterator[str]:
    most = max(one.ops_per_s for one in points)
    # An interval of few rounds may be far wider than the curve is high.
    highest = min(1.1 * max(one.high or one.ops_per_s for one in points), 2 * most) or 1.0
    smallest, largest = points[0].size, points[-1].size

    def x(size: int) -> float:
        share = (size - smallest) / max(1, largest - smallest)
        return LEFT + 20 + share * (WIDTH - LEFT - RIGHT - 40)

    def y(ops_per_s: float) -> float:
        return CURVE_BOTTOM - min(ops_per_s, highest) / highest * (CURVE_BOTTOM - CURVE_TOP)

    for value in ticks(highest):
        yield line("grid", LEFT, y(value), WIDTH - RIGHT, y(value))
        yield text(LEFT - 8, y(value) + 5, f"{value:,.10g}", "muted", "end")
    yield text(LEFT, CURVE_TOP - 8, "operations a second", "muted")
    yield text(WIDTH - RIGHT, CURVE_BOTTOM + 44, "size", "muted", "end")
    if state.knee is not None:
        yield line("with", x(state.knee), CURVE_TOP, x(state.knee), CURVE_BOTTOM)
        yield text(x(state.knee), CURVE_TOP - 8, f"knee {state.knee}", "with", "middle")
    for one, after in itertools.pairwise(points):
        yield line("without", x(one.size), y(one.ops_per_s), x(after.size), y(after.ops_per_s))
    for one in points:
        kind = "with" if one.size == state.knee else "without"
        said = f"size {one.size}: {one.ops_per_s:,.4g} operations a second"
        if one.low is not None and one.high is not None:
            said += f", {one.low:,.4g} to {one.high:,.4g}"
            yield line(f"mean {kind}", x(one.size), y(one.low), x(one.size), y(one.high))
        place = f'cx="{x(one.size):.1f}" cy="{y(one.ops_per_s):.1f}" r="5"'
        yield f'<circle class="{kind}" {place}><title>{escape(said)}</title></circle>'
        label = f"{one.size} (before)" if one.size == state.start else f"{one.size}"
        yield text(x(one.size), CURVE_BOTTOM + 20, label, "muted", "middle")
