"""Parameters of a policy: typed, bounded and described, so that a page can draw a form."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar, get_type_hints

Number = TypeVar("Number", int, float)
Values = TypeVar("Values", bound="Parameters")


class ParameterError(ValueError):
    """Unknown parameter or forbidden value; the text names both."""


@dataclass(frozen=True, slots=True)
class ParameterInfo:
    """Description of one parameter for a form."""

    name: str
    unit: str
    integer: bool
    default: float
    low: float
    high: float
    meaning: str


def parameter(default: Number, low: Number, high: Number, unit: str, meaning: str) -> Number:
    """Make a field of a parameters class.

    Args:
        default: default value.
        low: lowest value allowed.
        high: highest value allowed.
        unit: its unit, empty for a plain number.
        meaning: one line.
    """
    metadata = {"low": low, "high": high, "unit": unit, "meaning": meaning}
    made: Number = field(default=default, metadata=metadata)
    return made


@dataclass(frozen=True)
class Parameters:
    """Parameters of all policies; each policy adds fields, made by `parameter`."""

    interval_s: float = parameter(
        2.0, 0.5, 60.0, "s", "length of an interval: how often the policy decides"
    )


def describe(kind: type[Parameters]) -> list[ParameterInfo]:
    """All parameters of a class, in the order in which they are written."""
    types = get_type_hints(kind)
    defaults = vars(kind())
    return [
        ParameterInfo(
            name=each.name,
            unit=each.metadata["unit"],
            integer=types[each.name] is int,
            default=defaults[each.name],
            low=each.metadata["low"],
            high=each.metadata["high"],
            meaning=each.metadata["meaning"],
        )
        for each in fields(kind)
    ]


def make_parameters(kind: type[Values], given: Mapping[str, float]) -> Values:
    """Parameters with some values given and the rest at their defaults.

    Raises:
        ParameterError: a name or a value is wrong.
    """
    known = {info.name: info for info in describe(kind)}
    values: dict[str, Any] = {}
    for name, value in given.items():
        info = known.get(name)
        if info is None:
            raise ParameterError(f"no parameter {name!r}; there are: {', '.join(known) or 'none'}")
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not number or not math.isfinite(value) or not info.low <= value <= info.high:
            raise ParameterError(f"{name}: {value!r} is not from {info.low:g} to {info.high:g}")
        if info.integer and value != int(value):
            raise ParameterError(f"{name}: {value!r} is not a whole number")
        values[name] = int(value) if info.integer else float(value)
    return kind(**values)
