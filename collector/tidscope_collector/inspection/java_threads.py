"""Thread dumps of Java virtual machines: thread names, and threads blocked on locks.

The text is that of `jcmd PID Thread.print` (JDK 8 to 25). Unknown lines are skipped, so a program
that writes into the dump can falsify only its own names and waits. Parsing is pure; the questions
at the end run in limited children.
"""

import re
import socket
from typing import NamedTuple

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import confine
from tidscope_collector.inspection.agent_sockets import SocketTroubleError
from tidscope_collector.inspection.answering import MEMORY_BYTES, Arguments, open_named_folder, say
from tidscope_collector.inspection.virtual_machine import (
    OPEN_S,
    ask_for_dump,
    connect,
    look_at,
    own_tids,
)

MAX_BLOCKED = 4096
DUMP_S = 5.0
MAX_NAMED = 16_384
NAMES_S = 5.0 + OPEN_S

LONGEST_NAME = 256

_THREAD = re.compile(r'^"(.*)" .*\bnid=(0x[0-9a-f]{1,8}|\d{1,10}) ')
_BLOCKED = "java.lang.Thread.State: BLOCKED (on object monitor)"
_PARKED = "java.lang.Thread.State: "
_FRAME = re.compile(r"^\s+at ([^\s(]+)\(")
_LOCK = re.compile(
    r"^\s+- (waiting to lock|locked|parking to wait for|waiting to re-lock in wait\(\)) "
    r"+<0x[0-9a-f]{1,16}> \(a ([^\s)]+)\)"
)
_SYNCHRONIZER = re.compile(r"^java\.util\.concurrent\.locks\.[\w$]*Sync$")
_LIBRARY = ("java.util.concurrent.", "jdk.internal.")


class Blocked(NamedTuple):
    """A thread that waits for a monitor, or for a lock of java.util.concurrent.

    Attributes:
        nid: thread ID in the virtual machine's PID namespace.
        lock: class of the monitor or lock.
        method: innermost method of the program itself.
    """

    nid: int
    lock: str
    method: str


class Named(NamedTuple):
    """A thread of a virtual machine, including its own (compilers, collectors).

    Attributes:
        nid: as in `Blocked`.
        name: non-empty name.
    """

    nid: int
    name: str


def read_names(text: str) -> list[Named]:
    """Return the names of all threads, in the order of the dump."""
    found = [thread for line in text.split("\n") if (thread := _THREAD.match(line)) is not None]
    return [Named(int(one[2], 0), one[1][:LONGEST_NAME]) for one in found if one[1]]


def read_blocked(text: str) -> list[Blocked]:
    """Return threads that wait for another thread to release a lock."""
    return [found for one in text.split("\n\n") if (found := _blocked(one.strip("\n"))) is not None]


def _blocked(entry: str) -> Blocked | None:
    lines = entry.split("\n")
    thread = _THREAD.match(lines[0])
    if thread is None or len(lines) < 2 or not lines[1].strip().startswith(_PARKED):
        return None
    waits = "locked" if lines[1].strip() == _BLOCKED else "parking to wait for"
    lock, method, innermost = "", "", ""
    for line in lines[2:]:
        if frame := _FRAME.match(line):
            # Drop the module in java.base@17.0.15/java.lang.Object.wait.
            name = frame[1].rpartition("/")[2]
            innermost = innermost or name
            if not name.startswith(_LIBRARY):
                method = method or name
        elif (found := _LOCK.match(line)) and not lock:
            if found[1].startswith("waiting to") and waits == "locked":
                lock = found[2]
            elif found[1] == waits and (waits == "locked" or _SYNCHRONIZER.match(found[2])):
                # The dump shows a thread's monitor as locked while the thread is about to enter it.
                lock = found[2]
            else:
                return None
        if lock and method:
            break
    if not lock:
        return None
    name = (method or innermost)[:LONGEST_NAME]
    return Blocked(int(thread[2], 0), lock[:LONGEST_NAME], name)


def java_blocked(arguments: Arguments, answer: int) -> None:
    """Answer which threads of a Java virtual machine wait for monitors, from a thread dump.

    The machine is asked only if its attach socket is already open. Opening it takes a signal that
    would kill other programs.

    Arguments: pid, start_ticks. Answers: {"unreadable": errno}, {"trouble", "text"}, {"damaged":
    reason}, or {"tid", "lock", "method"} for each one, at most MAX_BLOCKED, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, DUMP_S))
    dumped = _dump(arguments, answer, may_open=False)
    if dumped is None:
        return
    for one in read_blocked(dumped.text)[:MAX_BLOCKED]:
        say(answer, {"tid": dumped.tid(one.nid), "lock": one.lock, "method": one.method})
    say(answer, {})


def java_names(arguments: Arguments, answer: int) -> None:
    """Answer thread names of a Java virtual machine, from a thread dump.

    A machine whose attach socket is closed is asked to open it.

    Arguments: pid, start_ticks.
    Answers: {"unreadable": errno}, {"trouble", "text"}, {"damaged": reason}, or {"tid", "name"} for
    each thread, at most MAX_NAMED, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, NAMES_S))
    dumped = _dump(arguments, answer, may_open=True)
    if dumped is None:
        return
    for one in read_names(dumped.text)[:MAX_NAMED]:
        if tid := dumped.tid(one.nid):
            say(answer, {"tid": tid, "name": one.name})
    say(answer, {})


class _Dump(NamedTuple):
    """A thread dump, and thread IDs by those of the dump; empty if both are equal.

    It keeps the connection: a confined process may not close it.
    """

    text: str
    tids: dict[int, int]
    connection: socket.socket

    def tid(self, nid: int) -> int:
        """Return the thread ID of a native ID in the dump; 0 if unknown."""
        return self.tids.get(nid, 0) if self.tids else nid


def _dump(arguments: Arguments, answer: int, *, may_open: bool) -> _Dump | None:
    """Return a thread dump, or answer why there is none. The process is confined once connected."""
    try:
        machine = look_at(arguments["pid"], open_named_folder(arguments))
        made = connect(machine, may_open=may_open)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return None
    except ValueError as error:
        say(answer, {"damaged": str(error)})
        return None
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return None
    tids = own_tids(machine)
    confine()
    text = ask_for_dump(made)
    if text is None:
        say(answer, {"damaged": "it refuses to dump its threads"})
        return None
    return _Dump(text, tids, made)
