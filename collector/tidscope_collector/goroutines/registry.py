"""Numbers and times of goroutines' stacks: rows of the wire. Not thread-safe."""

from collections.abc import Sequence

import numpy as np
from tidscope_wire.frame_tables import Table, dtype_of
from tidscope_wire.generated.models import TableName

from tidscope_collector.goroutines.profile import ALL, StackLine

MAX_STACKS = 4096
"""Maximum stacks of a target; goroutines with further ones count as goroutines only."""
MAX_CHARACTERS = 1 << 20
"""Maximum length of all texts of a target's stacks, in characters."""
_LINE_BREAKS = str.maketrans("\t\n\r", "   ")

_Key = tuple[int, str, str]
"""Process ID, reason, and frames as text."""


class GoroutineRegistry:
    """Keeps what readings found; a stack has one number while the target is attached."""

    def __init__(self) -> None:
        self._numbers: dict[_Key, int] = {}
        self._names: list[tuple[int, int, str, str, str, int, str]] = []
        self._figures: list[list[int]] = []
        self._characters = 0

    def note(self, pid: int, stacks: Sequence[StackLine], since_ns: int) -> None:
        """Record a reading: goroutines found now count for the time since the one before.

        Args:
            pid: process ID.
            stacks: all goroutines of the process, and those of each stack.
            since_ns: time since the reading before, in nanoseconds; 0 without one.
        """
        for number, other, *_ in self._names:
            if other == pid:
                self._figures[number - 1][0] = 0
        for stack in stacks:
            number = self._number(pid, stack)
            if number:
                figures = self._figures[number - 1]
                figures[0] = stack.goroutines
                figures[1] += stack.goroutines * since_ns
                figures[2] += since_ns if stack.reason == ALL else 0

    def gone(self, pid: int) -> None:
        """Note that a process has ended: it has no goroutines any more."""
        self.note(pid, (), 0)

    def tables(self) -> dict[TableName, Table]:
        """Return all rows; nothing before the first reading."""
        if not self._names:
            return {}
        figures = [(number, *values) for number, values in enumerate(self._figures, 1)]
        return {
            "goroutines": np.array(figures, dtype_of("goroutines")),
            "goroutine_stacks": np.array(self._names, dtype_of("goroutine_stacks")),
        }

    def _number(self, pid: int, stack: StackLine) -> int:
        """Return the number of a stack, or 0 if there are too many."""
        frames = "\n".join(
            f"{_plain(function)}\t{_plain(file)}\t{line}" for function, file, line in stack.frames
        )
        key = (pid, stack.reason, frames)
        number = self._numbers.get(key)
        if number is None:
            if len(self._names) >= MAX_STACKS or self._characters + len(frames) > MAX_CHARACTERS:
                return 0
            self._characters += len(frames)
            number = self._numbers[key] = len(self._names) + 1
            function, file, line = stack.place
            name = (number, pid, stack.reason, _plain(function), _plain(file), line, frames)
            self._names.append(name)
            self._figures.append([0, 0, 0])
        return number


def _plain(text: str) -> str:
    """Return a text without the characters that separate frames and their parts."""
    return text.translate(_LINE_BREAKS)
