"""Programs on the hooks of the network accounting and their owners, for benchmarks/netacct.py."""

import ctypes
import json
import mmap
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from attached import Attached
from running import build_bpf
from tidscope_collector.ebpf import libbpf
from tidscope_collector.netacct.programs import NetworkProgram

BARE, EMPTY, OURS = "nothing", "empty", "counting"
STATES = (BARE, EMPTY, OURS)
CONTENTS = ("socket", "thread", "storage")
"""Programs between the empty ones and ours; see hook_programs.bpf.c."""
TALLY = "tally"
BYSTANDER = "bystander"
_TALLIES = 65536
_BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"
_RUN_TIME = 0  # enum bpf_stats_type, linux/bpf.h


class Hooks:
    """States of the hooks, attached one after the other.

    Args:
        folder: build folder.
        attached: our program, which counts for attached targets.
        beside_others: whether "nothing" may mean: nothing but what others attached.
    """

    def __init__(self, folder: Path, attached: Attached, *, beside_others: bool) -> None:
        program = attached.sources.network.program
        assert isinstance(program, NetworkProgram)
        self._attached = attached
        self.beside_others = beside_others
        self._beside = ["empty_exit", "empty_exec"]
        if program.splice:
            self._beside.append("empty_splice")
        self._programs = libbpf.Program(
            build_bpf("hook_programs", folder), () if program.splice else ("empty_splice",)
        )

        tallies = mmap.mmap(self._programs.map("tallies"), _TALLIES * 8)
        self._tallies = np.frombuffer(tallies, np.uint64)

    def tallied(self, pid: int) -> int:
        """Socket calls of a process during the state TALLY, those that fail too."""
        return int(self._tallies[pid % _TALLIES])

    @contextmanager
    def state(self, name: str, pid: int) -> Iterator[None]:
        """Enter a state for a ``with`` statement.

        Args:
            name: one of STATES or CONTENTS, or TALLY or BYSTANDER.
            pid: the process that is attached to.
        """
        if name in {OURS, BYSTANDER}:
            watched = os.getpid() if name == BYSTANDER else pid
            self._attached.watch(watched)
            yield
            self._attached.forget(watched)
        else:
            if name != BARE:
                self._programs.attach((f"{name}_send", f"{name}_receive", *self._beside))
            yield
            self._programs.detach()

    def close(self) -> None:
        """Detach and unload the programs."""
        self._programs.close()


def are_others_attached(prefix: str = "sock_") -> bool:
    """True if programs of another process are attached to tracepoints; ours must be detached.

    Args:
        prefix: prefix of the tracepoints' names; by default those of sockets.
    """
    links = json.loads(subprocess.check_output([_BPFTOOL, "-j", "link", "show"]))
    return any(one.get("tp_name", "").startswith(prefix) for one in links)


def await_no_others(prefix: str = "sock_") -> None:
    """Wait until nobody else's programs are attached to tracepoints with a prefix.

    Raises:
        SystemExit: such programs stay attached for a minute.
    """
    give_up = time.monotonic() + 60
    while are_others_attached(prefix):
        if time.monotonic() > give_up:
            raise SystemExit(
                "programs of other collectors are attached: end these, or --beside-others"
            )
        time.sleep(0.2)


@contextmanager
def kernel_account() -> Iterator[None]:
    """Make the kernel time programs until the descriptor is closed; the sysctl is unchanged."""
    descriptor = ctypes.CDLL(str(libbpf.FILE)).bpf_enable_stats(_RUN_TIME)
    try:
        yield
    finally:
        os.close(descriptor)


def run_times(names: tuple[str, ...]) -> dict[str, tuple[int, int]]:
    """Nanoseconds and runs of programs so far, those of other collectors with the same name too."""
    sums = dict.fromkeys(names, (0, 0))
    for one in json.loads(subprocess.check_output([_BPFTOOL, "-j", "prog", "show"])):
        name = one.get("name")
        if name in sums:
            ns, runs = sums[name]
            sums[name] = ns + one.get("run_time_ns", 0), runs + one.get("run_cnt", 0)
    return sums
