"""What pydantic found wrong, in one line that names the place and the value."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError

MAX_SHOWN = 60


def validation_text(error: ValidationError) -> str:
    """Describe the first thing that is wrong with a message."""
    return describe(error.errors(include_url=False))


def describe(errors: Iterable[Mapping[str, Any]], hidden: frozenset[str] = frozenset()) -> str:
    """Describe the first of pydantic's error records.

    Args:
        errors: records with loc, msg and input.
        hidden: places whose values must not be repeated.
    """
    first = next(iter(errors))
    place = ".".join(str(part) for part in first["loc"]) or "message"
    text = f"{place}: {first['msg']}"
    given = first.get("input")
    if isinstance(given, str | int | float | bool) and not hidden.intersection(first["loc"]):
        shown = repr(given)
        text += f", not {shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + '…'}"
    return text
