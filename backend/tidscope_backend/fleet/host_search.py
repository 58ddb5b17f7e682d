"""Search for hosts by words. Pure. The page searches the same way: frontend hostSearch.ts.

Words are separated by blanks, and all have to match. KEY=VALUE is a label, or `host`, `role` or
`program`; VALUE may end with `*`. Any other word is part of a name or of a label's value. A leading
`-` inverts a word. Case does not matter.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple


class Searched(NamedTuple):
    """Facts of a host that can be searched.

    Attributes:
        name: name of the host.
        labels: labels of the host.
        programs: names of its processes.
        roles: roles of its threads.
    """

    name: str
    labels: Mapping[str, str]
    programs: Sequence[str] = ()
    roles: Sequence[str] = ()


def matches(search: str, host: Searched) -> bool:
    """Return True if a host matches all words."""
    return all(_matches(word, host) for word in search.lower().split())


def _matches(word: str, host: Searched) -> bool:
    inverted = word.startswith("-") and len(word) > 1
    return _found(word[1:] if inverted else word, host) != inverted


def _found(word: str, host: Searched) -> bool:
    key, equals, value = word.partition("=")
    if equals:
        return any(_is(one.lower(), value) for one in _values(key, host))
    known = (host.name, *host.labels.values(), *host.programs, *host.roles)
    return any(word in one.lower() for one in known)


def _values(key: str, host: Searched) -> Iterable[str]:
    labels = {name.lower(): value for name, value in host.labels.items()}
    if key in labels:
        return (labels[key],)
    return {"host": (host.name,), "program": host.programs, "role": host.roles}.get(key, ())


def _is(value: str, wanted: str) -> bool:
    return value.startswith(wanted[:-1]) if wanted.endswith("*") else value == wanted
