"""The critical paths of many traces as one tree: the weighted calling-context tree.

Source: CRISP, section 4.5.3. Paths with the same chain of callers are one node, with weights summed
over all traces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.traces import Summaries, sum_upwards

MAX_EXEMPLARS = 3


@dataclass(frozen=True, slots=True)
class ContextTree:
    """Sums over all traces by calling context; each list has one entry per node.

    Attributes:
        traces: number of traces.
        operations: operation of each node.
        parents: caller of each node, which precedes it; -1 for roots.
        inclusive_ns: time on the path in the node and its descendants.
        exclusive_ns: own time on the path in the node.
        count: number of spans on the path.
        trace_count: number of traces with such a span on the path.
        exemplars: IDs of the traces with the greatest inclusive time, up to MAX_EXEMPLARS.
    """

    traces: int = 0
    operations: list[Operation] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    inclusive_ns: list[int] = field(default_factory=list)
    exclusive_ns: list[int] = field(default_factory=list)
    count: list[int] = field(default_factory=list)
    trace_count: list[int] = field(default_factory=list)
    exemplars: list[list[str]] = field(default_factory=list)

    def chain(self, node: int) -> list[Operation]:
        """Return operations from the root to a node."""
        return [self.operations[place] for place in chain_of(self.parents, node)]


def chain_of(parents: Sequence[int], node: int) -> list[int]:
    """Return the nodes from the root to a node."""
    chain: list[int] = []
    while node >= 0:
        chain.append(node)
        node = parents[node]
    return chain[::-1]


def merge_contexts(summaries: Summaries) -> tuple[ContextTree, list[list[int]]]:
    """Merge all traces into a tree, and return each trace's node per column of its contexts.

    Nodes are in depth-first order, siblings by descending inclusive time. The result does not
    depend on the order of traces.
    """
    places: dict[tuple[int, int], int] = {}
    operations: list[int] = []
    parents: list[int] = []
    exclusive: list[int] = []
    count: list[int] = []
    trace_count: list[int] = []
    best: list[list[tuple[int, str]]] = []
    nodes: list[list[int]] = []
    for trace in summaries.traces:
        own: list[int] = []
        for operation, parent, inclusive, alone, spans, _ in trace.contexts.T.tolist():
            key = (own[parent] if parent >= 0 else -1, operation)
            place = places.setdefault(key, len(operations))
            if place == len(operations):
                operations.append(operation)
                parents.append(key[0])
                exclusive.append(0)
                count.append(0)
                trace_count.append(0)
                best.append([])
            exclusive[place] += alone
            count[place] += spans
            trace_count[place] += 1
            _keep_best(best[place], (-inclusive, trace.trace_id))
            own.append(place)
        nodes.append(own)
    inclusive_ns = sum_upwards(parents, exclusive)
    names = summaries.catalogue.operations
    order = _walk(
        parents, [(-inclusive_ns[at], names[operations[at]]) for at in range(len(parents))]
    )
    moved = {place: index for index, place in enumerate(order)}
    tree = ContextTree(
        traces=len(summaries.traces),
        operations=[names[operations[place]] for place in order],
        parents=[moved.get(parents[place], -1) for place in order],
        inclusive_ns=[inclusive_ns[place] for place in order],
        exclusive_ns=[exclusive[place] for place in order],
        count=[count[place] for place in order],
        trace_count=[trace_count[place] for place in order],
        exemplars=[[trace_id for _, trace_id in best[place]] for place in order],
    )
    return tree, [[moved[place] for place in own] for own in nodes]


def _keep_best(best: list[tuple[int, str]], found: tuple[int, str]) -> None:
    if len(best) < MAX_EXEMPLARS:
        best.append(found)
        best.sort()
    elif found < best[-1]:
        best[-1] = found
        best.sort()


def _walk(parents: Sequence[int], keys: Sequence[tuple[int, Operation]]) -> list[int]:
    children: dict[int, list[int]] = {}
    for place, parent in enumerate(parents):
        children.setdefault(parent, []).append(place)
    order: list[int] = []
    waiting = [-1]
    while waiting:
        place = waiting.pop()
        if place >= 0:
            order.append(place)
        waiting.extend(sorted(children.get(place, ()), key=lambda at: keys[at], reverse=True))
    return order


@dataclass(frozen=True, slots=True)
class DifferenceTree:
    """Two merged trees; each list has one entry per node, times are means over traces.

    Attributes:
        base_traces, other_traces: number of traces in each set.
        operations: operation of each node.
        parents: caller of each node, which precedes it; -1 for roots.
        base_inclusive_ns, other_inclusive_ns: inclusive time on the path.
        base_exclusive_ns, other_exclusive_ns: own time on the path.
    """

    base_traces: int
    other_traces: int
    operations: list[Operation] = field(default_factory=list)
    parents: list[int] = field(default_factory=list)
    base_inclusive_ns: list[float] = field(default_factory=list)
    other_inclusive_ns: list[float] = field(default_factory=list)
    base_exclusive_ns: list[float] = field(default_factory=list)
    other_exclusive_ns: list[float] = field(default_factory=list)

    def grown(self) -> list[int]:
        """Return nodes by descending growth of own time, without those that did not grow."""
        by = [
            other - base
            for base, other in zip(self.base_exclusive_ns, self.other_exclusive_ns, strict=True)
        ]
        return sorted((node for node in range(len(by)) if by[node] > 0), key=lambda at: -by[at])


def compare_trees(base: ContextTree, other: ContextTree) -> DifferenceTree:
    """Merge two trees; nodes missing in one of them have 0 there."""
    result = DifferenceTree(base.traces, other.traces)
    places: dict[tuple[int, Operation], int] = {}
    sides = (
        (base, result.base_inclusive_ns, result.base_exclusive_ns),
        (other, result.other_inclusive_ns, result.other_exclusive_ns),
    )
    for tree, inclusive, exclusive in sides:
        own: list[int] = []
        for node, operation in enumerate(tree.operations):
            parent = tree.parents[node]
            key = (own[parent] if parent >= 0 else -1, operation)
            place = places.setdefault(key, len(result.operations))
            if place == len(result.operations):
                result.operations.append(operation)
                result.parents.append(key[0])
                for _, zero_inclusive, zero_exclusive in sides:
                    zero_inclusive.append(0.0)
                    zero_exclusive.append(0.0)
            own.append(place)
            inclusive[place] = tree.inclusive_ns[node] / tree.traces
            exclusive[place] = tree.exclusive_ns[node] / tree.traces
    return result
