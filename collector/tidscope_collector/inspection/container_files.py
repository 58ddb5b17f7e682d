"""Names of containers from files of Docker, Podman and the kubelet: a question to a limited child.

No daemon is asked. Docker has a folder per container with config.v2.json (daemon/container of
Moby). Podman and CRI-O have one list, containers.json (containers/storage), in the system's folder
or a user's home. The kubelet has a link to each container's log, POD_NAMESPACE_CONTAINER-ID.log
(LogSymlink in pkg/kubelet/kuberuntime).
"""

import json
import os
import pwd
import re
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROCESSES_S,
    Arguments,
    Places,
    say,
)
from tidscope_collector.inspection.process_files import read_beginning

IN_HOME = ".local/share/containers/storage"
MAX_CONTAINERS, MAX_USERS = 256, 8
"""Maximum containers, and users whose homes may have Podman's list, per question."""

_DRIVERS = ("overlay", "vfs", "btrfs")
_CONFIG_BYTES, _LIST_BYTES = 1 << 20, 4 << 20
_MAX_LINKS = 4096
_LINK = re.compile(
    r"([a-z0-9][a-z0-9.-]{0,252})_([a-z0-9][a-z0-9-]{0,62})_([a-z0-9][a-z0-9-]{0,62})"
    r"-([0-9a-f]{64})\.log"
)
_NAME = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}")


class ContainerName(NamedTuple):
    """Human-readable names of a container.

    Attributes:
        name: name of the container.
        pod: namespace and name of its pod with a slash between; None if unknown or outside
            Kubernetes.
    """

    name: str
    pod: str | None = None


def container_names(places: Places, arguments: Arguments, answer: int) -> None:
    """Answer names of containers, as far as they are recorded.

    Arguments: containers: IDs; users: users with own containers among them. Answers: {"id", "name",
    "pod"} for each one found, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    ids = arguments["containers"][:MAX_CONTAINERS]
    # Files in root's folders must belong to root, files in a home to its user.
    homes = [(f"{home}/{IN_HOME}", uid) for uid, home in _homes(arguments["users"][:MAX_USERS])]
    configs = {one: _open(f"{places.docker}/containers/{one}/config.v2.json", -1) for one in ids}
    lists = [
        _open(f"{folder}/{driver}-containers/containers.json", uid)
        for folder, uid in [(places.podman, -1), *homes]
        for driver in _DRIVERS
    ]
    links = _entries(places.kubelet)
    confine()
    found: dict[str, ContainerName] = {}
    for file in lists:
        listed = names_in_list(read_beginning(file, _LIST_BYTES), ids)
        found |= {one: ContainerName(name) for one, name in listed.items()}
    for one, file in configs.items():
        name = name_in_config(read_beginning(file, _CONFIG_BYTES), one)
        if name is not None:
            found[one] = ContainerName(name)
    found |= names_in_links(links, ids)
    for one, known in found.items():
        say(answer, {"id": one, **known._asdict()})
    say(answer, {})


def name_in_config(text: bytes, container: str) -> str | None:
    """Return the name in Docker's config.v2.json if it belongs to this container, or None."""
    config = _parse(text)
    if not isinstance(config, dict) or config.get("ID") != container:
        return None
    return _name(str(config.get("Name")).removeprefix("/"))


def names_in_list(text: bytes, containers: Sequence[str]) -> Mapping[str, str]:
    """Return names of containers in Podman's containers.json, by ID."""
    listed = _parse(text)
    wanted = set(containers)
    return {} if not isinstance(listed, list) else dict(_listed(listed, wanted))


def names_in_links(links: Iterable[str], containers: Sequence[str]) -> dict[str, ContainerName]:
    """Return names of containers from the kubelet's links to their logs, by ID."""
    wanted = set(containers)
    found = (_LINK.fullmatch(link) for link in links)
    return {
        one[4]: ContainerName(one[3], f"{one[2]}/{one[1]}")
        for one in found
        if one is not None and one[4] in wanted
    }


def _homes(users: Iterable[int]) -> Iterator[tuple[int, str]]:
    for uid in users:
        try:
            yield uid, pwd.getpwuid(uid).pw_dir
        except (KeyError, OverflowError):
            continue


def _entries(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [one.name for one in islice(entries, _MAX_LINKS)]
    except OSError:
        return []


def _listed(listed: Sequence[object], wanted: set[str]) -> Iterator[tuple[str, str]]:
    for one in listed:
        if not isinstance(one, dict) or one.get("id") not in wanted:
            continue
        names = one.get("names")
        name = _name(str(names[0])) if isinstance(names, list) and names else None
        if name is not None:
            yield one["id"], name


def _name(text: str) -> str | None:
    return text if _NAME.fullmatch(text) else None


def _parse(text: bytes) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _open(path: str, uid: int) -> int:
    """Open a regular file of a user (-1 for any). Return -1 on failure."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
    except OSError:
        return -1
    status = os.fstat(file)
    if stat.S_ISREG(status.st_mode) and uid in (-1, status.st_uid):
        return file
    os.close(file)
    return -1
