"""The knob `go-affinity`: GOMAXPROCS of an unmodified Go program, set by its CPU affinity.

The collector restores the affinity when it ends. If it crashes, its lease stays as a file, and the
next collector restores the affinity (`Leases.recover`).
"""

import errno
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_collector.inspection.asking import NoAnswerError, UnreadableError
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram, open_gomaxprocs
from tidscope_collector.inspection.reader import ask_go_chosen, ask_go_environment
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.steering.loop.affinity_leases import (
    AffinityLease,
    LeaseFolderError,
    Leases,
    restore,
)
from tidscope_collector.steering.loop.cpu_masks import (
    Cpus,
    CpuShares,
    ThreadMask,
    UnsettledError,
    common_mask,
    read_masks,
    set_masks,
)
from tidscope_collector.steering.loop.knob import KnobDescription, KnobLostError, KnobRefusedError

FOLLOWS_WITHIN_S = 10.0
"""Timeout for the runtime to follow, in seconds. It checks once per second, and may wait for a
garbage collection."""

WORKED_TICKS = 20
"""CPU ticks that a program must use before it can fail to follow; an idle one does not check its
CPUs."""

FIRST_VERSION = (1, 25)

_VERSION = re.compile(r"go(\d+)\.(\d+)")

_AGENT = "link the Go agent into it instead"


@dataclass(frozen=True, slots=True)
class PreflightResult:
    """A program that can be steered by affinity.

    Attributes:
        reader: reader of GOMAXPROCS; owned by the caller.
        proven: True if the runtime reports that nobody chose GOMAXPROCS; otherwise only a trial can
            tell.
    """

    reader: GomaxprocsReader
    proven: bool


