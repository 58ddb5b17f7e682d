"""The eBPF programs that follow groups: what they are given, and the events that they send."""

import mmap
import struct
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np

from tidscope_collector.ebpf import libbpf
from tidscope_collector.ebpf.obstacles import KernelFeature, Obstacle, attempt
from tidscope_collector.groups.cgroups import Cgroup, v1_hierarchy
from tidscope_collector.groups.events import EventRing, Events
from tidscope_collector.procfs.files import ProcFs

OBJECT = Path(__file__).parent / "bpf" / "groups.bpf.o"
CONTROL = np.dtype(
    [
        *((name, "u8") for name in ("inherited", "matched", "of_cgroups")),
        *((name, "u4") for name in ("v1_hierarchy", "lent")),
        *((name, "u8") for name in ("lost_events", "lost_members")),
    ]
)
"""struct control of bpf/groups.bpf.c."""
MAX_GROUPS = 64
_PROGRAMS = ("on_fork", "on_exec", "on_last_switch", "on_move")
_LENDERS = {"ledger": 1, "network": 2}
_BTF_KIND_STRUCT = 4
_KEY, _BITS, _CGROUP = struct.Struct("=I"), struct.Struct("=Q"), struct.Struct("=QQ")

FORKS = KernelFeature("bpf_ringbuf", _BTF_KIND_STRUCT, "ring buffers for eBPF programs", "5.8")


class Bit:
    """One group in the kernel.

    Attributes:
        events: those that were drained and that it has not taken.
        mask: its bit, as a number.
    """

    def __init__(self, mask: int) -> None:
        self.mask = mask
        self.events: list[Events] = []


class GroupPrograms:
    """The loaded programs, which run while there is a group. For several threads.

    Args:
        procfs: root of /proc.
        lent: maps of processes that others count for, by the names that they have here: of a
            ledger, of the network, or of both.

    Raises:
        BpfError: they cannot be loaded.
    """

    def __init__(self, procfs: ProcFs, lent: dict[str, int] | None = None) -> None:
        self._program = libbpf.Program(OBJECT.read_bytes(), lent=lent)
        self._members = self._program.map("members")
        self._unfinished = self._program.map("unfinished")
        self._cgroups = self._program.map("cgroups")
        shared = mmap.mmap(self._program.map("control"), mmap.PAGESIZE)
        self._control = np.frombuffer(shared, CONTROL, 1)
        self._control["v1_hierarchy"] = v1_hierarchy(procfs)
        self._control["lent"] = sum(
            bit for name, bit in _LENDERS.items() if f"{name}_targets" in (lent or {})
        )
        self._ring = EventRing(self._program.map("events"))
        self._lock = threading.Lock()
        self._bits: dict[int, Bit] = {}

    def close(self) -> None:
        """Take the programs out of the kernel."""
        with self._lock:
            self._program.close()

    @property
    def lost(self) -> int:
        """Events and members that were lost because there was no room for them."""
        return int(self._control["lost_events"][0]) + int(self._control["lost_members"][0])

    def open(self, *, inherited: bool, matched: bool = False, of_cgroup: bool = False) -> Bit:
        """Make a group without members.

        Args:
            inherited: whether the children of members are members.
            matched: whether it wants to know of all executions.
            of_cgroup: whether its members are those of control groups.

        Raises:
            BpfError: the kernel refused, or there are too many groups.
        """
        with self._lock:
            free = [number for number in range(MAX_GROUPS) if 1 << number not in self._bits]
            if not free:
                raise libbpf.BpfError(f"more than {MAX_GROUPS} groups", 0)
            bit = Bit(1 << free[0])
            if not self._bits:
                self._program.attach(_PROGRAMS)
            self._bits[bit.mask] = bit
            chosen = {"inherited": inherited, "matched": matched, "of_cgroups": of_cgroup}
            for name, wanted in chosen.items():
                if wanted:
                    self._control[name] |= np.uint64(bit.mask)
            return bit

    def release(self, bit: Bit, pids: list[int], cgroups: list[Cgroup]) -> list[Events]:
        """Let a group end; twice does no harm.

        Args:
            bit: of the group.
            pids: its members.
            cgroups: those that it was given.

        Returns:
            The events that concern it, in order, since they were taken last.
        """
        with self._lock:
            if bit.mask not in self._bits:
                return []
            for name in ("inherited", "matched", "of_cgroups"):
                self._control[name] &= ~np.uint64(bit.mask)
            for cgroup in cgroups:
                key = _CGROUP.pack(cgroup.id, cgroup.hierarchy)
                self._change(self._cgroups, key, 0, bit.mask)
            for pid in pids:
                self._leave(bit, pid)
            self._share()
            del self._bits[bit.mask]
            left, bit.events = bit.events, []
            for events in left:
                for pid in np.unique(events["pid"]).tolist():
                    self._leave(bit, pid)
            if not self._bits:
                self._program.detach()
            return left

    def add(self, bit: Bit, pid: int) -> None:
        """Make a process a member.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            self._change(self._members, _KEY.pack(pid), bit.mask, 0)

    def remove(self, bit: Bit, pid: int) -> None:
        """Make a process a member no more."""
        with self._lock:
            self._leave(bit, pid)

    def add_cgroup(self, bit: Bit, cgroup: Cgroup) -> None:
        """Make the processes that come into a control group members.

        Raises:
            BpfError: the kernel refused.
        """
        with self._lock:
            key = _CGROUP.pack(cgroup.id, cgroup.hierarchy)
            self._change(self._cgroups, key, bit.mask, 0)

    def take(self, bit: Bit) -> list[Events]:
        """The events that concern a group, in order, since they were taken last."""
        with self._lock:
            self._share()
            events, bit.events = bit.events, []
            return events

    def _share(self) -> None:
        events = self._ring.drain()
        if not len(events):
            return
        for bit in self._bits.values():
            bit.events.append(events)

    def _leave(self, bit: Bit, pid: int) -> None:
        key = _KEY.pack(pid)
        if not self._change(self._members, key, 0, bit.mask):
            libbpf.remove_entry(self._unfinished, key)

    def _change(self, descriptor: int, key: bytes, added: int, removed: int) -> bool:
        """Change bits of an entry, which is there while it has any; whether it is."""
        found = libbpf.read_entry(descriptor, key, _BITS.size)
        before = 0 if found is None else int(_BITS.unpack(found)[0])
        now = (before | added) & ~removed
        if now:
            libbpf.write_entry(descriptor, key, _BITS.pack(now))
        elif found is not None:
            libbpf.remove_entry(descriptor, key)
        return bool(now)


def load(procfs: ProcFs, make: Callable[[], dict[str, int]] = dict) -> GroupPrograms | Obstacle:
    """Load the programs, or say why not.

    Args:
        procfs: root of /proc.
        make: gives the maps that others lend.
    """
    return attempt(procfs, FORKS, lambda: GroupPrograms(procfs, make()))
