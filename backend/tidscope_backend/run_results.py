"""Results of a recorded run that its user gives or that its command prints: `record --metric`."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidscope_wire.generated.models import Better, RunResult

from tidscope_backend.patterns import PatternError, last_groups, pattern

MAX_RESULTS = 16
_FORM = re.compile(
    r"(?P<name>[A-Za-z][A-Za-z0-9_.-]{0,39})(?::(?P<better>more|less))?=(?P<value>.+)", re.DOTALL
)
_BETTER: Mapping[str, Better] = {"more": "more", "less": "less", "": "neither"}


@dataclass(frozen=True)
class Metric:
    """A result as asked for.

    Attributes:
        name: name of the result.
        better: which way is an improvement.
        value: the value; None if the output says it.
        pattern: regular expression with one group, for the command's output.
    """

    name: str
    better: Better
    value: float | None = None
    pattern: str = ""


def metric(text: str) -> Metric:
    """Parse `NAME[:more|:less]=VALUE` or `NAME[:more|:less]=/REGEX/`.

    Raises:
        ValueError: the text has neither form.
    """
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text!r} is neither NAME=VALUE nor NAME=/REGEX/, nor one with :more or :less "
            "behind its name"
        )
    name, value = found["name"], found["value"]
    better = _BETTER[found["better"] or ("more" if name == "ops" else "")]
    if len(value) > 1 and value[0] == value[-1] == "/":
        return Metric(name, better, pattern=_checked(value[1:-1]))
    try:
        return Metric(name, better, _finite(value))
    except ValueError:
        raise ValueError(f"{value!r} is neither a number nor /REGEX/") from None


def results_of(asked: Sequence[Metric], output: str | None) -> tuple[list[RunResult], list[str]]:
    """Return the results, and what is said of those that are missing.

    Args:
        asked: results as asked for.
        output: end of the command's output; None if there is none.
    """
    patterns = [one.pattern for one in asked if one.pattern]
    texts, trouble = _matched(patterns, output or "")
    results: list[RunResult] = []
    missing: list[str] = []
    for one in asked:
        text = texts.pop(0) if one.pattern else None
        try:
            value = _finite(text.replace(",", "")) if text is not None else one.value
        except ValueError:
            missing.append(f"result {one.name}: {text!r} is not a number")
            continue
        if value is None:
            missing.append(f"result {one.name}: {trouble or 'no line of the output matches'}")
        else:
            results.append(RunResult(name=one.name, value=value, better=one.better))
    return results, missing


def _matched(patterns: Sequence[str], text: str) -> tuple[list[str | None], str]:
    """Return the text of each pattern, and why there is none."""
    if not patterns:
        return [], ""
    try:
        return last_groups(patterns, text), ""
    except PatternError as error:
        return [None] * len(patterns), str(error)


def _checked(text: str) -> str:
    if re.compile(pattern(text)).groups != 1:
        raise ValueError(f"/{text}/ needs one group, in parentheses, that is the number")
    return text


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(text)
    return value
