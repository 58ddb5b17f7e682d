"""The file that says by which commands a pool of another program is read and set.

It is TOML. Commands are lists of arguments; no shell sees them. `{size}` in an argument of `set` is
replaced by the size, an integer; nothing else is replaced.
"""

import os
import re
import stat
import tomllib
from dataclasses import dataclass
from pathlib import Path

LONGEST_TIMEOUT_S = 0.9
"""Maximum time of a command, in seconds: collectors wait a second for an answer."""
_LINE = re.compile(r"[ -~]*\{size\}[ -~]*")
_NUMBERS: dict[str, type | tuple[type, ...]] = {
    "lower": int,
    "upper": int,
    "timeout_s": (int, float),
}
_TEXTS = ("read_match", "count_match", "line", "user")
_COMMANDS = ("set", "read", "count")


class CommandFileError(Exception):
    """The file cannot be used; the text says why."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command that prints a number.

    Attributes:
        arguments: the program and its arguments.
        match: expression with one group, found in the output; None: the output is the number.
    """

    arguments: tuple[str, ...]
    match: re.Pattern[str] | None = None


@dataclass(frozen=True, slots=True)
class CommandKnob:
    """Content of a file.

    Attributes:
        set: sets the size.
        read: prints the size; the first match counts.
        count: prints the operations since some beginning; matches are added up.
        lower: smallest size that may be set.
        upper: largest size that may be set.
        timeout_s: time after which a command is killed.
        line: line with {size} that sets a size for good; empty if there is none.
        user: user that runs the commands; empty: the one that starts this program.
    """

    set: tuple[str, ...]
    read: Command
    count: Command
    lower: int
    upper: int
    timeout_s: float = LONGEST_TIMEOUT_S
    line: str = ""
    user: str = ""

    def command(self, size: int) -> tuple[str, ...]:
        """Return the arguments that set a size."""
        return tuple(word.replace("{size}", str(int(size))) for word in self.set)


def load(path: Path) -> CommandKnob:
    """Read a file.

    Raises:
        CommandFileError: it cannot be read, others may write it, or it does not say what it should.
    """
    try:
        with path.open("rb") as file:
            found = os.fstat(file.fileno())
            if found.st_uid not in (0, os.geteuid()) or found.st_mode & (
                stat.S_IWGRP | stat.S_IWOTH
            ):
                raise CommandFileError(
                    f"{path}: it must belong to root or to you, and nobody else may write it"
                )
            content = tomllib.load(file)
    except OSError as error:
        raise CommandFileError(f"{path}: {error.strerror}") from error
    except tomllib.TOMLDecodeError as error:
        raise CommandFileError(f"{path}: {error}") from error
    return _knob(path, content)


def _knob(path: Path, content: dict[str, object]) -> CommandKnob:
    for key, value in content.items():
        if what := _refusal(key, value):
            raise CommandFileError(f"{path}: {key} {what}")
    for key in (*_COMMANDS, "lower", "upper"):
        if key not in content:
            raise CommandFileError(f"{path}: {key} is missing")
    made = CommandKnob(
        set=_words(content["set"]),
        read=Command(_words(content["read"]), _match(path, "read_match", content)),
        count=Command(_words(content["count"]), _match(path, "count_match", content)),
        lower=int(str(content["lower"])),
        upper=int(str(content["upper"])),
        timeout_s=float(str(content.get("timeout_s", LONGEST_TIMEOUT_S))),
        line=str(content.get("line", "")),
        user=str(content.get("user", "")),
    )
    if not 0 < made.timeout_s <= LONGEST_TIMEOUT_S:
        raise CommandFileError(
            f"{path}: timeout_s must be above 0, and {LONGEST_TIMEOUT_S:g} at most"
        )
    if not 1 <= made.lower <= made.upper:
        raise CommandFileError(f"{path}: lower must be from 1 to upper")
    return made


def _refusal(key: str, value: object) -> str:
    """Return what is wrong with a value, in words that follow its key; empty if nothing is."""
    if key in _COMMANDS:
        words = _words(value)
        if not words or not isinstance(value, list) or len(words) != len(value):
            return "must be a list of a program and its arguments"
        if any("{size}" in word for word in words) != (key == "set"):
            return "must have {size} in an argument" if key == "set" else "takes no {size}"
    elif key in _NUMBERS:
        isnt = isinstance(value, bool) or not isinstance(value, _NUMBERS[key])
        return "must be a number" if isnt else ""
    elif key not in _TEXTS:
        return "is not known"
    elif not isinstance(value, str) or (key == "line" and not _LINE.fullmatch(value)):
        return "must be printable text, with {size} in line"
    return ""


def _words(value: object) -> tuple[str, ...]:
    """Return the texts of a list."""
    return tuple(each for each in value if isinstance(each, str)) if isinstance(value, list) else ()


def _match(path: Path, key: str, content: dict[str, object]) -> re.Pattern[str] | None:
    if key not in content:
        return None
    try:
        found = re.compile(str(content[key]), re.MULTILINE)
    except re.error as error:
        raise CommandFileError(f"{path}: {key}: {error}") from error
    if found.groups != 1:
        raise CommandFileError(f"{path}: {key} must have one group, around the number")
    return found
