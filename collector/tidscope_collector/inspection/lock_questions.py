"""Locks that a language's runtime keeps: questions to limited children about Go and Java."""

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.child import confine
from tidscope_collector.goruntime.elf import ElfError, read_elf
from tidscope_collector.inspection.agent_sockets import SocketTroubleError
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROCESSES_S,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.pprof import MAX_BYTES, PprofError, read_contentions
from tidscope_collector.inspection.process_files import open_file, read_beginning
from tidscope_collector.inspection.thread_dump import read_blocked
from tidscope_collector.inspection.virtual_machine import ask_for_dump, connect, look_at, own_tids

MAX_FUNCTIONS = 128
MAX_BLOCKED = 4096
DUMP_S = 5.0

_PROFILE = b"net/http/pprof.Index\0"
_METRICS = b"runtime/metrics.Read\0"


def go_serving(arguments: Arguments, answer: int) -> None:
    """What a Go program could serve, as far as its own list of functions says.

    Arguments: pid, start_ticks.
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

    Answers: {"damaged": reason}, or {"function", "delay_ns", "waits"} for the MAX_FUNCTIONS with
    the longest delays, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    confine()
    try:
        found = read_contentions(read_beginning(answer, MAX_BYTES + 1))
    except PprofError as error:
        say(answer, {"damaged": str(error)})
        return
    for one in found[:MAX_FUNCTIONS]:
        say(answer, one._asdict())
    say(answer, {})


def java_blocked(arguments: Arguments, answer: int) -> None:
    """Which threads of a Java virtual machine wait for monitors, by a dump of its threads.

    It is asked only where its attach socket is open already: opening it takes a signal that ends
    programs which are no such machine.

    Arguments: pid, start_ticks.
    Answers: {"unreadable": errno}, {"trouble", "text"}, {"damaged": reason}, or {"tid", "lock",
    "method"} for each of them, at most MAX_BLOCKED, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, DUMP_S))
    try:
        machine = look_at(arguments["pid"], open_named_folder(arguments))
        made = connect(machine)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    except ValueError as error:
        say(answer, {"damaged": str(error)})
        return
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return
    tids = own_tids(machine)
    confine()
    dump = ask_for_dump(made)
    if dump is None:
        say(answer, {"damaged": "it refuses to dump its threads"})
        return
    for one in read_blocked(dump)[:MAX_BLOCKED]:
        tid = tids.get(one.nid, 0) if tids else one.nid
        say(answer, {"tid": tid, "lock": one.lock, "method": one.method})
    say(answer, {})
