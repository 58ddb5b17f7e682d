"""What limited children answer about a process.

Each opens what it needs while it still may, sees by the start time that the id is still that
process', and gives up all rights before it reads the first byte that others have written. All of
it may block for ever: a page of a file system that does not answer, say. Then the child is ended.

Answers are lines of JSON, each an object.
"""

import errno
import os
import socket
import struct
from collections.abc import Mapping
from pathlib import Path

from tidscope_confinement import capabilities
from tidscope_confinement.resources import Limits, limit_resources

from tidscope_collector.confinement.child import confine
from tidscope_collector.confinement.fork_server import OPENING, Question, serve_argument
from tidscope_collector.foreign.agent_sockets import (
    SocketTroubleError,
    connect_first,
    find_socket,
)
from tidscope_collector.foreign.answering import (
    MEMORY_BYTES,
    PROCESSES_S,
    PROGRAM_S,
    Arguments,
    open_named_folder,
    say,
)
from tidscope_collector.foreign.container_files import container_names
from tidscope_collector.foreign.demangling import readable_names
from tidscope_collector.foreign.go_threads import go_threads
from tidscope_collector.foreign.hsperfdata import java_counters
from tidscope_collector.foreign.inner_users import read_users
from tidscope_collector.foreign.loaded import HIGHEST_ADDRESS, relocate
from tidscope_collector.foreign.lock_addresses import lock_addresses
from tidscope_collector.foreign.lock_questions import go_serving, java_blocked, mutex_profile
from tidscope_collector.foreign.name_questions import arguments_again, java_names
from tidscope_collector.foreign.opened_process import find_runtime, open_process
from tidscope_collector.foreign.ports import check_port, listening_ports
from tidscope_collector.foreign.process_files import open_file, read_beginning
from tidscope_collector.foreign.prometheus_questions import prometheus_counter, prometheus_samples
from tidscope_collector.goruntime.buildinfo import BuildInfo, is_go, read_build_info
from tidscope_collector.goruntime.chosen import chosen_address
from tidscope_collector.goruntime.elf import Elf, ElfError, Symbol, read_elf
from tidscope_collector.goruntime.stripped import gomaxprocs_address
from tidscope_collector.procfs.files import ProcFs
from tidscope_collector.procfs.stat import stack_start

SYMBOL = "runtime.gomaxprocs"
WORD = struct.Struct("<i")
UNREADABLE = b"\0\0\0\0"
"""Answers a request for GOMAXPROCS that cannot be read; itself it is never 0."""

_COMMAND_BYTES = 4096
_ENVIRONMENT_BYTES = 1 << 20
_LONGEST_VALUE = 4096
_MOST_SETTINGS = 64
_AUXV_BYTES = 4096
_DAMAGED = "The executable of process {} cannot be read: {}."


