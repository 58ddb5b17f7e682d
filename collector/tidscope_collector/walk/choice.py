"""Availability of walks for counters, and the reason if they are unavailable."""

import logging
import os
from pathlib import Path
from typing import Literal

from tidscope_sampler.native import Sampler

from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.sampling.plan import Base
from tidscope_collector.walk.programs import WalkPrograms

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "genetlink", "walk"]
CHOICES: tuple[Choice, ...] = ("auto", "genetlink", "walk")
TICKLESS = Path("/sys/devices/system/cpu/nohz_full")


class WalkSource:
    """Decides once, at start.

    Args:
        choice: what was asked for.
        programs: the loaded programs, or why there are none.
        base: columns of taskstats with delays and without the network; None without taskstats.
        sampler: gets the programs, and checks them on this process; it has not started.
    """

    def __init__(
        self,
        choice: Choice,
        programs: WalkPrograms | Obstacle,
        base: Base | None,
        sampler: Sampler,
    ) -> None:
        self._choice = choice
        self._sampler = sampler
        self._base = base
        self._obstacle = self._open(programs)
        if self._obstacle is not None and choice != "genetlink":
            level = logging.WARNING if choice == "walk" else logging.INFO
            LOG.log(level, "counters are not walked: %s", self._obstacle.reason)

    @property
    def obstacle(self) -> Obstacle | None:
        """Why counters are not walked here; None if they are."""
        disagreement = self._sampler.disagreement()
        if disagreement is not None:
            return Obstacle(f"walk and taskstats disagreed: {disagreement}", "")
        return self._obstacle

    def _open(self, programs: WalkPrograms | Obstacle) -> Obstacle | None:
        base = self._base
        if base is None:
            return Obstacle("there is no taskstats to check them against", "")
        if isinstance(programs, Obstacle):
            return programs
        if self._choice == "genetlink":
            return Obstacle("this collector does not walk (--source genetlink)", "")
        if is_tickless():
            return Obstacle(
                "CPUs run without ticks here (nohz_full), where the kernel adds to user and system "
                "time only when it is asked",
                "",
            )
        try:
            programs.give(self._sampler)
            reason = self._sampler.check_walk(os.getpid(), list(base))
        except (OSError, ValueError) as error:
            reason = str(error)
        if reason is None:
            return None
        self._sampler.leave_out_walk()
        return Obstacle(reason, "")

    def covers(self, base: Base) -> bool:
        """True if a walk gives these columns: a walk has no network columns."""
        return self._obstacle is None and self._base is not None and set(base) <= set(self._base)

    @property
    def description(self) -> str:
        """Human-readable description of how counters are read."""
        obstacle = self.obstacle
        if obstacle is not None:
            return f"not read in one walk: {obstacle.reason}"
        return "read in one walk of the kernel over all threads (eBPF)"


def is_tickless(path: Path = TICKLESS) -> bool:
    """Whether the machine has CPUs that run without ticks while one thread computes."""
    try:
        listed = path.read_text().strip()
    except OSError:
        return False
    return listed not in ("", "(null)")
