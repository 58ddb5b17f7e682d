"""A collector's engine in this process, which samples once a second what it is attached to.

Benchmarks of eBPF programs attach and detach targets with it: the programs are those that a
collector loads, and they count for the target alone.
"""

from frame_queues import TakenFrames
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.netacct.choice import Choice
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.engine import Engine
from tidscope_collector.stacks.program import NO_STACKS, StackProgram
from tidscope_collector.targets.sources import Sources
from tidscope_collector.targets.targets import TargetRegistry
from tidscope_collector.waits.source import Choice as LedgerChoice
from tidscope_collector.waits.source import LedgerOptions
from tidscope_wire.generated.models import Target

SLOWEST_HZ = 1.0


class Attached:
    """Targets by process. Ends with `close`.

    Args:
        network: which source counts network bytes.
        ledger: whether ledgers of waits are kept.
        with_frames: keep the frames, in `frames`; they go nowhere otherwise.
        stacks: the program that takes stacks, which ends with this.
    """

    def __init__(
        self,
        network: Choice = "none",
        ledger: LedgerChoice = "off",
        *,
        with_frames: bool = False,
        stacks: StackProgram | Obstacle = NO_STACKS,
    ) -> None:
        self.sources = Sources(ProcFs(), network, ledger=LedgerOptions(ledger), stacks=stacks)
        if with_frames:
            self.frames = TakenFrames(self.sources.native)
        self.engine = Engine(self.sources.native, self._update)
        self.targets = TargetRegistry("h-000000000000", ProcFs(), self.sources, self.engine)
        self.engine.start()
        self.sources.stacks.start()
        self._ids: dict[int, str] = {}

    def _update(self, target: Target) -> None:
        self.targets.update(target)

    def watch(self, pid: int, /) -> None:
        """Attach to a process."""
        self._ids[pid] = self.targets.attach(pid, None, SLOWEST_HZ)[0].id

    def forget(self, pid: int, /) -> None:
        """Detach from a process."""
        target = self._ids.pop(pid)
        self.targets.detach(target)
        self.targets.forget(target)

    def take_stacks(self, pid: int, seconds: float) -> None:
        """Take stacks of an attached process for so long, as if somebody looked at them."""
        self.targets.sample_stacks(self._ids[pid], seconds)

    def end_stacks(self, pid: int) -> None:
        """Take no more stacks of an attached process."""
        self.sources.stacks.forget(self._ids[pid])

    def close(self) -> None:
        """End the engine, and take its programs out of the kernel."""
        self.engine.stop()
        self.sources.close()
