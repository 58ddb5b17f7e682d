"""Findings, one per lock with hints, from a program's sections and measured waits."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

Section = dict[str, Any]
"""Section as the Go program reports it: advisor/analysis/report.go."""


@dataclass(frozen=True)
class Measured:
    """Total waits for the locks of a program.

    Attributes:
        seconds: measured time; 0 if unknown.
        wait_ns: total waits of all goroutines for all locks.
        waits: number of waits.
    """

    seconds: float
    wait_ns: int
    waits: int

    @property
    def basis(self) -> str:
        """Denominator of shares: the measured time if known, else all waits."""
        return "time" if self.seconds > 0 else "waits"

    def share(self, wait_ns: int) -> float:
        """Return a wait as a part of the basis; above 1 for concurrent waits."""
        whole = self.seconds * 1e9 if self.seconds > 0 else self.wait_ns
        return wait_ns / whole if whole > 0 else 0.0


@dataclass(frozen=True)
class MeasuredSection:
    """A critical section with its measured waits.

    Attributes:
        facts: facts from the analysis.
        wait_ns: waits of all goroutines; None without a profile.
        waits: number of waits.
    """

    facts: Section
    wait_ns: int | None
    waits: int | None


@dataclass(frozen=True)
class LockUse:
    """A lock with all its operations.

    Attributes:
        name: package, type and field, or variable.
        kind: Mutex, RWMutex or Locker.
        holder: field, global, local, element or unknown.
        declared: file and line, or None.
        sections: sections that may hold the lock, most awaited first.
        strays: operations without a counterpart, other than those done for callers, with `wait_ns`
            and `waits` as in sections.
    """

    name: str
    kind: str
    holder: str
    declared: dict[str, Any] | None
    sections: Sequence[MeasuredSection]
    strays: Sequence[dict[str, Any]]

    @property
    def wait_ns(self) -> int | None:
        """Waits for all of the lock's sections; None without a profile."""
        return _sum([section.wait_ns for section in self.sections] + self._strays("wait_ns"))

    @property
    def waits(self) -> int | None:
        """Number of waits; None without a profile."""
        return _sum([section.waits for section in self.sections] + self._strays("waits"))

    def _strays(self, what: str) -> list[int | None]:
        return [one[what] for one in self.strays]


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def measured(answer: dict[str, Any], seconds: float | None) -> Measured | None:
    """Return the totals of the profile; None without one.

    Args:
        answer: answer of the Go program.
        seconds: duration of the profile, if the profile does not contain one.
    """
    contention = answer["contention"]
    if contention is None:
        return None
    covered = contention["seconds"] or seconds or 0.0
    return Measured(covered, contention["wait_ns"], contention["waits"])


def lock_uses(answer: dict[str, Any]) -> list[LockUse]:
    """Return all locks of an answer, most awaited first, then by name."""
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


SHORT_INSTRUCTIONS = 25
LONG_INSTRUCTIONS = 100
READ_SHARE = 0.5
WAITING = {"io": "I/O", "sleep": "a sleep", "wait": "a wait", "channel": "a channel operation"}


@dataclass(frozen=True)
class Evidence:
    """A source line with an explanation.

    Attributes:
        place: file and line.
        text: explanation.
    """

    place: dict[str, Any]
    text: str


@dataclass(frozen=True)
class Hint:
    """Proposal for a change.

    Attributes:
        name: move-out, atomic, rwmutex, shard or shorten.
        text: proposed change with its reason, in a sentence or two.
        evidence: lines that support the hint.
    """

    name: str
    text: str
    evidence: Sequence[Evidence]


def hints_of(lock: LockUse) -> list[Hint]:
    """Return all hints for a lock, the most promising first; empty if no rule fits."""
    found = (rule(lock) for rule in RULES)
    return [hint for hint in found if hint is not None]


def _move_out(lock: LockUse) -> Hint | None:
    """Return a hint to move waiting calls out of the lock, or None if no section has one."""
    evidence = [
        Evidence(effect["place"], _waiting_text(effect))
        for section in _waited(lock)
        for effect in section.facts["effects"]
        if effect["what"] in WAITING
    ]
    if not evidence:
        return None
    kinds = sorted({_kind(one.text) for one in evidence})
    return Hint(
        "move-out",
        f"Move {' and '.join(kinds)} out of the section: copy under the lock what is needed, "
        "unlock, then do it.",
        evidence,
    )


def _kind(text: str) -> str:
    return next(name for name in WAITING.values() if text.startswith(name))


def _waiting_text(effect: dict[str, Any]) -> str:
    way = " → ".join(map(_short_function, effect["chain"]))
    sure = "" if effect["sure"] else ", if the call through an interface reaches it"
    return f"{WAITING[effect['what']]} while the lock is held{': ' + way if way else ''}{sure}"


