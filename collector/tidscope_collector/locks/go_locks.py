"""Mutexes of a Go program: its goroutines are parked, so no futex shows them.

The program's own account is read at ports on which it listens itself: the profile of contended
mutexes (net/http/pprof), and the counter that runtime/metrics calls /sync/mutex/wait/total:seconds,
where it is served to Prometheus. A port is tried once, and only if the program has the functions
for that.
"""

import time

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.lock_answers import ask_go_serving, ask_mutex_profile
from tidscope_collector.inspection.own_server import (
    NotOwnPortError,
    NotServedError,
    OwnedPort,
    ask_counter,
    fetch,
)
from tidscope_collector.inspection.reader import ask_ports
from tidscope_collector.locks.waited import LEFT_OUT, Waited, WaitTable

PROFILE = "/debug/pprof/mutex"
METRICS = "/metrics"
METRIC = "go_sync_mutex_wait_total_seconds_total"
"""As client_golang names it."""
ALL = "all mutexes of the program"
MAX_PORTS = 8
SEARCH_S = 60.0
"""Between two looks for new ports."""

_NOT_SERVED = (
    "The program serves neither a profile of contended mutexes (net/http/pprof, with "
    f"runtime.SetMutexProfileFraction) nor {METRIC} at a port of its own."
)


class GoLocks:
    """Reads one Go program; one thread uses it.

    Args:
        pid: of the process.
        start_ticks: its start.

    Attributes:
        reason: why there is nothing to read; empty if there is.
    """

    def __init__(self, pid: int, start_ticks: int) -> None:
        self._pid = pid
        self._start_ticks = start_ticks
        self._wanted: set[str] | None = None
        self._ports: dict[str, int] = {}
        self._tried: set[int] = set()
        self._owned: dict[int, OwnedPort] = {}
        self._search_at_s = 0.0
        self._base: dict[str, tuple[int, int]] = {}
        self._waits = WaitTable()
        self._read_once: set[str] = set()
        self.reason = _NOT_SERVED

    def read(self) -> list[Waited]:
        """See LockSource."""
        self._search()
        for path in list(self._ports):
            try:
                self._note(path, self._fetch(path, self._ports[path]))
            except (NotServedError, NoAnswerError) as error:
                self.reason = str(error)
            except NotOwnPortError:
                del self._ports[path]
                self._search_at_s = 0.0
        return [
            Waited("go-metrics" if name == ALL else "go-mutex-profile", name, "lock", *figures)
            for name, *figures in self._waits
        ]

    def _search(self) -> None:
        """Look for the ports at which something is served."""
        if self._wanted is None:
            try:
                can = ask_go_serving(self._pid, self._start_ticks)
            except NoAnswerError as error:
                self.reason = str(error)
                return
            self._wanted = {
                path for path, has in ((PROFILE, can.profile), (METRICS, can.metrics)) if has
            }
        missing = self._wanted - self._ports.keys()
        if not missing or time.monotonic() < self._search_at_s:
            return
        self._search_at_s = time.monotonic() + SEARCH_S
        listening = ask_ports([(self._pid, self._start_ticks)]).get(self._pid, [])
        for port in [port for port in listening if port not in self._tried][:MAX_PORTS]:
            self._tried.add(port)
            for path in sorted(missing - self._ports.keys()):
                try:
                    self._fetch(path, port)
                except (NotServedError, NoAnswerError, NotOwnPortError):
                    continue
                self._ports[path] = port

    def _fetch(self, path: str, port: int) -> dict[str, tuple[int, int]]:
        """Nanoseconds and waits by name, since the program began.

        Raises:
            NotOwnPortError: the port is not the program's.
            NotServedError: it does not serve this.
            NoAnswerError: what it serves makes no sense.
        """
        owned = self._owned.setdefault(port, OwnedPort(self._pid, self._start_ticks, port))
        if path == PROFILE:
            body = fetch(port, path, owned.refusal, "application/octet-stream")
            return {
                f"mutex released by {one.function}": (one.delay_ns, one.waits)
                for one in ask_mutex_profile(body)
            }
        seconds = ask_counter(fetch(port, path, owned.refusal, "text/plain"), METRIC)
        if seconds is None:
            raise NotServedError(f"Port {port} does not serve {METRIC}.")
        return {ALL: (round(seconds * 1e9), 0)}

    def _note(self, path: str, found: dict[str, tuple[int, int]]) -> None:
        """Take what was there at the first reading as the beginning."""
        if path not in self._read_once:
            self._read_once.add(path)
            self._base |= found
        for name, (wait_ns, waits) in found.items():
            base = self._base.get(name, (0, 0))
            self._waits.put(name, 0, max(0, wait_ns - base[0]), max(0, waits - base[1]))
        self.reason = LEFT_OUT if self._waits.left_out else ""
