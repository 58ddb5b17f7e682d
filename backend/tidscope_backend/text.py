"""Formatting of numbers, names and validation errors as text."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError


def plural(count: int, one: str, many: str | None = None) -> str:
    """Format a count with its noun: "1 thread", "2 threads", "3 processes"."""
    return f"{count} {one if count == 1 else many or one + 's'}"


def format_seconds(nanoseconds: int) -> str:
    """Format a duration, with a unit in which short ones can be distinguished."""
    if nanoseconds >= 1_000_000_000:
        return f"{nanoseconds / 1e9:.2f} s"
    if nanoseconds >= 1_000_000:
        return f"{nanoseconds / 1e6:.1f} ms"
    return f"{nanoseconds / 1e3:.0f} µs"


def format_bytes(count: int) -> str:
    """Format a size in binary units."""
    if count < 1024:
        return f"{count} B"
    value = float(count)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        # 1023.96 KiB would be displayed as 1024.0 KiB.
        if round(value, 1) < 1024 or unit == "GiB":
            break
    return f"{value:.1f} {unit}"


MAX_SHOWN = 60


def validation_text(error: ValidationError) -> str:
    """Describe the first error in a message."""
    return describe(error.errors(include_url=False))


def describe(errors: Iterable[Mapping[str, Any]], hidden: frozenset[str] = frozenset()) -> str:
    """Describe the first of pydantic's error records.

    Args:
        errors: records with loc, msg and input.
        hidden: places with confidential values.
    """
    first = next(iter(errors))
    place = ".".join(str(part) for part in first["loc"]) or "message"
    text = f"{place}: {first['msg']}"
    given = first.get("input")
    if isinstance(given, str | int | float | bool) and not hidden.intersection(first["loc"]):
        shown = repr(given)
        text += f", not {shown if len(shown) <= MAX_SHOWN else shown[:MAX_SHOWN] + '…'}"
    return text
