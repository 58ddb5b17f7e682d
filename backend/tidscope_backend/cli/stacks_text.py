"""Flame graphs as a tree in the terminal, and as folded text."""

from collections.abc import Iterator

from tidscope_wire.generated.models import StackFrame, StackGraph, StackNode

THRESHOLD_PERCENT = 1.0
INDENT = "  "
FEW_SAMPLES = 10
"""Fewer samples are pointed out."""


def tree_lines(graph: StackGraph, what: str, threshold: float) -> Iterator[str]:
    """Lay a flame graph out as a tree.

    Args:
        graph: the flame graph.
        what: the selection, in words.
        threshold: minimum share of the time with a known stack; narrower nodes are counted only.
    """
    seconds = (graph.to_ns - graph.from_ns) / 1e9
    yield f"{what}: {duration(graph.exact_ns)} in {seconds:.1f} s, {_samples(graph.samples)}"
    if graph.reason:
        yield graph.reason
        return
    if graph.unseen_ns >= graph.exact_ns / 1000:
        share = graph.unseen_ns / graph.exact_ns
        yield f"{duration(graph.unseen_ns)} of it ({share:.0%}) without a known stack"
    if graph.note:
        yield graph.note
    yield ""
    yield f"{'time':>11}  {'95 % interval':^23}  {'n':>6}  code"
    seen = graph.exact_ns - graph.unseen_ns
    shown = 0
    for depth, node in _in_depth(graph.nodes):
        if node.ns >= seen * threshold:
            shown += 1
            code = INDENT * depth + code_text(graph.frames[node.frame])
            yield f"{duration(node.ns):>11}  {_interval(node)}  {node.samples:>6}  {code}"
    hidden = len(graph.nodes) - shown + graph.omitted_nodes
    if hidden:
        yield f"{hidden} narrower than {threshold:.1%} are not shown; --threshold 0 shows them"
    if graph.samples < FEW_SAMPLES:
        yield f"{_samples(graph.samples)} only: take stacks for longer to learn more"


def _samples(count: int) -> str:
    return f"{count} sample{'' if count == 1 else 's'}"


def _in_depth(nodes: list[StackNode]) -> Iterator[tuple[int, StackNode]]:
    """Yield depth and node, callees behind their callers, the widest first."""
    callees: dict[int, list[int]] = {}
    for place, node in enumerate(nodes):
        callees.setdefault(node.parent, []).append(place)
    waiting = [(0, place) for place in _widest(callees.get(-1, []), nodes)]
    while waiting:
        depth, place = waiting.pop()
        yield depth, nodes[place]
        waiting += [(depth + 1, one) for one in _widest(callees.get(place, []), nodes)]


def _widest(places: list[int], nodes: list[StackNode]) -> list[int]:
    """Sort nodes so that the widest is last, which is taken first."""
    return sorted(places, key=lambda place: nodes[place].ns)


def _interval(node: StackNode) -> str:
    return f"{duration(node.low_ns):>10} .. {duration(node.high_ns):<10}"[:24]


def duration(ns: float) -> str:
    """Format nanoseconds, in seconds or a smaller unit."""
    if ns >= 1e9:
        return f"{ns / 1e9:.3f} s"
    if ns >= 1e6:
        return f"{ns / 1e6:.3f} ms"
    return f"{ns / 1e3:.1f} µs"


def code_text(frame: StackFrame) -> str:
    """Describe a function with its place."""
    inlined = " (inlined)" if frame.inlined else ""
    if frame.file:
        line = f":{frame.line}" if frame.line else ""
        return f"{frame.function}{inlined}  {frame.file.rpartition('/')[2]}{line}"
    where = f"  [{frame.module}]" if frame.module and frame.named else ""
    return f"{frame.function}{inlined}{where}"


def folded_lines(graph: StackGraph) -> Iterator[str]:
    """Yield folded stacks: functions separated by semicolons, and nanoseconds."""
    paths: list[str] = []
    for node in graph.nodes:
        name = graph.frames[node.frame].function.replace(";", ":").replace("\n", " ")
        paths.append(name if node.parent < 0 else f"{paths[node.parent]};{name}")
    # Nodes that the answer omits as too narrow: their time counts for their callers.
    rest = [node.ns for node in graph.nodes]
    for node in graph.nodes:
        if node.parent >= 0:
            rest[node.parent] -= node.ns
    for path, ns in zip(paths, rest, strict=True):
        if round(ns) > 0:
            yield f"{path} {round(ns)}"
    if round(graph.unseen_ns):
        yield f"[unseen] {round(graph.unseen_ns)}"
