"""Fixes that fit the reader: root or not, on the host or in a container."""

from tidscope_collector.doctor.facts import CAP_NET_ADMIN, Facts

NAMESPACE_OPTIONS = {"user": "--userns=host", "pid": "--pid=host", "network": "--network=host"}
"""Options of `docker run` that leave out a namespace."""


def grant(facts: Facts, *capabilities: str) -> str:
    """How the collector gets capabilities (their names) that it lacks."""
    options = " ".join(f"--cap-add={name.removeprefix('CAP_')}" for name in capabilities)
    if facts.is_root:
        # Root lacks a capability only where something took it away.
        unit = f"AmbientCapabilities={' '.join(capabilities)}"
        return f"In a container: docker run {options} …; in a systemd unit: {unit}"
    if facts.in_container:
        return f"docker run --user=0 {options} …"
    return "sudo tidscope up"


def as_root(facts: Facts, command: str) -> str:
    """A command that needs root."""
    return command if facts.is_root else f"sudo {command}"


def leave_namespaces(kinds: list[str]) -> str:
    """How the collector gets into namespaces of the host."""
    options = " ".join(NAMESPACE_OPTIONS[kind] for kind in kinds)
    return f"docker run {options} …, or run it on the host"


def reach_taskstats(facts: Facts) -> str:
    """What keeps taskstats from answering; empty if no reason is known."""
    if facts.capabilities is not None and CAP_NET_ADMIN not in facts.capabilities:
        return grant(facts, "CAP_NET_ADMIN")
    found = {
        "user": facts.namespaces.user,
        "pid": facts.namespaces.pid,
        "network": facts.namespaces.net,
    }
    others = [kind for kind, status in found.items() if status == "other"]
    return leave_namespaces(others) if others else ""
