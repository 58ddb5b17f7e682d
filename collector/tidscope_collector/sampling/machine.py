"""Counters of the whole machine, read now and then; each target gets them since its attach.

Belongs to the thread of targets.
"""

import time
from dataclasses import dataclass

from tidscope_wire.generated.models import EnergySource, MachineCounters

from tidscope_collector.energy.rapl import EnergyMeter, EnergyReading, Powercap
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.machine import CpuTimes, cpu_times

READ_NS = 950_000_000
"""On a machine with many CPUs /proc/stat costs the kernel a millisecond and more."""

ABSENT = MachineCounters(time_ns=0, cpu_busy_us=None, package_uj=None, domains_uj=[], gaps=0)


@dataclass(frozen=True, slots=True)
class _Reading:
    at_ns: int
    cpu: CpuTimes | None
    energy: EnergyReading


class MachineMeter:
    """Reads about once a second, when someone asks.

    Args:
        procfs: root of /proc.
        powercap: what counts energy.
    """

    def __init__(self, procfs: ProcFs, powercap: Powercap) -> None:
        self._procfs = procfs
        self._energy = EnergyMeter(powercap)
        self._last: _Reading | None = None
        self.source: EnergySource = powercap.describe()

    def close(self) -> None:
        """Close what is open."""
        self._energy.close()

    def watch(self, attach_ns: int) -> "MachineWatch":
        """Counters of a target that was attached to at a moment on CLOCK_MONOTONIC, from now on."""
        return MachineWatch(self, self._read(), attach_ns)

    def latest(self) -> _Reading:
        """A reading that is at most about a second old."""
        last = self._last
        if last is None or time.monotonic_ns() - last.at_ns >= READ_NS:
            return self._read()
        return last

    def _read(self) -> _Reading:
        now = time.monotonic_ns()
        self._last = _Reading(now, cpu_times(self._procfs), self._energy.read(now))
        return self._last


class MachineWatch:
    """The machine's counters since a moment."""

    def __init__(self, meter: MachineMeter, base: _Reading, attach_ns: int) -> None:
        self._meter, self._base, self._attach_ns = meter, base, attach_ns
        self._read: _Reading | None = None
        self._counters = ABSENT

    def counters(self) -> MachineCounters:
        """Return the machine's counters, at most a second old."""
        read = self._meter.latest()
        if read is not self._read:
            self._read = read
            base = self._base
            energy = zip(read.energy.domains_uj, base.energy.domains_uj, strict=True)
            self._counters = MachineCounters(
                time_ns=max(0, read.at_ns - self._attach_ns),
                cpu_busy_us=_since(_busy(read), _busy(base)),
                cpu_steal_us=_since(_steal(read), _steal(base)),
                package_uj=_since(read.energy.package_uj, base.energy.package_uj),
                domains_uj=[_since(now, then) for now, then in energy],
                gaps=read.energy.gaps - base.energy.gaps,
            )
        return self._counters


def _busy(read: _Reading) -> int | None:
    return None if read.cpu is None else read.cpu.busy_us


def _steal(read: _Reading) -> int | None:
    return None if read.cpu is None else read.cpu.steal_us


def _since(now: int | None, then: int | None) -> int | None:
    """Return the growth of a counter, or None if a reading is missing. Falling counters, such as
    iowait's, grow by 0.

    Source: proc_stat(5), on iowait.
    """
    return None if now is None or then is None else max(0, now - then)
