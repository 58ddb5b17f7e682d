"""Flame graphs and places of an account. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from tidscope_wire.generated.models import StackFrame, StackNode, StackPlace

from tidscope_backend.stacks.code import Code
from tidscope_backend.stacks.estimate import UNKNOWN, Estimate, Ints, calibrated, depths, estimate
from tidscope_backend.stacks.intervals import Floats
from tidscope_backend.stacks.trees import ROOT, CallTree, Stacks, by_function
from tidscope_backend.stacks.units import Account

MAX_NODES = 5_000
"""Maximum nodes of an answer; the widest ones are kept."""


class Flame(NamedTuple):
    """A tree with the time of its nodes.

    Attributes:
        tree: functions.
        times: times of the nodes.
        exact_ns: time of the selection, sampled or not.
        samples: samples with a known stack.
    """

    tree: CallTree
    times: Estimate
    exact_ns: float
    samples: int

    @property
    def unseen_ns(self) -> float:
        """Time without a known stack."""
        seen = self.times.exact_ns - self.times.unseen_ns
        return max(0.0, self.exact_ns - seen)


def flame(account: Account, stacks: Stacks) -> Flame:
    """Divide the time of an account over the tree of its stacks."""
    tree, leaves = stacks.tree(account.units.node)
    time = calibrated(account.units, account.strata)
    tree, leaves = by_function(tree, leaves, time)
    units = account.units._replace(node=leaves)
    parent = np.array(tree.parent, np.int64)
    times = estimate(units, account.strata, parent, account.first_stage)
    known = (leaves != UNKNOWN) & (units.value > 0)
    return Flame(tree, times, account.exact_ns, int(np.count_nonzero(known)))


class Chosen(NamedTuple):
    """Nodes that an answer has, parents first and then the widest.

    Attributes:
        nodes: their indices in the tree.
        parents: index of each one's parent among `nodes`, or -1.
        omitted: number of other nodes.
    """

    nodes: list[int]
    parents: list[int]
    omitted: int


def widest(parent: Ints, width: Floats, most: int = MAX_NODES) -> Chosen:
    """Choose the widest nodes of a tree. A node is never wider than its parent."""
    depth = depths(parent)
    kept = np.lexsort((np.arange(len(parent)), depth, -width))[:most]
    ordered = kept[np.lexsort((-width[kept], depth[kept]))].tolist()
    place = {node: at for at, node in enumerate(ordered)}
    above = [place.get(int(parent[node]), -1) for node in ordered]
    return Chosen(ordered, above, len(parent) - len(ordered))


def nodes_of(found: Flame, most: int = MAX_NODES) -> tuple[list[StackFrame], list[StackNode], int]:
    """Return frames, nodes and the number of omitted nodes of a flame graph."""
    times, tree = found.times, found.tree
    chosen = widest(np.array(tree.parent, np.int64), times.ns, most)
    frames = FrameList()
    nodes = [
        StackNode(
            parent=parent,
            frame=frames.place(tree.code[node]),
            ns=float(times.ns[node]),
            self_ns=float(times.self_ns[node]),
            low_ns=float(times.low_ns[node]),
            high_ns=float(times.high_ns[node]),
            samples=int(times.samples[node]),
        )
        for node, parent in zip(chosen.nodes, chosen.parents, strict=True)
    ]
    return frames.models, nodes, chosen.omitted


class FrameList:
    """Functions of an answer, each once.

    Attributes:
        models: the functions.
    """

    def __init__(self) -> None:
        self.models: list[StackFrame] = []
        self._places: dict[Code, int] = {}

    def place(self, code: Code) -> int:
        """Return the index of a function; it is added if needed."""
        place = self._places.get(code)
        if place is None:
            place = self._places[code] = len(self.models)
            self.models.append(code.model())
        return place


def place_of(account: Account, stacks: Stacks) -> StackPlace | None:
    """Return the code with the most time of an account; None without a known stack."""
    found = places_of(account, stacks)
    return found[0] if found else None


def places_of(account: Account, stacks: Stacks) -> Sequence[StackPlace]:
    """Return the program's own code at the end of each stack, most time first."""
    tree = CallTree()
    different, inverse = np.unique(account.units.node, return_inverse=True)
    codes = map(stacks.own, different.tolist())
    places = [UNKNOWN if code is None else tree.child(ROOT, code) for code in codes]
    leaves = np.array(places, np.int64)[inverse]
    tree, leaves = by_function(tree, leaves, calibrated(account.units, account.strata))
    units = account.units._replace(node=leaves)
    parent = np.array(tree.parent, np.int64)
    times = estimate(units, account.strata, parent, account.first_stage)
    seen = times.exact_ns - times.unseen_ns
    samples = int(np.count_nonzero((leaves != UNKNOWN) & (units.value > 0)))
    if seen <= 0:
        return []
    return [
        StackPlace(
            function=tree.code[node].function,
            file=tree.code[node].file,
            line=tree.code[node].line,
            module=tree.code[node].module,
            share=min(1.0, float(times.ns[node]) / seen),
            low=min(1.0, float(times.low_ns[node]) / seen),
            high=min(1.0, float(times.high_ns[node]) / seen),
            samples=samples,
        )
        for node in np.argsort(-times.ns, kind="stable").tolist()
    ]
