"""The collector's side of the question about names of containers."""

import re
from collections.abc import Iterable, Mapping

from pydantic import Field

from tidscope_collector.inspection.answering import PROCESSES_S, Arguments
from tidscope_collector.inspection.container_files import MAX_CONTAINERS, ContainerName
from tidscope_collector.inspection.line_answers import Line, ask_text, read_lines

_ID = re.compile(r"[0-9a-f]{64}")


class _ContainerLine(Line):
    id: str = Field(pattern="^[0-9a-f]{64}$")
    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$")
    pod: str | None = Field(pattern=r"^[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}$")


def ask_container_names(
    containers: Iterable[str], users: Iterable[int]
) -> Mapping[str, ContainerName]:
    """Names of containers by their ids; see `container_files.container_names`.

    Args:
        containers: ids; what is none has no name.
        users: whose own containers are among them.

    Raises:
        NoAnswerError: they cannot be read; the text says why.
    """
    ids = [one for one in containers if _ID.fullmatch(one)]
    found: dict[str, ContainerName] = {}
    for begin in range(0, len(ids), MAX_CONTAINERS):
        about = Arguments(containers=ids[begin : begin + MAX_CONTAINERS], users=list(users))
        lines = read_lines(ask_text("container_names", about, PROCESSES_S), _ContainerLine)
        found |= {one.id: ContainerName(one.name, one.pod) for one in lines}
    return found
