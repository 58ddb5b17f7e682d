"""The sampling thread: waits for the next deadline, samples, hands frames over.

It alone touches targets and taskstats sockets; others talk to it through `submit`.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np
from tidscope_wire.generated.models import CollectorHealth, EnergySource, RateAdapted, Target

from tidscope_collector.energy.rapl import NOT_LOOKED_FOR
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.command_queue import CommandQueue
from tidscope_collector.sampling.exit_status import process_exit_code
from tidscope_collector.sampling.frame_bounds import divide_exits, most_threads
from tidscope_collector.sampling.health import HealthNow
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.readings import empty, join
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.sampling.target import NEVER_NS, TargetSampler
from tidscope_collector.sampling.usual_round import FrameRounds
from tidscope_collector.taskstats.exits import ExitListener
from tidscope_collector.threads.reading import Reading, TargetExitedError

log = logging.getLogger("tidscope.sampling")

DRAIN_NS = 100_000_000
"""Exit records are taken at least this often, so that the sockets do not fill."""
FILTERED_DRAIN_NS = 500_000_000
"""The same where only those of attached processes come; at two samples a second samples do it."""

HELD_EXITS = 200_000
"""Exit records of all targets that wait in memory, about 90 MB; more are folded into totals."""
LEDGERS_NS = 1_000_000_000
SWITCH_NS = 250
"""What a switch and a wake-up of a thread with a ledger take longer (benchmarks/waits.py)."""
WORK_NS = 20_000_000
"""A piece of a table is read where so much time is left before the next sample."""
PUT_OFF_NS = 1_000_000_000
"""For so long at most: then it is read all the same."""
STALLED_NS = 50_000_000
"""Between two looks whether the backend takes frames again."""
TABLES_SHARE = 0.5
"""Share of the CPU budget that reading the tables of all targets takes at most."""


class Flushed(NamedTuple):
    """A target whose frames up to one have everything up to an instant.

    Attributes:
        seq: number of that frame; 0: there is none.
        exited: threads that have exited since attach; None: the target has ended.
    """

    seq: int
    exited: int | None


Step = tuple[list[SampledFrame], bool]
"""Frames of a sample, and whether they are its last."""

FrameSink = Callable[[Target, SampledFrame], None]
"""Called with each frame, in the sampling thread."""


class Engine:
    """Runs the samplers of all targets in one thread.

    Args:
        sink: takes each frame.
        open_exits: makes the exit listener when the first target is attached; None without one.
        machine: reads counters of the machine; closed with the engine. None: without energy.
        budget: says what rates fit into the CPU that sampling may take; None: all do.
        watch: measures what it takes; None: without what sending takes.
        load: tells of frames on their way to the backend, for the health of frames.
        stalled: whether a connected backend takes so little that no more is to be made.
    """

    def __init__(
        self,
        sink: FrameSink,
        open_exits: Callable[[], ExitListener] | None,
        *,
        machine: MachineMeter | None = None,
        budget: Budget | None = None,
        watch: SelfWatch | None = None,
        load: Callable[[], Load] = Load,
        stalled: Callable[[], bool] = lambda: False,
    ) -> None:
        self._sink = sink
        self._open_exits = open_exits
        self._machine = machine or MachineMeter(ProcFs(), NOT_LOOKED_FOR)
        self._budget = budget or Budget(0)
        self._watch = watch or SelfWatch(sending=lambda: 0)
        self._load = load
        self._stalled = stalled
        self._commands = CommandQueue()
        self._targets: dict[str, TargetSampler] = {}
        self._ended: dict[str, int] = {}
        self._exits: ExitListener | None = None
        self._open: dict[str, Iterator[Step]] = {}
        self._held: dict[str, list[Reading]] = {}
        self._codes: dict[str, int] = {}
        self._lost_reported: dict[str, int] = {}
        self._health: dict[str, HealthNow] = {}
        self._switches: dict[str, int] = {}
        self._ledgers_due_ns = 0
        self._drain_due_ns = 0
        self._drain_trouble = ""
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)
        self._rounds: FrameRounds | None = None

    def start(self, rounds: FrameRounds | None = None) -> None:
        """Start the thread.

        Args:
            rounds: where compiled code sends frames of several samples; None: of one at a time.
        """
        self._rounds = rounds
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; exit listeners are deregistered."""
        self._commands.stop()
        self._thread.join()

    def submit(self, action: Callable[[], Any]) -> "Future[Any]":
        """Run something in the sampling thread; the future has its result.

        It is cancelled if the thread has ended or ends before it comes to it.
        """
        return self._commands.submit(action)

    @property
    def energy(self) -> EnergySource:
        """Where the machine's energy is read."""
        return self._machine.source

    def add(self, sampler: TargetSampler) -> None:
        """Begin sampling; call through `submit`."""
        if self._exits is None and self._open_exits is not None:
            self._exits = self._open_exits()
        self._keep_exits({*self._targets.values(), sampler})
        # Who ended before is no thread of this attachment.
        self._drain()
        self._targets[sampler.target.id] = sampler
        self._lost_reported[sampler.target.id] = self._exits.lost if self._exits else 0
        self._health[sampler.target.id] = HealthNow(
            lambda: self._health_of(sampler), lambda: self._health_marks(sampler)
        )
        sampler.machine = self._machine.watch(sampler.attach_ns)
        sampler.prepare_usual(self._exits)
        self._budget.request(sampler.target.id, sampler.target.rate_hz)
        self._share_tables()
        now = time.monotonic_ns()
        if len(self._targets) == 1:
            self._watch.restart(now)
        sampler.schedule.due_ns = now

    def find(self, target: str) -> TargetSampler | None:
        """The sampler of a target that is being sampled; call through `submit`."""
        return self._targets.get(target)

    def ask_rate(self, target: str, rate_hz: float) -> Target | None:
        """Sample at another rate, as long as it fits into the budget; call through `submit`.

        Returns:
            The target as it is now; None if it is not being sampled.
        """
        sampler = self._targets.get(target)
        if sampler is None:
            return None
        if rate_hz != sampler.target.rate_hz:
            self._budget.request(target, rate_hz)
            sampler.change_rate(rate_hz, time.monotonic_ns())
        return sampler.target

    def flush(self, target: str) -> Flushed | None:
        """Emit everything of a target up to now; call through `submit`.

        Returns:
            Which frame has it; None if the target is unknown, or was forgotten.
        """
        sampler = self._targets.get(target)
        if sampler is not None:
            self._emit_whole(sampler)
        if target in self._targets and sampler is not None:
            return Flushed(sampler.seq, sampler.threads_exited)
        last = self._ended.get(target)
        return None if last is None else Flushed(last, None)

    def forget(self, target: str) -> None:
        """Drop what is known of an ended target; may be called from any thread."""
        self._ended.pop(target, None)

    def detach(self, target: str) -> Target | None:
        """Stop sampling a target; call through `submit`."""
        sampler = self._targets.get(target)
        if sampler is None:
            return None
        self._emit_whole(sampler)
        if target in self._targets:
            self._drain()
            self._emit_all(sampler, self._final_frames(sampler, exited=False))
        return sampler.target

    def _run(self) -> None:
        while True:
            if not self._stalled():
                self._take_round()
            try:
                command = self._commands.get(self._pause_s(self._stalled()))
            except queue.Empty:
                pass
            else:
                if command is None:
                    break
                command.run()
                continue
            stalled = self._stalled()
            for target, sampler in list(self._targets.items()):
                self._drain_if_due()
                if target not in self._open and sampler.schedule.due_ns <= time.monotonic_ns():
                    if stalled:
                        sampler.schedule.skip(time.monotonic_ns())
                    elif not self._usual(sampler):
                        self._step(sampler, self._frames(sampler))
            self._drain_if_due()
            if self._open and not stalled:
                # One step, of each in turn: commands do not wait for more.
                target = next(iter(self._open))
                self._step(self._targets[target], self._open.pop(target))
            if not stalled:
                self._work()
            if self._targets:
                self._account(time.monotonic_ns())
        self._end()
        self._commands.end()

    def _pause_s(self, stalled: bool) -> float | None:
        """How long there is nothing to do but commands; None: for ever."""
        now = time.monotonic_ns()
        due = [sampler.schedule.due_ns for sampler in self._targets.values()]
        if not stalled:
            due.append(self._work_due_ns(now))
        if self._exits is not None:
            due.append(self._drain_due_ns)
        if self._open:
            due.append(now + STALLED_NS if stalled else now)
        return max(0.0, (min(due) - now) / 1e9) if due else None

    def _work_due_ns(self, now_ns: int) -> int:
        """CLOCK_MONOTONIC from which a piece of a table can be read between samples."""
        due_ns = min((one.work_due_ns for one in self._targets.values()), default=NEVER_NS)
        if not self._targets or due_ns < now_ns - PUT_OFF_NS:
            return due_ns
        first = min(self._targets.values(), key=lambda one: one.schedule.due_ns).schedule
        latest_ns = first.due_ns - min(WORK_NS, first.period_ns // 2)
        return due_ns if max(due_ns, now_ns) < latest_ns else first.due_ns

    def _work(self) -> None:
        """Read a piece of a table, if one is due and samples leave time for it."""
        now_ns = time.monotonic_ns()
        if self._work_due_ns(now_ns) > now_ns:
            return
        sampler = min(self._targets.values(), key=lambda one: one.work_due_ns)
        if sampler.work_due_ns > now_ns:
            return
        cpu_ns = self._watch.sampling()
        sampler.work()
        self._watch.note(sampler.target.id, self._watch.sampling() - cpu_ns, 0)

    def _end(self) -> None:
        """Sampling is over: what the kernel has goes out with a last sample."""
        for sampler in list(self._targets.values()):
            self._emit_whole(sampler)
            sampler.close()
        if self._exits is not None:
            self._exits.close()
        self._machine.close()

    def _account(self, now_ns: int) -> None:
        """See the recent overhead, and lower or raise rates if that is due."""
        self._note_ledgers(now_ns)
        spent = self._watch.account(now_ns)
        if spent is None:
            return
        load = self._load()
        changes = self._budget.account(spent, backlog=load.backlog)
        for target, rate_hz in changes.items():
            sampler = self._targets[target]
            event = RateAdapted(
                rate_hz=rate_hz,
                previous_hz=sampler.schedule.rate_hz,
                requested_hz=sampler.target.rate_hz,
                overhead_percent=round(self._watch.overhead_percent or 0, 2),
                budget_percent=self._budget.percent,
                undelivered_bytes=load.undelivered_bytes if load.backlog else None,
            )
            sampler.adapt_rate(event, now_ns)

    def _note_ledgers(self, now_ns: int) -> None:
        """About once a second: what keeping ledgers took, by the switches of their threads."""
        if now_ns < self._ledgers_due_ns:
            return
        self._ledgers_due_ns = now_ns + LEDGERS_NS
        for target, sampler in self._targets.items():
            switches = sampler.ledger_switches()
            grown = switches - self._switches.get(target, switches)
            self._switches[target] = switches
            self._watch.note_kernel(max(0, grown) * SWITCH_NS)

    def _step(self, sampler: TargetSampler, steps: Iterator[Step]) -> None:
        """Make the next frame of a sample: most have one. Others do not wait for all of them."""
        target = sampler.target.id
        cpu_ns = self._watch.sampling()
        frames, last = next(steps)
        for frame in frames:
            self._sink(sampler.target, frame)
        if not last:
            self._open[target] = steps
        if target in self._targets:
            cpu_ns = self._watch.sampling() - cpu_ns
            self._watch.note(target, cpu_ns, sum(len(frame.data) for frame in frames))
            sampler.note_cost(cpu_ns)

    def _take_round(self) -> None:
        """Wait for ticks and take them, as long as compiled code can.

        They are those of the target that is due first, up to the moment at which another one is.
        """
        filtered = self._exits is None or self._exits.filters
        if self._rounds is None or self._open or not filtered or not self._targets:
            return
        first, *others = sorted(self._targets.values(), key=lambda one: one.schedule.due_ns)
        target = first.target.id
        if first.schedule.period_ns > FILTERED_DRAIN_NS or target in self._held:
            return
        if not self._commands.is_empty():
            return
        until_ns = min(one.work_due_ns for one in self._targets.values())
        until_ns = min((until_ns, *(one.schedule.due_ns for one in others)))
        if until_ns <= first.schedule.due_ns:
            return
        cpu_ns = self._watch.sampling()
        made = first.usual_round(self._rounds, self._commands.wake, until_ns)
        if made:
            if not first.exits_wait:
                self._drain_due_ns = made[-1].started_ns + self._drain_ns()
            self._watch.note(target, self._watch.sampling() - cpu_ns, sum(one.size for one in made))

    def _usual(self, sampler: TargetSampler) -> bool:
        """Take a sample in which nothing is taken in but counters; false: it is still due."""
        target, started_ns = sampler.target.id, time.monotonic_ns()
        late_ns = started_ns - sampler.schedule.due_ns
        if late_ns >= sampler.schedule.period_ns:
            return False
        cpu_ns = self._watch.sampling()
        filtered = self._exits is not None and self._exits.filters
        drain = None if filtered else lambda: self._drained(target)
        frame = sampler.usual(started_ns, late_ns, drain, held=target in self._held)
        if frame is None:
            return False
        if not sampler.exits_wait:
            self._drain_due_ns = started_ns + self._drain_ns()
        sampler.schedule.advance(started_ns)
        self._sink(sampler.target, frame)
        self._watch.note(target, self._watch.sampling() - cpu_ns, len(frame.data))
        return True

    def _drained(self, target: str) -> bool:
        """Take exit records in; whether any of a target wait now."""
        self._drain()
        return target in self._held

    def _complete(self, target: str) -> None:
        """Make all frames of a sample that has begun."""
        sampler = self._targets[target]
        self._emit_all(sampler, self._open.pop(target, iter(())))

    def _emit_whole(self, sampler: TargetSampler) -> None:
        """Make the frames of a full sample with all tables; its target may end with it."""
        target = sampler.target.id
        self._complete(target)
        if target in self._targets:
            self._emit_all(sampler, self._frames(sampler, last=True))

    def _emit_all(self, sampler: TargetSampler, steps: Iterator[Step]) -> None:
        for frames, _ in steps:
            for frame in frames:
                self._sink(sampler.target, frame)

    def _share_tables(self) -> None:
        """Divide what reading tables may take among the targets."""
        percent = self._budget.percent
        for sampler in self._targets.values():
            share = TABLES_SHARE * percent / 100 / len(self._targets) if percent else 1.0
            sampler.tables_share = share

    def _frames(self, sampler: TargetSampler, *, last: bool = False) -> Iterator[Step]:
        """Take a sample: its frames, the one with the rows as the last.

        Args:
            sampler: of the target.
            last: read all tables and roles: no later frame may be counted on.
        """
        started = time.monotonic_ns()
        lateness = sampler.schedule.advance(started)
        health = self._health[sampler.target.id]
        parts: list[Reading] = []
        try:
            reading, end = sampler.read(last=last)
            most = most_threads(len(sampler.reader.fields))
            if len(reading.tid) > most:
                raise OSError(f"{len(reading.tid)} threads; a frame holds {most}")
            # Drained after the listing: a thread that is not listed any more has its record here.
            self._drain()
            parts = divide_exits(self._exits_of(sampler))
            if not sampler.seq:  # The first frame is a key frame: none comes before it.
                while len(parts) > 1:
                    sampler.fold(parts.pop(0), end)
            while len(parts) > 1:
                frame = sampler.exits(parts.pop(0), end, health=health, started_ns=started)
                yield [frame], False
            frames = sampler.frame(
                reading,
                end,
                parts.pop(),
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=health,
                started_ns=started,
                last=last,
            )
        except TargetExitedError:
            self._drain()
            yield from self._final_frames(sampler, exited=True)
            return
        except Exception as error:  # whatever it is, other targets are still to be sampled
            if not isinstance(error, OSError):
                log.exception("a sample of %s failed", sampler.target.id)
            if parts:
                self._held.setdefault(sampler.target.id, [])[:0] = parts
            frames = sampler.failure(
                error,
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=health,
                started_ns=started,
                last=last,
            )
        yield frames, True

    def _final_frames(self, sampler: TargetSampler, *, exited: bool) -> Iterator[Step]:
        """The last frames of a target, which is sampled no more."""
        health = self._health[sampler.target.id]
        parts = divide_exits(self._exits_of(sampler))
        for part in parts[:-1]:
            now = time.monotonic_ns()
            yield [sampler.exits(part, None, health=health, started_ns=now)], False
        frames = sampler.final(
            parts[-1],
            exited=exited,
            exit_code=self._codes.pop(sampler.target.id, None),
            lost=self._lost_untold(sampler),
            health=health,
        )
        self._budget.remove(sampler.target.id)
        target = sampler.target.id
        self._ended[target] = sampler.seq
        del self._targets[target], self._lost_reported[target], self._health[target]
        self._switches.pop(target, None)
        self._share_tables()
        self._keep_exits(self._targets.values())
        sampler.close()
        yield frames, True

    def _lost_untold(self, sampler: TargetSampler) -> int:
        """Exit records lost since this target was reported last; whose they were is not known."""
        if self._exits is None:
            return 0
        reported = self._lost_reported[sampler.target.id]
        self._lost_reported[sampler.target.id] = self._exits.lost
        return self._exits.lost - reported

    def _keep_exits(self, samplers: Iterable[TargetSampler]) -> None:
        """Exit records of these targets are wanted, and no others."""
        if self._exits is None:
            return
        wanted: set[int] | None = set()
        for sampler in samplers:
            processes = sampler.exits_of
            wanted = None if wanted is None or processes is None else wanted | processes
        try:
            self._exits.keep_only(wanted)
        except OSError as error:  # then all come, as before
            log.warning("exit records of all processes are received: %s", error)

    def _drain_if_due(self) -> None:
        """Called between any two steps: the sockets must not fill meanwhile."""
        if self._exits is not None and time.monotonic_ns() >= self._drain_due_ns:
            self._drain()

    def _drain_ns(self) -> int:
        filtered = self._exits is not None and self._exits.filters
        return FILTERED_DRAIN_NS if filtered else DRAIN_NS

    def _drain(self) -> None:
        if self._exits is None:
            return
        # At ten samples a second and more, samples do it, and nobody wakes up for it in between.
        self._drain_due_ns = time.monotonic_ns() + self._drain_ns()
        try:
            exits = self._exits.drain()
        except Exception as error:  # the next drain may go well, and samples do in any case
            if repr(error) != self._drain_trouble:
                self._drain_trouble = repr(error)
                log.exception("exit records could not be received")
            return
        if not len(exits.words):
            return
        for target, sampler in self._targets.items():
            decoder = sampler.reader.exits
            if decoder is not None:
                began_ns = sampler.began_ns
                own = exits
                if began_ns is not None:
                    own = self._exits.of_process(exits, sampler.pid, began_ns)
                # All at one moment, somewhat later than their ends: starts are upper bounds.
                at = np.full(len(own.words), own.before_ns, np.int64)
                reading = decoder.decode(own.words, at)
                if len(reading.tid):
                    self._held.setdefault(target, []).append(reading)
                    code = process_exit_code(
                        self._exits, own, sampler.pid, foreign_exits=sampler.foreign_exits
                    )
                    if code is not None:
                        self._codes[target] = code
        self._fold_excess()

    def _exits_of(self, sampler: TargetSampler) -> Reading:
        held = self._held.pop(sampler.target.id, None)
        return join(held) if held else empty(len(sampler.reader.fields))

    def _fold_excess(self) -> None:
        """Keep what waits within its bound: the oldest exits of whoever has the most are folded."""
        waiting = {name: sum(len(one.tid) for one in held) for name, held in self._held.items()}
        while sum(waiting.values()) > HELD_EXITS:
            target = max(waiting, key=lambda name: waiting[name])
            # Those that are on their way into frames come before.
            self._complete(target)
            if target not in self._held:  # it has ended, and all its exits went out
                del waiting[target]
                continue
            oldest = self._held[target].pop(0)
            waiting[target] -= len(oldest.tid)
            self._targets[target].fold(oldest, time.monotonic_ns())

    def _health_marks(self, sampler: TargetSampler) -> Hashable:
        return (
            sampler.schedule.missed,
            sampler.schedule.rate_hz,
            sampler.target.rate_hz,
            sampler.exits_without_event,
            sampler.reader.disagreement,
            self._exits.lost if self._exits else 0,
            self._watch.cpu_percent,
            self._budget.slowed_by_backlog,
        )

    def _health_of(self, sampler: TargetSampler) -> CollectorHealth:
        exits, load, watch = self._exits, self._load(), self._watch
        return CollectorHealth(
            sample_us=0,
            sample_mean_us=sampler.times.mean_us,
            sample_max_us=sampler.times.max_us,
            late_us=0,
            missed_deadlines=sampler.schedule.missed,
            effective_hz=sampler.schedule.rate_hz,
            requested_hz=sampler.target.rate_hz,
            exit_records_received=exits.received if exits else 0,
            exit_records_lost=exits.lost if exits else 0,
            cpu_percent=watch.cpu_percent,
            overhead_percent=watch.overhead_percent,
            budget_percent=self._budget.percent,
            replay_bytes=load.replay_bytes,
            replay_frames=load.replay_frames,
            unsent_frames=load.unsent_frames,
            sent_frames=load.sent_frames,
            sent_bytes=load.sent_bytes,
            slowed_by_backlog=self._budget.slowed_by_backlog,
            undelivered_bytes=load.undelivered_bytes,
            exits_without_event=sampler.exits_without_event,
            network_calls_uncounted=load.network_calls_uncounted,
            ledger_threads_uncounted=load.ledger_threads_uncounted,
            frames_dropped=load.dropped.get(sampler.target.id, 0),
            counters_disagreement=sampler.reader.disagreement,
            locks_reason=sampler.locks_reason,
        )
