"""Frames of a native sampler as a test takes them: over its link, from a backend of few words."""

import json
import queue
import shutil
import tempfile
import threading
import weakref
from functools import partial
from typing import Protocol

from tidscope_sampler.native import Link
from tidscope_wire import PROTOCOL_VERSION
from tidscope_wire.frame import split
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import Server, ServerConnection, unix_serve

MOST_BYTES = 1 << 30
DELIVER_S = 60.0


class Sampler(Protocol):
    """Gives frames; see `tidscope_sampler.native.Sampler`."""

    def use_link(self, link: Link) -> None: ...


class _NoSession:
    """Signs in nowhere."""

    def headers(self) -> list[tuple[str, str]]:
        return []

    def accept(self, proof: str | None) -> None:
        pass


def _take(waiting: "queue.Queue[bytes]", connection: ServerConnection) -> None:
    """Serve a connection. A method would keep its object, and so the server, for ever."""
    try:
        connection.recv()
        welcome = {"type": "collector_welcome", "protocol": PROTOCOL_VERSION, "resume": {}}
        connection.send(json.dumps(welcome))
        for message in connection:
            if isinstance(message, bytes):
                header, _ = split(message)
                waiting.put(message)
                received = {"type": "frames_received", "targets": {header.target: header.seq}}
                connection.send(json.dumps(received))
    except ConnectionClosed:
        pass


def _close(link: Link, server: Server, folder: str) -> None:
    link.stop()
    server.shutdown()
    shutil.rmtree(folder, ignore_errors=True)


class TakenFrames:
    """Data of frames in order; made before the sampler starts.

    Args:
        sampler: gives the frames.
    """

    def __init__(self, sampler: Sampler) -> None:
        self._folder = tempfile.mkdtemp(prefix="frames-")
        self._waiting: queue.Queue[bytes] = queue.Queue()
        path = f"{self._folder}/socket"
        self._server = unix_serve(
            partial(_take, self._waiting), path, compression=None, max_size=None
        )
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self._link = Link(
            (path, None), False, "localhost", "/", _NoSession(), MOST_BYTES, MOST_BYTES
        )
        self._link.connect("{}")
        sampler.use_link(self._link)
        # Not __del__: at the end of the process the server's thread is gone, for which it waits.
        weakref.finalize(self, _close, self._link, self._server, self._folder)

    def empty(self) -> bool:
        """Return True if no frame waits."""
        assert self._link.deliver(DELIVER_S) == 0
        return self._waiting.empty()

    def get(self, timeout: float) -> bytes:
        """Return the next frame; TimeoutError after so many seconds."""
        try:
            return self._waiting.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"no frame for {timeout} s") from None
