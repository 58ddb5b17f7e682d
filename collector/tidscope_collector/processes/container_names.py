"""Names that people gave their containers, as Docker, Podman and the kubelet wrote them down."""

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.container_files import MAX_USERS, ContainerName
from tidscope_collector.inspection.reader import ask_container_names
from tidscope_collector.processes.cgroup_names import Container

AGAIN_S = 30.0
"""A container without a name is looked for so often, and the others, which may be renamed."""
MAX_KEPT = 4096

Ask = Callable[[Iterable[str], Iterable[int]], Mapping[str, ContainerName]]

_LAST_USER = (1 << 32) - 2
_USER = re.compile(r"/user-(\d{1,10})\.slice/")


class ContainerNames:
    """Keeps names that were found; for several threads.

    Args:
        ask: reads names by ids of containers and by users who may have started them.
        clock: in seconds, never steps.
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
        """Find the names of containers that have none in their path; takes its time."""
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
        """The name of a container; None: it is not known."""
        known = self._known.get(container.id)
        return container.name or (known and known.name)

    def pod_of(self, container: Container) -> str | None:
        """Namespace and name of a container's pod, with a slash between; None: not known."""
        known = self._known.get(container.id)
        return known and known.pod


def user_of(cgroup: str) -> int | None:
    """The user whose own container it is, by the path of its control group; None: root's."""
    found = _USER.search(cgroup)
    return None if found is None or int(found[1]) > _LAST_USER else int(found[1])
