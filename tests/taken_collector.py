"""The fork server as somebody sees it who took the collector over, and a program to spy on."""

import json
import socket
import subprocess
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from processes import start_ticks
from tidscope_collector.confinement.children import LimitedChildren
from tidscope_collector.inspection.answering import Places

SECRET = b"s3cret-of-somebody-else"
OTHER_USER = 65534
VICTIM = """
import ctypes, os, socket, sys
memory = ctypes.create_string_buffer(256)
def listen(path, kind):
    made = socket.socket(socket.AF_UNIX, kind)
    made.bind(path)
    os.chmod(path, 0o600)
    made.listen()
    made.setblocking(False)
    return made
def visited(listening):
    try:
        listening.accept()
    except BlockingIOError:
        return False
    return True
kinds = socket.SOCK_STREAM, socket.SOCK_SEQPACKET
sockets = [listen(*one) for one in zip(sys.argv[1:], kinds)]
print(ctypes.addressof(memory), flush=True)
for line in sys.stdin:
    if line == "visitors\\n":
        print("some" if any(map(visited, sockets)) else "none", flush=True)
    else:
        ctypes.memmove(memory, bytes.fromhex(line), 256)
        print("done", flush=True)
"""


class Taken(LimitedChildren):
    """The socket to a fork server, in the hands of somebody who writes to it what they like."""

    def __init__(self) -> None:
        super().__init__(
            "tidscope_collector.inspection.questions", settings=json.dumps(list(Places()))
        )

    def send(self, message: bytes, *files: int) -> None:
        socket.send_fds(self._connection, [message], files)

    def try_to_get(self, question: str, **arguments: object) -> bytes:
        """All that is answered, also to a byte that is sent behind the question."""
        _, answer = self.begin(question, arguments)
        found = b""
        with closing(answer):
            answer.settimeout(120)
            with suppress(ConnectionResetError, BrokenPipeError):  # The peer may have closed it.
                answer.send(b"?")
            answer.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):  # The server did not read the byte.
                while piece := answer.recv(1 << 16):
                    found += piece
        return found

    @property
    def server(self) -> int:
        """The process that forks; its keeper has no other child."""
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children")
        (server,) = map(int, children.read_text().split())
        return server


class Victim(NamedTuple):
    """A program of another user.

    Attributes:
        process: id and start, as questions name it.
        memory: address of 256 bytes that it writes.
        sockets: paths at which it listens, for its user alone: to streams, and to packets.
    """

    process: dict[str, int]
    memory: int
    sockets: list[str]
    program: "subprocess.Popen[str]"

    def say(self, line: str) -> str:
        assert self.program.stdin is not None
        assert self.program.stdout is not None
        self.program.stdin.write(f"{line}\n")
        self.program.stdin.flush()
        return self.program.stdout.readline().strip()

    def had_no_visitor(self) -> bool:
        return self.say("visitors") == "none"


def serving(python: str, paths: list[str]) -> Iterator[Victim]:
    with subprocess.Popen(
        [python, "-c", VICTIM, *paths],
        cwd="/",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        user=OTHER_USER,
        group=OTHER_USER,
        extra_groups=[],
        env={"SECRET": SECRET.decode(), "GODEBUG": "asked=1"},
    ) as program:
        assert program.stdout is not None
        address = int(program.stdout.readline())
        identity = {"pid": program.pid, "start_ticks": start_ticks(program.pid)}
        yield Victim(identity, address, paths, program)
        assert program.poll() is None, "it was ended"
        program.kill()
