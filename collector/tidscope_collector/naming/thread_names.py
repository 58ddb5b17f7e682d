"""Names of one target's threads, requested in the background within a cost bound.

The program is asked at the start, and after threads began or were renamed. It is asked at most once
per second, and for at most one part in `REST` of the time.
"""

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tidscope_wire.generated.models import RoleRule

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.naming.source import NameSource

SHORTEST_S = 1.0
"""Minimum interval between two questions, in seconds."""
REST = 100
"""Pause after a question, as a multiple of its duration."""
LONGEST_RETRY_S = 60.0
"""Maximum interval between retries, in seconds; it doubles from SHORTEST_S."""
log = logging.getLogger("tidscope.names")


@dataclass(frozen=True)
class NamingOptions:
    """Options for names and roles of threads.

    Attributes:
        read_programs: True if names are read that runtimes and titles give, unnoticed by them.
        ask_programs: True if Java virtual machines are asked for theirs, too, which starts a thread
            in them and stops the others for moments.
        role_rules: role rules that precede the general rule.
    """

    read_programs: bool = False
    ask_programs: bool = False
    role_rules: tuple[RoleRule, ...] = ()


KERNEL_NAMES = NamingOptions()


class ThreadNames:
    """Asks in a worker thread; all methods return without waiting.

    Args:
        pid: process ID of the target, for the log.
        source: source of names, or None.
        clock: monotonic clock, in seconds.

    Attributes:
        asked: number of answers.
        first_ms: duration of the first answer, in milliseconds of wall time.
        reason: why the last question had no answer; empty if it had one.
    """

    def __init__(
        self,
        pid: int,
        source: NameSource | None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._pid = pid
        self._source = source
        self._clock = clock
        self._changed = threading.Condition()
        self._wanted = source is not None
        self._not_before_s = 0.0
        self._retry_s = SHORTEST_S
        self._found: dict[int, str] = {}
        self._closed = False
        self._worker: threading.Thread | None = None
        self.asked = 0
        self.first_ms = 0
        self.reason = ""
        self._start()

    def request(self) -> None:
        """Request new names as soon as allowed: threads began or were renamed."""
        with self._changed:
            if self._source is not None:
                self._wanted = True
                self._changed.notify_all()

    def take(self) -> Mapping[int, str]:
        """Return names by thread ID that arrived since the last call; mostly none."""
        if not self._found:
            return {}
        with self._changed:
            found, self._found = self._found, {}
            return found

    def executed(self, source: NameSource | None) -> None:
        """Start over with another program.

        Args:
            source: source of the new program's names, or None.
        """
        with self._changed:
            self._source = source
            self._found = {}
            self._wanted = source is not None
            self._not_before_s, self._retry_s = 0.0, SHORTEST_S
            self.asked, self.reason = 0, ""
            self._changed.notify_all()
        self._start()

    @property
    def description(self) -> str | None:
        """Source of the names or why there are none, for people; None if nothing is known."""
        source = self._source
        if source is None:
            return None
        if self.asked:
            return f"by the {source.runtime}; its first answer took {self.first_ms} ms"
        return f"by the kernel, at most 15 bytes. {self.reason}" if self.reason else None

    def close(self) -> None:
        """Stop asking, without waiting."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _start(self) -> None:
        """Start the worker on demand; most targets need none."""
        if self._source is not None and self._worker is None:
            name = f"names-{self._pid}"
            self._worker = threading.Thread(target=self._work, name=name, daemon=True)
            self._worker.start()

    def _work(self) -> None:
        asked: NameSource | None = None
        while True:
            with self._changed:
                while not self._closed and not self._is_due() and asked in (None, self._source):
                    self._changed.wait(self._until_due_s())
                closed, source, due = self._closed, self._source, self._is_due()
                self._wanted = self._wanted and not due
            if asked is not None and (closed or asked is not source):
                asked.close()
                asked = None
            if closed:
                return
            if source is not None and due:
                asked = source
                self._ask(source)

    def _is_due(self) -> bool:
        return self._wanted and self._clock() >= self._not_before_s

    def _until_due_s(self) -> float | None:
        return max(0.0, self._not_before_s - self._clock()) if self._wanted else None

    def _ask(self, source: NameSource) -> None:
        began_s = self._clock()
        reason, found = "", {}
        try:
            found = dict(source.read())
        except NoAnswerError as error:
            reason = str(error)
        took_s = self._clock() - began_s
        with self._changed:
            if source is not self._source:
                return  # the answer comes from the previous program
            if reason and reason != self.reason:
                log.info("names of the threads of process %d: %s", self._pid, reason)
            self.reason = reason
            rest_s = max(SHORTEST_S, REST * took_s)
            if source.every_s is not None:
                rest_s, self._wanted = max(rest_s, source.every_s), True
            if reason:
                rest_s = max(rest_s, self._retry_s)
                self._retry_s = min(LONGEST_RETRY_S, 2 * self._retry_s)
                self._wanted = True
            else:
                self._retry_s = SHORTEST_S
            self._not_before_s = self._clock() + rest_s
            if not reason:
                if not self.asked:
                    self.first_ms = round(1000 * took_s)
                self._found |= found
                # Read without the lock: all else precedes it.
                self.asked += 1