def processes(arguments: Arguments, answer: int) -> None:
    """Command lines of many processes, and the runtimes of those whose executable is not known.

    Arguments: root of /proc; processes as [pid, start_ticks, key or null].
    Answers: {"at": pid} before each one is opened and {"pid", "command", "key", "runtime",
    "version", "executable", "users"} for each one, runtime null if the key is the known one,
    executable null if it may not be seen, users null if the key is the known one or it sees users
    as this process does, else [user, user inside, name inside]; nothing for one that ended.
    At the end {}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    opened = []
    for pid, start_ticks, known in arguments["processes"]:
        say(answer, {"at": pid})
        try:
            opened.append(
                open_process(
                    arguments["root"], pid, start_ticks, known and (known[0], known[1], known[2])
                )
            )
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


def go_program(arguments: Arguments, answer: int) -> None:
    """What there is to know of a Go program.

    Arguments: root, pid, start_ticks.
    Answers: {"unreadable": errno}, {"damaged": reason}, or {"go", "version", "settings", "symbols",
    "size", "address", "auxv"}: size in bytes of the variable GOMAXPROCS and its address, null where
    it is not found; auxv in hexadecimal digits, as `memory` wants it.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    try:
        folder = open_named_folder(arguments)
        file = os.open("exe", os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    auxv = open_file(folder, "auxv")
    confine()
    vector = read_beginning(auxv, _AUXV_BYTES)
    try:
        elf = read_elf(file)
        go = is_go(elf)
        info = (read_build_info(elf) if go else None) or BuildInfo(None, {})
        symbol = _gomaxprocs(elf) if go else None
    except ElfError as error:
        say(answer, {"damaged": _DAMAGED.format(arguments["pid"], error)})
        return
    address = None if symbol is None else relocate(elf, symbol.address, vector)
    say(
        answer,
        {
            "go": go,
            "version": info.version and info.version[:128],
            "settings": {
                key[:128]: value[:_LONGEST_VALUE]
                for key, value in list(info.settings.items())[:_MOST_SETTINGS]
            },
            "symbols": elf.section(".symtab") is not None,
            "size": None if symbol is None else min(symbol.size, HIGHEST_ADDRESS),
            "address": address,
            "auxv": vector.hex(),
        },
    )


def _gomaxprocs(elf: Elf) -> Symbol | None:
    """The variable, by the symbol table, or by the code of functions that use it."""
    symbol = elf.variable(SYMBOL)
    if symbol is not None:
        return symbol
    address = gomaxprocs_address(elf)
    return None if address is None else Symbol(address, WORD.size)


def go_chosen(arguments: Arguments, answer: int) -> None:
    """Whether a Go program or its environment chose GOMAXPROCS.

    Arguments: root, pid, start_ticks.
    Answers: {"chosen": true, false, or null if that cannot be found out}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROGRAM_S))
    folder = open_named_folder(arguments)
    file, auxv, memory = (open_file(folder, name) for name in ("exe", "auxv", "mem"))
    confine()
    chosen = None
    try:
        elf = read_elf(file)
        linked = chosen_address(elf)
        address = (
            None if linked is None else relocate(elf, linked, read_beginning(auxv, _AUXV_BYTES))
        )
        if address is not None:
            chosen = {b"\0": False, b"\1": True}.get(os.pread(memory, 1, address))
    except (ElfError, OSError):
        pass
    say(answer, {"chosen": chosen})


def memory(arguments: Arguments, answer: int) -> None:
    """GOMAXPROCS, each time it is asked for; as long as the asker keeps its end open.

    Arguments: root, pid, start_ticks, address, auxv: as `go_program` gives them.
    Answers: {"opened": true} or {"unreadable": errno}; then WORD to each byte that comes,
    UNREADABLE if the program has ended or executed another one.
    """
    limit_resources(Limits(MEMORY_BYTES, None, None))
    try:
        folder = open_named_folder(arguments)
        # Both belong to the program that is executed now, if not to one after the other.
        file = os.open("mem", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
        auxv = os.open("auxv", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    confine()
    if read_beginning(auxv, _AUXV_BYTES).hex() != arguments["auxv"]:
        say(answer, {"unreadable": errno.ESRCH})
        return
    say(answer, {"opened": True})
    while os.read(answer, 1):
        try:
            word = os.pread(file, WORD.size, arguments["address"])
        except OSError:
            word = b""
        os.write(answer, word if len(word) == WORD.size else UNREADABLE)


def environment(arguments: Arguments, answer: int) -> None:
    """Some variables of the environment that a process was started with.

    Arguments: root, pid, start_ticks, names.
    Answers: {"unreadable": errno} or {"variables": {name: value}}; of two with one name the first.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    try:
        folder = open_named_folder(arguments)
        file = os.open("environ", os.O_RDONLY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return
    confine()
    variables: dict[str, str] = {}
    for entry in read_beginning(file, _ENVIRONMENT_BYTES).split(b"\0"):
        key, _, value = entry.partition(b"=")
        name = key.decode(errors="replace")
        if name in arguments["names"]:
            variables.setdefault(name, os.fsdecode(value[:_LONGEST_VALUE]))
    say(answer, {"variables": variables})


def ports(arguments: Arguments, answer: int) -> None:
    """TCP ports that processes listen on. Only what the kernel itself says is read.

    Arguments: root, pids.
    Answers: {"ports": [[pid, [port, …]], …]}.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    found = listening_ports(ProcFs(Path(arguments["root"])), arguments["pids"])
    say(answer, {"ports": list(found.items())})


def port(arguments: Arguments, answer: int) -> None:
    """Whether a port is a process'. Only what the kernel itself says is read.

    Arguments: root, pid, start_ticks, port, files.
    Answers: {"refusal", "files"}; see `ports.check_port`.
    """
    limit_resources(Limits(MEMORY_BYTES, 5, PROCESSES_S * 2))
    refusal, files = check_port(
        ProcFs(Path(arguments["root"])),
        arguments["pid"],
        arguments["start_ticks"],
        arguments["port"],
        dict(arguments["files"]),
    )
    say(answer, {"refusal": refusal, "files": list(files.items())})


def program(arguments: Arguments, answer: int) -> None:
    """Which program a process runs, each time it is asked for; as long as the asker keeps its end
    open. Only what the kernel itself says is read.

    Arguments: root, pid, start_ticks.
    Answers: {"executable": path or null, "stack": address} to each byte that comes; the address is
    0 if it may not be seen.
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
    """The socket of a process' agent. Nothing is connected to, nothing read.

    Arguments: root, pid, start_ticks, paths.
    Answers: {"unreadable": errno} or {"socket": null or [path, device, inode, changed_ns]}.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S))
    root = _open_root(arguments, answer)
    if root is not None:
        say(answer, {"socket": find_socket(root, arguments["paths"])})


def agent(arguments: Arguments, answer: int) -> None:
    """A connection to a process' agent.

    Arguments: root, pid, start_ticks, paths, uids, timeout_s.
    Answers: {"unreadable": errno}, {"trouble", "text"}, or {"opened": true} with the descriptor.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S + arguments["timeout_s"]))
    root = _open_root(arguments, answer)
    if root is None:
        return
    try:
        made = connect_first(
            root,
            arguments["paths"],
            arguments["pid"],
            arguments["uids"],
            arguments["timeout_s"],
        )
    except SocketTroubleError as error:
        say(answer, {"trouble": error.trouble, "text": str(error)})
        return
    with socket.socket(fileno=os.dup(answer)) as asker:
        socket.send_fds(asker, [b'{"opened": true}'], [made.fileno()])


