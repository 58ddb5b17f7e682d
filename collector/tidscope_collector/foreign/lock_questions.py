"""Locks that a language's runtime keeps: questions to limited children about Go and Java."""

import os
import re

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.child import confine
from tidscope_collector.foreign.agent_sockets import SocketTroubleError, connect_first
from tidscope_collector.foreign.answering import (
    MEMORY_BYTES,
    PROCESSES_S,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.foreign.pprof import MOST_BYTES, PprofError, read_contentions
from tidscope_collector.foreign.process_files import open_file, read_beginning, thread_ids
from tidscope_collector.foreign.thread_dump import read_blocked
from tidscope_collector.goruntime.elf import ElfError, read_elf

MOST_FUNCTIONS = 128
MOST_BLOCKED = 4096
DUMP_S = 5.0

_PROFILE = b"net/http/pprof.Index\0"
_METRICS = b"runtime/metrics.Read\0"
_STATUS_BYTES = 8192
_DUMP_BYTES = 16 << 20
_OWN_PID = re.compile(rb"^NSpid:.*?(\d+)$", re.MULTILINE)
_USERS = re.compile(rb"^Uid:\s+(\d+)\s+(\d+)", re.MULTILINE)
_SOCKET = "/".join(("", "tmp", ".java_pid{}"))
_ASK_FOR_DUMP = b"1\0threaddump\0\0\0\0"
"""Version of the protocol, command and three arguments: without -l, which walks the heap."""


def go_serving(arguments: Arguments, answer: int) -> None:
    """What a Go program could serve, as far as its own list of functions says.

    Arguments: root, pid, start_ticks.
    Answers: {"profile", "metrics"}: whether it has the handlers of net/http/pprof, and whether it
    reads runtime/metrics.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    folder = open_named_folder(arguments)
    file = open_file(folder, "exe")
    confine()
    found: set[bytes] = set()
    try:
        elf = read_elf(file)
        functions = elf.section(".gopclntab") or elf.section(".data.rel.ro.gopclntab")
        before = b""
        for piece in elf.pieces(functions) if functions else ():
            joined = before + piece
            found |= {name for name in (_PROFILE, _METRICS) if name in joined}
            before = joined[-len(_PROFILE) :]
    except (ElfError, OSError):
        pass
    say(answer, {"profile": _PROFILE in found, "metrics": _METRICS in found})


def mutex_profile(_: Arguments, answer: int) -> None:
    """What a profile of contended mutexes says; it is sent behind the question.

    Answers: {"damaged": reason}, or {"function", "delay_ns", "waits"} for the MOST_FUNCTIONS with
    the longest delays, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    confine()
    try:
        found = read_contentions(read_beginning(answer, MOST_BYTES + 1))
    except PprofError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in found[:MOST_FUNCTIONS]:
        say(answer, one._asdict())
    say(answer, {})


def java_blocked(arguments: Arguments, answer: int) -> None:
    """Which threads of a Java virtual machine wait for monitors, by a dump of its threads.

    It is asked only where its attach socket is open already: opening it takes a signal that ends
    programs which are no such machine.

    Arguments: root, pid, start_ticks, timeout_s.
    Answers: {"unreadable": errno}, {"trouble", "text"}, {"damaged": reason}, or {"tid", "lock",
    "method"} for each of them, at most MOST_BLOCKED, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, DUMP_S))
    try:
        folder = open_named_folder(arguments)
        status = read_beginning(open_file(folder, "status"), _STATUS_BYTES)
        root = os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    own, users = _OWN_PID.search(status), _USERS.search(status)
    if own is None or users is None:
        say(answer, {"damaged": "its status makes no sense"})
        return
    path = _SOCKET.format(int(own[1]))
    uids = [int(users[1]), int(users[2])]
    try:
        made = connect_first(root, [path], arguments["pid"], uids, arguments["timeout_s"])
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return
    made.settimeout(None)
    tids = {} if int(own[1]) == arguments["pid"] else _own_tids(folder)
    confine()
    os.write(made.fileno(), _ASK_FOR_DUMP)
    dump = read_beginning(made.fileno(), _DUMP_BYTES)
    if not dump.startswith(b"0\n"):
        say(answer, {"damaged": "it refuses to dump its threads"})
        return
    for one in read_blocked(dump.decode("utf-8", "replace"))[:MOST_BLOCKED]:
        tid = tids.get(one.nid, 0) if tids else one.nid
        say(answer, {"tid": tid, "lock": one.lock, "method": one.method})
    say(answer, {})


def _own_tids(folder: int) -> dict[int, int]:
    """Ids of the threads of a process in another PID namespace: ours, by those that it sees."""
    found = {}
    for name in thread_ids(folder):
        status = open_file(folder, f"task/{name}/status")
        own = _OWN_PID.search(read_beginning(status, _STATUS_BYTES))
        if status >= 0:
            os.close(status)
        if own is not None:
            found[int(own[1])] = name
    return found
