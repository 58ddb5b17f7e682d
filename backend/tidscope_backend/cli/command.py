"""Base of the command line's verbs: their errors, output and opening of pages."""

import argparse
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
    """The command failed; the text says why and what to do.

    Args:
        message: message in one sentence.
        code: exit code.
    """

    def __init__(self, message: str, code: int = 1) -> None:
        super().__init__(message)
        self.code = code


def parse_all(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """Parse arguments; unknown ones are an error."""
    return parser.parse_args(arguments)


@dataclass(frozen=True)
class Command:
    """A verb of the command line.

    Attributes:
        name: the verb.
        help: summary for the list of verbs.
        add_arguments: adds the verb's options to its parser.
        run: does the work and returns the exit code; raises CommandError.
        description: text above the options in --help; the help line if empty.
        usage: replaces the usage line that argparse makes.
        epilog: text below the options.
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
        """Build the verb's parser."""
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
        lines: text or JSON; line breaks within a line are escaped like other control characters.
        file: standard output if None.
        flush: whether to flush buffered output.
    """
    print(*map(escape_controls, lines), sep="\n", file=file or sys.stdout, flush=flush)


class ProgressLine:
    """A line on standard error that is rewritten in place."""

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
    """Return True if a browser can open: there is a display, and the user is not root."""
    return euid != 0 and bool(environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY"))


@contextmanager
def page_in_browser(url: str, wanted: bool) -> Iterator[None]:
    """Open an address in the browser if requested; its temporary file lasts as long as the context.

    Process arguments are readable for other users of the machine. The browser therefore gets a
    private file that redirects to the address.
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
