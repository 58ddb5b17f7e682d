"""Reads the threads of a process by asking for each or by walks, whichever is in force."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField, CountersSource

from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.threads.reading import ExitDecoder, ProcessReader, Reading
from tidscope_collector.walk.crosscheck import DisagreementError
from tidscope_collector.walk.policy import AskingCost
from tidscope_collector.walk.reader import WalkReader

LOG = logging.getLogger(__name__)


@dataclass
class Walking:
    """What all targets of a collector share; belongs to the sampling thread.

    Attributes:
        disagreement: where a walk and taskstats disagreed: nobody walks after that. None: nowhere.
        asking: share of a core that asking takes, by process.
    """

    disagreement: str | None = None
    asking: dict[int, float] = field(default_factory=dict)


class SwitchingReader:
    """A `ProcessReader` over two others.

    Args:
        pid: the process.
        asking: asks for each thread; closed with it.
        open_walk: makes the reader by walks; raises BpfError.
        walking: what all targets share.
        cost: says when to walk; None: always.
        rate_hz: readings a second that are asked for.
    """

    def __init__(
        self,
        pid: int,
        asking: ProcessReader,
        open_walk: Callable[[], WalkReader],
        walking: Walking,
        cost: AskingCost | None,
        rate_hz: float,
    ) -> None:
        self._pid = pid
        self._asking = asking
        self._open_walk = open_walk
        self._walking = walking
        self._cost = cost
        self._rate_hz = rate_hz
        self._walk: WalkReader | None = None
        self._refused = False
        self._switched = False
        self.reason = asking.reason
        self.asked = 0

    @property
    def fields(self) -> tuple[str, ...]:
        return self._asking.fields

    @property
    def absent(self) -> tuple[AbsentField, ...]:
        return self._asking.absent

    @property
    def exits(self) -> ExitDecoder | None:
        return self._asking.exits

    @property
    def listed(self) -> npt.NDArray[np.uint32]:
        return self._asking.listed if self._walk is None else self._walk.listed

    @property
    def source(self) -> CountersSource:
        return self._asking.source if self._walk is None else "walk"

    @property
    def disagreement(self) -> str | None:
        return self._walking.disagreement

    def expect_rate(self, rate_hz: float) -> None:
        """So many readings a second are asked for, from now on."""
        self._rate_hz = rate_hz

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        if self._walking.disagreement is not None:
            self._stop_walking(f"walk and taskstats disagreed: {self._walking.disagreement}")
        elif self._cost is None:
            self._begin_walking("it was asked for (--source walk)")
        elif self._cost.walks:
            self._begin_walking(
                f"asking for each thread took {100 * self._cost.share:.1f} % of a core, more than "
                "half of the CPU budget"
            )
        elif self._walk is not None:
            self._stop_walking(
                f"asking for each thread takes about {100 * self._cost.share:.1f} % of a core, well "
                "within half of the CPU budget"
            )
        began_ns = time.thread_time_ns()
        walk = self._walk
        if walk is None:
            return self._ask(began_ns)
        try:
            reading = walk.read()
        except DisagreementError as error:
            LOG.warning("counters are not walked any more: %s", error)
            self._walking.disagreement = str(error)
            return self.read()
        self.asked = walk.asked
        if self._cost is not None:
            cpu_ns = time.thread_time_ns() - began_ns
            self._cost.walked(
                *(time.monotonic_ns(), cpu_ns, walk.ran, self._rate_hz), self._others(mine=0.0)
            )
        return reading

    def _ask(self, began_ns: int) -> Reading:
        reading = self._asking.read()
        self.asked = self._asking.asked
        if self._cost is not None and not self._refused:
            cpu_ns = time.thread_time_ns() - began_ns
            self._cost.asked(
                *(time.monotonic_ns(), cpu_ns, self.asked, self._rate_hz),
                self._others(mine=self._cost.share),
            )
        if self._switched:
            # The reading before was the walk's: none of ours can have been brought up to date.
            self._switched = False
            reading = replace(reading, changed=None)
        return reading

    def _others(self, mine: float) -> float:
        """What asking takes of other targets; of the dearest one all of them are counted."""
        shares = self._walking.asking
        shares[self._pid] = mine
        others = [share for pid, share in shares.items() if pid != self._pid]
        return sum(others) if mine >= max(others, default=0.0) or not mine else 0.0

    def _begin_walking(self, reason: str) -> None:
        if self._walk is not None or self._refused:
            return
        try:
            self._walk = self._open_walk()
        except BpfError as error:
            self._refused = True
            self.reason = f"walks are not possible: {error}"
            LOG.warning("every thread is asked for: %s", error)
            return
        self.reason = reason

    def _stop_walking(self, reason: str) -> None:
        if self._walk is None:
            return
        self._walk.close()
        self._walk, self._switched = None, True
        self.reason = reason

    def close(self) -> None:
        """Close both."""
        self._walking.asking.pop(self._pid, None)
        if self._walk is not None:
            self._walk.close()
        self._asking.close()
