"""The report of an experiment: Markdown with pictures, one HTML file, and Parquet.

Also bounds that fail an experiment in CI, such as `throughput < -3%`, decided by intervals.
"""

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path

from tidscope_wire.generated.models import Experiment, ExperimentCell, ExperimentFigure

from tidscope_backend.experiments.analysis import figure_names
from tidscope_backend.experiments.charts_of_ratios import ends_in_percent
from tidscope_backend.experiments.journal import Entry, Repeated, began
from tidscope_backend.experiments.matrix import BY_NAME, FIGURES, THROUGHPUT
from tidscope_backend.experiments.picture import draw_chart
from tidscope_backend.experiments.workload import ExperimentError

FORM = re.compile(r"^\s*([a-z0-9_]+)\s*([<>])\s*([+-]?[0-9]+(?:\.[0-9]+)?)\s*%\s*$")


@dataclass(frozen=True)
class Bound:
    """Bound on the difference of a cell's figure from the baseline.

    Attributes:
        figure: name of the figure.
        below: True: values below `percent` fail; False: values above.
        percent: limit, in percent of the baseline.
        text: bound as written.
    """

    figure: str
    below: bool
    percent: float
    text: str


def parse_bound(text: str) -> Bound:
    """Read a bound. Raises ExperimentError."""
    found = FORM.match(text)
    if found is None or found[1] not in BY_NAME:
        raise ExperimentError(
            f"{text!r}: use FIGURE < NUMBER% or FIGURE > NUMBER%, such as 'throughput < -3%'; "
            f"figures: {', '.join(BY_NAME)}"
        )
    return Bound(found[1], found[2] == "<", float(found[3]), text.strip())


@dataclass(frozen=True)
class Decision:
    """Result of checking a cell against a bound.

    The result fails if the complete interval is beyond the bound, and is open if a part is.
    """

    cell: str
    bound: Bound
    fails: bool
    is_open: bool
    low: float
    high: float


def decide(found: Experiment, bounds: Sequence[Bound]) -> list[Decision]:
    """Check all cells that have a baseline against the bounds.

    Raises:
        ExperimentError: a bound does not apply to this experiment.
    """
    decisions = [one for bound in bounds for one in _decide(found, bound)]
    for bound in bounds:
        if not any(one.bound == bound for one in decisions):
            raise ExperimentError(
                f"{bound.text}: no cell has an interval of {bound.figure} against the default; "
                "the matrix needs the policy default and another one, and two repeats, or the "
                "file needs variants, and four rounds"
            )
    return decisions


def _decide(found: Experiment, bound: Bound) -> Iterator[Decision]:
    for cell in found.cells:
        own = next((one for one in cell.figures if one.name == bound.figure), None)
        ends = None if own is None or own.gain is None else ends_in_percent(own.gain)
        if ends is not None:
            low, high = ends
            beyond = (low < bound.percent, high < bound.percent)
            if not bound.below:
                beyond = (high > bound.percent, low > bound.percent)
            some, all_of_it = beyond
            yield Decision(cell.key, bound, all_of_it, some and not all_of_it, low, high)


RESULTS = [one.name for one in FIGURES if one.kind == "result" and one.name != THROUGHPUT]
AGAINST = (THROUGHPUT, "ops_per_cpu_s", "power_w", "ops_per_j")
MARKDOWN, PAGE, RAW = "report.md", "report.html", "repeats.parquet"
STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem;
  color: #14191b; background: #fff; }
