"""Names that a program's runtime gives its threads: questions to limited children."""

import os

from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.child import confine
from tidscope_collector.inspection.agent_sockets import SocketTroubleError
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.inspection.process_files import open_file
from tidscope_collector.inspection.thread_dump import read_names
from tidscope_collector.inspection.virtual_machine import (
    OPEN_S,
    ask_for_dump,
    connect,
    look_at,
    own_tids,
)

MAX_NAMED = 16_384
TITLE_BYTES = 1024
NAMES_S = 5.0 + OPEN_S


def java_names(arguments: Arguments, answer: int) -> None:
    """Names of the threads of a Java virtual machine, by a dump of them.

    Where its attach socket is not open, the machine is asked to open it.

    Arguments: pid, start_ticks.
    Answers: {"unreadable": errno}, {"trouble", "text"}, {"damaged": reason}, or {"tid", "name"} for
    each thread, at most MAX_NAMED, and {} at the end.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, NAMES_S))
    try:
        machine = look_at(arguments["pid"], open_named_folder(arguments))
        made = connect(machine, may_open=True)
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
    for one in read_names(dump)[:MAX_NAMED]:
        tid = tids.get(one.nid, 0) if tids else one.nid
        if tid:
            say(answer, {"tid": tid, "name": one.name})
    say(answer, {})


def arguments_again(arguments: Arguments, answer: int) -> None:
    """The arguments of a process, each time it is asked for; as long as the asker keeps its end
    open.

    Arguments: pid, start_ticks.
    Answers: a byte and the first TITLE_BYTES of /proc/PID/cmdline to each byte that comes.
    """
    limit_resources(Limits(MEMORY_BYTES, None, None))
    file = open_file(open_named_folder(arguments), "cmdline")
    confine()
    while file >= 0 and os.read(answer, 1):
        os.write(answer, b"=" + os.pread(file, TITLE_BYTES, 0))
