"""Reads the threads of a process by asking for each or by walks, whichever is in use."""

import logging
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from tidscope_wire.generated.models import AbsentField, CountersSource

from tidscope_collector.compiled.rows import SteadyRows, SteadySource, steady_source
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

    def others(self, pid: int) -> float:
        """What asking takes of other targets; none of it for one that is not the dearest."""
        mine = self.asking.get(pid, math.inf)
        others = [share for other, share in self.asking.items() if other != pid]
        return sum(others) if mine >= max(others, default=0.0) else 0.0


@dataclass(frozen=True)
class WalkOption:
    """That a target's counters can be walked, and when they are.

    Attributes:
        open: makes the reader; raises BpfError.
        walking: what all targets share.
        cost: says when to walk; None: always.
    """

    open: Callable[[], WalkReader]
    walking: Walking
    cost: AskingCost | None


class SwitchingReader:
    """A `TargetReader` over two others.

    Args:
        pid: the process.
        asking: asks for each thread; closed with it.
        source: what that is.
        rate_hz: readings a second that are asked for.
        option: to walk; None: there is none.
    """

    def __init__(
        self,
        pid: int,
        asking: ProcessReader,
        source: CountersSource,
        rate_hz: float,
        option: WalkOption | None = None,
    ) -> None:
        self._pid = pid
        self._asking = asking
        self._steady_asking = steady_source(asking)
        self._source: CountersSource = source
        self._rate_hz = rate_hz
        self._option = option
        self._walk: WalkReader | None = None
        self.reason = ""
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
        return self._source if self._walk is None else "walk"

    @property
    def disagreement(self) -> str | None:
        return self._option.walking.disagreement if self._option else None

    def expect_rate(self, rate_hz: float) -> None:
        """So many readings a second are asked for, from now on."""
        self._rate_hz = rate_hz

    def read(self) -> Reading:
        """Read all threads; see `ProcessReader.read`."""
        option = self._option
        if option is None:
            return self._ask()
        self._choose(option)
        walk, cost = self._walk, option.cost
        began_ns = time.thread_time_ns()
        if walk is None:
            reading = self._ask()
            if cost is not None:
                took_ns = time.thread_time_ns() - began_ns
                cost.asked(time.monotonic_ns(), took_ns, self.asked, self._rate_hz)
                option.walking.asking[self._pid] = cost.share
            return reading
        try:
            reading = walk.read()
        except DisagreementError as error:
            self._disagree(error)
            return self.read()
        self.asked = walk.asked
        if cost is not None:
            took_ns = time.thread_time_ns() - began_ns
            cost.walked(time.monotonic_ns(), took_ns, walk.ran, self._rate_hz)
        return reading

    def begin(self, samples: int = 1) -> SteadyRows | None:
        """See `SteadySource.begin`. Whether to walk is decided by `read`."""
        source = self._steady_source()
        return None if source is None else source.begin(samples)

    @property
    def at_once(self) -> int:
        """See `SteadySource.at_once`."""
        source = self._steady_source()
        return 0 if source is None else source.at_once

    def sampled(self, result: int, cpu_ns: int = 0) -> bool:
        """See `SteadySource.sampled`."""
        source, option = self._steady_source(), self._option
        if source is None or not source.sampled(result, cpu_ns):
            return False
        walk, cost = self._walk, option.cost if option else None
        if option is None or cost is None:
            return True
        now_ns = time.monotonic_ns()
        if walk is not None:
            cost.walked(now_ns, cpu_ns, walk.ran, self._rate_hz)
        else:
            self.asked = self._asking.asked
            cost.asked(now_ns, cpu_ns, self.asked, self._rate_hz)
            option.walking.asking[self._pid] = cost.share
        return True

    @property
    def is_complete(self) -> bool:
        """See `SteadySource.is_complete`."""
        source = self._steady_source()
        return source is None or source.is_complete

    def complete(self) -> bool:
        """See `SteadySource.complete`; false where a walk and taskstats disagree."""
        source = self._steady_source()
        try:
            return source is not None and source.complete()
        except DisagreementError as error:
            self._disagree(error)
            return False

    def _steady_source(self) -> SteadySource | None:
        """What reads at present, if compiled code may take its samples."""
        option = self._option
        if self._walk is not None:
            agree = option is None or option.walking.disagreement is None
            return self._walk if agree else None
        return self._steady_asking

    def _disagree(self, error: DisagreementError) -> None:
        LOG.warning("counters are not walked any more: %s", error)
        if self._option is not None:
            self._option.walking.disagreement = str(error)

    def _ask(self) -> Reading:
        reading = self._asking.read()
        self.asked = self._asking.asked
        return reading

    def _choose(self, option: WalkOption) -> None:
        """Begin to walk, or stop, if it is time for it."""
        walking, cost = option.walking, option.cost
        if walking.disagreement is not None:
            self._stop(f"walk and taskstats disagreed: {walking.disagreement}")
        elif cost is None:
            self._begin(option, "it was asked for (--source walk)")
        else:
            now_ns = time.monotonic_ns()
            if cost.walks(now_ns, walking.others(self._pid)):
                share = f"{100 * cost.limit:g} % of a core, half of the CPU budget"
                self._begin(option, f"asking for each thread takes more than {share}")
            else:
                self._stop("asking for each thread takes little CPU again")

    def _begin(self, option: WalkOption, reason: str) -> None:
        if self._walk is not None:
            return
        try:
            self._walk = option.open()
        except BpfError as error:
            self._option = None
            LOG.warning("every thread is asked for: %s", error)
            return
        option.walking.asking.pop(self._pid, None)
        self.reason = reason

    def _stop(self, reason: str) -> None:
        if self._walk is not None:
            self._walk.close()
            self._walk = None
            self.reason = reason

    def close(self) -> None:
        """Close both."""
        if self._option is not None:
            self._option.walking.asking.pop(self._pid, None)
        if self._walk is not None:
            self._walk.close()
        self._asking.close()
