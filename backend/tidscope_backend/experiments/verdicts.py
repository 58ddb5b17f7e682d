"""Verdicts of variants against the first one, in words. Pure."""

import math
from collections.abc import Iterator, Sequence

from tidscope_policies.proving.evidence import Interval
from tidscope_wire.generated.models import ExperimentVerdict, VariantVerdict

from tidscope_backend.experiments.difference import (
    LEAST_PAIRS,
    DifferenceRules,
    finding_of,
    is_known,
    relative_difference,
)
from tidscope_backend.experiments.journal import Ended, Entry, began
from tidscope_backend.experiments.matrix import Cell, attempts_of, pairs_of
from tidscope_backend.experiments.plan import plan_of
from tidscope_backend.experiments.variants import VARIANT
from tidscope_backend.text import plural


def verdicts_of(entries: Sequence[Entry]) -> Iterator[ExperimentVerdict]:
    """Yield the verdict of each variant but the first; none for a matrix of settings."""
    first = began(entries)
    if first.difference is None:
        return
    rules, plan, attempts = first.difference, plan_of(entries), attempts_of(entries)
    baseline, *others = (Cell(values) for values in first.cells)
    ended = isinstance(entries[-1], Ended)
    for cell in others:
        pairs = pairs_of(rules.figure, attempts[baseline.key], attempts[cell.key])
        found = relative_difference(pairs, len(others))
        shown = finding_of(found, rules)
        is_open = plan.standings[cell.key] == "open"
        verdict: VariantVerdict = shown if shown != "open" else "undecided"
        if is_open and not ended:
            verdict = "open"
        known = found is not None and is_known(found)
        names = str(cell.values[VARIANT]), str(baseline.values[VARIANT])
        reason = ""
        if verdict in ("undecided", "open"):
            failed = [one.key for one in (baseline, cell) if plan.standings[one.key] == "failed"]
            tried = [*attempts[baseline.key], *attempts[cell.key]]
            round_s = 2 * sum(one.elapsed_s for one in tried) / max(1, len(tried))
            reason = _reason(found, rules, len(pairs), failed, round_s, is_open=is_open)
        yield ExperimentVerdict(
            cell=cell.key,
            variant=names[0],
            baseline=names[1],
            figure=rules.figure,
            label=rules.label,
            unit=rules.unit,
            better=rules.better,
            verdict=verdict,
            difference_percent=None if found is None else found.mean,
            interval=[found.low, found.high] if known and found is not None else None,
            margin_percent=rules.margin,
            pairs=len(pairs),
            reason=reason,
            text=_sentence(verdict, found, rules, names, len(pairs), reason),
        )


def _reason(
    found: Interval | None,
    rules: DifferenceRules,
    pairs: int,
    failed: Sequence[str],
    round_s: float,
    *,
    is_open: bool,
) -> str:
    """Return why there is no verdict, one or two sentences; `round_s`: duration of a pair."""
    if failed:
        return f"{' and '.join(failed)} failed too often."
    if pairs and found is None:
        return f"{rules.label} of the baseline is 0, so nothing can be relative to it."
    if pairs < LEAST_PAIRS:
        advice = f" Give more time: they take {math.ceil(LEAST_PAIRS * round_s)} s."
        advice = "" if is_open else advice
        return f"{plural(pairs, 'pair')} of runs; an interval needs {LEAST_PAIRS}.{advice}"
    why = f"The interval includes 0 and reaches beyond ±{rules.margin:g} %."
    if is_open:
        return why
    if rules.precision is not None and found and (found.high - found.low) / 2 <= rules.precision:
        return f"{why} It is as narrow as asked; ask for a narrower one."
    return f"{why} The time was up; give more time, or a wider margin."


def _sentence(
    verdict: VariantVerdict,
    found: Interval | None,
    rules: DifferenceRules,
    names: tuple[str, str],
    pairs: int,
    reason: str,
) -> str:
    variant, baseline = names
    figure = f"{rules.label}, {rules.better} is better"
    by = "" if found is None else f" {interval_text(found)}"
    known = f"{figure}:{by or ' unknown'}, {plural(pairs, 'pair')} of runs."
    match verdict:
        case "better" | "worse":
            return f"{variant} is {verdict} than {baseline}. {known}"
        case "same":
            return f"{variant} is the same as {baseline} within ±{rules.margin:g} %. {known}"
        case "undecided":
            return f"It is undecided whether {variant} differs from {baseline}. {reason} {known}"
        case _:
            return f"{variant} against {baseline} is being measured. {known}"


def interval_text(found: Interval) -> str:
    """Return a difference in percent with its interval, as `+1.2 % [+0.3 %, +2.1 %]`."""
    if not is_known(found):
        return f"{found.mean:+.1f} %"
    digits = 2 if max(map(abs, found)) < 1 else 1
    return f"{found.mean:+.{digits}f} % [{found.low:+.{digits}f} %, {found.high:+.{digits}f} %]"
