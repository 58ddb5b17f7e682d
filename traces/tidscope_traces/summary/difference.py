"""Two sets of traces compared: what grew, by calling context.

Source: the differential flame graphs of CRISP, section 4.6.1.
"""

from dataclasses import dataclass, field

from tidscope_traces.spans.model import Operation
from tidscope_traces.summary.tree import ContextTree


@dataclass(frozen=True, slots=True)
class DifferenceTree:
    """Two trees as one; each list has one entry for each node, times are means over their traces.

    Attributes:
        base_traces, other_traces: how many each set has.
        operations: of each node.
        parents: the caller of each node, which stands before it; -1 for roots.
        base_inclusive_ns, other_inclusive_ns: on the path in the node and all beneath it.
        base_exclusive_ns, other_exclusive_ns: on the path in the node itself.
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
        """Nodes by how much their own time grew, the most first; without those that did not."""
        by = [
            other - base
            for base, other in zip(self.base_exclusive_ns, self.other_exclusive_ns, strict=True)
        ]
        return sorted((node for node in range(len(by)) if by[node] > 0), key=lambda at: -by[at])


def compare_trees(base: ContextTree, other: ContextTree) -> DifferenceTree:
    """Lay one tree over another; nodes that one of them lacks have 0 there."""
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
