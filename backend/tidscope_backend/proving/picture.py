"""A proof as an SVG picture: each interval a dot, each block a line, and the gain.

Pure. The picture is self-contained, and follows the reader's preferred colour scheme.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from xml.sax.saxutils import escape

from tidscope_wire.generated.models import ProofState

from tidscope_backend.proving.result import MeasuredInterval, ProofResult
from tidscope_backend.proving.svg import STYLE, WIDTH, line, text, ticks

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
