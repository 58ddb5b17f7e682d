"""The sampling thread: waits for the next deadline, samples, hands frames over.

It alone touches targets and taskstats sockets; others talk to it through `submit`.
"""

import logging
import queue
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tidscope_wire.generated.models import CollectorHealth, Target

from tidscope_collector.reading import ExitDecoder, Reading, TargetGoneError
from tidscope_collector.sampling.readings import join
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.taskstats.exits import ExitListener, Exits

log = logging.getLogger("tidscope.sampling")

DRAIN_NS = 100_000_000
"""Exit records are taken at least this often, so that the sockets do not fill."""

LAST_OF_PROCESS = 0x20
"""AGROUP of ac_flag (include/uapi/linux/acct.h), in taskstats from version 12 on."""

FrameSink = Callable[[Target, int, bytes, bool], None]
"""Takes target, seq, frame, and whether the frame is a snapshot; called in the sampling thread."""


@dataclass
class _Usage:
    """CPU of this process over the last second."""

    wall_ns: int = 0
    cpu_s: float = 0.0
    percent: float | None = None

    def update(self, now_ns: int) -> None:
        if now_ns - self.wall_ns < 1_000_000_000:
            return
        used = resource.getrusage(resource.RUSAGE_SELF)
        cpu = used.ru_utime + used.ru_stime
        if self.wall_ns:
            self.percent = 100 * (cpu - self.cpu_s) * 1e9 / (now_ns - self.wall_ns)
        self.wall_ns, self.cpu_s = now_ns, cpu


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
        replay_bytes: tells how much is held for replay, for the health of frames.
    """

    def __init__(
        self,
        sink: FrameSink,
        open_exits: Callable[[], ExitListener] | None,
        replay_bytes: Callable[[], int] = lambda: 0,
    ) -> None:
        self._sink = sink
        self._open_exits = open_exits
        self._replay_bytes = replay_bytes
        self._commands: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._targets: dict[str, TargetSampler] = {}
        self._exits: ExitListener | None = None
        self._held: dict[str, list[Reading]] = {}
        self._codes: dict[str, int] = {}
        self._lost_told: dict[str, int] = {}
        self._drain_trouble = ""
        self._usage = _Usage()
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

    def add(self, sampler: TargetSampler) -> None:
        """Begin sampling; call through `submit`."""
        if self._exits is None and self._open_exits is not None:
            self._exits = self._open_exits()
        # Who ended before is no thread of this attachment.
        self._drain()
        self._targets[sampler.target.id] = sampler
        self._lost_told[sampler.target.id] = self._exits.lost if self._exits else 0
        sampler.schedule.due_ns = time.monotonic_ns()

    def find(self, target: str) -> TargetSampler | None:
        """The sampler of a target that is being sampled; call through `submit`."""
        return self._targets.get(target)

    def detach(self, target: str) -> Target | None:
        """Stop sampling a target; call through `submit`."""
        sampler = self._targets.get(target)
        if sampler is None:
            return None
        self._drain()
        self._finish(sampler, exited=False)
        return sampler.target

    def _run(self) -> None:
        next_drain = 0
        while True:
            now = time.monotonic_ns()
            due = [sampler.schedule.due_ns for sampler in self._targets.values()]
            if self._exits is not None:
                due.append(next_drain)
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
            if self._exits is not None and now >= next_drain:
                self._drain()
                next_drain = now + DRAIN_NS
            for sampler in list(self._targets.values()):
                if sampler.schedule.due_ns <= time.monotonic_ns():
                    self._sample(sampler)
        for sampler in self._targets.values():
            sampler.close()
        if self._exits is not None:
            self._exits.close()
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

    def _sample(self, sampler: TargetSampler) -> None:
        started = time.monotonic_ns()
        lateness = sampler.schedule.advance(started)
        self._usage.update(started)
        try:
            reading, end = sampler.read()
            # Drained after the listing: a thread that is not listed any more has its record here.
            self._drain()
            frame = sampler.frame(
                reading,
                end,
                self._exits_of(sampler),
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=self._health,
                started_ns=started,
            )
        except TargetGoneError:
            self._drain()
            self._finish(sampler, exited=True)
            return
        except Exception as error:  # whatever it is, other targets are still to be sampled
            if not isinstance(error, OSError):
                log.exception("a sample of %s failed", sampler.target.id)
            frame = sampler.failure(
                error,
                lateness=lateness,
                lost=self._lost_untold(sampler),
                health=self._health,
                started_ns=started,
            )
        self._emit(sampler, frame)

    def _finish(self, sampler: TargetSampler, *, exited: bool) -> None:
        frame = sampler.final(
            self._exits_of(sampler),
            exited=exited,
            exit_code=self._codes.pop(sampler.target.id, None),
            lost=self._lost_untold(sampler),
            health=self._health,
        )
        del self._targets[sampler.target.id], self._lost_told[sampler.target.id]
        self._emit(sampler, frame)
        sampler.close()

    def _emit(self, sampler: TargetSampler, frame: bytes) -> None:
        self._sink(sampler.target, sampler.seq, frame, sampler.last_was_key)

    def _lost_untold(self, sampler: TargetSampler) -> int:
        """Exit records lost since this target was told last; whose they were is not known."""
        if self._exits is None:
            return 0
        told = self._lost_told[sampler.target.id]
        self._lost_told[sampler.target.id] = self._exits.lost
        return self._exits.lost - told

    def _drain(self) -> None:
        if self._exits is None:
            return
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

    def _health(self, sample_us: int, late_us: int, missed: int) -> CollectorHealth:
        exits = self._exits
        return CollectorHealth(
            sample_us=sample_us,
            late_us=late_us,
            missed_deadlines=missed,
            exits_received=exits.received if exits else 0,
            exits_lost=exits.lost if exits else 0,
            cpu_percent=self._usage.percent,
            replay_bytes=self._replay_bytes(),
        )
