"""Questions to limited children: their arguments, where they look, and answers as lines of JSON.

An attacker who takes over the collector can ask any question. A question therefore names a process
by ID and start time, and never a file, socket or program.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple, TypedDict, cast

from tidscope_collector.confinement.fork_server import Question
from tidscope_collector.inspection.opened_process import Key
from tidscope_collector.inspection.process_files import open_folder

MEMORY_BYTES = 256 << 20
PROCESSES_S = 5.0
"""Timeout for kernel data of processes, in seconds. On a busy machine a child may wait 2 s for a
CPU."""
PROGRAM_S = 5.0
"""Timeout for reading a program's data, in seconds."""
LONGEST_TIMEOUT_S = 10.0
_BUILD_ID = re.compile(r"(?:[0-9a-f]{2}){0,64}")
_METRIC = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]{0,255}")


class Arguments(TypedDict, total=False):
    """Arguments of questions; each question declares which ones it takes.

    Attributes:
        pid: process ID.
        start_ticks: start time of the process, in clock ticks since boot.
        processes: ID, start time and known executable of each process.
        identities: ID and start time of each process.
        file: device and inode of a file, as in /proc/locks.
        port: TCP port whose owner is asked for.
        timeout_s: timeout for connecting to the process, in seconds.
        addresses: addresses in writable memory of the process that may be locks.
        join_place: offset of the thread ID below the end of the thread's stack; 0 if unknown.
        waiters: for each address a thread that has waited there for a while, or 0.
        containers: container IDs.
        users: users whose homes may list containers.
        metrics: names of metrics in a text sent behind the question.
        file_name: CRC-32 of the base name of a mapped file.
        build_id: build ID of a mapped file, hexadecimal; empty if it has none.
        lines: True if lines and inlined functions are asked for.
    """

    pid: int
    start_ticks: int
    processes: list[tuple[int, int, Key | None]]
    identities: list[tuple[int, int]]
    file: str
    port: int
    timeout_s: float
    addresses: list[int]
    join_place: int
    waiters: list[int]
    containers: list[str]
    users: list[int]
    metrics: list[str]
    file_name: int
    build_id: str
    lines: bool


PROCESS = ("pid", "start_ticks")
"""Arguments of a question about one process."""


class Places(NamedTuple):
    """Places where children look, fixed when their fork server is made.

    Attributes:
        proc: path of the process file system.
        made: True if tests made `proc` from files; a real one is verified.
        predictions: socket of the host's prediction service.
        docker: folder of Docker.
        kubelet: folder of the kubelet.
        podman: folder of Podman's system service.
        debug: folder of debug files.
        fetched: folder of debug files that the backend fetches; empty: none.
    """

    proc: str = "/proc"
    made: bool = False
    predictions: str = ""
    docker: str = "/var/lib/docker"
    kubelet: str = "/var/log/containers"
    podman: str = "/var/lib/containers/storage"
    debug: str = "/usr/lib/debug"
    fetched: str = ""


def taking(question: Callable[[Arguments, int], None], *names: str) -> Question:
    """Return a question that answers only with exactly these arguments, each in its range."""

    def checked(arguments: object, answer: int) -> None:
        if not isinstance(arguments, dict) or arguments.keys() != set(names):
            raise ValueError(f"not the arguments {', '.join(names)}")
        for name, value in arguments.items():
            if not _RANGES[name](value):
                raise ValueError(f"{name} is out of range")
        question(cast(Arguments, arguments), answer)

    return checked


def _number(first: int, last: int) -> Callable[[object], bool]:
    return lambda value: type(value) is int and first <= value <= last


def _many(fits: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _row(*columns: Callable[[object], bool]) -> Callable[[object], bool]:
    def fits(value: object) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(columns)
            and all(column(one) for column, one in zip(columns, value, strict=True))
        )

    return fits


def _is_container(value: object) -> bool:
    return isinstance(value, str) and len(value) == 64 and set(value) <= set("0123456789abcdef")


def _is_metric(value: object) -> bool:
    return isinstance(value, str) and _METRIC.fullmatch(value) is not None


def _is_build_id(value: object) -> bool:
    return isinstance(value, str) and _BUILD_ID.fullmatch(value) is not None


def _is_timeout(value: object) -> bool:
    return type(value) in (int, float) and 0 < cast(float, value) <= LONGEST_TIMEOUT_S


_PID = _number(1, 1 << 22)
_WORD = _number(0, (1 << 64) - 1)
_ANY = _number(-(1 << 63), (1 << 64) - 1)
_KEY = _row(_ANY, _ANY, _ANY)


def _is_file(value: object) -> bool:
    return type(value) is str and re.fullmatch(r"[0-9a-f:]{1,16}:\d{1,20}", value) is not None


_RANGES: Mapping[str, Callable[[object], bool]] = {
    "pid": _PID,
    "start_ticks": _WORD,
    "processes": _many(_row(_PID, _WORD, lambda value: value is None or _KEY(value))),
    "identities": _many(_row(_PID, _WORD)),
    "file": _is_file,
    "port": _number(1, 65535),
    "timeout_s": _is_timeout,
    "addresses": _many(_WORD),
    "join_place": _WORD,
    "waiters": _many(_WORD),
    "containers": _many(_is_container),
    "metrics": _many(_is_metric),
    "file_name": _number(0, (1 << 32) - 1),
    "build_id": _is_build_id,
    "lines": lambda value: type(value) is bool,
    "users": _many(_number(0, (1 << 32) - 2)),
}


def open_named_folder(arguments: Arguments) -> int:
    """Open the folder in /proc of the process in a question.

    Raises:
        OSError: the process has ended.
    """
    return open_folder(arguments["pid"], arguments["start_ticks"])


def say(answer: int, line: Mapping[str, object]) -> None:
    """Write a line of the answer."""
    data = json.dumps(line).encode() + b"\n"
    while data:
        data = data[os.write(answer, data) :]
