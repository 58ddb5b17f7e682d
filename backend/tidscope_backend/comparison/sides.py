"""What a comparison compares: a run, or a window of one."""

import re
from dataclasses import dataclass
from pathlib import Path

from tidscope_backend.comparison.tables import ComparisonError
from tidscope_backend.comparison.windows import Window, side_id
from tidscope_backend.store.lookup import all_runs, find_runs

_SECONDS = r"[0-9]{1,7}(?:\.[0-9]{1,3})?"
_WINDOW = re.compile(rf"(.+)@({_SECONDS})-({_SECONDS})", re.DOTALL)


@dataclass(frozen=True)
class Side:
    """A run, or a window of it.

    Attributes:
        path: folder of the run.
        window: None: all of it.
    """

    path: Path
    window: Window | None = None

    @property
    def id(self) -> str:
        """`RUN`, or `RUN@FROM-TO`."""
        return side_id(self.path.name, self.window)


def split_window(text: str) -> tuple[str, Window | None]:
    """Take `RUN@FROM-TO` apart; a text without a window stays whole.

    Raises:
        ComparisonError: the window ends before it begins.
    """
    found = _WINDOW.fullmatch(text)
    if found is None:
        return text, None
    window = Window(float(found[2]), float(found[3]))
    if window.to_s <= window.from_s:
        raise ComparisonError(f"the window {window} ends before it begins")
    return found[1], window


def find_sides(runs: Path, text: str) -> list[Side]:
    """The sides of a group as the command line names it, joined by commas.

    Each is a run or a group of repeats as `find_runs` knows them, or one with `@FROM-TO` behind it:
    that window of each of its runs. A name that looks like that is recognised if a run has it.

    Raises:
        RunNotFoundError: see `find_runs`.
        ComparisonError: a window ends before it begins.
    """
    known = all_runs(runs)
    names = {run.name for run in known} | {run.group for run in known}
    found: list[Side] = []
    for name in [text] if text in names else text.split(","):
        called, window = (name, None) if name in names else split_window(name)
        found += [Side(path, window) for path in find_runs(runs, called)]
    return found
