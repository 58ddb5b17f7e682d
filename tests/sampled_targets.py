"""Targets in this process, sampled by the real engine, whose frames come to the test."""

import queue

from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.walk.choice import Choice as WalkChoice
from tidscope_wire.frame import split
from tidscope_wire.generated.models import FrameHeader, Target


class Sampled:
    """Targets whose frames come to the test.

    Args:
        counters: how counters are read.
        budget_percent: of which half may be taken by asking for each thread.
    """

    def __init__(self, counters: WalkChoice = "auto", budget_percent: float = 0) -> None:
        self.frames: queue.SimpleQueue[bytes] = queue.SimpleQueue()
        self.sources = Sources(ProcFs(), counters=counters, budget_percent=budget_percent)
        self.engine = Engine(self._take, None)
        self.engine.start()
        self.targets = TargetRegistry("h-000000000000", ProcFs(), self.sources, self.engine)

    def _take(self, target: Target, frame: SampledFrame) -> None:
        self.targets.update(target)
        self.frames.put(frame.data)

    def next(self) -> FrameHeader:
        return split(self.frames.get(timeout=120))[0]

    def close(self) -> None:
        self.engine.stop()
        self.sources.close()
