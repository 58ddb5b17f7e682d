"""Verbs of the command line, their errors, and everything that they print or open."""

import argparse
import gc
import os
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TextIO

from tidscope_wire.escaping import escape_controls


class CommandError(Exception):
    """The command cannot do its work; the text says why and what to do.

    Args:
        message: one sentence.
        code: exit code.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


@contextmanager
def loading() -> Iterator[None]:
    """While modules are loaded: no garbage collection, which would find nothing and costs a fifth.

    What is loaded stays to the end, so later collections leave it out too, in forks as well.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def parse_all(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; what the parser does not know is an error."""
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Command:
    """A verb of the command line.

    Attributes:
        name: the verb.
        help: one line for the list of verbs.
        add_arguments: adds the verb's options to its parser.
        run: does the work and returns the exit code; raises CommandError.
        description: what stands above the options in its --help; the help line if empty.
        usage: replaces the usage line that argparse makes.
        epilog: what stands below the options.
        parse: reads the arguments, where argparse alone cannot.
    """

    name: str
    help: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]
    description: str = ""
    usage: str | None = None
    epilog: str | None = None
    parse: Callable[[argparse.ArgumentParser, Sequence[str]], argparse.Namespace] = parse_all

    def parser(self) -> argparse.ArgumentParser:
        """Make the parser of this verb."""
        parser = argparse.ArgumentParser(
            prog=f"tidscope {self.name}",
            usage=self.usage,
            description=self.description or f"{self.help[:1].upper()}{self.help[1:]}.",
            epilog=self.epilog,
        )
        self.add_arguments(parser)
        return parser

    def main(self, arguments: Sequence[str]) -> int:
        """Parse the arguments and run."""
        return self.run(self.parse(self.parser(), arguments))


LINE_WIDTH = 79


def print_lines(*lines: str, file: TextIO | None = None, flush: bool = False) -> None:
    """Print lines, each escaped by `escape_controls`.

    Args:
        lines: text or JSON; a line break within one is escaped like any other control character.
        file: standard output if None.
        flush: whether to write at once what is buffered.
    """
    print(*map(escape_controls, lines), sep="\n", file=file or sys.stdout, flush=flush)


class ProgressLine:
    """A line of standard error that is rewritten in place."""

    def __init__(self, *, shown: bool) -> None:
        self.shown = shown
        self._used = False

    def show(self, text: str) -> None:
        """Replace the line."""
        if self.shown:
            self._used = True
            line = escape_controls(text)[:LINE_WIDTH]
            print(f"\r\033[K{line}", end="", file=sys.stderr, flush=True)

    def clear(self) -> None:
        """Erase the line."""
        if self._used:
            print("\r\033[K", end="", file=sys.stderr, flush=True)


def has_display(environ: Mapping[str, str], euid: int) -> bool:
    """Whether a browser can open here: there is a display, and browsers refuse to run as root."""
    return euid != 0 and bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


@contextmanager
def page_in_browser(url: str, wanted: bool) -> Iterator[None]:
    """Open an address in the browser, if wanted; what that needs lasts as long as the context.

    Arguments of a process can be read by every user of the machine, so the browser is given a file
    that only this user can read, and that leads to the address.
    """
    if not wanted:
        yield
        return
    handle, name = tempfile.mkstemp(prefix="tidscope-", suffix=".html")
    with os.fdopen(handle, "w") as file:
        file.write(
            '<!doctype html><meta charset="utf-8"><title>tidscope</title>'
            f'<meta http-equiv="refresh" content="0; url={escape(url, quote=True)}">'
        )
    try:
        webbrowser.open(Path(name).as_uri())
        yield
    finally:
        Path(name).unlink(missing_ok=True)
