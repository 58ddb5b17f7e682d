"""The collector's side of the question about names of containers."""

from collections.abc import Iterable, Mapping

from pydantic import Field

from tidscope_collector.foreign.answering import PROCESSES_S, Arguments
from tidscope_collector.foreign.container_files import MOST_CONTAINERS
from tidscope_collector.foreign.line_answers import Line, ask_text, read_lines


class _ContainerLine(Line):
    id: str = Field(pattern="^[0-9a-f]{64}$")
    name: str = Field(pattern=r"^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$")


def ask_container_names(
    containers: Iterable[str], folders: Iterable[tuple[str, int]]
) -> Mapping[str, str]:
    """Names of containers by their ids; see `container_files.container_names`.

    Raises:
        NoAnswerError: they cannot be read; the text says why.
    """
    ids = list(containers)
    found: dict[str, str] = {}
    for begin in range(0, len(ids), MOST_CONTAINERS):
        about = Arguments(names=ids[begin : begin + MOST_CONTAINERS], folders=list(folders))
        lines = read_lines(ask_text("container_names", about, PROCESSES_S), _ContainerLine)
        found |= {one.id: one.name for one in lines}
    return found
