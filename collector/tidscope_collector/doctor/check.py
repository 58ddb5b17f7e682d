"""Building blocks of checks: their result, the probes they need, and fixes that fit the reader."""

from typing import Protocol

from tidscope_wire.generated.models import CheckStatus, DoctorCheck

from tidscope_collector.doctor.facts import CAP_NET_ADMIN, Facts

PROC_FALLBACK = (
    "Threads are read from /proc: at more than ten times the cost, without block I/O and memory "
    "delays, and without exit records of threads that end between two samples."
)
MAX_LISTED = 4
"""Items that a finding lists; further ones are only counted."""
NAMESPACE_OPTIONS = {"user": "--userns=host", "pid": "--pid=host", "network": "--network=host"}
"""Options of `docker run` that keep the container in the host's namespace."""


def make_check(
    about: tuple[str, str],
    status: CheckStatus,
    finding: str,
    impact: str = "",
    fix: str = "",
    enabled: bool | None = None,
) -> DoctorCheck:
    """Return a check; `about` is its name and title."""
    name, title = about
    return DoctorCheck(
        name=name,
        title=title,
        status=status,
        finding=finding,
        impact=impact,
        fix=fix,
        enabled=enabled,
    )


class TaskstatsProbe(Protocol):
    """Answers of taskstats on this machine; tests inject fakes.

    Attributes:
        family_id: number of the generic netlink family TASKSTATS, or None if the kernel has none.
        version: version of the struct in a reply, or None without a reply.
        length: length of the struct in bytes, or None without a reply.
        layout_name: name of the layout chosen for the struct, or None if no layout fits.
        refusal: why there is no reply or no layout; empty if there is a layout.
        fields: names in the field catalogue that the layout provides.
        receive_buffer_bytes: receive buffer granted to an exit listener, as getsockopt reports it;
            None without a socket.
    """

    @property
    def family_id(self) -> int | None: ...

    @property
    def version(self) -> int | None: ...

    @property
    def length(self) -> int | None: ...

    @property
    def layout_name(self) -> str | None: ...

    @property
    def refusal(self) -> str: ...

    @property
    def fields(self) -> tuple[str, ...]: ...

    @property
    def receive_buffer_bytes(self) -> int | None: ...

    def exit_self_test(self) -> bool:
        """Start a thread and wait for its exit record. Return False if it does not arrive.

        Raises:
            OSError: the kernel refused the listener.
        """


class EbpfProbe(Protocol):
    """Result of loading an eBPF program; tests inject fakes.

    Attributes:
        refusal: why the program cannot be used, without a full stop; empty if it can.
        fix: suggested fix; empty if none helps, or if capabilities are missing.
        capabilities: names of missing capabilities.
        limits: data that the program cannot count here; empty if it counts everything.
    """

    @property
    def refusal(self) -> str: ...

    @property
    def fix(self) -> str: ...

    @property
    def capabilities(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> str: ...


def grant(facts: Facts, *capabilities: str) -> str:
    """Return how to give the collector capabilities, by name."""
    options = " ".join(f"--cap-add={name.removeprefix('CAP_')}" for name in capabilities)
    if facts.is_root:
        # Root lacks a capability only if something removed it.
        unit = f"AmbientCapabilities={' '.join(capabilities)}"
        return f"In a container: docker run {options} …; in a systemd unit: {unit}"
    if facts.in_container:
        return f"docker run --user=0 {options} …"
    return "sudo tidscope up"


def as_root(facts: Facts, command: str) -> str:
    """Return a command with sudo if the user is not root."""
    return command if facts.is_root else f"sudo {command}"


def leave_namespaces(kinds: list[str]) -> str:
    """Return how to run the collector in the host's namespaces."""
    options = " ".join(NAMESPACE_OPTIONS[kind] for kind in kinds)
    return f"docker run {options} …, or run it on the host"


def reach_taskstats(facts: Facts) -> str:
    """Return how to make taskstats answer; empty if no reason is known."""
    if facts.capabilities is not None and CAP_NET_ADMIN not in facts.capabilities:
        return grant(facts, "CAP_NET_ADMIN")
    found = {
        "user": facts.namespaces.user,
        "pid": facts.namespaces.pid,
        "network": facts.namespaces.net,
    }
    others = [kind for kind, status in found.items() if status == "other"]
    return leave_namespaces(others) if others else ""
