"""What questions to limited children are about, and how they are answered: lines of JSON."""

import json
import os
from collections.abc import Mapping
from typing import TypedDict

from tidscope_collector.foreign.opened_process import Key
from tidscope_collector.foreign.process_files import open_folder

MEMORY_BYTES = 256 << 20
PROCESSES_S = 5.0
"""For what the kernel says of processes. On a busy machine a child may wait 2 s for a CPU."""
PROGRAM_S = 5.0
"""For what is to be read of a program."""


class Arguments(TypedDict, total=False):
    """What questions are about; each says which of these it takes.

    Attributes:
        root: of /proc.
        pid: of a process.
        start_ticks: its start.
        processes: id, start, and the executable that it is known to have.
        names: of variables.
        pids: of processes.
        port: a TCP port.
        files: descriptors that were seen as sockets, with their inodes.
        paths: of sockets, below the root of the process.
        uids: users that the process may be of.
        timeout_s: for connecting.
        address: in memory.
        auxv: of the program, in hexadecimal digits.
        addresses: in memory, of locks.
        folders: in which names of containers are written down, and the user that their files must
            be of; -1: any.
        join_place: of the id of a thread below the end of its stack; 0 if that is not known.
    """

    root: str
    pid: int
    start_ticks: int
    processes: list[tuple[int, int, Key | None]]
    names: list[str]
    pids: list[int]
    port: int
    files: list[tuple[int, str]]
    paths: list[str]
    uids: list[int]
    timeout_s: float
    address: int
    auxv: str
    addresses: list[int]
    folders: list[tuple[str, int]]
    join_place: int


def open_named_folder(arguments: Arguments) -> int:
    """The folder in /proc of the process that a question is about.

    Raises:
        OSError: it has ended.
    """
    return open_folder(arguments["root"], arguments["pid"], arguments["start_ticks"])


def say(answer: int, line: Mapping[str, object]) -> None:
    """Write a line of the answer."""
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(answer, data) :]
