"""How a check is made, and what several of them say."""

from typing import Protocol

from tidscope_wire.generated.models import CheckStatus, DoctorCheck

from tidscope_collector.doctor.facts import CAP_NET_ADMIN, Facts

PROC_FALLBACK = (
    "Threads are read from /proc: at more than ten times the cost, without block I/O and memory "
    "delays, and without exit records of threads that end between two samples."
)
MAX_LISTED = 4
"""Items that a finding lists; further ones are only counted."""


def make_check(
    about: tuple[str, str],
    status: CheckStatus,
    finding: str,
    impact: str = "",
    fix: str = "",
    enabled: bool | None = None,
) -> DoctorCheck:
    """A check; `about` is its name and title."""
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
    """What taskstats answered on this machine.

    Attributes:
        family_id: of the generic netlink family TASKSTATS; None if the kernel has none.
        version: of the struct, as in a reply; None if there was no reply.
        length: of the struct in bytes; None if there was no reply.
        layout_name: of the layout chosen for it; None if there is none.
        refusal: why there was no reply, or is no layout; empty if there is one.
        fields: names in the field catalogue that the layout gives.
        receive_buffer_bytes: what the kernel granted to an exit listener's socket, as getsockopt
            reports it; None if there was none.
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
        """Start a thread and wait for its exit totals; False if they did not arrive.

        Raises:
            OSError: listening was refused.
        """


class EbpfProbe(Protocol):
    """Whether the kernel loads an eBPF program: for network bytes, or for the list of threads.

    Attributes:
        refusal: why not, as one sentence without its full stop; empty if it does.
        fix: what to do about it; empty if nothing helps, or if capabilities do.
        capabilities: names of those that are missing.
        limits: what it does not count here; empty if it counts everything it should.
    """

    @property
    def refusal(self) -> str: ...

    @property
    def fix(self) -> str: ...

    @property
    def capabilities(self) -> tuple[str, ...]: ...

    @property
    def limits(self) -> str: ...


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
