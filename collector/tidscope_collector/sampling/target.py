"""One target: its threads listed, read, tracked and made into frames."""

import os
import select
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

import numpy as np
from tidscope_wire.frame import RowEncoder, Rows, join
from tidscope_wire.generated.models import (
    CollectorHealth,
    DeadlinesMissed,
    ExitRecordsLost,
    FrameHeader,
    GomaxprocsChanged,
    Process,
    ProcessGauges,
    ProgramExecuted,
    RateAdapted,
    RateChanged,
    SampleFailed,
    Steering,
    Target,
    TargetDetached,
    TargetEvent,
    TargetExited,
)

from tidscope_collector.discovery.task_folder import TaskFolder
from tidscope_collector.discovery.threads import ThreadLister
from tidscope_collector.foreign.gomaxprocs import GomaxprocsReader, GoProgram
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.gauges import rss_bytes
from tidscope_collector.procfs.stat import parse_stat
from tidscope_collector.sampling.idle_skipping import IdleSkippingReader
from tidscope_collector.sampling.machine import ABSENT, MachineWatch
from tidscope_collector.sampling.presence import presence
from tidscope_collector.sampling.process_clock import process_cpu_ns
from tidscope_collector.sampling.program import ProgramWatch
from tidscope_collector.sampling.schedule import Schedule
from tidscope_collector.sampling.selfwatch import SampleTimes
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.threads.reading import Reading, TargetExitedError, ThreadReader

KEY_FRAME_NS = 10_000_000_000
KEY_FRAME_BYTES = 4 * 1024 * 1024
SLOW_GAUGES_NS = 1_000_000_000
ROLES_NS = 1_000_000_000
DESCRIBE_NS = 1_000_000_000
FIRST_WITH_TGID = 12
"""From this version on struct taskstats says of which process a thread is."""

HealthNow = Callable[[int, int, int], CollectorHealth]
"""Makes the health part of a frame of sample_us, late_us and missed deadlines."""


