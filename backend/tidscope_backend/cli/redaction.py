"""What a run keeps of a recorded command's arguments and output."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tidscope_wire.redaction import MARGIN, REDACTED, redact, redact_arguments

from tidscope_backend.cli.output_relay import TAIL_BYTES, OutputTail

OUTPUT_VARIABLE = "TIDSCOPE_RECORD_OUTPUT"
ARGUMENTS_VARIABLE = "TIDSCOPE_RECORD_ARGUMENTS"
NO = frozenset({"no", "0", "false", "off"})
PATTERN_SECONDS = 5
NOT_STORED = "[not stored: the patterns of --redact took too long]"
ARGUMENTS_NOT_STORED = "[arguments not stored]"
_PROGRAM = f"""
import json, re, resource, sys
resource.setrlimit(resource.RLIMIT_CPU, ({PATTERN_SECONDS}, {PATTERN_SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, (1 << 29, 1 << 29))
given = json.load(sys.stdin)
for pattern in given["patterns"]:
    given["texts"] = [re.sub(pattern, lambda _: {REDACTED!r}, text) for text in given["texts"]]
json.dump(given["texts"], sys.stdout)
"""


@dataclass(frozen=True)
class Keeping:
    """What is kept.

    Attributes:
        arguments: whether arguments are kept, what looks like a secret left out.
        output: the same for the end of the output.
        patterns: regular expressions; what matches is left out, too.
    """

    arguments: bool
    output: bool
    patterns: Sequence[str] = ()

    def command_line(self, command: str) -> str | None:
        """A process's command line as its run keeps it; None: as the collector gave it."""
        if not self.arguments:
            return f"{command.partition(' ')[0]} {ARGUMENTS_NOT_STORED}"
        return leave_out(self.patterns, [command])[0] if self.patterns else None

    def argument_list(self, command: Sequence[str]) -> list[str]:
        """A command's arguments as its run keeps them; they are text, whatever they were."""
        texts = [argument.encode(errors="replace").decode() for argument in command]
        if not self.arguments:
            return texts[:1]
        return leave_out(self.patterns, redact_arguments(texts))

    def output_text(self, tail: OutputTail | None) -> str | None:
        """The end of a command's output as its run keeps it; None: it keeps none."""
        if tail is None or not self.output:
            return None
        (text,) = leave_out(self.patterns, [redact(tail.text())])
        if tail.cut:
            # A secret that was cut in two is not recognised: leave out what may be its rest.
            line_end = text.find("\n", 0, MARGIN)
            text = text[line_end + 1 :] if line_end >= 0 else text[MARGIN:]
        return text[-TAIL_BYTES:]


def leave_out(patterns: Sequence[str], texts: list[str]) -> list[str]:
    """Replace what matches a person's own patterns.

    They are tried in a process of its own, for a limited time: some patterns take for ever on some
    texts. Where that fails, nothing of the texts is kept.
    """
    if not patterns:
        return texts
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _PROGRAM],
            input=json.dumps({"patterns": list(patterns), "texts": texts}).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=2 * PATTERN_SECONDS,
            check=True,
        )
        found = json.loads(done.stdout)
    except (OSError, ValueError, subprocess.SubprocessError):
        return [NOT_STORED] * len(texts)
    return [str(text) for text in found]


def pattern(text: str) -> str:
    """Check a pattern of the command line. Raises ValueError: it is none."""
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"{text!r} is not a regular expression: {error}") from None
    return text


def kept_by_default(environ: Mapping[str, str], variable: str) -> bool:
    """Whether a setting keeps something: it does unless it says no."""
    return environ.get(variable, "").strip().lower() not in NO
