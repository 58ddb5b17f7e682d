"""Entry point of the fork server: all questions that limited children answer.

Each question takes the identity of a process, and never a file, socket or address to read; see
`answering`. It opens what it needs while it has rights, and verifies by the start time that the ID
was not recycled. It gives up all rights before it reads the first byte that others have written
(`agent_sockets` lists the exceptions). Any step may block indefinitely, for example on a page of an
unresponsive file system. Then the child is killed.

Answers are lines of JSON objects. A question that answers each request ends when the asker closes
its end.
"""

import errno
import functools
import json
import os
import socket
import sys
from collections.abc import Mapping
from pathlib import Path

from tidscope_confinement import capabilities
from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.fork_server import OPENING, Question, confine, serve_argument
from tidscope_collector.inspection.agent_sockets import (
    SocketTroubleError,
    candidates,
    connect_first,
    find_socket,
)
from tidscope_collector.inspection.answering import (
    MEMORY_BYTES,
    PROCESS,
    PROCESSES_S,
    Arguments,
    Places,
    open_named_folder,
    say,
    taking,
)
from tidscope_collector.inspection.connections import peers_of
from tidscope_collector.inspection.container_files import container_names
from tidscope_collector.inspection.demangling import readable_names
from tidscope_collector.inspection.go_profiles import goroutine_profile, mutex_profile
from tidscope_collector.inspection.go_questions import (
    go_chosen,
    go_environment,
    go_serving,
    go_threads,
    gomaxprocs,
)
from tidscope_collector.inspection.hsperfdata import java_counters
from tidscope_collector.inspection.java_threads import java_blocked, java_names
from tidscope_collector.inspection.lock_addresses import lock_addresses
from tidscope_collector.inspection.locked_files import LONGEST_PATH, path_of
from tidscope_collector.inspection.native_names import native_names
from tidscope_collector.inspection.opened_process import find_runtime, open_process, read_users
from tidscope_collector.inspection.ports import check_port, listening_ports, listening_sockets
from tidscope_collector.inspection.process_files import (
    hold_proc,
    open_file,
    open_folder,
    read_beginning,
)
from tidscope_collector.inspection.prometheus_text import prometheus_counter, prometheus_samples
from tidscope_collector.inspection.python_threads import python_threads
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.process import stack_start

TITLE_BYTES = 1024

_COMMAND_BYTES = 4096
PREDICTIONS_S = 1.0
"""Timeout for connecting to the prediction service, in seconds."""


def processes(arguments: Arguments, answer: int) -> None:
    """Answer command lines of many processes, and runtimes for unknown executables.

    Arguments: processes as [pid, start_ticks, key or null]. Answers: {"at": pid} before each one is
    opened, and {"pid", "command", "key", "runtime", "version", "executable", "users"} for each one.
    runtime is null if the key is the known one. executable is null if inaccessible. users is null
    if the key is the known one or the users are the same as this process', else [user, user inside,
    name inside]. A process that has ended has no answer. At the end {}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    opened = []
    for pid, start_ticks, known in arguments["processes"]:
        say(answer, {"at": pid})
        try:
            opened.append(open_process(pid, start_ticks, known and (known[0], known[1], known[2])))
        except (OSError, ValueError):
            continue
    confine()
    for one in opened:
        say(answer, {"at": one.pid})
        found = find_runtime(one)
        say(
            answer,
            {
                "pid": one.pid,
                "command": read_beginning(one.command, _COMMAND_BYTES)
                .rstrip(b"\0")
                .replace(b"\0", b" ")
                .decode(errors="replace")
                .strip(),
                "key": one.key,
                "executable": os.fsencode(one.executable).decode(errors="replace") or None,
                "runtime": found and found.runtime,
                "version": found and found.version and found.version[:128],
                "users": one.users and read_users(one.users),
            },
        )
    say(answer, {})


def ports(arguments: Arguments, answer: int) -> None:
    """Answer TCP ports that processes listen on. Only kernel data is read.

    Arguments: identities: IDs and start times. Answers: {"ports": [[pid, [port, …]], …]}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    pids = [pid for pid, start_ticks in arguments["identities"] if _is_alive(pid, start_ticks)]
    found = listening_ports(ProcFs(Path()), pids)
    say(answer, {"ports": list(found.items())})


