"""A program with an agent and a metrics endpoint: misbehaving.py; a line says how it serves.

well: a counter; hang: accepts and says nothing; trickle: a byte now and then, for ever; flood:
bytes without end; deaf: accepts nobody; die: closes its port. It says "ready PORT" and, after each
line, "done". Works until its standard input ends.
"""

import itertools
import socket
import sys
import threading
import time
from contextlib import suppress

from tidscope_agent import ThreadPoolExecutor, start

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"


class Endpoint:
    """Serves as `mode` says; connections that are made stay as they are."""

    def __init__(self) -> None:
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=1)
        self.mode = "well"
        self._count = itertools.count(1000, 10)
        self._go_on = threading.Event()

    def serve(self) -> None:
        """Accept until the listener is closed."""
        with suppress(OSError):
            while True:
                if self.mode == "deaf":
                    self._go_on.wait()
                taken, _ = self.listener.accept()
                threading.Thread(target=self._answer, args=(taken,), daemon=True).start()

    def _answer(self, taken: socket.socket) -> None:
        with suppress(OSError), taken:
            taken.recv(4096)
            if self.mode == "hang":
                self._go_on.wait()
            if self.mode == "trickle":
                for _ in itertools.count():
                    taken.sendall(b"H")
                    time.sleep(0.05)
            if self.mode == "flood":
                taken.sendall(HEAD + b"\r\n")
                while True:
                    taken.sendall(b"x" * 65536)
            body = f"# TYPE done_total counter\ndone_total {next(self._count)}\n".encode()
            taken.sendall(HEAD + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def main() -> None:
    """Run."""
    endpoint = Endpoint()
    pool = ThreadPoolExecutor(max_workers=2)
    agent = start(pool, lower=1, upper=8)
    threading.Thread(target=endpoint.serve, daemon=True).start()
    print("ready", endpoint.listener.getsockname()[1], flush=True)
    for line in sys.stdin:
        endpoint.mode = line.strip()
        if endpoint.mode == "die":
            endpoint.listener.shutdown(socket.SHUT_RDWR)
            endpoint.listener.close()
        print("done", flush=True)
    agent.close()


if __name__ == "__main__":
    main()
