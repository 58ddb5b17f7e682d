"""Two threads that read from TCP sockets: one by splice(), the other by recv(), as often.

Its first line has their thread ids. Each line on its input lets both read BYTES; a line follows.
"""

import os
import socket
import sys
import threading

from programs.running import RunningProgram, with_our_path

BYTES = 5000


def _pair() -> tuple[socket.socket, socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        writer = socket.create_connection(listener.getsockname())
        reader, _ = listener.accept()
    return reader, writer


class _Reader(threading.Thread):
    """Reads BYTES each time that it is let go."""

    def __init__(self, *, by_splice: bool) -> None:
        super().__init__(daemon=True)
        self.go, self.done = threading.Semaphore(0), threading.Semaphore(0)
        self._by_splice = by_splice
        self._socket, self._writer = _pair()
        self._pipe = os.pipe()
        self.start()

    def run(self) -> None:
        while True:
            self.go.acquire()
            self._writer.sendall(bytes(BYTES))
            left = BYTES
            while left:
                left -= self._read(left)
            self.done.release()

    def _read(self, most: int) -> int:
        if not self._by_splice:
            return len(self._socket.recv(most))
        moved = os.splice(self._socket.fileno(), self._pipe[1], most)
        os.read(self._pipe[0], moved)
        return moved


def main() -> None:
    """Obey."""
    readers = [_Reader(by_splice=True), _Reader(by_splice=False)]
    print(*(reader.native_id for reader in readers), flush=True)
    for _ in sys.stdin:
        for reader in readers:
            reader.go.release()
            reader.done.acquire()
        print("done", flush=True)


class SplicedReads(RunningProgram):
    """The running program.

    Attributes:
        splicer: thread id of the one that reads by splice().
        receiver: receiving process.
    """

    def __init__(self) -> None:
        super().__init__([sys.executable, "-m", "programs.spliced_reads"], with_our_path())
        self.splicer, self.receiver = (int(word) for word in self.line().split())

    def read(self) -> None:
        """Make both read BYTES."""
        assert self.ask("\n") == "done"


if __name__ == "__main__":
    main()
