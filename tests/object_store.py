"""A real S3 service (versitygw over a folder), and a network in front of it that fails."""

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from capabilities import missing
from ports import free_port
from processes import stop, wait_until

GATEWAY = Path(__file__).parents[1] / ".cache" / "versitygw" / "versitygw"
KEY, SECRET, BUCKET = "tester", "tester-secret", "kept"


class Gateway:
    """An S3 service that can be killed, stopped and started again; it keeps its objects.

    Attributes:
        url: address of a store in its bucket.
        objects: folder of the objects of that store.
        port: its port.
    """

    def __init__(self, folder: Path) -> None:
        self.url = f"s3://{BUCKET}/fleet"
        self.objects = folder / "objects" / BUCKET / "fleet"
        self.port = free_port()
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        self.objects.parent.mkdir(parents=True)
        (folder / "metadata").mkdir()

    def start(self) -> None:
        """Start it, and wait until it listens."""
        if not GATEWAY.exists():
            raise missing("versitygw")
        command = [str(GATEWAY), "--port", f"127.0.0.1:{self.port}", "--quiet", "posix"]
        command += ["--sidecar", str(self._folder / "metadata"), str(self._folder / "objects")]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, "ROOT_ACCESS_KEY": KEY, "ROOT_SECRET_KEY": SECRET},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        wait_until(self._listens, 120)

    def kill(self) -> None:
        """Kill it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """It stands still: it accepts connections and never answers."""
        assert self._process is not None
        stop(self._process.pid)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def _listens(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 60):
            return True
        return False


class FailingNetwork:
    """Forwards connections to a port, or fails on request.

    Attributes:
        port: its own port.
        status: HTTP status that it answers itself; None: it forwards.
        deaf: it forwards requests, and ends the connection in place of an answer.
    """

    def __init__(self, target: int) -> None:
        self.status: int | None = None
        self.deaf = False
        self._target = target
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._server.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            if self.status is not None:
                _read_request(client)
                client.sendall(
                    f"HTTP/1.1 {self.status} refused\r\nconnection: close\r\n"
                    "content-length: 0\r\n\r\n".encode()
                )
                return
            with socket.create_connection(("127.0.0.1", self._target)) as server:
                threading.Thread(target=_copy, args=(client, server), daemon=True).start()
                while data := server.recv(65536):
                    if self.deaf:
                        return
                    client.sendall(data)


def _read_request(client: socket.socket) -> None:
    data = b""
    while b"\r\n\r\n" not in data:
        data += client.recv(65536)
    head, _, body = data.partition(b"\r\n\r\n")
    length = next(
        (int(line[15:]) for line in head.split(b"\r\n") if line[:15].lower() == b"content-length:"),
        0,
    )
    while len(body) < length:
        body += client.recv(65536)


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
