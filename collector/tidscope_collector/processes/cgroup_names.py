"""Systemd unit, container and pod of a process, from its control group's path, and container names.

Paths are parsed by pure functions. Names come from files of Docker, Podman and the kubelet.

Sources: systemd's src/basic/cgroup-util.c (units below slices, escaped names); the cgroup drivers
of runc and crun (docker-ID.scope, cri-containerd-ID.scope, crio-ID.scope, libpod-ID.scope);
Kubernetes' pkg/kubelet/cm (kubepods, QoS classes, pod IDs); lxc.container.conf(5).
"""

import re
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Literal, NamedTuple

from tidscope_collector.inspection.asking import NoAnswerError
from tidscope_collector.inspection.container_files import MAX_USERS, ContainerName
from tidscope_collector.inspection.reader import ask_container_names

ContainerRuntime = Literal["docker", "containerd", "podman", "kubernetes", "lxc", "other"]
Qos = Literal["guaranteed", "burstable", "besteffort"]

LONGEST_PATH = 4096

_ID = "[0-9a-f]{64}"
_SCOPE = re.compile(rf"(docker|cri-containerd|nerdctl|crio|libpod(?:-payload)?|.+)-({_ID})\.scope")
_PLAIN = re.compile(rf"(?:(docker|cri-containerd|crio|libpod(?:-payload)?)[-:])?({_ID})")
_CONTAINERD_SYSTEMD = re.compile(rf".*:(cri-containerd|nerdctl|[\w.-]+):({_ID})")
_MONITOR = re.compile(rf"(?:crio|libpod)-conmon-{_ID}(?:\.scope)?|lxc\.monitor\..+")
_LXC = re.compile(r"lxc\.payload\.(.+)")
_NSPAWN = re.compile(r"(?:machine-(.+)\.scope|systemd-nspawn@(.+)\.service)")
_POD = re.compile(
    r"(?:.*kubepods(?:-(burstable|besteffort))?-)?"
    r"pod([0-9a-f]{8}(?:[-_][0-9a-f]{4}){3}[-_][0-9a-f]{12}|[0-9a-f]{32})(?:\.slice)?"
)
_UNIT = re.compile(r"[\w:.@\\-]+\.(?:service|scope|mount|socket|swap)")
_USER_MANAGER = re.compile(r"user@\d+\.service")
_RUNTIMES: dict[str, ContainerRuntime] = {
    "docker": "docker",
    "cri-containerd": "containerd",
    "nerdctl": "containerd",
    "crio": "kubernetes",
    "libpod": "podman",
    "libpod-payload": "podman",
}


class Container(NamedTuple):
    """A container, as described by its control group's path.

    Attributes:
        id: 64 hexadecimal digits, or the name of a container without such an ID.
        name: name if the path has it (LXC, systemd-nspawn), or None.
        runtime: container runtime; kubernetes for all containers of pods.
        pod: ID of the pod, with dashes; None outside Kubernetes.
        qos: QoS class of the pod; None outside Kubernetes.
        cgroup: path of the container's own group.
        pod_cgroup: path of the pod's group; None outside Kubernetes.
    """

    id: str
    name: str | None
    runtime: ContainerRuntime
    pod: str | None
    qos: Qos | None
    cgroup: str
    pod_cgroup: str | None = None


class Unit(NamedTuple):
    """A systemd unit.

    Attributes:
        name: name shown by systemctl, such as postgresql@15-main.service.
        cgroup: path of the unit's own group.
    """

    name: str
    cgroup: str


class CgroupNames(NamedTuple):
    """Unit and container in a control group's path.

    Attributes:
        unit: unit of the host's or a user's systemd; in a container, of its own systemd. None if
            there is none, or if the unit exists only for the container.
        container: innermost container, or None.
    """

    unit: Unit | None
    container: Container | None


