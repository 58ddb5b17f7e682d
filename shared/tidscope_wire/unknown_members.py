"""Messages of a program of another version, reduced to what this version knows of them. Pure.

A newer program may send members, and list items of kinds, that did not exist before.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

from pydantic import TypeAdapter, ValidationError

T = TypeVar("T")
MOST = 256
"""Maximum unknown parts of a message; one with more is refused."""
_HOLDERS = {"extra_forbidden": dict, "union_tag_invalid": list}
"""Errors of pydantic that are unknown parts, and what holds such a part."""


class _Part(NamedTuple):
    """A part of a JSON document: the object or list that holds it, its key there, and a name."""

    holder: Any
    key: int | str
    name: str


def known_part(
    adapter: TypeAdapter[T], text: str | bytes, *, only_null: bool = False
) -> tuple[T, list[str]]:
    """Parse a message without the members and list items of kinds that this version does not know.

    Args:
        adapter: schema of the message.
        text: the message.
        only_null: leave out nothing but members that are null.

    Returns:
        The message, and the names of what was left out, such as `host.zone`; usually none.

    Raises:
        ValidationError: anything else is wrong with the message.
    """
    try:
        return adapter.validate_json(text), []
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        if len(found) > MOST or any(one["type"] not in _HOLDERS for one in found):
            raise
        value = json.loads(text)
        parts = [_part(value, one) for one in found]
        unknown = {(id(part.holder), part.key): part for part in parts if part is not None}
        values = [part.holder[part.key] for part in unknown.values()]
        if None in parts or (only_null and any(value is not None for value in values)):
            raise
    # The last items of a list go first, so that the places of earlier ones stay right.
    for part in reversed(unknown.values()):
        del part.holder[part.key]
    names = dict.fromkeys(part.name for part in unknown.values())
    return adapter.validate_json(json.dumps(value)), list(names)


def _part(value: Any, error: Mapping[str, Any]) -> _Part | None:
    """Find the part that an error is about; None if the message cannot do without it."""
    found: _Part | None = None
    path = list[str]()
    for key in error["loc"]:
        if isinstance(value, dict) and key in value:
            path.append(str(key))
        elif not (isinstance(value, list) and isinstance(key, int)):
            continue  # The kind of a message that the part is in.
        found, value = _Part(value, key, ".".join(path)), value[key]
    if found is None or found.key != error["loc"][-1]:
        return None
    if not isinstance(found.holder, _HOLDERS[error["type"]]):
        return None
    if isinstance(value, dict) and isinstance(found.key, int):
        return found._replace(name=f"{found.name} {value.get('type')}")
    return found
