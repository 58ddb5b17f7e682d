"""One target, as far as Python decides about it: its program, names, gauges, tables and rate."""

import os
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from tidscope_sampler.native import Sampler
from tidscope_wire.generated.models import (
    Process,
    ProgramExecuted,
    RateAdapted,
    RateChanged,
    SteeredProgram,
    Steering,
    Target,
    TargetEvent,
)
from tidscope_wire.states import STATE

from tidscope_collector.inspection.conversation import open_program
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import TargetExitedError, parse_parent, parse_stat
from tidscope_collector.sampling.machine import ABSENT, MachineWatch
from tidscope_collector.sampling.notices import Notice
from tidscope_collector.sampling.plan import Plan
from tidscope_collector.sampling.process_meter import ProcessMeter
from tidscope_collector.sampling.program import ProgramWatch
from tidscope_collector.sampling.tables import TableSchedule, TableSource

DESCRIBE_NS = 1_000_000_000
WALKED_LOOK_NS = 10_000_000_000
"""Interval between two looks at the program where each walk tells of executions, in nanoseconds."""
_SWITCHES = ("voluntary_switches", "involuntary_switches")
FIRST_WITH_TGID = 12
"""First version of struct taskstats that says of which process a thread is."""


class TargetSampler:
    """Samples one process; belongs to the thread of targets.

    Args:
        target: description, as attached; `state` and `rate_hz` are kept up to date in it.
        plan: columns of its samples.
        native: takes the samples.
        gomaxprocs: reads GOMAXPROCS, or None; closed with the sampler.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        procfs: root of /proc.
        delays: switch of delay accounting, whose state is reported.
        tables: tables of its frames; closed with the sampler.
        names: names that its threads have in their program; None for the kernel's alone. Closed
            with the sampler.

    Attributes:
        rate_hz: samples per second in effect.
        machine: counters of the machine since attach; None to report them as absent.
        on_rate: called with the requested sampling rate when it changes.
        on_change: called when the process runs another program, or has another name; with whether
            it executed one. What it finds out comes back by `describe_again`.

    Raises:
        TargetExitedError: the process has ended; another one may have its ID.
    """

    def __init__(
        self,
        target: Target,
        plan: Plan,
        native: Sampler,
        gomaxprocs: GomaxprocsReader | None,
        attach_ns: int,
        procfs: ProcFs,
        delays: DelayAccounting | None,
        tables: TableSource,
        names: ThreadNames | None = None,
    ) -> None:
        self.target = target
        self.pid = target.process.pid
        self.plan = plan
        self.attach_ns = attach_ns
        self.rate_hz = target.rate_hz
        self.machine: MachineWatch | None = None
        self.on_change: Callable[[bool], object] = lambda _: None
        self.on_rate: Callable[[float], object] = lambda _: None
        self._native = native
        self._gomaxprocs = gomaxprocs
        self._procfs = procfs
        self._names = names
        self._table_source = tables
        self._tables = TableSchedule(tables, attach_ns)
        self._stale = self._executed = False
        self._described_ns = -DESCRIBE_NS
        self._observed_ns = attach_ns
        self._meter = self._make_meter(procfs, delays)
        with ExitStack() as opened:
            opened.callback(tables.close)
            if names is not None:
                opened.callback(names.close)
            opened.callback(self._close_gomaxprocs)
            try:
                self._open(opened)
            except (ProcessLookupError, FileNotFoundError) as error:
                raise TargetExitedError(str(error)) from error
            self._opened = opened.pop_all()

    def _make_meter(self, procfs: ProcFs, delays: DelayAccounting | None) -> ProcessMeter:
        return ProcessMeter(self.pid, procfs, delays)

    def _open(self, opened: ExitStack) -> None:
        """Open what tells which program the process runs; `opened` closes it."""
        self._tasks = os.open(
            self._procfs.path(f"{self.pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
        )
        opened.callback(os.close, self._tasks)
        self._check_identity()
        process = self.target.process
        self._program = ProgramWatch(
            self._tasks,
            self.pid,
            process.executable,
            process.name,
            lambda: open_program(self.pid, process.start_ticks),
        )
        opened.callback(self._program.close)

    def _check_identity(self) -> None:
        """Check that the ID still belongs to the process that was meant."""
        line = self._stat()
        if parse_stat(line).start_ticks != self.target.process.start_ticks:
            raise TargetExitedError(f"process {self.pid} has ended; its id was reused")
        self._parent = parse_parent(line)

    def _stat(self) -> bytes:
        file = os.open(f"{self.pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._tasks)
        try:
            return os.read(file, 4096)
        finally:
            os.close(file)

    def closes(self, close: Callable[[], object]) -> None:
        """Call this, too, when the sampler is closed."""
        self._opened.callback(close)

    def close(self) -> None:
        """Release all resources. Idempotent."""
        self._opened.close()

    def begin(self) -> None:
        """Begin to sample.

        Raises:
            TargetExitedError: the process has ended.
            OSError: the kernel refused.
        """
        gauges = self._meter.read(time.monotonic_ns())
        try:
            self._native.attach(
                {
                    "id": self.target.id,
                    "attach_ns": self.attach_ns,
                    "rate_hz": self.target.rate_hz,
                    "is_group": self.target.group is not None,
                    "has_other_exits": self._has_other_exits,
                    "role_rules": [(one.pattern, one.role) for one in self.target.role_rules or ()],
                    "base": list(self.plan.base),
                    "fields": list(self.plan.fields),
                    "delays_from_ns": self.plan.delays_from_ns,
                    "network": self.plan.network,
                    "walk": self.plan.walk,
                    "lead": self.pid,
                    "gomaxprocs": self._hand_over(self._gomaxprocs),
                    "size": self.target.gomaxprocs,
                    "machine": self._machine_counters(),
                    **gauges._asdict(),
                    "locks_reason": self._locks_reason,
                    **self._processes(),
                }
            )
        except ProcessLookupError as error:
            raise TargetExitedError(str(error)) from error

    def _processes(self) -> dict[str, object]:
        """Processes of the target, and how they are followed."""
        process = self.target.process
        age_ns = time.clock_gettime_ns(time.CLOCK_BOOTTIME)
        started_ns = process.start_ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")
        member = {
            "pid": self.pid,
            "parent": self._parent,
            "start_ns": self.attach_ns - (age_ns - started_ns),
            "start_ticks": process.start_ticks,
            "name": process.name,
            "uid": process.uid,
            "at_attach": True,
            "before": True,
        }
        link = self._procfs.path(f"{self.pid}/exe")
        return {
            "members": [member],
            "program": (str(link), self._program.link(), process.name),
            "boundary": None,
            "ends_empty": True,
            "missed": None,
        }

    @property
    def _has_other_exits(self) -> bool:
        version = self.target.source.taskstats_version
        return version is not None and version < FIRST_WITH_TGID

    @staticmethod
    def _hand_over(reader: GomaxprocsReader | None) -> int | None:
        """Let the native sampler ask for GOMAXPROCS from now on."""
        free = None if reader is None else reader.free
        if reader is not None and free is not None:
            reader.asked(pending=True)  # closing must not wait for an answer of the child
        return free

    def _close_gomaxprocs(self) -> None:
        if self._gomaxprocs is not None:
            self._gomaxprocs.close()
            self._gomaxprocs = None

    @property
    def _locks_reason(self) -> str | None:
        return self._table_source.locks_reason or None

    def _machine_counters(self) -> str:
        return (ABSENT if self.machine is None else self.machine.counters()).model_dump_json()

    def report(self, event: TargetEvent) -> None:
        """Report an event with the next frame."""
        self._native.report(self.target.id, event.model_dump_json())

    @property
    def due_ns(self) -> int:
        """CLOCK_MONOTONIC at which `work` has something to do."""
        return self._tables.due_ns

    def work(self) -> None:
        """Read the tables if they are due."""
        if time.monotonic_ns() >= self._tables.due_ns:
            self.give_tables()

    def give_tables(self) -> None:
        """Read all tables for the next frame."""
        read = self._tables.read()
        if read is not None:
            given, read_ns = read
            self._native.give_tables(self.target.id, given, max(0, read_ns - self.attach_ns))

    @property
    def tables_share(self) -> float:
        """Maximum share of a core for reading the tables of this target."""
        return self._tables.share

    @tables_share.setter
    def tables_share(self, share: float) -> None:
        self._tables.share = share

    def take(self, notice: Notice) -> None:
        """Handle what the native sampler noticed."""
        if notice["program"]:
            self._watch_program(noticed=True)
        if notice["named"]:
            self._name_threads(notice["named"])

    @property
    def is_over(self) -> bool:
        """True if there are no processes and will be none."""
        return False

    def second(self, now_ns: int) -> None:
        """Do what is done about once a second.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        due = not self.plan.walk or now_ns - self._observed_ns >= WALKED_LOOK_NS
        if due or self._program.executing:
            self._observed_ns = now_ns
            self._watch_program()
        self._name_threads([])
        self._describe_names()
        self._give_gauges(now_ns)
        self._describe_if_stale(now_ns)
        # With all else that is done each second: nobody wakes up for tables alone.
        if now_ns >= self._tables.allowed_ns:
            self.give_tables()

    def _give_gauges(self, now_ns: int) -> None:
        gauges = self._meter.read(now_ns)
        self._native.set_gauges(
            self.target.id,
            gauges.rss_bytes,
            gauges.delay_accounting,
            gauges.cpu_limit,
            gauges.cgroup,
            gauges.limits,
            self._machine_counters(),
            self._locks_reason,
        )

    def _watch_program(self, *, noticed: bool = False) -> None:
        change = self._program.change()
        if change is not None:
            self._stale = True
            if change.executed:
                self._executed = True
                name = change.program.name
                self._native.rename(self.target.id, [(self.pid, name)])
                self._native.set_gomaxprocs(self.target.id, None)
                self._close_gomaxprocs()
                self.report(
                    ProgramExecuted(
                        name=name,
                        executable=change.program.executable,
                        previous=change.previous,
                    )
                )
        if change is not None or noticed:
            link, name = self._program.link(), self._program.program.name
            self._native.set_program(self.target.id, link, name)
            self._describe_if_stale(time.monotonic_ns())

    def _describe_if_stale(self, now_ns: int) -> None:
        # A program that executes and renames all the time is not described more often.
        if self._stale and now_ns - self._described_ns >= DESCRIBE_NS:
            executed, self._stale, self._executed = self._executed, False, False
            self._described_ns = now_ns
            self.on_change(executed)

    def _name_threads(self, changed: Sequence[int]) -> None:
        """Take names that came, and request those of new threads.

        Args:
            changed: processes with threads that began, or that have other names.
        """
        if self._names is None:
            return
        if changed:
            self._names.request()
        # A thread may have ended since it was named, or not be seen yet: then it is asked again.
        found = self._names.take()
        if found:
            self._native.rename(self.target.id, list(found.items()))

    def _describe_names(self) -> None:
        described = None if self._names is None else self._names.description
        if self._names is not None and described != self.target.thread_names:
            self.target = self.target.model_copy(update={"thread_names": described})

    def describe_again(
        self, process: Process, program: GoProgram | None, gomaxprocs: int | None
    ) -> None:
        """Take what was found out about the program that the process runs now.

        Args:
            process: its description.
            program: its Go properties; None if it is still the same. Its reader is closed with the
                sampler.
            gomaxprocs: GOMAXPROCS of that program; None if unknown.
        """
        self.target = self.target.model_copy(update={"process": process})
        if program is not None:
            self._close_gomaxprocs()
            self._gomaxprocs = program.reader
            connection = self._hand_over(program.reader)
            self._native.set_gomaxprocs(self.target.id, connection, gomaxprocs)
            self.target = self.target.model_copy(
                update={"gomaxprocs": gomaxprocs, "gomaxprocs_reason": program.reason}
            )

    def change_rate(self, rate_hz: float) -> None:
        """Sample at another rate from now on, as someone asked for."""
        requested_hz = self.target.rate_hz
        if rate_hz == requested_hz:
            return
        event = RateChanged(rate_hz=rate_hz, previous_hz=requested_hz)
        self._set_rate(rate_hz, event, requested=True)
        self.target = self.target.model_copy(update={"rate_hz": rate_hz})
        self.on_rate(rate_hz)

    def adapt_rate(self, event: RateAdapted) -> None:
        """Sample at another rate than the requested one, which is kept."""
        self._set_rate(event.rate_hz, event, requested=False)

    def _set_rate(self, rate_hz: float, event: TargetEvent, *, requested: bool) -> None:
        self.rate_hz = rate_hz
        self._native.set_rate(self.target.id, rate_hz, requested, event.model_dump_json())

    def steered(self, steering: Steering | None, event: TargetEvent) -> None:
        """A policy did something to it, or does no more."""
        self.report(event)
        self.target = self.target.model_copy(update={"steering": steering})

    def programs_steered(self, programs: list[SteeredProgram], event: TargetEvent) -> None:
        """A policy did something to a program of a group, or does no more."""
        self.report(event)
        self.target = self.target.model_copy(update={"programs": programs or None})

    def programs_join(self, joins: bool) -> None:
        """Set whether new programs of the group are steered, too."""
        self.target = self.target.model_copy(update={"programs_join": joins})

    def total(self, fields: Sequence[str]) -> int:
        """Sum of some fields over all its threads as last sampled, the ended ones included."""
        return self._native.total(self.target.id, list(fields)) or 0

    def ledger_switches(self) -> int:
        """Switches of its threads since each one's start, if they have ledgers; otherwise 0."""
        kept = {STATE, *_SWITCHES} <= set(self.plan.fields)
        return self.total(_SWITCHES) if kept else 0

    def flush(self) -> tuple[int, int] | None:
        """Emit everything up to now.

        Returns:
            Number of the last frame, and of threads that have exited; None if the target is over.
        """
        self.give_tables()
        return self._native.flush(self.target.id)

    def ended(self, *, exited: bool) -> None:
        """Mark the target as over: the process has ended, or someone asked to stop."""
        state = "exited" if exited else "detached"
        ended = {"state": state, "steering": None, "programs": None, "programs_join": False}
        self.target = self.target.model_copy(update=ended)
