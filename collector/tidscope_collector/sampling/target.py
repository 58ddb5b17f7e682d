"""One target: its threads listed, read and tracked, its program watched, its frames made."""

import os
import select
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack

from tidscope_wire.frame import Rows
from tidscope_wire.generated.models import (
    CountersSourceChanged,
    DeadlinesMissed,
    ExitRecordsLost,
    GroupCounts,
    MachineCounters,
    Process,
    ProgramExecuted,
    RateAdapted,
    RateChanged,
    SampleFailed,
    SteeredProgram,
    Steering,
    Target,
    TargetDetached,
    TargetEvent,
    TargetExited,
    ThreadBorn,
    ThreadExited,
    ThreadRenamed,
)
from tidscope_wire.role import RoleRule
from tidscope_wire.states import STATE

from tidscope_collector.compiled.library import Compiled
from tidscope_collector.compiled.rows import steady_source
from tidscope_collector.inspection.conversation import open_program
from tidscope_collector.inspection.gomaxprocs import GomaxprocsReader, GoProgram
from tidscope_collector.naming.thread_names import ThreadNames
from tidscope_collector.procfs.delay_accounting import DelayAccounting
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import parse_stat
from tidscope_collector.sampling.frame_maker import FrameMaker
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.machine import ABSENT, MachineWatch
from tidscope_collector.sampling.news import News
from tidscope_collector.sampling.presence import Presence, presence
from tidscope_collector.sampling.process_meter import ProcessMeter
from tidscope_collector.sampling.program import ProgramWatch
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.schedule import Schedule
from tidscope_collector.sampling.selfwatch import SampleTimes
from tidscope_collector.sampling.table_changes import TableChanges, TableSource
from tidscope_collector.sampling.tracker import Tracker
from tidscope_collector.sampling.usual_round import FrameRounds, RoundTimes, Tick
from tidscope_collector.sampling.usual_tick import SELDOM_NS, USUAL_NS, UsualTick
from tidscope_collector.taskstats.exits import ExitListener
from tidscope_collector.threads.reading import Reading, TargetExitedError, TargetReader

DESCRIBE_NS = 1_000_000_000
PYTHONS_SHARE = 0.0005
"""Of a core: where ticks that Python takes once a second take more, they are up to three apart."""
WORK_AHEAD_NS = 90_000_000
"""Tables are read so long before the sample that carries them, where samples are so far apart."""
NEVER_NS = 2**63
READ_EVERY = 4
"""Of so many samples of such ticks the reader takes one, which decides how it reads."""
_SWITCHES = ("voluntary_switches", "involuntary_switches")
FIRST_WITH_TGID = 12
"""From this version on struct taskstats says of which process a thread is."""


