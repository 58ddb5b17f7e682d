"""Writes to a terminal; nothing else of the command line prints."""

import sys
from typing import TextIO

from tidscope_wire.escaping import escape_controls

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
