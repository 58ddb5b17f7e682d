"""Curves of runs, from the role totals in frames, about once a second; no samples are read."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from tidscope_wire.generated.models import ComparedSeries, MatchedRole
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.state_groups import GROUPS

Floats = npt.NDArray[np.float64]
MAX_POINTS = 600
ALL_POINTS = 2400
"""Maximum points of a metric of one role, over all runs together."""
ALL_STATE_POINTS = 1200
"""Maximum points of a state's time, over all runs; smaller because states are numerous."""
COUNTERS = (
    "cpu_run_ns",
    "cpu_delay_ns",
    "net_read_bytes",
    "net_write_bytes",
    "voluntary_switches",
    "involuntary_switches",
)
GAUGES = ("gomaxprocs", "rss_bytes")
METRICS = (*COUNTERS, *GAUGES)
OF_ROLES = ("cpu_run_ns", "cpu_delay_ns", "net_read_bytes", "net_write_bytes")
STATES = {f"time_{group.id}": group.fields for group in GROUPS}
"""Fields of each group of states; values are nanoseconds that threads spent in the group."""
MAX_ROLES = 8
"""Maximum roles with curves; the busiest are kept."""


@dataclass(frozen=True)
class RoleCurves:
    """Totals of the roles of a run over time, starting at 0.

    Attributes:
        time_ns: times of the frames with roles.
        values: role to field to one value per instant, since the start of the run; NaN if unknown.
            The role None sums all roles beyond the limit.
    """

    time_ns: npt.NDArray[np.int64]
    values: Mapping[str | None, Mapping[str, Floats]]

    def whole(self, field: str) -> Floats:
        """Return the sum of all roles; NaN where no role has the field."""
        curves = [fields[field] for fields in self.values.values() if field in fields]
        if not curves:
            return np.full(len(self.time_ns), np.nan)
        stacked = np.stack(curves)
        known = ~np.isnan(stacked).all(axis=0)
        return np.where(known, np.nansum(stacked, axis=0), np.nan)


def curves_of(signals: pa.Table) -> RoleCurves:
    """Read the column `roles` of signals."""
    with_roles = signals.filter(pc.is_valid(signals.column("roles")))
    time_ns = with_roles.column("time_ns").to_numpy().astype(np.int64)
    lists = with_roles.column("roles").combine_chunks()
    rows = pc.list_flatten(lists)
    instants = pc.list_parent_indices(lists).to_numpy()
    encoded = pc.dictionary_encode(rows.field("role"), null_encoding="encode")
    places = encoded.indices.to_numpy(zero_copy_only=False)
    columns = _totals(rows.field("totals"))
    values: dict[str | None, dict[str, Floats]] = {}
    for place, role in enumerate(encoded.dictionary.to_pylist()):
        mine = places == place
        at = instants[mine]
        values[role] = {}
        for field, column in columns.items():
            curve = np.full(len(time_ns), np.nan)
            curve[at] = column[mine]
            if not np.isnan(curve).all():
                values[role][field] = _since_start(curve)
        values[role] = _with_groups(values[role])
    return RoleCurves(time_ns, values)


def _with_groups(curves: Mapping[str, Floats]) -> dict[str, Floats]:
    """Replace time in each state by time in groups of states."""
    kept = {field: curve for field, curve in curves.items() if field not in STATE_FIELDS}
    for metric, fields in STATES.items():
        own = [curves[field] for field in fields if field in curves]
        if own:
            # Time in a state decreases by microseconds when the kernel's count replaces the
            # ledger's.
            kept[metric] = np.fmax.accumulate(np.sum(own, axis=0))
    return kept


def _totals(totals: pa.StructArray) -> dict[str, Floats]:
    return {
        field: pc.fill_null(pc.struct_field(totals, field).cast(pa.float64()), np.nan).to_numpy()
        for field in (*COUNTERS, *STATE_FIELDS)
        if totals.type.get_field_index(field) >= 0
    }


def _since_start(curve: Floats) -> Floats:
    """Subtract the value at the start of the run, which is 0 for a role that appears later."""
    base = curve[0]
    return curve if np.isnan(base) else curve - base


