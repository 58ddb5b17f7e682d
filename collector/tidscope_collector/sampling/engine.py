"""The sampling thread: waits for the next deadline, samples, hands frames over.

It alone touches targets and taskstats sockets; others talk to it through `submit`.
"""

import logging
import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from tidscope_wire.generated.models import CollectorHealth, EnergySource, RateAdapted, Target

from tidscope_collector.energy.zones import NOT_LOOKED_FOR
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.readings import join
from tidscope_collector.sampling.sampled_frame import SampledFrame
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.taskstats.exits import ExitListener, Exits
from tidscope_collector.threads.reading import ExitDecoder, Reading, TargetExitedError

log = logging.getLogger("tidscope.sampling")

DRAIN_NS = 100_000_000
"""Exit records are taken at least this often, so that the sockets do not fill."""

LAST_OF_PROCESS = 0x20
"""AGROUP of ac_flag (include/uapi/linux/acct.h), in taskstats from version 12 on."""

FrameSink = Callable[[Target, SampledFrame], None]
"""Called with each frame, in the sampling thread."""


@dataclass
class _Command:
    """Something to run in the sampling thread, for someone who waits."""

    action: Callable[[], Any]
    future: "Future[Any]" = field(default_factory=Future)

    def run(self) -> None:
        if not self.future.set_running_or_notify_cancel():
            return
        try:
            self.future.set_result(self.action())
        except Exception as error:  # goes to whoever asked
            self.future.set_exception(error)


