"""The thread of targets: what Python decides while the native sampler takes samples.

It alone touches the state of targets; others talk to it through `submit`. It wakes up for commands,
for what the native sampler noticed, and about once a second while something is attached.
"""

import logging
import queue
import select
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, NamedTuple

from tidscope_sampler.native import Sampler
from tidscope_wire.generated.models import EnergySource, RateAdapted, Target

from tidscope_collector.energy.rapl import NOT_LOOKED_FOR
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.sampling.budget import Budget
from tidscope_collector.sampling.command_queue import CommandQueue
from tidscope_collector.sampling.machine import MachineMeter
from tidscope_collector.sampling.notices import Notice
from tidscope_collector.sampling.selfwatch import Load, SelfWatch
from tidscope_collector.sampling.target import TargetSampler

log = logging.getLogger("tidscope.sampling")

SECOND_NS = 1_000_000_000
LATE_NS = 60_000_000
"""Maximum time that tables wait for what is done each second, in nanoseconds."""
SHORTEST_MS = 2.0
"""Minimum pause, in milliseconds, so that work that fails again and again takes little CPU."""
TROUBLE_NS = 60_000_000_000
"""Minimum interval between two reports of trouble with a target, in nanoseconds."""
SWITCH_NS = 250
"""CPU time that a ledger adds to a switch and a wake-up of a thread (benchmarks/waits.py)."""
TABLES_SHARE = 0.5
"""Maximum share of the CPU budget for reading the tables of all targets."""


class Flushed(NamedTuple):
    """A target whose frames up to one have everything up to an instant.

    Attributes:
        seq: number of that frame; 0 if there is none.
        exited: threads that have exited since attach; None if the target has ended.
    """

    seq: int
    exited: int | None


