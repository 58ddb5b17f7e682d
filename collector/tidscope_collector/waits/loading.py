"""Loading the eBPF program in the form that this kernel can run."""

import re
import struct
from pathlib import Path

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.kernel_types import KernelTypes

OBJECT = Path(__file__).parent / "bpf" / "waits.bpf.o"
_POSSIBLE = Path("/sys/devices/system/cpu/possible")
_ALWAYS = ("on_birth", "on_fork", "on_first_wake", "on_move", "on_exec")
_CASTING = ("on_switch", "on_waking")
_PROBING = ("on_switch_probing", "on_waking_probing")
_HOT_COUNT_AT = 8
"""Where struct pcpu_hot has the preemption count, bytes (Linux 6.2 to 6.14 on x86-64)."""


def load(image: bytes | None = None) -> tuple[libbpf.Program, tuple[str, ...]]:
    """Load the program.

    Returns:
        It, and the names of the parts of it that keep ledgers, in the order to attach them in.

    Raises:
        BpfError: it cannot be loaded.
    """
    image = image or OBJECT.read_bytes()
    entries = {"cpus": _cpus()}
    at = struct.pack("q", _preempt_count_at())
    try:
        return libbpf.Program(image, _PROBING, at, entries), (*_CASTING, *_ALWAYS)
    except libbpf.BpfError:
        # Linux 6.1 cannot cast; libbpf before 0.8 cannot set constants.
        return libbpf.Program(image, _CASTING, b"", entries), (*_PROBING, *_ALWAYS)


def _cpus() -> int:
    """How many CPUs there may ever be; their numbers are below it."""
    return int(re.split(r"[-,\n]", _POSSIBLE.read_text().strip())[-1]) + 1


def _preempt_count_at() -> int:
    """Where a CPU's preemption count stands, from its run queue on; 0 where that is not known.

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
