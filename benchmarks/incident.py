"""A program with one known fault and a healthy twin, and the answer that each should get.

A program is started twice: with its fault and without. Findings are judged by rules: `right`
matches a sentence that names the cause and the party, `symptom` one that is true of an effect only,
`misleading` one that blames somebody or something that has no part in it.
"""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from incident_places import Place, bare

HERE = Path(__file__).resolve().parent / "incident_programs"
BUSY_CPU = r"(?:chromium|tidscope|python3?) .*ran while"
"""True of the benchmark's own browser on a small machine, and neither right nor wrong."""


@dataclass(frozen=True)
class Incident:
    """A program with a fault.

    Attributes:
        name: unique name.
        fault: what is wrong with it.
        program: words of its command, but for the last: `fault` or `healthy`.
        right: expression for the right cause with the right party.
        symptom: expression for a true sentence that does not name the cause.
        misleading: expression for a wrong one, beside those that match neither of both.
        place: what it needs around it: limits, other programs, a server.
        tree: whether its children are watched, too.
        silent_is_right: there is no fault that findings could know, so that silence is right.
        healthy: findings of the healthy twin that are no false alarm.
        begins_s: when the fault begins, in seconds from the program's start.
        asked: True if only the program's own account can tell, which needs --ask-programs.
        needs: programs and files without which it cannot be tried, beside that of its command.
    """

    name: str
    fault: str
    program: tuple[str, ...]
    right: str
    symptom: str = r"(?!)"
    misleading: str = r"(?!)"
    place: Callable[..., Place] = bare
    tree: bool = False
    silent_is_right: bool = False
    healthy: str = r"(?!)"
    begins_s: float = 0.0
    asked: bool = False
    needs: tuple[str, ...] = ()

    def verdict(self, sentences: Sequence[str]) -> str:
        """Judge the findings, most important first: right, symptom, misleading or silent.

        A right one counts among the first three, if none before it misleads.
        """
        found = [one for one in sentences if not re.search(BUSY_CPU, one)]
        if self.silent_is_right:
            return "misleading" if found else "right"
        for one in found[:3]:
            if re.search(self.right, one):
                return "right"
            if re.search(self.misleading, one):
                return "misleading"
        if any(re.search(self.symptom, one) for one in found):
            return "symptom"
        return "misleading" if found else "silent"

    def false_alarms(self, sentences: Sequence[str]) -> list[str]:
        """Findings of the healthy twin that are none."""
        allowed = f"{BUSY_CPU}|{self.healthy}"
        return [one for one in sentences if not re.search(allowed, one)]

    def lacks(self) -> str:
        """Why it cannot be tried here; empty if it can."""
        words = (*self.program[:1], *self.needs)
        missing = [one for one in words if not one.startswith("{") and not shutil.which(one)]
        return f"{missing[0]} is not installed" if missing else ""