def sockets(arguments: Arguments, answer: int) -> None:
    """Answer TCP sockets that processes listen at. Only kernel data is read.

    Arguments: identities: IDs and start times.
    Answers: {"sockets": [[inode, address, pid], …]}; see `ports.listening_sockets`.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    pids = [pid for pid, start_ticks in arguments["identities"] if _is_alive(pid, start_ticks)]
    found = listening_sockets(ProcFs(Path()), pids)
    say(answer, {"sockets": [[one.inode, one.address, pid] for one, pid in found]})


def peers(arguments: Arguments, answer: int) -> None:
    """Answer who is at the other end of processes' connections. Only kernel data is read.

    Arguments: identities: IDs and start times.
    Answers: {"peers": [[inode, pid, opened, address, peer_pid, name], …]}; see `peers_of`.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    pids = [pid for pid, start_ticks in arguments["identities"] if _is_alive(pid, start_ticks)]
    say(answer, {"peers": peers_of(ProcFs(Path()), pids)})


def locked_file(arguments: Arguments, answer: int) -> None:
    """Answer the path by which a process has a file open. Only kernel data is read.

    Arguments: pid, start_ticks, file. Answers: {"path"}; see `locked_files.path_of`.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    pid = arguments["pid"]
    known = _is_alive(pid, arguments["start_ticks"])
    path = path_of(ProcFs(Path()), pid, arguments["file"]) if known else ""
    say(answer, {"path": path[:LONGEST_PATH]})


def _is_alive(pid: int, start_ticks: int) -> bool:
    try:
        os.close(open_folder(pid, start_ticks))
    except (OSError, ValueError):
        return False
    return True


def port(arguments: Arguments, answer: int) -> None:
    """Answer whether a port belongs to a process. Only kernel data is read.

    Arguments: pid, start_ticks, port.
    Answers: {"refusal"}; see `ports.check_port`.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    pid, start_ticks = arguments["pid"], arguments["start_ticks"]
    say(answer, {"refusal": check_port(ProcFs(Path()), pid, start_ticks, arguments["port"])})


def program(arguments: Arguments, answer: int) -> None:
    """Answer a process' program at each request. Only kernel data is read.

    Arguments: pid, start_ticks. Answers: to each byte received {"executable": path or null,
    "stack": address}; the address is 0 if inaccessible.
    """
    limit_resources(Limits(MEMORY_BYTES, None, None))
    capabilities.keep(OPENING)
    folder = open_named_folder(arguments)
    while os.read(answer, 1):
        try:
            executable: str | None = os.readlink("exe", dir_fd=folder)
        except OSError:
            executable = None
        stat = open_file(folder, "stat")
        stack = stack_start(read_beginning(stat, 4096))
        if stat >= 0:
            os.close(stat)
        shown = executable and os.fsencode(executable).decode(errors="replace")
        say(answer, {"executable": shown, "stack": stack})


