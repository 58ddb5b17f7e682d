"""Differences of two selections, per second of window. Pure."""

from typing import NamedTuple

import numpy as np
from tidscope_wire.generated.models import (
    StackDifference,
    StackDifferenceNode,
    StackSelection,
)

from tidscope_backend.stacks.graphs import MAX_NODES, Flame, FrameList, widest
from tidscope_backend.stacks.intervals import Floats, difference
from tidscope_backend.stacks.trees import ROOT, CallTree

SECOND_NS = 1e9


class Side(NamedTuple):
    """One side of a difference.

    Attributes:
        label: display name.
        seconds: length of the window.
        flame: its flame graph; None if no times are known.
        reason: why there is no flame graph; empty if there is one.
    """

    label: str
    seconds: float
    flame: Flame | None
    reason: str

    def selection(self) -> StackSelection:
        """Return the model."""
        made = self.flame
        return StackSelection(
            label=self.label,
            seconds=self.seconds,
            exact_ns=0 if made is None else made.exact_ns,
            unseen_ns=0 if made is None else made.unseen_ns,
            samples=0 if made is None else made.samples,
        )


def stack_difference(before: Side, after: Side, most: int = MAX_NODES) -> StackDifference:
    """Compare two sides; nodes with the same path of functions are the same.

    Args:
        before: the first side.
        after: the second side.
        most: maximum nodes; the widest ones are kept.
    """
    reason = _reason(before.reason, after.reason)
    frames, nodes, omitted = FrameList(), list[StackDifferenceNode](), 0
    if not reason and before.flame is not None and after.flame is not None:
        tree = CallTree()
        first, second = (_rates(side, tree) for side in (before, after))
        count = len(tree.parent)
        one, other = first.grown_to(count), second.grown_to(count)
        low, high = difference(*one, *other)
        width = np.maximum(one.mean, other.mean)
        chosen = widest(np.array(tree.parent, np.int64), width, most)
        omitted = chosen.omitted
        nodes = [
            StackDifferenceNode(
                parent=parent,
                frame=frames.place(tree.code[node]),
                before=float(one.mean[node]),
                after=float(other.mean[node]),
                before_low=float(one.low[node]),
                before_high=float(one.high[node]),
                after_low=float(other.low[node]),
                after_high=float(other.high[node]),
                low=float(low[node]),
                high=float(high[node]),
            )
            for node, parent in zip(chosen.nodes, chosen.parents, strict=True)
        ]
    return StackDifference(
        before=before.selection(),
        after=after.selection(),
        frames=frames.models,
        nodes=nodes,
        omitted_nodes=omitted,
        reason=reason,
    )


def _reason(before: str, after: str) -> str:
    """Return why nothing can be compared, and of which side; empty if both are there."""
    if before == after:
        return before
    return f"Before: {before}" if before else f"After: {after}"


class _Means(NamedTuple):
    """Seconds a second of nodes, with the ends of their intervals."""

    mean: Floats
    low: Floats
    high: Floats


class _Rates(NamedTuple):
    """Rates of one side's nodes, at their places in the common tree."""

    places: list[int]
    means: _Means
    absent_high: float

    def grown_to(self, count: int) -> _Means:
        """Return the rates of all nodes of the common tree, 0 where the side has none."""
        mean, low, high = np.zeros(count), np.zeros(count), np.full(count, self.absent_high)
        for whole, own in zip((mean, low, high), self.means, strict=True):
            whole[self.places] = own
        return _Means(mean, low, high)


def _rates(side: Side, tree: CallTree) -> _Rates:
    if side.flame is None:
        raise ValueError("a side without a flame graph")
    own, times = side.flame.tree, side.flame.times
    places = list[int]()
    for parent, code in zip(own.parent, own.code, strict=True):
        above = ROOT if parent == ROOT else places[parent]
        place = tree.child(above, code.of_function)
        if tree.code[place].line == 0:
            tree.code[place] = code
        places.append(place)
    scale = 1 / (side.seconds * SECOND_NS)
    means = _Means(times.ns * scale, times.low_ns * scale, times.high_ns * scale)
    return _Rates(places, means, times.absent_high_ns * scale)
