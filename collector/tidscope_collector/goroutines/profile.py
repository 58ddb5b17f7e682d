"""Client of the question about goroutine profiles, and the page that a program serves them at."""

from typing import Annotated

from pydantic import Field

from tidscope_collector.inspection.answering import PROCESSES_S
from tidscope_collector.inspection.asking import Line, ask_text, read_lines
from tidscope_collector.inspection.own_pages import Page
from tidscope_collector.inspection.pprof import LONGEST_NAME

PATH = "/debug/pprof/goroutine"
ALL = "all"
"""Reason of the line that stands for all goroutines."""
_Name = Annotated[str, Field(max_length=LONGEST_NAME)]
_Number = Annotated[int, Field(ge=0, lt=1 << 31)]
_Frame = tuple[_Name, _Name, _Number]


class StackLine(Line):
    """Goroutines with one stack; see `go_profiles.StackOf`. Frames are function, file and line."""

    goroutines: int = Field(ge=0, lt=1 << 53)
    reason: str = Field(max_length=64)
    place: _Frame
    frames: list[_Frame]


def ask_goroutines(profile: bytes) -> list[StackLine]:
    """See `go_profiles.goroutine_profile`.

    Raises:
        NoAnswerError: the profile is invalid, or parsing takes too long.
    """
    return read_lines(ask_text("goroutine_profile", {}, PROCESSES_S, profile), StackLine)


PAGE = Page("application/octet-stream", lambda can: can.profile, ask_goroutines)
