"""Call trees of functions, made of the tables `stack_frames` and `stack_nodes`. Pure.

A frame with inlined functions becomes a node for each. Frames of one function with one caller are
one node, whatever their lines; the node has the line with the most time.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
from tidscope_wire.frame_tables import Table

from tidscope_backend.stacks.code import Code, codes_of
from tidscope_backend.stacks.estimate import UNKNOWN, Ints
from tidscope_backend.stacks.intervals import Floats
from tidscope_backend.stacks.program_code import own_code

MAX_DEPTH = 1024
"""Maximum frames of a stack. Outer frames of a deeper one are omitted."""
ROOT = -1


@dataclass
class CallTree:
    """A tree of functions.

    Attributes:
        parent: index of the caller, smaller than the node's; ROOT if none.
        code: function of each node.
    """

    parent: list[int] = field(default_factory=list)
    code: list[Code] = field(default_factory=list)
    _children: dict[tuple[int, Code], int] = field(default_factory=dict)

    def child(self, parent: int, code: Code) -> int:
        """Return the node of a function called by a node; it is added if needed."""
        key = parent, code
        node = self._children.get(key)
        if node is None:
            node = self._children[key] = len(self.parent)
            self.parent.append(parent)
            self.code.append(code)
        return node

    def path(self, node: int) -> Iterator[int]:
        """Yield a node and its callers, the innermost first."""
        while node != ROOT:
            yield node
            node = self.parent[node]


class Stacks:
    """The stacks of tables.

    Args:
        frames: rows of `stack_frames`.
        nodes: rows of `stack_nodes`.
    """

    def __init__(self, frames: Table, nodes: Table) -> None:
        self._rows: dict[int, tuple[int, int]] = {
            number: (parent, frame) for number, parent, frame in nodes.tolist()
        }
        self._frames = {int(row["frame"]): row for row in frames}
        self._expanded: dict[int, tuple[Code, ...]] = {}
        self._own: dict[int, Code | None] = {}

    def stack(self, node: int) -> list[Code]:
        """Return the functions of a stack, the innermost first; empty if unknown."""
        found: list[Code] = []
        for _, _, frame in self._chain(node, ()):
            found += reversed(self._codes(frame))
        return found

    def own(self, node: int) -> Code | None:
        """Return the program's own code at the end of a stack; see `own_code`."""
        if node not in self._own:
            self._own[node] = own_code(self.stack(node))
        return self._own[node]

    def tree(self, nodes: Ints) -> tuple[CallTree, Ints]:
        """Make the tree of stacks, with a node for each line.

        Args:
            nodes: numbers of innermost nodes, 0 for unknown.

        Returns:
            The tree, and for each of `nodes` its node there, or UNKNOWN.
        """
        tree, places = CallTree(), dict[int, int]()
        different, inverse = np.unique(nodes, return_inverse=True)
        for node in different.tolist():
            chain = list(self._chain(node, places))
            place = places[chain[-1][1]] if chain and chain[-1][1] in places else ROOT
            for one, _, frame in reversed(chain):
                for code in self._codes(frame):
                    place = tree.child(place, code)
                places[one] = place
        leaves = np.array([places.get(node, ROOT) for node in different.tolist()], np.int64)
        return tree, np.where(leaves == ROOT, UNKNOWN, leaves)[inverse]

    def _chain(self, node: int, known: Container[int]) -> Iterator[tuple[int, int, int]]:
        """Yield node, parent and frame from a node up to a root or the first known node."""
        for _ in range(MAX_DEPTH):
            row = self._rows.get(node)
            if row is None or node in known:
                return
            yield node, *row
            node = row[0]

    def _codes(self, frame: int) -> tuple[Code, ...]:
        """Return the functions of a frame, the outermost first."""
        codes = self._expanded.get(frame)
        if codes is None:
            row = self._frames.get(frame)
            codes = self._expanded[frame] = () if row is None else tuple(codes_of(row))
        return codes


def by_function(tree: CallTree, leaves: Ints, time: Floats) -> tuple[CallTree, Ints]:
    """Join nodes that differ by their line only.

    Args:
        tree: a tree with a node for each line.
        leaves: [n], innermost nodes of samples, or UNKNOWN.
        time: [n], time of samples, by which lines are chosen.

    Returns:
        The joined tree, whose functions have the line with the most time, and its leaves.
    """
    joined, places = CallTree(), list[int]()
    for parent, code in zip(tree.parent, tree.code, strict=True):
        above = ROOT if parent == ROOT else places[parent]
        places.append(joined.child(above, code.of_function))
    known = leaves != UNKNOWN
    spent = np.bincount(leaves[known], time[known], len(places))
    for node in range(len(places) - 1, -1, -1):
        if tree.parent[node] != ROOT:
            spent[tree.parent[node]] += spent[node]
    best: dict[tuple[int, int], float] = {}
    for node, place in enumerate(places):
        key = place, tree.code[node].line
        best[key] = best.get(key, 0.0) + float(spent[node])
    for place, line in _heaviest(best):
        joined.code[place] = joined.code[place]._replace(line=line)
    table = np.array([*places, UNKNOWN], np.int64)
    return joined, table[leaves]


def _heaviest(best: dict[tuple[int, int], float]) -> Iterable[tuple[int, int]]:
    lines: dict[int, tuple[float, int]] = {}
    for (place, line), time in best.items():
        # The first of lines with equal times, so that the order of samples does not matter.
        lines[place] = max(lines.get(place, (-1.0, 0)), (time, -line))
    return ((place, -line) for place, (_, line) in lines.items())
