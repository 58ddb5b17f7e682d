"""A report of critical paths as one HTML file that needs no other. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from tidscope_traces.summary.analysis import Analysis
from tidscope_traces.summary.difference import DifferenceTree
from tidscope_traces.summary.heat import Heat

from tidscope_backend.critical_paths.exports import operation_text
from tidscope_backend.critical_paths.flame import (
    Frame,
    difference_frames,
    draw_flame,
    tree_frames,
)
from tidscope_backend.critical_paths.text import (
    CHAIN_HEAD,
    FAILURE_HEAD,
    GROWN_HEAD,
    RANKING_HEAD,
    chain_rows,
    facts,
    failure_rows,
    grown_rows,
    ranking_rows,
)
from tidscope_backend.text import format_seconds, plural

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
    """What the page shows.

    Attributes:
        title: which requests.
        found: all of them.
        windows: analyses of percentile windows, by what these are called.
        difference: of two sets, and what they are called; None for none.
        heat: operations by traces; None if only sums are known.
        notes: sentences that stand below the title.
    """

    title: str
    found: Analysis
    windows: Mapping[str, Analysis]
    difference: tuple[str, DifferenceTree] | None
    heat: Heat | None
    notes: Sequence[str] = ()


def draw_page(report: Report) -> str:
    """The page."""
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
    from tidscope_backend.critical_paths.flame import CHARACTER, WIDTH

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
