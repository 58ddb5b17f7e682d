"""Clients of the questions about listening sockets, slow readers and locked files."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tidscope_collector.inspection.answering import PROCESSES_S, Arguments
from tidscope_collector.inspection.asking import Line, about_process, ask
from tidscope_collector.inspection.connections import Reader


class _SocketsLine(Line):
    sockets: list[Annotated[tuple[int, str, int], Field(strict=False)]]


class _ReadersLine(Line):
    readers: list[Annotated[tuple[int, int, str, int, str], Field(strict=False)]]


class _PathLine(Line):
    path: str


def ask_sockets(identities: Sequence[tuple[int, int]]) -> list[tuple[int, str, int]]:
    """Return TCP sockets that processes listen at: inode, address, and process ID.

    Args:
        identities: ID and start time of a few processes.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about: Arguments = {"identities": list(identities)}
    return ask("sockets", about, PROCESSES_S, _SocketsLine).sockets


def ask_readers(identities: Sequence[tuple[int, int]]) -> list[Reader]:
    """See `connections.slow_readers`.

    Args:
        identities: ID and start time of a few processes.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about: Arguments = {"identities": list(identities)}
    found = ask("readers", about, PROCESSES_S, _ReadersLine).readers
    return [Reader(*one) for one in found]


def ask_locked_file(pid: int, start_ticks: int, file: str) -> str:
    """See `locked_files.path_of`.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about = about_process(pid, start_ticks) | Arguments(file=file)
    return ask("locked_file", about, PROCESSES_S, _PathLine).path
