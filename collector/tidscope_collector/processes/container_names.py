"""Names of containers, from files of Docker, Podman and the kubelet."""

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.container_files import MAX_USERS, ContainerName
from tidscope_collector.inspection.reader import ask_container_names
from tidscope_collector.processes.cgroup_names import Container

AGAIN_S = 30.0
"""Interval between two lookups of a container's name, in seconds; containers may be renamed."""
MAX_KEPT = 4096

Ask = Callable[[Iterable[str], Iterable[int]], Mapping[str, ContainerName]]

_LAST_USER = (1 << 32) - 2
_USER = re.compile(r"/user-(\d{1,10})\.slice/")


class ContainerNames:
    """Cache of container names. Thread-safe.

    Args:
        ask: reads names by container IDs and by users who may have started them.
        clock: monotonic clock, in seconds.
    """

    def __init__(
        self, ask: Ask = ask_container_names, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._ask = ask
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, ContainerName] = {}
        self._due: dict[str, float] = {}

    def look_for(self, containers: Iterable[Container]) -> None:
        """Look up names of containers that have none in their path. Slow."""
        with self._lock:
            now = self._clock()
            wanted = {
                one.id: one
                for one in containers
                if one.name is None and now >= self._due.get(one.id, 0)
            }
            if not wanted:
                return
            users = {uid for one in wanted.values() if (uid := user_of(one.cgroup)) is not None}
            if len(self._due) > MAX_KEPT:
                self._due.clear()
                self._known.clear()
            self._due |= dict.fromkeys(wanted, now + AGAIN_S)
            try:
                self._known |= self._ask(wanted, sorted(users)[:MAX_USERS])
            except NoAnswerError:
                return

    def of(self, container: Container) -> str | None:
        """Return the name of a container, or None if unknown."""
        known = self._known.get(container.id)
        return container.name or (known and known.name)

    def pod_of(self, container: Container) -> str | None:
        """Return a pod's namespace and name with a slash between, or None if unknown."""
        known = self._known.get(container.id)
        return known and known.pod


def user_of(cgroup: str) -> int | None:
    """Return the user of a rootless container, by its control group's path; None for root."""
    found = _USER.search(cgroup)
    return None if found is None or int(found[1]) > _LAST_USER else int(found[1])
