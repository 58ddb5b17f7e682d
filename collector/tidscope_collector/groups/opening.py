"""How groups are followed here: by eBPF, or by polling."""

import threading
from collections.abc import Callable

from tidscope_sampler.native import Sampler

from tidscope_collector.ebpf.libbpf import BpfError
from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.groups.boundaries import Boundary
from tidscope_collector.groups.membership import Membership
from tidscope_collector.groups.programs import GroupPrograms
from tidscope_collector.procfs.files import ProcFs

_ELSEWHERE = (
    "the control group is in a hierarchy of version 1 without cpuacct, which eBPF does not follow"
)


class GroupSource:
    """Decides once, at start.

    Args:
        procfs: root of /proc.
        programs: programs that follow processes, or why there are none.
        native: samples groups; it has not started.
    """

    def __init__(
        self, procfs: ProcFs, programs: GroupPrograms | Obstacle, native: Sampler
    ) -> None:
        self.programs = programs
        self._native = native
        self._lock = threading.Lock()
        self._held = 0
        if isinstance(programs, GroupPrograms):
            programs.give(native, procfs)

    def close(self) -> None:
        """Take the programs out of the kernel; groups are followed no more."""
        if isinstance(self.programs, GroupPrograms):
            self.programs.close()

    def membership(
        self, target: str, boundary: Boundary, attach_ns: int
    ) -> tuple[Membership, Callable[[], None]]:
        """Begin to follow a group.

        Args:
            target: target ID.
            boundary: which processes belong to it.
            attach_ns: CLOCK_MONOTONIC of the attachment.

        Returns:
            Its membership, and a function to be called when the group has ended.
        """
        why = self._why_polled(boundary)
        release: Callable[[], None] = lambda: None
        if why is None:
            try:
                release = self._hold()
            except BpfError as error:
                why = str(error)
        return Membership(self._native, target, boundary, attach_ns, why), release

    def _why_polled(self, boundary: Boundary) -> str | None:
        if isinstance(self.programs, Obstacle):
            return self.programs.reason
        if boundary.cgroups and not any(one.followed for one in boundary.cgroups):
            return _ELSEWHERE
        return None

    def _hold(self) -> Callable[[], None]:
        """Let the programs run, until the returned function is called."""
        with self._lock:
            if not self._held and isinstance(self.programs, GroupPrograms):
                self.programs.attach()
            self._held += 1
        return self._release

    def _release(self) -> None:
        with self._lock:
            self._held -= 1
            if not self._held and isinstance(self.programs, GroupPrograms):
                self.programs.detach()
