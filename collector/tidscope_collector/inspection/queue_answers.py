"""Clients of the questions about listening sockets, peers and locked files."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from tidscope_collector.inspection.answering import PROCESSES_S, Arguments
from tidscope_collector.inspection.asking import Line, about_process, ask
from tidscope_collector.inspection.connections import Peer


class _SocketsLine(Line):
    sockets: list[Annotated[tuple[int, str, int], Field(strict=False)]]


class _PeersLine(Line):
    peers: list[Annotated[tuple[int, int, bool, str, int, str], Field(strict=False)]]


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


def ask_peers(identities: Sequence[tuple[int, int]]) -> list[Peer]:
    """See `connections.peers_of`.

    Args:
        identities: ID and start time of a few processes.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about: Arguments = {"identities": list(identities)}
    found = ask("peers", about, PROCESSES_S, _PeersLine).peers
    return [Peer(*one) for one in found]


def ask_locked_file(pid: int, start_ticks: int, file: str) -> str:
    """See `locked_files.path_of`.

    Raises:
        NoAnswerError: no child can be asked.
    """
    about = about_process(pid, start_ticks) | Arguments(file=file)
    return ask("locked_file", about, PROCESSES_S, _PathLine).path
