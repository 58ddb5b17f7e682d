"""Comparison of the recorded runs of two variants: what changed inside the program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tidscope_wire.generated.models import ComparedMetric, Comparison, FigureDifference

from tidscope_backend.cli.compare import metric_lines
from tidscope_backend.cli.experiment_run import CarriedOut
from tidscope_backend.experiments.run_figures import lock_waits_s
from tidscope_backend.experiments.variants import MAX_RECORDED

MAX_METRICS, MAX_LOCKS = 12, 5
"""Maximum rows shown; the comparison of the runs has all."""
OF_HELD = ("duration_s", "mean_cores", "share_other", "share_state_stopped")
"""Figures that include the time for which a command is held until it is recorded."""
STOPPED = "share_state_stopped"
MAX_STOPPED = 0.05
"""Share of the threads' time above which being held distorts all other shares of time."""
SHOWN_WAIT_S = 0.001
"""Minimum mean wait for a lock that is shown, in seconds."""


@dataclass(frozen=True)
class Inside:
    """The recorded runs of two variants, compared.

    Attributes:
        variant: cell of the variant.
        runs: run IDs of the baseline and of the variant.
        comparison: comparison of totals: each run does the whole work.
        locks: mean wait in seconds of the baseline and of the variant, by name of the lock.
    """

    variant: str
    runs: tuple[Sequence[str], Sequence[str]]
    comparison: Comparison
    locks: Mapping[str, tuple[float, float]]

    def as_json(self) -> dict[str, Any]:
        """Return the changes as JSON values: of a whole run, or shares of the threads' time."""
        return {
            "variant": self.variant,
            "baseline_runs": list(self.runs[0]),
            "variant_runs": list(self.runs[1]),
            "metrics": [
                {
                    "metric": one.metric,
                    "label": one.label,
                    "unit": one.unit,
                    "baseline": one.groups[0].mean,
                    "variant": one.groups[1].mean,
                    "difference_percent": of.percent,
                    "verdict": of.verdict,
                }
                for one, of in _known(self.comparison)
            ],
            "locks": [
                {"name": name, "baseline_wait_s": before, "variant_wait_s": after}
                for name, (before, after) in self.locks.items()
            ],
        }


def insides(done: CarriedOut) -> list[Inside]:
    """Compare the recorded runs of each variant with those of the first.

    Variants without recorded runs in the runs directory are omitted.
    """
    from tidscope_backend.comparison.from_folders import compare_folders
    from tidscope_backend.comparison.sides import ComparisonError, Side

    found: list[Inside] = []
    cells = {cell.key: cell for cell in done.found.cells}
    for cell in done.found.cells:
        if cell.baseline is None:
            continue
        runs = _last(cells[cell.baseline].runs, done.runs), _last(cell.runs, done.runs)
        if not all(runs):
            continue
        try:
            sides = [[Side(done.runs / run) for run in own] for own in runs]
            comparison = compare_folders(sides, basis="totals", same_work=True)
            locks = _locks(done.runs, *runs)
        except (OSError, ValueError, ComparisonError):
            continue
        found.append(Inside(cell.key, runs, comparison, locks))
    return found


def inside_lines(done: CarriedOut) -> Iterator[str]:
    """Yield what changed inside, as text; nothing without recorded runs."""
    for one in insides(done):
        yield ""
        count = len(one.runs[0]), len(one.runs[1])
        yield f"What changed inside, by {count[0]} and {count[1]} recorded runs:"
        notes: list[str] = []
        shown = [
            metric
            for metric, of in _known(one.comparison)
            if of.verdict in CHANGED and of.low is not None
        ]
        for metric in shown[:MAX_METRICS]:
            yield from metric_lines(metric, notes)
        if not shown:
            yield "  no difference is shown by so few runs"
        yield from (f"({number}) {note}" for number, note in enumerate(notes, 1))
        for name, (before, after) in list(one.locks.items())[:MAX_LOCKS]:
            yield f"  waited for lock {name or 'unknown'}: {before:.3g} s, then {after:.3g} s a run"
        runs = (",".join(own) for own in one.runs)
        yield f"All of it: tidscope compare --totals {' '.join(runs)}"


CHANGED = ("better", "worse", "more", "less")


def _known(found: Comparison) -> Iterator[tuple[ComparedMetric, FigureDifference]]:
    """Yield metrics of the whole process that are not zero, with the difference.

    Figures that the hold before the first instruction distorts are left out; of short commands,
    shares of time are among them.
    """
    whole = {one.metric: one for one in found.metrics if one.role is None}
    stopped = [] if STOPPED not in whole else [one.mean or 0.0 for one in whole[STOPPED].groups]
    is_short = max(stopped, default=0.0) > MAX_STOPPED
    for name, one in whole.items():
        left_out = name in OF_HELD or (is_short and name.startswith("share_"))
        if not left_out and any(group.mean for group in one.groups):
            yield one, one.differences[0]


def _last(runs: Sequence[str], folder: Path) -> list[str]:
    return [run for run in runs if (folder / run).is_dir()][-MAX_RECORDED:]


def _locks(
    folder: Path, before: Sequence[str], after: Sequence[str]
) -> dict[str, tuple[float, float]]:
    """Return mean waits in seconds by lock, the longest first; short ones are omitted."""
    waits = [[lock_waits_s(folder / run) or {} for run in runs] for runs in (before, after)]
    means = {
        name: tuple(sum(one.get(name, 0.0) for one in own) / len(own) for own in waits)
        for name in {name for own in waits for one in own for name in one}
    }
    return {
        name: (first, other)
        for name, (first, other) in sorted(means.items(), key=lambda one: (-max(one[1]), one[0]))
        if max(first, other) >= SHOWN_WAIT_S
    }