class Engine:
    """Runs the targets of a native sampler.

    Args:
        native: takes the samples; started and stopped with the engine.
        changed: called in the thread of targets when a target has changed.
        machine: reads counters of the machine; closed with the engine. None: without energy.
        budget: says what rates fit into the CPU that sampling may take; None: all do.
        watch: measures what it takes; None: without what sending takes.
        load: tells of frames on their way to the backend, for the health of frames.
    """

    def __init__(
        self,
        native: Sampler,
        changed: Callable[[Target], object],
        *,
        machine: MachineMeter | None = None,
        budget: Budget | None = None,
        watch: SelfWatch | None = None,
        load: Callable[[], Load] = Load,
    ) -> None:
        self._native = native
        self._changed = changed
        self._machine = machine or MachineMeter(ProcFs(), NOT_LOOKED_FOR)
        self._budget = budget or Budget(0)
        self._watch = watch or SelfWatch(sending=lambda: 0)
        self._load = load
        self._commands = CommandQueue()
        self._targets: dict[str, TargetSampler] = {}
        self._published: dict[str, Target] = {}
        self._ended: dict[str, int] = {}
        self._switches: dict[str, int] = {}
        self._second_due_ns = 0
        self._troubled_ns: dict[str, int] = {}
        self._thread = threading.Thread(target=self._run, name="targets", daemon=True)

    def start(self) -> None:
        """Start the native sampler and the thread."""
        self._native.start()
        self._thread.start()

    def stop(self) -> None:
        """Take last samples of all targets, and end the threads."""
        self._commands.stop()
        self._thread.join()

    def submit(self, action: Callable[[], Any]) -> "Future[Any]":
        """Run something in the thread of targets; the future has its result.

        It is cancelled if the thread has ended or ends before it comes to it.
        """
        return self._commands.submit(action)

    @property
    def energy(self) -> EnergySource:
        """Source of the machine's energy counters."""
        return self._machine.source

    def add(self, sampler: TargetSampler) -> None:
        """Begin sampling; call through `submit`.

        Raises:
            TargetExitedError: the target has ended.
            OSError: the kernel refused.
        """
        target, now_ns = sampler.target.id, time.monotonic_ns()
        sampler.machine = self._machine.watch(sampler.attach_ns)
        try:
            sampler.begin()
        except BaseException:
            sampler.close()
            raise
        if not self._targets:
            self._watch.restart(now_ns)
            self._second_due_ns = now_ns + SECOND_NS
        self._targets[target] = sampler
        self._published[target] = sampler.target
        self._budget.request(target, sampler.target.rate_hz)
        self._share_tables()

    def find(self, target: str) -> TargetSampler | None:
        """Return the sampler of a target that is being sampled; call through `submit`."""
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
            sampler.change_rate(rate_hz)
        return sampler.target

    def flush(self, target: str) -> Flushed | None:
        """Emit everything of a target up to now; call through `submit`.

        Returns:
            Which frame has it; None if the target is unknown, or was forgotten.
        """
        sampler = self._targets.get(target)
        if sampler is not None:
            flushed = sampler.flush()
            if flushed is not None:
                return Flushed(*flushed)
            self._take_notices()
        last = self._ended.get(target)
        return None if last is None else Flushed(last, None)

    def forget(self, target: str) -> None:
        """Drop what is known of an ended target. Thread-safe."""
        self._ended.pop(target, None)

    def detach(self, target: str) -> Target | None:
        """Stop sampling a target; call through `submit`."""
        sampler = self._targets.get(target)
        if sampler is None:
            return None
        if sampler.flush() is None:
            self._take_notices()
        if target in self._targets:
            self._finish(sampler, exited=False)
        return sampler.target

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._commands.wake, select.POLLIN)
        poll.register(self._native.notices_fileno(), select.POLLIN)
        while True:
            poll.poll(self._pause_ms())
            if not self._run_commands():
                break
            self._take_notices()
            self._work()
            self._publish()
        self._end()
        self._commands.end()

    def _pause_ms(self) -> float | None:
        """Time until something is due, in milliseconds; None if nothing is."""
        if not self._targets:
            return None
        due_ns = min(one.due_ns for one in self._targets.values())
        if due_ns + LATE_NS >= self._second_due_ns:
            due_ns = self._second_due_ns
        return max(SHORTEST_MS, (due_ns - time.monotonic_ns()) / 1e6)

    def _run_commands(self) -> bool:
        """Run all commands. Return False if the thread is to end."""
        while not self._commands.is_empty():
            try:
                command = self._commands.take()
            except queue.Empty:
                break
            if command is None:
                return False
            command.run()
            self._publish()
        return True

    def _publish(self) -> None:
        """Tell of targets that have changed."""
        for target, sampler in self._targets.items():
            if sampler.target is not self._published[target]:
                self._published[target] = sampler.target
                self._changed(sampler.target)

    def _take_notices(self) -> None:
        for target, notice in self._native.take_notices().items():
            sampler = self._targets.get(target)
            if sampler is not None:
                self._guard(sampler, partial(self._take, sampler, notice))

    def _take(self, sampler: TargetSampler, notice: Notice) -> None:
        if notice["over"] is not None:
            self._over(sampler, notice["over"][1], exited=True)
            return
        sampler.take(notice)
        if notice["ending"]:
            sampler.give_tables()
            self._finish(sampler, exited=True)

    def _guard(self, sampler: TargetSampler, action: Callable[[], None]) -> None:
        """Do something for a target, and account for it; its trouble is not the others'."""
        target, cpu_ns = sampler.target.id, self._watch.sampling()
        try:
            action()
        except Exception:  # whatever it is, other targets go on
            if self._troubled_ns.get(target, 0) + TROUBLE_NS < time.monotonic_ns():
                self._troubled_ns[target] = time.monotonic_ns()
                log.exception("target %s could not be updated", target)
        if target in self._targets:
            self._watch.note(target, self._watch.sampling() - cpu_ns, 0)

    def _finish(self, sampler: TargetSampler, *, exited: bool) -> None:
        seq = self._native.finish(sampler.target.id, exited)
        self._over(sampler, seq or 0, exited=exited)

    def _over(self, sampler: TargetSampler, seq: int, *, exited: bool) -> None:
        """A target is sampled no more."""
        target = sampler.target.id
        del self._targets[target], self._published[target]
        self._ended[target] = seq
        self._switches.pop(target, None)
        self._troubled_ns.pop(target, None)
        self._budget.remove(target)
        self._share_tables()
        sampler.ended(exited=exited)
        sampler.close()
        self._changed(sampler.target)

    def _work(self) -> None:
        """Do what is due."""
        now_ns = time.monotonic_ns()
        is_second = bool(self._targets) and now_ns >= self._second_due_ns
        for sampler in list(self._targets.values()):
            if is_second:
                self._guard(sampler, partial(sampler.second, now_ns))
            if sampler.due_ns <= now_ns:
                self._guard(sampler, sampler.work)
            self._guard(sampler, partial(self._end_if_over, sampler))
        if is_second:
            self._second_due_ns = max(self._second_due_ns + SECOND_NS, now_ns + SECOND_NS // 2)
            try:
                self._account(now_ns)
            except RuntimeError:  # the native sampler has ended, so no frames are made
                log.exception("samples cannot be accounted for")

    def _end_if_over(self, sampler: TargetSampler) -> None:
        if sampler.is_over:
            sampler.give_tables()
            self._finish(sampler, exited=True)

    def _account(self, now_ns: int) -> None:
        """See the recent overhead, lower or raise rates if that is due, and tell of health."""
        thread_ns, targets = self._native.take_spent()
        self._watch.note_sampler(thread_ns)
        for target, (spent_ns, size) in targets.items():
            self._watch.note(target, spent_ns, size)
        self._note_ledgers()
        spent, load = self._watch.account(now_ns), self._load()
        if spent is not None:
            for target, rate_hz in self._budget.account(spent, backlog=load.backlog).items():
                sampler = self._targets.get(target)
                if sampler is None:
                    continue
                event = RateAdapted(
                    rate_hz=rate_hz,
                    previous_hz=sampler.rate_hz,
                    requested_hz=sampler.target.rate_hz,
                    overhead_percent=round(self._budget.cause_percent, 2),
                    budget_percent=self._budget.percent,
                    undelivered_bytes=load.undelivered_bytes if load.backlog else None,
                )
                sampler.adapt_rate(event)
        self._native.set_health(
            {
                "cpu_percent": self._watch.cpu_percent,
                "overhead_percent": self._watch.overhead_percent,
                "budget_percent": self._budget.percent,
                "replay_bytes": load.replay_bytes,
                "replay_frames": load.replay_frames,
                "unsent_frames": load.unsent_frames,
                "sent_frames": load.sent_frames,
                "sent_bytes": load.sent_bytes,
                "slowed_by_backlog": self._budget.slowed_by_backlog,
                "undelivered_bytes": load.undelivered_bytes,
                "frames_dropped": dict(load.dropped),
            }
        )

    def _note_ledgers(self) -> None:
        """Account for the CPU time that ledgers took, by the switches of their threads."""
        for target, sampler in self._targets.items():
            switches = sampler.ledger_switches()
            grown = switches - self._switches.get(target, switches)
            self._switches[target] = switches
            self._watch.note_kernel(max(0, grown) * SWITCH_NS)

    def _share_tables(self) -> None:
        """Divide what reading tables may take among the targets."""
        percent = self._budget.percent
        for sampler in self._targets.values():
            share = TABLES_SHARE * percent / 100 / len(self._targets) if percent else 1.0
            sampler.tables_share = share

    def _end(self) -> None:
        """Sampling is over: what the kernel has goes out with a last sample."""
        for sampler in self._targets.values():
            try:
                sampler.give_tables()
            except Exception:  # the last sample goes out without them
                log.exception("last tables of %s could not be read", sampler.target.id)
        self._native.stop()
        for sampler in self._targets.values():
            sampler.close()
        self._machine.close()
