"""An analysis as rows of text. Pure."""

from collections.abc import Iterator, Sequence

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.analysis import Analysis
from tidscope_traces.summary.difference import DifferenceTree
from tidscope_traces.summary.everywhere import RankedEverywhere
from tidscope_traces.summary.tree import chain_of

from tidscope_backend.critical_paths.exports import operation_text
from tidscope_backend.text import format_seconds, plural

ARROW = " → "
RANKING_HEAD = (
    *("operation", "share", "P50 own", "P95 own", "traces", "saving", "drag", "slack", "failed"),
)
EVERYWHERE_HEAD = ("over all endpoints", "mean share", "endpoints", "own time", "traces")
CHAIN_HEAD = ("chain of callers", "share", "a request", "requests", "slowest trace")
FAILURE_HEAD = ("path to the call that failed by itself", "requests", "depth", "one of them")
ANOMALY_HEAD = ("chain that stands out", "anomaly", "score", "duration", "trace")
GROWN_HEAD = ("what grew", "own time", "before", "after")


def facts(found: Analysis) -> list[str]:
    """How many traces there are, how long they took, and what was wrong with them."""
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
    """What a change would bring; None if it was not asked for."""
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
    """Rows of RANKING_HEAD, of operations by share."""
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
    """Rows of EVERYWHERE_HEAD, of operations by mean share."""
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


def chain_rows(found: Analysis, most: int) -> list[list[str]]:
    """Calling contexts by own time: chain, share, time of a trace, traces, the slowest of them."""
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
    """Calling contexts by how much their own time grew: chain, growth, before, after."""
    rows = []
    for node in found.grown()[:most]:
        chain = [found.operations[step] for step in chain_of(found.parents, node)]
        base, other = found.base_exclusive_ns[node], found.other_exclusive_ns[node]
        times = (other - base, base, other)
        rows.append([path_text(chain), *(format_seconds(round(value)) for value in times)])
    return rows


def failure_rows(found: Analysis, most: int) -> list[list[str]]:
    """Error paths: path, requests, depth, one of them."""
    return [
        [path_text(one.path), str(one.traces), str(len(one.path)), one.exemplar]
        for one in found.failures[:most]
    ]


def path_text(chain: Sequence[Operation]) -> str:
    """A chain of callers on one line; of a long one its ends."""
    names = [operation_text(operation) for operation in chain]
    if len(names) > 8:
        names = [*names[:3], f"({len(names) - 6} more)", *names[-3:]]
    return ARROW.join(names)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Lines of a table in a terminal: the first column left, cut to width; others right."""
    cells = [list(head), *(list(row) for row in rows)]
    first = min(width, max(len(row[0]) for row in cells))
    columns = range(1, len(head))
    widths = [max(len(row[at]) for row in cells) for at in columns]
    for row in cells:
        name = row[0] if len(row[0]) <= first else f"…{row[0][1 - first :]}"
        others = (f"{row[at]:>{size}}" for at, size in zip(columns, widths, strict=True))
        yield "  ".join([f"{name:{first}}", *others]).rstrip()