class TargetSampler:
    """Samples one process; belongs to the sampling thread.

    Args:
        target: description, as attached; `state` and `rate_hz` are kept up to date in it. The rate
            in effect is the schedule's.
        reader: where readings come from; closed with the sampler.
        gomaxprocs: reads GOMAXPROCS, or None; closed with the sampler.
        attach_ns: CLOCK_MONOTONIC of the attachment.
        delays: the switch of delay accounting, whose state is reported.
        tables: that frames carry; None: none. Closed with the sampler.
        compiled: takes ticks in which nothing is taken in but counters that grow; None: Python.
        names: that its threads have in their program; None: the kernel's alone. Closed with the
            sampler.

    Attributes:
        machine: the machine's counters since attach; None: they are reported as absent.
        times: how long samples took.
        on_change: called when the process runs another program, or has another name; with whether
            it executed one. What it finds out comes back by `describe_again`.
        exits_without_event: threads that exited and are in the totals only.

    Raises:
        TargetExitedError: the process has ended; another one may have its id.
    """

    def __init__(
        self,
        target: Target,
        reader: TargetReader,
        gomaxprocs: GomaxprocsReader | None,
        attach_ns: int,
        procfs: ProcFs,
        delays: DelayAccounting | None = None,
        tables: TableSource | None = None,
        compiled: Compiled | None = None,
        names: ThreadNames | None = None,
    ) -> None:
        self.target = target
        self._names = names
        self.pid = target.process.pid
        self.schedule = Schedule(target.rate_hz, attach_ns)
        self.reader = reader
        self.attach_ns = attach_ns
        self.machine: MachineWatch | None = None
        self.times = SampleTimes()
        self.exits_without_event = 0
        version = target.source.taskstats_version
        self.foreign_exits = version is not None and version < FIRST_WITH_TGID
        self._tracker = self._make_tracker()
        self._process = self._make_meter(procfs, delays, gomaxprocs)
        self._tables = None if tables is None else TableChanges(tables, attach_ns)
        self._frames = FrameMaker(
            target.id,
            self._tracker,
            self._process,
            self._machine_counters,
            self.times,
            self._tables,
            self._group_counts if target.group is not None else None,
        )
        self._table_source = tables
        self._pending: list[TargetEvent] = []
        self.on_change: Callable[[bool], object] = lambda _: None
        self._stale = self._executed = False
        self._described_ns = -DESCRIBE_NS
        with ExitStack() as opened:
            opened.callback(reader.close)
            if tables is not None:
                opened.callback(tables.close)
            if names is not None:
                opened.callback(names.close)
            opened.callback(self._process.close_gomaxprocs)
            try:
                self._open(opened, procfs)
            except (ProcessLookupError, FileNotFoundError) as error:
                raise TargetExitedError(str(error)) from error
            self._opened = opened.pop_all()
        self._compiled = compiled
        self._usual: UsualTick | None = None
        self._news = News()
        self._every_ns = USUAL_NS
        self._compiled_samples = 0

    def _make_tracker(self) -> Tracker:
        return Tracker(
            self.reader.fields,
            self.attach_ns,
            self.pid,
            foreign_exits=self.foreign_exits,
            role_rules=self._role_rules(),
        )

    def _role_rules(self) -> list[RoleRule]:
        return [RoleRule(one.pattern, one.role) for one in self.target.role_rules or ()]

    def _make_meter(
        self, procfs: ProcFs, delays: DelayAccounting | None, gomaxprocs: GomaxprocsReader | None
    ) -> ProcessMeter:
        return ProcessMeter(self.pid, procfs, delays, gomaxprocs, self.target.gomaxprocs)

    def _group_counts(self) -> GroupCounts:
        raise NotImplementedError("of one process there is no group")

    def _open(self, opened: ExitStack, procfs: ProcFs) -> None:
        """Open what tells whether the process lives, and what it runs.

        Args:
            opened: closes it.
            procfs: root of /proc.
        """
        self._pidfd = os.pidfd_open(self.pid)
        opened.callback(os.close, self._pidfd)
        self._tasks = os.open(
            procfs.path(f"{self.pid}/task"), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
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
        self._alive = select.poll()
        self._alive.register(self._pidfd, select.POLLIN)

    @property
    def seq(self) -> int:
        """Number of the last frame; 0: there is none yet."""
        return self._frames.seq

    @property
    def began_ns(self) -> int | None:
        """CLOCK_MONOTONIC of the process's start; None for a group, or once its main thread ended.

        The start in clock ticks is no substitute: it counts time in which the machine slept.
        """
        main = self._tracker.threads.get(self.pid)
        if main is None or self.target.group is not None:
            return None
        return self.attach_ns + main.start_ns

    @property
    def threads_exited(self) -> int:
        """Threads that have exited since attach, as far as they were taken in."""
        return self._tracker.exited().threads

    @property
    def locks_reason(self) -> str | None:
        """Why its locks cannot be read or named; None if they can, or there are none."""
        return None if self._table_source is None else self._table_source.locks_reason or None

    @property
    def exits_of(self) -> frozenset[int] | None:
        """Processes whose exit records it takes; None: they may be any."""
        return None if self.foreign_exits else frozenset({self.pid})

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

    def describe_again(
        self, process: Process, program: GoProgram | None, gomaxprocs: int | None
    ) -> None:
        """Take in what was found out about the program that the process runs now.

        Args:
            process: its description.
            program: what it is with regard to Go; None: it is still the same. Its reader is closed
                with the sampler.
            gomaxprocs: of that program; None if unknown.
        """
        self.target = self.target.model_copy(update={"process": process})
        if program is not None:
            if self._usual is not None:  # it may ask on the connection that is closed now
                self._usual.disarm()
            self._process.replace_gomaxprocs(program.reader)
            self.target = self.target.model_copy(
                update={"gomaxprocs": gomaxprocs, "gomaxprocs_reason": program.reason}
            )

    def change_rate(self, rate_hz: float, now_ns: int) -> None:
        """Sample at another rate from now on, as someone asked for."""
        requested_hz = self.target.rate_hz
        if rate_hz == requested_hz:
            return
        self._pending.append(RateChanged(rate_hz=rate_hz, previous_hz=requested_hz))
        self.schedule.change_rate(rate_hz, now_ns)
        self.target = self.target.model_copy(update={"rate_hz": rate_hz})
        self.reader.expect_rate(rate_hz)

    def steered(self, steering: Steering | None, event: TargetEvent) -> None:
        """A policy did something to it, or does no more."""
        self._pending.append(event)
        self.target = self.target.model_copy(update={"steering": steering})

    def programs_steered(self, programs: list[SteeredProgram], event: TargetEvent) -> None:
        """A policy did something to a program of a group, or does no more."""
        self._pending.append(event)
        self.target = self.target.model_copy(update={"programs": programs or None})

    def programs_join(self, joins: bool) -> None:
        """Whether new programs of the group are steered, too."""
        self.target = self.target.model_copy(update={"programs_join": joins})

    def total(self, fields: Sequence[str]) -> int:
        """Sum of some fields over all its threads as last sampled, the ended ones included."""
        return self._tracker.total(fields)

    def ledger_switches(self) -> int:
        """Switches of its threads since each one's start, if they have ledgers; otherwise 0."""
        fields = self.reader.fields
        return self.total(_SWITCHES) if {STATE, *_SWITCHES} <= set(fields) else 0

    def adapt_rate(self, event: RateAdapted, now_ns: int) -> None:
        """Sample at another rate than the one asked for, which is kept."""
        self._pending.append(event)
        self.schedule.change_rate(event.rate_hz, now_ns)

    @property
    def tables_share(self) -> float:
        """Maximum share of a core for reading the tables of this target."""
        return 0.0 if self._tables is None else self._tables.share

    @tables_share.setter
    def tables_share(self, share: float) -> None:
        if self._tables is not None:
            self._tables.share = share

    def read(self, *, last: bool = False) -> tuple[Reading, int]:
        """Read all threads.

        Args:
            last: nothing may follow: CPU time of the process is read, due or not.

        Returns:
            The reading, and CLOCK_MONOTONIC after it.

        Raises:
            TargetExitedError: the process has ended.
            OSError: the kernel answered nonsense.
        """
        self._check_alive()
        self._process.request_gomaxprocs()
        before, seen = self.reader.source, self._frames.counters_from is not None
        reading = self._read_rows()
        source = self._frames.counters_from = self.reader.source
        if seen and source != before:
            self._pending.append(
                CountersSourceChanged(
                    source=source,
                    previous=before,
                    reason=self.reader.reason,
                    disagreed=self.reader.disagreement is not None,
                )
            )
        now_ns = time.monotonic_ns()
        self._process.read_cpu(now_ns, due=self._is_cpu_due(last=last))
        return reading, now_ns

    def _check_alive(self) -> None:
        if self._alive.poll(0):
            raise TargetExitedError(f"process {self.pid} has ended")

    def _is_cpu_due(self, *, last: bool) -> bool:
        """Whether CPU time of the process is read now, whenever it was read before."""
        return last

    def _look(self, tid: int) -> Presence:
        return presence(self._tasks, tid)

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
        last: bool = False,
    ) -> list[SampledFrame]:
        """Make the frames of a sample that was taken, or the last of them.

        Args:
            reading: the live threads.
            end_ns: CLOCK_MONOTONIC after it.
            exits: records drained after it that `exits` has not got.
            lateness: of the sample, and how many deadlines it missed.
            lost: exit records.
            health: makes the health part.
            started_ns: CLOCK_MONOTONIC before it.
            last: read all tables and roles with it.
        """
        late, missed = lateness
        events, rows = self._tracker.update(
            reading, end_ns, exits, listed=self.reader.listed, look=self._look
        )
        self._note(missed, lost)
        self._watch_program(started_ns)
        self._name_threads(events, started_ns)
        self._news.taken_in(started_ns, len(events))
        resized = self._process.collect_gomaxprocs()
        if resized is not None:
            self._pending.append(resized)
        frames = self._sample(events, rows, started_ns, late, health, last=last)
        if self._usual is not None:
            self._arm(self._usual, started_ns, health)
        return frames

    def _name_threads(self, events: list[TargetEvent], started_ns: int) -> None:
        """Take names in that came, and ask for those of threads that have the kernel's."""
        if self._names is None:
            return
        if any(isinstance(one, ThreadBorn | ThreadRenamed) for one in events):
            self._names.request()
        # A thread may have ended since it was named, or not be seen yet: then it is asked again.
        events += self._tracker.rename(self._names.take())
        if started_ns - self._described_ns >= DESCRIBE_NS and self._names.description != (
            self.target.thread_names
        ):
            self._described_ns = started_ns
            self.target = self.target.model_copy(update={"thread_names": self._names.description})

    def prepare_usual(self, exits: ExitListener | None) -> None:
        """Let compiled code take ticks in which nothing is taken in but counters that grow.

        Args:
            exits: where exit records come from; None: there are none.
        """
        source = steady_source(self.reader)
        if self._compiled is not None and source is not None:
            self._usual = UsualTick(
                self._compiled,
                source,
                len(self.reader.fields),
                self._pidfd,
                self.attach_ns,
                None if exits is None else exits.descriptor,
            )

    def usual(
        self,
        started_ns: int,
        late_ns: int,
        drain: Callable[[], bool] | None,
        *,
        held: bool,
    ) -> SampledFrame | None:
        """Take a sample in which nothing is taken in but counters that grow, and make its frame.

        Args:
            started_ns: CLOCK_MONOTONIC.
            late_ns: how late it is.
            drain: takes exit records in; whether any were the target's. None: all that come are.
            held: whether some of the target's are to be taken in.

        Returns:
            None if it is to be taken by `read` and `frame`.
        """
        tick, waits = self._usual, self._news.waits(started_ns)
        if tick is not None and held:
            tick.note_news()
        if (
            tick is None
            or not tick.is_armed(started_ns, waits=waits)
            or self._pending
            or self._frames.is_key_due(started_ns)
        ):
            return None
        made = tick.take(self.seq + 1, started_ns, late_ns // 1000, drain, waits=waits)
        self._process.asked(tick.waits_for_answer)
        if made is None:
            tick.disarm()
            return None
        if not tick.found_births:  # one of them may have the id of a thread that ended
            self._tracker.note_unchanged()
        return self._frames.usual(made, started_ns)

    def usual_round(self, rounds: FrameRounds, wake: int, until_ns: int) -> list[Tick]:
        """Take usual samples one after the other, and send their frames, until Python is wanted.

        Args:
            rounds: where frames are sent.
            wake: a descriptor that is readable when Python is wanted.
            until_ns: CLOCK_MONOTONIC from which it is in any case.

        Returns:
            The samples.
        """
        tick, schedule = self._usual, self.schedule
        if (
            tick is None
            or not tick.is_armed(schedule.due_ns, waits=True)
            or self._pending
            or self._frames.is_key_due(schedule.due_ns)
        ):
            return []
        until_ns = min(until_ns, self._frames.key_due_ns)
        when = RoundTimes(schedule.due_ns, schedule.period_ns, until_ns, self._news.due_ns)
        made = tick.take_round(rounds, self.target, self.seq, when, wake)
        self._process.asked(tick.waits_for_answer)
        for one in made:
            schedule.advance(one.started_ns)
            self._frames.count_usual(one.size, one.sample_us, one.started_ns)
            if not tick.has_news:
                self._tracker.note_unchanged()
        return made

    @property
    def work_due_ns(self) -> int:
        """CLOCK_MONOTONIC from which tables are read, between two samples; far off: not at all."""
        tables, schedule = self._tables, self.schedule
        if tables is None or tables.are_ready:
            return NEVER_NS
        if tables.is_under_way:
            return tables.due_ns
        if tables.are_light:  # read with a sample
            return NEVER_NS
        # So that the first sample from which on they are due carries them.
        periods = max(0, -((schedule.due_ns - tables.due_ns) // schedule.period_ns))
        ahead_ns = min(schedule.period_ns * 9 // 10, WORK_AHEAD_NS)
        return schedule.due_ns + periods * schedule.period_ns - ahead_ns

    def work(self) -> None:
        """Read a piece of the tables; the next sample carries them if that was the last one."""
        if self._tables is None:
            return
        self._tables.work()
        if self._tables.are_ready and self._usual is not None:
            self._usual.disarm()

    def _read_rows(self) -> Reading:
        """Read all threads, most times by compiled code."""
        self._compiled_samples += 1
        if self._usual is not None and self._compiled_samples % READ_EVERY:
            reading = self._usual.sample()
            if reading is not None:
                return reading
        return self.reader.read()

    def note_cost(self, cpu_ns: int) -> None:
        """A tick by Python took so much CPU: it is taken more seldom where that is much."""
        self._news.note_cost(cpu_ns)
        self._every_ns = min(max(USUAL_NS, int(cpu_ns / PYTHONS_SHARE)), SELDOM_NS)

    @property
    def has_news(self) -> bool:
        """Whether births, ends or names wait to be taken in."""
        return self._usual is not None and self._usual.has_news

    @property
    def exits_wait(self) -> bool:
        """Whether exit records were there in the last usual sample, and were left there."""
        return self._usual is not None and self._usual.exits_wait

    def _arm(self, tick: UsualTick, started_ns: int, health: HealthNow) -> None:
        """After a sample: let the next ones be usual ones, if they can be."""
        question = self._process.question()
        asks = question is not None or not self._process.reads_gomaxprocs
        if not self._stale and asks and self._tracker.is_settled:
            header = self._frames.prepare(health.read(started_ns))
            until_ns = started_ns + self._every_ns
            tick.arm(header, until_ns, self._tasks, self._program.link(), question)
        else:
            tick.disarm()

    def exits(
        self, exits: Reading, end_ns: int | None, *, health: HealthNow, started_ns: int
    ) -> SampledFrame:
        """Make a frame of some of the exits that belong to a sample, before its own.

        Args:
            exits: some of the records that were drained after its reading.
            end_ns: CLOCK_MONOTONIC after the reading; None: sampling is over.
            health: makes the health part.
            started_ns: CLOCK_MONOTONIC before the sample: all its frames are of one instant.
        """
        events = self._tracker.take_exits(exits, end_ns)
        return self._frames.exits(events, started_ns, health)

    def fold(self, exits: Reading, end_ns: int) -> None:
        """Count exits in the totals without an event for each: too many wait.

        Threads that readers know still get theirs, with the next frame.
        """
        for event in self._tracker.take_exits(exits, end_ns):
            if isinstance(event, ThreadExited) and not event.seen_alive:
                self.exits_without_event += 1
            else:
                self._pending.append(event)

    def failure(
        self,
        error: Exception,
        *,
        lateness: tuple[int, int],
        lost: int,
        health: HealthNow,
        started_ns: int,
        last: bool = False,
    ) -> list[SampledFrame]:
        """Make the frame of a sample that failed; see `frame`."""
        late, missed = lateness
        self._note(missed, lost)
        if self._usual is not None:
            self._usual.disarm()
        self._pending.append(SampleFailed(reason=f"{type(error).__name__}: {error}"))
        return self._sample([], None, started_ns, late, health, last=last)

    def final(
        self,
        exits: Reading | None,
        *,
        exited: bool,
        exit_code: int | None,
        lost: int,
        health: HealthNow,
    ) -> list[SampledFrame]:
        """Make the last frames: the process has ended, or someone asked to stop.

        Before a stop there is a sample with all that is read at the end; see `frame`.
        """
        self._note(0, lost)
        state = "exited" if exited else "detached"
        ended = {"state": state, "steering": None, "programs": None, "programs_join": False}
        self.target = self.target.model_copy(update=ended)
        events = self._tracker.finish(exits, exited=exited)
        last: TargetEvent = TargetExited(exit_code=exit_code) if exited else TargetDetached()
        now = time.monotonic_ns()
        self._process.read_cpu(now, due=exited)
        return self._sample([*events, last], None, now, 0, health, last=exited)

    def _note(self, missed: int, lost: int) -> None:
        if missed:
            self._pending.append(DeadlinesMissed(count=missed))
        if lost:
            self._pending.append(ExitRecordsLost(count=lost))

    def _watch_program(self, now_ns: int) -> None:
        main = self._tracker.threads.get(self.pid)
        change = self._program.change(main.kernel_name if main else None, now_ns)
        if change is not None:
            self._stale = True
            if change.executed:
                self._executed = True
                if main is not None and main.comm:
                    self._pending += self._tracker.rename({self.pid: main.comm})
                self._process.close_gomaxprocs()
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

    def _sample(
        self,
        events: list[TargetEvent],
        rows: Rows | None,
        started_ns: int,
        late: int,
        health: HealthNow,
        *,
        last: bool = False,
    ) -> list[SampledFrame]:
        """Make the frames of one instant, with the events that were noted before those given."""
        events, self._pending = [*self._pending, *events], []
        return self._frames.sample(events, rows, started_ns, late, health, last=last)

    def _machine_counters(self) -> MachineCounters:
        return ABSENT if self.machine is None else self.machine.counters()
