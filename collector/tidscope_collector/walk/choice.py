"""Whether counters can be walked on this machine, why not, and when they are."""

import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from tidscope_collector.compiled.library import Compiled
from tidscope_collector.discovery.task_iterator import TaskIterators
from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.netacct.reader import NetworkReader
from tidscope_collector.threads.reading import ThreadReader
from tidscope_collector.walk.crosscheck import DisagreementError
from tidscope_collector.walk.policy import SHARE_OF_BUDGET, USUAL_BUDGET_PERCENT, AskingCost
from tidscope_collector.walk.reader import WalkReader, lacking
from tidscope_collector.walk.switching import Walking, WalkOption
from tidscope_collector.walk.walks import Walks

LOG = logging.getLogger(__name__)

Choice = Literal["auto", "genetlink", "walk"]
CHOICES: tuple[Choice, ...] = ("auto", "genetlink", "walk")
TICKLESS = Path("/sys/devices/system/cpu/nohz_full")
_SELF_TESTS = 3


class WalkSource:
    """Decides once, at start.

    Args:
        choice: what was asked for.
        iterators: the loaded programs, or why there are none.
        reader: makes a reader over taskstats with all its fields, of a process; None: there is no
            taskstats.
        budget_percent: for sampling and sending, 100 is one core; 0: no limit.
        compiled: takes most samples; None: Python takes all.

    Attributes:
        walking: what all targets share.
    """

    def __init__(
        self,
        choice: Choice,
        iterators: TaskIterators | Obstacle,
        reader: Callable[[int], ThreadReader] | None,
        budget_percent: float,
        compiled: Compiled | None = None,
    ) -> None:
        self._choice = choice
        self._compiled = compiled
        self._limit = SHARE_OF_BUDGET * (budget_percent or USUAL_BUDGET_PERCENT) / 100
        self._walks: Walks | None = None
        self._given: tuple[str, ...] = ()
        self.walking = Walking()
        self._obstacle = self._open(iterators, reader)
        if self._obstacle is not None and choice != "genetlink":
            level = logging.WARNING if choice == "walk" else logging.INFO
            LOG.log(level, "counters are not walked: %s", self._obstacle.reason)

    @property
    def obstacle(self) -> Obstacle | None:
        """Why counters are not walked here; None if they can be."""
        if self.walking.disagreement is not None:
            return Obstacle(f"walk and taskstats disagreed: {self.walking.disagreement}", "")
        return self._obstacle

    def _open(
        self,
        iterators: TaskIterators | Obstacle,
        reader: Callable[[int], ThreadReader] | None,
    ) -> Obstacle | None:
        if reader is None:
            return Obstacle("there is no taskstats to check them against", "")
        if isinstance(iterators, Obstacle):
            return iterators
        if iterators.no_walk:
            return Obstacle(iterators.no_walk, "")
        if self._choice == "genetlink":
            return Obstacle("this collector does not walk (--source genetlink)", "")
        if is_tickless():
            return Obstacle(
                "CPUs run without ticks here (nohz_full), where the kernel adds to user and system "
                "time only when it is asked",
                "",
            )
        try:
            self._walks = Walks(iterators)
            reason = self._self_test(self._walks, reader(os.getpid()))
        except (BpfError, OSError) as error:
            reason = str(error)
        except DisagreementError as error:
            reason = f"a walk of this collector and taskstats disagreed: {error}"
        return Obstacle(reason, "") if reason else None

    def _self_test(self, walks: Walks, reader: ThreadReader) -> str:
        """Walk this very process, and compare with taskstats."""
        walk = walks.over(os.getpid())
        try:
            self._given = walk.given_here()
        finally:
            walk.close()
        reason = lacking(reader.fields, self._given)
        if reason:
            return reason
        walker = WalkReader(walks, os.getpid(), reader)
        try:
            for _ in range(_SELF_TESTS):
                walker.read()
        finally:
            walker.close()
        return ""

    def walks_of(self, fields: tuple[str, ...]) -> Walks | None:
        """The memory of all walks; None: these fields cannot be walked.

        Args:
            fields: of a reader over taskstats.
        """
        walkable = self.obstacle is None and not lacking(fields, self._given)
        return self._walks if walkable else None

    def option(self, pid: int, reader: ThreadReader) -> WalkOption | None:
        """How a process can be walked; None: it is not.

        Args:
            pid: the process.
            reader: over taskstats, with network columns where eBPF counts them.
        """
        walks = self._walks
        if walks is None or self.obstacle is not None:
            return None
        base = reader.base if isinstance(reader, NetworkReader) else reader
        reason = lacking(base.fields, self._given)
        if reason:
            LOG.info("process %d is not walked: %s", pid, reason)
            return None
        cost = AskingCost(self._limit) if self._choice == "auto" else None
        return WalkOption(
            lambda: WalkReader(walks, pid, reader, self._compiled), self.walking, cost
        )

    @property
    def description(self) -> str:
        """For people: whether counters are walked, and when."""
        obstacle = self.obstacle
        if obstacle is not None:
            return f"not read in one walk: {obstacle.reason}"
        if self._choice == "walk":
            return "read in one walk of the kernel over all threads (eBPF)"
        return "read in one walk of the kernel (eBPF) where requests take half of the CPU budget"


def is_tickless(path: Path = TICKLESS) -> bool:
    """Whether the machine has CPUs that run without ticks while one thread computes."""
    try:
        listed = path.read_text().strip()
    except OSError:
        return False
    return listed not in ("", "(null)")