class Engine:
    """Runs the samplers of all targets in one thread.

    Args:
        sink: takes each frame.
        open_exits: makes the exit listener when the first target is attached; None without one.
        machine: reads counters of the machine; closed with the engine. None: without energy.
        budget: says what rates fit into the CPU that sampling may take; None: all do.
        watch: measures what it takes; None: without what sending takes.
        load: tells of frames on their way to the backend, for the health of frames.
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
    ) -> None:
        self._sink = sink
        self._open_exits = open_exits
        self._machine = machine or MachineMeter(ProcFs(), NOT_LOOKED_FOR)
        self._budget = budget or Budget(0)
        self._watch = watch or SelfWatch(sending=lambda: 0)
        self._load = load
        self._commands: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._targets: dict[str, TargetSampler] = {}
        self._exits: ExitListener | None = None
        self._held: dict[str, list[Reading]] = {}
        self._codes: dict[str, int] = {}
        self._lost_reported: dict[str, int] = {}
        self._drain_due_ns = 0
        self._drain_trouble = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; exit listeners are deregistered."""
        self._commands.put(None)
        self._thread.join()

    def submit(self, action: Callable[[], Any]) -> "Future[Any]":
        """Run something in the sampling thread; the future has its result.

        It is cancelled if the thread has ended or ends before it comes to it.
        """
        command = _Command(action)
        self._commands.put(command)
        if self._ended.is_set():
            self._cancel_commands()
        return command.future

    @property
    def energy(self) -> EnergySource:
        """Where the machine's energy is read."""
        return self._machine.source

    def add(self, sampler: TargetSampler) -> None:
        """Begin sampling; call through `submit`."""
        if self._exits is None and self._open_exits is not None:
            self._exits = self._open_exits()
        # Who ended before is no thread of this attachment.
        self._drain()
        self._targets[sampler.target.id] = sampler
        self._lost_reported[sampler.target.id] = self._exits.lost if self._exits else 0
        sampler.machine = self._machine.watch(sampler.attach_ns)
        self._budget.request(sampler.target.id, sampler.target.rate_hz)
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

    def detach(self, target: str) -> Target | None:
        """Stop sampling a target; call through `submit`."""
        sampler = self._targets.get(target)
        if sampler is None:
            return None
        self._drain()
        self._finish(sampler, exited=False)
        return sampler.target

    def _run(self) -> None:
        while True:
            now = time.monotonic_ns()
            due = [sampler.schedule.due_ns for sampler in self._targets.values()]
            if self._exits is not None:
                due.append(self._drain_due_ns)
            try:
                timeout = max(0.0, (min(due) - now) / 1e9) if due else None
                command = self._commands.get(timeout=timeout)
            except queue.Empty:
                pass
            else:
                if command is None:
                    break
                command.run()
                continue
            now = time.monotonic_ns()
            if self._exits is not None and now >= self._drain_due_ns:
                self._drain()
            for sampler in list(self._targets.values()):
                if sampler.schedule.due_ns <= time.monotonic_ns():
                    self._sample(sampler)
            if self._targets:
                self._account(time.monotonic_ns())
        for sampler in self._targets.values():
            sampler.close()
        if self._exits is not None:
            self._exits.close()
        self._machine.close()
        self._ended.set()
        self._cancel_commands()

    def _cancel_commands(self) -> None:
        while True:
            try:
                command = self._commands.get_nowait()
            except queue.Empty:
                return
            if command is not None:
                command.future.cancel()

    def _account(self, now_ns: int) -> None:
        """See the recent overhead, and lower or raise rates if that is due."""
        spent = self._watch.account(now_ns)
        if spent is None:
            return
        for target, rate_hz in self._budget.account(spent).items():
            sampler = self._targets[target]
            event = RateAdapted(
                rate_hz=rate_hz,
                previous_hz=sampler.schedule.rate_hz,
                requested_hz=sampler.target.rate_hz,
                overhead_percent=round(self._watch.overhead_percent or 0, 2),
                budget_percent=self._budget.percent,
            )
            sampler.adapt_rate(event, now_ns)

    def _sample(self, sampler: TargetSampler) -> None:
        cpu_ns = self._watch.sampling()
        frame = self._sampled(sampler)
        if frame is not None:
            self._emit(sampler, frame)
            cpu_ns = self._watch.sampling() - cpu_ns
            self._watch.note(sampler.target.id, cpu_ns, len(frame))

    def _sampled(self, sampler: TargetSampler) -> bytes | None:
        """Take a sample; its frame, or None if the process has ended."""
        started = time.monotonic_ns()
        lateness = sampler.schedule.advance(started)
        health = partial(self._health, sampler)
        try:
            reading, end = sampler.read()
            # Drained after the listing: a thread that is not listed any more has its record here.
            self._drain()
            return sampler.frame(
                reading,
                end,
                self._exits_of(sampler),
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=health,
                started_ns=started,
            )
        except TargetExitedError:
            self._drain()
            self._finish(sampler, exited=True)
            return None
        except Exception as error:  # whatever it is, other targets are still to be sampled
            if not isinstance(error, OSError):
                log.exception("a sample of %s failed", sampler.target.id)
            return sampler.failure(
                error,
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=health,
                started_ns=started,
            )

    def _finish(self, sampler: TargetSampler, *, exited: bool) -> None:
        frame = sampler.final(
            self._exits_of(sampler),
            exited=exited,
            exit_code=self._codes.pop(sampler.target.id, None),
            lost=self._lost_untold(sampler),
            health=partial(self._health, sampler),
        )
        self._budget.remove(sampler.target.id)
        del self._targets[sampler.target.id], self._lost_reported[sampler.target.id]
        self._emit(sampler, frame)
        sampler.close()

    def _emit(self, sampler: TargetSampler, frame: bytes) -> None:
        self._sink(
            sampler.target,
            SampledFrame(sampler.seq, frame, sampler.last_was_key, sampler.last_was_baseline),
        )

    def _lost_untold(self, sampler: TargetSampler) -> int:
        """Exit records lost since this target was reported last; whose they were is not known."""
        if self._exits is None:
            return 0
        reported = self._lost_reported[sampler.target.id]
        self._lost_reported[sampler.target.id] = self._exits.lost
        return self._exits.lost - reported

    def _drain(self) -> None:
        if self._exits is None:
            return
        # At ten samples a second and more, samples do it, and nobody wakes up for it in between.
        self._drain_due_ns = time.monotonic_ns() + DRAIN_NS
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
            reader = sampler.reader
            if isinstance(reader, ExitDecoder):
                # All at one moment, somewhat later than their ends: starts are upper bounds.
                at = np.full(len(exits.words), exits.before_ns, np.int64)
                reading = reader.decode(exits.words, at)
                if len(reading.tid):
                    self._held.setdefault(target, []).append(reading)
                    self._note_code(sampler, self._exits, exits)

    def _note_code(self, sampler: TargetSampler, listener: ExitListener, exits: Exits) -> None:
        """Note the exit status of a process: that of its last thread.

        exit_group(2) and deadly signals give all threads the status of the process, but for those
        that left before, such as a main thread that did not wait for the others. A kernel that
        does not say who was the last of which process: the main thread's.
        """
        if sampler.foreign_exits:
            found = listener.own_member(exits, "ac_pid") == sampler.pid
        else:
            # ac_flag is one byte, the lowest of its word.
            last = (listener.own_member(exits, "ac_flag") & LAST_OF_PROCESS) != 0
            found = last & (listener.own_member(exits, "ac_tgid") == sampler.pid)
        for row in np.flatnonzero(found):
            codes = listener.own_member(exits, "ac_exitcode")
            self._codes[sampler.target.id] = int(codes[row])

    def _exits_of(self, sampler: TargetSampler) -> Reading | None:
        held = self._held.pop(sampler.target.id, None)
        return join(held) if held else None

    def _health(
        self, sampler: TargetSampler, sample_us: int, late_us: int, missed: int
    ) -> CollectorHealth:
        exits, load, watch = self._exits, self._load(), self._watch
        sampler.times.note(sample_us, time.monotonic_ns())
        return CollectorHealth(
            sample_us=sample_us,
            sample_mean_us=sampler.times.mean_us,
            sample_max_us=sampler.times.max_us,
            late_us=late_us,
            missed_deadlines=missed,
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
            undelivered_bytes=load.undelivered_bytes,
            frames_dropped=load.dropped.get(sampler.target.id, 0),
        )
