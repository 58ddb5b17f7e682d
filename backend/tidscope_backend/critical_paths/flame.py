"""Calling contexts as a flame graph: callers above what they call, widths are time. Pure.

B. Gregg, The flame graph (CACM 2016); of differences, red grew and blue shrank.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from zlib import crc32

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.difference import DifferenceTree
from tidscope_traces.summary.tree import ContextTree

from tidscope_backend.critical_paths.exports import operation_text
from tidscope_backend.text import format_seconds

WIDTH, ROW = 1200, 20
MIN_WIDTH = 1.0
"""Narrower frames are left out."""
DEEPEST = 100
CHARACTER = 6.6
"""Width of one, of the text in frames."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of a flame graph.

    Attributes:
        left, width: of WIDTH.
        depth: row, from 0 for roots.
        name: what stands in it.
        title: what stands beside the pointer.
        fill: a colour of CSS.
    """

    left: float
    width: float
    depth: int
    name: str
    title: str
    fill: str


def tree_frames(tree: ContextTree) -> list[Frame]:
    """Frames of one set of traces: widths are inclusive time, colours are services."""
    total_ns = sum(tree.exclusive_ns) or 1
    titles = [
        f"{operation_text(operation)}\n"
        f"{tree.inclusive_ns[node] / total_ns:.1%} with callees, "
        f"{tree.exclusive_ns[node] / total_ns:.1%} own\n"
        f"{format_seconds(round(tree.inclusive_ns[node] / max(1, tree.traces)))} a trace, "
        f"in {tree.trace_count[node]} of {tree.traces} traces"
        for node, operation in enumerate(tree.operations)
    ]
    fills = [_service_colour(operation) for operation in tree.operations]
    return _frames(tree.parents, tree.inclusive_ns, tree.operations, titles, fills)


def difference_frames(tree: DifferenceTree) -> list[Frame]:
    """Frames of two sets: widths are inclusive time of the other set, or of the base for what that
    one lacks; colours are the growth of own time."""
    total = max(sum(tree.base_exclusive_ns), sum(tree.other_exclusive_ns)) or 1.0
    titles, fills = [], []
    for node, operation in enumerate(tree.operations):
        base, other = tree.base_inclusive_ns[node], tree.other_inclusive_ns[node]
        own = tree.other_exclusive_ns[node] - tree.base_exclusive_ns[node]
        titles.append(
            f"{operation_text(operation)}\n"
            f"{format_seconds(round(base))} → {format_seconds(round(other))} a trace\n"
            f"own time {'+' if own >= 0 else '−'}{format_seconds(round(abs(own)))}"
        )
        fills.append(_growth_colour(own / total))
    widths = [
        max(base, other)
        for base, other in zip(tree.base_inclusive_ns, tree.other_inclusive_ns, strict=True)
    ]
    return _frames(tree.parents, _at_least_children(tree.parents, widths), tree.operations, titles,
                   fills)  # fmt: skip


def _at_least_children(parents: Sequence[int], widths: list[float]) -> list[float]:
    """Widths so that children fit into their parent: what one set lacks stands beside the rest."""
    inside = [0.0] * len(widths)
    fitted = list(widths)
    for node in range(len(widths) - 1, -1, -1):
        fitted[node] = max(fitted[node], inside[node])
        if parents[node] >= 0:
            inside[parents[node]] += fitted[node]
    return fitted


def _frames(
    parents: Sequence[int],
    widths: Sequence[float],
    operations: Sequence[Operation],
    titles: Sequence[str],
    fills: Sequence[str],
) -> list[Frame]:
    total = sum(width for parent, width in zip(parents, widths, strict=True) if parent < 0) or 1
    scale = WIDTH / total
    next_left: dict[int, float] = {-1: 0.0}
    depths: list[int] = []
    frames: list[Frame] = []
    for node, parent in enumerate(parents):
        left = next_left[parent]
        width = widths[node] * scale
        next_left[parent] = left + width
        next_left[node] = left
        depths.append(depths[parent] + 1 if parent >= 0 else 0)
        if width >= MIN_WIDTH and depths[node] < DEEPEST:
            frames.append(
                Frame(left, width, depths[node], operation_text(operations[node]), titles[node],
                      fills[node])
            )  # fmt: skip
    return frames


def draw_flame(frames: Sequence[Frame], label: str) -> Iterator[str]:
    """Lines of an SVG picture.

    Args:
        frames: at least one.
        label: what it shows, for those who do not see it.
    """
    height = ROW * (1 + max((frame.depth for frame in frames), default=0))
    yield (
        f'<svg class="flame" viewBox="0 0 {WIDTH} {height}" role="img" '
        f'aria-label="{escape(label)}">'
    )
    for frame in frames:
        top = frame.depth * ROW
        room = int((frame.width - 6) / CHARACTER)
        shown = frame.name if len(frame.name) <= room else f"{frame.name[: max(0, room - 1)]}…"
        yield (
            f'<g data-left="{frame.left:.2f}" data-width="{frame.width:.2f}" '
            f'data-name="{escape(frame.name)}"><title>{escape(frame.title)}</title>'
            f'<rect x="{frame.left:.2f}" y="{top}" width="{max(0.5, frame.width - 0.5):.2f}" '
            f'height="{ROW - 1}" rx="2" fill="{frame.fill}"/>'
            f'<text x="{frame.left + 4:.2f}" y="{top + 14}">{escape(shown) if room > 2 else ""}'
            "</text></g>"
        )
    yield "</svg>"


def _service_colour(operation: Operation) -> str:
    hue = crc32(operation.service.encode()) % 360
    light = 72 + crc32(operation.name.encode()) % 10
    return f"hsl({hue} 55% {light}%)"


def _growth_colour(share: float) -> str:
    strength = min(1.0, abs(share) * 4) ** 0.5
    if abs(share) < 0.0005:
        return "hsl(200 8% 84%)"
    return f"hsl({4 if share > 0 else 212} {30 + 55 * strength:.0f}% {84 - 24 * strength:.0f}%)"
