"""The eBPF program that keeps ledgers of states, loaded; the sampler has its slots."""

import mmap
import os
import re
import struct
from pathlib import Path

import numpy as np
from tidscope_sampler.native import Sampler, bpf_object

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.kernel_types import KernelTypes
from tidscope_collector.ebpf.obstacles import KernelFeature, missing_in_kernel
from tidscope_collector.waits.states import kinds_of_calls

CALLS = 1024
"""Numbers of system calls that have a kind."""
_POSSIBLE = Path("/sys/devices/system/cpu/possible")
_ALWAYS = ("on_birth", "on_fork", "on_first_wake", "on_move", "on_exec")
_CASTING = ("on_switch", "on_waking")
_PROBING = ("on_switch_probing", "on_waking_probing")
_COUNTING = ("on_call", "on_return")
_WALKS = ("begin_ledgers", "let_go_throttled")
_STACK_MAPS = ("sampling", "asked", "stays", "targets", "watched")
"""Maps shared with the program that takes stacks; stacks/keeper.go has the same names."""
THREAD_THROTTLING = KernelFeature(
    "throttle_cfs_rq_work", libbpf.BTF_KIND_FUNC, "throttling of single threads", "6.18"
)
"""Throttling by thread, Linux 6.18: with CONFIG_CFS_BANDWIDTH the kernel has this function."""
_HOT_COUNT_AT = 8
"""Offset of the preemption count in struct pcpu_hot, bytes (Linux 6.2 to 6.14 on x86-64)."""


class LedgerProgram:
    """The loaded program. It runs while targets are attached, and looks at the switches of other
    processes only to leave them alone.

    Args:
        calls: whether system calls are counted, too. That slows all calls of the machine down.

    Attributes:
        no_throttling: why the kernel does not tell who is throttled; None: it does.

    Raises:
        BpfError: it cannot be loaded.
    """

    def __init__(self, *, calls: bool = False) -> None:
        self._program, names, self.no_throttling = _load()
        self._calls = calls
        self._names = (*names, *_COUNTING) if calls else names
        kinds = np.frombuffer(mmap.mmap(self._program.map("calls"), CALLS * 8), np.uint64)
        for number, kind in kinds_of_calls(os.uname().machine).items():
            kinds[number] = kind

    def give(self, sampler: Sampler) -> None:
        """Let a sampler that has not started read the slots."""
        map_of = self._program.map
        begin, let_go = (self._program.runnable(name).descriptor for name in _WALKS)
        sampler.use_ledger(
            slots=map_of("slots"),
            control=map_of("control"),
            watched=map_of("watched"),
            targets=map_of("targets"),
            vacant=map_of("vacant"),
            details=map_of("details"),
            walks=(begin, let_go),
            beside=(map_of("edges"), map_of("takers"), map_of("call_counts"), map_of("names")),
            counts_calls=self._calls,
        )

    @property
    def lent(self) -> dict[str, int]:
        """Maps that a program which follows groups may add processes to, by its names."""
        return {f"ledger_{name}": self._program.map(name) for name in ("targets", "watched")}

    @property
    def stack_maps(self) -> list[int]:
        """Descriptors of the maps that the program which takes stacks is lent, in its order."""
        return [self._program.map(name) for name in _STACK_MAPS]

    def attach(self) -> None:
        """Run from now on.

        Raises:
            BpfError: the kernel refused.
        """
        self._program.attach(self._names)

    def detach(self) -> None:
        """Run no more. Idempotent."""
        self._program.detach()

    def close(self) -> None:
        """Take the program out of the kernel. Idempotent."""
        self._program.close()


def _load() -> tuple[libbpf.Program, tuple[str, ...], str | None]:
    """Load the program in the form that this kernel can run.

    Returns:
        It, the names of the parts of it that keep ledgers, in the order to attach them in, and why
        it does not see who is throttled, if it does not.
    """
    image = bpf_object("waits")
    entries = {"cpus": _cpus()}
    reason = missing_in_kernel(THREAD_THROTTLING)
    constants = struct.pack("qI", _preempt_count_at(), reason is None)
    try:
        program = libbpf.Program(image, _PROBING, constants, entries)
        return program, (*_CASTING, *_ALWAYS), reason
    except libbpf.BpfError as error:
        # Linux 6.1 cannot cast.
        program = libbpf.Program(image, _CASTING, b"", entries)
        return program, (*_PROBING, *_ALWAYS), reason or str(error)


def _cpus() -> int:
    """How many CPUs there may ever be; their numbers are below it."""
    return int(re.split(r"[-,\n]", _POSSIBLE.read_text().strip())[-1]) + 1


def _preempt_count_at() -> int:
    """Return the offset of a CPU's preemption count from its run queue, or 0 if unknown.

    Processors other than x86-64 have it in the thread. The kernel's list of symbols, by which it
    would find the variable itself, need not have variables.
    """
    try:
        with KernelTypes() as types:
            queue = types.percpu_offset("runqueues")
            count = types.percpu_offset("__preempt_count")
            hot = types.percpu_offset("pcpu_hot")
    except libbpf.BpfError:
        return 0
    if count is None and hot is not None:
        count = hot + _HOT_COUNT_AT
    return 0 if queue is None or count is None else count - queue