def agent_socket(arguments: Arguments, answer: int) -> None:
    """Answer the socket of a process' agent, without connecting.

    Arguments: pid, start_ticks.
    Answers: {"unreadable": errno} or {"socket": null or [path, device, inode, changed_ns]}.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    try:
        folder = open_named_folder(arguments)
        found = find_socket(_open_root(folder), candidates(folder).paths)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    except SocketTroubleError:
        found = None
    say(answer, {"socket": found})


def agent(arguments: Arguments, answer: int) -> None:
    """Answer a connection to a process' agent.

    Arguments: pid, start_ticks, timeout_s.
    Answers: {"unreadable": errno}, {"trouble", "text"}, or {"opened": true} with the descriptor.
    """
    timeout_s = arguments["timeout_s"]
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S + timeout_s))
    try:
        folder = open_named_folder(arguments)
        found = candidates(folder)
        root = _open_root(folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return
    try:
        made = connect_first(root, found.paths, arguments["pid"], found.uids, timeout_s)
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return
    with socket.socket(fileno=os.dup(answer)) as asker:
        socket.send_fds(asker, [b'{"opened": true}'], [made.fileno()])


def prediction_service(places: Places, _: Arguments, answer: int) -> None:
    """Answer a connection to the prediction service of this host.

    Answers: {"unreadable": errno}, or {"opened": true} with the descriptor.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S + PREDICTIONS_S))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC) as made:
        made.settimeout(PREDICTIONS_S)
        try:
            made.connect(places.predictions)
        except OSError as error:
            say(answer, {"unreadable": error.errno or errno.ETIMEDOUT})
            return
        with socket.socket(fileno=os.dup(answer)) as asker:
            socket.send_fds(asker, [b'{"opened": true}'], [made.fileno()])


def _open_root(folder: int) -> int:
    """Open the root folder of a process."""
    return os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)


def questions(places: Places) -> Mapping[str, Question]:
    """Return all questions by name, bound to their arguments.

    Args:
        places: places where children look; their working folder is ``places.proc``.
    """
    return {
        "processes": taking(processes, "processes"),
        "gomaxprocs": taking(gomaxprocs, *PROCESS),
        "go_chosen": taking(go_chosen, *PROCESS),
        "go_environment": taking(go_environment, *PROCESS),
        "ports": taking(ports, "identities"),
        "port": taking(port, *PROCESS, "port"),
        "sockets": taking(sockets, "identities"),
        "peers": taking(peers, "identities"),
        "locked_file": taking(locked_file, *PROCESS, "file"),
        "program": taking(program, *PROCESS),
        "agent_socket": taking(agent_socket, *PROCESS),
        "agent": taking(agent, *PROCESS, "timeout_s"),
        "prediction_service": taking(functools.partial(prediction_service, places)),
        "lock_addresses": taking(lock_addresses, *PROCESS, "addresses", "join_place", "waiters"),
        "go_serving": taking(go_serving, *PROCESS),
        "mutex_profile": taking(mutex_profile),
        "goroutine_profile": taking(goroutine_profile),
        "readable_names": taking(readable_names),
        "prometheus_counter": taking(prometheus_counter, "metrics"),
        "prometheus_samples": taking(prometheus_samples, "metrics"),
        "java_blocked": taking(java_blocked, *PROCESS),
        "go_threads": taking(go_threads, *PROCESS),
        "python_threads": taking(python_threads, *PROCESS),
        "java_names": taking(java_names, *PROCESS),
        "java_counters": taking(java_counters, *PROCESS),
        "arguments": taking(arguments_again, *PROCESS),
        "native_names": taking(
            functools.partial(native_names, places),
            *PROCESS,
            *("file_name", "build_id", "addresses", "lines"),
        ),
        "container_names": taking(
            functools.partial(container_names, places), "containers", "users"
        ),
    }


def main() -> None:
    """Become the fork server of these questions; the second argument has `Places` as JSON."""
    places = Places(*json.loads(sys.argv[2]))
    serve_argument(questions(places), hold_proc(places.proc, made=places.made))


def arguments_again(arguments: Arguments, answer: int) -> None:
    """Answer the arguments of a process at each request.

    Arguments: pid, start_ticks. Answers: to each byte received one byte and the first TITLE_BYTES
    of /proc/PID/cmdline.
    """
    limit_resources(Limits(MEMORY_BYTES, None, None))
    file = open_file(open_named_folder(arguments), "cmdline")
    confine()
    while file >= 0 and os.read(answer, 1):
        os.write(answer, b"=" + os.pread(file, TITLE_BYTES, 0))