@dataclass(frozen=True)
class RunCurves:
    """All curves of one run.

    Attributes:
        run: run ID.
        zero_ns: instant at which the run's time is 0.
    """

    run: str
    zero_ns: int
    roles: RoleCurves
    signals: pa.Table

    def of_process(self, metric: str, points: int) -> ComparedSeries:
        """Return a curve of the whole process."""
        if metric not in GAUGES:
            return self._series(metric, None, self.roles.time_ns, self.roles.whole(metric), points)
        time_ns = self.signals.column("time_ns").to_numpy().astype(np.int64)
        gauge = pc.struct_field(self.signals.column("process"), metric)
        values = pc.fill_null(gauge.cast(pa.float64()), np.nan).to_numpy()
        if metric == "gomaxprocs":
            time_ns, values = _steps(time_ns, values)
        return self._series(metric, None, time_ns, values, points)

    def of_role(self, metric: str, label: str, role: str, points: int) -> ComparedSeries:
        """Return a curve of one role."""
        empty = np.full(len(self.roles.time_ns), np.nan)
        values = self.roles.values.get(role, {}).get(metric, empty)
        return self._series(metric, label, self.roles.time_ns, values, points)

    def _series(
        self,
        metric: str,
        label: str | None,
        time_ns: npt.NDArray[np.int64],
        values: Floats,
        points: int,
    ) -> ComparedSeries:
        kept = _evenly(len(values), points)
        time_s = (time_ns[kept] - self.zero_ns) / 1e9
        shown = [None if math.isnan(value) else value for value in values[kept].tolist()]
        return ComparedSeries(
            run=self.run, metric=metric, role=label, time_s=time_s.tolist(), value=shown
        )


def series_of(runs: Sequence[RunCurves], roles: Sequence[MatchedRole]) -> list[ComparedSeries]:
    """Return curves by metric, role and run; curves without values are omitted."""
    points = min(MAX_POINTS, ALL_POINTS // len(runs))
    found: list[ComparedSeries] = []
    for metric in METRICS:
        found += [run.of_process(metric, points) for run in runs]
        if metric in OF_ROLES:
            for matched in roles[:MAX_ROLES]:
                for run, role in zip(runs, matched.roles, strict=True):
                    if role is not None:
                        found.append(run.of_role(metric, matched.label, role, points))
    known = [series for series in found if any(value is not None for value in series.value)]
    return known + _states_of(runs, roles)


def _states_of(runs: Sequence[RunCurves], roles: Sequence[MatchedRole]) -> list[ComparedSeries]:
    """Return curves of time in groups of states, by metric, role and run; none if always 0."""
    points = min(MAX_POINTS, ALL_STATE_POINTS // len(runs))
    found: list[ComparedSeries] = []
    for metric in STATES:
        curves = [[run.of_process(metric, points) for run in runs]]
        curves += [
            [
                run.of_role(metric, matched.label, role, points)
                for run, role in zip(runs, matched.roles, strict=True)
                if role is not None
            ]
            for matched in roles[:MAX_ROLES]
        ]
        for of_runs in curves:
            if any(value for series in of_runs for value in series.value):
                found += [one for one in of_runs if any(v is not None for v in one.value)]
    return found


def _evenly(count: int, points: int) -> npt.NDArray[np.intp]:
    """Return indices spread evenly over a curve, including both ends; all indices of a short curve.

    Curves are cumulative, so omitting a point hides no peak.
    """
    if count <= points:
        return np.arange(count)
    return np.linspace(0, count - 1, points).round().astype(np.intp)


def _steps(time_ns: npt.NDArray[np.int64], values: Floats) -> tuple[npt.NDArray[np.int64], Floats]:
    """Return only the points where a value changes, the points before, and both ends."""
    same = (values[1:] == values[:-1]) | (np.isnan(values[1:]) & np.isnan(values[:-1]))
    kept = np.ones(len(values), np.bool_)
    kept[1:-1] = ~(same[:-1] & same[1:])
    return time_ns[kept], values[kept]
