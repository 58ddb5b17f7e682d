"""Processes that confine themselves as the collector does, and then try what that must prevent.

Each line of standard input is an attempt (JSON: its name, a folder, features), for which a new
child confines itself. The answer is a line: the name of the error, "done", or the name of the
signal where the filter of system calls ends the child.
"""

import ctypes
import errno
import json
import os
import signal
import socket
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

from tidscope_collector.confinement.confine import Confinement, Needs, confine
from tidscope_collector.inspection import asking
from tidscope_collector.inspection.answering import Places
from tidscope_collector.inspection.asking import make_children
from tidscope_collector.inspection.container_files import ContainerName
from tidscope_collector.inspection.reader import ask_container_names
from tidscope_collector.processes.identity import known_to_kernel
from tidscope_confinement import capabilities, landlock

CONTAINER = "ab" * 32
PATIENCE_S = 120.0
libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: object) -> None:
    """Call a function of the C library that returns -1 and sets errno."""
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def open_and_close(path: str, flags: int) -> None:
    """Open a file."""
    os.close(os.open(path, flags, 0o600))


def bpf(command: int) -> None:
    """bpf(2) with an empty union."""
    if libc.syscall(321, command, bytes(128), 128) == -1:
        raise OSError(ctypes.get_errno(), "bpf")


def set_routes() -> None:
    """A socket by which CAP_NET_ADMIN changes addresses and routes."""
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE).close()


def change_firewall() -> None:
    """IPT_SO_SET_REPLACE of linux/netfilter_ipv4/ip_tables.h."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_IP, 64, b"")


def new_process_without_namespace() -> None:
    """Ways to create a limited child."""
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)


def name_container() -> None:
    """Run a check in a child of a fork server started before confinement."""
    if ask_container_names([CONTAINER], []) != {CONTAINER: ContainerName("web")}:
        raise OSError(errno.ENOENT, "it has no name")


def attempts(folder: Path, other: int) -> dict[str, Callable[[], object]]:
    """Attempts by name; some target another process of root."""
    return {
        "execve": lambda: os.execv("/bin/true", ["true"]),
        "ptrace": lambda: call("ptrace", 16, other, 0, 0),
        "mount": lambda: call("mount", b"none", b"/mnt", b"tmpfs", 0, None),
        "unshare": lambda: call("unshare", 0x10000000),
        "process_vm_writev": lambda: call("process_vm_writev", other, None, 0, None, 0, 0),
        "setns": lambda: call("setns", 0, 0),
        "load a program": lambda: bpf(5),
        "make a map": lambda: bpf(0),
        "signal": lambda: os.kill(other, signal.SIGTERM),
        "kill": lambda: os.kill(other, signal.SIGKILL),
        "routes": set_routes,
        "firewall": change_firewall,
        "listen": lambda: socket.create_server(("127.0.0.1", 0)).close(),
        "unix socket": lambda: socket.socket(socket.AF_UNIX).close(),
        "shadow": lambda: open_and_close("/etc/shadow", os.O_RDONLY),
        "secret": lambda: open_and_close(str(folder / "secret"), os.O_RDONLY),
        "write": lambda: open_and_close(str(folder / "new"), os.O_WRONLY | os.O_CREAT),
        "sysctl": lambda: open_and_close("/proc/sys/kernel/task_delayacct", os.O_WRONLY),
        "memory": lambda: open_and_close(f"/proc/{other}/mem", os.O_RDONLY),
        "executable": Path(f"/proc/{other}/exe").readlink,
        # Operations that keep working:
        "audit": lambda: open_and_close(str(folder / "audit" / "log"), os.O_WRONLY | os.O_CREAT),
        "status": lambda: open_and_close(f"/proc/{other}/status", os.O_RDONLY),
        "exists": lambda: known_to_kernel(other),
        "fork": new_process_without_namespace,
        "container": name_container,
        "modules": lambda: open_and_close(os.__file__, os.O_RDONLY),
    }


def confined(folder: Path, steering: bool) -> Confinement:
    """Confine this process; it may write to the folder `audit`."""
    capabilities.harden()
    paths = landlock.Paths(
        read=(Path("/proc"), Path(os.__file__).parent), write=(folder / "audit",)
    )
    needs = Needs(paths, taskstats=True, hidden=False, steering=steering, ebpf=True)
    return confine(needs, capabilities.held())


def try_confined(attempt: str, folder: Path, *, steering: bool) -> dict[str, object]:
    """Confine this process and try one thing."""
    tried = attempts(folder, int((folder / "other").read_text()))[attempt]
    if attempt == "container":
        made = make_children(Places(docker=str(folder)))
        # Deadlines of questions leave no time for the start of a fork server.
        made.ask("", {}, deadline_s=PATIENCE_S, most_bytes=1)
        patch.object(asking, "children", lambda: made).start()
    found = confined(folder, steering)
    result = "done"
    try:
        tried()
    except OSError as error:
        result = errno.errorcode[error.errno or 0]
    return {"result": result, "gaps": found.gaps}


def try_in_child(attempt: str, folder: Path, *, steering: bool) -> dict[str, object]:
    """Try one thing in a child, whose modules are loaded already."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = json.dumps(try_confined(attempt, folder, steering=steering))
            os.write(writing, f"{answer}\n".encode())
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        text = pipe.readline()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return {"result": signal.Signals(os.WTERMSIG(status)).name}
    found: dict[str, object] = json.loads(text or b'{"result": "failed"}')
    return found


def main() -> None:
    """Answer attempts until the input ends."""
    for line in sys.stdin:
        attempt, folder, features = json.loads(line)
        found = try_in_child(attempt, Path(folder), steering=features == "steering")
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