table { border-collapse: collapse; display: block; overflow-x: auto; }
th, td { padding: .25rem .75rem; border-bottom: 1px solid #dbe1e2; text-align: left; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
td.number { white-space: nowrap; }
figure { margin: 1.5rem 0; } svg { width: 100%; height: auto; }
figcaption, .muted { color: #566266; }
@media (prefers-color-scheme: dark) { body { color: #d8dfe1; background: #0f1213; }
  th, td { border-color: #20272a; } figcaption, .muted { color: #8d9ba0; } }
"""


def write_report(folder: Path, found: Experiment, entries: Sequence[Entry]) -> list[Path]:
    """Write the report into a folder, replacing earlier reports. Raises OSError."""
    pictures = {f"{one.id}.svg": draw_chart(one) for one in found.charts}
    texts = {MARKDOWN: markdown(found), PAGE: page(found), **pictures}
    for name, content in texts.items():
        (folder / name).write_text(content, "utf-8")
    write_raw(folder / RAW, entries)
    return [folder / name for name in (PAGE, MARKDOWN, RAW)]


def write_raw(path: Path, entries: Sequence[Entry]) -> None:
    """Write a row for each repeat: cell, axes, figures, warnings, runs. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    axes = list(dict.fromkeys(axis for cell in began(entries).cells for axis in cell))
    values = {
        " ".join(f"{axis}={value}" for axis, value in cell.items()) or "all": cell
        for cell in began(entries).cells
    }
    repeats = [one for one in entries if isinstance(one, Repeated)]
    columns = {
        "cell": pa.array([one.cell for one in repeats], pa.string()),
        **{
            axis: pa.array([str(values[one.cell].get(axis, "")) for one in repeats], pa.string())
            for axis in axes
        },
        "done_unix_us": pa.array([one.unix_us for one in repeats], pa.int64()),
        "elapsed_s": pa.array([one.elapsed_s for one in repeats], pa.float64()),
        **{
            figure.name: pa.array([one.figures.get(figure.name) for one in repeats], pa.float64())
            for figure in figure_names(began(entries))
        },
        "warnings": pa.array([one.warnings for one in repeats], pa.list_(pa.string())),
        "runs": pa.array([one.runs for one in repeats], pa.list_(pa.string())),
    }
    pq.write_table(pa.table(columns), path)


def markdown(found: Experiment) -> str:
    """Return the report as Markdown; pictures are separate files."""
    rows = _rows(found)
    lines = [
        f"# {found.summary.title}",
        "",
        *(line for one in found.verdicts for line in (f"**{one.text}**", "")),
        _facts(found),
        "",
        *(f"- {text}" for text in found.warnings),
        "",
        "| " + " | ".join(rows[0]) + " |",
        "|" + " --- |" * len(rows[0]),
        *("| " + " | ".join(row) + " |" for row in rows[1:]),
        "",
    ]
    against = _against_rows(found)
    if against:
        lines += ["| " + " | ".join(against[0]) + " |", "|" + " --- |" * len(against[0])]
        lines += [*("| " + " | ".join(row) + " |" for row in against[1:]), ""]
    for chart in found.charts:
        lines += [
            f"![{chart.title}]({chart.id}.svg)",
            "",
            *([chart.note, ""] if chart.note else []),
        ]
    lines += ["## Set-up", "", *(f"- {one.name}: {one.value}" for one in found.setup), ""]
    lines += [*_notes_of_cells(found), "", found.confidence, ""]
    return "\n".join(lines)


def page(found: Experiment) -> str:
    """Return the report as one self-contained HTML file."""
    figures = [
        f"<figure>{draw_chart(one)}<figcaption>{escape(one.note)}</figcaption></figure>"
        for one in found.charts
    ]
    setup = [f"<li>{escape(one.name)}: {escape(one.value)}</li>" for one in found.setup]
    title = escape(found.summary.title)
    return "\n".join(
        [
            '<!doctype html><html lang="en"><head><meta charset="utf-8">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f"<title>{title}</title><style>{STYLE}</style></head><body>",
            f'<h1>{title}</h1><p class="muted">{escape(_facts(found))}</p>',
            *(f"<p><strong>{escape(one.text)}</strong></p>" for one in found.verdicts),
            "<ul>",
            *(f"<li>{escape(text)}</li>" for text in found.warnings),
            "</ul>",
            *_table(_rows(found)),
            *_table(_against_rows(found)),
            *figures,
            "<h2>Set-up</h2><ul>",
            *setup,
            "</ul>",
            *(f"<p>{escape(text.removeprefix('- '))}</p>" for text in _notes_of_cells(found)),
            f'<p class="muted">{escape(found.confidence)}</p></body></html>',
            "",
        ]
    )


def _table(rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield a table of HTML; empty without rows."""
    if rows:
        yield "<table><thead><tr>"
        yield from _row("th", rows[0])
        yield "</tr></thead>"
        for row in rows[1:]:
            yield "".join(["<tr>", *_row("td", row), "</tr>"])
        yield "</table>"


def _row(tag: str, texts: Sequence[str]) -> Iterator[str]:
    for at, one in enumerate(texts):
        yield f"<{tag}{' class=number' if at else ''}>{escape(one)}</{tag}>"


def _against_rows(found: Experiment) -> list[list[str]]:
    """Return rows of performance and cost against the baselines; empty if no cell has one."""
    rows = [
        [cell.key, *(gain_text(_of(cell, name)) or "unknown" for name in AGAINST)]
        for cell in found.cells
        if cell.baseline is not None
    ]
    steered = "policy" in {one.name for cell in found.cells for one in cell.values}
    head = [
        *(
            "against the default" if steered else "against the first variant",
            "throughput",
            "operations per CPU second",
        ),
        *("power", "operations per watt"),
    ]
    return [head, *rows] if rows else []


def _facts(found: Experiment) -> str:
    began_at = time.gmtime(found.summary.started_unix_us / 1e6)
    rule = (
        "Variants alternate in random order until their differences are known, or the time is up."
        if found.verdicts
        else f"A cell has {range_text(found)} repeats, until their standard deviation is at most "
        f"{found.deviation:.0%} of their mean."
    )
    return (
        f"Experiment {found.summary.id}, begun {time.strftime('%Y-%m-%d %H:%M', began_at)} UTC, "
        f"{found.summary.state}: {found.summary.repeats} repeats of {found.summary.cells} cells; "
        f"{' beside '.join(found.summary.workloads)}. {rule}"
    )


def range_text(found: Experiment) -> str:
    """Return the number of repeats of a cell as text."""
    return str(found.most) if found.least == found.most else f"{found.least} to {found.most}"


def _rows(found: Experiment) -> list[list[str]]:
    others = [
        one
        for name in RESULTS
        if (one := next((got for cell in found.cells if (got := _of(cell, name))), None))
    ]
    head = ["cell", f"{found.unit} a second", "σ", "repeats"]
    head += [f"{one.label}, {one.unit}" if one.unit else one.label for one in others]
    rows = [head]
    for cell in found.cells:
        own = _of(cell, THROUGHPUT)
        row = [cell.key, *_mean(own), f"{len(_values(own))} ({cell.standing})"]
        row += [_mean(_of(cell, one.name))[0] for one in others]
        rows.append(row)
    return rows


def _mean(own: ExperimentFigure | None) -> tuple[str, str]:
    """Return the mean ± half the interval, and the standard deviation in percent of the mean."""
    if own is None or own.figure.mean is None:
        return "unknown", ""
    figure, mean = own.figure, own.figure.mean or 0.0
    text = _number(mean)
    if figure.high is not None:
        text += f" ± {_number(figure.high - mean)}"
    if figure.std_dev is None or not mean:
        return text, ""
    return text, f"{100 * figure.std_dev / abs(mean):.1f} %"


def gain_text(own: ExperimentFigure | None) -> str:
    """Return the gain with interval and verdict; empty if there is none."""
    if own is None or own.gain is None or own.gain.percent is None or not own.gain.absolute:
        return ""
    gain = own.gain
    percent, found = own.gain.percent, ends_in_percent(own.gain)
    ends = "" if found is None else f" [{found[0]:+.1f}, {found[1]:+.1f}]"
    verdict = "no difference shown" if gain.verdict == "unclear" else gain.verdict
    return f"{percent:+.1f} %{ends} {verdict}{_correction(own)}"


def _correction(own: ExperimentFigure) -> str:
    """Return the corrected p-value as text; empty for a single comparison."""
    if own.adjusted_p is None or own.comparisons < 2:
        return ""
    return f", p = {own.adjusted_p:.2g} of {own.comparisons} (Holm)"


def _of(cell: ExperimentCell, name: str) -> ExperimentFigure | None:
    return next((one for one in cell.figures if one.name == name), None)


def _values(own: ExperimentFigure | None) -> list[float]:
    return [] if own is None else [one for one in own.figure.values if one is not None]


def _notes_of_cells(found: Experiment) -> Iterator[str]:
    for cell in found.cells:
        for text in cell.warnings:
            yield f"- {cell.key}: {text}"
        for text in dict.fromkeys(cell.failures):
            yield f"- {cell.key}: a repeat failed: {text}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
