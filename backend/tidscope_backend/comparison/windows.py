"""Stretches of a run that can be compared. Pure."""

from typing import NamedTuple


class Window(NamedTuple):
    """A stretch of a run, in seconds from its start."""

    from_s: float
    to_s: float

    def __str__(self) -> str:
        """Of the form FROM-TO, with no more digits than it needs."""
        return f"{_short(self.from_s)}-{_short(self.to_s)}"

    @property
    def label(self) -> str:
        """For people."""
        return f"{_short(self.from_s)}–{_short(self.to_s)} s"


def side_id(run: str, window: Window | None) -> str:
    """What a side of a comparison is called in links and answers: `RUN` or `RUN@FROM-TO`."""
    return run if window is None else f"{run}@{window}"


def _short(seconds: float) -> str:
    text = f"{seconds:.3f}"
    return text.rstrip("0").rstrip(".")
