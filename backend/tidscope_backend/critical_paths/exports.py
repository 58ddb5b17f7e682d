"""Analyses as text, as JSON, and in formats of other programs. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.analysis import Analysis
from tidscope_traces.summary.durations import Durations
from tidscope_traces.summary.ranking import RankedEverywhere
from tidscope_traces.summary.shapes import Shape
from tidscope_traces.summary.tree import ContextTree, DifferenceTree, chain_of

from tidscope_backend.text import format_seconds, plural

DEEPEST_STACK = 500
"""Maximum callers in a folded stack."""


def operation_text(operation: Operation) -> str:
    """Return an operation as text: service and name."""
    return f"{operation.service}: {operation.name}"


def folded_stacks(tree: ContextTree) -> Iterator[str]:
    """Yield lines for flamegraph.pl, inferno or speedscope: chain of callers; own time in µs.

    Times below a microsecond are omitted; semicolons in names become commas. Time below
    DEEPEST_STACK callers is added to the last of them: lines name all callers, so output would grow
    quadratically with depth.
    """
    chains: list[str] = []
    lines: list[int] = []
    depths: list[int] = []
    own_ns: list[int] = []
    for operation, parent, exclusive_ns in zip(
        tree.operations, tree.parents, tree.exclusive_ns, strict=True
    ):
        depth = 1 + (depths[lines[parent]] if parent >= 0 else 0)
        if depth > DEEPEST_STACK:
            lines.append(lines[parent])
            own_ns[lines[parent]] += exclusive_ns
            continue
        name = " ".join(operation_text(operation).replace(";", ",").split())
        lines.append(len(chains))
        chains.append(f"{chains[lines[parent]]};{name}" if parent >= 0 else name)
        depths.append(depth)
        own_ns.append(exclusive_ns)
    for chain, time_ns in zip(chains, own_ns, strict=True):
        if time_ns >= 1000:
            yield f"{chain} {time_ns // 1000}"


def dot_graph(tree: ContextTree, least_share: float = 0.0) -> Iterator[str]:
    """Yield lines of Graphviz: nodes are calling contexts, redder by own time.

    Args:
        tree: tree of the traces.
        least_share: minimum share of inclusive time; nodes with less are omitted.
    """
    total_ns = sum(tree.exclusive_ns) or 1
    yield "digraph critical_path {"
    yield '  node [shape=box, style=filled, fontname="sans-serif", colorscheme=reds9];'
    yield "  rankdir=LR;"
    for node, operation in enumerate(tree.operations):
        share = tree.inclusive_ns[node] / total_ns
        if share < least_share:
            continue
        own = tree.exclusive_ns[node] / total_ns
        label = _quoted(
            f"{operation_text(operation)}\n{own:.1%} own, {share:.1%} with callees\n"
            f"in {tree.trace_count[node]} of {tree.traces} traces"
        )
        shade = 1 + min(5, round(own * 10))
        yield f"  n{node} [label={label}, fillcolor={shade}];"
        if tree.parents[node] >= 0:
            width = 1 + 5 * share
            yield f"  n{tree.parents[node]} -> n{node} [penwidth={width:.1f}];"
    yield "}"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def analysis_json(found: Analysis) -> dict[str, Any]:
    """Return a complete analysis; times in nanoseconds, shares from 0 to 1."""
    tree = found.tree
    return {
        "traces": found.traces,
        "left_out": found.left_out,
        "errors": found.errors,
        "skew": {
            "truncated_traces": found.truncated_traces,
            "dropped_traces": found.dropped_traces,
            "truncated_share": found.truncated_share,
        },
        "duration": _durations(found.duration),
        "projected": None if found.projected is None else _durations(found.projected),
        "tree": [
            {
                **_named(operation),
                "parent": tree.parents[node],
                "inclusive_ns": tree.inclusive_ns[node],
                "exclusive_ns": tree.exclusive_ns[node],
                "count": tree.count[node],
                "traces": tree.trace_count[node],
                "exemplars": tree.exemplars[node],
            }
            for node, operation in enumerate(tree.operations)
        ],
        "ranking": [
            {
                **_named(row.operation),
                "p50_exclusive_ns": row.p50_exclusive_ns,
                "p95_exclusive_ns": row.p95_exclusive_ns,
                "share": row.share,
                "traces": row.traces,
                "calls": row.calls,
                "saving_ns": row.saving_ns,
                "drag_ns": row.drag_ns,
                "slack_ns": row.slack_ns,
                "error_share": row.error_share,
            }
            for row in found.ranking
        ],
        "failures": [
            {
                "path": [_named(operation) for operation in one.path],
                "count": one.count,
                "traces": one.traces,
                "exemplar": one.exemplar,
            }
            for one in found.failures
        ],
    }


SHAPES = {
    "spans": "spans",
    "operations": "operations",
    "duration_ns": "latency",
    "depth": "longest chain of calls",
    "path_spans": "spans on the critical path",
    "concurrency": "calls at once",
    "path_operations": "operations on the critical path",
    "callers": "callers of an operation",
}
"""Names of the distributions, for people."""
SHAPE_HEAD = ("of a request", "mean", "P50", "P95", "most")


def everywhere_json(ranked: Sequence[RankedEverywhere]) -> list[dict[str, Any]]:
    """Return the ranking over all endpoints."""
    return [
        {
            **_named(row.operation),
            "mean_share": row.mean_share,
            "exclusive_ns": row.exclusive_ns,
            "endpoints": row.endpoints,
            "traces": row.traces,
        }
        for row in ranked
    ]


def difference_json(found: DifferenceTree) -> dict[str, Any]:
    """Return a difference; times are means of a trace, in nanoseconds."""
    return {
        "base_traces": found.base_traces,
        "other_traces": found.other_traces,
        "tree": [
            {
                **_named(operation),
                "parent": found.parents[node],
                "base_inclusive_ns": round(found.base_inclusive_ns[node]),
                "other_inclusive_ns": round(found.other_inclusive_ns[node]),
                "base_exclusive_ns": round(found.base_exclusive_ns[node]),
                "other_exclusive_ns": round(found.other_exclusive_ns[node]),
            }
            for node, operation in enumerate(found.operations)
        ],
        "grown": found.grown(),
    }


def _durations(found: Durations) -> dict[str, Any]:
    return {
        "p50_ns": found.p50_ns,
        "p95_ns": found.p95_ns,
        "p99_ns": found.p99_ns,
        "histogram": {"bounds_ns": found.bounds_ns, "counts": found.counts},
    }


def _named(operation: Operation) -> dict[str, str]:
    return {"service": operation.service, "operation": operation.name}


ARROW = " → "
NAME_WIDTH = 44
"""Width of a column of operations, in characters."""
RANKING_HEAD = (
    *("operation", "share", "P50 own", "P95 own", "traces", "saving", "drag", "slack", "failed"),
)
EVERYWHERE_HEAD = ("over all endpoints", "mean share", "endpoints", "own time", "traces")
CHAIN_HEAD = ("chain of callers", "share", "a request", "requests", "slowest trace")
FAILURE_HEAD = ("path to the call that failed by itself", "requests", "depth", "one of them")
ANOMALY_HEAD = ("chain that stands out", "anomaly", "score", "duration", "trace")
GROWN_HEAD = ("what grew", "own time", "before", "after")


def facts(found: Analysis) -> list[str]:
    """Return lines on the number of requests, latency percentiles and defects."""
    duration = found.duration
    lines = [
        f"{plural(found.traces, 'request')}: P50 {format_seconds(duration.p50_ns)}, "
        f"P95 {format_seconds(duration.p95_ns)}, P99 {format_seconds(duration.p99_ns)}"
    ]
    if found.errors:
        lines.append(f"{plural(found.errors, 'request')} failed")
    if found.truncated_traces or found.dropped_traces:
        lines.append(
            f"clocks differ: spans cut in {plural(found.truncated_traces, 'trace')} "
            f"({found.truncated_share:.2%} of the time), left out in {found.dropped_traces}"
        )
    if found.left_out:
        lines.append(f"{plural(found.left_out, 'trace')} did not match")
    return lines


def projection_text(found: Analysis, operation: Operation, less_ns: int) -> str | None:
    """Return a sentence on the projected latencies, or None if no projection was requested."""
    if found.projected is None:
        return None
    pairs = [
        f"{name} {format_seconds(was)}{ARROW}{format_seconds(would)}"
        for name, was, would in (
            ("P50", found.duration.p50_ns, found.projected.p50_ns),
            ("P95", found.duration.p95_ns, found.projected.p95_ns),
            ("P99", found.duration.p99_ns, found.projected.p99_ns),
        )
    ]
    change = f"{format_seconds(abs(less_ns))} {'less' if less_ns >= 0 else 'more'}"
    return f"if {operation_text(operation)} took {change}: {', '.join(pairs)}"


def ranking_rows(found: Analysis, most: int) -> list[list[str]]:
    """Return rows of RANKING_HEAD, of operations by share."""
    return [
        [
            operation_text(row.operation),
            f"{row.share:.1%}",
            format_seconds(row.p50_exclusive_ns),
            format_seconds(row.p95_exclusive_ns),
            str(row.traces),
            *(
                "" if value is None else format_seconds(value)
                for value in (row.saving_ns, row.drag_ns, row.slack_ns)
            ),
            f"{row.error_share:.0%}" if row.error_share else "",
        ]
        for row in found.ranking[:most]
    ]


def everywhere_rows(ranked: Sequence[RankedEverywhere], most: int) -> list[list[str]]:
    """Return rows of EVERYWHERE_HEAD, of operations by mean share."""
    return [
        [
            operation_text(row.operation),
            f"{row.mean_share:.1%}",
            str(row.endpoints),
            format_seconds(row.exclusive_ns),
            str(row.traces),
        ]
        for row in ranked[:most]
    ]


def shape_rows(shapes: Sequence[Shape]) -> list[list[str]]:
    """Return rows of SHAPE_HEAD."""
    return [
        [
            SHAPES[one.name],
            *(
                format_seconds(round(value)) if one.name == "duration_ns" else f"{value:.4g}"
                for value in (one.mean, one.p50, one.p95, one.most)
            ),
        ]
        for one in shapes
    ]


def chain_rows(found: Analysis, most: int) -> list[list[str]]:
    """Return calling contexts by own time: chain, share, time per trace, traces, slowest trace."""
    tree = found.tree
    total_ns = sum(tree.exclusive_ns) or 1
    nodes = sorted(range(len(tree.operations)), key=lambda node: -tree.exclusive_ns[node])[:most]
    return [
        [
            path_text(tree.chain(node)),
            f"{tree.exclusive_ns[node] / total_ns:.1%}",
            format_seconds(tree.exclusive_ns[node] // tree.traces),
            str(tree.trace_count[node]),
            tree.exemplars[node][0],
        ]
        for node in nodes
        if tree.exclusive_ns[node]
    ]


def grown_rows(found: DifferenceTree, most: int) -> list[list[str]]:
    """Return calling contexts by growth of own time: chain, growth, before, after."""
    rows = []
    for node in found.grown()[:most]:
        chain = [found.operations[step] for step in chain_of(found.parents, node)]
        base, other = found.base_exclusive_ns[node], found.other_exclusive_ns[node]
        times = (other - base, base, other)
        rows.append([path_text(chain), *(format_seconds(round(value)) for value in times)])
    return rows


def failure_rows(found: Analysis, most: int) -> list[list[str]]:
    """Return error paths: path, requests, depth, example."""
    return [
        [path_text(one.path), str(one.traces), str(len(one.path)), one.exemplar]
        for one in found.failures[:most]
    ]


def path_text(chain: Sequence[Operation]) -> str:
    """Format a chain of callers in one line; a long one is cut in the middle."""
    names = [operation_text(operation) for operation in chain]
    if len(names) > 8:
        names = [*names[:3], f"({len(names) - 6} more)", *names[-3:]]
    return ARROW.join(names)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Format a terminal table: first column left-aligned and cut, other columns right-aligned."""
    cells = [list(head), *(list(row) for row in rows)]
    first = min(width, max(len(row[0]) for row in cells))
    columns = range(1, len(head))
    widths = [max(len(row[at]) for row in cells) for at in columns]
    for row in cells:
        name = row[0] if len(row[0]) <= first else f"…{row[0][1 - first :]}"
        others = (f"{row[at]:>{size}}" for at, size in zip(columns, widths, strict=True))
        yield "  ".join([f"{name:{first}}", *others]).rstrip()
