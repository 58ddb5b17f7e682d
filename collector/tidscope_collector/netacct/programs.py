"""The eBPF program that counts network bytes, loaded; the sampler has its slots."""

import re

from tidscope_sampler.native import Sampler, bpf_object

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.procfs.files import ProcFs

TRACEPOINTS = KernelFeature(
    "btf_trace_sock_send_length",
    libbpf.BTF_KIND_TYPEDEF,
    "tracepoints for socket traffic",
    "6.3",
)
SPLICE = "count_splice"
NOTE_SPLICE = "note_splice"
_PROGRAMS = ("mark_exit", "follow_exec", "count_send", "count_receive")
_SPLICE_PAGES_SINCE = (6, 5)


class NetworkProgram:
    """The loaded program. It runs while targets are attached.

    Attributes:
        splice: whether splice() out of a TCP socket is counted.

    Raises:
        BpfError: it cannot be loaded.
    """

    def __init__(self) -> None:
        image = bpf_object("netacct")
        self.splice = True
        try:
            self._program = libbpf.Program(image, leave_out=(NOTE_SPLICE,))
            self._program.attach((SPLICE,))
        except libbpf.BpfError:
            self.splice = False
            self._program = libbpf.Program(image, leave_out=(SPLICE,))
        self._program.detach()

    def give(self, sampler: Sampler) -> None:
        """Let a sampler that has not started read the slots."""
        map_of = self._program.map
        sampler.use_network(
            slots=map_of("slots"),
            control=map_of("control"),
            watched=map_of("watched"),
            targets=map_of("targets"),
            vacant=map_of("vacant"),
            uncounted=None if self.splice else map_of("uncounted"),
        )

    @property
    def lent(self) -> dict[str, int]:
        """Maps that a program which follows groups may add processes to, by its names."""
        return {f"network_{name}": self._program.map(name) for name in ("targets", "watched")}

    def attach(self) -> None:
        """Run from now on.

        Raises:
            BpfError: the kernel refused.
        """
        self._program.attach((*_PROGRAMS, SPLICE if self.splice else NOTE_SPLICE))

    def detach(self) -> None:
        """Run no more. Idempotent."""
        self._program.detach()

    def close(self) -> None:
        """Take the program out of the kernel. Idempotent."""
        self._program.close()


def load(procfs: ProcFs) -> NetworkProgram | Obstacle:
    """Load the program, or say why not.

    Args:
        procfs: root of /proc.
    """
    return attempt(procfs, TRACEPOINTS, NetworkProgram)


def limits(splice: bool, release: str) -> str:
    """Name the network calls that eBPF does not count on this host; empty if it counts all.

    Args:
        splice: whether splice() out of TCP sockets is counted.
        release: of the kernel, such as 6.4.1-amd64.
    """
    missing: list[str] = []
    version = re.match(r"(\d+)\.(\d+)", release)
    if version and (int(version[1]), int(version[2])) < _SPLICE_PAGES_SINCE:
        missing.append("sendfile() and splice() into TCP sockets (counted from Linux 6.5 on)")
    if not splice:
        missing.append(
            "splice() out of TCP sockets (the kernel refused the program for it; threads that make "
            "such calls are marked)"
        )
    return " and ".join(missing)
