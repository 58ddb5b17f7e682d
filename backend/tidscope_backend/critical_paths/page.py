"""Report of critical paths with flame graphs, as one self-contained HTML file. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from zlib import crc32

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.analysis import Analysis
from tidscope_traces.summary.heat import Heat
from tidscope_traces.summary.tree import ContextTree, DifferenceTree

from tidscope_backend.critical_paths.exports import (
    CHAIN_HEAD,
    FAILURE_HEAD,
    GROWN_HEAD,
    RANKING_HEAD,
    chain_rows,
    facts,
    failure_rows,
    grown_rows,
    operation_text,
    ranking_rows,
)
from tidscope_backend.text import format_seconds, plural

WIDTH, ROW = 1200, 20
MIN_WIDTH = 1.0
"""Minimum width of a frame; narrower ones are omitted."""
DEEPEST = 100
CHARACTER = 6.6
"""Width of a character in frames."""


@dataclass(frozen=True, slots=True)
class Frame:
    """A rectangle of a flame graph.

    Attributes:
        left, width: position and width, relative to WIDTH.
        depth: row, from 0 for roots.
        name: label.
        title: tooltip.
        fill: a colour of CSS.
    """

    left: float
    width: float
    depth: int
    name: str
    title: str
    fill: str


def tree_frames(tree: ContextTree) -> list[Frame]:
    """Return frames of one set of traces: widths are inclusive time, colours are services."""
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
    """Return frames of two sets, coloured by growth of own time.

    Widths are inclusive time of the other set, or of the base where the other set has none.
    """
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
    """Return widths that fit all children into their parent, including those of one set only."""
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
    """Yield lines of an SVG picture.

    Args:
        frames: frames to draw; at least one.
        label: text alternative of the picture.
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


ROWS = 30
HEAT_COLUMNS = 60
STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem;
  color: #14191b; background: #fff; }
