"""Regular expressions that users give, matched in a separate process with a time limit.

Some patterns never end on some texts.
"""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence

PATTERN_SECONDS = 5
_PROGRAM = """
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({seconds}, {seconds}))
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
given = json.load(sys.stdin)
json.dump({expression}, sys.stdout)
"""
_REPLACED = """[
    __import__("functools").reduce(
        lambda text, pattern: re.sub(pattern, lambda _: given["by"], text), given["patterns"], text
    )
    for text in given["texts"]
]"""
_LAST = """[
    (list(re.finditer(pattern, given["text"], re.MULTILINE)) or [[None, None]])[-1][1]
    for pattern in given["patterns"]
]"""


class PatternError(Exception):
    """Matching did not end in time, or failed."""


def replaced(patterns: Sequence[str], texts: Sequence[str], by: str) -> list[str]:
    """Return texts with `by` instead of each match.

    Raises:
        PatternError: see there.
    """
    found = _apart(_REPLACED, {"patterns": list(patterns), "texts": list(texts), "by": by})
    return [str(text) for text in found]


def last_groups(patterns: Sequence[str], text: str) -> list[str | None]:
    """Return what the first group of each pattern's last match in a text has; None if none matches.

    Raises:
        PatternError: see there.
    """
    found = _apart(_LAST, {"patterns": list(patterns), "text": text})
    return [None if one is None else str(one) for one in found]


def _apart(expression: str, given: Mapping[str, object]) -> list[object]:
    """Evaluate an expression over `given`."""
    program = _PROGRAM.format(seconds=PATTERN_SECONDS, expression=expression)
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", program],
            input=json.dumps(given).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2 * PATTERN_SECONDS,
            check=True,
        )
        return list(json.loads(done.stdout))
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        raise PatternError(f"matching took more than {PATTERN_SECONDS} s") from error


def pattern(text: str) -> str:
    """Check a pattern of the command line. Raises ValueError if invalid."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None
    return text
