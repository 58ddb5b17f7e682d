"""Processes that match an expression, found once a second beside sampling."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future

from tidscope_wire.generated.models import Process

from tidscope_collector.groups.match import Match
from tidscope_collector.groups.membership import Membership

EVERY_NS = 1_000_000_000


class MatchWatch:
    """Lists processes again and again for one group; asked and answering in the thread of targets.

    Args:
        match: the expression.
        membership: of the group.
        processes: lists all processes.
        workers: do it.
        give: runs something in the thread of targets.
    """

    def __init__(
        self,
        match: Match,
        membership: Membership,
        processes: Callable[[], Sequence[Process]],
        workers: Executor,
        give: Callable[[Callable[[], None]], object],
    ) -> None:
        self._match = match
        self._membership = membership
        self._processes = processes
        self._workers = workers
        self._give = give
        self._asked: Future[None] | None = None
        self._due_ns = 0

    def ask(self, now_ns: int) -> None:
        """Have them listed again, if it is time.

        Args:
            now_ns: CLOCK_MONOTONIC.
        """
        if now_ns < self._due_ns or (self._asked is not None and not self._asked.done()):
            return
        self._due_ns = now_ns + EVERY_NS
        try:
            self._asked = self._workers.submit(self._list)
        except RuntimeError:  # they are shut down
            self._due_ns = 2**63

    def _list(self) -> None:
        """In a worker."""
        began_ns = time.monotonic_ns()
        listed = self._processes()
        found = frozenset(
            one.pid for one in listed if one.refusal is None and self._match.holds(one)
        )
        known = frozenset(one.pid for one in listed)
        self._give(lambda: self._membership.rematch(found, known, began_ns))