h2 { margin: 2.5rem 0 .5rem; } .muted { color: #566266; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; }
th, td { padding: .2rem .6rem; border-bottom: 1px solid #dbe1e2; text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 16rem; }
td.id { font-family: ui-monospace, monospace; font-size: .8em; }
.flame { width: 100%; min-width: 44rem; height: auto; display: block; }
.flame text { font: 11px ui-monospace, monospace; fill: #14191b; pointer-events: none; }
.flame g { cursor: pointer; } .flame g.found rect { stroke: #b3008f; stroke-width: 2; }
.flame g.faded { opacity: .35; }
.heat td { padding: 0; min-width: .7rem; height: 1.4rem; border: 1px solid #fff; }
.heat th { padding-right: .8rem; text-align: left; font-weight: normal; white-space: nowrap; }
input { font: inherit; padding: .2rem .5rem; min-width: 16rem; }
@media (prefers-color-scheme: dark) { body { color: #d8dfe1; background: #0f1213; }
  th, td { border-color: #20272a; } .muted { color: #8d9ba0; } .heat td { border-color: #0f1213; } }
"""
SCRIPT = """
const width = WIDTH, character = CHARACTER;
for (const flame of document.querySelectorAll(".flame")) {
  const frames = [...flame.querySelectorAll("g")];
  function zoom(left, span) {
    for (const frame of frames) {
      const scale = width / span;
      const x = (frame.dataset.left - left) * scale, w = frame.dataset.width * scale;
      const from = Math.max(0, x), to = Math.min(width, x + w);
      frame.style.display = to - from > 0.3 ? "" : "none";
      const [rect, text] = [frame.querySelector("rect"), frame.querySelector("text")];
      rect.setAttribute("x", from);
      rect.setAttribute("width", Math.max(0.5, to - from - 0.5));
      const room = Math.floor((to - from - 6) / character), name = frame.dataset.name;
      text.setAttribute("x", from + 4);
      const shown = name.length <= room ? name : name.slice(0, room - 1) + "…";
      text.textContent = room > 2 ? shown : "";
    }
  }
  for (const frame of frames) {
    frame.addEventListener("click", () => zoom(+frame.dataset.left, +frame.dataset.width));
  }
}
document.getElementById("search").addEventListener("input", (event) => {
  const wanted = event.target.value.toLowerCase();
  for (const frame of document.querySelectorAll(".flame g")) {
    const found = wanted && frame.dataset.name.toLowerCase().includes(wanted);
    frame.classList.toggle("found", Boolean(found));
    frame.classList.toggle("faded", Boolean(wanted) && !found);
  }
});
"""


@dataclass(frozen=True, slots=True)
class Report:
    """Content of the report page.

    Attributes:
        title: title of the request set.
        found: analysis of all requests.
        windows: analyses of percentile windows, by name.
        difference: difference between two sets, with their names, or None.
        heat: operations by traces; None if only sums are known.
        notes: sentences below the title.
    """

    title: str
    found: Analysis
    windows: Mapping[str, Analysis]
    difference: tuple[str, DifferenceTree] | None
    heat: Heat | None
    notes: Sequence[str] = ()


def draw_page(report: Report) -> str:
    """Return the page."""
    return "\n".join([*_head(report), *_body(report), *_foot()])


def _head(report: Report) -> Iterator[str]:
    title = escape(report.title)
    yield '<!doctype html><html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}</title><style>{STYLE}</style></head><body>"
    yield f"<h1>{title}</h1>"
    for line in (*facts(report.found), *report.notes):
        yield f'<p class="muted">{escape(line)}</p>'


def _body(report: Report) -> Iterator[str]:
    yield (
        '<p><label>Search operations <input id="search" type="search"></label> '
        '<span class="muted">Click a frame to enlarge it, its root to see all.</span></p>'
    )
    for name, found in {"all requests": report.found, **report.windows}.items():
        heading = f"Critical path of {name}"
        yield from _flame(heading, tree_frames(found.tree), plural(found.traces, "request"))
    if report.difference is not None:
        name, difference = report.difference
        note = "red grew, blue shrank; width is the longer of both"
        yield from _flame(f"Difference: {name}", difference_frames(difference), note)
        yield from _table(GROWN_HEAD, grown_rows(difference, ROWS))
    yield "<h2>Operations by share of the critical path</h2>"
    yield from _table(RANKING_HEAD, ranking_rows(report.found, ROWS))
    yield "<h2>Calling contexts by own time</h2>"
    yield from _table(CHAIN_HEAD, chain_rows(report.found, ROWS), last_is_id=True)
    if report.found.failures:
        yield "<h2>Calls that made requests fail</h2>"
        yield from _table(FAILURE_HEAD, failure_rows(report.found, ROWS), last_is_id=True)
    if report.heat is not None and report.heat.operations:
        yield "<h2>Operations by trace</h2>"
        yield '<p class="muted">Own time on the critical path; longest traces first.</p>'
        yield from _heat(report.heat)


def _foot() -> Iterator[str]:

    script = SCRIPT.replace("WIDTH", str(WIDTH)).replace("CHARACTER", str(CHARACTER))
    yield f"<script>{script}</script></body></html>"
    yield ""


def _flame(heading: str, frames: Sequence[Frame], note: str) -> Iterator[str]:
    yield f'<h2>{escape(heading)}</h2><p class="muted">{escape(note)}</p>'
    if frames:
        yield '<div class="scroll">'
        yield from draw_flame(frames, heading)
        yield "</div>"


def _table(
    head: Sequence[str], rows: Sequence[Sequence[str]], *, last_is_id: bool = False
) -> Iterator[str]:
    yield '<div class="scroll"><table><thead><tr>'
    yield from (f"<th>{escape(one)}</th>" for one in head)
    yield "</tr></thead><tbody>"
    for row in rows:
        cells = [f"<td>{escape(one)}</td>" for one in row]
        if last_is_id:
            cells[-1] = f'<td class="id">{escape(row[-1])}</td>'
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _heat(heat: Heat) -> Iterator[str]:
    yield '<div class="scroll"><table class="heat"><tbody>'
    for place, operation in enumerate(heat.operations):
        cells = []
        for at, cell_ns in enumerate(heat.cells_ns[place]):
            share = cell_ns / (heat.durations_ns[at] or 1)
            chains = "".join(
                f"\n{format_seconds(one.ns)} {' → '.join(map(operation_text, one.operations[-4:]))}"
                for one in heat.chains[place][at]
            )
            title = f"{heat.trace_ids[at]}\n{format_seconds(cell_ns)}, {share:.0%}{chains}"
            strength = round(100 * share**0.5)
            cells.append(
                f'<td title="{escape(title)}" style="background:color-mix(in srgb, #c2410c '
                f'{strength}%, #8882 )"></td>'
            )
        yield f"<tr><th>{escape(operation_text(operation))}</th>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"
