"""A source of readings that says what the test says, and a target for it: this very process."""

import os

import numpy as np
import numpy.typing as npt
from backend_builders import target
from builders import collector_health
from tidscope_collector.discovery.task_folder import TaskFolder
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.threads.reading import Reading
from tidscope_collector.walk.switching import SwitchingReader
from tidscope_wire.generated.models import AbsentField, Target

PID = os.getpid()
START = 1000
ATTACH = 50_000_000_000


def quiet_health() -> HealthNow:
    """Health of a collector with nothing to complain of, as a sampler is given it."""
    return HealthNow(collector_health, lambda: None)


class Script:
    """A reader of whatever the test says.

    Attributes:
        cpu: thread id to counter.
    """

    fields: tuple[str, ...] = ("cpu_run_ns",)
    absent: tuple[AbsentField, ...] = ()

    def __init__(self, **cpu: int) -> None:
        self.cpu = {int(tid[1:]): value for tid, value in cpu.items()}

    def read(self, tids: npt.NDArray[np.uint32]) -> Reading:
        count = len(self.cpu)
        return Reading(
            np.array(list(self.cpu), np.uint32),
            np.array(list(self.cpu.values()), np.uint64).reshape(count, 1),
            None,
            np.full(count, ATTACH - 5, np.int64),
            np.full(count, b"work", "S16"),
        )

    def close(self) -> None:
        pass


def process_reader(script: Script, procfs: ProcFs, pid: int = PID) -> SwitchingReader:
    """A reader of what the script says, of the threads that a folder of files lists."""
    asking = IdleSkippingReader(TaskFolder(procfs, pid), script)
    return SwitchingReader(pid, asking, "genetlink", 10)


def meant(pid: int = PID, start_ticks: int = START, rate_hz: float = 10) -> Target:
    found = target(f"t-{pid}-deadbeef", rate_hz=rate_hz)
    process = found.process.model_copy(update={"pid": pid, "start_ticks": start_ticks})
    return found.model_copy(update={"process": process, "fields": list(Script.fields)})
