"""Calls of many traces as arrays, with one feature for each chain of callers.

Source: CRISP, section 4.6.3, whose service trace vectors have one feature per chain of callers.
Entries replace vectors, because traces of different shapes share few features.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.summary.calls import Calls

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Advance = Callable[[], None]
ROOT = -1


@dataclass(slots=True)
class Chains:
    """Numbered features: chains of callers, in order of first occurrence.

    Attributes:
        parents: feature of each chain's caller, or ROOT for none.
        operations: operation number of each chain.
    """

    parents: list[int] = field(default_factory=list)
    operations: list[int] = field(default_factory=list)
    _places: dict[tuple[int, int], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.parents)

    def features(self, calls: Calls) -> list[int]:
        """Return the feature of each column of a trace's contexts; new chains become features."""
        found: list[int] = []
        for operation, parent in calls.contexts[:2].T.tolist():
            above = found[parent] if parent >= 0 else ROOT
            place = self._places.setdefault((above, operation), len(self))
            if place == len(self):
                self.parents.append(above)
                self.operations.append(operation)
            found.append(place)
        return found

    def chain(self, feature: int) -> list[int]:
        """Return the numbers of the operations from the root to a feature."""
        chain: list[int] = []
        while feature != ROOT:
            chain.append(self.operations[feature])
            feature = self.parents[feature]
        return chain[::-1]


@dataclass(frozen=True, slots=True)
class Entries:
    """Calls of traces; an entry is one chain of one trace, in the order of the traces.

    Attributes:
        traces: number of traces.
        trace: index of the trace of each entry.
        feature: chain of each entry.
        longest_ns, most, failed: rows of the calls, as in CALL_ROWS.
        order_trace: index of the trace of each order of two calls.
        orders: features of the earlier and the later call, one column each, and 0 if both ran at
            once.
    """

    traces: int
    trace: Ints
    feature: Ints
    longest_ns: Ints
    most: Ints
    failed: Ints
    order_trace: Ints
    orders: Ints


def read_entries(chains: Chains, traces: Sequence[Calls], advance: Advance) -> Entries:
    """Return entries of traces.

    Args:
        chains: features; new chains are added.
        traces: calls of traces with the same operation numbers.
        advance: called once per trace.
    """
    parts: list[Ints] = []
    orders: list[Ints] = []
    for place, calls in enumerate(traces):
        own = np.array(chains.features(calls), dtype=np.int64)
        parts.append(np.vstack([np.full(len(own), place), own, calls.contexts[2:]]))
        pairs = own[calls.orders[:2]]
        orders.append(np.vstack([np.full(pairs.shape[1], place), pairs, calls.orders[2]]))
        advance()
    joined = np.hstack(parts) if parts else np.zeros((5, 0), dtype=np.int64)
    pairs = np.hstack(orders) if orders else np.zeros((4, 0), dtype=np.int64)
    trace, feature, longest_ns, most, failed = joined
    return Entries(len(traces), trace, feature, longest_ns, most, failed, pairs[0], pairs[1:])


def places_by(feature: Ints, among: Iterable[int]) -> dict[int, Ints]:
    """Return the indices of the entries of each of these features."""
    order = np.argsort(feature, kind="stable")
    ordered = feature[order]
    return {
        one: order[np.searchsorted(ordered, one) : np.searchsorted(ordered, one, "right")]
        for one in among
    }
