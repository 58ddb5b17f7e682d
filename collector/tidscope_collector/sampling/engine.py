"""The sampling thread: waits for the next deadline, samples, hands frames over.

It alone touches targets and taskstats sockets; others talk to it through `submit`.
"""

import queue
import resource
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np
from tidscope_wire.generated.models import CollectorHealth, Target

from tidscope_collector.reading import ExitDecoder, Reading, TargetGoneError
from tidscope_collector.sampling.target import TargetSampler
from tidscope_collector.taskstats.exits import ExitListener, Exits

DRAIN_NS = 100_000_000
"""Exit records are taken at least this often, so that the sockets do not fill."""

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
        self._commands: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._targets: dict[str, TargetSampler] = {}
        self._exits: ExitListener | None = None
        self._held: dict[int, list[Reading]] = {}
        self._codes: dict[int, int] = {}
        self._lost = 0
        self._usage = _Usage()
        self._thread = threading.Thread(target=self._run, name="sampler", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread and wait for it; exit listeners are deregistered."""
        self._commands.put(None)
        self._thread.join()

    def submit(self, action: Callable[[], Any]) -> "Future[Any]":
        """Run something in the sampling thread; the future has its result."""
        future: Future[Any] = Future()

        def run() -> None:
            try:
                future.set_result(action())
            except Exception as error:  # goes to whoever asked
                future.set_exception(error)

        self._commands.put(run)
        return future

    def add(self, sampler: TargetSampler) -> None:
        """Begin sampling; call through `submit`."""
        if self._exits is None and self._open_exits is not None:
            self._exits = self._open_exits()
        self._targets[sampler.target.id] = sampler
        sampler.schedule.due_ns = time.monotonic_ns()

    def find(self, target: str) -> TargetSampler | None:
        """The sampler of a target that is being sampled; call through `submit`."""
        return self._targets.get(target)

    def detach(self, target: str) -> Target | None:
        """Stop sampling a target; call through `submit`."""
        sampler = self._targets.get(target)
        if sampler is None:
            return None
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
                command()
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

    def _sample(self, sampler: TargetSampler) -> None:
        started = time.monotonic_ns()
        late, missed = sampler.schedule.advance(started)
        self._usage.update(started)
        try:
            reading, end = sampler.read()
        except TargetGoneError:
            self._drain()
            self._finish(sampler, exited=True)
            return
        except OSError as error:
            self._emit(sampler, sampler.failure(error, late, self._health, started))
            return
        # Drained after the listing: a thread that is not listed any more has its record here.
        self._drain()
        frame = sampler.frame(
            reading,
            end,
            self._exits_of(sampler),
            lateness=(late, missed),
            lost=self._take_lost(),
            health=self._health,
            started_ns=started,
        )
        self._emit(sampler, frame)

    def _finish(self, sampler: TargetSampler, *, exited: bool) -> None:
        code = self._codes.pop(sampler.pid, None)
        exits = self._exits_of(sampler)
        frame = sampler.final(exits, self._health, exited=exited, exit_code=code)
        del self._targets[sampler.target.id]
        self._emit(sampler, frame)
        sampler.close()

    def _emit(self, sampler: TargetSampler, frame: bytes) -> None:
        self._sink(sampler.target, sampler.seq, frame, sampler.last_was_key)

    def _take_lost(self) -> int:
        lost, self._lost = self._lost, 0
        return lost

    def _drain(self) -> None:
        if self._exits is None:
            return
        exits = self._exits.drain()
        self._lost += exits.lost
        if not len(exits.words):
            return
        by_pid = {sampler.pid: sampler for sampler in self._targets.values()}
        for pid, sampler in by_pid.items():
            reader = sampler.reader
            if isinstance(reader, ExitDecoder):
                reading = self._decode(reader, exits)
                if len(reading.tid):
                    self._held.setdefault(pid, []).append(reading)
                    self._note_code(pid, exits)

    @staticmethod
    def _decode(reader: ExitDecoder, exits: Exits) -> Reading:
        return reader.decode(exits.words, np.full(len(exits.words), exits.before_ns, np.int64))

    def _note_code(self, pid: int, exits: Exits) -> None:
        listener = self._exits
        if listener is None:
            return
        main = np.flatnonzero(listener.own_member(exits, "ac_pid") == pid)
        if len(main):
            self._codes[pid] = int(listener.own_member(exits, "ac_exitcode")[main[0]])

    def _exits_of(self, sampler: TargetSampler) -> Reading | None:
        held = self._held.pop(sampler.pid, None)
        if not held:
            return None
        if len(held) == 1:
            return held[0]
        masks = None
        if any(part.absent is not None for part in held):
            masks = np.concatenate(
                [
                    part.absent
                    if part.absent is not None
                    else np.zeros(part.counters.shape, np.bool_)
                    for part in held
                ]
            )
        return Reading(
            np.concatenate([part.tid for part in held]),
            np.concatenate([part.counters for part in held]),
            masks,
            np.concatenate([part.start_ns for part in held]),
            np.concatenate([part.name for part in held]),
        )

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
