"""Parts of self-contained SVG pictures that follow the reader's preferred colour scheme."""

import math
from xml.sax.saxutils import escape

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
