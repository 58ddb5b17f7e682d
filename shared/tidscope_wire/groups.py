"""Names of process groups, as selectors and as shown."""

from typing import assert_never

from tidscope_wire.generated.models import GroupSelector
from tidscope_wire.redaction import redact

_COMMAND_LENGTH = 60


def tree_name(command: str) -> str:
    """Return the displayed name of a process tree.

    Args:
        command: command line of its root; a long one is truncated.
    """
    if len(command) > _COMMAND_LENGTH:
        command = f"{command[: _COMMAND_LENGTH - 1]}…"
    return f"{command} and its descendants"


def selector_text(selector: GroupSelector) -> str:
    """Describe a selector for logs and messages, with secrets redacted."""
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
