"""What the threads of each role add up to, the ended ones included. Pure.

What a thread did counts for the role it had when its counters were read. So a role's total is the
sum over its live threads' rows, and of what is settled: totals of threads that ended in it, what
threads had when they left it for another name, less what threads had when they came into it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.limits import MAX_ROLES
from tidscope_wire.generated.models import RoleTotals
from tidscope_wire.role import RoleRule, role_of

from tidscope_collector.threads.reading import Reading

MAX_NAMED_ROLES = MAX_ROLES - 1
"""Roles with totals of their own; all others share the last place in a frame's header."""

MAX_NAMES = 16_384
"""Names whose role is kept at hand."""


@dataclass
class _Settled:
    """Of one role: what does not stand in the rows of its live threads.

    Attributes:
        exited: threads that ended in it.
        values: field name to a sum, which is below zero where threads brought along more than
            others left.
    """

    exited: int = 0
    values: dict[str, int] = field(default_factory=dict)

    def add(self, values: Mapping[str, int], sign: int = 1) -> None:
        for name, value in values.items():
            self.values[name] = self.values.get(name, 0) + sign * value


class RoleSums:
    """The roles of one target.

    The first `MAX_NAMED_ROLES` keep a place of their own for good; all others share one, so that a
    program that names threads without end fills neither memory nor frames.

    Args:
        rules: by which threads have roles, before the general one.
    """

    def __init__(self, rules: Sequence[RoleRule] = ()) -> None:
        self._rules = rules
        self._roles: dict[str | None, _Settled] = {}
        self._keys: dict[str, str | None] = {}
        self._named: Sequence[str] = ()
        self._roles_of: npt.NDArray[np.intp] = np.empty(0, np.intp)

    def ended(self, name: str, totals: Mapping[str, int], threads: int = 1) -> None:
        """Threads of this name ended with these totals, added up."""
        settled = self._of(name)
        settled.exited += threads
        settled.add(totals)
        # Many programs number their threads: a name that ended seldom comes again.
        self._keys.pop(name, None)

    def renamed(self, previous: str, name: str, values: Mapping[str, int]) -> None:
        """A live thread has a new name; these are its counters as they were read last before."""
        if self._key(previous) != self._key(name):
            self._of(previous).add(values)
            self._of(name).add(values, -1)

    def corrected(self, name: str, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """A thread that ended in this name had other totals than it was counted with."""
        settled = self._of(name)
        settled.add(before, -1)
        settled.add(after)

    def counted(self, name: str, values: Mapping[str, int]) -> None:
        """A thread that comes into this name brings along what was counted already."""
        self._of(name).add(values, -1)

    def summary(
        self, reading: Reading, names: Sequence[str], fields: Sequence[str]
    ) -> list[RoleTotals]:
        """Add up.

        Args:
            reading: the last rows of the live threads.
            names: of these threads, in the order of the rows; not changed later.
            fields: names of the columns.

        Returns:
            Roles in the order of their appearance. What a thread brought along into its role may be
            more than it is by now, since time in a state is settled when the stay ends: then 0.
        """
        roles, count = self._places(names), len(self._roles)
        live = np.bincount(roles, minlength=count).tolist()
        sums = np.zeros((count, len(fields)), np.uint64)
        given = np.zeros((count, len(fields)), np.bool_)
        if len(names):
            _add_up(reading, roles, sums, given)
        reported = []
        rows = zip(self._roles.items(), sums.tolist(), given.tolist(), strict=True)
        for place, ((role, settled), summed, there) in enumerate(rows):
            before = settled.values
            totals = {
                name: max(0, value + before.get(name, 0)) if before else value
                for name, value, is_given in zip(fields, summed, there, strict=True)
                if is_given or name in before
            }
            reported.append(
                RoleTotals(role=role, live=live[place], exited=settled.exited, totals=totals)
            )
        return reported

    def _places(self, names: Sequence[str]) -> npt.NDArray[np.intp]:
        """Of each name the place of its role, which stays."""
        if names is not self._named:
            keys = [self._key(name) for name in names]
            places = {role: place for place, role in enumerate(self._roles)}
            self._roles_of = np.fromiter((places[key] for key in keys), np.intp, len(keys))
            self._named = names
        return self._roles_of

    def _of(self, name: str) -> _Settled:
        return self._roles[self._key(name)]

    def _key(self, name: str) -> str | None:
        """The role that a name counts for; it has a place from now on."""
        known = self._keys.get(name, "")
        if known != "":
            return known
        role: str | None = role_of(name, self._rules)
        if role not in self._roles:
            if len(self._roles.keys() - {None}) >= MAX_NAMED_ROLES:
                role = None
            self._roles.setdefault(role, _Settled())
        if len(self._keys) >= MAX_NAMES:
            self._keys.clear()
        self._keys[name] = role
        return role


def _add_up(
    reading: Reading,
    roles: npt.NDArray[np.intp],
    sums: npt.NDArray[np.uint64],
    given: npt.NDArray[np.bool_],
) -> None:
    """Sum rows by role, exactly, into arrays of [roles, fields]; at least one row."""
    order = np.argsort(roles, kind="stable")
    starts = np.flatnonzero(np.diff(roles[order], prepend=-1))
    present = roles[order][starts]
    if reading.absent is None:
        sums[present] = np.add.reduceat(reading.counters[order], starts, axis=0)
        given[present] = True
        return
    counters = np.where(reading.absent, np.uint64(0), reading.counters)
    sums[present] = np.add.reduceat(counters[order], starts, axis=0)
    given[present] = np.logical_or.reduceat(~reading.absent[order], starts, axis=0)
