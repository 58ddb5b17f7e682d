"""A target of this process, whose sampler and tables a test plays."""

import os
import time

import numpy as np
from backend_builders import target as described
from tidscope_collector.processes.identity import Identity, identify
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.plan import Plan
from tidscope_collector.sampling.target import TargetSampler
from tidscope_sampler.native import Sampler
from tidscope_wire.frame_tables import Tables as Rows
from tidscope_wire.frame_tables import dtype_of
from tidscope_wire.generated.models import Process, Target

PLAN = Plan((("cpu_run_ns", "cpu_run_virtual_total"),), ("cpu_run_ns",), (), 0, False, True)


class Tables:
    """Tables with one row."""

    locks_reason = ""

    def __init__(self) -> None:
        self.fails = self.closed = False
        self.read_times = 0

    def read(self) -> Rows:
        self.read_times += 1
        if self.fails:
            raise OSError("a test")
        return {"stays": np.array([(7, 1, 0, self.read_times)], dtype_of("stays"))}

    def close(self) -> None:
        self.closed = True


def this_process() -> Process:
    """Describe this process as a target is described."""
    found = identify(ProcFs(), os.getpid())
    assert isinstance(found, Identity)
    return described("t-1-0000000a").process.model_copy(
        update={
            "pid": os.getpid(),
            "start_ticks": found.start_ticks,
            "name": ProcFs().read("self/comm", 64).decode().strip(),
            "executable": os.readlink("/proc/self/exe"),
        }
    )


def make_target(target: str = "t-1-0000000a", rate_hz: float = 10) -> Target:
    """Describe this process as a target."""
    return described(target).model_copy(
        update={"process": this_process(), "rate_hz": rate_hz, "fields": list(PLAN.fields)}
    )


def make_sampler(
    native: Sampler,
    target: str = "t-1-0000000a",
    rate_hz: float = 10,
    tables: Tables | None = None,
    shown: Target | None = None,
) -> TargetSampler:
    """Make the sampler of this process."""
    return TargetSampler(
        shown or make_target(target, rate_hz),
        PLAN,
        native,
        None,
        time.monotonic_ns(),
        ProcFs(),
        None,
        tables or Tables(),
    )
