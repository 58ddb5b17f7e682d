"""Takes stacks while somebody wants them: leases, the program's messages, samples for targets."""

import logging
import os
import select
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np
from tidscope_wire.generated.models import StackSampling
from tidscope_wire.problems import refusal

from tidscope_collector.ebpf.obstacles import Obstacle
from tidscope_collector.stacks.dictionary import WorkerDictionary
from tidscope_collector.stacks.messages import (
    COUNTS,
    Counts,
    Frames,
    MessageError,
    Nodes,
    Samples,
    Status,
    parse,
)
from tidscope_collector.stacks.program import StackProgram, without_ledgers
from tidscope_collector.symbols.budget import Budget

LOG = logging.getLogger(__name__)
MAX_SAMPLES = 1 << 16
"""Maximum samples that are kept for targets which have not fetched them."""
LINGER_NS = 10_000_000_000
"""Time for which stacks are taken after the last lease, so that a page may go on at once."""
MAX_FAILURES = 3
"""Failures in a row after which the program is started no more."""
HEALTHY_NS = 60_000_000_000
"""Time of taking stacks after which earlier failures do not count."""
MAX_MESSAGES = 1000
"""Maximum messages within a second. A program that sends more is given up."""
SILENCE_NS = 60_000_000_000
"""Time without a message after which a program that should take stacks is given up."""
NO_ROOM = 3
"""Index of the count of what there was no room for."""
MAX_FETCHED = 4096
"""Maximum build IDs of fetched debug files that are kept for targets; older ones are dropped."""
_RESTART = "Restart the collector."
_BEFORE = {
    "loading": ("ended", "failed"),
    "sampling": ("loading",),
    "ended": ("loading", "sampling"),
    "failed": ("loading", "sampling", "ended", "failed"),
}
"""States that one can follow."""


class Batch(NamedTuple):
    """Samples that came together.

    Attributes:
        serial: number of the batch.
        epoch: number of the worker that made it.
        worker: its frames and nodes.
        samples: the samples.
    """

    serial: int
    epoch: int
    worker: WorkerDictionary
    samples: Samples


class Period(NamedTuple):
    """When stacks were taken, CLOCK_MONOTONIC; `end_ns` is 0 while they are."""

    begin_ns: int
    end_ns: int


