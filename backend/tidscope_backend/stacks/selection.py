"""Selection of a flame graph: threads, states, a lock, and whose stacks. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tidscope_wire.generated.models import StackSide
from tidscope_wire.problems import refusal
from tidscope_wire.role import RoleRule, role_of
from tidscope_wire.states import STATE_FIELDS

from tidscope_backend.state_groups import name_of_state

STATES: tuple[str, ...] = tuple(name_of_state(field) for field in STATE_FIELDS)
"""Names of states; state number s is at index s - 1."""
NAMED_LOCKS = 8
"""Maximum names of locks in a hint."""
ON_CPU, WOKEN, FUTEX = (1 + STATES.index(name) for name in ("on_cpu", "woken", "futex"))


DEFAULT_NS = 10_000_000_000
"""Length of a window whose begin is not given, in nanoseconds."""


class Window(NamedTuple):
    """A window of time, nanoseconds since attach.

    Attributes:
        from_ns: begin; None for `last_ns` before the end.
        to_ns: end; None for what is known.
        last_ns: length of a window without a begin.
    """

    from_ns: int | None = None
    to_ns: int | None = None
    last_ns: int = DEFAULT_NS


NEWEST = Window()
"""The last ten seconds."""


@dataclass(frozen=True)
class Selection:
    """A selection of the time of threads in a window.

    Attributes:
        window: the window.
        tids: thread IDs; empty for all.
        roles: roles of threads; empty for all.
        states: names of states; empty for all.
        lock: number or name of a lock whose waits are selected; None for any time.
        side: whose stacks.
    """

    window: Window = NEWEST
    tids: frozenset[int] = frozenset()
    roles: frozenset[str] = frozenset()
    states: frozenset[str] = frozenset()
    lock: int | str | None = None
    side: StackSide = "threads"

    def check(self) -> None:
        """Check the selection.

        Raises:
            ProblemError: a state is unknown, the window has no length, or a lock comes with states
                other than its own.
        """
        unknown = sorted(self.states - set(STATES))
        if unknown:
            raise refusal(
                "bad-request",
                f"no state is called {', '.join(map(repr, unknown))}",
                f"states are {', '.join(STATES)}",
            )
        if self.lock is not None and self.states - {"futex"}:
            raise refusal(
                "bad-request",
                "a lock selects its own waits, which are in no other state than futex",
                "leave the states or the lock out",
            )
        from_ns, to_ns, _ = self.window
        if from_ns is not None and to_ns is not None and from_ns >= to_ns:
            raise refusal("bad-request", "the window ends before it begins", "exchange its ends")

    def described(self, name: str) -> str:
        """Describe a selection of a target or run with a name."""
        parts = [name, *sorted(self.roles), *(f"thread {tid}" for tid in sorted(self.tids)[:3])]
        parts += sorted(self.states) + ([] if self.lock is None else [f"lock {self.lock}"])
        return ", ".join(parts if self.side == "threads" else [*parts, self.side])

    def lock_number(self, names: Mapping[int, str]) -> int | None:
        """Return the number of the selected lock, or None.

        Args:
            names: names of locks by number.

        Raises:
            ProblemError: no lock, or several, have the name.
        """
        if not isinstance(self.lock, str):
            return self.lock
        found = [number for number, name in names.items() if name == self.lock]
        found = found or [number for number, name in names.items() if self.lock in name]
        if len(found) == 1:
            return found[0]
        known = sorted({name for number, name in names.items() if name and number in found})
        known = known or sorted({name for name in names.values() if name})
        raise refusal(
            "bad-request",
            f"{len(found) or 'no'} locks are called {self.lock!r}",
            f"name one of {', '.join(known[:NAMED_LOCKS])}" if known else "give its number",
        )

    @property
    def state_numbers(self) -> frozenset[int]:
        """Numbers of the selected states."""
        return frozenset(
            number
            for number, name in enumerate(STATES, 1)
            if not self.states or name in self.states
        )

    def chosen(self, names: Mapping[int, str], rules: Sequence[RoleRule]) -> "Chosen":
        """Return which threads are selected.

        Args:
            names: names of threads by ID.
            rules: rules for roles of the target.
        """
        of_roles = frozenset(
            tid for tid, name in names.items() if role_of(name, rules) in self.roles
        )
        return Chosen(self.tids or None, of_roles if self.roles else None)


@dataclass(frozen=True)
class Chosen:
    """Selected threads.

    Attributes:
        tids: selected IDs; None for all.
        of_roles: threads of the selected roles; None for all.
    """

    tids: frozenset[int] | None
    of_roles: frozenset[int] | None

    def __contains__(self, tid: object) -> bool:
        """Return True if a thread is selected."""
        return (self.tids is None or tid in self.tids) and (
            self.of_roles is None or tid in self.of_roles
        )
