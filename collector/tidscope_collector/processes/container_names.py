"""Names that people gave their containers, as Docker, Podman and the kubelet wrote them down."""

import pwd
import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping

from tidscope_collector.foreign.container_answers import ask_container_names
from tidscope_collector.foreign.container_files import (
    DOCKER,
    IN_HOME,
    KUBELET,
    MOST_FOLDERS,
    PODMAN,
    ContainerName,
)
from tidscope_collector.foreign.reader import NoAnswerError
from tidscope_collector.processes.cgroup_names import Container

AGAIN_S = 30.0
"""A container without a name is looked for so often, and the others, which may be renamed."""
MOST_KEPT = 4096

Folder = tuple[str, int]
"""In which names are written down, and the user that its files must be of; -1: any."""
Ask = Callable[[Iterable[str], Iterable[Folder]], Mapping[str, ContainerName]]

_USER = re.compile(r"/user-(\d{1,10})\.slice/")


class ContainerNames:
    """Keeps names that were found; for several threads.

    Args:
        docker: the folder of Docker.
        kubelet: the folder of Kubernetes' kubelet.
        podman: the folder of Podman's system service.
        ask: reads names by ids of containers.
        clock: in seconds, never steps.
    """

    def __init__(
        self,
        docker: str = DOCKER,
        kubelet: str = KUBELET,
        podman: str = PODMAN,
        ask: Ask = ask_container_names,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folders = [(docker, -1), (kubelet, -1), (podman, -1)]
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
            homes = {folder for one in wanted.values() if (folder := home_of(one.cgroup))}
            folders = [*self._folders, *sorted(homes)[: MOST_FOLDERS - 1]]
            if len(self._due) > MOST_KEPT:
                self._due.clear()
                self._known.clear()
            self._due |= dict.fromkeys(wanted, now + AGAIN_S)
            try:
                self._known |= self._ask(wanted, folders)
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


def home_of(cgroup: str) -> Folder | None:
    """Where a user's own containers are written down, by the path of a control group."""
    found = _USER.search(cgroup)
    if found is None:
        return None
    uid = int(found[1])
    try:
        return f"{pwd.getpwuid(uid).pw_dir}/{IN_HOME}", uid
    except (KeyError, OverflowError):
        return None