def cgroup_path(listed: str) -> str | None:
    """Return the path of a process' group below the cgroup mount.

    Args:
        listed: content of /proc/PID/cgroup, see cgroups(7).

    Returns:
        Path in version 2, unless all processes are in its root. Then the path in systemd's
        hierarchy of version 1, in the one with cpuacct, in which groups are followed, or the
        longest path. None if nothing is listed.
    """
    paths: dict[str, str] = {}
    for line in listed.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        if number.isdecimal() and path.startswith("/"):
            paths[controllers] = path[:LONGEST_PATH].removesuffix(" (deleted)")
    if not paths:
        return None
    counting = [one for one in paths if "cpuacct" in one.split(",")]
    for controllers in ("", "name=systemd", *counting):
        if paths.get(controllers, "/") != "/":
            return paths[controllers]
    return max(paths.values(), key=len)


def names_of_cgroup(path: str) -> CgroupNames:
    """Return unit and container of the processes in a control group.

    Args:
        path: path from `cgroup_path`.
    """
    parts = [part for part in path[:LONGEST_PATH].split("/") if part]
    container: Container | None = None
    below = 0
    for depth in range(len(parts)):
        if (found := _container_at(parts, depth)) is not None:
            container, below = found, depth + 1
    if container is not None:
        inner = _unit_of(parts, below, len(parts))
        # The unit around a container matters unless it exists only for the container.
        return CgroupNames(inner or _unit_of(parts, 0, below - 1), container)
    return CgroupNames(_unit_of(parts, 0, len(parts)), None)


def _container_at(parts: list[str], depth: int) -> Container | None:
    """Return the container whose own group is at this depth, or None."""
    part = parts[depth]
    cgroup = "/" + "/".join(parts[: depth + 1])
    if _MONITOR.fullmatch(part):
        return None
    if found := (
        _SCOPE.fullmatch(part) or _PLAIN.fullmatch(part) or _CONTAINERD_SYSTEMD.fullmatch(part)
    ):
        pod, qos, within = _pod_of(parts[:depth])
        runtime = _RUNTIMES.get(found[1] or "", "other")
        if runtime == "other" and depth and parts[depth - 1] == "docker":
            runtime = "docker"
        if pod:
            runtime = "kubernetes"
        return Container(found[2], None, runtime, pod, qos, cgroup, within)
    if found := _LXC.fullmatch(part):
        return Container(found[1], found[1], "lxc", None, None, cgroup)
    if depth and parts[depth - 1] in ("lxc", "lxc.payload"):
        return Container(part, part, "lxc", None, None, cgroup)
    if part == "payload" and depth and (found := _NSPAWN.fullmatch(parts[depth - 1])):
        name = unescape_unit(found[1] or found[2])
        return Container(name, name, "other", None, None, cgroup)
    return None


def _pod_of(parents: list[str]) -> tuple[str | None, Qos | None, str | None]:
    """Return ID and class of the pod around a container, and its control group's path."""
    for depth in reversed(range(len(parents))):
        found = _POD.fullmatch(parents[depth])
        if found is None or not any("kubepods" in part for part in parents[: depth + 1]):
            continue
        above = found[1] or (parents[depth - 1] if depth else "")
        qos: Qos = "guaranteed"
        if above in ("burstable", "besteffort"):
            qos = "burstable" if above == "burstable" else "besteffort"
        return found[2].replace("_", "-"), qos, "/" + "/".join(parents[: depth + 1])
    return None, None, None


def _unit_of(parts: list[str], begin: int, end: int) -> Unit | None:
    """Return the first unit below slices; below a user's manager, the unit that it runs."""
    unit: Unit | None = None
    for depth in range(begin, end):
        name = unescape_cgroup(parts[depth])
        if name.endswith(".slice"):
            continue
        if not _UNIT.fullmatch(name):
            break
        unit = Unit(name, "/" + "/".join(parts[: depth + 1]))
        if not _USER_MANAGER.fullmatch(name):
            break
    return unit


def unescape_cgroup(name: str) -> str:
    """Remove the _ that systemd prepends to names that the kernel could misinterpret."""
    return name.removeprefix("_")


def unescape_unit(name: str) -> str:
    r"""Resolve the escapes in a unit's name: \x2d is -, see systemd-escape(1)."""
    return re.sub(r"\\x([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), name)


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