class GoAffinityKnob:
    """Steers one process; made by `open_go_affinity`.

    Args:
        procfs: root of /proc.
        lease: lease of the process, not written yet.
        passed: result of the preflight check; its reader is closed with the knob.
        upper: current GOMAXPROCS.
        leases: leases of the collector.
        shares: CPUs of all knobs of this collector.
        clock: monotonic clock, in seconds.
    """

    def __init__(
        self,
        procfs: ProcFs,
        lease: AffinityLease,
        passed: PreflightResult,
        upper: int,
        leases: Leases,
        shares: CpuShares,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._procfs = procfs
        self._lease = lease
        self._reader: GomaxprocsReader = passed.reader
        self._description = KnobDescription("go-affinity", 1, upper, upper)
        self._leases = leases
        self._shares = shares
        self._clock = clock
        self._wanted: int | None = None
        self._since_s = 0.0
        self._ticks = 0

    def describe(self) -> KnobDescription:
        """See Knob."""
        return self._description

    def apply(self, size: int) -> int:
        """See Knob; the runtime takes about a second to follow."""
        if not 1 <= size <= self._description.upper:
            raise KnobRefusedError(f"Size {size} is not from 1 to {self._description.upper}.")
        self._check_alive()
        pid, common = self._lease.pid, frozenset(self._lease.common)
        cpus = self._shares.allocate(pid, common, size)
        if size == self._description.original:
            cpus = common  # A cgroup limit may make GOMAXPROCS smaller than the number of CPUs.
        self._record_lease(cpus)
        if size != self._wanted:
            self._wanted, self._since_s, self._ticks = size, self._clock(), self._worked()
        try:
            set_masks(self._procfs, pid, self._lease.start_ticks, lambda _: cpus)
        except ProcessLookupError as error:
            raise KnobLostError(f"Process {pid} has ended.") from error
        except (OSError, UnsettledError) as error:
            self.restore()
            raise KnobRefusedError(_why_not(pid, cpus, error)) from error
        return self.read()

    def read(self) -> int:
        """See Knob; reads GOMAXPROCS from the program's memory."""
        size = self._reader.read()
        if size is None:
            raise KnobLostError(f"Process {self._lease.pid} has ended or executed another program.")
        return size

    def renew(self) -> None:
        """See Knob; also detects that the program does not follow, and restores it."""
        self._check_alive()
        if self._wanted is None or self.read() == self._wanted:
            return
        late = self._clock() - self._since_s > FOLLOWS_WITHIN_S
        if late and self._worked() - self._ticks >= WORKED_TICKS:
            wanted, found = self._wanted, self.read()
            self.restore()
            raise KnobRefusedError(
                f"Process {self._lease.pid} does not follow: with {wanted} CPUs its GOMAXPROCS is "
                f"still {found}. It may have called runtime.GOMAXPROCS itself, or its cgroup has a "
                "limit; link the Go agent into it instead."
            )

    def restore(self) -> str:
        """See Knob."""
        self._wanted = None
        self._shares.free(self._lease.pid)
        if not self._lease.applied:
            return ""
        try:
            restore(self._procfs, self._lease)
        except (OSError, UnsettledError) as error:
            return (
                f"{_why_not(self._lease.pid, frozenset(self._lease.common), error)} The collector "
                "restores it at its next start."
            )
        self._lease.applied = []
        self._leases.remove(self._lease)
        return ""

    def close(self) -> str:
        """See Knob."""
        trouble = self.restore()
        self._reader.close()
        return trouble

    def threads_missed(self) -> list[int]:
        """Return threads without the last applied CPUs, which only another program can cause."""
        if not self._lease.applied:
            return []
        cpus = frozenset(self._lease.applied[-1])
        masks = read_masks(self._procfs, self._lease.pid, self._lease.start_ticks)
        return [mask.tid for mask in masks if mask.cpus != cpus]

    def _record_lease(self, cpus: Cpus) -> None:
        """Record CPUs in the lease before they are applied."""
        applied = [mask for mask in self._lease.applied if frozenset(mask) != cpus]
        self._lease.applied = [*applied, sorted(cpus)]
        try:
            self._leases.write(self._lease)
        except LeaseFolderError as error:
            self._lease.applied = applied
            raise KnobRefusedError(f"Nothing is changed without a lease: {error}") from error

    def _check_alive(self) -> None:
        if _stat(self._procfs, self._lease.pid)[0] != self._lease.start_ticks:
            raise KnobLostError(f"Process {self._lease.pid} has ended.")

    def _worked(self) -> int:
        return _stat(self._procfs, self._lease.pid)[1]


def open_go_affinity(
    procfs: ProcFs,
    pid: int,
    start_ticks: int,
    leases: Leases,
    shares: CpuShares,
    clock: Callable[[], float] = time.monotonic,
) -> GoAffinityKnob:
    """Check a process and make its knob, without changing anything.

    Args:
        procfs: root of /proc.
        pid: process ID.
        start_ticks: start time, because the ID may be recycled.
        leases: leases of this collector, after `recover`.
        shares: CPUs of all knobs of this collector.
        clock: monotonic clock, in seconds.

    Raises:
        KnobRefusedError: the process cannot be steered; the text says why, and what would help.
        KnobLostError: the process has ended.
    """
    if _stat(procfs, pid)[0] != start_ticks:
        raise KnobLostError(f"Process {pid} has ended.")
    owner = leases.held_by_other(pid)
    if owner is not None:
        raise KnobRefusedError(f"Another collector, process {owner}, steers process {pid}.")
    passed = check_program(pid, start_ticks)
    try:
        masks = _masks(procfs, pid, start_ticks)
        common = common_mask(masks)
        now = passed.reader.read()
        if now is None:
            raise KnobLostError(f"Process {pid} has ended.")
        # A program steered until recently may not have noticed its restored CPUs yet.
        upper = max(now, min(leases.restored_size(pid, start_ticks) or 1, len(common)))
        if upper > len(common):
            raise KnobRefusedError(
                f"Process {pid} has a GOMAXPROCS of {upper}, and may use {len(common)} CPUs: it "
                "does not follow the affinity. Link the Go agent into it instead."
            )
        if upper == 1:
            raise KnobRefusedError(f"Process {pid} may use one CPU only: nothing to steer.")
    except BaseException:
        passed.reader.close()
        raise
    lease = leases.new(pid, start_ticks, masks, common, upper)
    return GoAffinityKnob(procfs, lease, passed, upper, leases, shares, clock)


def _masks(procfs: ProcFs, pid: int, start_ticks: int) -> list[ThreadMask]:
    try:
        return read_masks(procfs, pid, start_ticks)
    except ProcessLookupError as error:
        raise KnobLostError(f"Process {pid} has ended.") from error
    except PermissionError as error:
        raise KnobRefusedError(
            f"The affinity of process {pid} may not be changed: run the collector as root."
        ) from error


def _stat(procfs: ProcFs, pid: int) -> tuple[int, int]:
    """Return the start time of a living process, and its used CPU ticks.

    Raises:
        KnobLostError: the process has ended.
    """
    try:
        found = parse_stat(procfs.read(f"{pid}/stat"))
    except OSError as error:
        raise KnobLostError(f"Process {pid} has ended.") from error
    if found.ended:
        raise KnobLostError(f"Process {pid} has ended.")
    return found.start_ticks, found.user_ticks + found.system_ticks


def _why_not(pid: int, cpus: Cpus, error: Exception) -> str:
    if isinstance(error, UnsettledError):
        return f"{str(error)[0].upper()}{str(error)[1:]}."
    if isinstance(error, PermissionError):
        return f"The affinity of process {pid} may not be changed: run the collector as root."
    if isinstance(error, OSError) and error.errno == errno.EINVAL:
        return f"The cpuset of process {pid} no longer has the CPUs {sorted(cpus)}."
    return f"The affinity of process {pid} cannot be changed: {error}."


def check_program(pid: int, start_ticks: int) -> PreflightResult:
    """Check that a Go program follows its affinity, before anything is changed.

    Since Go 1.25 the runtime adapts GOMAXPROCS to its CPUs (runtime.GOMAXPROCS in Go's
    documentation). There are three exceptions, all visible from outside.

    Raises:
        KnobRefusedError: the program cannot be steered by affinity; the text says why, and what
            would help.
    """
    program = open_gomaxprocs(pid, start_ticks)
    if program.reader is None:
        raise KnobRefusedError(f"GOMAXPROCS cannot be read back: {program.reason}")
    try:
        _check_version(pid, program)
        variables = _environment(pid, start_ticks)
        _check_environment(pid, variables)
        _check_setting(pid, program.settings, variables)
        chosen = ask_go_chosen(pid, start_ticks)
        if chosen:
            raise KnobRefusedError(
                f"Process {pid} called runtime.GOMAXPROCS itself: the runtime keeps that "
                f"value and ignores the affinity. Remove the call, or {_AGENT}."
            )
    except BaseException:
        program.reader.close()
        raise
    return PreflightResult(program.reader, chosen is False)


def _check_version(pid: int, program: GoProgram) -> None:
    found = _VERSION.match(program.version or "")
    if found is None:
        raise KnobRefusedError(
            f"Process {pid} does not record its Go version: go-affinity needs "
            f"1.25 or newer. Build it with a released version, or {_AGENT}."
        )
    if (int(found[1]), int(found[2])) < FIRST_VERSION:
        raise KnobRefusedError(
            f"Process {pid} was built with {program.version}: runtimes follow the affinity from "
            f"Go 1.25 on. Build it with a newer version, or {_AGENT}."
        )


def _check_environment(pid: int, variables: dict[str, str]) -> None:
    value = variables.get("GOMAXPROCS", "")
    # The runtime ignores values that are no positive number.
    if re.fullmatch(r"[+]?[0-9]+", value) and int(value) > 0:
        raise KnobRefusedError(
            f"Process {pid} was started with GOMAXPROCS={value} in its environment: the runtime "
            f"keeps that value and ignores the affinity. Start it without, or {_AGENT}."
        )


def _check_setting(pid: int, settings: dict[str, str], variables: dict[str, str]) -> None:
    """GODEBUG in the environment overrides the build's."""
    environment = _godebug(variables.get("GODEBUG", ""))
    built = _godebug(settings.get("DefaultGODEBUG", ""))
    if environment.get("updatemaxprocs") == "0":
        raise KnobRefusedError(
            f"Process {pid} was started with updatemaxprocs=0 in GODEBUG: the runtime does not "
            f"follow the affinity. Start it without, or {_AGENT}."
        )
    if built.get("updatemaxprocs") == "0" and "updatemaxprocs" not in environment:
        raise KnobRefusedError(
            f"Process {pid} was built with a go.mod below 1.25 (updatemaxprocs=0): the runtime "
            "does not follow the affinity. Raise the go line of its go.mod, or start it with "
            f"GODEBUG=updatemaxprocs=1, or {_AGENT}."
        )


def _godebug(text: str) -> dict[str, str]:
    pairs = (part.partition("=") for part in text.split(","))
    return {key.strip(): value.strip() for key, _, value in pairs}


def _environment(pid: int, start_ticks: int) -> dict[str, str]:
    try:
        return ask_go_environment(pid, start_ticks)
    except UnreadableError as error:
        raise KnobRefusedError(
            f"The environment of process {pid} may not be read: {error}. Run the collector as root."
        ) from error
    except NoAnswerError as error:
        raise KnobRefusedError(str(error)) from error
