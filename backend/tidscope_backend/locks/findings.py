"""From sections of a program and what was waited for to findings: a lock each, with its hints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Section = dict[str, Any]
"""As the Go program reports it: advisor/analysis/report.go."""


@dataclass(frozen=True)
class Measured:
    """What was waited for the locks of a program.

    Attributes:
        seconds: the time that was measured; 0 if unknown.
        wait_ns: the sum of all waits of all goroutines for all locks.
        waits: how many.
    """

    seconds: float
    wait_ns: int
    waits: int

    @property
    def basis(self) -> str:
        """What shares are shares of: of time where that is known, else of all waits."""
        return "time" if self.seconds > 0 else "waits"

    def share(self, wait_ns: int) -> float:
        """A wait as a part of the basis; above 1 where several goroutines waited at once."""
        whole = self.seconds * 1e9 if self.seconds > 0 else self.wait_ns
        return wait_ns / whole if whole > 0 else 0.0


@dataclass(frozen=True)
class MeasuredSection:
    """A critical section, and what was waited for it.

    Attributes:
        facts: what the analysis says.
        wait_ns: waits of all goroutines; None without a profile.
        waits: how many.
    """

    facts: Section
    wait_ns: int | None
    waits: int | None


@dataclass(frozen=True)
class LockUse:
    """A lock, and all that is done with it.

    Attributes:
        name: package, type and field, or variable.
        kind: Mutex, RWMutex or Locker.
        holder: field, global, local, element or unknown.
        declared: file and line, or None.
        sections: those that may hold it, most waited for first.
        strays: operations without a counterpart, other than those done for callers, with `wait_ns`
            and `waits` as sections have them.
    """

    name: str
    kind: str
    holder: str
    declared: dict[str, Any] | None
    sections: Sequence[MeasuredSection]
    strays: Sequence[dict[str, Any]]

    @property
    def wait_ns(self) -> int | None:
        """Waits for all its sections; None without a profile."""
        return _sum([section.wait_ns for section in self.sections] + self._strays("wait_ns"))

    @property
    def waits(self) -> int | None:
        """How many; None without a profile."""
        return _sum([section.waits for section in self.sections] + self._strays("waits"))

    def _strays(self, what: str) -> list[int | None]:
        return [one[what] for one in self.strays]


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def measured(answer: dict[str, Any], seconds: float | None) -> Measured | None:
    """What the profile covers; None without one.

    Args:
        answer: of the Go program.
        seconds: the time that it covers, if the profile does not say.
    """
    contention = answer["contention"]
    if contention is None:
        return None
    covered = contention["seconds"] or seconds or 0.0
    return Measured(covered, contention["wait_ns"], contention["waits"])


def lock_uses(answer: dict[str, Any]) -> list[LockUse]:
    """All locks of an answer, most waited for first, then by name."""
    contention = answer["contention"] or {}
    none: dict[str, int | None] = dict.fromkeys(("wait_ns", "waits"), 0 if contention else None)
    paired = {one["index"]: one for one in contention.get("sections", ())}
    unpaired = {one["index"]: one for one in contention.get("unpaired", ())}
    sections = [
        MeasuredSection(facts, *(paired.get(index, none)[name] for name in none))
        for index, facts in enumerate(answer["sections"])
    ]
    strays = [
        {**one, **{name: unpaired.get(index, none)[name] for name in none}}
        for index, one in enumerate(answer["unpaired"])
    ]
    found = list(_uses(answer, sections, strays))
    return sorted(found, key=lambda use: (-(use.wait_ns or 0), use.name))


def _uses(
    answer: dict[str, Any], sections: Sequence[MeasuredSection], strays: Sequence[dict[str, Any]]
) -> Iterator[LockUse]:
    for lock in answer["locks"]:
        name = lock["name"]
        yield LockUse(
            name=name,
            kind=lock["kind"],
            holder=lock["holder"],
            declared=lock["declared"],
            sections=sorted(
                (section for section in sections if name in section.facts["locks"]),
                key=lambda section: -(section.wait_ns or 0),
            ),
            strays=[one for one in strays if name in one["locks"] and not one["for_caller"]],
        )
