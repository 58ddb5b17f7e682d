"""Which process a span names: a number counts only where it is known whose number it is. Pure.

An SDK in a container reports the process id that it has inside of it, and one on another host that
host's. The same number here is another process. OpenTelemetry's resource attributes host.name and
container.id say where a span comes from; Docker gives a container the start of its id as host name.
"""

from typing import NamedTuple

from tidscope_traces.spans.model import Span
from tidscope_wire.generated.models import Process

MIN_DIGITS = 12
"""Of a container's id, that tell it from others."""
EARLY_NS = 1_000_000_000
"""The start of a process is known to a clock tick, and clocks are set."""
_HEX = frozenset("0123456789abcdef")


class Origin(NamedTuple):
    """The process of a span, as the span names it.

    Attributes:
        pid: its process id, there.
        host: name of its host; "": not said.
        container: id of its container; "": not said.
    """

    pid: int
    host: str = ""
    container: str = ""


def origin_of(span: Span) -> Origin | None:
    """Where a span comes from; None: it names no process."""
    if span.pid is None:
        return None
    host, container = (span.attributes.get(key, "") for key in ("host.name", "container.id"))
    return Origin(span.pid, host, container)


def is_foreign(origin: Origin, host: str) -> bool:
    """Whether its process id is not one of this host.

    Args:
        origin: of a span.
        host: name of the host that was measured.
    """
    return bool(origin.container) or (bool(origin.host) and not _same_host(origin.host, host))


def is_of_container(origin: Origin, process: Process) -> bool:
    """Whether a process runs in the container that a span names, by its id or as its host."""
    if process.container is None:
        return False
    there = process.container.id.lower()
    named = (origin.container or origin.host).lower()
    is_id = len(named) >= MIN_DIGITS and _HEX.issuperset(named)
    return is_id and (there.startswith(named) or named.startswith(there))


def is_process(origin: Origin, process: Process, host: str) -> bool:
    """Whether a process is the one that a span names.

    Args:
        origin: of the span.
        process: as the collector lists it.
        host: name of its host.
    """
    if is_foreign(origin, host):
        inside = is_of_container(origin, process)
        return inside and origin.pid in (process.namespace_pid, process.pid)
    return origin.pid == process.pid


def began_after(process: Process, until_ns: int) -> bool:
    """Whether a process started after a time, Unix nanoseconds: then the number was another's."""
    return process.started_unix_ms * 1_000_000 > until_ns + EARLY_NS


def _same_host(one: str, other: str) -> bool:
    """Names with and without a domain may be of one host."""
    names = one.lower().rstrip("."), other.lower().rstrip(".")
    if "." in names[0] and "." in names[1]:
        return names[0] == names[1]
    return names[0].split(".")[0] == names[1].split(".")[0]