class TargetSampler:
    """Samples one process; belongs to the sampling thread.

    Args:
        target: description, as attached; `state` and `rate_hz` are kept up to date in it. The rate
            in effect is the schedule's.
        reader: where readings come from; closed with the sampler.
        gomaxprocs: reads GOMAXPROCS, or None; closed with the sampler.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        delays: the switch of delay accounting, whose state is reported.
        lister: lists its threads, closed with the sampler; None: /proc/PID/task is listed.

    Attributes:
        machine: the machine's counters since attach; None: they are reported as absent.
        times: how long samples took.
        on_change: called when the process runs another program, or has another name; with whether
            it executed one. What it finds out comes back by `describe_again`.

    Raises:
        TargetExitedError: the process has ended; another one may have its id.
    """

    def __init__(
        self,
        target: Target,
        reader: ThreadReader,
        gomaxprocs: GomaxprocsReader | None,
        attach_ns: int,
        procfs: ProcFs,
        delays: DelayAccounting | None = None,
        lister: ThreadLister | None = None,
    ) -> None:
        self.target = target
        self.pid = target.process.pid
        self.schedule = Schedule(target.rate_hz, attach_ns)
        self.reader = reader
        self.seq = 0
        self.last_was_key = False
        self.last_was_baseline = False
        self._gomaxprocs = gomaxprocs
        self._size = self._known_size = target.gomaxprocs
        self._procfs = procfs
        self.attach_ns = attach_ns
        self.machine: MachineWatch | None = None
        self.times = SampleTimes()
        version = target.source.taskstats_version
        self.foreign_exits = version is not None and version < FIRST_WITH_TGID
        self._tracker = Tracker(
            reader.fields, attach_ns, self.pid, foreign_exits=self.foreign_exits
        )
        self._encoder = RowEncoder(reader.fields)
        self._pending: list[TargetEvent] = []
        self._key_ns = -KEY_FRAME_NS
        self._key_bytes = 0
        self._initial_threads: int | None = None
        self._threads_born = 0
        self._rss: int | None = None
        self._roles_ns = -ROLES_NS
        self.on_change: Callable[[bool], object] = lambda _: None
        self._stale = self._executed = False
        self._described_ns = -DESCRIBE_NS
        self._delays = delays
        self._accounting: bool | None = None
        self._slow_ns = -SLOW_GAUGES_NS
        self._cpu_ns: int | None = None
        with ExitStack() as opened:
            opened.callback(reader.close)
            if lister is not None:
                opened.callback(lister.close)
            opened.callback(self._close_gomaxprocs)
            try:
                pidfd = os.pidfd_open(self.pid)
                opened.callback(os.close, pidfd)
                self._tasks = os.open(
                    procfs.path(f"{self.pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
                )
                opened.callback(os.close, self._tasks)
                self._check_identity()
                self._program = ProgramWatch(
                    self._tasks, self.pid, target.process.executable, target.process.name
                )
            except (ProcessLookupError, FileNotFoundError) as error:
                raise TargetExitedError(str(error)) from error
            self._opened = opened.pop_all()
        self._threads = IdleSkippingReader(lister or TaskFolder(self._tasks, self.pid), reader)
        self._alive = select.poll()
        self._alive.register(pidfd, select.POLLIN)

    def _check_identity(self) -> None:
        """See that the id is still that of the process that was meant."""
        file = os.open(f"{self.pid}/stat", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self._tasks)
        try:
            started = parse_stat(os.read(file, 4096)).start_ticks
        finally:
            os.close(file)
        if started != self.target.process.start_ticks:
            raise TargetExitedError(f"process {self.pid} has ended; its id was reused")

    def close(self) -> None:
        """Close what is open."""
        self._opened.close()

    def describe_again(self, process: Process, program: GoProgram | None) -> None:
        """Take in what was found out about the program that the process runs now.

        Args:
            process: its description.
            program: what it is with regard to Go; None: it is still the same. Its reader is closed
                with the sampler.
        """
        self.target = self.target.model_copy(update={"process": process})
        if program is not None:
            self._close_gomaxprocs()
            self._gomaxprocs = program.reader
            self.target = self.target.model_copy(update={"gomaxprocs_reason": program.reason})

    def change_rate(self, rate_hz: float, now_ns: int) -> None:
        """Sample at another rate from now on, as someone asked for."""
        requested_hz = self.target.rate_hz
        if rate_hz == requested_hz:
            return
        self._pending.append(RateChanged(rate_hz=rate_hz, previous_hz=requested_hz))
        self.schedule.change_rate(rate_hz, now_ns)
        self.target = self.target.model_copy(update={"rate_hz": rate_hz})

    def steered(self, steering: Steering | None, event: TargetEvent) -> None:
        """A policy did something to it, or does no more."""
        self._pending.append(event)
        self.target = self.target.model_copy(update={"steering": steering})

    def total(self, fields: Sequence[str]) -> int:
        """Sum of some fields over all its threads as last sampled, the ended ones included."""
        return self._tracker.total(fields)

    def adapt_rate(self, event: RateAdapted, now_ns: int) -> None:
        """Sample at another rate than the one asked for, which is kept."""
        self._pending.append(event)
        self.schedule.change_rate(event.rate_hz, now_ns)

    def read(self) -> tuple[Reading, int]:
        """Read all threads.

        Returns:
            The reading, and CLOCK_MONOTONIC after it.

        Raises:
            TargetExitedError: the process has ended.
            OSError: the kernel answered nonsense.
        """
        if self._alive.poll(0):
            raise TargetExitedError(f"process {self.pid} has ended")
        if self._gomaxprocs is not None:
            self._gomaxprocs.request()
        reading = self._threads.read()
        self._cpu_ns = process_cpu_ns(self.pid)
        return reading, time.monotonic_ns()

    def frame(
        self,
        reading: Reading,
        end_ns: int,
        exits: Reading | None,
        *,
        lateness: tuple[int, int],
        lost: int,
        health: HealthNow,
        started_ns: int,
    ) -> bytes:
        """Make the frame of a sample that was taken."""
        late, missed = lateness
        events, rows = self._tracker.update(
            reading, end_ns, exits, listed=self._threads.listed, look=partial(presence, self._tasks)
        )
        self._note(missed, lost)
        self._watch_program(started_ns)
        self._watch_size()
        return self._join(events, rows, started_ns, late, health)

    def failure(
        self,
        error: Exception,
        *,
        lateness: tuple[int, int],
        lost: int,
        health: HealthNow,
        started_ns: int,
    ) -> bytes:
        """Make the frame of a sample that failed."""
        late, missed = lateness
        self._note(missed, lost)
        self._pending.append(SampleFailed(reason=f"{type(error).__name__}: {error}"))
        empty = np.empty(0, np.uint64)
        rows = Rows(np.empty(0, np.uint32), dict.fromkeys(self.reader.fields, empty), {})
        return self._join([], rows, started_ns, late, health)

    def final(
        self,
        exits: Reading | None,
        *,
        exited: bool,
        exit_code: int | None,
        lost: int,
        health: HealthNow,
    ) -> bytes:
        """Make the last frame: the process has ended, or someone asked to stop."""
        self._note(0, lost)
        state = "exited" if exited else "detached"
        self.target = self.target.model_copy(update={"state": state, "steering": None})
        events = self._tracker.finish(exits, exited=exited)
        last: TargetEvent = TargetExited(exit_code=exit_code) if exited else TargetDetached()
        empty = np.empty(0, np.uint64)
        rows = Rows(np.empty(0, np.uint32), dict.fromkeys(self.reader.fields, empty), {})
        now = time.monotonic_ns()
        self._roles_ns = -ROLES_NS
        return self._join([*events, last], rows, now, 0, health)

    def _note(self, missed: int, lost: int) -> None:
        if missed:
            self._pending.append(DeadlinesMissed(count=missed))
        if lost:
            self._pending.append(ExitRecordsLost(count=lost))

    def _watch_program(self, now_ns: int) -> None:
        main = self._tracker.threads.get(self.pid)
        change = self._program.change(main.name if main else None, now_ns)
        if change is not None:
            self._stale = True
            if change.executed:
                self._executed = True
                self._close_gomaxprocs()
                self._pending.append(
                    ProgramExecuted(
                        name=change.program.name,
                        executable=change.program.executable,
                        previous=change.previous,
                    )
                )
        # A program that executes and renames all the time is not described more often.
        if self._stale and now_ns - self._described_ns >= DESCRIBE_NS:
            executed, self._stale, self._executed = self._executed, False, False
            self._described_ns = now_ns
            self.on_change(executed)

    def _close_gomaxprocs(self) -> None:
        self._size = self._known_size = None
        if self._gomaxprocs is not None:
            self._gomaxprocs.close()
            self._gomaxprocs = None

    def _watch_size(self) -> None:
        if self._gomaxprocs is None:
            return
        self._size = size = self._gomaxprocs.collect()
        if size is None:
            return
        if self._known_size is not None and size != self._known_size:
            self._pending.append(GomaxprocsChanged(size=size, previous=self._known_size))
        self._known_size = size

    def _join(
        self, events: list[TargetEvent], rows: Rows, started_ns: int, late: int, health: HealthNow
    ) -> bytes:
        self.seq += 1
        live, exited = len(self._tracker.threads), self._tracker.exited()
        baseline = self._initial_threads is None and live > 0
        if baseline:
            self._initial_threads = live
        # An exit without a record may be withdrawn in the next sample; the count never falls.
        born = live + exited.threads - (self._initial_threads or 0)
        self._threads_born = max(self._threads_born, born)
        key = (
            baseline
            or started_ns - self._key_ns >= KEY_FRAME_NS
            or self._key_bytes > KEY_FRAME_BYTES
        )
        if key:
            rows = self._tracker.all_rows()
            self._key_ns, self._key_bytes = started_ns, 0
        self.last_was_key, self.last_was_baseline = key, baseline
        if started_ns - self._slow_ns >= SLOW_GAUGES_NS:
            self._slow_ns = started_ns
            self._rss = rss_bytes(self._procfs, self.pid)
            self._accounting = None if self._delays is None else self._delays.state()
        cpu_ns, self._cpu_ns = self._cpu_ns, None
        roles = None
        if key or started_ns - self._roles_ns >= ROLES_NS:
            roles, self._roles_ns = self._tracker.roles(), started_ns
        body = self._encoder.encode(rows)
        now = time.monotonic_ns()
        events, self._pending = [*self._pending, *events], []
        header = FrameHeader(
            target=self.target.id,
            seq=self.seq,
            first_seq=self.seq,
            kind="key" if key else "delta",
            baseline=baseline,
            rows=len(rows.tid),
            time_ns=max(0, started_ns - self.attach_ns),
            unix_us=time.time_ns() // 1000 - (now - started_ns) // 1000,
            live_threads=live,
            threads_born=self._threads_born,
            events=events,
            process=ProcessGauges(
                gomaxprocs=self._size,
                gomaxprocs_missed=None if self._gomaxprocs is None else self._gomaxprocs.missed,
                rss_bytes=self._rss,
                cpu_ns=cpu_ns,
                delay_accounting=self._accounting,
            ),
            machine=ABSENT if self.machine is None else self.machine.counters(),
            health=health((now - started_ns) // 1000, late // 1000, self.schedule.missed),
            exited=exited,
            roles=roles,
        )
        frame = join(header, body)
        self._key_bytes += len(frame)
        return frame