def prediction_service(arguments: Arguments, answer: int) -> None:
    """A connection to the prediction service of this host.

    Arguments: paths: its socket alone; timeout_s.
    Answers: {"unreadable": errno}, or {"opened": true} with the descriptor.
    """
    limit_resources(Limits(MEMORY_BYTES, 2, PROCESSES_S + arguments["timeout_s"]))
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET | socket.SOCK_CLOEXEC) as made:
        made.settimeout(arguments["timeout_s"])
        try:
            made.connect(arguments["paths"][0])
        except OSError as error:
            say(answer, {"unreadable": error.errno or errno.ETIMEDOUT})
            return
        with socket.socket(fileno=os.dup(answer)) as asker:
            socket.send_fds(asker, [b'{"opened": true}'], [made.fileno()])


QUESTIONS: Mapping[str, Question[Arguments]] = {
    "processes": processes,
    "go_program": go_program,
    "go_chosen": go_chosen,
    "memory": memory,
    "environment": environment,
    "ports": ports,
    "port": port,
    "program": program,
    "agent_socket": agent_socket,
    "agent": agent,
    "prediction_service": prediction_service,
    "lock_addresses": lock_addresses,
    "go_serving": go_serving,
    "mutex_profile": mutex_profile,
    "readable_names": readable_names,
    "prometheus_counter": prometheus_counter,
    "prometheus_samples": prometheus_samples,
    "java_blocked": java_blocked,
    "go_threads": go_threads,
    "java_names": java_names,
    "java_counters": java_counters,
    "arguments": arguments_again,
    "container_names": container_names,
}


def _open_root(arguments: Arguments, answer: int) -> int | None:
    """The root folder of a process; where it cannot be opened, that is answered."""
    try:
        folder = open_named_folder(arguments)
        return os.open("root", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except OSError as error:
        say(answer, {"unreadable": error.errno})
        return None


def main() -> None:
    """Become the fork server of these questions."""
    serve_argument(QUESTIONS)
