"""Match expressions: which processes a person means by name, user, port and command line. Pure."""

import pwd
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from tidscope_wire.generated.models import Process
from tidscope_wire.problems import refusal

MAX_TERMS = 16
NOBODYS_UID = 2**32 - 1
"""ID that no user has."""
HINT = (
    "Terms are name:GLOB, user:NAME, port:NUMBER and command:TEXT, joined by blanks; all must hold."
)


@dataclass(frozen=True, slots=True)
class Term:
    """A condition on a process.

    Attributes:
        key: name, user, port or command.
        value: what follows the colon.
        text: as it was written.
    """

    key: str
    value: str
    text: str

    def holds(self, process: Process) -> bool:
        """True if the term holds for a process."""
        return _TESTS[self.key](process, self.value)


@dataclass(frozen=True, slots=True)
class Match:
    """A match expression.

    Attributes:
        terms: all of them hold for a process that matches.
    """

    terms: tuple[Term, ...]

    def holds(self, process: Process) -> bool:
        """True if a process matches. A process that asks for this expression itself does not."""
        return all(term.holds(process) for term in self.terms) and not self._asks(process)

    def may_hold(self, name: str, user: str, uid: int) -> bool:
        """True if a process may match, of which only name and user are known."""
        tests: dict[str, Callable[[str], bool]] = {
            "name": lambda glob: fnmatchcase(name, glob),
            "user": lambda wanted: wanted in (user, str(uid)),
        }
        return all(tests[term.key](term.value) for term in self.terms if term.key in tests)

    @property
    def is_of_name_and_user(self) -> bool:
        """True if name and user alone decide about a match."""
        return all(term.key in ("name", "user") for term in self.terms)

    def exact(self) -> tuple[list[str], list[int]] | None:
        """Globs of names and IDs of users, where these alone decide; else None."""
        if not self.is_of_name_and_user:
            return None
        names = [term.value for term in self.terms if term.key == "name"]
        return names, [uid_of(term.value) for term in self.terms if term.key == "user"]

    def _asks(self, process: Process) -> bool:
        """True if the command line of a process has the expression behind --match."""
        words = [word.strip("\"'") for word in (process.command or "").split()]
        wanted = [term.text for term in self.terms]
        for place, word in enumerate(words):
            option, _, first = word.partition("=")
            if option == "--match":
                given = [*([first.strip("\"'")] if first else []), *words[place + 1 :]]
                if given[: len(wanted)] == wanted:
                    return True
        return False


def uid_of(user: str) -> int:
    """Return the ID of a user by name or number; one that nobody has if there is none."""
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        return int(user) if user.isdecimal() and int(user) < NOBODYS_UID else NOBODYS_UID


def parse_match(text: str) -> Match:
    """Read an expression.

    Raises:
        ProblemError: it has no terms or too many, or a term cannot be read.
    """
    words = text.split()
    if not words:
        raise refusal("bad-group", "the match expression has no terms", HINT)
    if len(words) > MAX_TERMS:
        raise refusal(
            "bad-group", f"the match expression has {len(words)} terms, {MAX_TERMS} at most", HINT
        )
    return Match(tuple(_term(word) for word in words))


def _term(word: str) -> Term:
    key, colon, value = word.partition(":")
    if not colon or key not in _TESTS:
        return Term("command", word, word)
    if not value:
        raise refusal("bad-group", f"nothing follows {key}: in the match expression", HINT)
    if key == "port" and not (value.isdecimal() and len(value) <= 5):
        raise refusal("bad-group", f"{value!r} is not a port", HINT)
    return Term(key, value, word)


_TESTS: dict[str, Callable[[Process, str], bool]] = {
    "name": lambda process, glob: fnmatchcase(process.name, glob),
    "user": lambda process, user: user in (process.user, str(process.uid)),
    "port": lambda process, port: int(port) in process.ports,
    "command": lambda process, text: text.lower() in (process.command or "").lower(),
}
"""Test of a term by its key. Globs are short and have few stars: a comm's length bounds their
cost.
"""
