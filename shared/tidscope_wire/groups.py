"""How a group of processes is named where it is asked for."""

from typing import assert_never

from tidscope_wire.generated.models import GroupSelector
from tidscope_wire.redaction import redact

_COMMAND_LENGTH = 60


def tree_name(command: str) -> str:
    """The name of a tree as shown.

    Args:
        command: command line of its root; the end of a long one is left out.
    """
    if len(command) > _COMMAND_LENGTH:
        command = f"{command[: _COMMAND_LENGTH - 1]}…"
    return f"{command} and its descendants"


def selector_text(selector: GroupSelector) -> str:
    """A selector in words, what looks like a secret left out: for logs and messages."""
    value = redact(selector.value or "")
    match selector.kind:
        case "tree":
            return f"process {selector.pid} and its descendants"
        case "cgroup" | "unit" | "container" | "pod":
            return f"{selector.kind} {value}"
        case "match":
            return f"processes that match {value}"
        case _:
            assert_never(selector.kind)
