"""The next step of an experiment, derived from its journal. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidscope_backend.experiments.definition import RepeatSpec
from tidscope_backend.experiments.difference import (
    LEAST_PAIRS,
    DifferenceRules,
    is_enough,
    relative_difference,
)
from tidscope_backend.experiments.journal import (
    Began,
    Entry,
    Failed,
    Recorded,
    Repeated,
    began,
)
from tidscope_backend.experiments.matrix import (
    MAX_FAILURES,
    Attempts,
    Standing,
    attempts_of,
    next_cell,
    order_of,
    pairs_of,
    repeats_left,
    standings,
    tallies_of,
)

DEFAULT_S = 120.0
DEFAULT_ROUNDS = 8
"""Time for measuring, unless the file sets it: the longer of the two."""
MAX_ROUNDS = 5000
"""Maximum rounds of variants, which bounds the journal."""


@dataclass(frozen=True)
class Step:
    """The next repeat.

    Attributes:
        cell: name of the cell.
        recorded: whether it is only recorded, and counts for no difference.
    """

    cell: str
    recorded: bool = False


@dataclass(frozen=True)
class Plan:
    """States of an experiment's cells, and its next repeat.

    Attributes:
        standings: state of each cell.
        step: the next repeat; None if all are done.
        least_left: minimum number of remaining repeats.
        most_left: maximum number of remaining repeats.
    """

    standings: Mapping[str, Standing]
    step: Step | None
    least_left: int
    most_left: int


def rules_of(first: Began) -> RepeatSpec:
    """Return the rules of repeats with which an experiment was started."""
    return RepeatSpec(
        least=first.least, most=first.most, deviation=first.deviation, seed=first.seed
    )


def plan_of(entries: Sequence[Entry]) -> Plan:
    """Return what is left after these entries of a journal."""
    first = began(entries)
    if first.difference is not None:
        return _Variants(entries, first.difference, first.seed).plan()
    tallies, rules = tallies_of(entries), rules_of(first)
    key = next_cell(tallies, rules)
    least, most = repeats_left(tallies, rules)
    return Plan(
        standings=standings(tallies, rules),
        step=None if key is None else Step(key),
        least_left=least,
        most_left=most,
    )


class _Variants:
    """Rounds of variants, until every difference from the first variant is known well enough.

    Args:
        entries: entries of the journal.
        rules: rules of the difference.
        seed: seed of the order.
    """

    def __init__(self, entries: Sequence[Entry], rules: DifferenceRules, seed: int) -> None:
        self._rules, self._seed = rules, seed
        self._attempts: Mapping[str, Attempts] = attempts_of(entries)
        self._first, *self._others = self._attempts
        self._recorded = [one for one in entries if isinstance(one, Recorded)]

    def plan(self) -> Plan:
        open_ = [key for key in self._others if self._is_open(key)]
        is_open = bool(open_) and not self._has_failed(self._first) and not self._is_over(open_)
        due = [self._first, *open_] if is_open else []
        found = {key: self._standing(key, due) for key in self._attempts}
        recordings = self._recordings_left()
        if not due:
            number = len(recordings)
            step = Step(recordings[0], recorded=True) if recordings else None
            return Plan(found, step, number, number)
        number = min(len(self._attempts[key]) for key in due)
        waiting = [key for key in due if len(self._attempts[key]) == number]
        step = Step(order_of(waiting, self._seed, number)[0])
        least = max(1, LEAST_PAIRS - number) * len(due)
        round_s = self._round_s(due)
        rounds = MAX_ROUNDS if not round_s else int(self._time_left_s(due) / round_s)
        most = max(least, min(rounds, MAX_ROUNDS - number) * len(due))
        return Plan(found, step, least + len(recordings), most + len(recordings))

    def _has_failed(self, key: str) -> bool:
        return sum(isinstance(one, Failed) for one in self._attempts[key]) >= MAX_FAILURES

    def _is_open(self, key: str) -> bool:
        if self._has_failed(key):
            return False
        pairs = pairs_of(self._rules.figure, self._attempts[self._first], self._attempts[key])
        return not is_enough(relative_difference(pairs, len(self._others)), self._rules)

    def _is_over(self, open_: Sequence[str]) -> bool:
        """Return True if the time is up before another round could end."""
        due = [self._first, *open_]
        done = {len(self._attempts[key]) for key in due}
        if len(done) > 1 or done == {0}:
            return False
        return done == {MAX_ROUNDS} or self._time_left_s(due) < self._round_s(due)

    def _time_left_s(self, due: Sequence[str]) -> float:
        most_s = self._rules.most_s
        if most_s is None:
            most_s = max(DEFAULT_S, DEFAULT_ROUNDS * self._round_s(due))
        return most_s - sum(one.elapsed_s for own in self._attempts.values() for one in own)

    def _round_s(self, due: Sequence[str]) -> float:
        """Return the mean duration of a round of these variants, in seconds."""
        return sum(
            sum(one.elapsed_s for one in own) / len(own)
            for key in due
            if (own := self._attempts[key])
        )

    def _standing(self, key: str, due: Sequence[str]) -> Standing:
        if self._has_failed(key):
            return "failed"
        if key in due:
            return "open"
        others = self._others if key == self._first else [key]
        return "maximum" if any(self._is_open(other) for other in others) else "steady"

    def _recordings_left(self) -> list[str]:
        """Return the variants still to be recorded, in order; none after a problem."""
        measured = [
            key
            for key, own in self._attempts.items()
            if not self._has_failed(key)
            and not any(isinstance(one, Repeated) and one.runs for one in own)
        ]
        if any(one.problem for one in self._recorded):
            return []
        done = {key: sum(one.cell == key for one in self._recorded) for key in measured}
        return [
            key
            for number in range(self._rules.recorded)
            for key in order_of(measured, self._seed, MAX_ROUNDS + number)
            if done[key] <= number
        ]