class StackService:
    """Owns the program that takes stacks. Thread-safe.

    Args:
        program: the program, or why there is none.

    Attributes:
        changed: called with a target and its state when that changed, from any thread.
        status: last status of the program; None before the first one.
        obstacle: why no stacks can be taken; None if they can.
        naming: time that children may take to find names of frames, of all targets.
    """

    def __init__(self, program: StackProgram | Obstacle) -> None:
        self._program = program
        self.changed: Callable[[str, StackSampling], object] = lambda target, state: None
        self._lock = threading.Lock()
        self._leases: dict[str, int] = {}
        self._reported: set[str] = set()
        """Targets for which `changed` was last called while stacks were taken or wanted."""
        self._batches: deque[Batch] = deque()
        self._kept = self._serial = self._epoch = 0
        self._worker = WorkerDictionary()
        self._counts = np.zeros(COUNTS, np.uint64)
        self._earlier = np.zeros(COUNTS, np.uint64)
        self._periods: list[Period] = []
        self._failures = 0
        self._begun = self._ending = False
        self._heard_ns = 0
        self._second = self._messages = 0
        self.status: Status | None = None
        self.obstacle = program if isinstance(program, Obstacle) else None
        self.naming = Budget()
        self._fetched: deque[str] = deque(maxlen=MAX_FETCHED)
        self._fetches = 0
        self._pipe: tuple[int, int] | None = None
        """Wakes the thread; made with it."""
        self._thread: threading.Thread | None = None

    @property
    def reason(self) -> str:
        """Why no stacks can be taken, and what to do; empty if they can."""
        found = self.obstacle
        return "" if found is None else f"No stacks are taken: {found.reason}. {found.fix}".strip()

    def give_maps(self, maps: Sequence[int] | None, why_none: str) -> None:
        """Let the program use the maps of the ledger's program; None if there are no ledgers."""
        if isinstance(self._program, Obstacle):
            return
        if maps is None:
            self._give_up(without_ledgers(why_none))
            return
        try:
            self._program.lend(maps)
        except OSError as error:
            self._give_up(Obstacle(f"the program that takes them has ended ({error})", _RESTART))

    def start(self) -> None:
        """Listen to the program, in a thread."""
        if isinstance(self._program, StackProgram):
            self._pipe = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
            run = partial(self._run, self._program, self._pipe[0])
            self._thread = threading.Thread(target=run, name="stacks", daemon=True)
            self._thread.start()

    def sample(self, target: str, seconds: float) -> StackSampling:
        """Take stacks of a target for so long; the latest end of several calls counts.

        Returns:
            Its state from now on.

        Raises:
            ProblemError: no stacks can be taken.
        """
        if (found := self.obstacle) is not None:
            raise refusal("no-stacks", f"no stacks can be taken: {found.reason}", found.fix)
        until = time.monotonic_ns() + int(seconds * 1e9)
        with self._lock:
            self._leases[target] = max(until, self._leases.get(target, 0))
            self._reported.add(target)
        self._nudge()
        state = self.state(target)
        self.changed(target, state)
        return state

    def forget(self, target: str) -> None:
        """End the lease of a target. Idempotent."""
        with self._lock:
            self._leases.pop(target, None)
        self._nudge()

    def state(self, target: str) -> StackSampling:
        """Return whether stacks of a target are taken."""
        until = self._leases.get(target)
        status = self.status
        unix_us = None
        if until is not None:
            unix_us = (time.time_ns() + until - time.monotonic_ns()) // 1000
        is_on = status is not None and status.state == "sampling"
        return StackSampling(
            until_unix_us=unix_us,
            trigger=status.trigger if status is not None and is_on else "none",
            cpu_hz=status.cpu_hz if status is not None and is_on else 0,
            reason=self.reason or (status.reason if status is not None else ""),
        )

    def since(self, serial: int) -> list[Batch]:
        """Return batches with greater numbers, as far as they are kept."""
        with self._lock:
            return [batch for batch in self._batches if batch.serial > serial]

    def note_debug_files(self, build_ids: Sequence[str]) -> None:
        """Note that debug files with these build IDs can be read: targets ask for names again."""
        with self._lock:
            self._fetched += build_ids
            self._fetches += len(build_ids)

    def debug_files(self, seen: int) -> tuple[int, list[str]]:
        """Return how many debug files were noted, and build IDs of those after the first `seen`."""
        with self._lock:
            more = min(self._fetches - seen, len(self._fetched))
            return self._fetches, list(self._fetched)[len(self._fetched) - more :]

    def counts(self) -> list[int]:
        """Return what became of stacks since the start, by kind."""
        counts: list[int] = (self._earlier + self._counts).tolist()
        return counts

    def finding(self) -> Obstacle | str:
        """Return how stacks are taken, one sentence, or why they are not."""
        if self.obstacle is not None:
            return self.obstacle
        status = self.status
        if status is None or status.state != "sampling":
            return "The program that takes stacks waits until they are wanted."
        how = f"one costs the thread {status.stack_ns / 1000:.0f} us"
        if status.trigger == "context_switches":
            how = f"in windows of time ({status.reason})"
        return f"Stacks are being taken by {status.trigger.replace('_', ' ')}: {how}."

    def periods(self) -> list[Period]:
        """Return when stacks were taken."""
        return list(self._periods)

    def close(self) -> None:
        """Let the program end."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._nudge()
            thread.join()
        if isinstance(self._program, StackProgram):
            self._program.close()
        with self._lock:
            pipe, self._pipe = self._pipe, None
        for end in pipe or ():
            os.close(end)

    def _nudge(self) -> None:
        with self._lock, suppress(BlockingIOError):
            if self._pipe is not None:
                os.write(self._pipe[1], b"\0")

    def _run(self, program: StackProgram, woken: int) -> None:
        poll = select.poll()
        for descriptor in (program.fileno(), woken):
            poll.register(descriptor, select.POLLIN)
        while self._thread is not None and self.obstacle is None:
            try:
                poll.poll(self._keep_leases(program))
                with suppress(BlockingIOError):
                    os.read(woken, 4096)
                self._receive(program)
            except (OSError, MessageError) as error:
                LOG.warning("stacks: %s", error)
                self._give_up(
                    Obstacle(f"the program that takes them is given up ({error})", _RESTART)
                )
        if self.obstacle is not None:
            program.close()

    def _keep_leases(self, program: StackProgram) -> int | None:
        """Begin or end; return for how long nothing has to be done, in milliseconds.

        Raises:
            MessageError: the program has said nothing for too long.
            OSError: it takes no commands.
        """
        now = time.monotonic_ns()
        with self._lock:
            over = [target for target, until in self._leases.items() if until <= now]
            wanted = [until for until in self._leases.values() if until + LINGER_NS > now]
            for target in over:
                if self._leases[target] + LINGER_NS <= now:
                    del self._leases[target]
        if wanted and not self._begun:
            self._begun, self._heard_ns = True, now
            program.begin()
        elif not wanted and self._begun:
            self._begun, self._ending = False, True
            program.end()
        ends = [until for until in self._leases.values() if until > now]
        ends += [until + LINGER_NS for until in self._leases.values()]
        if self._begun:
            ends.append(self._heard_ns + SILENCE_NS)
            if now > ends[-1]:
                raise MessageError(f"it said nothing for {SILENCE_NS // 1_000_000_000} s")
        return max(1, (min(ends) - now) // 1_000_000 + 1) if ends else None

    def _receive(self, program: StackProgram) -> None:
        """Take in all messages that there are.

        Raises:
            MessageError: one is none, or the program has ended.
        """
        while True:
            try:
                data = program.receive()
            except BlockingIOError:
                return
            if not data:
                raise MessageError("it closed its connection")
            self._count_message()
            message = parse(data)
            match message:
                case Status():
                    self._take_status(message)
                case Frames() | Nodes():
                    self._worker.add(message)
                case Counts():
                    self._counts = np.array(message.counts, np.uint64)
                case _:
                    self._take_samples(message)

    def _count_message(self) -> None:
        self._heard_ns = time.monotonic_ns()
        second = self._heard_ns // 1_000_000_000
        if second != self._second:
            self._second, self._messages = second, 0
        self._messages += 1
        if self._messages > MAX_MESSAGES:
            raise MessageError(f"it sent more than {MAX_MESSAGES} messages within a second")

    def _take_status(self, status: Status) -> None:
        before = "ended" if self.status is None else self.status.state
        if before not in _BEFORE[status.state]:
            raise MessageError(f"it says that it is {status.state} after {before}")
        self.status = status
        if status.state == "loading":
            self._epoch += 1
            self._worker = WorkerDictionary()
        elif status.state == "sampling":
            self._periods.append(Period(min(status.at_ns, time.monotonic_ns()), 0))
        else:
            self._end_period(min(status.at_ns, time.monotonic_ns()))
            asked, self._ending = self._ending, False
            unasked = self._begun and not asked
            if not asked:
                # After an end that was asked for, a worker may already be wanted again.
                self._begun = False
            if status.state == "failed":
                self._count_failure(status.reason)
            elif unasked:
                self._count_failure("it ended unasked")
        self._tell_all()

    def _end_period(self, end_ns: int) -> None:
        with self._lock:
            self._earlier += self._counts
            self._counts = np.zeros(COUNTS, np.uint64)
        if self._periods and not self._periods[-1].end_ns:
            begin_ns = self._periods[-1].begin_ns
            self._periods[-1] = Period(begin_ns, max(end_ns, begin_ns))
            if end_ns - begin_ns >= HEALTHY_NS:
                self._failures = 0

    def _count_failure(self, reason: str) -> None:
        self._failures += 1
        LOG.warning("no stacks: %s", reason)
        if self._failures >= MAX_FAILURES:
            self._give_up(Obstacle(f"the program that takes them failed: {reason}", _RESTART))

    def _take_samples(self, samples: Samples) -> None:
        with self._lock:
            self._serial += 1
            self._batches.append(Batch(self._serial, self._epoch, self._worker, samples))
            self._kept += len(samples)
            while self._kept > MAX_SAMPLES:
                # Targets fetch what is theirs every second. What is older is nobody's.
                self._kept -= len(self._batches.popleft().samples)

    def _give_up(self, why: Obstacle) -> None:
        self.obstacle = why
        self._end_period(time.monotonic_ns())
        self.status = None
        with self._lock:
            self._leases.clear()
        self._tell_all()

    def _tell_all(self) -> None:
        with self._lock:
            reported = list(self._reported)
            if self.status is None or self.status.state in ("ended", "failed"):
                self._reported &= self._leases.keys()
        for target in reported:
            self.changed(target, self.state(target))