def _atomic(lock: LockUse) -> Hint | None:
    """Return a hint if all sections add to whole numbers, or read little."""
    counting = [section for section in lock.sections if section.facts["only_counts"]]
    if not counting or lock.strays:
        return None
    others = [section for section in lock.sections if not section.facts["only_counts"]]
    if not all(_is_plain_read(section) for section in others):
        return None
    fields = sorted({name for section in counting for name in section.facts["writes"]})
    several = any(len(section.facts["writes"]) > 1 for section in counting)
    caution = (
        " A section changes several of them: readers may then see one changed and not the other."
        if several
        else ""
    )
    return Hint(
        "atomic",
        f"Make {' and '.join(map(_short, fields))} atomic (sync/atomic) and drop the lock: "
        f"all it guards is adding and reading.{caution}",
        [Evidence(_begin(one), "only adds to a whole number") for one in counting],
    )


def _is_plain_read(section: MeasuredSection) -> bool:
    facts = section.facts
    return bool(facts["reads_only"] and not facts["map_accesses"] and _is_short(section))


def _is_short(section: MeasuredSection) -> bool:
    facts = section.facts
    return bool(
        facts["instructions"] <= SHORT_INSTRUCTIONS
        and not (facts["calls"] or facts["loops"] or facts["effects"])
    )


def _rwmutex(lock: LockUse) -> Hint | None:
    """Return a hint if much of the waiting is for sections that only read."""
    reading = [section for section in lock.sections if _only_reads(section)]
    if lock.kind != "Mutex" or not reading:
        return None
    whole = lock.wait_ns
    part = sum(section.wait_ns or 0 for section in reading)
    share = part / whole if whole else len(reading) / len(lock.sections)
    if share < READ_SHARE:
        return None
    said = (
        f"{share:.0%} of the waiting is for sections that only read"
        if whole
        else f"{len(reading)} of {len(lock.sections)} sections only read"
    )
    caution = (
        " They are short, and RLock writes to the lock too: on many cores little may be gained."
        if all(map(_is_short, reading))
        else ""
    )
    return Hint(
        "rwmutex",
        f"Use a sync.RWMutex and RLock where nothing is changed: {said}.{caution}",
        [Evidence(_begin(one), f"only reads {_reads(one)}") for one in reading],
    )


def _only_reads(section: MeasuredSection) -> bool:
    return bool(section.facts["reads_only"] and section.facts["mode"] == "write")


def _reads(section: MeasuredSection) -> str:
    return ", ".join(map(_short, section.facts["reads"])) or "nothing shared"


def _shard(lock: LockUse) -> Hint | None:
    """Return a hint if one lock protects a map with writes."""
    if lock.holder == "element":
        return None
    using = [
        section
        for section in _waited(lock)
        if section.facts["map_accesses"] and not section.facts["loops"]
    ]
    if not any(section.facts["writes"] for section in using):
        return None
    return Hint(
        "shard",
        "Divide the map into parts by a hash of the key, each with its own lock, so that users of "
        "different keys do not meet.",
        [
            Evidence(
                _begin(one), f"{one.facts['map_accesses']} map accesses, writes {_writes(one)}"
            )
            for one in using
        ],
    )


def _writes(section: MeasuredSection) -> str:
    return ", ".join(map(_short, section.facts["writes"])) or "nothing"


def _shorten(lock: LockUse) -> Hint | None:
    """Return a hint if a section is long."""
    evidence = [
        Evidence(_begin(section), _length(section))
        for section in _waited(lock)
        if section.facts["instructions"] >= LONG_INSTRUCTIONS
        or section.facts["loops"]
        or section.facts["allocations"]
    ]
    if not evidence:
        return None
    return Hint(
        "shorten",
        "Shorten the section: allocate and compute before locking, and hold the lock for the "
        "exchange of the result only.",
        evidence,
    )


def _length(section: MeasuredSection) -> str:
    facts = section.facts
    parts = [
        (facts["instructions"], "instructions"),
        (facts["loops"], "loops"),
        (facts["allocations"], "allocations"),
        (facts["calls"], "calls"),
    ]
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def _waited(lock: LockUse) -> list[MeasuredSection]:
    """Return the awaited sections; all sections without a profile."""
    waited = [section for section in lock.sections if section.wait_ns]
    return waited or list(lock.sections)


def _begin(section: MeasuredSection) -> dict[str, Any]:
    place: dict[str, Any] = section.facts["locked_at"][0]
    return {"file": place["file"], "line": place["line"]}


def _short_function(name: str) -> str:
    """Shorten `(*a.org/b/c.T).M` to `(*c.T).M`."""
    return re.sub(r"[^(*\[\s]+/", "", name)


def _short(name: str) -> str:
    """Return a name without its package's path."""
    return name.rpartition("/")[2]


RULES: Sequence[Callable[[LockUse], Hint | None]] = (
    _move_out,
    _atomic,
    _rwmutex,
    _shard,
    _shorten,
)
