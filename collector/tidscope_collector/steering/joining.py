"""New programs of a group join those that are steered."""

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tidscope_collector.steering.groups import Program
from tidscope_collector.steering.refusals import (
    BadParameterError,
    NotSteerableError,
    TooManyActionsError,
)

log = logging.getLogger("tidscope.steering")

LOOK_S = 2.0
TRIES = 5
"""An agent may start later than its program; who has none then is left alone."""
MAX_A_LOOK = 32
"""Programs that are tried at a time: a group may start thousands a minute."""


@dataclass
class _Tried:
    """A program that may become steerable.

    Attributes:
        tries: so many in vain.
        due: at which look the next one is.
    """

    tries: int
    due: int


class Joining:
    """Looks for new programs of one group until it is stopped, or the group has ended.

    Args:
        members: lists the group's living processes; None: it has ended, and nobody will join.
        join: steers one; raises as the service does.
        look_s: between two looks.
    """

    def __init__(
        self,
        members: Callable[[], list[Program] | None],
        join: Callable[[Program], None],
        look_s: float = LOOK_S,
    ) -> None:
        self._members, self._join, self._look_s = members, join, look_s
        self._known: dict[tuple[int, int], _Tried | None] = {
            (one.pid, one.start_ticks): None for one in members() or ()
        }
        self._looks = 0
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="joining", daemon=True)

    def start(self) -> None:
        """Begin; those that are there already do not join."""
        self._thread.start()

    def stop(self) -> None:
        """Look no more; does not wait."""
        self._stopped.set()

    def _run(self) -> None:
        while not self._stopped.wait(self._look_s):
            try:
                if not self.look():
                    return
            except Exception:
                log.exception("new programs cannot be looked for")

    def look(self) -> bool:
        """Let the programs join that came since the last look, and try the others again.

        Returns:
            Whether more may come.
        """
        members = self._members()
        if members is None:
            return False
        self._looks += 1
        living = {(one.pid, one.start_ticks): one for one in members}
        self._known = {key: tried for key, tried in self._known.items() if key in living}
        room = MAX_A_LOOK
        for key, program in living.items():
            if key not in self._known:
                # Not at once: most programs that just began end soon, or open their agent later.
                self._known[key] = _Tried(0, self._looks + 1)
                continue
            tried = self._known[key]
            if tried is None or tried.due > self._looks or room == 0:
                continue
            room -= 1
            if self._stopped.is_set():
                return False
            try:
                self._join(program)
                self._known[key] = None
            except (NotSteerableError, BadParameterError, TooManyActionsError) as error:
                tried.tries += 1
                tried.due = self._looks + 2**tried.tries
                if tried.tries == TRIES:
                    self._known[key] = None
                    log.info("%s does not join: %s", program, error)
        return True
