"""A size curve as an SVG picture: throughput by size with intervals, and the knee.

Pure. The picture is self-contained, and follows the reader's preferred colour scheme.
"""

import itertools
import textwrap
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from tidscope_wire.generated.models import SweepPoint, SweepState

from tidscope_backend.proving.svg import STYLE, WIDTH, line, text, ticks

HEIGHT = 480
LEFT, RIGHT = 84, 24
TOP, BOTTOM = 128, 420
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
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title><desc>{escape(sentence)}</desc>",
        f"<style>{STYLE}</style>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}"/>',
        text(LEFT, 30, title, "title"),
        *(text(LEFT, 54 + 20 * at, one) for at, one in enumerate(words[:3])),
    ]
    if state is not None and state.points:
        parts.extend(_draw(state, state.points))
    return "\n".join([*parts, "</svg>", ""])


def _draw(state: SweepState, points: Sequence[SweepPoint]) -> Iterator[str]:
    most = max(one.ops_per_s for one in points)
    # An interval of few rounds may be far wider than the curve is high.
    highest = min(1.1 * max(one.high or one.ops_per_s for one in points), 2 * most) or 1.0
    smallest, largest = points[0].size, points[-1].size

    def x(size: int) -> float:
        share = (size - smallest) / max(1, largest - smallest)
        return LEFT + 20 + share * (WIDTH - LEFT - RIGHT - 40)

    def y(ops_per_s: float) -> float:
        return BOTTOM - min(ops_per_s, highest) / highest * (BOTTOM - TOP)

    for value in ticks(highest):
        yield line("grid", LEFT, y(value), WIDTH - RIGHT, y(value))
        yield text(LEFT - 8, y(value) + 5, f"{value:,.10g}", "muted", "end")
    yield text(LEFT, TOP - 8, "operations a second", "muted")
    yield text(WIDTH - RIGHT, BOTTOM + 44, "size", "muted", "end")
    if state.knee is not None:
        yield line("with", x(state.knee), TOP, x(state.knee), BOTTOM)
        yield text(x(state.knee), TOP - 8, f"knee {state.knee}", "with", "middle")
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
        yield text(x(one.size), BOTTOM + 20, label, "muted", "middle")
