"""How figures of a window varied from slice to slice of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tidscope_wire.generated.models import CompareBasis

from tidscope_backend.comparison.figures import Figure, Figures, figures_of_role
from tidscope_backend.comparison.metrics import COUNTERS
from tidscope_backend.comparison.pools import figures_of_pool
from tidscope_backend.comparison.statistics import spread_of_slices
from tidscope_backend.comparison.tables import RunTables, Slice
from tidscope_backend.comparison.totals import Totals, totals_by_role, whole

WITHOUT = ("threads", "size")
"""Figures of which slices say nothing: they are of instants, or of lives longer than a slice."""


class Slices:
    """The slices of a window.

    Args:
        run: the window, or a run without slices.
        basis: what counters are compared as.
    """

    def __init__(self, run: RunTables, basis: CompareBasis) -> None:
        self._basis: CompareBasis = basis
        self._slices: Sequence[Slice] = run.slices
        self._totals: Sequence[Mapping[str, Totals]] = [
            totals_by_role(one.threads) for one in run.slices
        ]

    def of_process(self, figures: Figures) -> Figures:
        """The window's figures with their spreads."""
        return self._spread(figures, [self._figures(one, whole(by)) for one, by in self._both()])

    def of_role(self, role: str | None, figures: Figures) -> Figures:
        """The same of a role; None: it is absent."""
        if role is None:
            return figures
        return self._spread(figures, [self._figures(one, by.get(role)) for one, by in self._both()])

    def of_pool(self, name: str, figures: Figures) -> Figures:
        """The same of the pools of one name."""
        slices = [
            figures_of_pool(name, one.pools.get(name), one.duration_ns, self._basis)
            for one in self._slices
        ]
        return self._spread(figures, slices)

    def _both(self) -> Sequence[tuple[Slice, Mapping[str, Totals]]]:
        return list(zip(self._slices, self._totals, strict=True))

    def _figures(self, one: Slice, totals: Totals | None) -> Figures:
        return figures_of_role(totals, one.duration_ns, self._basis)

    def _spread(self, figures: Figures, slices: Sequence[Figures]) -> Figures:
        if not slices:
            return figures
        return {name: self._with_spread(name, one, slices) for name, one in figures.items()}

    def _with_spread(self, name: str, figure: Figure, slices: Sequence[Figures]) -> Figure:
        if figure.value is None or name.rpartition(":")[2] in WITHOUT:
            return figure
        known = [one[name].value if name in one else None for one in slices]
        if name in COUNTERS:
            # A role that is not there in a slice does nothing in it.
            known = [0.0 if value is None else value for value in known]
        values = [value for value in known if value is not None]
        if self._basis == "totals" and self._grows(name):
            values = [value * len(slices) for value in values]
        return replace(figure, spread=spread_of_slices(values))

    def _grows(self, name: str) -> bool:
        return name in COUNTERS or name.rpartition(":")[2] in ("finished", "failed")
