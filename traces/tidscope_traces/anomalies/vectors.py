"""Traces as vectors: one feature for each chain of callers.

Source: CRISP, section 4.6.3. Its service critical path vectors have the own times of the chains on
the critical path (SCPV); the service trace vectors that they are compared with have those of all
spans (STV).
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tidscope_traces.critical.fitting import FittedTrace
from tidscope_traces.summary.catalogue import Catalogue

Times = dict[int, float]
"""Of one trace: time (ns) by feature."""
UNSEEN = -2


class Chains:
    """Features by number: chains of callers, in the order in which they were first seen.

    A call that fails is another than one that does not, and so is what it calls.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[int, int, bool], int] = {}

    def __len__(self) -> int:
        return len(self._places)

    @property
    def parents(self) -> list[int]:
        """Of each feature its caller's, -1 for a root."""
        return [above for above, _, _ in self._places]

    def times(self, contexts: NDArray[np.int64], *, learn: bool) -> tuple[Times, Times]:
        """Own times by feature, and those of chains that are no feature by column of contexts.

        Args:
            contexts: as in TraceSummary.
            learn: new chains become features.
        """
        known: Times = {}
        unknown: Times = {}
        own_ns = contexts[3].tolist()
        for column, place in enumerate(self._places_of(contexts, learn)):
            if place == UNSEEN:
                unknown[column] = own_ns[column]
            else:
                known[place] = own_ns[column]
        return known, unknown

    def columns(self, contexts: NDArray[np.int64]) -> dict[int, int]:
        """Columns of contexts by feature."""
        places = self._places_of(contexts, learn=False)
        return {place: column for column, place in enumerate(places) if place != UNSEEN}

    def _places_of(self, contexts: NDArray[np.int64], learn: bool) -> list[int]:
        places: list[int] = []
        for operation, parent, failed in contexts[[0, 1, 5]].T.tolist():
            above = places[parent] if parent >= 0 else -1
            # Below an unseen chain all are.
            key = above, operation, failed > 0
            place = UNSEEN if above == UNSEEN else self._places.get(key, UNSEEN)
            if place == UNSEEN and learn:
                place = self._places[key] = len(self)
            places.append(place)
        return places


def all_contexts(fitted: FittedTrace, catalogue: Catalogue) -> NDArray[np.int64]:
    """As TraceSummary.contexts, but of all spans, on the critical path or not."""
    spans = fitted.trace.spans
    places: dict[tuple[int, int], int] = {}
    columns: list[list[int]] = []
    above: dict[int, int] = {fitted.root: -1}
    for index in fitted.order:
        operation = catalogue.number(spans[index].service, spans[index].operation)
        key = (above[index], operation)
        place = places.setdefault(key, len(columns))
        length = fitted.end_ns[index] - fitted.start_ns[index]
        if place == len(columns):
            columns.append([operation, key[0], 0, 0, 0, 0])
        columns[place][2] += length
        columns[place][3] += length
        columns[place][4] += 1
        columns[place][5] += spans[index].error
        above.update(dict.fromkeys(fitted.children[index], place))
    return np.array(columns, dtype=np.int64).T


def chain_operations(contexts: NDArray[np.int64], column: int) -> list[int]:
    """Numbers of the operations from the root to a column of contexts."""
    operations: Sequence[int] = contexts[0].tolist()
    parents: Sequence[int] = contexts[1].tolist()
    chain: list[int] = []
    while column >= 0:
        chain.append(operations[column])
        column = parents[column]
    return chain[::-1]
